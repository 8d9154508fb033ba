package otelwrap_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// meddling is a store behind which something happens between an append, or a deletion, and its return: what another goroutine may do.
type meddling struct {
	store.Store
	then func()
}

func (m *meddling) meddle() {
	if then := m.then; then != nil {
		m.then = nil
		then()
	}
}

func (m *meddling) Append(ctx context.Context, id string, e format.Entry) (string, error) {
	entry, err := m.Store.Append(ctx, id, e)
	m.meddle()
	return entry, err
}

func (m *meddling) Delete(ctx context.Context, id string) error {
	err := m.Store.Delete(ctx, id)
	m.meddle()
	return err
}

// Whatever happens to a session between an append and the moment at which it is traced, no span is lost.
func TestSessionThatIsLetGoOfDuringAnAppend(t *testing.T) {
	for name, meddle := range map[string]func(*recording, context.Context) error{
		"closed, for some time": func(r *recording, ctx context.Context) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel() // the append is waited for as long as this
			if err := r.Close(ctx, "s"); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("closing: %v", err)
			}
			return nil
		},
		"released, and opened": func(r *recording, ctx context.Context) error {
			err := r.Unwrap().(*meddling).Store.(interface{ Release(string) error }).Release("s")
			_, oerr := r.Open(ctx, "s")
			return errors.Join(err, oerr)
		},
		"released, and appended to": func(r *recording, ctx context.Context) error {
			err := r.Unwrap().(*meddling).Store.(interface{ Release(string) error }).Release("s")
			_, aerr := r.Append(ctx, "s", format.NewInfo("other"))
			return errors.Join(err, aerr)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			in := &meddling{Store: openFiles(t, dir)}
			r := record(t, in, nil, nil)
			r.create(header("s"))
			r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
			in.then = func() {
				if err := meddle(r, t.Context()); err != nil {
					t.Error(err)
				}
			}
			r.add("s", output("call-1"), answered("resp-2"), done("run-1"))
			r.noErrors()
			equalsReplay(t, r.spans, dir)
		})
	}
}

// Appends and closings of several goroutines: every span is sent, and once.
func TestAppendsWhileOthersClose(t *testing.T) {
	for range 40 {
		r := record(t, store.NewMemory(), nil, nil)
		r.create(header("s"))
		r.add("s", start("run-1"))
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if err := r.Close(context.Background(), "s"); err != nil {
						t.Error(err)
					}
				}
			}
		})
		for n := range 20 {
			call := fmt.Sprint("call-", n)
			r.add("s", asks("resp-"+call, call, "bash")...)
			r.add("s", handOver(call), output(call))
		}
		r.add("s", done("run-1"))
		close(stop)
		wg.Wait()
		r.noErrors()
		if got := len(r.spans.byID(t)); got != 42 {
			t.Fatalf("%d spans, want 42", got)
		}
	}
}

// What was appended past the wrapper is not lost when the store lets go of the session.
func TestReleasedWithEntriesPastTheWrapper(t *testing.T) {
	for name, reopened := range map[string]bool{"appended, released, opened": false, "released, opened, appended": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := openFiles(t, dir)
			r := record(t, files, nil, nil)
			s := r.create(header("s"))
			r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
			var err error
			if reopened {
				if err = files.Release("s"); err == nil {
					s, err = files.Open(t.Context(), "s")
				}
			}
			if err == nil {
				_, err = s.Append(output("call-1"))
			}
			if err == nil && !reopened {
				if err = files.Release("s"); err == nil {
					_, err = r.Open(t.Context(), "s")
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			r.add("s", answered("resp-2"), done("run-1"))
			r.noErrors()
			equalsReplay(t, r.spans, dir)
		})
	}
}

// Nor when it is forgotten.
func TestIdleWithEntriesPastTheWrapper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := record(t, openFiles(t, dir), nil, nil)
		s := r.create(header("s"))
		r.create(header("other"))
		r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
		r.add("s", output("call-1"))
		if _, err := s.Append(done("run-1")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(25 * time.Hour)
		r.add("other", start("run-1"), done("run-1"))
		r.noErrors()
		r.span("invoke_agent coder")
		equalsReplay(t, r.spans, dir)
	})
}

// A session that is created while the one before it is being deleted is another one, and traced.
func TestCreatedWhileItIsDeleted(t *testing.T) {
	in := &meddling{Store: store.NewMemory()}
	r := record(t, in, nil, nil)
	r.create(header("s"))
	in.then = func() { // another goroutine is quicker
		r.create(header("s"))
		r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
	}
	if err := r.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if r.CallContext(t.Context(), "s", "call-1") == t.Context() {
		t.Error("the new session was forgotten in place of the old")
	}
	r.noErrors()
}

// Shutdown waits for what is on its way, as long as its context lets it.
func TestShutdownWaitsForAppends(t *testing.T) {
	h := &held{name: "chat gpt-5", in: make(chan struct{}), out: make(chan struct{})}
	r := record(t, store.NewMemory(), &exporter{}, []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(h)})
	r.create(header("s"))
	r.add("s", start("run-1"))
	r.add("s", asks("resp-1", "call-1", "bash")[0])
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := r.Append(context.Background(), "s", answered("resp-1")); err != nil {
			t.Error(err)
		}
	})
	<-h.in
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Shutdown(impatient); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v while a span is on its way", err)
	}
	finished := make(chan error)
	go func() { finished <- r.Shutdown(context.Background()) }()
	close(h.out)
	if err := <-finished; err != nil {
		t.Error(err)
	}
	spanNamed(t, &h.exporter, "chat gpt-5")
	wg.Wait()
}

// Everything at once, for the race detector: nothing hangs, and nothing panics.
func TestEverythingAtOnce(t *testing.T) {
	for _, parent := range []otelwrap.Parent{otelwrap.ParentLink, otelwrap.ParentCaller} {
		files := openFiles(t, t.TempDir())
		meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
		r := record(t, files, nil, nil, otelwrap.WithParent(parent), otelwrap.WithMeterProvider(meters), otelwrap.WithIdleLimit(time.Microsecond))
		ctx := callerContext(t, "")
		for i := range 4 {
			r.create(header(fmt.Sprint("s", i)))
		}
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(g), 1))
				for n := range 60 {
					id := fmt.Sprint("s", random.IntN(4))
					switch random.IntN(12) { // what cannot be done then fails, which is as good
					case 0:
						r.Close(ctx, id)
					case 1:
						files.Release(id)
					case 2:
						r.Open(ctx, id)
					case 3:
						r.Delete(ctx, id)
						r.Create(ctx, header(id))
					case 4:
						r.RunContext(ctx, id)
					case 5:
						child := spawned(fmt.Sprint("c", g, "-", n), id, "call-1")
						r.Create(ctx, child)
						r.Append(ctx, child.ID, start("run-1"))
					default:
						call := fmt.Sprint("call-", g, "-", n)
						for _, e := range append(asks("r"+call, call, "bash"), handOver(call), output(call)) {
							r.Append(ctx, id, e)
							r.CallContext(ctx, id, call)
						}
					}
				}
			})
		}
		wg.Wait()
		if err := r.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		for _, err := range r.errs.all() {
			if panicked, ok := errors.AsType[*otelwrap.PanicError](err); ok {
				t.Errorf("%v\n%s", err, panicked.Stack)
			}
		}
	}
}
