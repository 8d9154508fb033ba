package outline

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// tools are the tools that were called last, by call id.
type tools map[string]string

// call names a call by its tool, and by its id, which tells it from others of the tool.
func (t tools) call(id string) string { return strings.TrimSpace(t[id] + " [" + shortID(id) + "]") }

// words says in a few words what the entries of the Agent Session Format say.
type words struct {
	tools
	ref func(id string) string // how another entry is called
}

// describe fills in what an entry says.
func (w *words) describe(to *Entry, e format.Entry) {
	var t text
	switch e := e.(type) {
	case *format.ItemEntry:
		to.Kind = w.item(&t, e.Item)
		to.Hidden = !e.Shown()
		if e.QueuedFrom != "" {
			t.add("(queued as %s)", w.ref(e.QueuedFrom))
		}
	case *format.ResponseEntry:
		to.Failed = e.Error != nil || e.Status == openresponses.StatusFailed
		response(&t, e)
	case *format.ConfigEntry:
		w.config(&t, e)
	case *format.CompactionEntry:
		t.add("keeps from %s", w.ref(e.FirstKept))
		if len(e.Pinned) > 0 {
			t.add("and %d pinned", len(e.Pinned))
		}
		if e.TokensBefore != nil {
			t.add("of %s tokens", terminal.Count(*e.TokensBefore))
		}
		t.colon()
		w.item(&t, e.Summary)
	case *format.BranchSummaryEntry:
		t.add("of the branch to %s:", w.ref(e.From))
		w.item(&t, e.Summary)
	case *format.RunEntry:
		run(&t, e)
		to.Failed = e.Reason == format.ReasonError
	case *format.DispatchEntry:
		t.add("%s", w.call(e.CallID))
	case *format.DecisionEntry:
		w.decision(&t, e)
	case *format.LabelEntry:
		if e.Label == nil {
			t.add("cleared: %s", w.ref(e.Target))
		} else {
			t.add("%q: %s", *e.Label, w.ref(e.Target))
		}
	case *format.InfoEntry:
		t.add("%s", e.Name)
		t.members(e.Unknown)
	case *format.EnvEntry:
		environment(&t, e)
	case *format.OutcomeEntry:
		w.outcome(&t, e)
	case *format.LinkEntry:
		t.add("%s %s", e.Rel, e.Session)
		if e.CallID != "" {
			t.add("by %s", w.call(e.CallID))
		}
		if e.Target != "" {
			t.add("about %s", w.ref(e.Target))
		}
	case *format.CustomEntry:
		t.add("%s %s", e.NS, e.Data)
	case *format.QueuedEntry:
		t.add("%s:", e.Mode)
		w.item(&t, e.Item)
	default:
		t.members(e.Base().Unknown)
	}
	to.Text = t.String()
}

// item says what an item says, and returns its kind.
func (w *words) item(t *text, item format.Item) string {
	said, _ := item.Preview(maxText)
	kind := item.Type
	switch item.Type {
	case format.ItemMessage:
		if item.Role != "" {
			kind = item.Role
		}
		if said == "" {
			said = parts(item)
		}
	case format.ItemFunctionCall:
		kind = "call"
		w.tools[item.CallID] = item.Name
		t.add("%s", w.call(item.CallID))
	case format.ItemFunctionCallOutput:
		kind = "output"
		t.add("%s:", w.call(item.CallID))
		if said == "" {
			said = parts(item)
		}
	case format.ItemReasoning:
		if said == "" {
			if r, err := item.Reasoning(); err == nil && r.EncryptedContent != "" {
				said = fmt.Sprintf("(encrypted, %d characters)", len(r.EncryptedContent))
			}
		}
	case format.ItemCompaction:
		if c, err := item.Compaction(); err == nil {
			said = fmt.Sprintf("(encrypted, %d characters)", len(c.EncryptedContent))
		}
	default:
		t.members(item.Members())
	}
	t.add("%s", said)
	return kind
}

// parts names what an item without text is made of.
func parts(item format.Item) string {
	var list []openresponses.Part
	if m, err := item.Message(); err == nil {
		list = m.Content
	} else if o, err := item.FunctionCallOutput(); err == nil {
		list = o.Parts
	}
	var t text
	for _, p := range list {
		switch {
		case t.full():
		case p.Filename != "":
			t.add("(%s %s)", p.Type, p.Filename)
		default:
			t.add("(%s)", p.Type)
		}
	}
	return t.String()
}

func response(t *text, e *format.ResponseEntry) {
	t.add("%s", e.Model)
	if u := e.Usage; u != nil {
		usage(t, u.InputTokens, u.OutputTokens, u.CachedTokens)
	}
	if e.LatencyMS != nil {
		t.next("%s", terminal.Duration(milliseconds(*e.LatencyMS)))
	}
	if e.Attempts != nil && *e.Attempts > 1 {
		t.next("%d attempts", *e.Attempts)
	}
	if e.Status != openresponses.StatusCompleted && e.Status != "" {
		t.next("%s", e.Status)
	}
	if e.Incomplete != nil {
		t.next("%s", e.Incomplete.Reason)
	}
	if e.Error != nil {
		t.next("%s: %s", strings.TrimSpace(e.Error.Type+" "+e.Error.Code), e.Error.Message)
	}
}

func usage(t *text, in, out, cached *int64) {
	if in == nil && out == nil {
		return
	}
	t.next("%s in", terminal.CountOr(in))
	if cached != nil && *cached > 0 {
		t.add("(%s cached)", terminal.Count(*cached))
	}
	t.next("%s out", terminal.CountOr(out))
}

func (w *words) config(t *text, e *format.ConfigEntry) {
	if e.Replace {
		t.next("nothing of before")
	}
	if e.Model != "" {
		t.next("model %s", e.Model)
	}
	if e.Instructions != nil {
		t.next("instructions of %s", characters(*e.Instructions))
	}
	if e.Parts != nil {
		n := 0
		for range jsonscan.Elements(e.Parts) {
			n++
		}
		t.next("%s", terminal.Plural(n, "instruction part"))
	}
	if len(e.ToolsRemoved) > 0 {
		t.next("without %s", names(e.ToolsRemoved))
	}
	if len(e.ToolsAdded) > 0 {
		t.next("tools %s", names(toolNames(e.ToolsAdded)))
	}
	for _, m := range []format.Member{{Name: "reasoning", Value: e.Reasoning}, {Name: "text", Value: e.Text}} {
		if m.Value != nil {
			t.next("%s %s", m.Name, m.Value)
		}
	}
	if e.Omit != nil {
		w.omit(t, e.Omit)
	}
	for _, m := range e.Extra {
		if t.full() {
			return
		}
		t.next("%s=%s", m.Name, m.Value)
	}
}

// omit says which items a change leaves out of requests.
func (w *words) omit(t *text, raw jsontext.Value) {
	omit := format.Settings{}.Apply(&format.ConfigEntry{Omit: raw}).Omit
	if omit.IsZero() {
		t.next("leaves nothing out any more")
		return
	}
	t.next("leaves out")
	if omit.Reasoning != "" {
		t.add("reasoning of %s", strings.ReplaceAll(omit.Reasoning, "_", " "))
	}
	for _, id := range omit.Items() {
		if t.full() {
			return
		}
		t.add("%s", w.ref(id))
	}
}

func toolNames(tools []jsontext.Value) []string {
	list := make([]string, len(tools))
	for i, tool := range tools {
		if list[i] = openresponses.ToolName(tool); list[i] == "" {
			list[i] = "?"
		}
	}
	return list
}

func run(t *text, e *format.RunEntry) {
	t.add("%s %s", e.Phase, e.RunID)
	if e.IsEnd() {
		t.add("%s", e.Reason)
	} else {
		t.add("%s", e.Source)
	}
	if len(e.Pending) > 0 {
		t.add("pending %s", names(e.Pending))
	}
	if e.Ref != "" {
		t.add("(%s)", e.Ref)
	}
	if g := e.Trigger; g != nil {
		t.add("(%s)", strings.Join(strings.Fields(g.Kind+" "+g.Ref+" "+g.Source), " "))
	}
}

func (w *words) decision(t *text, e *format.DecisionEntry) {
	t.add("%s %s", e.Verdict, w.call(e.CallID))
	if e.By != "" {
		t.add("by %s", e.By)
	}
	if e.Args != nil {
		t.add("with %s", e.Args)
	}
	if e.Reason != "" {
		t.add("(%s)", e.Reason)
	}
}

func environment(t *text, e *format.EnvEntry) {
	t.add("%s", e.CWD)
	if v := e.VCS; v != nil {
		t.add("%s %s", v.System, v.Revision)
		if v.Dirty != nil && *v.Dirty {
			t.add("with changes")
		}
	}
	if k := e.Workspace; k != nil {
		t.add("%s %s", k.Kind, k.Ref)
	}
	if f := e.Files; f != nil {
		t.add("%d files read, %d written", len(f.Read), len(f.Written))
	}
}

func (w *words) outcome(t *text, e *format.OutcomeEntry) {
	t.add("%s", e.Kind)
	if e.Pass != nil {
		t.add("%s", map[bool]string{true: "pass", false: "fail"}[*e.Pass])
	}
	if e.Score != nil {
		t.add("%s", strconv.FormatFloat(*e.Score, 'g', -1, 64))
	}
	t.add("%s", e.Label)
	if e.Target != "" {
		t.add("about %s", w.ref(e.Target))
	}
	if e.Details != nil {
		t.add("%s", e.Details)
	}
}

// text is a text in the making, of words with one blank in between, and of [maxText] characters at most.
type text struct {
	b     strings.Builder
	runes int
}

func (t *text) full() bool { return t.runes >= maxText }

func (t *text) String() string { return t.b.String() }

// next puts a comma behind the last word, if there is one, and adds more.
func (t *text) next(form string, args ...any) {
	if t.runes > 0 && !t.full() {
		t.b.WriteByte(',')
		t.runes++
	}
	t.add(form, args...)
}

// colon puts a colon behind the last word.
func (t *text) colon() {
	if !t.full() {
		t.b.WriteByte(':')
		t.runes++
	}
}

func (t *text) add(form string, args ...any) {
	if t.full() {
		return
	}
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = cutBytes(a)
		case jsontext.Value:
			args[i] = cutBytes(a)
		}
	}
	blank := t.runes > 0
	for s := fmt.Sprintf(form, args...); s != "" && !t.full(); {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		if unicode.IsSpace(r) {
			blank = t.runes > 0
			continue
		}
		if blank {
			t.b.WriteByte(' ')
			t.runes++
			blank = false
		}
		t.b.WriteRune(r)
		t.runes++
	}
}

// cutBytes returns as much of a text as can be looked at; what stands behind it never is.
func cutBytes[T ~string | ~[]byte](s T) string { return string(s[:min(len(s), 8*maxText)]) }

// members adds members as name=value.
func (t *text) members(list format.Members) {
	for _, m := range list {
		if t.full() {
			return
		}
		t.add("%s=%s", m.Name, m.Value)
	}
}

// names lists names, the first few of many.
func names(list []string) string {
	const most = 8
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}

func characters(s string) string { return terminal.Plural(utf8.RuneCountInString(s), "character") }
