package input

import (
	"context"
	"io"
	"os"
)

// openPipe opens a file that may keep its reader waiting, as a named pipe does from the first moment until somebody opens
// the other end.
func openPipe(ctx context.Context, path string) (*os.File, error) {
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
	defer sayWait(ctx, path)()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-opened:
		return r.file, r.err
	}
}

// waiting reads from what may never answer. When the context is done, the read at hand is left behind, and there is none
// after it: closing the stream ends it, or the process does.
type waiting struct {
	ctx  context.Context
	path string
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

func newWaiting(ctx context.Context, path string, src io.ReadCloser) *waiting {
	return &waiting{ctx: ctx, path: path, src: src, buf: make([]byte, pipeRead), read: make(chan readResult, 1)}
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
		defer sayWait(w.ctx, w.path)()
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
