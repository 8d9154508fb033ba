package stored

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/source"
)

// Options of [Load].
type Options struct {
	Source source.Options
	// Event takes the events of a file that is not in the Agent Session Format, in file order; nil drops them. Nothing of an
	// event but its strings stays valid after the call.
	Event func(*activity.Event)
	// AsEvents has files of the Agent Session Format read as events, too.
	AsEvents bool
	// Read is told how many bytes were read from disk since the call before; nil for nobody.
	Read func(bytes int64)
}

// File is a session file in memory.
type File struct {
	// Header is what the file says of its session.
	Header *activity.Session
	// Session is the session of a file in the Agent Session Format, damage and all. It is nil for other files.
	Session *format.Session
	// Text is the file itself, decompressed, where Session is nil.
	Text []byte
	// Damage is what could not be read as it should be, in file order: the first [MaxDamage] of it. A line may have more than
	// one of it.
	Damage []Damage
	// MoreDamage counts what Damage does not hold.
	MoreDamage int
	// Unended is where a last line begins that has no line feed but is whole; its Line is 0 when there is none.
	Unended Place
	// Err says why the file was not read to its end; nil when it was.
	Err error

	torn   *Damage // the last line, until it is known whether the file was cut there
	broken int     // the last line that is no entry
}

// Place is where a line begins: Line counts from 1, Offset is that of its first byte once decompressed.
type Place struct {
	Line   int
	Offset int64
}

// Load reads the file at a path, or standard input for [input.Stdin]. The error says that there is no session to speak of:
// nothing is there, it cannot be opened, it is of no known format, its header is of no use. It does not have the path in it.
// When the context is done it is the context's.
func Load(ctx context.Context, path string, stdin io.Reader, o Options) (*File, error) {
	in, err := input.Open(ctx, path, stdin)
	if err != nil {
		return nil, input.Error(err)
	}
	defer in.Close()
	return load(ctx, input.Counted(in, o.Read), o)
}

func load(ctx context.Context, r io.Reader, o Options) (*File, error) {
	plain, err := source.Decompress(r)
	if err != nil {
		return nil, input.Error(err)
	}
	defer plain.Close()
	in := &limited{ctx: ctx, src: plain, maxBytes: MaxBytes, maxLines: MaxLines}
	f, err := read(in, o)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && in.err != nil:
		return nil, in.err
	case err != nil:
		return nil, err
	}
	f.Err = in.err
	if f.Err == nil { // what a cut leaves of the last line is no damage of the file's own
		if last := in.unended(); last.Line > f.broken {
			f.Unended = last
		}
		if f.torn != nil {
			f.add(*f.torn)
		}
	}
	f.torn = nil
	return f, nil
}

func read(in io.Reader, o Options) (*File, error) {
	header, whole, err := input.Begin(in, o.Source)
	if err != nil {
		return nil, err
	}
	f := &File{Header: header}
	if header.Format == source.AgentSession.Name && !o.AsEvents {
		return f, f.session(whole, o)
	}
	return f, f.events(whole, o)
}

func (f *File) session(r io.Reader, o Options) error {
	var err error
	f.Session, err = format.ReadSession(r, format.WithMaxLine(o.Source.MaxLine), format.WithDamage(f.damaged))
	if err != nil {
		return err
	}
	if torn := f.Session.Torn(); torn != nil {
		f.damaged(torn)
	}
	return nil
}

func (f *File) events(r io.Reader, o Options) error {
	var text bytes.Buffer
	rd, err := source.NewReader(io.TeeReader(r, &text), o.Source)
	if err != nil {
		return err
	}
	defer rd.Close()
	emit := o.Event
	if emit == nil {
		emit = func(*activity.Event) {}
	}
	for err == nil {
		err = rd.Read(emit, f.damaged)
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	rd.Flush(source.Silence, emit)
	f.Text = text.Bytes()
	return nil
}

// damaged keeps what is said of a line, and not the line.
func (f *File) damaged(d *format.DamageError) {
	entry := ""
	if d.Entry != nil {
		entry = d.Entry.Base().ID
	}
	one := NewDamage(d.Line, d.Offset, entry, d.Err, d.Detail)
	one.At = d.At
	if one.Rule == RuleTornTail && json.Valid(d.Data) { // no object, but whole: see NewDamage
		one.Rule, one.Err = RuleDamage, whole(d.Err)
		one.What = words(one.Err, d.Detail)
	}
	if one.Rule == RuleTornTail {
		f.torn, f.broken = &one, one.Line
		return
	}
	if one.Rule == RuleDamage {
		f.broken = one.Line
	}
	f.add(one)
}

func (f *File) add(d Damage) {
	if len(f.Damage) == MaxDamage {
		f.MoreDamage++
		return
	}
	f.Damage = append(f.Damage, d)
}
