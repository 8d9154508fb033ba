package waterfall

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
)

const (
	// defaultWidth is that of a picture that goes to a file or a pipe.
	defaultWidth = 120
	// maxWidth keeps the eye able to follow a row.
	maxWidth = 400
)

// Options say how to draw. The zero value draws plain text, 120 columns wide.
type Options struct {
	// Width is the number of columns; 0 means 120.
	Width int
	// Color turns styles on. The escape sequences are those of the basic colours; a [colorprofile.Writer] takes out what
	// a terminal cannot show.
	Color bool
	// ASCII draws with ASCII characters only, and writes ? for any other.
	ASCII bool
	// Now is how far the bars of open spans reach; zero, or earlier than the last thing recorded, means up to that.
	Now time.Time
	// MaxRows bounds the rows of a trace: others are folded into them or left out, with a count. 0 means all.
	MaxRows int
	// More says under a picture that has not all rows how to see the others.
	More string
}

// OptionsFor returns the options that suit what w writes to: the size of a terminal, its colours unless NO_COLOR is set,
// and plain text everywhere else. The environment is a list as [os.Environ] returns it.
func OptionsFor(w io.Writer, environ []string) Options {
	env := make(map[string]string, len(environ))
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok {
			env[k] = v
		}
	}
	o := Options{
		Color: env["NO_COLOR"] == "" && colorprofile.Detect(w, environ) >= colorprofile.ANSI,
		ASCII: env["TERM"] == "dumb" || !speaksUTF8(env),
	}
	if f, ok := w.(term.File); ok && term.IsTerminal(f.Fd()) {
		if width, _, err := term.GetSize(f.Fd()); err == nil {
			o.Width = width
		}
	}
	if o.Width == 0 {
		if n, err := strconv.Atoi(env["COLUMNS"]); err == nil && n > 0 {
			o.Width = n
		}
	}
	return o
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

func (o Options) width() int {
	if o.Width <= 0 {
		return defaultWidth
	}
	return min(o.Width, maxWidth)
}
