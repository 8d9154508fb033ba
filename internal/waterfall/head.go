package waterfall

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// summary is what the spans of a trace add up to.
type summary struct {
	root                     *projection.Session // nil when no span names its session
	name                     string
	active, model, tools     time.Duration // unions, not sums: what runs side by side counts once
	models                   []string
	named                    map[string]bool // the models
	input, output, cacheRead count
	cost                     float64
	costKnown, costPartly    bool
	lowerBound               bool
	runs, chats, calls       int
	failed, open             int
}

func (t *tree) summary() summary {
	s := summary{named: make(map[string]bool)}
	for _, n := range t.rows {
		if ses := n.span.Session; ses != nil && (s.root == nil || ses.ID == ses.Root && s.root.ID != s.root.Root) {
			s.root = ses
		}
	}
	var active, model, tools []interval
	var nameSeq uint32
	for _, n := range t.rows {
		f, iv := n.facts, interval{n.from, n.to}
		if f.sessionName != "" && n.span.Session != nil && s.root != nil && n.span.Session.ID == s.root.ID &&
			n.span.Seq >= nameSeq {
			s.name, nameSeq = f.sessionName, n.span.Seq
		}
		if n.bar() == barWork {
			active = append(active, iv)
		}
		if f.failure != "" {
			s.failed++
		}
		if n.span.End.IsZero() {
			s.open++
		}
		switch n.span.Type {
		case projection.TypeRun:
			s.runs++
			s.lowerBound = s.lowerBound || f.lowerBound // of usage that its chats do not have
		case projection.TypeChat:
			s.chats++
			model = append(model, iv)
			s.addUsage(f)
		case projection.TypeTool:
			if !continuesCall(n.span) {
				s.calls++
			}
			if n.bar() == barWork {
				tools = append(tools, iv)
			}
		}
	}
	s.active, s.model, s.tools = total(merge(active)), total(merge(model)), total(merge(tools))
	return s
}

func (s *summary) addUsage(f *facts) {
	add := func(sum *count, c count) {
		if c.known {
			sum.n, sum.known = sum.n+min(c.n, math.MaxInt64-sum.n), true
		}
	}
	add(&s.input, f.input)
	add(&s.output, f.output)
	add(&s.cacheRead, f.cacheRead)
	s.lowerBound = s.lowerBound || f.lowerBound
	s.cost += f.cost
	s.costKnown = s.costKnown || f.costKnown
	s.costPartly = s.costPartly || !f.costKnown && (f.input.known || f.output.known)
	if f.model != "" && !s.named[f.model] {
		s.named[f.model] = true
		s.models = append(s.models, f.model)
	}
}

// continuesCall reports whether a tool span is a later part of a call that another span counts.
func continuesCall(s *span) bool {
	return slices.ContainsFunc(s.links, func(l reference) bool {
		return l.kind == names.LinkDispatchedAgain || l.kind == names.LinkFollowsHandOff
	})
}

const maxModels = 3

// line is one line of facts in the making.
type line []terminal.Piece

// add adds a fact, if there is one.
func (l *line) add(i terminal.Ink, text string) {
	if text != "" {
		*l = append(*l, i.Piece(text))
	}
}

// head writes the facts of a trace, as many lines as they take, without those of a session that was the one before.
func (p pen) head(t *tree, s summary, before *projection.Session, columns int) []string {
	facts := []line{p.times(t, s), p.totals(s)}
	if s.root != nil && (before == nil || before.ID != s.root.ID) {
		facts = append([]line{p.title(s), p.origin(s.root, columns)}, facts...)
	}
	var lines []string
	for _, list := range facts {
		lines = append(lines, p.flow(list, columns)...)
	}
	if len(t.rows) > 0 {
		lines = append(lines, p.traceID(t.rows[0].span.TraceID.String(), columns)...)
	}
	return lines
}

func (p pen) title(s summary) (l line) {
	if s.name == "" {
		l.add(terminal.Strong, p.Text(s.root.ID))
		return l
	}
	l.add(terminal.Strong, p.Text(s.name))
	l.add(terminal.Faint, p.Text(s.root.ID))
	return l
}

// origin says where a session comes from.
func (p pen) origin(s *projection.Session, columns int) (l line) {
	l.add(terminal.Plain, strings.TrimSpace(p.Text(s.Harness+" "+s.Version)))
	if s.Format != "" {
		l.add(terminal.Plain, p.Text(s.Format)+" format")
	}
	cwd := p.Text(s.CWD)
	if w := terminal.Width(cwd); w > columns { // the end of a path says more than its beginning
		cwd = ansi.TruncateLeft(cwd, w-columns+terminal.Width(p.Ellipsis()), p.Ellipsis())
	}
	l.add(terminal.Plain, cwd)
	if s.Root != "" && s.Root != s.ID {
		l.add(terminal.Wait, "part of session "+p.Text(s.Root))
	}
	return l
}

func (p pen) times(t *tree, s summary) (l line) {
	l.add(terminal.Plain, terminal.Time(t.origin))
	l.add(terminal.Plain, terminal.Duration(t.end)+" wall")
	active := terminal.Duration(s.active) + " active"
	if s.model > 0 && s.tools > 0 {
		active += fmt.Sprintf(" (model %s, tools %s)", terminal.Duration(s.model), terminal.Duration(s.tools))
	}
	l.add(terminal.Plain, active)
	return l
}

// totals says what was done, and what it took.
func (p pen) totals(s summary) (l line) {
	for _, c := range []struct {
		n    int
		noun string
	}{{s.runs, "run"}, {s.chats, "chat"}, {s.calls, "call"}} {
		if c.n > 0 {
			l.add(terminal.Plain, terminal.Plural(c.n, c.noun))
		}
	}
	if s.failed > 0 {
		l.add(terminal.Fail, terminal.Plural(s.failed, "error"))
	}
	if s.open > 0 {
		l.add(terminal.Wait, fmt.Sprintf("%d open", s.open))
	}
	models := s.models
	if len(models) > maxModels {
		models = append(slices.Clone(models[:maxModels]), fmt.Sprintf("%d more", len(models)-maxModels))
	}
	l.add(terminal.Model, p.Text(strings.Join(models, ", ")))
	l.add(terminal.Plain, p.tokensInAll(s))
	if s.costKnown {
		cost := terminal.Dollars(s.cost)
		if s.costPartly || s.lowerBound {
			cost = p.AtLeast() + cost
		}
		l.add(terminal.Plain, cost)
	}
	return l
}

// traceID cuts an id into lines rather than off: it is there to be copied.
func (p pen) traceID(id string, columns int) (lines []string) {
	if columns >= len("trace ")+len(id) {
		return []string{p.Line([]terminal.Piece{terminal.Faint.Piece("trace "), terminal.Plain.Piece(id)})}
	}
	for len(id) > columns {
		lines = append(lines, id[:columns])
		id = id[columns:]
	}
	return append(lines, id)
}

func (p pen) tokensInAll(s summary) string {
	if !s.input.known && !s.output.known {
		return ""
	}
	text := ""
	if s.lowerBound {
		text = p.AtLeast()
	}
	if s.input.known {
		text += terminal.Count(s.input.n) + " tokens in"
		if s.cacheRead.known && s.input.n > 0 {
			text += fmt.Sprintf(" (%.0f%% cached)", 100*float64(s.cacheRead.n)/float64(s.input.n))
		}
		if s.output.known {
			text += ", " + terminal.Count(s.output.n) + " out"
		}
		return text
	}
	return text + terminal.Count(s.output.n) + " tokens out"
}

// flow writes facts one after the other, and on the next line where they do not fit.
func (p pen) flow(list []terminal.Piece, columns int) []string {
	var lines []string
	var line []terminal.Piece
	used := 0
	for _, t := range list {
		w := terminal.Width(t.Text)
		if used > 0 && used+terminal.Width(p.Dot())+w > columns {
			lines = append(lines, p.Line(line))
			line, used = nil, 0
		}
		if used > 0 {
			line = append(line, terminal.Faint.Piece(p.Dot()))
			used += terminal.Width(p.Dot())
		}
		line = append(line, p.Fit([]terminal.Piece{t}, columns)...)
		used += w
	}
	if len(line) > 0 {
		lines = append(lines, p.Line(line))
	}
	return lines
}
