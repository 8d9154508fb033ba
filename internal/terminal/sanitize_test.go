package terminal

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestSanitize(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "bash", "bash"},
		{"empty", "", ""},
		{"other scripts", "日本語 naïve Ωμέγα", "日本語 naïve Ωμέγα"},
		{"tab and line ends become one space each", "a\tb\nc\r\nd\re", "a b c d e"},
		{"escape sequence", "\x1b[31mred", "␛[31mred"},
		{"bell, backspace, null, delete", "\a\b\x00\x7f", "␇␈␀␡"},
		{"eight-bit control sequence", "\u009b31m", "�31m"},
		{"raw eight-bit control", "\x9b31m", "�31m"},
		{"next line", "a\u0085b", "a�b"},
		{"invalid UTF-8", "\xff\xfe\xc3(", "���("},
		{"encoded surrogate", "\xed\xa0\x80", "���"},
		{"bidi overrides", "\u202egnp.exe\u202c", "�gnp.exe�"},
		{"bidi isolates", "\u2066a\u2069", "�a�"},
		{"direction marks", "\u200ea\u200f\u061c", "�a��"},
		{"line and paragraph separator", "a\u2028b\u2029c", "a�b�c"},
		{"zero width space, joiner, no-break", "a\u200bb\u2060c\ufeffd\u00ad", "a�b�c�d�"},
		{"joiner that hides", "rm\u200d -rf", "rm� -rf"},
		{"joiner at the ends", "\u200dab\u200d", "�ab�"},
		{"joiner in an emoji", "👩\u200d💻 ❤\ufe0f\u200d🔥", "👩\u200d💻 ❤\ufe0f\u200d🔥"},
		{"non-joiner in Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"joiner after a virama", "क\u094d\u200dष", "क\u094d\u200dष"},
		{"tag characters", "x\U000e0041\U000e007f", "x��"},
		{"variation selectors that carry data", "x\U000e0100\ufe01", "x��"},
		{"emoji style", "⚠\ufe0f", "⚠\ufe0f"},
		{"emoji styles on one another", "⚠\ufe0f\ufe0f", "⚠\ufe0f�"},
		{"emoji style on ASCII", "#\ufe0f1\ufe0f\u20e3", "#1\u20e3"},
		{"fillers", "a\u3164b\u115fc\uffa0", "a�b�c�"},
		{"combining marks", "e\u0301", "e\u0301"},
		{"pile of combining marks", "z" + strings.Repeat("\u0300", 6), "z" + strings.Repeat("\u0300", 4) + "��"},
		{"noncharacter", "\ufffe\U0001ffff", "��"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Sanitize(tt.in); got != tt.want {
				t.Errorf("Sanitize(%+q) = %+q, want %+q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{
		"bash", "\x1b]8;;http://x\x1b\\", "\u202e\u200d\ufe0f", "می\u200cخواهم", "👩\u200d💻", "\xc3\x28",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := Sanitize(in)
		if !utf8.ValidString(got) {
			t.Errorf("%+q is not valid UTF-8", got)
		}
		for _, r := range got {
			if r != zwj && r != zwnj && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Errorf("%+q holds %U", got, r)
			}
		}
		if again := Sanitize(got); again != got {
			t.Errorf("not stable: %+q, then %+q", got, again)
		}
		if plain := ansi.Strip(got); plain != got {
			t.Errorf("a terminal takes part of %+q for commands: %+q is left", got, plain)
		}
		for r := ' ' + 1; r < 0x7f; r++ {
			if was, is := strings.Count(in, string(r)), strings.Count(got, string(r)); was != is {
				t.Errorf("%+q has %d of %q, not %d", got, is, r, was)
			}
		}
	})
}
