package stored

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sessionspan/sessionspan/internal/input"
)

// Limits of a file.
const (
	MaxBytes = 4 << 30
	MaxLines = 1 << 24
	// MaxDamage is how much damage is kept of one file: of what has more, no line is of use to anybody.
	MaxDamage = 10_000
)

// ErrTooLarge: the file is larger than can be held in memory as a whole.
var ErrTooLarge = errors.New("too large to be read as a whole")

// limited ends a stream without an error where that has one, where it becomes too large, or when the context is done, and
// remembers why.
type limited struct {
	ctx                context.Context
	src                io.Reader
	maxBytes, maxLines int64
	bytes, lines       int64
	begun              int64 // where the last line begins
	text               bool  // that line has more than white space
	err                error
}

// unended is where a last line begins that has no line feed; the zero value for none.
func (l *limited) unended() Place {
	if !l.text {
		return Place{}
	}
	return Place{int(l.lines) + 1, l.begun}
}

func (l *limited) Read(p []byte) (int, error) {
	if l.err == nil {
		l.err = l.ctx.Err()
	}
	if l.err != nil {
		return 0, io.EOF
	}
	n, err := l.src.Read(p)
	last := bytes.LastIndexByte(p[:n], '\n') + 1
	if last > 0 {
		l.begun, l.text = l.bytes+int64(last), false
	}
	l.text = l.text || len(bytes.TrimSpace(p[last:n])) > 0
	l.bytes += int64(n)
	l.lines += int64(bytes.Count(p[:n], []byte("\n")))
	switch {
	case l.bytes > l.maxBytes:
		l.err = fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, l.maxBytes)
	case l.lines > l.maxLines:
		l.err = fmt.Errorf("%w: it has more than %d lines", ErrTooLarge, l.maxLines)
	case err != nil && !errors.Is(err, io.EOF):
		l.err = input.Error(err)
	}
	if l.err != nil {
		return n, io.EOF
	}
	return n, err
}
