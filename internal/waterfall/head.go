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

const (
	timeLayout = "2006-01-02 15:04:05Z"
	maxModels  = 3
)

// head writes the facts of a trace, as many lines as they take, without those of a session that was the one before.
func (p pen) head(t *tree, s summary, before *projection.Session, columns int) []string {
	var title, about, times, work []piece
	add := func(list *[]piece, i ink, text string) {
		if text != "" {
			*list = append(*list, piece{text, i})
		}
	}

	if s.root != nil && (before == nil || before.ID != s.root.ID) {
		if s.name != "" {
			add(&title, inkStrong, p.text(s.name))
			add(&title, inkFaint, p.text(s.root.ID))
		} else {
			add(&title, inkStrong, p.text(s.root.ID))
		}
		add(&about, inkPlain, strings.TrimSpace(p.text(s.root.Harness+" "+s.root.Version)))
		if s.root.Format != "" {
			add(&about, inkPlain, p.text(s.root.Format)+" format")
		}
		if cwd := p.text(s.root.CWD); textWidth(cwd) > columns { // the end of a path says more than its beginning
			add(&about, inkPlain, ansi.TruncateLeft(cwd, textWidth(cwd)-columns+textWidth(p.ellipsis), p.ellipsis))
		} else {
			add(&about, inkPlain, cwd)
		}
		if s.root.Root != "" && s.root.Root != s.root.ID {
			add(&about, inkWait, "part of session "+p.text(s.root.Root))
		}
	}

	add(&times, inkPlain, t.origin.UTC().Format(timeLayout))
	add(&times, inkPlain, human(t.end)+" wall")
	active := human(s.active) + " active"
	if s.model > 0 && s.tools > 0 {
		active += fmt.Sprintf(" (model %s, tools %s)", human(s.model), human(s.tools))
	}
	add(&times, inkPlain, active)
	for _, c := range []struct {
		n    int
		noun string
	}{{s.runs, "run"}, {s.chats, "chat"}, {s.calls, "call"}} {
		if c.n > 0 {
			add(&work, inkPlain, plural(c.n, c.noun))
		}
	}
	if s.failed > 0 {
		add(&work, inkFail, plural(s.failed, "error"))
	}
	if s.open > 0 {
		add(&work, inkWait, fmt.Sprintf("%d open", s.open))
	}
	models := s.models
	if len(models) > maxModels {
		models = append(slices.Clone(models[:maxModels]), fmt.Sprintf("%d more", len(models)-maxModels))
	}
	add(&work, inkChat, p.text(strings.Join(models, ", ")))
	if tokens := p.tokensInAll(s); tokens != "" {
		add(&work, inkPlain, tokens)
	}
	if s.costKnown {
		cost := dollars(s.cost)
		if s.costPartly || s.lowerBound {
			cost = p.atLeast + cost
		}
		add(&work, inkPlain, cost)
	}

	var lines []string
	for _, list := range [][]piece{title, about, times, work} {
		lines = append(lines, p.flow(list, columns)...)
	}
	if len(t.rows) > 0 {
		id := t.rows[0].span.TraceID.String()
		if columns >= len("trace ")+len(id) {
			return append(lines, p.line([]piece{{"trace ", inkFaint}, {id, inkPlain}}))
		}
		for len(id) > columns { // cut into lines rather than cut off: it is there to be copied
			lines = append(lines, id[:columns])
			id = id[columns:]
		}
		lines = append(lines, id)
	}
	return lines
}

func (p pen) tokensInAll(s summary) string {
	if !s.input.known && !s.output.known {
		return ""
	}
	text := ""
	if s.lowerBound {
		text = p.atLeast
	}
	if s.input.known {
		text += short(s.input.n) + " tokens in"
		if s.cacheRead.known && s.input.n > 0 {
			text += fmt.Sprintf(" (%.0f%% cached)", 100*float64(s.cacheRead.n)/float64(s.input.n))
		}
		if s.output.known {
			text += ", " + short(s.output.n) + " out"
		}
		return text
	}
	return text + short(s.output.n) + " tokens out"
}

// flow writes facts one after the other, and on the next line where they do not fit.
func (p pen) flow(list []piece, columns int) []string {
	var lines []string
	var line []piece
	used := 0
	for _, t := range list {
		w := textWidth(t.text)
		if used > 0 && used+textWidth(p.dot)+w > columns {
			lines = append(lines, p.line(line))
			line, used = nil, 0
		}
		if used > 0 {
			line = append(line, piece{p.dot, inkFaint})
			used += textWidth(p.dot)
		}
		line = append(line, p.fit([]piece{t}, columns)...)
		used += w
	}
	if len(line) > 0 {
		lines = append(lines, p.line(line))
	}
	return lines
}
