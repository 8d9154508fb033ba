package waterfall

import (
	"time"

	"github.com/sessionspan/sessionspan/internal/terminal"
)

// Options say how to draw. The zero value draws plain text, [terminal.DefaultWidth] columns wide.
type Options struct {
	terminal.Look
	// Now is how far the bars of open spans reach; zero, or earlier than the last thing recorded, means up to that.
	Now time.Time
	// MaxRows bounds the rows of a trace: others are folded into them or left out, with a count. 0 means all.
	MaxRows int
	// More says under a picture that has not all rows how to see the others.
	More string
}
