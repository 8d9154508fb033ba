package format

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/jsonwrite"
)

// InstructionPart is one of the texts that instructions are composed of (C.1, from minor 3 on).
type InstructionPart struct {
	ID      string
	Text    string
	Source  string
	Unknown Members
}

// Hash returns the hash of the text, by which a later config entry can name the part ([HashBytes]).
func (p InstructionPart) Hash() string { return HashBytes([]byte(p.Text)) }

// HashPrefix precedes the digits of every hash in the format.
const HashPrefix = "sha256:"

// HashBytes returns the content hash of data in the form that the format uses everywhere: [HashPrefix] and the lower-case
// hexadecimal digits of its SHA-256.
func HashBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return HashPrefix + hex.EncodeToString(sum[:])
}

func appendPart(dst []byte, p InstructionPart) []byte {
	var o jsonwrite.Object
	o.Text("id", p.ID)
	o.Text("text", p.Text)
	o.OptionalText("source", p.Source)
	encodeRest(&o, p.Unknown)
	return append(dst, o.Bytes()...)
}

// EncodeParts returns instruction parts as [ConfigEntry.Parts] and a checkpoint hold them, each with its text.
func EncodeParts(parts []InstructionPart) jsontext.Value {
	dst := []byte("[")
	for i, p := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendPart(dst, p)
	}
	return append(dst, ']')
}

// partsSeparator stands between the texts of parts.
const partsSeparator = "\n\n"

// applyInstructions puts a delta's instructions in force. Instructions alone end the composition; beside parts that cannot be
// resolved they stand.
func (s *Settings) applyInstructions(c *ConfigEntry) {
	if c.Parts == nil {
		if c.Instructions != nil {
			s.compose(nil)
			s.text, s.unresolved = *c.Instructions, nil
		}
		return
	}
	parts, err := s.resolveParts(c.Parts)
	switch {
	case err == nil:
		s.compose(parts)
		s.text, s.unresolved = "", nil
	case c.Instructions != nil:
		s.compose(nil)
		s.text, s.unresolved = *c.Instructions, nil
	default:
		s.compose(nil)
		s.text, s.unresolved = "", fmt.Errorf("%w: instructions_parts%s: %w", ErrSettings, of(c.ID), err)
	}
}

// of names an entry in an error, if it has an id yet.
func of(id string) string {
	if id == "" {
		return ""
	}
	return " of " + id
}

// compose puts parts in force, and remembers those that leave it.
func (s *Settings) compose(parts []InstructionPart) {
	texts := map[string]string{}
	for _, p := range parts {
		texts[p.ID] = p.Text
	}
	for _, p := range s.Parts {
		if text, have := texts[p.ID]; !have || text != p.Text {
			s.left = &leftPart{before: s.left, part: p, hash: p.Hash()}
		}
	}
	s.Parts = parts
}

// leftPart is a part that has left force, before it those that did earlier. It can still be named by its hash.
type leftPart struct {
	before *leftPart
	part   InstructionPart
	hash   string
}

// maxPast bounds how many parts, or lists, that were in force earlier are looked at for the one that is meant.
const maxPast = 4096

func (l *leftPart) find(id, hash string) (InstructionPart, bool) {
	for n := 0; l != nil && n < maxPast; l, n = l.before, n+1 {
		if l.part.ID == id && l.hash == hash {
			return l.part, true
		}
	}
	return InstructionPart{}, false
}

// partElement is an element of instructions_parts as written.
type partElement struct {
	id         string
	text, hash *string
	source     *string
	keep       int // -1 for an element with an id
	unknown    Members
}

var partFields = []field{{"id", '"'}, {"text", '"'}, {"hash", '"'}, {"source", '"'}, {"keep", '0'}}

// resolveParts returns the parts that a list names: new texts, texts in force named by hash, and runs of what is in force.
func (s *Settings) resolveParts(list jsontext.Value) ([]InstructionPart, error) {
	elements, err := parseParts(list)
	if err != nil {
		return nil, err
	}
	inForce := map[string]int{}
	for i, p := range s.Parts {
		inForce[p.ID] = i
	}
	named := map[string]bool{}
	for _, e := range elements {
		named[e.id] = named[e.id] || e.keep < 0
	}
	var parts []InstructionPart
	cursor := 0
	for _, e := range elements {
		if e.keep >= 0 {
			if e.keep > len(s.Parts)-cursor {
				return nil, fmt.Errorf("it keeps %d parts where %d are left", e.keep, len(s.Parts)-cursor)
			}
			kept := s.Parts[cursor : cursor+e.keep]
			if i := slices.IndexFunc(kept, func(p InstructionPart) bool { return named[p.ID] }); i >= 0 {
				return nil, fmt.Errorf("it keeps the part %.100q and names it as well", kept[i].ID)
			}
			parts, cursor = append(parts, kept...), cursor+e.keep
			continue
		}
		p := InstructionPart{ID: e.id, Unknown: e.unknown}
		if e.source != nil {
			p.Source = *e.source
		}
		at, have := inForce[e.id]
		if have {
			cursor = at + 1
		}
		switch {
		case e.text != nil:
			p.Text = *e.text
		case e.hash != nil:
			same := InstructionPart{}
			if have && s.Parts[at].Hash() == *e.hash {
				same = s.Parts[at]
			} else if same, have = s.left.find(e.id, *e.hash); !have {
				return nil, fmt.Errorf("no part %.100q has had the hash %s", e.id, *e.hash)
			}
			p.Text = same.Text
			if e.source == nil {
				p.Source = same.Source
			}
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func parseParts(list jsontext.Value) ([]partElement, error) {
	var elements []partElement
	var d Decoder
	for raw := range jsonscan.Elements(list) {
		if len(elements) == maxSettings {
			return nil, fmt.Errorf("it has more than %d elements", maxSettings)
		}
		var buf [5]found
		f, unknown, ok := d.partial(found{name: "instructions_parts", raw: raw}, buf[:], partFields)
		if !ok {
			return nil, fmt.Errorf("element %d is not an object", len(elements))
		}
		for _, m := range unknown {
			if slices.ContainsFunc(partFields, func(f field) bool { return f.name == m.Name }) {
				return nil, fmt.Errorf("element %d has a %.100q of another kind", len(elements), m.Name)
			}
		}
		e := partElement{id: d.text(f[0]), keep: -1, unknown: unknown}
		e.text, e.hash, e.source = d.optionalText(f[1]), d.optionalText(f[2]), d.optionalText(f[3])
		if f[0].raw == nil {
			n, whole := jsonscan.Int64(f[4].raw)
			if !whole || n < 0 || n > maxSettings {
				return nil, fmt.Errorf("element %d has no id and keeps no number of parts", len(elements))
			}
			e.keep = int(n)
		}
		elements = append(elements, e)
	}
	if d.trouble != "" {
		return nil, fmt.Errorf("%s", d.trouble)
	}
	return elements, nil
}

// omittedList is the list of omitted instructions that a config entry put in force, before it those of earlier ones.
type omittedList struct {
	before *omittedList
	config string
	list   []jsontext.Value
}

func (l *omittedList) find(config string) []jsontext.Value {
	for n := 0; l != nil && n < maxPast; l, n = l.before, n+1 {
		if l.config == config {
			return l.list
		}
	}
	return nil
}

var keepFields = []field{{"id", '"'}, {"keep", '0'}, {"of", '"'}}

// applyOmitted puts a delta's list of omitted instructions in force (C.1). An element that keeps what is not there stays as it
// is written: the list is for display.
func (s *Settings) applyOmitted(c *ConfigEntry) {
	if c.Omitted == nil {
		return
	}
	var list []jsontext.Value
	cursors := map[string]int{} // by config entry, "" for the list in force
	var d Decoder
	for raw := range jsonscan.Elements(c.Omitted) {
		if len(list) > maxSettings {
			break // as many are refused
		}
		element := jsontext.Value(raw)
		var buf [3]found
		d.scan(&d.part, raw, "")
		f := find(buf[:], d.part.Members, keepFields)
		n, whole := jsonscan.Int64(f[1].raw)
		if f[0].raw != nil || !whole || n < 0 {
			list = append(list, element)
			continue
		}
		of := d.text(f[2])
		from := s.Omitted
		if of != "" {
			from = s.lists.find(of)
		}
		at := cursors[of]
		if n > int64(len(from)-at) {
			list = append(list, element)
			continue
		}
		list = append(list, from[at:at+int(n)]...)
		cursors[of] = at + int(n)
	}
	s.Omitted = list
	s.lists = &omittedList{before: s.lists, config: c.ID, list: list}
}
