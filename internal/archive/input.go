package archive

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/source"
)

// open opens a regular file. Reading it ends with the error of the context once that is done.
func open(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &checked{ctx, f}, nil
}

// checked asks before each read whether anybody still wants it. The read itself takes no time worth ending.
type checked struct {
	ctx  context.Context
	file *os.File
}

func (c *checked) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.file.Read(p)
}

func (c *checked) Close() error { return c.file.Close() }

// openPipe opens a file that may keep its reader waiting, as a named pipe does from the first moment until somebody opens
// the other end.
func openPipe(ctx context.Context, path string) (io.ReadCloser, error) {
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result)
	go func() {
		f, err := os.Open(path)
		select {
		case opened <- result{f, err}:
		case <-ctx.Done():
			if err == nil {
				f.Close()
			}
		}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-opened:
		if r.err != nil {
			return nil, r.err
		}
		return newWaiting(ctx, r.file), nil
	}
}

// waiting reads from what may never answer. When the context is done, the read at hand is left behind, and there is none
// after it: closing the stream ends it, or the process does.
type waiting struct {
	ctx  context.Context
	src  io.ReadCloser
	buf  []byte
	rest []byte
	err  error
	read chan readResult
}

type readResult struct {
	n   int
	err error
}

// pipeRead is how much of a pipe is read at once.
const pipeRead = 64 << 10

func newWaiting(ctx context.Context, src io.ReadCloser) *waiting {
	return &waiting{ctx: ctx, src: src, buf: make([]byte, pipeRead), read: make(chan readResult, 1)}
}

func (w *waiting) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if len(w.rest) == 0 && w.err == nil {
		// The read has a buffer of its own: p is the caller's again when this returns.
		go func() {
			n, err := w.src.Read(w.buf)
			w.read <- readResult{n, err}
		}()
		select {
		case <-w.ctx.Done():
			return 0, w.ctx.Err()
		case r := <-w.read:
			w.rest, w.err = w.buf[:r.n], r.err
		}
	}
	n := copy(p, w.rest)
	if w.rest = w.rest[n:]; len(w.rest) > 0 {
		return n, nil
	}
	return n, w.err
}

func (w *waiting) Close() error { return w.src.Close() }

// once is a file that can be read only once: what its header took is given again.
func once(path string, in io.ReadCloser, o source.Options) (*File, error) {
	head := &beginning{limit: o.MaxLine}
	if head.limit <= 0 {
		head.limit = format.DefaultMaxLine
	}
	s, err := session(io.TeeReader(in, head), o)
	if err != nil {
		in.Close()
		return nil, err
	}
	all := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(&head.Buffer, in), in}
	return &File{Path: path, Session: s, open: func(context.Context) (io.ReadCloser, error) { return all, nil }}, nil
}

// beginning keeps what was read up to the header: its line, what was read with it, and some blank lines.
type beginning struct {
	bytes.Buffer
	limit int
}

func (b *beginning) Write(p []byte) (int, error) {
	if b.Len() > b.limit+pipeRead {
		return 0, fmt.Errorf("its first %d bytes have no header", b.Len())
	}
	return b.Buffer.Write(p)
}

// peek reads the header of a file.
func peek(ctx context.Context, path string, o source.Options) (*activity.Session, error) {
	f, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return session(f, o)
}

func session(r io.Reader, o source.Options) (*activity.Session, error) {
	rd, err := source.NewReader(r, o)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	return rd.Session()
}
