package openresponses

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestMembers(t *testing.T) {
	m := Members{
		{Name: "a", Value: jsontext.Value(`1`)},
		{Name: "b", Value: jsontext.Value(`2`)},
		{Name: "a", Value: jsontext.Value(`3`)},
	}
	if got := m.Get("a"); string(got) != `3` {
		t.Errorf("a is %s", got)
	}
	if got := m.Get("c"); got != nil {
		t.Errorf("c is %s", got)
	}
	c := m.Clone()
	c.Set("a", jsontext.Value(`4`))
	c.Set("c", jsontext.Value(`5`))
	want := Members{
		{Name: "a", Value: jsontext.Value(`1`)},
		{Name: "b", Value: jsontext.Value(`2`)},
		{Name: "a", Value: jsontext.Value(`4`)},
		{Name: "c", Value: jsontext.Value(`5`)},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if got := m.Get("a"); string(got) != `3` {
		t.Errorf("the original was changed: a is %s", got)
	}
}
