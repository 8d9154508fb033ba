package delivery

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Uploader is an OTLP client: [Client], or one of OpenTelemetry's own. It is given messages that may only be marshalled to
// protobuf ([otlp.Batch.ResourceSpans]), and returns when the backend has answered or the context is done.
type Uploader interface {
	UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error
}

// Sender sends the spans that end in it. It is a [projection.Sink], and unlike others may be called by several goroutines.
type Sender struct {
	up Uploader
	o  Options

	ctx      context.Context // done when more spans are of no use
	stop     context.CancelCauseFunc
	requests context.Context // of every request: done at the end, when the sender stops, or a grace after an interrupt
	abort    context.CancelFunc

	filling chan *otlp.Batch // the batch being filled, for whoever takes it out; nil once the sender is closed
	traces  traceSizes       // goes with it

	free     chan *otlp.Batch // empty batches: as many as there may be batches in flight, but for those that are
	inFlight sync.WaitGroup
	maxBytes atomic.Int64 // no more than Options.MaxBytes; less once the backend has found a batch too large
	accepted atomic.Int64 // requests

	tally tally
}

// New returns a sender. When ctx is done it sends what it has been given, as far as that is possible within the grace.
func New(ctx context.Context, up Uploader, o Options) *Sender {
	o = o.withDefaults()
	s := &Sender{
		up:      up,
		o:       o,
		filling: make(chan *otlp.Batch, 1),
		traces:  traceSizes{limit: o.TraceBytes},
		free:    make(chan *otlp.Batch, o.InFlight),
		tally:   tally{progress: o.Progress},
	}
	s.filling <- otlp.NewBatch(o.Batch)
	for range o.InFlight {
		s.free <- otlp.NewBatch(o.Batch)
	}
	s.maxBytes.Store(int64(o.MaxBytes))
	s.ctx, s.stop = context.WithCancelCause(ctx)
	s.requests, s.abort = context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(s.ctx, func() {
		grace := time.NewTimer(o.Grace)
		defer grace.Stop()
		select {
		case <-grace.C:
			s.abort()
		case <-s.requests.Done():
		}
	})
	return s
}

// Context is done when more spans are of no use: at an interrupt, and when the sender has stopped since the backend cannot
// be reached or turns everything away. Its cause says why. Whoever feeds the sender should end then.
func (s *Sender) Context() context.Context { return s.ctx }

// Start does nothing: what is sent are spans that have ended.
func (s *Sender) Start(*projection.Span) {}

// End takes a span to be sent. It blocks while Options.InFlight batches are on their way.
func (s *Sender) End(span *projection.Span) {
	b := <-s.filling
	defer func() { s.filling <- b }()
	if b == nil || s.requests.Err() != nil {
		s.tally.update(func(r *Result) { r.Spans, r.Lost = r.Spans+1, r.Lost+1 })
		return
	}
	limit, before := int(s.maxBytes.Load()), b.Size()
	if !b.AddWithin(limit, span) {
		b = s.handOver(b)
		before = 0
		b.AddWithin(limit, span)
	}
	if s.traces.add(span.TraceID, b.Size()-before) && s.o.LargeTrace != nil {
		s.o.LargeTrace(span.TraceID)
	}
	if b.Len() >= s.o.MaxSpans || b.Size() >= limit {
		b = s.handOver(b)
	}
}

// handOver sends a batch on its way, as soon as there are not too many on theirs, and returns an empty one.
func (s *Sender) handOver(full *otlp.Batch) (empty *otlp.Batch) {
	empty = <-s.free
	s.tally.update(func(r *Result) { r.Spans, r.Batches = r.Spans+int64(full.Len()), r.Batches+1 })
	s.inFlight.Go(func() {
		left := int64(full.Len())
		defer func() { // also when an uploader ends the goroutine
			s.tally.update(func(r *Result) { r.Lost += left })
			full.Reset()
			s.free <- full
		}()
		s.deliver(full, false, &left)
		s.tally.report()
	})
	return empty
}

// Result returns what has become of the spans so far.
func (s *Sender) Result() Result { return s.tally.snapshot() }

// Close sends what is left and waits for every answer. The error says why the sender ended early: the cause of the context
// it was given, or [ErrDown] or [ErrDenied] with the details. That some spans were refused or lost is no error; the
// result tells. No more spans are taken.
func (s *Sender) Close() (Result, error) {
	b := <-s.filling
	defer func() { s.filling <- nil }()
	if b != nil && b.Len() > 0 {
		s.handOver(b)
	}
	s.inFlight.Wait()
	err := context.Cause(s.ctx)
	s.abort()
	s.stop(errClosed)
	if err == errClosed { // it was closed before
		err = nil
	}
	return s.Result(), err
}
