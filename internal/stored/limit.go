package stored

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// Limits of a file.
const (
	MaxBytes = 4 << 30
	MaxLines = 1 << 24
)

// ErrTooLarge: the file is larger than can be held in memory as a whole.
var ErrTooLarge = errors.New("too large to be read as a whole")

// ErrCut: the file is compressed and ends before the data does.
var ErrCut = errors.New("the compressed data ends too early")

// streamError says what an error of a decompressed stream means: a plain one ends wherever it likes.
func streamError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCut
	}
	return err
}

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
		l.err = streamError(err)
	}
	if l.err != nil {
		return n, io.EOF
	}
	return n, err
}

// counted tells how much is read.
type counted struct {
	src  io.Reader
	read func(int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	if c.read != nil {
		c.read(int64(n))
	}
	return n, err
}
