package format

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/jsonwrite"
)

// EncodeEntry encodes an entry as one line without its line feed: first the envelope, then the members of the entry's type in
// a fixed order, then the unknown ones. Members that are zero are left out. Raw values go in as they are.
//
// The error wraps [ErrInvalidEntry] when [DecodeEntry] would not take the line for such an entry: a required member is
// missing, or a raw value is not JSON of its kind.
func EncodeEntry(e Entry) ([]byte, error) {
	if e == nil {
		return nil, errNoEntry
	}
	line, err := encodeEntry(e, e.Base(), false)
	if err != nil {
		return nil, err
	}
	if _, err := DecodeEntry(line); err != nil {
		return nil, invalid(e, err)
	}
	return line, nil
}

var errNoEntry = fmt.Errorf("%w: there is none", ErrInvalidEntry)

// invalid says of an entry that was given what the decoder says of its line.
func invalid(e Entry, err error) error {
	if damage, ok := err.(*DamageError); ok && damage.Detail != "" {
		return fmt.Errorf("%w: %s: %s", ErrInvalidEntry, e.EntryType(), damage.Detail)
	}
	return fmt.Errorf("%w: %s: %w", ErrInvalidEntry, e.EntryType(), err)
}

// envelopeSize is about what an entry takes beside its item, and the line feed that will come after it.
const envelopeSize = 256

// bulk is the raw value that makes an entry long, if it has one.
func bulk(e Entry) []byte {
	if item, ok := e.(*ItemEntry); ok {
		return item.Item.Raw
	}
	return nil
}

// encodeEntry writes the line of an entry under an envelope, and looks no further than that its raw values are JSON, of text
// or of any bytes.
func encodeEntry(e Entry, env *Envelope, anyBytes bool) ([]byte, error) {
	o := jsonwrite.NewStrict()
	o.AnyBytes = anyBytes
	o.Grow(envelopeSize + len(bulk(e)))
	o.Text("type", e.EntryType())
	o.Text("id", env.ID)
	if env.Parent == "" {
		o.Raw("parent", []byte("null"))
	} else {
		o.Text("parent", env.Parent)
	}
	if len(env.Parents) > 0 {
		jsonwrite.Array(o, "parents", env.Parents, appendRef)
	}
	o.Text("ts", formatTime(env.Time))
	encodeMembers(o, e)
	if err := encodeUnknown(o, env.Unknown); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalidEntry, e.EntryType(), err)
	}
	if err := o.Err(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalidEntry, e.EntryType(), err)
	}
	return o.Bytes(), nil
}

// formatTime writes a time as every minor wants it: UTC, and a fraction only where there is one.
func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func appendRef(dst []byte, r Ref) []byte {
	var o jsonwrite.Object
	o.OptionalText("session", r.Session)
	o.Text("entry", r.Entry)
	return append(dst, o.Bytes()...)
}

// encodeUnknown writes unknown members. One with the name of a member that is there already would take its place.
func encodeUnknown(o *jsonwrite.Object, unknown Members) error {
	if len(unknown) == 0 {
		return nil
	}
	var s jsonscan.Scanner
	if err := s.Scan(slices.Clone(o.Bytes()), ""); err != nil {
		return err
	}
	for _, m := range unknown {
		if slices.ContainsFunc(s.Members, func(have jsonscan.Member) bool { return string(have.Name) == m.Name }) {
			return fmt.Errorf("the unknown member %q would replace the one of that name", m.Name)
		}
		o.Raw(m.Name, m.Value)
	}
	return nil
}

// encodeMembers writes the members of an entry's own type.
func encodeMembers(o *jsonwrite.Object, e Entry) {
	switch e := e.(type) {
	case *ItemEntry:
		o.Raw("item", e.Item.Raw)
		o.OptionalText("response", e.ResponseID)
		o.Bool("visible", e.Visible)
		o.OptionalText("queued_from", e.QueuedFrom)
		o.OptionalRaw("source", e.Source)
	case *ResponseEntry:
		o.OptionalText("response_id", e.ResponseID)
		o.OptionalText("model", e.Model)
		o.OptionalText("status", e.Status)
		o.OptionalRaw("usage", e.Usage.JSON())
		o.OptionalRaw("incomplete", e.Incomplete.JSON())
		o.OptionalRaw("error", e.Error.JSON())
		o.OptionalText("request_hash", e.RequestHash)
		o.Int("latency_ms", e.LatencyMS)
		o.Int("attempts", e.Attempts)
	case *ConfigEntry:
		encodeConfig(o, e)
	case *CompactionEntry:
		o.Text("first_kept", e.FirstKept)
		o.Raw("summary", e.Summary.Raw)
		if len(e.Pinned) > 0 {
			jsonwrite.Array(o, "pinned", e.Pinned, appendItem)
		}
		o.OptionalRaw("config", e.Config)
		o.Int("tokens_before", e.TokensBefore)
		o.OptionalRaw("usage", e.Usage.JSON())
	case *BranchSummaryEntry:
		o.Text("from", e.From)
		o.Raw("summary", e.Summary.Raw)
		o.OptionalRaw("usage", e.Usage.JSON())
	case *RunEntry:
		o.Text("run_id", e.RunID)
		o.Text("phase", e.Phase)
		o.OptionalText("source", e.Source)
		o.OptionalText("reason", e.Reason)
		if e.Pending != nil || e.Phase == PhaseEnd {
			o.Texts("pending", e.Pending)
		}
		o.OptionalText("ref", e.Ref)
		encodeTrigger(o, e.Trigger)
	case *DispatchEntry:
		o.Text("call_id", e.CallID)
		o.Text("target", e.Target)
		o.OptionalText("idempotency_key", e.IdempotencyKey)
	case *DecisionEntry:
		o.Text("call_id", e.CallID)
		o.Text("target", e.Target)
		o.Text("verdict", e.Verdict)
		o.OptionalText("reason", e.Reason)
		o.OptionalText("by", e.By)
		o.OptionalRaw("args", e.Args)
	case *LabelEntry:
		o.Text("target", e.Target)
		if e.Label == nil {
			o.Raw("label", []byte("null"))
		} else {
			o.Text("label", *e.Label)
		}
	case *InfoEntry:
		o.OptionalText("name", e.Name)
	case *EnvEntry:
		encodeEnv(o, e)
	case *OutcomeEntry:
		o.Text("kind", e.Kind)
		o.OptionalText("target", e.Target)
		if e.Score != nil {
			o.Raw("score", appendFloat(*e.Score))
		}
		o.Bool("pass", e.Pass)
		o.OptionalText("label", e.Label)
		o.OptionalRaw("details", e.Details)
	case *LinkEntry:
		o.Text("rel", e.Rel)
		o.Text("session", e.Session)
		o.OptionalText("call_id", e.CallID)
		o.OptionalText("target", e.Target)
	case *CustomEntry:
		o.Text("ns", e.NS)
		o.OptionalRaw("data", e.Data)
		o.OptionalText("call_id", e.CallID)
	case *QueuedEntry:
		o.Text("mode", e.Mode)
		o.Raw("item", e.Item.Raw)
		encodeTrigger(o, e.Trigger)
		o.OptionalText("ref", e.Ref)
	}
}

func appendItem(dst []byte, i Item) []byte            { return append(dst, i.Raw...) }
func appendRaw(dst []byte, raw jsontext.Value) []byte { return append(dst, raw...) }

// appendFloat writes a number. One that is not finite is none in JSON; what is written instead is refused by the decoder.
func appendFloat(f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte(`"not finite"`)
	}
	return jsontext.AppendFloat(nil, f, 64)
}

func encodeConfig(o *jsonwrite.Object, e *ConfigEntry) {
	if e.Replace {
		o.Bool("replace", &e.Replace)
	}
	o.OptionalText("model", e.Model)
	if e.Instructions != nil {
		o.Text("instructions", *e.Instructions)
	}
	o.OptionalRaw("instructions_parts", e.Parts)
	o.OptionalRaw("instructions_omitted", e.Omitted)
	o.OptionalRaw("reasoning", e.Reasoning)
	o.OptionalRaw("text", e.Text)
	if e.ToolsRemoved != nil {
		o.Texts("tools_removed", e.ToolsRemoved)
	}
	if e.ToolsAdded != nil {
		jsonwrite.Array(o, "tools_added", e.ToolsAdded, appendRaw)
	}
	if e.Extra != nil {
		o.Raw("extra", encodeObject(e.Extra))
	}
	o.OptionalRaw("omit", e.Omit)
}

// encodeObject writes members as an object.
func encodeObject(members Members) []byte {
	var o jsonwrite.Object
	for _, m := range members {
		o.Raw(m.Name, m.Value)
	}
	return o.Bytes()
}

func encodeTrigger(o *jsonwrite.Object, t *Trigger) {
	if t == nil {
		return
	}
	var in jsonwrite.Object
	in.OptionalText("kind", t.Kind)
	in.OptionalText("ref", t.Ref)
	in.OptionalText("source", t.Source)
	encodeRest(&in, t.Unknown)
	o.Raw("trigger", in.Bytes())
}

// encodeRest writes the unknown members of an object inside an entry.
func encodeRest(o *jsonwrite.Object, unknown Members) {
	for _, m := range unknown {
		o.Raw(m.Name, m.Value)
	}
}

func encodeEnv(o *jsonwrite.Object, e *EnvEntry) {
	o.OptionalText("cwd", e.CWD)
	if v := e.VCS; v != nil {
		var in jsonwrite.Object
		in.OptionalText("system", v.System)
		in.OptionalText("revision", v.Revision)
		in.Bool("dirty", v.Dirty)
		encodeRest(&in, v.Unknown)
		o.Raw("vcs", in.Bytes())
	}
	if f := e.Files; f != nil {
		var in jsonwrite.Object
		encodeTexts(&in, "read", f.Read)
		encodeTexts(&in, "written", f.Written)
		encodeRest(&in, f.Unknown)
		o.Raw("files", in.Bytes())
	}
	encodeTexts(o, "tools", e.Tools)
	if w := e.Workspace; w != nil {
		var in jsonwrite.Object
		in.OptionalText("kind", w.Kind)
		in.OptionalText("ref", w.Ref)
		encodeRest(&in, w.Unknown)
		o.Raw("workspace", in.Bytes())
	}
}

// encodeTexts writes a map of strings as an object in the order of its keys, unless it is nil.
func encodeTexts(o *jsonwrite.Object, name string, texts map[string]string) {
	if texts == nil {
		return
	}
	var in jsonwrite.Object
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		in.Text(key, texts[key])
	}
	o.Raw(name, in.Bytes())
}
