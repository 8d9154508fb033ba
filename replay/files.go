package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/sessionspan/sessionspan/internal/scope"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/delivery"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Files replays the sessions that paths lead to: files, folders with all below them, patterns (*, ?, [class], {a,b}, ** for any
// depth). Files may be compressed with gzip or zstd. The headers of all are read first, so that subsessions are in the trace of
// the session that spawned them; then several traces are read at once, in little memory, and sent in batches while that goes
// on. Ids depend on the files alone: what is replayed again has the same.
//
// Every batch is answered or given up before Files returns, and the result counts each span once. Nil says that everything was
// read and every span acknowledged. Else the error wraps that of ctx and its cause, or [ErrDown], [ErrDenied], [ErrUndelivered] or
// [ErrUnread], or says that no path leads to a session file or what cannot be used; the result is true all the same. When ctx is
// done, what was read before is sent within a grace of five seconds. The uploader is not closed. What the uploader or a function
// of an option panics with is not caught.
func Files(ctx context.Context, up Uploader, paths []string, opts ...FilesOption) (Result, error) {
	c := newConfig()
	for _, o := range opts {
		if o != nil {
			o.forFiles(c)
		}
	}
	if err := c.validate(); err != nil {
		return Result{}, err
	}
	to, err := uploader(up)
	if err != nil {
		return Result{}, fmt.Errorf("replay: %w", err)
	}
	if len(paths) == 0 {
		return Result{}, errors.New("replay: there are no paths")
	}
	if slices.Contains(paths, input.Stdin) {
		return Result{}, fmt.Errorf("replay: the path %q stands for standard input, which is not among files", input.Stdin)
	}
	f := &files{config: c, sessions: map[string]bool{}}
	err = f.replay(ctx, to, paths)
	for _, some := range f.sessions {
		if some {
			f.result.Sessions++
		}
	}
	if err == nil {
		return f.result, f.result.shortfall()
	}
	if why := ctx.Err(); why != nil && !errors.Is(err, why) {
		err = fmt.Errorf("%w (%w)", err, why)
	} else if cause := context.Cause(ctx); why != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return f.result, fmt.Errorf("replay: %w", err)
}

// files are a replay at work.
type files struct {
	*config
	result   Result
	sessions map[string]bool // by id: some of it is in the period asked for

	mu sync.Mutex // of what several goroutines tell
	at Progress
}

func (f *files) replay(ctx context.Context, to delivery.Uploader, paths []string) error {
	found, err := archive.Find(ctx, paths)
	if err != nil {
		return err
	}
	for _, n := range found.Notes {
		f.note(n.Path, n.Text)
	}
	ix := archive.NewIndex(ctx, found.Files, nil, source.Options{})
	for _, err := range slices.Concat(found.Bad, ix.Bad) {
		f.unread(err)
	}
	if n := len(ix.Unreached); n > 0 {
		return &archive.Halt{While: "reading the header of", Path: ix.Unreached[0], Left: n - 1 + len(ix.Files), Err: context.Cause(ctx)}
	}
	for _, c := range ix.Copies() {
		f.note("", c.String())
	}
	for _, file := range ix.Files {
		f.at.Bytes += input.Size(file.Path)
	}
	f.at.Files = len(ix.Files)

	sender := delivery.New(ctx, to, delivery.Options{
		Batch: otlp.Config{
			Resource:     func(s *projection.Session) []attribute.KeyValue { return otlp.Resource(s, f.resource...) },
			ScopeVersion: scope.Version(),
			SchemaURL:    projection.SchemaURL(f.projection.Semconv),
		},
		Progress: f.sent,
		LargeTrace: func(id trace.TraceID) {
			text := fmt.Sprintf("trace %s is larger than the 5 MB that some backends take", id)
			if f.projection.Group != projection.GroupRun {
				text += `; WithGroup("run") makes smaller ones`
			}
			f.note("", text)
		},
	})
	err = ix.Replay(sender.Context(), ix.Traces(), f.options(), archive.Into(sender), f.read)
	sent, closeErr := sender.Close()
	f.result.Delivery = newDelivery(sent)
	if halt, early := errors.AsType[*archive.Halt](err); early && delivery.IsEnd(closeErr) {
		return fmt.Errorf("%w; files not read: %d", closeErr, halt.Left)
	}
	if err == nil {
		err = closeErr
	}
	return err
}

// options are those of the replay.
func (f *files) options() archive.Options {
	jobs := f.jobs
	if jobs < 1 {
		jobs = runtime.GOMAXPROCS(0)
	}
	return archive.Options{
		Projection: f.projection,
		Select:     archive.Selection{Since: f.since, Until: f.until},
		Finish:     f.finish,
		Now:        f.now,
		Shift:      f.shift,
		Jobs:       jobs,
		Problem:    func(path string, err error, note bool) { f.found(inLine(path, err, note)) },
		Read: func(bytes int64) {
			f.tell(func(p *Progress) { p.BytesRead += bytes })
		},
	}
}

// read takes what came of a file that was read.
func (f *files) read(r archive.Report) {
	report := FileReport{Path: r.File.Path, Session: r.File.Session.ID, Entries: r.Entries, Open: r.Open.Total(), Damaged: r.Damaged}
	for _, n := range r.Spans {
		report.Spans += n
	}
	if r.Session != nil {
		report.Trace = r.Session.TraceID.String()
		f.sessions[r.Session.ID] = f.sessions[r.Session.ID] || !r.Outside
	}
	f.result.Files++
	f.result.Entries += report.Entries
	f.result.Bytes += r.Stats.Bytes
	f.result.Damaged += report.Damaged
	f.result.Open += report.Open
	report.Err = r.Err
	if _, ok := errors.AsType[*input.FileError](r.Err); ok { // else it is the context's
		f.unread(r.Err)
	}
	f.report(report)
	f.tell(func(p *Progress) { p.FilesRead++ })
}

// unread takes the error of a file that could not be read, or not to its end.
func (f *files) unread(err error) {
	f.result.Unread++
	p := &Problem{Err: err}
	if e, ok := errors.AsType[*input.FileError](err); ok {
		p.Path = e.Path
	}
	f.found(p)
}

// note says what is notable of a path, or, without one, of several.
func (f *files) note(path, text string) {
	f.found(&Problem{Path: path, Err: errors.New(text), Note: true})
}

func (f *files) found(p *Problem) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.problem(p)
}

// sent takes what has become of the spans so far.
func (f *files) sent(r delivery.Result) {
	f.tell(func(p *Progress) { p.Sent, p.Refused, p.Lost, p.Retries = r.Sent, r.Refused, r.Lost, r.Retries })
}

// tell tells of the progress after a change.
func (f *files) tell(change func(*Progress)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.at)
	f.progress(f.at)
}
