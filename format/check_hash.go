package format

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// request rebuilds the request behind a response, whose path so far has that view, and compares its hash.
func (c *checker) request(e *ResponseEntry, v view) {
	if e.RequestHash == "" {
		c.result.NoHash++
		return
	}
	c.result.Hashes++
	v, gone := v.withoutOutputs(e.ResponseID)
	first := 0
	if v.fold != nil {
		place, ok := c.place(v.fold.entry.FirstKept)
		if !ok || place >= v.fold.place || gone >= 0 && place >= gone && c.isOutput(place, e.ResponseID) {
			c.found(fmt.Errorf("%w: the request of the response cannot be rebuilt", ErrFirstKept))
			return
		}
		first = place
	}
	rebuilt, err := c.hashes.hash(v, first)
	if err == nil {
		err = compareHash(e.RequestHash, rebuilt)
	}
	c.found(err)
}

// isOutput reports whether the entry at a place on the path is an output of a response.
func (c *checker) isOutput(place int, responseID string) bool {
	item, ok := c.s.rows[c.path[place]].entry.(*ItemEntry)
	return ok && item.ResponseID == responseID
}

// withoutOutputs returns the view without the output items of a response at its end, as the function of that name does to a
// path, and the place of the first of them, or -1.
func (v view) withoutOutputs(responseID string) (view, int) {
	if responseID == "" || v.last == nil || v.last.responseID() != responseID {
		return v, -1
	}
	v.last = v.last.bare
	if v.last == nil || v.last.nearest == nil {
		return v, 0
	}
	return v, v.last.nearest.place + 1
}

// requestHasher computes the hashes of requests that have their beginning in common, as those of a session have: the state of
// the hash after an item is kept where a request ended, and the next request goes on from there.
//
// In canonical form the members of a request are sorted, and those before "input" are normally few. So a hash has a head, what
// stands before the items, then the items, then a tail.
type requestHasher struct {
	settings map[*Settings]*frame
	states   map[stateKey]map[*contribution]*itemState
}

// frame is what stands around the items of a request in canonical form.
type frame struct {
	head, tail string
	dropped    func(*contribution) string
	err        error
}

// stateKey is what the state after an item depends on beside the items.
type stateKey struct {
	head  string
	fold  *CompactionEntry // begins the items, or nil
	model string           // when items are left out by it
	omit  Omit
}

type itemState struct {
	hash  hash.Hash
	items int
}

// maxStates bounds for how many kinds of requests states are kept. A session has one, and another for each change of settings.
const maxStates = 16

func newRequestHasher() *requestHasher {
	return &requestHasher{settings: map[*Settings]*frame{}, states: map[stateKey]map[*contribution]*itemState{}}
}

// hash returns the request hash of a view whose items begin at a place on the path.
func (h *requestHasher) hash(v view, first int) (string, error) {
	settings := v.settings()
	f := h.frame(settings)
	if f.err != nil {
		return "", f.err
	}
	key := stateKey{head: f.head}
	if v.fold != nil {
		key.fold = v.fold.entry
	}
	if f.dropped != nil {
		key.model, key.omit = settings.Model, settings.Omit
	}
	state, err := h.state(key, f, v, first)
	if err != nil {
		return "", err
	}
	if state.items == 0 { // then there is no member "input"
		return h.hashNone(settings)
	}
	sum, err := clone(state.hash)
	if err != nil {
		return "", err
	}
	sum.Write([]byte("]" + f.tail))
	return HashPrefix + hex.EncodeToString(sum.Sum(nil)), nil
}

func (h *requestHasher) hashNone(s *Settings) (string, error) {
	req, err := s.Request(nil)
	if err != nil {
		return "", err
	}
	return req.Hash()
}

// frame computes what the settings put around the items.
func (h *requestHasher) frame(s *Settings) *frame {
	if f := h.settings[s]; f != nil {
		return f
	}
	if len(h.settings) >= maxStates {
		clear(h.settings)
	}
	f := &frame{dropped: s.dropped()}
	h.settings[s] = f
	req, err := s.Request(nil)
	if err != nil {
		f.err = err
		return f
	}
	canonical, err := req.Canonical()
	if err != nil {
		f.err = err
		return f
	}
	var scan jsonscan.Scanner
	if f.err = scan.Scan(canonical, ""); f.err != nil {
		return f
	}
	const items = `"input":[`
	head, tail := []byte("{"), []byte(nil)
	for i := range scan.Members {
		m := &scan.Members[i]
		end := m.Offset + len(m.Value)
		start := 1
		if i > 0 {
			last := scan.Members[i-1]
			start = last.Offset + len(last.Value) + 1
		}
		switch text, name := canonical[start:end], string(m.Name); {
		case name < "input":
			head = append(append(head, text...), ',')
		case name > "input":
			tail = append(append(tail, ','), text...)
		}
	}
	f.head, f.tail = string(head)+items, string(tail)+"}"
	return f
}

// state returns the state of the hash after the last item of the view.
func (h *requestHasher) state(key stateKey, f *frame, v view, first int) (*itemState, error) {
	states := h.states[key]
	if states == nil {
		if len(h.states) >= maxStates {
			clear(h.states)
		}
		states = map[*contribution]*itemState{}
		h.states[key] = states
	}
	var todo []*contribution
	var state *itemState
	for c := v.last; c != nil && c.place >= first && state == nil; c = c.before {
		if state = states[c]; state == nil {
			todo = append(todo, c)
		}
	}
	var next itemState
	var err error
	if state == nil {
		next, err = begin(f.head, v.fold)
	} else {
		next.items = state.items
		next.hash, err = clone(state.hash)
	}
	if err != nil {
		return nil, err
	}
	for _, c := range slices.Backward(todo) {
		if f.dropped != nil && f.dropped(c) != "" {
			continue
		}
		if err := next.writeAgain(c); err != nil {
			return nil, fmt.Errorf("item of %.100s: %w", c.entry.Base().ID, err)
		}
	}
	if v.last != nil && v.last.place >= first {
		states[v.last] = &next
	}
	return &next, nil
}

// begin starts a hash with the head and what a compaction puts in front.
func begin(head string, fold *compaction) (itemState, error) {
	state := itemState{hash: sha256.New()}
	state.hash.Write([]byte(head))
	if fold == nil {
		return state, nil
	}
	for _, item := range append([]Item{fold.entry.Summary}, fold.entry.Pinned...) {
		if err := state.write(item); err != nil {
			return state, fmt.Errorf("item of %.100s: %w", fold.entry.ID, err)
		}
	}
	return state, nil
}

// writeAgain is write for an item that may come in many requests whose beginnings differ.
func (s *itemState) writeAgain(c *contribution) error {
	if c.text != nil {
		s.put(c.text)
		return nil
	}
	canonical, err := openresponses.CanonicalJSON(c.item.Raw)
	if err != nil {
		return err
	}
	if c.uses++; c.uses > 1 {
		c.text = canonical
	}
	s.put(canonical)
	return nil
}

func (s *itemState) write(item Item) error {
	canonical, err := openresponses.CanonicalJSON(item.Raw)
	if err != nil {
		return err
	}
	s.put(canonical)
	return nil
}

func (s *itemState) put(canonical []byte) {
	if s.items > 0 {
		s.hash.Write([]byte{','})
	}
	s.hash.Write(canonical)
	s.items++
}

func clone(h hash.Hash) (hash.Hash, error) {
	cloner, ok := h.(hash.Cloner)
	if !ok {
		return nil, fmt.Errorf("the SHA-256 of this build cannot be copied")
	}
	return cloner.Clone()
}
