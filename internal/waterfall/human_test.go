package waterfall

import (
	"math"
	"testing"
	"time"
)

func TestHuman(t *testing.T) {
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
		if got := human(tt.d); got != tt.want {
			t.Errorf("human(%d) = %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestMark(t *testing.T) {
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
		if got := mark(tt.d); got != tt.want {
			t.Errorf("mark(%v) = %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestShort(t *testing.T) {
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
		if got := short(tt.n); got != tt.want {
			t.Errorf("short(%d) = %q, want %q", tt.n, got, tt.want)
		}
	}
}

func TestDollars(t *testing.T) {
	tests := []struct {
		v    float64
		want string
	}{{0, "$0.00"}, {0.0004, "$0.0004"}, {0.0447, "$0.0447"}, {0.42, "$0.42"}, {12.345, "$12.35"}}
	for _, tt := range tests {
		if got := dollars(tt.v); got != tt.want {
			t.Errorf("dollars(%v) = %q, want %q", tt.v, got, tt.want)
		}
	}
}
