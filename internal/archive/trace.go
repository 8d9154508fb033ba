package archive

import (
	"cmp"
	"context"
	"slices"

	"github.com/sessionspan/sessionspan/internal/projection"
)

// ProjectTrace replays the files of one of [Index.Traces] into the sink, one after the other, and reports on each. When the
// context is done it ends with the report of the file at hand.
//
// A session that stands in several files is given once: each span as the file has it that was read furthest. Those of the
// others count what only they have.
func (ix *Index) ProjectTrace(ctx context.Context, files []*File, o Options, sink projection.Sink) []Report {
	var reports []Report
	for len(files) > 0 && ctx.Err() == nil {
		n := 1
		for n < len(files) && files[n].Session.ID == files[0].Session.ID {
			n++
		}
		if n == 1 {
			reports = append(reports, ix.Project(ctx, files[0], o, sink))
		} else {
			reports = append(reports, ix.projectCopies(ctx, files[:n], o, sink)...)
		}
		files = files[n:]
	}
	return reports
}

// projectCopies replays files of one session, all of which it holds until it is known which of them says most.
func (ix *Index) projectCopies(ctx context.Context, files []*File, o Options, sink projection.Sink) []Report {
	type copied struct {
		report *Report
		held   *holder
	}
	reports := make([]Report, 0, len(files))
	copies := make([]copied, 0, len(files))
	for _, f := range files {
		held := &holder{}
		reports = append(reports, ix.Project(ctx, f, o, held))
		copies = append(copies, copied{&reports[len(reports)-1], held})
		if ctx.Err() != nil {
			break
		}
	}
	slices.SortStableFunc(copies, func(a, b copied) int { return -cmp.Compare(a.report.Entries, b.report.Entries) })
	given := &given{started: map[spanKey]struct{}{}, ended: map[spanKey]struct{}{}}
	for i, c := range copies {
		given.to = &counter{sink: sink, spans: map[projection.Type]int{}}
		if i > 0 {
			c.report.Open = given.open(c.held.started)
		}
		c.held.release(given, func(*projection.Span) bool { return true })
		c.report.Spans = given.to.spans
	}
	return reports
}

type spanKey struct {
	trace [16]byte
	span  [8]byte
}

func keyOf(s *projection.Span) spanKey { return spanKey{s.TraceID, s.SpanID} }

// given gives each span on once, and one that was open before once more with its end. It takes spans that do not change any
// more.
type given struct {
	to             *counter
	started, ended map[spanKey]struct{}
}

func (g *given) Start(s *projection.Span) {
	key := keyOf(s)
	_, started := g.started[key]
	_, ended := g.ended[key]
	if ended || started && s.End.IsZero() {
		return
	}
	g.started[key] = struct{}{}
	g.to.Start(s)
}

func (g *given) End(s *projection.Span) {
	key := keyOf(s)
	if _, twice := g.ended[key]; twice {
		return
	}
	g.ended[key] = struct{}{}
	g.to.End(s)
}

// open counts the spans that are open and were not given before.
func (g *given) open(spans []*projection.Span) (o projection.Open) {
	for _, s := range spans {
		if _, have := g.started[keyOf(s)]; have || !s.End.IsZero() {
			continue
		}
		switch s.Type {
		case projection.TypeRun:
			o.Runs++
		case projection.TypeTool:
			o.Tools++
		case projection.TypeApproval:
			o.Approvals++
		}
	}
	return o
}
