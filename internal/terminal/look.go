package terminal

import (
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

const (
	// DefaultWidth is that of what goes to a file or a pipe.
	DefaultWidth = 120
	// MaxWidth keeps the eye able to follow a row.
	MaxWidth = 400
)

// Look says what a terminal can show. The zero value is plain text.
type Look struct {
	// Width is the number of columns; 0 means that nobody has said.
	Width int
	// Color turns styles on. The escape sequences are those of the basic colours; a [colorprofile.Writer] takes out what
	// a terminal cannot show.
	Color bool
	// ASCII allows ASCII characters only; ? stands for any other.
	ASCII bool
}

// LookOf returns what suits what w writes to: the size of a terminal, its colours unless NO_COLOR is set, and plain text
// everywhere else. The environment is a list as [os.Environ] returns it.
func LookOf(w io.Writer, environ []string) Look {
	env := make(map[string]string, len(environ))
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok {
			env[k] = v
		}
	}
	l := Look{
		Color: env["NO_COLOR"] == "" && colorprofile.Detect(w, environ) >= colorprofile.ANSI,
		ASCII: env["TERM"] == "dumb" || !speaksUTF8(env),
	}
	if f, ok := w.(term.File); ok && Is(w) {
		if width, _, err := term.GetSize(f.Fd()); err == nil {
			l.Width = width
		}
	}
	if l.Width == 0 {
		if n, err := strconv.Atoi(env["COLUMNS"]); err == nil && n > 0 {
			l.Width = n
		}
	}
	return l
}

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(term.File)
	return ok && term.IsTerminal(f.Fd())
}

// speaksUTF8 reports whether the locale allows other characters than ASCII. One that is not set says nothing.
func speaksUTF8(env map[string]string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env[name]); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// Columns is how wide a drawing may be.
func (l Look) Columns() int {
	if l.Width <= 0 {
		return DefaultWidth
	}
	return min(l.Width, MaxWidth)
}

// Ellipsis stands for what was cut.
func (l Look) Ellipsis() string { return l.either("…", "..") }

// Dot stands between facts.
func (l Look) Dot() string { return l.either(" · ", " - ") }

// To stands between what went in and what came out, and before what something leads to.
func (l Look) To() string { return l.either("→", ">") }

// AtLeast stands before a lower bound.
func (l Look) AtLeast() string { return l.either("≥", ">=") }

func (l Look) either(unicode, ascii string) string {
	if l.ASCII {
		return ascii
	}
	return unicode
}

// Text makes text from a file safe.
func (l Look) Text(s string) string {
	s = Sanitize(s)
	if !l.ASCII {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, s)
}

// Cut cuts safe text to a number of columns.
func (l Look) Cut(s string, columns int) string {
	if Width(s) <= columns {
		return s
	}
	return ansi.Truncate(s, columns, l.Ellipsis())
}

// Width is how many columns safe text takes.
func Width(s string) int {
	for i := range len(s) { // most text of a drawing is ASCII, and need not be looked up
		if s[i] < ' ' || s[i] >= 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}
