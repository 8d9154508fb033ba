package lines

import (
	"bytes"
	"io"
	"sync"
)

// DefaultLimit is the longest line in bytes that a [Reader] holds unless told otherwise.
const DefaultLimit = 256 << 20

const (
	chunkSize  = 64 << 10 // first size of the buffer, and the most that one Read is asked for
	keepSize   = 1 << 20  // a buffer up to this size grows in one piece, and is never shrunk
	prefixSize = 1 << 10  // how much is kept of a line over the limit
	calmLines  = 32       // so many small lines in a row show that a large buffer is no longer needed
	emptyReads = 100      // so many reads in a row without a byte or an error mean a broken io.Reader
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Reader reads lines from a stream. It asks the stream only for what it needs to complete the next line, at most 64 KiB
// at a time, and its buffer follows the size of the lines: it grows to hold a long one and shrinks after some short ones. A
// long line is collected in pieces and put together when its end is known, so that one over the limit takes little more
// than the limit, and one below it little more than twice its length.
type Reader struct {
	src   io.Reader
	limit int
	err   error // what src ended with; sticky

	buf        []byte
	start, end int // buf[start:end] is read and not yet delivered

	// pieces are what stands before buf[:end] in the line at hand, size bytes in all. While there are any, start is 0.
	pieces [][]byte
	size   int

	number int   // lines delivered
	offset int64 // of buf[start] in the stream
	calm   int   // lines in a row that needed less than a quarter of buf
}

// NewReader returns a reader of the lines of r. The limit is the length in bytes, line feed not counted, up to which a
// line is delivered whole; zero or less means [DefaultLimit].
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{src: r, limit: limit, buf: *buffers.Get().(*[]byte)}
}

// Resume returns a reader of lines of which so many stand before r in their stream, in offset bytes.
func Resume(r io.Reader, limit, before int, offset int64) *Reader {
	rd := NewReader(r, limit)
	rd.number, rd.offset = before, offset
	return rd
}

// buffers holds those of closed readers, so that reading many files costs no more memory than reading one.
var buffers = sync.Pool{New: func() any { return new(make([]byte, chunkSize)) }}

// Close gives the reader's memory back: the line that was read last is no longer valid, and there is no next one. It does
// not close the underlying reader.
func (r *Reader) Close() {
	if r.buf != nil && len(r.buf) <= keepSize {
		buf := r.buf
		buffers.Put(&buf)
	}
	*r = Reader{err: io.ErrClosedPipe}
}

// Next returns the next line; its bytes are valid until the following call. A line over the limit is skipped without
// being held: Raw and Data have its first bytes, Size has its length, and reading goes on with the line after it.
//
// After the last line the error is [io.EOF]. Any other error of the underlying reader is returned as it is, once all
// complete lines before it are delivered; the incomplete line it interrupted is not.
func (r *Reader) Next() (Line, error) {
	r.shrink()
	for known := 0; ; { // buf[start:start+known] has no line feed
		if i := bytes.IndexByte(r.buf[r.start+known:r.end], '\n'); i >= 0 {
			return r.deliver(r.size+known+i, true), nil
		}
		known = r.end - r.start
		switch {
		case r.size+known > r.limit:
			return r.skip()
		case r.err == io.EOF && r.size+known > 0:
			return r.deliver(r.size+known, false), nil
		case r.err != nil:
			return Line{}, r.err
		}
		r.makeRoom()
		known = r.end - r.start
		r.read()
	}
}

// deliver returns the line that begins at start and has n bytes before its line feed, or before the end of the stream.
func (r *Reader) deliver(n int, terminated bool) Line {
	r.join()
	size := n
	if terminated {
		size++
	}
	raw := r.buf[r.start : r.start+size]
	data := raw[:n]
	switch {
	case n > r.limit:
		raw = raw[:r.prefix()]
		data = raw
	case terminated && n > 0 && data[n-1] == '\r':
		data = data[:n-1]
	}
	r.start += size
	return r.place(raw, data, int64(size), terminated)
}

// skip reads to the end of a line that is already known to be over the limit, and returns it with its first bytes only.
func (r *Reader) skip() (Line, error) {
	size := int64(r.size + r.end - r.start)
	first := r.buf[r.start:r.end]
	if len(r.pieces) > 0 {
		first, r.buf = r.pieces[0], make([]byte, chunkSize)
		r.pieces, r.size = nil, 0
	}
	n := copy(r.buf, first[:r.prefix()])
	prefix := r.buf[:n]
	for {
		r.start, r.end = n, n
		if r.err == io.EOF {
			return r.place(prefix, prefix, size, false), nil
		} else if r.err != nil {
			return Line{}, r.err
		}
		r.read()
		if i := bytes.IndexByte(r.buf[n:r.end], '\n'); i >= 0 {
			r.start = n + i + 1
			return r.place(prefix, prefix, size+int64(i)+1, true), nil
		}
		size += int64(r.end - n)
	}
}

// place counts a line and says where it stands.
func (r *Reader) place(raw, data []byte, size int64, terminated bool) Line {
	if r.number == 0 {
		data = bytes.TrimPrefix(data, byteOrderMark)
	}
	if len(raw) > len(r.buf)/4 {
		r.calm = 0
	} else {
		r.calm++
	}
	line := Line{
		Number:     r.number + 1,
		Offset:     r.offset,
		Raw:        raw[:len(raw):len(raw)], // whoever appends to it must not write into the buffer
		Data:       data[:len(data):len(data)],
		Size:       size,
		Terminated: terminated,
	}
	r.number++
	r.offset += size
	return line
}

// prefix is how many bytes are kept of a line over the limit: always fewer than it has.
func (r *Reader) prefix() int { return min(prefixSize, r.limit) }

// read reads once into the free part of the buffer, which is not empty.
func (r *Reader) read() {
	for range emptyReads {
		n, err := r.src.Read(r.buf[r.end:min(r.end+chunkSize, len(r.buf))])
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// makeRoom moves the unfinished line to the front of the buffer, enlarges the buffer, or puts it aside as a piece of the
// line. The line is moved only when it is no longer than what was delivered before it, so that each byte of the stream is
// moved once on average, and once more when pieces are put together.
func (r *Reader) makeRoom() {
	known := r.end - r.start
	switch {
	case r.start > 0 && known <= r.start:
		copy(r.buf, r.buf[r.start:r.end])
		r.start, r.end = 0, known
	case r.end < len(r.buf):
	case len(r.buf) < keepSize:
		r.replace(r.withinLimit(2*len(r.buf), known))
	default:
		r.pieces = append(r.pieces, r.buf[r.start:r.end])
		r.size += known
		r.buf = make([]byte, r.withinLimit(r.size+max(r.size/4, keepSize), r.size)-r.size)
		r.start, r.end = 0, 0
	}
}

// withinLimit returns a size for what holds the line at hand, of which n bytes are known: as much as is asked for, or as
// shows that the line is over the limit.
func (r *Reader) withinLimit(size, n int) int {
	if size-1 > r.limit {
		return max(r.limit+1, n+1)
	}
	return size
}

// join puts the pieces of a line into one buffer, with some room for the next line of that length.
func (r *Reader) join() {
	if len(r.pieces) == 0 {
		return
	}
	size := r.size + r.end
	buf := make([]byte, 0, r.withinLimit(size+size/8, size))
	for i, piece := range r.pieces {
		buf = append(buf, piece...)
		r.pieces[i] = nil
	}
	buf = append(buf, r.buf[:r.end]...)
	r.buf, r.start, r.end = buf[:cap(buf)], 0, size
	r.pieces, r.size = nil, 0
}

// shrink gives back most of a large buffer once a row of lines has not needed it, so that one giant line costs its
// memory for a short while only, and a stream of large lines does not pay for a new buffer each time.
func (r *Reader) shrink() {
	if len(r.buf) > keepSize && r.calm >= calmLines && r.end-r.start <= len(r.buf)/8 {
		r.calm = 0
		r.replace(max(len(r.buf)/4, keepSize))
	}
}

// replace moves what is read and not yet delivered into a new buffer.
func (r *Reader) replace(size int) {
	buf := make([]byte, size)
	r.end = copy(buf, r.buf[r.start:r.end])
	r.start = 0
	r.buf = buf
}
