package repair

import (
	"bytes"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/source"
)

// shape knows what entries look like in a file. Nothing of the object is kept.
type shape struct {
	format *source.Format // nil before the header is known
	scan   jsonscan.Scanner
}

// header recognises the first object of a file. The error says why it is not a usable header; invalid is what else is wrong
// with one that is.
func (s *shape) header(object []byte, line int) (h *format.Header, invalid, err error) {
	for _, f := range source.Formats() {
		if !f.Detect(object) {
			continue
		}
		s.format = &f
		if f.Name != source.AgentSession.Name {
			return nil, nil, nil
		}
		if h, err = format.DecodeHeader(object); h == nil {
			return nil, nil, err
		}
		return h, err, nil
	}
	return nil, nil, &source.UnknownFormatError{Line: line}
}

// entry judges an object behind broken bytes. Those of the Agent Session Format have what every entry has (A.3), which no
// item, request or tool has, or are headers; of other formats it is only known that they are objects. Zero bytes in it may
// have wiped out where one object ended and the next began.
func (s *shape) entry(object []byte, nested bool) bool {
	if bytes.IndexByte(object, 0) >= 0 || s.scan.Scan(object, "") != nil {
		return false
	}
	if s.format != nil && s.format.Name != source.AgentSession.Name {
		return !nested && len(s.scan.Members) > 0
	}
	return s.envelope() || source.AgentSession.Detect(object)
}

// envelope tells whether the object scanned last has the members of every entry.
func (s *shape) envelope() bool {
	var has [4]bool
	for _, m := range s.scan.Members {
		kind := jsonscan.Kind(m.Value)
		text := kind == '"' && len(m.Value) > 2
		switch string(m.Name) {
		case "type":
			has[0] = text
		case "id":
			has[1] = text
		case "parent":
			has[2] = text || kind == 'n'
		case "ts":
			has[3] = text
		}
	}
	return has == [4]bool{true, true, true, true}
}

// maxLabel is how many characters are shown of a type or an id.
const maxLabel = 64

// label returns the type and the id of the object scanned last, as far as it has them.
func (s *shape) label() (typ, id string) {
	for _, m := range s.scan.Members {
		switch string(m.Name) {
		case "type":
			typ = short(m.Value)
		case "id", "uuid":
			id = short(m.Value)
		}
	}
	return typ, id
}

func short(raw []byte) string {
	text, ok := jsonscan.String(raw)
	if !ok {
		return ""
	}
	n := 0
	for i := range text {
		if n == maxLabel {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

func (s *shape) agentSession() bool { return s.format.Name == source.AgentSession.Name }
