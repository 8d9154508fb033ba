package stored_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/stored"
)

const start = `{"type":"session","format":"agentsession/0.2","id":"s","created_at":"2026-01-02T03:04:05Z",` +
	`"payload":"openresponses/2026-04-24"}`

func info(id string) string {
	return `{"type":"info","id":"` + id + `","parent":null,"ts":"2026-01-02T03:04:05Z","name":"n"}`
}

// What ends in the middle is torn; what is whole and wrong is damage, and a last line may lack its line feed.
func TestLastLine(t *testing.T) {
	for _, tc := range []struct {
		name, last string
		rule       string // of its damage; "" for none
		unended    bool
	}{
		{"whole", info("a") + "\n", "", false},
		{"without line feed", info("a"), "", true},
		{"torn", info("a")[:40], stored.RuleTornTail, false},
		{"torn, and ended", info("a")[:40] + "\n", stored.RuleTornTail, false},
		{"torn before blank lines", info("a")[:40] + "\n\n \n", stored.RuleTornTail, false},
		{"no entry", "{}\n", stored.RuleDamage, false},
		{"no entry, without line feed", "{}", stored.RuleDamage, false},
		{"a bad member", strings.Replace(info("a"), `"n"`, "5", 1) + "\n", stored.RuleDamage, false},
		{"no object", "[1,2]\n", stored.RuleDamage, false},
		{"blank, without line feed", info("a") + "\n  ", "", false},
		{"a parent that is not there, without line feed", strings.Replace(info("a"), "null", `"x"`, 1), stored.RuleParent, true},
	} {
		for _, asEvents := range []bool{false, true} {
			if asEvents && tc.rule == stored.RuleParent {
				continue // who takes events looks at parents later
			}
			data := start + "\n" + tc.last
			f := load(t, input.Stdin, strings.NewReader(data), stored.Options{AsEvents: asEvents})
			rule := ""
			if len(f.Damage) > 0 {
				rule = f.Damage[0].Rule
				if torn := errors.Is(f.Damage[0].Err, format.ErrTornTail); torn != (rule == stored.RuleTornTail) ||
					torn != strings.Contains(f.Damage[0].What, "broken last line") {
					t.Errorf("%s, as events %v: rule %s, error %v", tc.name, asEvents, rule, f.Damage[0].What)
				}
			}
			want := stored.Place{}
			if tc.unended {
				want = stored.Place{Line: 2, Offset: int64(len(start) + 1)}
			}
			if rule != tc.rule || f.Unended != want || len(f.Damage) > 1 {
				t.Errorf("%s, as events %v: rule %q, unended %v; want %q, %v", tc.name, asEvents, rule, f.Unended, tc.rule, want)
			}
		}
	}
}

func TestDamageIsCapped(t *testing.T) {
	for _, last := range []string{"", info("a")[:40]} {
		data := start + "\n" + strings.Repeat("{}\n", stored.MaxDamage+5) + last
		f := load(t, input.Stdin, strings.NewReader(data), stored.Options{})
		more := 5
		if last != "" {
			more++
		}
		if len(f.Damage) != stored.MaxDamage || f.MoreDamage != more || f.Unended.Line != 0 {
			t.Errorf("%d kept, %d more, want %d; unended %v", len(f.Damage), f.MoreDamage, more, f.Unended)
		}
	}
}

// Of a stream that was cut nothing is said of what the cut left of the last line.
func TestACutIsNoDamage(t *testing.T) {
	data := gzipped(t, []byte(start+"\n{}\n"+strings.Repeat(info("a"), 100)))
	f, err := stored.Load(t.Context(), input.Stdin, strings.NewReader(string(data[:len(data)-12])), stored.Options{})
	if err != nil || !errors.Is(f.Err, input.ErrCut) || len(f.Damage) != 1 || f.Damage[0].Line != 2 || f.Unended.Line != 0 {
		t.Errorf("%v, %+v", err, f)
	}
}

func TestDamageSaysWhereInTheLine(t *testing.T) {
	f := load(t, input.Stdin, strings.NewReader(start+"\n"+`{"a":x}`+"\n"+info("a")+"\n"), stored.Options{})
	if len(f.Damage) != 1 || f.Damage[0].At != 5 || f.Damage[0].Offset != int64(len(start)+1) {
		t.Errorf("%+v", f.Damage)
	}
}
