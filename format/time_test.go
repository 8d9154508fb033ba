package format

import (
	"strings"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	tests := []struct {
		in   string
		want string // "" for one that is refused
	}{
		{"2026-09-20T12:00:01Z", "2026-09-20T12:00:01Z"},
		{"2026-09-20t12:00:01z", "2026-09-20T12:00:01Z"},
		{"2026-09-20T12:00:01.5Z", "2026-09-20T12:00:01.5Z"},
		{"2026-09-20T12:00:01.000000001Z", "2026-09-20T12:00:01.000000001Z"},
		{"2026-09-20T12:00:01.1234567899Z", "2026-09-20T12:00:01.123456789Z"},
		{"2026-09-20T14:00:01+02:00", "2026-09-20T12:00:01Z"},
		{"2026-09-20T06:30:01-05:30", "2026-09-20T12:00:01Z"},
		{"2026-09-20T12:00:01-00:00", "2026-09-20T12:00:01Z"},
		{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"},
		{"2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z"},
		{"0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"},
		{"9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"},
		{"2026-09-20T12:00:60Z", ""}, // a leap second has no place on the time line
		{"2026-09-20T24:00:00Z", ""},
		{"2026-09-20T12:60:00Z", ""},
		{"2026-13-20T12:00:00Z", ""},
		{"2026-00-20T12:00:00Z", ""},
		{"2026-09-00T12:00:00Z", ""},
		{"2026-09-31T12:00:00Z", ""},
		{"2026-02-29T12:00:00Z", ""},
		{"1900-02-29T12:00:00Z", ""},
		{"2026-09-20T12:00:01", ""},
		{"2026-09-20T12:00:01.Z", ""},
		{"2026-09-20T12:00:01,5Z", ""},
		{"2026-09-20T12:00:01+0200", ""},
		{"2026-09-20T12:00:01+24:00", ""},
		{"2026-09-20T12:00:01+02:60", ""},
		{"2026-09-20T12:00:01+02", ""},
		{"2026-09-20T12:00:01Z ", ""},
		{"2026-09-20 12:00:01Z", ""},
		{"2026-9-20T12:00:01Z", ""},
		{"+026-09-20T12:00:01Z", ""},
		{"2026-09-20T12:00:01.5", ""},
		{"2026-09-20", ""},
		{"1790000000", ""},
		{"", ""},
	}
	for _, test := range tests {
		t.Run(test.in, func(t *testing.T) {
			got, ok := parseTime([]byte(test.in))
			if !ok {
				if test.want != "" {
					t.Error("refused")
				}
				return
			}
			if s := got.Format(time.RFC3339Nano); s != test.want {
				t.Errorf("got %s, want %q", s, test.want)
			}
			if got.Location() != time.UTC {
				t.Error("not in UTC")
			}
		})
	}
}

// FuzzParseTime compares with the standard library, which is laxer only in the ways named here, and stricter in the case
// of its letters.
func FuzzParseTime(f *testing.F) {
	f.Add("2026-09-20T12:00:01.123456789+02:00")
	f.Add("2024-02-29T23:59:59Z")
	f.Add("2026-09-20T12:00:60Z")
	f.Add("2026-09-20T2:00:01,5Z")
	f.Fuzz(func(t *testing.T, in string) {
		got, ok := parseTime([]byte(in))
		want, err := time.Parse(time.RFC3339, strings.ToUpper(in))
		lax := strings.Contains(in, ",") || len(in) > 12 && in[12] == ':' || len(in) > 6 && in[len(in)-3] == ':' && in[len(in)-6:len(in)-3] >= "+24"
		if ok != (err == nil) && !(err == nil && lax) {
			t.Fatalf("%q: parsed %v, time.Parse says %v", in, ok, err)
		}
		if ok && !got.Equal(want) {
			t.Fatalf("%q: %v, time.Parse says %v", in, got, want)
		}
	})
}
