package format

import (
	"reflect"
	"testing"
)

// The table goes on without a gap, and what it says is what applies.
func TestMinors(t *testing.T) {
	for i, m := range minors {
		if m.number != i+1 || m.changed == "" {
			t.Errorf("row %d: minor %d, %q", i, m.number, m.changed)
		}
	}
	if last := minors[len(minors)-1].number; last != newestMinor {
		t.Errorf("the newest is %d, the last row %d", newestMinor, last)
	}
	if r := (&Header{Format: "agentsession/0.1"}).Rules(); r != (Rules{}) {
		t.Errorf("0.1 has rules of later minors: %+v", r)
	}
	newest := reflect.ValueOf((&Header{Format: "agentsession/0.99"}).Rules())
	for i := range newest.NumField() {
		if !newest.Field(i).Bool() {
			t.Errorf("no minor sets %s", newest.Type().Field(i).Name)
		}
	}
	if r := (&Header{Format: "agentsession/0.4"}).Rules(); !r.Parents || r.ContentIDs {
		t.Errorf("0.4: %+v", r)
	}
	for format, newer := range map[string]bool{"agentsession/0.11": false, "agentsession/0.12": true} {
		if (&Header{Format: format}).Newer() != newer {
			t.Errorf("%s", format)
		}
	}
}
