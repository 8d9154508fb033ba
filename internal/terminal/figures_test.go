package terminal

import (
	"math"
	"testing"
	"time"
)

const (
	ms = time.Millisecond
	s  = time.Second
	m  = time.Minute
	h  = time.Hour
)

func TestDuration(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{-s, "0ms"},
		{0, "0ms"},
		{time.Microsecond, "<1ms"},
		{999 * time.Microsecond, "<1ms"},
		{340 * ms, "340ms"},
		{999*ms + 400*time.Microsecond, "999ms"},
		{999*ms + 600*time.Microsecond, "1.0s"},
		{2100 * ms, "2.1s"},
		{59940 * ms, "59.9s"},
		{59960 * ms, "1m00s"},
		{3*m + 12*s, "3m12s"},
		{59*m + 59*s + 600*ms, "1h00m"},
		{2*h + 5*m, "2h05m"},
		{23*h + 59*m + 40*s, "1d00h"},
		{76 * h, "3d04h"},
		{2400 * h, "100d"},
		{math.MaxInt64, "106751d"},
	}
	for _, tt := range tests {
		if got := Duration(tt.d); got != tt.want {
			t.Errorf("Duration(%d) = %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestPlace(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "0"},
		{500 * ms, "500ms"},
		{1500 * ms, "1.5s"},
		{30 * s, "30s"},
		{m, "1m"},
		{90 * s, "1m30s"},
		{h, "1h"},
		{13*h + 42*m + 16*s, "13h42m"},
		{48 * h, "2d"},
		{57 * h, "2d09h"},
	}
	for _, tt := range tests {
		if got := Place(tt.d); got != tt.want {
			t.Errorf("Place(%v) = %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestCount(t *testing.T) {
	tests := []struct {
		n    int64
		want string
	}{
		{0, "0"},
		{999, "999"},
		{1000, "1.0k"},
		{12345, "12.3k"},
		{99949, "99.9k"},
		{99951, "100k"},
		{999499, "999k"},
		{999500, "1.0M"},
		{1234567, "1.2M"},
		{math.MaxInt64, "9.22e+06T"},
	}
	for _, tt := range tests {
		if got := Count(tt.n); got != tt.want {
			t.Errorf("Count(%d) = %q, want %q", tt.n, got, tt.want)
		}
	}
}

func TestDollars(t *testing.T) {
	tests := []struct {
		v    float64
		want string
	}{{0, "$0.00"}, {0.0004, "$0.0004"}, {0.0447, "$0.0447"}, {0.42, "$0.42"}, {12.345, "$12.35"}}
	for _, tt := range tests {
		if got := Dollars(tt.v); got != tt.want {
			t.Errorf("Dollars(%v) = %q, want %q", tt.v, got, tt.want)
		}
	}
}

func TestPlural(t *testing.T) {
	for _, tt := range []struct {
		n    int
		noun string
		want string
	}{
		{1, "entry", "1 entry"},
		{0, "entry", "0 entries"},
		{2, "request hash", "2 request hashes"},
		{2, "file", "2 files"},
		{1, "call without hand-off", "1 call without hand-off"},
		{3, "call without hand-off", "3 calls without hand-off"},
	} {
		if got := Plural(tt.n, tt.noun); got != tt.want {
			t.Errorf("Plural(%d, %q) = %q, want %q", tt.n, tt.noun, got, tt.want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 12_345: "12.3 kB", 1_200_000_000: "1.2 GB", math.MaxInt64: "9223372.0 TB",
	} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	for _, tt := range []struct {
		in, out *int64
		least   bool
		want    string
		ascii   string
	}{
		{nil, nil, true, "", ""},
		{n(1200), n(3), false, "1.2k→3", "1.2k>3"},
		{nil, n(3), true, "≥?→3", ">=?>3"},
	} {
		if got := (Look{}).Tokens(tt.in, tt.out, tt.least); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
		if got := (Look{ASCII: true}).Tokens(tt.in, tt.out, tt.least); got != tt.ascii {
			t.Errorf("got %q, want %q", got, tt.ascii)
		}
	}
}
