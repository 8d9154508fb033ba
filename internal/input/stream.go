package input

import (
	"context"
	"errors"
	"io"
	"os"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// ErrFolder: the path is that of a folder.
var ErrFolder = errors.New("is a folder: name a file in it")

// Stream is what a path names, opened.
type Stream struct {
	io.ReadCloser
	// Once: it can be read only once, as a pipe can.
	Once bool
}

// Under has reads from now on end with another context. It is for what can be read once, and not for while it is read.
func (s *Stream) Under(ctx context.Context) {
	if w, ok := s.ReadCloser.(*waiting); ok {
		w.ctx = ctx
	}
}

// Open opens what a path names; stdin is what [Stdin] does. Opening and reading end with the error of the context once that
// is done.
func Open(ctx context.Context, path string, stdin io.Reader) (*Stream, error) {
	if path == Stdin {
		return &Stream{newWaiting(ctx, path, io.NopCloser(stdin)), true}, nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, ErrFolder
	case !info.Mode().IsRegular():
		f, err := openPipe(ctx, path)
		if err != nil {
			return nil, err
		}
		return &Stream{newWaiting(ctx, path, f), true}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &Stream{struct {
		io.Reader
		io.Closer
	}{Until(ctx, f), f}, false}, nil
}

// Size is how many bytes a path has on disk; 0 for what is no regular file.
func Size(path string) int64 {
	info, err := os.Stat(path)
	if path == Stdin || err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// Until reads until the context is done, which it asks before each read: the read itself takes no time worth ending.
func Until(ctx context.Context, r io.Reader) io.Reader { return &until{ctx, r} }

type until struct {
	ctx context.Context
	src io.Reader
}

func (u *until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.src.Read(p)
}

// Counted tells of each read how many bytes it gave; nil tells nobody.
func Counted(r io.Reader, read func(bytes int64)) io.Reader {
	if read == nil {
		return r
	}
	return &counted{r, read}
}

type counted struct {
	src  io.Reader
	read func(int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	if n > 0 {
		c.read(int64(n))
	}
	return n, err
}
