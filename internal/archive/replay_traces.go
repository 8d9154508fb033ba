package archive

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sessionspan/sessionspan/internal/projection"
)

// Destination is where traces go. With [Options.Jobs] it is used by as many goroutines.
type Destination interface {
	// Trace returns the sink for the next trace, or for more of the one at hand.
	Trace() projection.Sink
	// Flush is called at the end of a trace. When the context is done already, it writes what there is, as quickly as may be;
	// when that comes later, it ends with its error.
	Flush(context.Context) error
}

// Into returns the destination of all traces that is one sink, for as many goroutines as there are jobs.
func Into(sink projection.Sink) Destination { return into{sink} }

type into struct{ sink projection.Sink }

func (i into) Trace() projection.Sink    { return i.sink }
func (into) Flush(context.Context) error { return nil }

// Halt is the error of a replay that has ended early.
type Halt struct {
	// While says what was done when the context was done: [Reading], or [Writing] a trace. It is "" when the destination
	// failed.
	While string
	// Path is the file with which it ended, Left how many files after it were not read.
	Path string
	Left int
	// Err is the cause of the context, or the error of the destination.
	Err error
}

// What a replay can be at when its context is done.
const (
	Reading = "reading"
	Writing = "writing the trace of"
)

func (h *Halt) Error() string {
	text := fmt.Sprintf("ended with %s: %v", h.Path, h.Err)
	if h.While != "" {
		text = fmt.Sprintf("interrupted while %s %s: %v", h.While, h.Path, h.Err)
	}
	if h.Left > 0 {
		text += fmt.Sprintf("; files not reached: %d", h.Left)
	}
	return text
}

// Unwrap returns Err.
func (h *Halt) Unwrap() error { return h.Err }

// Replay replays traces, which are those of [Index.Traces] or some of them, into a destination, [Options.Jobs] at once. Report is
// given what came of each file that was read, in the order of the traces, one call at a time; nil drops it. The error is a
// [*Halt] when not all was replayed.
func (ix *Index) Replay(ctx context.Context, traces [][]*File, o Options, to Destination, report func(Report)) error {
	r := &replay{
		ix: ix, traces: traces, options: o.shifted(), to: to, report: report,
		reports: make([][]Report, len(traces)),
	}
	for _, files := range traces {
		r.left += len(files)
	}
	var workers sync.WaitGroup
	for range min(max(o.Jobs, 1), len(traces)) {
		workers.Go(func() {
			for i, ok := r.begin(); ok; i, ok = r.begin() {
				reports, interrupted := r.one(ctx, traces[i])
				r.end(ctx, i, reports, interrupted, to.Flush(ctx))
			}
		})
	}
	workers.Wait()
	if r.halt == nil {
		return nil
	}
	r.halt.Left = r.left
	return r.halt
}

// replay is an [Index.Replay] at work.
type replay struct {
	ix      *Index
	traces  [][]*File
	options Options
	to      Destination
	report  func(Report)

	mu      sync.Mutex
	next    int        // the trace to begin
	left    int        // files that have not been read
	reports [][]Report // by trace, until those before it have been given on
	given   int        // traces whose reports have been
	halt    *Halt      // why no other trace is to begin
}

// begin returns the next trace, unless there is none, or none is wanted any more.
func (r *replay) begin() (trace int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == len(r.traces) || r.halt != nil {
		return 0, false
	}
	r.next++
	return r.next - 1, true
}

// one replays the files of one trace.
func (r *replay) one(ctx context.Context, files []*File) (reports []Report, interrupted bool) {
	if !r.options.Shift {
		reports = r.ix.ProjectTrace(ctx, files, r.options, r.to.Trace())
		return reports, ctx.Err() != nil
	}
	var held shifted
	reports = r.ix.ProjectTrace(ctx, files, r.options, &held)
	held.release(r.to.Trace(), r.options.now())
	return reports, ctx.Err() != nil
}

// end takes what came of a trace: its reports, whether it was interrupted, and the error of its destination.
func (r *replay) end(ctx context.Context, trace int, reports []Report, interrupted bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if reports == nil {
		reports = []Report{}
	}
	r.reports[trace] = reports
	for ; r.given < len(r.traces) && r.reports[r.given] != nil; r.given++ {
		for _, rep := range r.reports[r.given] {
			if r.report != nil {
				r.report(rep)
			}
		}
		r.reports[r.given] = []Report{}
	}
	r.left -= len(reports)
	if r.halt != nil {
		return
	}
	at := r.traces[trace][0].Path
	if n := len(reports); n > 0 {
		at = reports[n-1].File.Path
	}
	switch {
	case err != nil && !(ctx.Err() != nil && errors.Is(err, context.Canceled)):
		r.halt = &Halt{Path: at, Err: err}
	case interrupted:
		r.halt = &Halt{While: Reading, Path: at, Err: context.Cause(ctx)}
	case ctx.Err() != nil:
		r.halt = &Halt{While: Writing, Path: at, Err: context.Cause(ctx)}
	}
}
