package repair

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/lines"
	"github.com/sessionspan/sessionspan/internal/source"
)

// plan finds what is wrong with a file, line by line, and what is to be done about it.
type plan struct {
	found func(Finding) error
	err   error // of found; sticky

	maxLine int

	shape   shape
	decoder format.Decoder
	headed  headed
	why     error // what is wrong with the header
	minor   int
	sum     Sum
	kept    bool // the last line ends with an object that stays

	// seen has the entries of the Agent Session Format so far: a hash of the id, and one of the line.
	seen map[uint64]uint64
	seed maphash.Seed

	at   lines.Line
	base int64   // offset of the line's first byte that is neither white space nor a byte order mark
	held []piece // broken pieces before the first object of the line
	good bool    // the line has an object
}

// headed says what is known of the header.
type headed int

const (
	undecided headed = iota
	hasHeader
	noHeader // nothing more is reported, since nothing will be repaired; entries are still counted
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// minorRepeats is the first minor in which a line that is there twice is one entry (C.5).
const minorRepeats = 5

// scan reads a file to its end. found is told what is wrong with it, in the order of the file; its error ends the scan.
func scan(r io.Reader, maxLine int, found func(Finding) error) (*plan, error) {
	if maxLine <= 0 {
		maxLine = lines.DefaultLimit
	}
	p := &plan{found: found, maxLine: maxLine, seen: map[uint64]uint64{}, seed: maphash.MakeSeed()}
	reader := lines.NewReader(r, maxLine)
	defer reader.Close()
	last := true // the last line has its line feed
	for {
		l, err := reader.Next()
		if err != nil && err != io.EOF {
			return nil, err
		}
		if err == io.EOF {
			break
		}
		p.line(l)
		last = l.Terminated
		if p.err != nil {
			return nil, p.err
		}
	}
	if !last && p.kept && p.headed == hasHeader {
		p.sum.Added++
		p.sum.NoLineFeed = true
		p.report(Finding{Line: p.sum.Lines, Offset: p.sum.Bytes, Kind: NoLineFeed, Action: AddLineFeed, Added: 1})
	}
	return p, p.err
}

func (p *plan) report(f Finding) {
	if f.Action == Keep {
		p.sum.Beyond++
	}
	f.At = f.Offset - p.at.Offset
	if p.err == nil {
		p.err = p.found(f)
	}
}

func (p *plan) line(l lines.Line) {
	p.sum.Lines++
	p.sum.Bytes += l.Size
	p.at, p.good, p.kept, p.held = l, false, false, p.held[:0]
	p.base = l.Offset
	if l.Number == 1 && bytes.HasPrefix(l.Raw, byteOrderMark) {
		p.base += int64(len(byteOrderMark))
	}
	switch {
	case l.TooLong():
		p.leave(TooLong, fmt.Sprintf("the limit is %d bytes", p.maxLine))
	case l.Blank():
	case p.shape.scan.Scan(l.Data, "") == nil:
		p.object(0, len(l.Data), false)
	default:
		start := skipSpace(l.Data, 0)
		if l.Data[start] == '{' {
			w := newWalker(l.Data, start)
			w.run()
			if w.state == tooDeep || w.state == whole && w.pos == len(l.Data) {
				p.leave(TooLarge, "")
				return
			}
		}
		split(l.Data, p.shape.entry, p.piece)
		if !p.good {
			p.setAside(l)
		}
	}
}

// leave leaves a line alone that was not judged.
func (p *plan) leave(kind Kind, why string) {
	if p.headed == undecided {
		p.reject(p.place("%s", kind))
	}
	if p.headed == noHeader {
		return
	}
	f := Finding{Line: p.at.Number, Offset: p.at.Offset, Kind: kind, Bytes: p.at.Size, Action: Keep, Detail: why}
	p.report(f)
}

// place describes trouble with the line at hand.
func (p *plan) place(format string, args ...any) error {
	return fmt.Errorf("line %d (offset %d): %s", p.at.Number, p.at.Offset, fmt.Sprintf(format, args...))
}

// piece takes the next piece of a damaged line.
func (p *plan) piece(c piece) {
	switch {
	case c.kind == "":
		p.object(c.start, c.end, true)
	case p.good:
		p.cut(c)
	default:
		p.held = append(p.held, c) // the whole line goes if there is no object on it
	}
}

// setAside takes away a line without an object.
func (p *plan) setAside(l lines.Line) {
	kind := NullPadding
	for _, c := range p.held {
		if c.kind != NullPadding {
			kind = c.kind
			break
		}
	}
	if p.headed == undecided && kind != NullPadding {
		why := p.place("%s", kind)
		if kind == Garbage {
			why = &source.UnknownFormatError{Line: l.Number}
		}
		p.reject(why)
	}
	if p.headed == noHeader {
		return
	}
	p.sum.SetAside += l.Size
	p.report(Finding{Line: l.Number, Offset: l.Offset, Kind: kind, Bytes: l.Size, Action: SetAside})
}

// cut takes away broken bytes that share a line with an object.
func (p *plan) cut(c piece) {
	if p.headed == noHeader {
		return
	}
	n := int64(c.end - c.start)
	p.sum.SetAside += n
	p.report(Finding{Line: p.at.Number, Offset: p.base + int64(c.start), Kind: c.kind, Bytes: n, Action: SetAside})
}

// object takes an object, which is the whole line, and was scanned last, unless the line is damaged.
func (p *plan) object(start, end int, damaged bool) {
	object := p.at.Data[start:end]
	header := p.headed == undecided
	if header {
		p.header(object)
	}
	for _, c := range p.held {
		p.cut(c)
	}
	p.held = p.held[:0]
	first := !p.good
	p.good, p.kept = true, true
	scanned := !damaged || p.shape.scan.Scan(object, "") == nil
	if p.headed == noHeader {
		if scanned && p.shape.envelope() {
			p.count(damaged)
		}
		return
	}
	f := Finding{Line: p.at.Number, Offset: p.base + int64(start), Bytes: int64(end - start)}
	f.Type, f.ID = p.shape.label()
	if damaged && (!first || skipSpace(p.at.Data, 0) < start) {
		fused := f
		fused.Kind, fused.Action = Fused, Recover
		if !first {
			fused.Added = 1
			p.sum.Added++
		}
		p.report(fused)
	}
	f.Action = Keep
	if bytes.IndexByte(object, 0) >= 0 {
		zero := f
		zero.Kind = ZeroBytes
		p.report(zero)
	}
	switch {
	case header:
		if p.why != nil {
			f.Kind, f.Detail = InvalidHeader, detail(p.why)
			p.report(f)
		}
		return
	case !scanned:
		f.Kind = TooLarge
		p.report(f)
	case p.shape.agentSession():
		p.check(object, f)
	}
	p.count(damaged)
}

func (p *plan) count(damaged bool) {
	if damaged {
		p.sum.Recovered++
	} else {
		p.sum.Kept++
	}
}

// header takes the first object of the file. Before it there may be zero bytes, and on its line the torn head of a header
// that was written again; anything else makes the file one that we do not know.
func (p *plan) header(object []byte) {
	for _, c := range p.held {
		if c.kind == Garbage {
			p.reject(p.place("%s before the first object", c.kind))
			return
		}
	}
	h, invalid, err := p.shape.header(object, p.at.Number)
	if damage, ok := errors.AsType[*format.DamageError](err); ok {
		damage.Line, damage.Offset = p.at.Number, p.at.Offset
		err = damage.Clone() // the line does not stay
	}
	if err != nil {
		p.reject(err)
		return
	}
	p.headed, p.why = hasHeader, invalid
	if h != nil {
		p.minor = h.Minor()
	}
}

func (p *plan) reject(why error) {
	p.headed = noHeader
	p.why = why
	p.shape.format = nil
}

// check reports what no repair of bytes can change about an entry of the Agent Session Format: f says where it stands.
func (p *plan) check(object []byte, f Finding) {
	e, err := p.decoder.Decode(object)
	if damage, ok := errors.AsType[*format.DamageError](err); ok {
		e = damage.Entry
		invalid := f
		invalid.Kind, invalid.Detail = InvalidEntry, detail(err)
		p.report(invalid)
	}
	if e == nil {
		return
	}
	env := e.Base()
	id, line := maphash.String(p.seed, env.ID), maphash.Bytes(p.seed, object)
	if other, ok := p.seen[id]; ok {
		if p.minor < minorRepeats || other != line {
			f.Kind = DuplicateID
			p.report(f)
		}
		return
	}
	if env.Parent != "" {
		if _, ok := p.seen[maphash.String(p.seed, env.Parent)]; !ok {
			orphan := f
			orphan.Kind = NoParent
			p.report(orphan)
		}
	}
	p.seen[id] = line
}

// detail says in words what is wrong with a line that is an object.
func detail(err error) string {
	if damage, ok := errors.AsType[*format.DamageError](err); ok {
		return damage.Detail
	}
	return err.Error()
}
