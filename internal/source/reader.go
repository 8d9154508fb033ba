package source

import (
	"errors"
	"io"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// Options of a reader.
type Options struct {
	// Format is the name of a format, or [Auto].
	Format string
	// MaxLine is the limit for a line in bytes; 0 for the default.
	MaxLine int
	// Place is where the file stands.
	Place Place
}

// Reader reads one session file.
type Reader struct {
	lines    *lines.Reader
	format   *Format
	decoder  Decoder
	plain    io.Closer
	place    Place
	detector Detector
	stats    Stats
	begun    bool                // the header was read
	held     *format.DamageError // damage that is a torn tail if nothing follows
}

// ErrNoSession: the file ended before its decoder knew what session it is.
var ErrNoSession = errors.New("the file does not say what session it is")

// Stats count what was read.
type Stats struct {
	// Bytes counts after decompression.
	Bytes int64
	Lines int
	// Damaged counts the lines that could not be read as they should be.
	Damaged int
}

// NewReader begins to read a session file. It reads nothing yet.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	f, err := Lookup(o.Format)
	if err != nil {
		return nil, err
	}
	plain, err := Decompress(r)
	if err != nil {
		return nil, err
	}
	rd := &Reader{lines: lines.NewReader(plain, o.MaxLine), format: f, plain: plain, place: o.Place}
	if f != nil {
		rd.decoder = f.New(o.Place)
	}
	return rd, nil
}

// Close frees what reading took. It does not close the underlying reader.
func (r *Reader) Close() {
	r.lines.Close()
	r.plain.Close()
}

// Stats returns what was read so far.
func (r *Reader) Stats() Stats { return r.stats }

// Read hands on the events of the next line, and reports damage as it is found. At the end of the file it flushes the
// decoder and returns io.EOF. Any other error ends the reading: the file is of no known format, has no usable header, or
// could not be read.
func (r *Reader) Read(emit func(*activity.Event), damaged func(*format.DamageError)) error {
	line, err := r.lines.Next()
	if err != nil {
		return r.end(err, emit, damaged)
	}
	r.stats.Lines++
	r.stats.Bytes += line.Size
	if line.Blank() {
		return nil
	}
	if r.held != nil {
		damaged(r.held)
		r.held = nil
	}
	if r.decoder == nil {
		f, err := r.detector.Detect(line)
		if f == nil {
			return err
		}
		r.format, r.decoder = f, f.New(r.place)
		for _, d := range r.detector.Damage {
			r.stats.Damaged++
			damaged(d)
		}
	}
	if !r.begun {
		emit = r.begin(emit)
	}
	err = r.decoder.Decode(line, emit)
	if err == nil {
		return nil
	}
	damage, ok := errors.AsType[*format.DamageError](err)
	if !ok {
		return err
	}
	damage.Line, damage.Offset = line.Number, line.Offset
	if !r.begun && r.format.Ends(damage) {
		return damage // without a header there is no session
	}
	r.stats.Damaged++
	r.held = briefly(damage)
	return nil
}

// maxDamage is how much is kept of a damaged line, in bytes.
const maxDamage = 1 << 10

// briefly is a copy of damage that stays valid, with the beginning of the line only: one of many megabytes is not held twice.
func briefly(d *format.DamageError) *format.DamageError {
	brief := *d
	brief.Data = d.Data[:min(len(d.Data), maxDamage)]
	return brief.Clone()
}

// begin notes when the session has begun.
func (r *Reader) begin(emit func(*activity.Event)) func(*activity.Event) {
	return func(ev *activity.Event) {
		if _, ok := ev.Fact.(*activity.Session); ok {
			r.begun = true
		}
		emit(ev)
	}
}

func (r *Reader) end(err error, emit func(*activity.Event), damaged func(*format.DamageError)) error {
	if r.held != nil {
		damaged(r.held.Torn())
		r.held = nil
	}
	if err != io.EOF {
		return err
	}
	switch {
	case r.decoder != nil:
	case len(r.detector.Damage) > 0:
		return r.detector.Unknown(0)
	default:
		return format.ErrEmpty
	}
	r.decoder.Flush(EndOfFile, r.begin(emit))
	if !r.begun {
		return ErrNoSession
	}
	return io.EOF
}

// Flush has the decoder emit what was waiting for a later line, because nothing more will come.
func (r *Reader) Flush(why Why, emit func(*activity.Event)) {
	if r.decoder != nil {
		r.decoder.Flush(why, emit)
	}
}

// Session reads as far as the header and returns what it says, without its line's events.
func (r *Reader) Session() (*activity.Session, error) {
	var session *activity.Session
	for session == nil {
		err := r.Read(func(ev *activity.Event) {
			if s, ok := ev.Fact.(*activity.Session); ok && session == nil {
				session = s
			}
		}, func(*format.DamageError) {})
		if err != nil {
			return nil, err
		}
	}
	return session, nil
}
