package follow

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/sessionspan/sessionspan/internal/lines"
	"github.com/sessionspan/sessionspan/internal/source"
)

// Compressed files do not grow: one is read when it has kept its size for a while, from where its plain twin was read to, and is
// done with. Positions are those in what it decompresses to, and its last line is complete without a line feed.

// plainPath returns the path of a compressed file's plain twin, and whether it is one.
func plainPath(path string) (plain string, compressed bool) {
	for _, ending := range []string{".gz", ".zst"} {
		if n := len(path) - len(ending); n > 0 && strings.EqualFold(path[n:], ending) {
			return path[:n], true
		}
	}
	return path, false
}

// twin returns the position of a file of the same content, as its name has it: of a compressed file the plain one, of a plain file a
// compressed one.
func (f *Follower) twin(path string) (Position, bool) {
	plain, compressed := plainPath(path)
	others := []string{plain + ".gz", plain + ".zst"}
	if compressed {
		others = []string{plain}
	}
	for _, other := range others {
		if t := f.files[other]; t != nil && t.pos.Offset > 0 {
			return t.pos, true
		}
		if k, ok := f.known(other, ID{}); ok {
			return k.Position, true
		}
	}
	return Position{}, false
}

// Plain returns the path of a compressed file's plain twin, and that file, nil when it is not there; an empty path for a plain file.
func (f *Follower) Plain(t *Tracked) (path string, plain *Tracked) {
	if !t.compressed {
		return "", nil
	}
	path, _ = plainPath(t.Path)
	return path, f.files[path]
}

// stream is a compressed file that is being read.
type stream struct {
	in     *handle
	plain  io.ReadCloser
	digest *xxhash.Digest
	lines  *lines.Reader
	at     Position // how far it has been read, but for its sums
}

func (s *stream) close() {
	if s.lines != nil {
		s.lines.Close()
	}
	s.plain.Close()
	s.in.release()
}

// decompress opens a compressed file at its start.
func (t *Tracked) decompress() (*stream, error) {
	in, err := t.f.handles.open(t)
	if err != nil {
		return nil, err
	}
	plain, err := source.Decompress(io.NewSectionReader(in, 0, t.size))
	if err != nil {
		in.release()
		return nil, err
	}
	return &stream{in: in, plain: plain, digest: xxhash.New()}, nil
}

// openStream opens a compressed file behind what was read of it, or of its twin.
func (t *Tracked) openStream() error {
	s, err := t.decompress()
	if err != nil {
		return err
	}
	n, err := io.Copy(s.digest, io.LimitReader(s.plain, t.pos.Offset))
	switch {
	case err != nil:
	case n < t.pos.Offset || n > 0 && s.digest.Sum64() != t.pos.Sum:
		err = ErrChanged
	}
	if err != nil {
		s.close()
		return err
	}
	s.at = t.pos
	s.lines = lines.Resume(io.TeeReader(s.plain, s.digest), t.f.o.MaxLine, t.pos.Lines, t.pos.Offset)
	t.stream = s
	return nil
}

// readCompressed is Read for a compressed file. Until it is done its position stays where it was: there is no sum of less.
func (t *Tracked) readCompressed(ctx context.Context, most int64, emit func(lines.Line) bool) error {
	if t.stream == nil {
		if err := t.openStream(); err != nil {
			t.failed = !errors.Is(err, ErrAway) && !errors.Is(err, ErrChanged)
			return err
		}
	}
	for read := int64(0); read < most; {
		if err := ctx.Err(); err != nil {
			return err
		}
		l, err := t.stream.lines.Next()
		if err == io.EOF {
			t.pos = Position{Offset: t.stream.at.Offset, Lines: t.stream.at.Lines, Sum: t.stream.digest.Sum64(), Head: t.pos.Head}
			t.closeStream()
			t.done = true
			return nil
		}
		if err != nil {
			t.closeStream()
			t.failed = true
			return err
		}
		read += l.Size
		t.stream.at.Offset, t.stream.at.Lines = l.Offset+l.Size, l.Number
		if !emit(l) {
			return nil
		}
	}
	return nil
}

// Rewind has a compressed file that is being read be read from its position again, for somebody who has let go of what came of it.
func (t *Tracked) Rewind() { t.closeStream() }

// Reading reports whether the file is compressed, and was read in part.
func (t *Tracked) Reading() bool { return t.stream != nil }

func (t *Tracked) closeStream() {
	if t.stream != nil {
		t.stream.close()
		t.stream = nil
	}
}
