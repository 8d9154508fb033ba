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
	err                error
}

func (l *limited) Read(p []byte) (int, error) {
	if l.err == nil {
		l.err = l.ctx.Err()
	}
	if l.err != nil {
		return 0, io.EOF
	}
	n, err := l.src.Read(p)
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
