package format

import (
	"fmt"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// DecodeHeader decodes the first line of a session file (A.2). Raw values in the header point into the line.
//
// The error is a [*DamageError] that wraps [ErrNoHeader], [ErrUnsupportedFormat] or [ErrInvalidEntry], without Line and
// Offset. With the last of these the header may be there all the same: when it has type, format and id, so that it says
// what the lines after it are, and something else is the trouble. Its CreatedAt is zero when "created_at" was.
func DecodeHeader(line []byte) (*Header, error) {
	d := new(Decoder)
	if err := d.line.Scan(line, "harness"); err != nil {
		damage := syntaxDamage(line, err)
		damage.Err = fmt.Errorf("%w: %w", ErrNoHeader, damage.Err)
		return nil, damage
	}
	var buf [12]found
	f := find(buf[:], d.line.Members, headerFields)
	if typ, _ := jsonscan.String(f[0].raw); typ != "session" {
		return nil, &DamageError{At: f[0].at, Err: ErrNoHeader, Detail: `"type" is not "session"`, Data: line}
	}
	h := &Header{Format: d.should(f[1]), ID: d.should(f[2])}
	if h.Format != "" {
		major, _, err := ParseFormat(h.Format)
		if err != nil || major != formatMajor {
			return nil, &DamageError{At: f[1].at, Err: ErrUnsupportedFormat, Detail: notRead(h.Format), Data: line}
		}
	}
	if h.Format == "" || h.ID == "" {
		return nil, &DamageError{At: d.at, Err: ErrInvalidEntry, Detail: d.trouble, Data: line}
	}
	h.CreatedAt = d.time(f[3])
	h.Payload = d.text(f[4])
	if d.isObject(f[5]) {
		h.Harness = d.harness(d.line.Nested)
	}
	h.Records = d.texts(f[6])
	h.CWD = d.text(f[7])
	h.ParentSession = d.text(f[8])
	h.SpawnedBy = d.text(f[9])
	h.Media = d.text(f[10])
	base := h.rules().Base
	if base {
		h.Base = d.text(f[11])
	}
	for i := range d.line.Members {
		m := &d.line.Members[i]
		if !match(f, m, headerFields) || string(m.Name) == "base" && !base {
			h.Unknown = d.append(h.Unknown, m)
		}
	}
	if d.trouble != "" {
		return h, &DamageError{At: d.at, Err: ErrInvalidEntry, Detail: d.trouble, Data: line}
	}
	return h, nil
}

var headerFields = []field{
	{name: "type"},
	{name: "format"},
	{name: "id"},
	{name: "created_at"},
	{name: "payload"},
	{name: "harness"},
	{name: "records"},
	{name: "cwd"},
	{name: "parent_session"},
	{name: "spawned_by"},
	{name: "media"},
	{name: "base"},
}

var harnessFields = []field{{"name", '"'}, {"version", '"'}}

func (d *Decoder) harness(members []jsonscan.Member) *Harness {
	var buf [2]found
	f := find(buf[:], members, harnessFields)
	h := &Harness{Name: d.text(f[0]), Version: d.text(f[1])}
	for i := range members {
		m := &members[i]
		if !match(f, m, harnessFields) {
			h.Unknown = d.append(h.Unknown, m)
		}
	}
	return h
}
