package projection_test

import (
	"testing"

	"github.com/sessionspan/sessionspan/internal/projection"
)

// The vectors stand in the package documentation. A change of any of them needs a new version of the recipe.
func TestIDVectors(t *testing.T) {
	const root = "01995b2a-0000-7000-8000-000000000005"
	traces := []struct {
		name, salt, root string
		run              []string
		want             string
	}{
		{"session", "", root, nil, "20ecaec77f90a88811b3e6c02e88df97"},
		{"session with a salt", "again", root, nil, "c77559870cc8108a06d0802d2dbe34a6"},
		{"run of its own", "", root, []string{root, "run-1"}, "c674090abe2a4835238e0db26ce81340"},
		{"empty root", "", "", nil, "0102911981aa3829ece42728ad18a540"},
	}
	for _, c := range traces {
		t.Run("trace/"+c.name, func(t *testing.T) {
			if got := projection.TraceID(c.salt, c.root, c.run...).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	spans := []struct {
		name string
		typ  projection.Type
		key  []string
		want string
	}{
		{"session", projection.TypeSession, nil, "1802830edf6852a3"},
		{"run, first segment", projection.TypeRun, []string{"run", "run-1", "1"}, "d1c10e3dcec679f7"},
		{"chat by response id", projection.TypeChat, []string{"response", "resp_1"}, "88a210edc7697625"},
		{"chat by entry", projection.TypeChat, []string{"entry", "r0000001"}, "5985f7d966c758c6"},
		{"first span of a call", projection.TypeTool, []string{"call_1", "1"}, "a5786c5d30132653"},
		{"second span of a call whose id came before", projection.TypeTool, []string{"call_1", "2", "i0000009"}, "dd5cfdb018ffcc52"},
		{"approval", projection.TypeApproval, []string{"d0000001"}, "5c92591e459a0e42"},
	}
	for _, c := range spans {
		t.Run("span/"+c.name, func(t *testing.T) {
			if got := projection.SpanID("", root, c.typ, c.key...).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Fields are told apart by their length, so that no two lists of fields give one id.
func TestIDsOfShiftedFieldsDiffer(t *testing.T) {
	pairs := [][2][]string{
		{{"a", "bc"}, {"ab", "c"}},
		{{"a", ""}, {"", "a"}},
		{{"1:a,"}, {"a"}},
		{{"a\x00b"}, {"a", "b"}},
	}
	for _, p := range pairs {
		a := projection.SpanID("", "s", projection.TypeTool, p[0]...)
		b := projection.SpanID("", "s", projection.TypeTool, p[1]...)
		if a == b {
			t.Errorf("%q and %q have the id %s", p[0], p[1], a)
		}
	}
	if projection.TraceID("x", "y") == projection.TraceID("", "xy") {
		t.Error("salt and session run into each other")
	}
}
