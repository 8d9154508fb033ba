package replay

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"go.opentelemetry.io/otel/trace"
)

// ErrNoEntry: the session has no entry with the id that [WithLeaf] names.
var ErrNoEntry = errors.New("no such entry")

// Session replays a session into a tracer, with the times that its entries have. The session's mark, at the top, is a child of the
// span in ctx, if there is one. That of a subsession is a child of the call that spawned it, if [WithKnown] has that.
//
// Ids are the tracer's: random ones, unless its provider has a generator that knows better. So replaying a session twice makes
// two traces; what [WithKnown] is given is not sent twice. The spans that were sent are returned also with an error: that of ctx, or
// one that wraps [ErrNoEntry] or says which option cannot be used.
func Session(ctx context.Context, tracer trace.Tracer, s *format.Session, opts ...SessionOption) (*Spans, error) {
	c := newConfig()
	for _, o := range opts {
		if o != nil {
			o.forSession(c)
		}
	}
	err := c.validate()
	if s == nil || tracer == nil {
		err = errors.New("replay: there is no session, or no tracer")
	}
	if err != nil {
		return newTracerSink(ctx, tracer, c.known).spans, err
	}
	po := c.projection
	po.Report = func(p projection.Problem) { c.problem(inLine("", p, p.Note)) }
	out := newTracerSink(ctx, tracer, c.known)
	if c.leaf == "" {
		return out.spans, feed(ctx, s, projection.New(po, out), c)
	}
	held := &projection.Held{} // which spans lie on a path is known when all has been read
	p := projection.New(po, held)
	if err := feed(ctx, s, p, c); err != nil {
		return out.spans, err
	}
	onPath, ok := p.OnPath(c.leaf)
	if !ok {
		return out.spans, fmt.Errorf("replay: %w: %q", ErrNoEntry, c.leaf)
	}
	held.Release(out, func(s *projection.Span) bool { return s.Type == projection.TypeSession || onPath(s) })
	return out.spans, nil
}

// feed reads the lines of a session, each once, as a file's are read.
func feed(ctx context.Context, s *format.Session, p *projection.Projector, c *config) error {
	r, w := io.Pipe()
	go func() {
		_, err := s.WriteTo(w)
		w.CloseWithError(err)
	}()
	defer r.Close()
	rd, err := source.NewReader(r, source.Options{Format: source.AgentSession.Name})
	if err != nil {
		return err
	}
	defer rd.Close()
	for n := 0; err == nil; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err = rd.Read(p.Feed, func(d *format.DamageError) { c.problem(inLine("", d, false)) })
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("replay: %w", err)
	}
	if c.finish {
		rd.Flush(source.Silence, p.Feed)
		p.Finish()
	} else {
		p.Silent(c.now)
	}
	return nil
}
