package follow

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// Position is how far a file has been read: complete lines, to a line feed.
type Position struct {
	Offset int64  // bytes
	Lines  int    // the same in lines
	Sum    uint64 // xxhash of those bytes
	Head   uint64 // of the first of them, at most headSize
}

// headSize and tailSize are how much of what was read is looked at again, before more is.
const (
	headSize = 1 << 10
	tailSize = 512
)

// ErrChanged: what was read of a file is not what it holds now. It is to be read from its start, as another generation.
var ErrChanged = errors.New("the part of the file that was read has changed")

// ErrAway: the file is not where it was, and not open. A later look tells where it is, if it is anywhere.
var ErrAway = errors.New("the file is not where it was")

// Tracked is a file that is followed.
type Tracked struct {
	// Path is where it was seen last.
	Path string
	ID   ID
	// Generation counts how often it was begun to be read from its start, from 1.
	Generation int
	// Gone: it is nowhere to be found.
	Gone bool

	f          *Follower
	compressed bool
	stream     *stream // of a compressed file that is being read
	done       bool    // a compressed file was read
	failed     bool    // a compressed file could not be; it is left alone until it changes
	pos        Position
	mark       Position       // by which a file of which nothing was read is known, when it gets another name
	digest     *xxhash.Digest // of what was read; nil when it is not known, after a restart
	tail       []byte         // the last bytes before pos, at most tailSize
	waiting    int64          // so many bytes behind pos have no line feed
	size       int64
	modified   time.Time
	changed    time.Time // when it was seen to be another than before
	due        time.Time // when it is looked at next
	missing    int       // looks at its folder in which it was not there
	at         int       // in the follower's heap
}

// Position returns how far the file has been read.
func (t *Tracked) Position() Position { return t.pos }

// Size returns how long the file was when it was looked at last.
func (t *Tracked) Size() int64 { return t.size }

// Modified returns when the file was changed last, as it was when it was looked at.
func (t *Tracked) Modified() time.Time { return t.modified }

// Compressed reports whether positions are not those in the file, but in what it decompresses to.
func (t *Tracked) Compressed() bool { return t.compressed }

// Mark returns a position by which a file of which nothing is read can be known again, up to so many bytes, and has it be known by that when it
// gets another name.
func (t *Tracked) Mark(upTo int64) (Position, error) {
	head, err := t.head(upTo)
	if err == nil {
		t.mark = Position{Offset: upTo, Head: head}
	}
	return t.mark, err
}

// MarkAs has a file of which nothing was read be known by a position that was marked before, for somebody who knows that it begins with that.
func (t *Tracked) MarkAs(p Position) { t.mark = p }

// Marked reports whether a file begins with what was there when a position was marked; it is known by that then.
func (t *Tracked) Marked(p Position) bool {
	head, err := t.head(p.Offset)
	if err != nil || head != p.Head || !t.compressed && t.size < p.Offset {
		return false
	}
	t.MarkAs(p)
	return true
}

// head returns the sum of the first bytes of what a file holds, of at most so many.
func (t *Tracked) head(most int64) (uint64, error) {
	n := min(most, headSize)
	if t.compressed {
		s, err := t.decompress()
		if err != nil {
			return 0, err
		}
		defer s.close()
		buf, err := io.ReadAll(io.LimitReader(s.plain, n))
		return xxhash.Sum64(buf), err
	}
	in, err := t.f.handles.open(t)
	if err != nil {
		return 0, err
	}
	defer in.release()
	return sumOf(in, n)
}

// Known is what a later process is to know of the file, read up to a position.
func (t *Tracked) Known(p Position) Known {
	return Known{Position: p, Path: t.Path, Size: t.size, Modified: t.modified, Done: t.done}
}

// AtEnd reports whether there was nothing more to be read when the file was looked at last: what is left of it, if anything, is a line
// without its end.
func (t *Tracked) AtEnd() bool {
	if t.compressed {
		return t.done
	}
	return t.pos.Offset+t.waiting >= t.size
}

// Whole reports whether nothing is left of it that could be the beginning of a line.
func (t *Tracked) Whole() bool { return t.AtEnd() && t.waiting == 0 }

// restart has the file be read from its start.
func (t *Tracked) restart() {
	t.Generation++
	t.closeStream()
	t.done, t.failed, t.mark = false, false, Position{}
	t.pos, t.digest, t.tail, t.waiting = Position{}, xxhash.New(), nil, 0
}

// resumeAt has the file be read from a position that an earlier process came to. Whether it is the file of then shows when it is
// primed, or read on.
func (t *Tracked) resumeAt(p Position) {
	t.pos, t.digest, t.tail, t.waiting = p, nil, nil, 0
	if p.Offset == 0 {
		t.digest = xxhash.New()
	}
}

// Read reads complete lines, until about so many bytes are read, the lines end, or emit has no use for more. What emit is given is
// valid until it returns. The error wraps [ErrChanged], or is one of reading.
func (t *Tracked) Read(ctx context.Context, most int64, emit func(lines.Line) (more bool)) error {
	if t.compressed {
		return t.readCompressed(ctx, most, emit)
	}
	in, err := t.f.handles.open(t)
	if err != nil {
		return err
	}
	defer in.release()
	if err := t.verify(in); err != nil {
		return err
	}
	if found, err := t.hasLine(in); err != nil || !found {
		return err
	}
	rd := lines.Resume(io.NewSectionReader(in, t.pos.Offset, t.size-t.pos.Offset), t.f.o.MaxLine, t.pos.Lines, t.pos.Offset)
	defer rd.Close()
	for start := t.pos.Offset; t.pos.Offset-start < most; {
		if err := ctx.Err(); err != nil {
			return err
		}
		l, err := rd.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !l.Terminated:
			t.waiting = l.Size
			return nil
		}
		if err := t.consume(in, l); err != nil {
			return err
		}
		if !emit(l) {
			return nil
		}
	}
	return nil
}

// consume counts a line as read.
func (t *Tracked) consume(in io.ReaderAt, l lines.Line) error {
	if t.digest != nil {
		if l.TooLong() {
			if _, err := io.Copy(t.digest, io.NewSectionReader(in, l.Offset, l.Size)); err != nil {
				return err
			}
		} else {
			t.digest.Write(l.Raw)
		}
		t.pos.Sum = t.digest.Sum64()
	}
	before := t.pos.Offset
	t.pos.Offset, t.pos.Lines, t.waiting = l.Offset+l.Size, l.Number, 0
	switch {
	case l.TooLong():
		t.tail = nil
	case len(l.Raw) >= tailSize:
		t.tail = append(t.tail[:0], l.Raw[len(l.Raw)-tailSize:]...)
	default:
		t.tail = append(t.tail, l.Raw...)
		t.tail = t.tail[max(0, len(t.tail)-tailSize):]
	}
	if before < headSize {
		var err error
		t.pos.Head, err = sumOf(in, min(t.pos.Offset, headSize))
		return err
	}
	return nil
}

// verify looks whether the beginning and the end of what was read are what they were.
func (t *Tracked) verify(in io.ReaderAt) error {
	if t.pos.Offset == 0 {
		return nil
	}
	head, err := sumOf(in, min(t.pos.Offset, headSize))
	switch {
	case err == io.ErrUnexpectedEOF:
		return ErrChanged
	case err != nil:
		return err
	case head != t.pos.Head:
		return ErrChanged
	}
	tail := make([]byte, len(t.tail))
	if _, err := in.ReadAt(tail, t.pos.Offset-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	if !bytes.Equal(tail, t.tail) {
		return ErrChanged
	}
	return nil
}

// sumOf returns the sum of the first bytes of a file.
func sumOf(in io.ReaderAt, n int64) (uint64, error) {
	buf := make([]byte, n)
	if read, err := in.ReadAt(buf, 0); int64(read) < n {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	return xxhash.Sum64(buf), nil
}

// chunkSize is how much is looked through at once.
const chunkSize = 64 << 10

// hasLine looks for the end of a line in what came since the last time that there was none, so that a long line which comes in
// pieces is read once.
func (t *Tracked) hasLine(in io.ReaderAt) (bool, error) {
	if t.waiting <= chunkSize { // it may be another tail than it was
		return t.pos.Offset < t.size, nil
	}
	buf := make([]byte, chunkSize)
	for at := t.pos.Offset + t.waiting; at < t.size; {
		n, err := in.ReadAt(buf[:min(int64(len(buf)), t.size-at)], at)
		if bytes.IndexByte(buf[:n], '\n') >= 0 {
			return true, nil
		}
		at += int64(n)
		t.waiting = at - t.pos.Offset
		if err != nil && err != io.EOF {
			return false, err
		}
		if n == 0 {
			break
		}
	}
	return false, nil
}

// Prime reads again what was read, for somebody who has let go of what came of it. The error wraps [ErrChanged] when it is not what
// it was; what emit was given is worth nothing then.
func (t *Tracked) Prime(ctx context.Context, emit func(lines.Line)) error {
	if t.pos.Offset == 0 {
		return nil
	}
	var plain io.Reader
	if t.compressed {
		s, err := t.decompress()
		if err != nil {
			return err
		}
		defer s.close()
		plain = io.LimitReader(s.plain, t.pos.Offset)
	} else {
		in, err := t.f.handles.open(t)
		if err != nil {
			return err
		}
		defer in.release()
		plain = io.NewSectionReader(in, 0, t.pos.Offset)
	}
	digest := xxhash.New()
	rd := lines.NewReader(io.TeeReader(plain, digest), t.f.o.MaxLine)
	defer rd.Close()
	n := 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		l, err := rd.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		n = l.Number
		emit(l)
	}
	if digest.Sum64() != t.pos.Sum || n != t.pos.Lines {
		return ErrChanged
	}
	if t.digest == nil && !t.compressed {
		t.digest = digest
	}
	return nil
}

// Peek reads lines from the start of a file, without that counting, until look has seen enough.
func (t *Tracked) Peek(ctx context.Context, look func(lines.Line) (more bool)) error {
	var plain io.Reader
	if t.compressed {
		s, err := t.decompress()
		if err != nil {
			return err
		}
		defer s.close()
		plain = s.plain
	} else {
		in, err := t.f.handles.open(t)
		if err != nil {
			return err
		}
		defer in.release()
		plain = io.NewSectionReader(in, 0, t.size)
	}
	rd := lines.NewReader(plain, t.f.o.MaxLine)
	defer rd.Close()
	for ctx.Err() == nil {
		l, err := rd.Next()
		if err == io.EOF || err == nil && !l.Terminated && !t.compressed {
			return nil
		}
		if err != nil || !look(l) {
			return err
		}
	}
	return ctx.Err()
}

// Settled reports whether the position is one from which another process can go on: not in the middle of a compressed file.
func (t *Tracked) Settled() bool { return !t.compressed || t.done }

// unchanged reports whether all that was read is what it was.
func (t *Tracked) unchanged(in io.ReaderAt) bool {
	digest := xxhash.New()
	n, err := io.Copy(digest, io.NewSectionReader(in, 0, t.pos.Offset))
	return err == nil && n == t.pos.Offset && digest.Sum64() == t.pos.Sum
}
