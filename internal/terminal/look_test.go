package terminal

import (
	"bytes"
	"testing"
)

func TestLookOf(t *testing.T) {
	tests := []struct {
		name    string
		environ []string
		want    Look
	}{
		{"pipe", []string{"TERM=xterm-256color", "LANG=en_US.UTF-8"}, Look{}},
		{"nothing known", nil, Look{}},
		{"columns", []string{"COLUMNS=90"}, Look{Width: 90}},
		{"columns that are none", []string{"COLUMNS=wide"}, Look{}},
		{"colours forced", []string{"TERM=xterm-256color", "CLICOLOR_FORCE=1"}, Look{Color: true}},
		{"forced and forbidden", []string{"TERM=xterm-256color", "CLICOLOR_FORCE=1", "NO_COLOR=yes"}, Look{}},
		{"dumb", []string{"TERM=dumb", "LANG=en_US.UTF-8"}, Look{ASCII: true}},
		{"locale without UTF-8", []string{"LANG=en_US.UTF-8", "LC_ALL=C"}, Look{ASCII: true}},
		{"locale with", []string{"LANG=C", "LC_CTYPE=de_DE.utf8"}, Look{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := LookOf(&bytes.Buffer{}, tt.environ); got != tt.want {
				t.Errorf("LookOf = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestFitAndLine(t *testing.T) {
	list := []Piece{Faint.Piece("ab "), Fail.Piece("日本語"), Plain.Piece("  ")}
	for _, tt := range []struct {
		name    string
		look    Look
		columns int
		want    string
	}{
		{"all of it, without blanks at the end", Look{}, 20, "ab 日本語"},
		{"cut within a piece", Look{}, 8, "ab 日本…"},
		{"cut where a wide letter has no room", Look{}, 7, "ab 日…"},
		{"in ASCII", Look{ASCII: true}, 7, "ab 日.."},
		{"nothing", Look{}, 0, ""},
		{"in colour", Look{Color: true}, 20, "\x1b[2mab \x1b[m\x1b[31m日本語\x1b[m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fitted := tt.look.Fit(append([]Piece(nil), list...), tt.columns)
			if w := Widths(fitted); w > tt.columns {
				t.Errorf("%d columns, of %d", w, tt.columns)
			}
			if got := tt.look.Line(fitted); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if list[2].Text != "  " {
		t.Error("the pieces given were changed")
	}
}

func TestTextIsASCIIWhereNothingElseIsAllowed(t *testing.T) {
	if got := (Look{ASCII: true}).Text("a\x1bé日"); got != "a???" {
		t.Errorf("got %q", got)
	}
}
