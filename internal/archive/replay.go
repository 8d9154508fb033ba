package archive

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
)

// Options of a replay.
type Options struct {
	Source     source.Options
	Projection projection.Options
	Select     Selection
	// Finish: nothing more will come in any of the files, so what is open has ended.
	Finish bool
	// Now decides what has been silent for long; the zero value is the time of the call.
	Now time.Time
	// Shift moves each trace so that it ends at Now, under other ids; the spans keep their own times as attributes.
	// [Index.Replay] heeds it, which holds a trace in memory for it.
	Shift bool
	// Parts: an overview of a session has the work of its agents as well.
	Parts bool
	// Jobs is how many traces [Index.Replay] reads at once; less than two is one after the other.
	Jobs int
	// Problem is called for what was wrong with a file or notable about it, with the path in front; nil drops it. With
	// several jobs it is called by as many goroutines, and so is Read.
	Problem func(path string, err error, note bool)
	// Read is told how many bytes were read from disk since the call before; nil for nobody.
	Read func(bytes int64)
	// tap stands between the file and its projector; nil for none.
	tap func(*projection.Projector) (feed func(*activity.Event))
}

// Report says what a replay of one file came to.
type Report struct {
	File *File
	// Session is nil when the file ended before its header.
	Session *projection.Session
	Entries int
	// Spans counts those that were given to the sink, by type.
	Spans map[projection.Type]int
	Open  projection.Open
	Stats source.Stats
	// Damaged counts damaged lines and entries, Notes what is allowed but notable.
	Damaged, Notes int
	// NoLeaf: the session does not have the entry that the selection names, and so none of its spans was wanted.
	NoLeaf bool
	// LeafErr wraps [ErrManyIDs] when it has several that the selection may mean. NoLeaf is true as well.
	LeafErr error
	// Outside: the session has nothing within the time that the selection bounds, and so none of its spans was wanted.
	Outside bool
	// Err is a [*input.FileError], or the error of the context.
	Err error
}

// Project replays one file of the index into the sink. The error is one of reading the file or of the sink's context;
// damaged lines are reported through Options.Problem and counted.
func (ix *Index) Project(ctx context.Context, f *File, o Options, sink projection.Sink) Report {
	rep := Report{File: f, Spans: map[projection.Type]int{}}
	rep.Err = ix.project(ctx, f, o, sink, &rep)
	return rep
}

func (ix *Index) project(ctx context.Context, f *File, o Options, sink projection.Sink, rep *Report) error {
	in, err := f.open(ctx)
	if err != nil {
		return input.NewFileError(f.Path, err)
	}
	defer in.Close()
	o.Source.Place = f.place
	rd, err := source.NewReader(input.Counted(in, o.Read), o.Source)
	if err != nil {
		return input.NewFileError(f.Path, err)
	}
	defer rd.Close()

	problem := func(err error, note bool) {
		if note {
			rep.Notes++
		} else {
			rep.Damaged++
		}
		if o.Problem != nil {
			o.Problem(f.Path, err, note)
		}
	}
	po := o.Projection
	po.Ancestors = ix
	po.Report = func(p projection.Problem) { problem(p, p.Note) }
	out := &counter{sink: sink, spans: rep.Spans}
	held := &holder{}
	var first projection.Sink = out
	if o.Select.active() {
		first = held
	}
	p := projection.New(po, first)
	feed := p.Feed
	if o.tap != nil {
		feed = o.tap(p)
	}
	named := entryFinder{id: o.Select.Leaf}
	feed = named.watch(feed)
	for n := 0; err == nil; n++ {
		if n%1024 == 0 {
			err = ctx.Err()
		}
		if err == nil {
			err = rd.Read(feed, func(d *format.DamageError) { problem(d, false) })
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
		if o.Finish || p.Quiet(o.now()) {
			rd.Flush(source.Silence, feed)
		}
		if o.Finish {
			p.Finish()
		} else {
			p.Silent(o.now())
		}
	}
	rep.Stats = rd.Stats()
	rep.Session, rep.Entries, rep.Open = p.Session(), p.Entries(), p.Open()
	if o.Select.active() {
		o.Select.Leaf, rep.LeafErr = named.entry(p)
		keep, ok := o.Select.filter(p)
		rep.NoLeaf = !ok
		if rep.Outside = ok && rep.Session != nil && o.Select.outside(held.started, keep); !rep.Outside {
			held.release(out, keep)
		}
	}
	if err != nil && ctx.Err() == nil {
		e := input.NewFileError(f.Path, err)
		e.Begun, e.Entries = rep.Session != nil, rep.Entries
		err = e
	}
	return err
}

func (o *Options) now() time.Time {
	if o.Now.IsZero() {
		return time.Now()
	}
	return o.Now
}

// counter counts the spans that end.
type counter struct {
	sink  projection.Sink
	spans map[projection.Type]int
}

func (c *counter) Start(s *projection.Span) { c.sink.Start(s) }

func (c *counter) End(s *projection.Span) {
	c.spans[s.Type]++
	c.sink.End(s)
}

// holder keeps spans until it is known which of them are wanted.
type holder struct {
	started []*projection.Span
	ended   []*projection.Span
}

func (h *holder) Start(s *projection.Span) { h.started = append(h.started, s) }
func (h *holder) End(s *projection.Span)   { h.ended = append(h.ended, s) }

// release gives the sink the spans that are wanted, in the order in which they came.
func (h *holder) release(to projection.Sink, want func(*projection.Span) bool) {
	for _, s := range h.started {
		if want(s) {
			to.Start(s)
		}
	}
	for _, s := range h.ended {
		if want(s) {
			to.End(s)
		}
	}
}
