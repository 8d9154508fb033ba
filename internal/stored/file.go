package stored

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/source"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// ErrFolder: the path is that of a folder.
var ErrFolder = errors.New("is a folder: name a file in it")

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
	// Damage is what could not be read as it should be, in file order. A line may have more than one of it.
	Damage []Damage
	// Err says why the file was not read to its end; nil when it was.
	Err error
}

// Damage is something that could not be read as it should be.
type Damage struct {
	// Line counts from 1, Offset is that of the line's first byte once decompressed.
	Line   int
	Offset int64
	// Entry is the id of the entry on the line, as far as it could be read.
	Entry string
	// Err wraps the sentinel errors of package format. What says it in words, without the place.
	Err  error
	What string
}

// Load reads the file at a path, or standard input for [Stdin]. The error says that there is no session to speak of: nothing is
// there, it cannot be opened, it is of no known format, its header is of no use. It does not have the path in it. When the
// context is done it is the context's, at once, even where a pipe keeps its reader waiting.
func Load(ctx context.Context, path string, stdin io.Reader, o Options) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case path == Stdin:
		return waited(ctx, func() (*File, error) { return Read(ctx, stdin, o) })
	case err != nil:
		return nil, withoutPath(err)
	case info.IsDir():
		return nil, ErrFolder
	case info.Mode().IsRegular():
		return load(ctx, path, o)
	}
	return waited(ctx, func() (*File, error) { return load(ctx, path, o) })
}

func load(ctx context.Context, path string, o Options) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	return Read(ctx, f, o)
}

func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// waited does work that may never end, and leaves it behind when the context is done.
func waited(ctx context.Context, work func() (*File, error)) (*File, error) {
	type result struct {
		file *File
		err  error
	}
	done := make(chan result, 1)
	go func() {
		f, err := work()
		done <- result{f, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		return r.file, r.err
	}
}

// Read is [Load] for a stream.
func Read(ctx context.Context, r io.Reader, o Options) (*File, error) {
	raw := &counted{src: r, read: o.Read}
	plain, err := source.Decompress(raw)
	if err != nil {
		return nil, streamError(err)
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
	if f.Err != nil { // what a cut leaves of the last line is no damage of the file's own
		for n := len(f.Damage); n > 0 && errors.Is(f.Damage[n-1].Err, format.ErrTornTail); n-- {
			f.Damage = f.Damage[:n-1]
		}
	}
	return f, nil
}

func read(in io.Reader, o Options) (*File, error) {
	head := &beginning{limit: o.Source.MaxLine}
	if head.limit <= 0 {
		head.limit = format.DefaultMaxLine
	}
	header, err := peek(io.TeeReader(in, head), o.Source)
	if err != nil {
		return nil, err
	}
	f := &File{Header: header}
	whole := io.MultiReader(&head.Buffer, in)
	if header.Format == source.AgentSession.Name && !o.AsEvents {
		return f, f.session(whole, o)
	}
	return f, f.events(whole, o)
}

func peek(r io.Reader, o source.Options) (*activity.Session, error) {
	rd, err := source.NewReader(r, o)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	return rd.Session()
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
	one := Damage{Line: d.Line, Offset: d.Offset, Err: d.Err, What: d.Err.Error()}
	if d.Detail != "" {
		one.What += ": " + d.Detail
	}
	if d.Entry != nil {
		one.Entry = d.Entry.Base().ID
	}
	f.Damage = append(f.Damage, one)
}

// beginning keeps what was read up to the header: its line, what was read with it, and some blank lines.
type beginning struct {
	bytes.Buffer
	limit int
}

func (b *beginning) Write(p []byte) (int, error) {
	if b.Len() > b.limit+64<<10 {
		return 0, fmt.Errorf("its first %d bytes have no header", b.Len())
	}
	return b.Buffer.Write(p)
}
