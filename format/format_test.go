package format

import (
	"errors"
	"strings"
	"testing"
)

func TestParseFormat(t *testing.T) {
	tests := []struct {
		in           string
		major, minor int
		ok           bool
	}{
		{"agentsession/0.1", 0, 1, true},
		{"agentsession/0.11", 0, 11, true},
		{"agentsession/12.345", 12, 345, true},
		{"agentsession/0", 0, 0, false},
		{"agentsession/0.", 0, 0, false},
		{"agentsession/.1", 0, 0, false},
		{"agentsession/0.1.2", 0, 0, false},
		{"agentsession/0.N with a number N", 0, 0, false},
		{"agentsession/-0.1", 0, 0, false},
		{"agentsession/0.+1", 0, 0, false},
		{"agentsession/0.99999999999999999999", 0, 0, false},
		{"agentsession", 0, 0, false},
		{"AgentSession/0.1", 0, 0, false},
		{"pi/0.1", 0, 0, false},
		{"", 0, 0, false},
	}
	for _, test := range tests {
		t.Run(test.in, func(t *testing.T) {
			major, minor, err := ParseFormat(test.in)
			if major != test.major || minor != test.minor || (err == nil) != test.ok {
				t.Errorf("got %d.%d, %v", major, minor, err)
			}
			if err != nil && !errors.Is(err, ErrUnsupportedFormat) {
				t.Errorf("%v is not ErrUnsupportedFormat", err)
			}
		})
	}
}

func TestUnsupportedFormatSaysWhatIsRead(t *testing.T) {
	_, _, err := ParseFormat("claude/" + strings.Repeat("9", 1000))
	if text := err.Error(); !strings.Contains(text, `"claude/999`) || !strings.Contains(text, "agentsession/0.N with a number N") || len(text) > 200 {
		t.Error(text)
	}
}
