package delivery

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// fake is a backend without a network, whose time may be that of a synctest bubble.
type fake struct {
	answer func(ctx context.Context, request int, names []string) error // nil: it accepts everything

	mu       sync.Mutex
	requests int
	at       []time.Time    // when each request came
	took     map[string]int // the spans that were answered without an error, by name
}

func (f *fake) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	data, err := otlp.Decode(spans)
	if err != nil {
		return err
	}
	var names []string
	for _, r := range data.GetResourceSpans() {
		for _, s := range r.GetScopeSpans()[0].GetSpans() {
			names = append(names, s.GetName())
		}
	}
	f.mu.Lock()
	f.requests++
	n := f.requests
	f.at = append(f.at, time.Now())
	f.mu.Unlock()
	if f.answer != nil {
		err = f.answer(ctx, n, names)
	}
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.took == nil {
			f.took = make(map[string]int)
		}
		for _, name := range names {
			f.took[name]++
		}
	}
	return err
}

func (f *fake) String() string { return "fake:4317 (grpc)" }

var (
	errBusy = status.Error(codes.Unavailable, "busy")
	errBad  = status.Error(codes.InvalidArgument, "bad")
	errKey  = status.Error(codes.Unauthenticated, "no key")
	errBig  = status.Error(codes.ResourceExhausted, "grpc: received message larger than max (9 vs. 8)")
)

func errLater(wait time.Duration) error {
	s, err := status.New(codes.Unavailable, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
	if err != nil {
		panic(err)
	}
	return s.Err()
}

// feed gives n spans named 0 to n-1 to a sender, until it wants no more.
func feed(s *Sender, n int) {
	for i := range n {
		span := spanOf(fmt.Sprint(i), 0)
		s.Start(span)
		s.End(span)
	}
}

func TestSender(t *testing.T) {
	const n = 100 // spans, in batches of 10
	all := Result{Spans: n, Batches: 10, Sent: n}
	for _, tc := range []struct {
		name   string
		answer func(ctx context.Context, request int, names []string) error
		want   Result
		err    error // why it stops
		text   string
		took   time.Duration // how long it takes at least, and not four times as long
	}{
		{name: "accepted", want: all},
		{
			name: "refused", answer: func(_ context.Context, _ int, names []string) error {
				if slices.Contains(names, "35") {
					return errBad
				}
				return nil
			},
			want: Result{Spans: n, Batches: 10, Sent: 90, Refused: 10, Messages: []Message{{"InvalidArgument: bad", 1}}},
		},
		{
			name: "partial success", answer: func(_ context.Context, request int, _ []string) error {
				switch request {
				case 2:
					return errors.New("OTLP partial success: full (3 spans rejected)")
				case 5:
					return errors.New("OTLP partial success: full (3000 spans rejected)")
				case 7:
					return errors.New("OTLP partial success: old (0 spans rejected)")
				}
				return nil
			},
			want: Result{Spans: n, Batches: 10, Sent: 87, Refused: 13, Messages: []Message{{"full", 2}, {"old", 1}}},
		},
		{
			name: "denied", answer: func(context.Context, int, []string) error { return errKey },
			want: Result{Spans: n, Batches: 2, Refused: 10, Lost: 90, Messages: []Message{{"Unauthenticated: no key", 1}}},
			err:  ErrDenied, text: "fake:4317 (grpc): it takes no traces: Unauthenticated: no key; look at the endpoint and at OTEL_EXPORTER_OTLP_HEADERS",
		},
		{
			name: "denied later", answer: func(_ context.Context, request int, _ []string) error {
				if request > 4 {
					return errKey
				}
				return nil
			},
			want: Result{Spans: n, Batches: 10, Sent: 40, Refused: 60, Messages: []Message{{"Unauthenticated: no key", 6}}},
		},
		{
			name: "never there", answer: func(context.Context, int, []string) error { return errBusy },
			want: Result{Spans: n, Batches: 2, Lost: n}, took: 15 * time.Second,
			err: ErrDown, text: "fake:4317 (grpc): nothing was accepted for 15s: Unavailable: busy; is that the right endpoint and protocol?",
		},
		{
			name: "never in time", answer: func(ctx context.Context, _ int, _ []string) error {
				ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
				defer cancel()
				<-ctx.Done()
				return ctx.Err()
			},
			want: Result{Spans: n, Batches: 2, Lost: n}, took: 15 * time.Second,
			err: ErrDown,
		},
		{
			name: "never an answer", answer: func(ctx context.Context, _ int, _ []string) error {
				<-ctx.Done() // as a client without a timeout of its own
				return ctx.Err()
			},
			want: Result{Spans: n, Batches: 2, Lost: n, Messages: []Message{{noAnswer, 1}}}, took: 15 * time.Second,
			err: ErrDown, text: "nothing was accepted for 15s: no answer in time (OTEL_EXPORTER_OTLP_TIMEOUT); is that the right endpoint",
		},
		{
			name: "says no after its time", answer: func(context.Context, int, []string) error {
				time.Sleep(7 * time.Second) // whatever its context says
				return errBusy
			},
			want: Result{Spans: n, Batches: 2, Lost: n}, took: 15 * time.Second,
			err: ErrDown, text: "Unavailable: busy; is that the right endpoint",
		},
		{
			name: "asks once to wait longer than it may", answer: func(_ context.Context, request int, _ []string) error {
				if request == 5 {
					return errLater(6 * time.Minute)
				}
				return nil
			},
			want: Result{Spans: n, Batches: 10, Sent: n, Retries: 1, Messages: []Message{{"Unavailable: later", 1}}}, took: 5 * time.Minute,
		},
		{
			name: "there at last", answer: func(_ context.Context, request int, _ []string) error {
				if request < 4 {
					return errBusy
				}
				return nil
			},
			want: Result{Spans: n, Batches: 10, Sent: n, Retries: 3, Messages: []Message{{"Unavailable: busy", 3}}}, took: 1500 * time.Millisecond,
		},
		{
			name: "away for a while", answer: func(_ context.Context, request int, _ []string) error {
				if request > 5 && request < 12 {
					return errBusy
				}
				return nil
			},
			want: Result{Spans: n, Batches: 10, Sent: n, Retries: 6, Messages: []Message{{"Unavailable: busy", 6}}}, took: 15 * time.Second,
		},
		{
			name: "gone", answer: func(_ context.Context, request int, _ []string) error {
				if request > 5 {
					return errBusy
				}
				return nil
			},
			want: Result{Spans: n, Batches: 7, Sent: 50, Lost: 50}, took: 5 * time.Minute,
			err: ErrDown, text: "nothing was accepted for 5m0s: Unavailable: busy",
		},
		{
			name: "asks to wait", answer: func(_ context.Context, request int, _ []string) error {
				if request == 1 {
					return errLater(time.Minute) // more than its patience
				}
				return nil
			},
			want: Result{Spans: n, Batches: 10, Sent: n, Retries: 1, Messages: []Message{{"Unavailable: later", 1}}}, took: time.Minute,
		},
		{
			name: "asks to wait too long", answer: func(context.Context, int, []string) error { return errLater(time.Hour) },
			want: Result{Spans: n, Batches: 2, Lost: n, Messages: []Message{{"Unavailable: later", 1}}},
			err:  ErrDown, text: "fake:4317 (grpc): nothing was accepted: Unavailable: later; it asks to wait 1h0m0s, and 5m0s is the longest that is waited",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{answer: tc.answer}
				s := New(t.Context(), f, Options{MaxSpans: 10, InFlight: 1})
				start := time.Now()
				feed(s, n)
				got, err := s.Close()
				if took := time.Since(start); took < tc.took || took > 4*tc.took {
					t.Errorf("it took %v, want about %v", took, tc.took)
				}
				if !errors.Is(err, tc.err) || tc.err != nil && !strings.Contains(err.Error(), tc.text) {
					t.Errorf("error %v, want %v: %s", err, tc.err, tc.text)
				}
				if n := int64(f.requests); got.Requests != n {
					t.Errorf("%d requests are counted of %d", got.Requests, n)
				}
				ignore := []string{"Bytes", "Requests"}
				if tc.err != nil && tc.want.Messages == nil { // how often it tried is a matter of chance
					ignore = append(ignore, "Retries", "Messages")
					if got.Retries == 0 || got.Messages[0].Times != got.Retries+1 {
						t.Errorf("%d retries, messages %v", got.Retries, got.Messages)
					}
				}
				if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Result{}, ignore...)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if again, err := s.Close(); !cmp.Equal(again, got) || err != nil && tc.err == nil {
					t.Errorf("closed again: %+v, error %v", again, err)
				}
				feed(s, 1)
				if late := s.Result(); late.Spans != n+1 || late.Lost != got.Lost+1 {
					t.Errorf("a span that came too late: %+v", late)
				}
			})
		})
	}
}

// A batch that cannot be sent while others can is lost by itself.
func TestPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ context.Context, _ int, names []string) error {
			time.Sleep(10 * time.Second)
			if slices.Contains(names, "35") {
				return errBusy
			}
			return nil
		}}
		s := New(t.Context(), f, Options{MaxSpans: 10, InFlight: 2})
		feed(s, 1000)
		if r, err := s.Close(); err != nil || r.Sent != 990 || r.Lost != 10 {
			t.Errorf("%+v, error %v", r, err)
		}
	})
}

// Whoever gives spans waits while enough batches are on their way, and no longer.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := &fake{answer: func(context.Context, int, []string) error {
			<-release
			return nil
		}}
		s := New(t.Context(), f, Options{MaxSpans: 10, InFlight: 3})
		given := 0
		go func() {
			for given < 100 {
				feed(s, 1)
				given++
			}
		}()
		// Three batches are on their way, and a fourth is full but for the span that would send it.
		for _, want := range []int{39, 49, 59} {
			synctest.Wait()
			if given != want {
				t.Errorf("%d spans were taken, want %d", given, want)
			}
			if r := s.Result(); r.Spans-r.Sent != 30 {
				t.Errorf("%d spans are in flight", r.Spans-r.Sent)
			}
			release <- struct{}{}
		}
		close(release)
		synctest.Wait()
		if r, err := s.Close(); err != nil || r.Sent != 100 {
			t.Errorf("%+v, error %v", r, err)
		}
	})
}

func TestInterrupt(t *testing.T) {
	interrupt := errors.New("interrupt")
	for _, tc := range []struct {
		name   string
		answer func(ctx context.Context, request int) error
		sent   int64
		took   time.Duration
	}{
		{"what is under way comes to its end", func(ctx context.Context, _ int) error {
			return sleep(ctx, 4*time.Second)
		}, 25, 4 * time.Second}, // the interrupt comes after one second, the last batch begins at once
		{"what takes too long is lost", func(ctx context.Context, request int) error {
			if request == 1 {
				return sleep(ctx, time.Minute)
			}
			return nil
		}, 15, 6 * time.Second},
		{"what waits is tried once more", func(_ context.Context, request int) error {
			if request <= 2 {
				return errLater(time.Minute)
			}
			return nil
		}, 25, time.Second},
		{"and only once", func(context.Context, int) error { return errLater(time.Minute) }, 0, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				f := &fake{answer: func(ctx context.Context, request int, _ []string) error { return tc.answer(ctx, request) }}
				s := New(ctx, f, Options{MaxSpans: 10})
				start := time.Now()
				feed(s, 25)
				time.Sleep(time.Second)
				cancel(interrupt)
				<-s.Context().Done()
				got, err := s.Close()
				if !errors.Is(err, interrupt) {
					t.Errorf("error %v, want that of the context", err)
				}
				if got.Sent != tc.sent || got.Lost != 25-tc.sent || got.Spans != 25 {
					t.Errorf("%+v, want %d sent of 25", got, tc.sent)
				}
				if took := time.Since(start); took < tc.took || took > tc.took+time.Second {
					t.Errorf("it took %v, want %v", took, tc.took)
				}
				if len(f.took) != int(tc.sent) {
					t.Errorf("the backend has %d spans", len(f.took))
				}
			})
		})
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// What is given after the grace is lost, and nobody waits for it.
func TestAfterTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := new(fake)
		s := New(ctx, f, Options{})
		cancel()
		time.Sleep(6 * time.Second)
		feed(s, 10)
		if r, err := s.Close(); r.Lost != 10 || r.Spans != 10 || f.requests != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%+v, %d requests, error %v", r, f.requests, err)
		}
	})
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		f := &fake{answer: func(_ context.Context, request int, _ []string) error {
			if request == 2 {
				return errBusy
			}
			return nil
		}}
		s := New(t.Context(), f, Options{MaxSpans: 10, InFlight: 1, Progress: func(r Result) {
			told = append(told, fmt.Sprintf("%d of %d, %d retries", r.Sent, r.Spans, r.Retries))
		}})
		feed(s, 25)
		if _, err := s.Close(); err != nil {
			t.Error(err)
		}
		want := []string{"10 of 10, 0 retries", "10 of 20, 1 retries", "20 of 20, 1 retries", "25 of 25, 1 retries"}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestLargeTrace(t *testing.T) {
	var told []trace.TraceID
	s := New(t.Context(), new(fake), Options{TraceBytes: 1000, LargeTrace: func(id trace.TraceID) { told = append(told, id) }})
	for i := range 40 {
		for id := range byte(3) { // of the third, a span only now and then
			if span := spanOf("s", 0); id < 2 || i%20 == 0 {
				span.TraceID[0] = id
				s.End(span)
			}
		}
	}
	if _, err := s.Close(); err != nil {
		t.Error(err)
	}
	if len(told) != 2 || told[0][0] != 0 || told[1][0] != 1 {
		t.Errorf("told of %v, want the first two, once each", told)
	}
}

func TestTraceSizes(t *testing.T) {
	sizes := traceSizes{limit: 10}
	id := func(i int) (id trace.TraceID) {
		id[0], id[1], id[2] = byte(i), byte(i>>8), byte(i>>16)
		return id
	}
	reported := 0
	for i := range 10 * maxTraces {
		for range 2 { // of two traces at once, the older one a while ago
			for _, j := range []int{i, i - maxTraces/2} {
				if j >= 0 && sizes.add(id(j), 3) {
					reported++
				}
			}
		}
		if n := len(sizes.recent) + len(sizes.older); n > 2*maxTraces {
			t.Fatalf("%d traces are counted", n)
		}
	}
	if want := 10*maxTraces - maxTraces/2; reported != want { // each has twelve bytes by then
		t.Errorf("%d traces were reported, want %d", reported, want)
	}
}

func TestMessages(t *testing.T) {
	r := new(Result)
	for i := range 2 * maxMessages {
		r.note(fmt.Sprint(i))
		r.note("0")
		r.note("")
	}
	if len(r.Messages) != maxMessages || r.Messages[0] != (Message{"0", 2*maxMessages + 1}) || r.Others != maxMessages {
		t.Errorf("%v and %d others", r.Messages, r.Others)
	}
}

// limited is a backend that takes messages of some bytes.
func limited(limit int) *fake {
	f := new(fake)
	return f.limited(limit)
}

func (f *fake) limited(limit int) *fake {
	f.answer = func(_ context.Context, _ int, names []string) error {
		size := 0
		for _, name := range names {
			size += len(name)
		}
		if size > limit {
			return errBig
		}
		return nil
	}
	return f
}

func TestTooLarge(t *testing.T) {
	session := new(projection.Session)
	const n = 3000
	f := limited(300 << 10)
	s := New(t.Context(), f, Options{InFlight: 1})
	for i := range n {
		s.End(&projection.Span{Name: fmt.Sprintf("%01000d", i), Session: session})
	}
	r, err := s.Close()
	if err != nil || r.Sent != n || len(f.took) != n || r.Cut != 0 {
		t.Errorf("%+v, %d at the backend, error %v", r, len(f.took), err)
	}
	if least := n * 1000 / (300 << 10); f.requests > 3*least { // had it not learned, each batch would make 15
		t.Errorf("%d requests for what %d can hold", f.requests, least)
	}
	if r.Messages[0].Text != message("ResourceExhausted: grpc: received message larger than max (9 vs. 8)") {
		t.Errorf("messages %v", r.Messages)
	}

	// Nothing is ever small enough.
	f = limited(0)
	s = New(t.Context(), f, Options{InFlight: 1})
	for i := range n {
		s.End(&projection.Span{Name: fmt.Sprintf("%0100d", i), Session: session})
	}
	if r, err := s.Close(); err != nil || r.Refused != n || f.requests > n/6 {
		t.Errorf("%+v, %d requests, error %v", r, f.requests, err)
	}
}

// A span that is larger than a message has its texts cut, and does not take others with it.
func TestCutDown(t *testing.T) {
	var sizes []int
	up := uploadFunc(func(_ context.Context, spans []*tracepb.ResourceSpans) error {
		data, err := otlp.Decode(spans)
		if err != nil {
			return err
		}
		for _, span := range data.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans() {
			for _, kv := range span.GetAttributes() {
				if text := kv.GetValue().GetStringValue(); len(text) > 1<<20 {
					return errBig
				}
			}
		}
		for _, span := range data.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans() {
			for _, kv := range span.GetAttributes() {
				sizes = append(sizes, len(kv.GetValue().GetStringValue()))
			}
		}
		return nil
	})
	session := new(projection.Session)
	s := New(t.Context(), up, Options{InFlight: 1})
	for _, span := range []*projection.Span{
		{Name: "small", Attributes: []attribute.KeyValue{attribute.String("text", "hello")}},
		{Name: "large", Attributes: []attribute.KeyValue{attribute.String("text", strings.Repeat("x", 3<<20))}},
		{Name: "of an id", Attributes: []attribute.KeyValue{attribute.String("id", strings.Repeat("x", 3<<20))}},
		{Name: "small", Attributes: []attribute.KeyValue{attribute.String("text", "bye")}},
	} {
		span.Session = session
		s.End(span)
	}
	r, err := s.Close()
	if err != nil || r.Sent != 3 || r.Refused != 1 || r.Cut != 1 {
		t.Errorf("%+v, error %v", r, err)
	}
	slices.Sort(sizes)
	if len(sizes) != 4 || sizes[0] != 0 || sizes[1] != 3 || sizes[2] != 5 || sizes[3] < 400<<10 { // 0: the count of what was cut
		t.Errorf("texts of %v bytes arrived", sizes)
	}
}

type uploadFunc func(ctx context.Context, spans []*tracepb.ResourceSpans) error

func (f uploadFunc) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	return f(ctx, spans)
}

// With several requests on their way, those that the end of the sender cuts off are counted, and what they come to is no word of
// the backend's.
func TestEndingIsNotAnAnswer(t *testing.T) {
	for name, answer := range map[string]func(context.Context, int, []string) error{
		"busy": func(context.Context, int, []string) error { return errBusy },
		"waits": func(ctx context.Context, _ int, _ []string) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"denies one": func(ctx context.Context, request int, _ []string) error {
			if request == 2 {
				return errKey
			}
			<-ctx.Done()
			return ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{answer: answer}
				s := New(t.Context(), f, Options{MaxSpans: 10, InFlight: 4})
				feed(s, 100)
				r, err := s.Close()
				if err == nil || r.Lost+r.Refused != 100 || r.Requests != int64(f.requests) {
					t.Errorf("error %v, %+v; %d requests came", err, r, f.requests)
				}
				if repeats := r.Requests - 4; r.Retries != max(repeats, 0) {
					t.Errorf("%d retries in %d requests of 4 batches", r.Retries, r.Requests)
				}
				for _, m := range r.Messages {
					if strings.Contains(strings.ToLower(m.Text), "canceled") {
						t.Errorf("the messages are %v", r.Messages)
					}
				}
			})
		})
	}
}

// An uploader that ends its goroutine, as t.Fatal does, has accepted nothing.
func TestUploaderThatEndsItsGoroutine(t *testing.T) {
	f := &fake{answer: func(_ context.Context, request int, _ []string) error {
		if request == 2 {
			runtime.Goexit()
		}
		return nil
	}}
	s := New(t.Context(), f, Options{MaxSpans: 10, InFlight: 1})
	feed(s, 100)
	if r, err := s.Close(); err != nil || r.Sent != 90 || r.Lost != 10 || r.Spans != 100 {
		t.Errorf("error %v, %+v", err, r)
	}
}
