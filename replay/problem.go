package replay

import (
	"errors"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/projection"
)

// Problem is something that was wrong with a session or with a file, or notable about it.
type Problem struct {
	// Path is that of the file; "" for a session in memory, and for what concerns several files.
	Path string
	// Line counts from 1, and Offset is that of its first byte, in the decompressed file. Line is 0 where no line is meant.
	Line   int
	Offset int64
	// Note: nothing is lost by it.
	Note bool
	Err  error
}

// Error names the file, then the trouble with its place.
func (p *Problem) Error() string {
	if _, hasPath := errors.AsType[*input.FileError](p.Err); hasPath || p.Path == "" {
		return p.Err.Error()
	}
	return p.Path + ": " + p.Err.Error()
}

// Unwrap returns Err.
func (p *Problem) Unwrap() error { return p.Err }

// inLine is a problem with a line, of which the error knows the place.
func inLine(path string, err error, note bool) *Problem {
	p := &Problem{Path: path, Err: err, Note: note}
	if e, ok := errors.AsType[*format.DamageError](err); ok {
		p.Line, p.Offset = e.Line, e.Offset
	} else if e, ok := errors.AsType[projection.Problem](err); ok {
		p.Line, p.Offset = e.Line, e.Offset
	}
	return p
}
