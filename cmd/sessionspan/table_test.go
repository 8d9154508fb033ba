package main

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// written writes a table without colour.
func written(t *testing.T, tab *table, l terminal.Look) string {
	t.Helper()
	var b strings.Builder
	if err := tab.write(&b, l); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sampleTable() *table {
	return &table{
		columns: []column{
			{title: "ID"}, {title: "N", right: true, rank: 2}, {title: "NAME", least: 6, rank: 1}, {title: "PATH", rank: 3},
		},
		rows: [][]terminal.Piece{
			{{Text: "a"}, {Text: "1"}, {Text: "日本語の名前"}, {Text: "/x"}},
			{{Text: "bcd"}, {Text: "1234"}, {Text: "short"}, {Text: "/yy"}},
		},
	}
}

func TestTableFitsTheWidth(t *testing.T) {
	for _, tc := range []struct {
		name  string
		width int
		want  string
	}{
		{
			"as wide as it gets", 0, "" +
				"ID      N  NAME          PATH\n" +
				"a       1  日本語の名前  /x\n" +
				"bcd  1234  short         /yy\n",
		},
		{
			"a text is cut first", 25, "" +
				"ID      N  NAME      PATH\n" +
				"a       1  日本語…   /x\n" +
				"bcd  1234  short     /yy\n",
		},
		{
			"then columns are left out, and what is there has their room", 22, "" +
				"ID      N  NAME\n" +
				"a       1  日本語の名…\n" +
				"bcd  1234  short\n",
		},
		{
			"one after the other", 16, "" +
				"ID   NAME\n" +
				"a    日本語の名…\n" +
				"bcd  short\n",
		},
		{
			"what has no rank stays", 2, "" +
				"ID\n" +
				"a\n" +
				"bcd\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := written(t, sampleTable(), terminal.Look{Width: tc.width})
			if got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
			for line := range strings.Lines(got) {
				if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); tc.width > 2 && w > tc.width {
					t.Errorf("%q is %d columns wide", line, w)
				}
			}
		})
	}
}

// No width makes a line longer than it, or the table fail, down to what must stay.
func TestTableAtEveryWidth(t *testing.T) {
	for width := 3; width < 40; width++ {
		for line := range strings.Lines(written(t, sampleTable(), terminal.Look{Width: width})) {
			if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); w > width {
				t.Errorf("at %d columns %q is %d wide", width, line, w)
			}
		}
	}
}

func TestCellIsSafeAndShort(t *testing.T) {
	for name, tc := range map[string]struct {
		text, want string
		ascii      bool
	}{
		"nothing":            {text: "", want: "-"},
		"blanks":             {text: " \n", want: "-"},
		"escape sequences":   {text: "a\x1b[31mb", want: "a␛[31mb"},
		"line ends":          {text: "a\nb", want: "a b"},
		"other letters":      {text: "日本", ascii: true, want: "??"},
		"a megabyte":         {text: strings.Repeat("x", 1<<20), want: strings.Repeat("x", maxCell-1) + "…"},
		"a megabyte, ASCII":  {text: strings.Repeat("x", 1<<20), ascii: true, want: strings.Repeat("x", maxCell-2) + ".."},
		"cut within a rune":  {text: strings.Repeat("x", 8*maxCell-1) + "日本", want: strings.Repeat("x", maxCell-1) + "…"},
		"bytes of no letter": {text: "a\xff", want: "a�"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cellText(terminal.Look{ASCII: tc.ascii}, tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// A column that names something is cut once there is nothing else to leave out, and no further than it may be.
func TestTableCutsWhatMustStayLast(t *testing.T) {
	tab := func() *table {
		return &table{
			columns: []column{{title: "ID", last: 8}, {title: "GONE", rank: 1}, {title: "STATE"}},
			rows:    [][]terminal.Piece{{{Text: "0123456789abcdef"}, {Text: "x"}, {Text: "done"}}},
		}
	}
	for width, want := range map[int]string{
		0:  "ID                GONE  STATE\n0123456789abcdef  x     done\n",
		23: "ID                STATE\n0123456789abcdef  done\n",
		20: "ID             STATE\n0123456789ab…  done\n",
		15: "ID        STATE\n0123456…  done\n",
		9:  "ID        STATE\n0123456…  done\n",
	} {
		if got := written(t, tab(), terminal.Look{Width: width}); got != want {
			t.Errorf("%d columns:\n%swant\n%s", width, got, want)
		}
	}
	without := tab()
	without.remove("GONE")
	if got, want := written(t, without, terminal.Look{}), "ID                STATE\n0123456789abcdef  done\n"; got != want {
		t.Errorf("without a column:\n%swant\n%s", got, want)
	}
}
