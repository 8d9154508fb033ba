package lines

import "bytes"

// Line is one line of a file, with its place.
type Line struct {
	// Number counts physical lines from 1, blank ones included.
	Number int
	// Offset is the position in bytes of the first byte of Raw in the stream.
	Offset int64
	// Raw is the whole line with its terminator. Of a line over the limit it holds the first bytes only.
	Raw []byte
	// Data is Raw without LF, without one CR before it, and without a byte order mark on the first line.
	Data []byte
	// Size is the length of the whole line in bytes, terminator included. It exceeds len(Raw) only for a line over the
	// limit.
	Size int64
	// Terminated tells whether the line feed was there. Only the last line of a stream can lack it.
	Terminated bool
}

// TooLong reports whether the line was longer than the reader's limit, so that Raw and Data hold only its beginning.
func (l Line) TooLong() bool { return l.Size > int64(len(l.Raw)) }

// Blank reports whether the line has nothing but white space.
func (l Line) Blank() bool { return len(bytes.TrimSpace(l.Data)) == 0 && !l.TooLong() }

// Clone returns a copy of the line that stays valid after the next read.
func (l Line) Clone() Line {
	raw := bytes.Clone(l.Raw)
	if start := bytes.Index(l.Raw, l.Data); start >= 0 {
		l.Data = raw[start : start+len(l.Data)]
	}
	l.Raw = raw
	return l
}
