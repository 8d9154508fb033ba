package format

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// config decodes the members of a config entry, whose id is c1, c2, … by its place.
func configs(t testing.TB, members ...string) []*ConfigEntry {
	t.Helper()
	var list []*ConfigEntry
	for i, m := range members {
		e, err := DecodeEntry([]byte(entry("config", fmt.Sprint("c", i+1), "", m)))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e.(*ConfigEntry))
	}
	return list
}

func TestSettingsApply(t *testing.T) {
	for _, tt := range []struct {
		name   string
		deltas []string
		want   string // the checkpoint
	}{
		{"nothing", nil, `{}`},
		{"full", []string{
			`"model":"m","instructions":"i","reasoning":{"effort":"low"},"text":{"verbosity":"low"},"tools_added":[{"name":"a"}],"extra":{"temperature":0.50}`,
		}, `{"model":"m","instructions":"i","reasoning":{"effort":"low"},"text":{"verbosity":"low"},"tools":[{"name":"a"}],"extra":{"temperature":0.50}}`},
		{"absent leaves things as they are", []string{`"model":"m","instructions":"i"`, `"reasoning":{}`}, `{"model":"m","instructions":"i","reasoning":{}}`},
		{"an empty model, too", []string{`"model":"m"`, `"model":""`}, `{"model":"m"}`},
		{"empty instructions clear", []string{`"instructions":"i"`, `"instructions":""`}, `{}`},
		{"objects are replaced and not merged", []string{`"text":{"a":1}`, `"text":{"b":2}`}, `{"text":{"b":2}}`},
		{"replace", []string{`"model":"m","instructions":"i","extra":{"a":1},"tools_added":[{"name":"a"}]`, `"replace":true,"model":"n"`}, `{"model":"n"}`},
		{"a tool is removed", []string{`"tools_added":[{"name":"a"},{"name":"b"}]`, `"tools_removed":["a","x"]`}, `{"tools":[{"name":"b"}]}`},
		{"a tool that is defined anew goes to the end", []string{`"tools_added":[{"name":"a"},{"name":"b"}]`, `"tools_added":[{"name":"a","v":2}]`}, `{"tools":[{"name":"b"},{"name":"a","v":2}]}`},
		{"removed before added", []string{`"tools_added":[{"name":"a"}]`, `"tools_removed":["a"],"tools_added":[{"name":"a","v":2}]`}, `{"tools":[{"name":"a","v":2}]}`},
		{"defined twice at once", []string{`"tools_added":[{"name":"a","v":1},{"name":"b"},{"name":"a","v":2}]`}, `{"tools":[{"name":"b"},{"name":"a","v":2}]}`},
		{"tools without a name add up", []string{`"tools_added":[{"type":"x"}]`, `"tools_added":[{"type":"x"},{"name":7}]`}, `{"tools":[{"type":"x"},{"type":"x"},{"name":7}]}`},
		{"extra is merged by key", []string{`"extra":{"a":1,"b":2}`, `"extra":{"b":3,"c":4}`}, `{"extra":{"a":1,"b":3,"c":4}}`},
		{"null deletes", []string{`"extra":{"a":1,"b":2}`, `"extra":{"a":null,"x":null}`}, `{"extra":{"b":2}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s Settings
			for _, c := range configs(t, tt.deltas...) {
				before := string(s.Config())
				next := s.Apply(c)
				if string(s.Config()) != before {
					t.Error("the settings before were changed")
				}
				s = next
			}
			if got := string(s.Config()); got != tt.want || s.Err() != nil {
				t.Errorf("%s, %v, want %s", got, s.Err(), tt.want)
			}
			if again := settingsOf(s.Config()); string(again.Config()) != tt.want || again.Err() != nil {
				t.Errorf("from the checkpoint: %s, %v", again.Config(), again.Err())
			}
		})
	}
}

func TestInstructionParts(t *testing.T) {
	hash := func(text string) string { return HashBytes([]byte(text)) }
	const two = `"instructions_parts":[{"id":"a","text":"A","source":"s"},{"id":"b","text":"B"}]`
	const four = `"instructions_parts":[{"id":"a","text":"A"},{"id":"b","text":"B"},{"id":"c","text":"C"},{"id":"d","text":"D"}]`
	parts := func(elements string) string { return `"instructions_parts":[` + elements + `]` }
	for _, tt := range []struct {
		name   string
		deltas []string
		want   string // instructions, then ids with their sources; or the beginning of the error
	}{
		{"texts", []string{two}, "A|B a:s b:"},
		{"an empty list", []string{two, parts("")}, ""},
		{"a text of its own ends the composition", []string{two, `"instructions":"i"`}, "i"},
		{"by hash, with the source it had", []string{two, parts(`{"id":"a","hash":"` + hash("A") + `"}`)}, "A a:s"},
		{"by hash, with another source", []string{two, parts(`{"id":"a","hash":"` + hash("A") + `","source":"t"}`)}, "A a:t"},
		{"by hash, out of force", []string{two, parts(`{"id":"b","text":"b2"}`), parts(`{"id":"a","hash":"` + hash("A") + `"},{"id":"b","hash":"` + hash("B") + `"}`)}, "A|B a:s b:"},
		{"by hash, of a part that kept its id", []string{two, parts(`{"id":"a","text":"a2"}`), parts(`{"id":"a","hash":"` + hash("A") + `"}`)}, "A a:s"},
		{"by a hash that was never there", []string{two, parts(`{"id":"a","hash":"` + hash("Z") + `"}`)}, "error: settings cannot be rebuilt: instructions_parts of c2: no part \"a\""},
		{"by the hash of another part", []string{two, parts(`{"id":"a","hash":"` + hash("B") + `"}`)}, "error: settings cannot be rebuilt: instructions_parts of c2: no part \"a\""},
		{"after a replacement nothing is left", []string{two, `"replace":true`, parts(`{"id":"a","hash":"` + hash("A") + `"}`)}, "error: settings"},
		{"neither text nor hash is an empty text", []string{parts(`{"id":"a"},{"id":"b","text":"B"}`)}, "|B a: b:"},
		{"keep", []string{four, parts(`{"keep":2},{"id":"x","text":"X"}`)}, "A|B|X a: b: x:"},
		{"keep goes on where it stopped", []string{four, parts(`{"keep":1},{"id":"x","text":"X"},{"keep":3}`)}, "A|X|B|C|D a: x: b: c: d:"},
		{"keep goes on behind a part that is named", []string{four, parts(`{"keep":1},{"id":"c","text":"C2"},{"keep":1}`)}, "A|C2|D a: c: d:"},
		{"and back to one before", []string{four, parts(`{"id":"d","text":"D2"},{"id":"a","text":"A2"},{"keep":2}`)}, "D2|A2|B|C d: a: b: c:"},
		{"a new id leaves the cursor", []string{four, parts(`{"id":"x","text":"X"},{"keep":1}`)}, "X|A x: a:"},
		{"keep none", []string{four, parts(`{"keep":0}`)}, ""},
		{"keep past the end", []string{two, parts(`{"keep":3}`)}, "error: settings cannot be rebuilt: instructions_parts of c2: it keeps 3 parts where 2 are left"},
		{"keep what is named as well", []string{two, parts(`{"keep":2},{"id":"b","text":"B2"}`)}, "error: settings cannot be rebuilt: instructions_parts of c2: it keeps the part \"b\""},
		{"keep less than none", []string{two, parts(`{"keep":-1}`)}, "error: settings"},
		{"keep a fraction", []string{two, parts(`{"keep":1.5}`)}, "error: settings"},
		{"a text that is none", []string{two, parts(`{"id":"a","text":5}`)}, "error: settings"},
		{"an element that is no object", []string{two, parts(`"a"`)}, "error: settings"},
		{"beside it the text stands", []string{two, parts(`{"keep":3}`) + `,"instructions":"i"`}, "i"},
		{"an error ends with the next text", []string{two, parts(`{"keep":3}`), `"instructions":"i"`}, "i"},
		{"and not with anything else", []string{two, parts(`{"keep":3}`), `"model":"m"`}, "error: settings"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s Settings
			for _, c := range configs(t, tt.deltas...) {
				s = s.Apply(c)
			}
			got := strings.ReplaceAll(s.Instructions(), "\n\n", "|")
			for _, p := range s.Parts {
				got += " " + p.ID + ":" + p.Source
			}
			if err := s.Err(); err != nil {
				got = "error: " + err.Error()
				if !errors.Is(err, ErrSettings) {
					t.Errorf("%v is not ErrSettings", err)
				}
				if _, err := s.Request(nil); !errors.Is(err, ErrSettings) {
					t.Errorf("there is a request: %v", err)
				}
			}
			if got != tt.want && (!strings.HasPrefix(tt.want, "error") || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestOmittedInstructions(t *testing.T) {
	for _, tt := range []struct {
		name   string
		deltas []string
		want   string
	}{
		{"a list", []string{`[{"id":"a"},{"id":"b"}]`}, `[{"id":"a"},{"id":"b"}]`},
		{"it stays", []string{`[{"id":"a"}]`, ""}, `[{"id":"a"}]`},
		{"an empty one clears", []string{`[{"id":"a"}]`, `[]`}, ``},
		{"keep", []string{`[{"id":"a"},{"id":"b"},{"id":"c"}]`, `[{"keep":1},{"id":"x"},{"keep":2}]`}, `[{"id":"a"},{"id":"x"},{"id":"b"},{"id":"c"}]`},
		{"keep of an earlier list", []string{`[{"id":"a"},{"id":"b"}]`, `[{"id":"x"}]`, `[{"keep":1,"of":"c1"},{"keep":1},{"keep":1,"of":"c1"}]`}, `[{"id":"a"},{"id":"x"},{"id":"b"}]`},
		{"what cannot be resolved stays", []string{`[{"id":"a"}]`, `[{"keep":2},{"keep":1,"of":"zz"},7]`}, `[{"keep":2},{"keep":1,"of":"zz"},7]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s Settings
			for i, d := range tt.deltas {
				c := &ConfigEntry{Omitted: raw(d)}
				if c.ID = fmt.Sprint("c", i+1); d == "" {
					c.Omitted = nil
				}
				s = s.Apply(c)
			}
			want := `{}`
			if tt.want != "" {
				want = `{"instructions_omitted":` + tt.want + `}`
			}
			if got := string(s.Config()); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestOmit(t *testing.T) {
	for _, tt := range []struct {
		name   string
		deltas []string
		want   string
	}{
		{"items add up", []string{`{"items":["a","b"]}`, `{"items":["b","c"]}`}, `{"items":["a","b","c"]}`},
		{"reasoning stays beside items", []string{`{"reasoning":"other_models"}`, `{"items":["a"]}`}, `{"reasoning":"other_models","items":["a"]}`},
		{"an empty object clears both", []string{`{"reasoning":"other_models","items":["a"]}`, `{}`}, ``},
		{"with no reasoning, too", []string{`{"reasoning":"other_models","items":["a"]}`, `{"reasoning":null}`}, ``},
		{"with no items, too", []string{`{"reasoning":"other_models","items":["a"]}`, `{"items":[]}`}, ``},
		{"a word that is not known has no effect", []string{`{"reasoning":"other_models"}`, `{"reasoning":"dreams"}`}, `{"reasoning":"other_models"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var o Omit
			for _, d := range tt.deltas {
				o = o.apply(jsontext.Value(d))
			}
			if got := string(o.encode()); got != tt.want && (tt.want != "" || !o.IsZero()) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// Settings cannot become larger than any request is, and a path cannot have them written anew for ever.
func TestSettingsAreBounded(t *testing.T) {
	long := strings.Repeat(`{"type":"x"},`, maxSettings) + `{"type":"x"}`
	for name, delta := range map[string]string{
		"tools":   `"tools_added":[` + long + `]`,
		"parts":   `"instructions_parts":[` + strings.Repeat(`{"id":"a"},`, maxSettings) + `{"id":"a"}]`,
		"omitted": `"instructions_omitted":[` + long + `]`,
	} {
		s := Settings{}.Apply(configs(t, delta)[0])
		if err := s.Err(); !errors.Is(err, ErrSettings) || len(s.Tools)+len(s.Omitted)+len(s.Parts) > maxSettings {
			t.Errorf("%s: %v", name, err)
		}
		if s = s.Apply(&ConfigEntry{Replace: true}); s.Err() != nil {
			t.Errorf("%s, after a replacement: %v", name, s.Err())
		}
	}
	s := Settings{}.Apply(configs(t, `"tools_added":[`+strings.Repeat(`{"type":"x"},`, 999)+`{"type":"x"}]`)[0])
	again := configs(t, `"tools_removed":["y"]`)[0]
	n := 0
	for ; s.Err() == nil && n < 2000; n++ {
		s = s.Apply(again)
	}
	if !errors.Is(s.Err(), ErrSettings) || n < 1000 {
		t.Errorf("%v after %d changes", s.Err(), n)
	}
}

func TestExtraValue(t *testing.T) {
	c := NewConfig("m")
	c.SetExtra("seed", raw(`7`))
	s := Settings{}.Apply(c)
	if v, ok := s.ExtraValue("seed"); !ok || string(v) != `7` {
		t.Errorf("%s, %v", v, ok)
	}
	d := NewConfig("")
	d.ClearExtra("seed")
	if v, ok := s.Apply(d).ExtraValue("seed"); ok {
		t.Errorf("%s", v)
	}
	if diff := cmp.Diff([]string{"m"}, []string{s.Apply(d).Model}); diff != "" {
		t.Error(diff)
	}
}
