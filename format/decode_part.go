package format

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// The objects inside entries. What is of the wrong kind inside one of them is not worth losing an entry: it is left out
// of the fields and stays in the raw value, or among the unknown members.

var itemViewFields = []field{{"type", '"'}, {"role", '"'}, {"call_id", '"'}, {"name", '"'}}

// lineItem is item for the member "item", which the scan of the line has opened already.
func (d *Decoder) lineItem(f found) Item {
	if jsonscan.Kind(f.raw) != '{' {
		return d.item(f)
	}
	return d.itemView(f, d.line.Nested)
}

// item decodes a payload item that the entry cannot do without.
func (d *Decoder) item(f found) Item {
	switch {
	case f.null():
		d.complain(f.at, "%q is missing", f.name)
	case d.isObject(f):
		d.scan(&d.part, f.raw, "")
		return d.itemView(f, d.part.Members)
	}
	d.unusable = true
	return Item{}
}

func (d *Decoder) itemView(f found, members []jsonscan.Member) Item {
	item := d.view(f.raw, members)
	if item.Type == "" {
		d.complain(f.at, "%q has no type", f.name)
		d.unusable = true
	}
	return item
}

func (d *Decoder) view(raw []byte, members []jsonscan.Member) Item {
	var buf [4]found
	v := find(buf[:], members, itemViewFields)
	return Item{Raw: raw, Type: d.text(v[0]), Role: d.text(v[1]), CallID: d.text(v[2]), Name: d.text(v[3])}
}

// items decodes pinned items. No file is refused over them (C.2), so one may have no type.
func (d *Decoder) items(f found) []Item {
	var items []Item
	for element := range jsonscan.Elements(f.raw) {
		if d.isFull(f, len(items)) {
			return nil
		}
		d.scan(&d.part, element, "")
		items = append(items, d.view(element, d.part.Members))
	}
	return items
}

// scan finds the members of a value that is part of a scanned line; no members when it is no object.
func (d *Decoder) scan(s *jsonscan.Scanner, raw []byte, nest string) {
	if jsonscan.Kind(raw) != '{' {
		s.Members, s.Nested = s.Members[:0], s.Nested[:0]
		return
	}
	_ = s.Scan(raw, nest) // it has been scanned as part of the line
}

var (
	usageFields = []field{
		{"input_tokens", '0'},
		{"output_tokens", '0'},
		{"total_tokens", '0'},
		{"input_tokens_details", '{'},
		{"output_tokens_details", '{'},
	}
	inputDetailFields  = []field{{"cached_tokens", '0'}, {"cache_creation_tokens", '0'}, {"cache_creation_1h_tokens", '0'}}
	outputDetailFields = []field{{"reasoning_tokens", '0'}}
)

func (d *Decoder) usage(f found) *Usage {
	if f.null() {
		return nil
	}
	u := &Usage{Raw: f.raw}
	if !d.isObject(f) {
		return u
	}
	counts := make([]int64, 0, 7) // one allocation for all of them
	count := func(f found) *int64 {
		n, ok := jsonscan.Int64(f.raw)
		if !ok || n < 0 {
			return nil
		}
		counts = append(counts, n)
		return &counts[len(counts)-1]
	}
	var buf [5]found
	d.scan(&d.part, f.raw, "")
	v := find(buf[:], d.part.Members, usageFields)
	u.InputTokens, u.OutputTokens, u.TotalTokens = count(v[0]), count(v[1]), count(v[2])
	var detail [3]found
	d.scan(&d.cell, v[3].raw, "")
	in := find(detail[:], d.cell.Members, inputDetailFields)
	u.CachedTokens, u.CacheCreationTokens, u.CacheCreation1hTokens = count(in[0]), count(in[1]), count(in[2])
	d.scan(&d.cell, v[4].raw, "")
	out := find(detail[:], d.cell.Members, outputDetailFields)
	u.ReasoningTokens = count(out[0])
	return u
}

var incompleteFields = []field{{"reason", '"'}}

func (d *Decoder) incomplete(f found) *Incomplete {
	if f.null() {
		return nil
	}
	in := &Incomplete{Raw: f.raw}
	if d.isObject(f) {
		var buf [1]found
		d.scan(&d.part, f.raw, "")
		in.Reason = d.text(find(buf[:], d.part.Members, incompleteFields)[0])
	}
	return in
}

var responseErrorFields = []field{{"type", '"'}, {"code", '"'}, {"message", '"'}}

func (d *Decoder) responseError(f found) *ResponseError {
	if f.null() {
		return nil
	}
	e := &ResponseError{Raw: f.raw}
	if d.isObject(f) {
		var buf [3]found
		d.scan(&d.part, f.raw, "")
		v := find(buf[:], d.part.Members, responseErrorFields)
		e.Type, e.Code, e.Message = d.text(v[0]), d.text(v[1]), d.text(v[2])
	}
	return e
}

// partial returns the members of an optional object for the fields, and all others; ok is false when there is no object.
func (d *Decoder) partial(f found, buf []found, fields []field) (list []found, unknown Members, ok bool) {
	if !d.isObject(f) {
		return nil, nil, false
	}
	d.scan(&d.part, f.raw, "")
	list = find(buf, nil, fields)
	for i := range d.part.Members {
		m := &d.part.Members[i]
		if !match(list, m, fields) {
			unknown = d.append(unknown, m)
		}
	}
	return list, unknown, true
}

var triggerFields = []field{{"kind", '"'}, {"ref", '"'}, {"source", '"'}}

func (d *Decoder) trigger(f found) *Trigger {
	var buf [3]found
	v, unknown, ok := d.partial(f, buf[:], triggerFields)
	if !ok {
		return nil
	}
	return &Trigger{Kind: d.text(v[0]), Ref: d.text(v[1]), Source: d.text(v[2]), Unknown: unknown}
}

var vcsFields = []field{{"system", '"'}, {"revision", '"'}, {"dirty", 't'}}

func (d *Decoder) vcs(f found) *VCS {
	var buf [3]found
	v, unknown, ok := d.partial(f, buf[:], vcsFields)
	if !ok {
		return nil
	}
	var dirty *bool
	if b, ok := jsonscan.Bool(v[2].raw); ok {
		dirty = &b
	}
	return &VCS{System: d.text(v[0]), Revision: d.text(v[1]), Dirty: dirty, Unknown: unknown}
}

var workspaceFields = []field{{"kind", '"'}, {"ref", '"'}}

func (d *Decoder) workspace(f found) *Workspace {
	var buf [2]found
	v, unknown, ok := d.partial(f, buf[:], workspaceFields)
	if !ok {
		return nil
	}
	return &Workspace{Kind: d.text(v[0]), Ref: d.text(v[1]), Unknown: unknown}
}

var fileHashesFields = []field{{"read", '{'}, {"written", '{'}}

func (d *Decoder) fileHashes(f found) *FileHashes {
	var buf [2]found
	v, unknown, ok := d.partial(f, buf[:], fileHashesFields)
	if !ok {
		return nil
	}
	return &FileHashes{Read: d.textMap(v[0].raw), Written: d.textMap(v[1].raw), Unknown: unknown}
}

// textMap returns the strings of an object; nil when it is none.
func (d *Decoder) textMap(raw []byte) map[string]string {
	if jsonscan.Kind(raw) != '{' {
		return nil
	}
	d.scan(&d.cell, raw, "")
	texts := make(map[string]string, len(d.cell.Members))
	for _, m := range d.cell.Members {
		if jsonscan.Kind(m.Value) == '"' {
			texts[string(m.Name)], _ = d.words.unquote(m.Value)
		}
	}
	return texts
}

// members returns an optional object as its members.
func (d *Decoder) members(f found) Members {
	_, members, ok := d.partial(f, nil, nil)
	if ok && members == nil {
		members = Members{}
	}
	return members
}

// values returns the elements of an optional array.
func (d *Decoder) values(f found) []jsontext.Value {
	if !d.is(f, '[', "an array") {
		return nil
	}
	values := []jsontext.Value{}
	for element := range jsonscan.Elements(f.raw) {
		if d.isFull(f, len(values)) {
			return nil
		}
		values = append(values, element)
	}
	return values
}
