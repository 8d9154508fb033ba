package format

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/sessionspan/sessionspan/internal/lines"
)

// DefaultMaxLine is how many bytes a line may have unless [WithMaxLine] says otherwise.
const DefaultMaxLine = lines.DefaultLimit

// ReaderOption changes how a session is read.
type ReaderOption interface{ apply(*readerConfig) }

type readerConfig struct {
	maxLine int
	damage  func(*DamageError)
}

type readerOption func(*readerConfig)

func (o readerOption) apply(c *readerConfig) { o(c) }

// WithMaxLine sets how many bytes a line may have, line feed not counted. A longer one is skipped as damage without being
// held in memory. Zero or less means [DefaultMaxLine].
func WithMaxLine(bytes int) ReaderOption {
	return readerOption(func(c *readerConfig) { c.maxLine = bytes })
}

// WithDamage has [ReadSession] report damage to a function and go on: a line that is no entry is left out of the tree, an entry
// whose parent is lost becomes a root, and of two with one id the first counts. The lines stay, so that [Session.WriteTo]
// writes the file as it was. The error may be kept.
func WithDamage(report func(*DamageError)) ReaderOption {
	return readerOption(func(c *readerConfig) { c.damage = report })
}

// Line is one line of a session file, with its place.
type Line struct {
	// Number counts lines from 1, blank ones included.
	Number int
	// Offset is the position of the line's first byte in the file.
	Offset int64
	// Raw is the line as it stands in the file, with its line feed if it has one. Of a line over the limit it holds the
	// first bytes only.
	Raw []byte
	// Data is what is decoded: Raw without line feed, without a carriage return before it, and on the first line without
	// a byte order mark.
	Data []byte
	// Size is the length of the whole line in the file. It exceeds len(Raw) only for a line over the limit.
	Size int64
	// Terminated tells whether the line feed is there. Only the last line of a file can lack it.
	Terminated bool
}

// Reader reads a session file one entry at a time, in memory that does not grow with the file. It judges each line by
// itself: whether ids are unique and parents exist is for who holds the tree, as [ReadSession] does.
type Reader struct {
	lines  *lines.Reader
	dec    Decoder
	header *Header
	damage *DamageError                // of the header, not yet reported
	line   lines.Line                  // what Next returned last
	ahead  *lines.Line                 // read while looking past a damaged line
	err    error                       // that lines ended with
	keep   func(lines.Line) lines.Line // copies each line, blank ones included; nil in streaming
}

// NewReader reads the header. The error is that of r, or a [*DamageError] that wraps [ErrEmpty], [ErrNoHeader],
// [ErrUnsupportedFormat] or [ErrInvalidEntry]. A header that has its type, format and id is enough to read on: other
// trouble with it, such as a "created_at" that is no time, is what the first call of Next reports.
func NewReader(r io.Reader, opts ...ReaderOption) (*Reader, error) {
	return newReader(r, nil, opts)
}

func configure(opts []ReaderOption) (config readerConfig) {
	for _, o := range opts {
		o.apply(&config)
	}
	return config
}

func newReader(src io.Reader, keep func(lines.Line) lines.Line, opts []ReaderOption) (*Reader, error) {
	config := configure(opts)
	r := &Reader{lines: lines.NewReader(src, config.maxLine), keep: keep}
	line, err := r.advance()
	switch {
	case err == io.EOF:
		return nil, &DamageError{Line: 1, Err: ErrEmpty}
	case err != nil:
		return nil, err
	}
	r.line = line.Clone() // the header outlives the next read
	if r.line.TooLong() {
		damage := tooLong(r.line)
		damage.Err = fmt.Errorf("%w: %w", ErrNoHeader, damage.Err)
		return nil, damage
	}
	r.header, err = DecodeHeader(r.line.Data)
	if damage, ok := errors.AsType[*DamageError](err); ok {
		r.damage = damage.place(r.line)
		if r.header == nil {
			return nil, r.damage
		}
	}
	return r, nil
}

// Header returns the header, which stays valid.
func (r *Reader) Header() *Header { return r.header }

// Line returns the line of what Next returned last, entry or damage, and before the first call the header's. Its bytes are
// valid until the next read.
func (r *Reader) Line() Line { return Line(r.line) }

// Next returns the next entry. Raw values in it are valid until the next read; [Clone] keeps them. Blank lines are skipped.
//
// At the end of the file the error is [io.EOF]. A line that is no entry gives a [*DamageError], and the call after it goes
// on with the next line. When it is the last one, blank lines apart, it wraps [ErrTornTail] besides what is wrong with it;
// but a line over the limit is never taken for a torn one, since it may be complete. Any other error is that of the
// underlying reader and final.
func (r *Reader) Next() (Entry, error) {
	if damage := r.damage; damage != nil {
		r.damage = nil
		return nil, damage
	}
	line, err := r.advance()
	if err != nil {
		return nil, err
	}
	r.line = line
	if line.TooLong() {
		return nil, tooLong(line)
	}
	e, err := r.dec.Decode(line.Data)
	if err == nil {
		return e, nil
	}
	// To see whether this is the last line means to read on, which overwrites it.
	r.line = line.Clone()
	_, err = r.dec.Decode(r.line.Data)
	damage, ok := errors.AsType[*DamageError](err)
	if !ok {
		return nil, err
	}
	damage.place(r.line)
	next, err := r.advance()
	switch {
	case err == io.EOF:
		damage = damage.Torn()
	case err == nil:
		r.ahead = &next
	}
	return nil, damage
}

// Entries walks the remaining entries. Damage comes as an error without an entry, and the walk goes on after it; it ends
// after any other error.
func (r *Reader) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for {
			e, err := r.Next()
			if err == io.EOF {
				return
			}
			_, damaged := errors.AsType[*DamageError](err)
			if !yield(e, err) || err != nil && !damaged {
				return
			}
		}
	}
}

// advance returns the next line that is not blank.
func (r *Reader) advance() (lines.Line, error) {
	if line := r.ahead; line != nil {
		r.ahead = nil
		return *line, nil
	}
	for r.err == nil {
		line, err := r.lines.Next()
		if err != nil {
			r.err = err
			break
		}
		if r.keep != nil {
			line = r.keep(line)
		}
		if !line.Blank() {
			return line, nil
		}
	}
	return lines.Line{}, r.err
}

func tooLong(line lines.Line) *DamageError {
	damage := &DamageError{Err: ErrLineTooLong, Detail: fmt.Sprintf("%d bytes", line.Size), Data: line.Data}
	return damage.place(line)
}

func (e *DamageError) place(line lines.Line) *DamageError {
	e.Line, e.Offset = line.Number, line.Offset
	return e
}
