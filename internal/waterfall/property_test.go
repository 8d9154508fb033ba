package waterfall

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"go.opentelemetry.io/otel/attribute"
)

// hold checks what is true of every picture.
func hold(t *testing.T, picture string, o Options) {
	t.Helper()
	if !utf8.ValidString(picture) {
		t.Error("not valid UTF-8")
	}
	if picture != "" && !strings.HasSuffix(picture, "\n") {
		t.Error("the last line has no end")
	}
	for i, line := range strings.Split(picture, "\n") {
		if w := ansi.StringWidth(line); w > o.Columns() {
			t.Errorf("line %d is %d columns wide, of %d: %q", i+1, w, o.Columns(), line)
		}
		if !o.Color && strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("line %d has control characters: %q", i+1, line)
		}
		if o.ASCII && strings.ContainsFunc(ansi.Strip(line), func(r rune) bool { return r > 0x7e }) {
			t.Errorf("line %d is not ASCII: %q", i+1, line)
		}
		if plain := ansi.Strip(line); plain != strings.TrimRight(plain, " ") {
			t.Errorf("line %d ends with blanks: %q", i+1, line)
		}
	}
}

// randomTrace makes spans that no projector would: any parent, any time, any text.
func randomTrace(r *rand.Rand) *Collector {
	texts := []string{
		"", "bash", "gpt-5", "pi", "agentsession.x", "a b c", strings.Repeat("long ", 60),
		"\x1b[31m", "\u202eabc", "\xff\xfe", "ins\nert", "日本語の名前", "👩‍💻", "e\u0301\ufe0f", "🇩🇪", "\u0301", "#\ufe0f",
		"completed", "held", "never_started", "done", "bounded", "inferred",
	}
	text := func() string { return texts[r.IntN(len(texts))] }
	types := []projection.Type{
		projection.TypeSession, projection.TypeRun, projection.TypeChat, projection.TypeTool,
		projection.TypeApproval, projection.TypeCompaction, projection.TypeBranch, projection.TypeEvent, "unheard of",
	}
	units := []time.Duration{0, 1, time.Microsecond, ms, s, m, h, 24 * h, 9000 * h}
	length := func() time.Duration { return units[r.IntN(len(units))] * time.Duration(r.IntN(100)) }
	keys := []attribute.Key{
		names.RequestModel, names.ErrorType, names.Timing, names.SessionName, names.CallState, names.RunReason,
		names.ChatPurpose, names.ChatKind, names.ModelID, names.ApprovalTool, names.ApprovalVerdict, names.Subsession,
	}
	numbers := []attribute.Key{names.InputTokens, names.OutputTokens, names.CacheReadTokens, names.ApprovalWait}

	c := &Collector{}
	sessions := []*projection.Session{
		nil,
		{},
		{ID: "s", Root: "s", Harness: "h", CWD: "/" + strings.Repeat("d/", 200)},
		{ID: text(), Root: "s", Format: text()},
	}
	date := func(year int) time.Time { return time.Date(year, 9, 20, 0, 0, 0, 0, time.UTC) }
	base := []time.Time{{}, time.Unix(0, 0), date(2026), date(2261)}
	start := base[r.IntN(len(base))]
	for i := range uint32(r.IntN(80)) {
		sp := &projection.Span{
			SpanID: spanID(i), Parent: spanID(uint32(r.IntN(80))), Type: types[r.IntN(len(types))],
			Name: text() + " " + text(), Seq: r.Uint32(), Session: sessions[r.IntN(len(sessions))], Start: start.Add(length()),
		}
		if r.IntN(3) > 0 {
			sp.Parent = spanID(uint32(r.IntN(int(i) + 1)))
		}
		if r.IntN(40) == 0 {
			sp.Start = base[r.IntN(len(base))]
		}
		for range r.IntN(5) {
			sp.Attributes = append(sp.Attributes, keys[r.IntN(len(keys))].String(text()))
		}
		for range r.IntN(3) {
			sp.Attributes = append(sp.Attributes, numbers[r.IntN(len(numbers))].Int64(r.Int64()>>r.IntN(63)-10))
		}
		if r.IntN(9) == 0 {
			sp.Attributes = append(sp.Attributes, names.Cost.Float64(math.Exp(r.NormFloat64()*9)), names.InputTokens.String("no number"))
		}
		if r.IntN(5) == 0 {
			sp.Links = append(sp.Links, projection.Link{
				SpanID:     spanID(uint32(r.IntN(80))),
				Attributes: []attribute.KeyValue{names.Link.String("branch")},
			})
		}
		c.Start(sp)
		if r.IntN(6) > 0 {
			sp.End = sp.Start.Add(length() - time.Second)
			c.End(sp)
		}
	}
	return c
}

func TestDrawRandomTraces(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := randomTrace(r)
		for _, width := range []int{1, 7, 20, 44, 45, 59, 60, 61, 80, 133, 1000} {
			o := Options{Look: terminal.Look{Width: width, Color: r.IntN(3) == 0, ASCII: r.IntN(3) == 0}, MaxRows: r.IntN(40)}
			if r.IntN(2) == 0 {
				o.Now = time.Date(2026, 9, 21, 0, 0, 0, 0, time.UTC)
			}
			name := fmt.Sprintf("seed %d, %+v", seed, o)
			var b bytes.Buffer
			if err := c.Draw(t.Context(), &b, o); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			hold(t, b.String(), o)
			if o.Color {
				var plain bytes.Buffer
				o.Color = false
				if err := c.Draw(t.Context(), &plain, o); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if ansi.Strip(b.String()) != plain.String() {
					t.Errorf("colours change the text; without them:\n%s", plain.String())
				}
			}
			if t.Failed() {
				t.Fatalf("%s:\n%s", name, b.String())
			}
		}
	}
}

// Every span has a row, whatever its parent, and every row has a mark.
func TestEverySpanIsDrawn(t *testing.T) {
	for seed := range uint64(200) {
		c := randomTrace(rand.New(rand.NewPCG(seed, 2)))
		for _, spans := range c.traces() {
			tr := newTree(spans, time.Time{})
			seen := make(map[*span]bool)
			for _, n := range tr.rows {
				if seen[n.span] {
					t.Fatalf("seed %d: a span has two rows", seed)
				}
				seen[n.span] = true
			}
			if len(seen) != len(spans) {
				t.Fatalf("seed %d: %d of %d spans have a row", seed, len(seen), len(spans))
			}
			p, a := newPen(terminal.Look{}), newAxis(tr.rows, 20)
			empty := strings.Repeat(" ", a.width)
			for _, n := range tr.rows {
				bar := ""
				for _, s := range p.bar(a, entry{node: n}) {
					bar += s.Text
				}
				if strings.ReplaceAll(bar, string(p.fold), " ") == empty {
					t.Fatalf("seed %d: no mark for %s at %v to %v", seed, n.span.Type, n.from, n.to)
				}
			}
		}
	}
}

// What the outline leaves out is counted where it is left out.
func TestOutlineCountsEverySpan(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		for _, spans := range randomTrace(r).traces() {
			tr := newTree(spans, time.Time{})
			limit := 1 + r.IntN(len(spans)+2)
			entries := tr.outline(limit)
			if len(entries) > limit {
				t.Fatalf("seed %d: %d rows, limit %d", seed, len(entries), limit)
			}
			var sum tally
			for _, e := range entries {
				sum.add(e.hidden)
				if !e.cut {
					sum.spans++
				}
			}
			if sum.spans != len(spans) {
				t.Fatalf("seed %d, limit %d: the rows stand for %d spans of %d", seed, limit, sum.spans, len(spans))
			}
		}
	}
}
