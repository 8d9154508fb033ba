package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// Format is one way of writing a session to disk.
type Format struct {
	// Name is what users write after --format.
	Name string
	// Looks says in words what the first line of a file must be.
	Looks string
	// Detect reports whether a file with this first line is one. It is given one that may be anything.
	Detect func(first []byte) bool
	// New returns a decoder for one file.
	New func(Place) Decoder
	// LateHeader: lines before the header that are no JSON are damage as they are behind it.
	LateHeader bool
	// EntrySize is about how much more is held of an entry, in bytes, than the projector holds of one of the Agent Session Format.
	EntrySize int64
}

// Ends reports whether damage that was met before the header means that there is no session.
func (f *Format) Ends(d *format.DamageError) bool {
	return !f.LateHeader || errors.Is(d, format.ErrNoHeader)
}

// Decoder turns the lines of one file, in order, into events.
type Decoder interface {
	// Decode takes the next line that is not blank. An error, a *format.DamageError, says what could not be read of it;
	// what could be has been emitted. Nothing that is emitted stays valid after the call but strings.
	Decode(l lines.Line, emit func(*activity.Event)) error
	// Flush emits what was waiting for a later line.
	Flush(why Why, emit func(*activity.Event))
}

// Why says why nothing may come after what was read.
type Why int

// The reasons for a flush.
const (
	// EndOfFile: the file may still grow. Only what a later line cannot change is emitted.
	EndOfFile Why = iota
	// Silence: nothing more will come.
	Silence
)

// Formats lists the formats, in the order in which they are tried.
func Formats() []Format { return []Format{AgentSession, Pi, Claude} }

// Auto lets the first line of the file decide.
const Auto = "auto"

// Names lists what can be written after --format.
func Names() []string {
	names := []string{Auto}
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Lookup finds a format by name; nil for [Auto].
func Lookup(name string) (*Format, error) {
	if name == Auto || name == "" {
		return nil, nil
	}
	for _, f := range Formats() {
		if f.Name == name {
			return &f, nil
		}
	}
	return nil, fmt.Errorf("format %q is not one of %s", name, strings.Join(Names(), ", "))
}

// UnknownFormatError says that no format recognised a file.
type UnknownFormatError struct {
	// Line counts from 1: the first line that is not blank.
	Line int
}

func (e *UnknownFormatError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d: not the beginning of a session file of a known format; looked for", e.Line)
	for i, f := range Formats() {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %s (%s)", f.Name, f.Looks)
	}
	return b.String()
}
