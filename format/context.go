package format

import (
	"fmt"
	"slices"

	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Context is what a model call at a point on a path receives (A.7).
type Context struct {
	// Settings in force.
	Settings Settings
	// Items are the input of the request: after a compaction its summary, its pinned items and what was kept.
	Items []Item
	// ItemEntries has, for each of Items, the entry that gave it. The summary and pinned items map to the compaction.
	ItemEntries []Entry
	// Entries are those that the context is made from, silent ones included: after a compaction the compaction itself, then
	// what it keeps, then what follows it.
	Entries []Entry
	// Omitted are the items of the path that the request leaves out (C.6).
	Omitted []OmittedItem
}

// OmittedItem is an item that is on the path and not in the request.
type OmittedItem struct {
	Entry *ItemEntry
	// Reason is [OmitOtherModels] or [OmittedByID].
	Reason string
}

// Request returns the canonical request for the context. The error is that of settings which cannot be known.
func (c *Context) Request() (openresponses.Request, error) { return c.Settings.Request(c.Items) }

// BuildContext runs the context algorithm over a path, root first. The header says which minor's rules apply. The error wraps
// [ErrFirstKept].
func BuildContext(path []Entry, h *Header) (*Context, error) {
	v := view{}
	for i, e := range path {
		v = v.add(e, i, h.rules())
	}
	return v.context(path)
}

// Context returns the context at an entry: what a model call appended after it would receive. At "" it is empty. The error
// wraps [ErrNoEntry] or [ErrFirstKept].
func (s *Session) Context(leaf string) (*Context, error) {
	path, err := s.Path(leaf)
	if err != nil {
		return nil, err
	}
	return BuildContext(path, s.header)
}

// RequestContext returns the context of the request that produced a response: the path to its entry without the entry and
// without its output items (A.7; C, 0.3). Records may stand between the outputs, and a response without an id has none.
func (s *Session) RequestContext(response string) (*Context, error) {
	path, err := s.Path(response)
	if err != nil {
		return nil, err
	}
	if len(path) == 0 {
		return nil, fmt.Errorf("%w: %.100q", ErrNoEntry, response)
	}
	e, ok := path[len(path)-1].(*ResponseEntry)
	if !ok {
		return nil, fmt.Errorf("%s is not a response but of type %s", response, path[len(path)-1].EntryType())
	}
	return BuildContext(withoutOutputs(path[:len(path)-1], e.ResponseID), s.header)
}

// withoutOutputs returns the path without the output items at its end that belong to a response.
func withoutOutputs(path []Entry, responseID string) []Entry {
	if responseID == "" {
		return path
	}
	var kept []Entry // behind the outputs, last first
	for i, e := range slices.Backward(path) {
		item, ok := e.(*ItemEntry)
		switch {
		case !ok:
			kept = append(kept, e)
		case item.ResponseID != responseID:
			slices.Reverse(kept)
			return append(slices.Clip(path[:i+1]), kept...)
		}
	}
	slices.Reverse(kept)
	return kept
}

// view is the context at an entry as a value: adding an entry makes another one, which shares with it what they have in
// common. So a whole tree of contexts costs no more than its entries.
type view struct {
	set  *setting // nil when there was none
	last *contribution
	fold *compaction // the last one on the path
}

// setting is an entry that changes the settings, behind those before it. What comes of it all is found when it is asked for.
type setting struct {
	before *setting
	delta  *ConfigEntry     // or
	whole  *CompactionEntry // a checkpoint
	rules  *Rules
	model  string    // in force
	value  *Settings // once it was asked for
}

// settings returns the settings in force.
func (v view) settings() *Settings {
	if v.set == nil {
		return &noSettings
	}
	var deltas []*setting
	var value Settings
	for s := v.set; s != nil; s = s.before {
		if s.value != nil {
			value = *s.value
			break
		}
		if s.whole != nil {
			value = settingsOf(s.whole.Config)
			if !s.rules.Omits {
				value.Omit = Omit{}
			}
			break
		}
		deltas = append(deltas, s)
	}
	if len(deltas) == 0 && v.set.value != nil {
		return v.set.value
	}
	for _, s := range slices.Backward(deltas) {
		if !s.rules.OmittedStays && s.delta.Omitted == nil {
			value.Omitted = nil
		}
		value = value.Apply(s.delta)
		if !s.rules.Omits {
			value.Omit = Omit{} // a member of that name is the harness's own
		}
	}
	v.set.value = &value
	return v.set.value
}

func (v view) model() string {
	if v.set == nil {
		return ""
	}
	return v.set.model
}

// contribution is an item that an entry gives the model, before it those given earlier on the path.
type contribution struct {
	before *contribution
	item   Item
	entry  Entry
	place  int    // of the entry on the path
	model  string // in force when it was written

	nearest *contribution // item that is one or stands before it
	bare    *contribution // the chain without the outputs at its end that belong to the response of the nearest item
	uses    int           // for hashes
	text    []byte        // the item in canonical form, once it was used twice
}

// compaction is one on a path, with its place there.
type compaction struct {
	entry *CompactionEntry
	place int
}

// add returns the view after the next entry of the path, which has that place on it.
func (v view) add(e Entry, place int, r *Rules) view {
	switch e := e.(type) {
	case *ConfigEntry:
		set := &setting{before: v.set, delta: e, rules: r, model: e.Model}
		if set.model == "" && !e.Replace {
			set.model = v.model()
		}
		v.set = set
	case *ItemEntry:
		v.last = v.contribute(e.Item, e, place)
	case *BranchSummaryEntry:
		v.last = v.contribute(e.Summary, e, place)
	case *CompactionEntry:
		model, _ := jsonscan.String(memberOf(e.Config, "model"))
		v.set, v.fold = &setting{whole: e, rules: r, model: model}, &compaction{e, place}
	}
	return v
}

func (v view) contribute(item Item, e Entry, place int) *contribution {
	c := &contribution{before: v.last, item: item, entry: e, place: place, model: v.model()}
	own, isItem := e.(*ItemEntry)
	switch {
	case isItem:
		if c.nearest = c; own.ResponseID == "" {
			break
		}
		c.bare = v.last
		if v.last != nil && v.last.responseID() == own.ResponseID {
			c.bare = v.last.bare
		}
	case v.last != nil:
		c.nearest = v.last.nearest
		if v.last.responseID() != "" {
			again := *c
			again.before = v.last.bare
			again.nearest, again.bare = nil, nil
			if again.before != nil {
				again.nearest = again.before.nearest
			}
			c.bare = &again
		}
	}
	return c
}

// responseID is that of the nearest item, whose output it is; "" for none.
func (c *contribution) responseID() string {
	if c.nearest == nil {
		return ""
	}
	return c.nearest.entry.(*ItemEntry).ResponseID
}

var noSettings Settings

// context builds the context that the view is of, given the path to it.
func (v view) context(path []Entry) (*Context, error) {
	c := &Context{}
	settings := v.settings()
	c.Settings = *settings
	first := 0
	if v.fold != nil {
		e, place := v.fold.entry, v.fold.place
		first = slices.IndexFunc(path[:place], func(e2 Entry) bool { return e2.Base().ID == e.FirstKept })
		if first < 0 {
			return nil, fmt.Errorf("%w: compaction %s keeps from %.100q on", ErrFirstKept, e.ID, e.FirstKept)
		}
		c.Entries = append(c.Entries, e)
		c.Entries = append(c.Entries, path[first:place]...)
		c.Entries = append(c.Entries, path[place+1:]...)
		c.give(e.Summary, e)
		for _, pinned := range e.Pinned {
			c.give(pinned, e)
		}
	} else {
		c.Entries = slices.Clone(path)
	}
	dropped := settings.dropped()
	for _, given := range v.last.since(first) {
		if dropped != nil {
			if reason := dropped(given); reason != "" {
				c.Omitted = append(c.Omitted, OmittedItem{given.entry.(*ItemEntry), reason})
				continue
			}
		}
		c.give(given.item, given.entry)
	}
	return c, nil
}

func (c *Context) give(item Item, from Entry) {
	c.Items = append(c.Items, item)
	c.ItemEntries = append(c.ItemEntries, from)
}

// since lists the contributions from a place on the path on, in order.
func (c *contribution) since(place int) []*contribution {
	var list []*contribution
	for ; c != nil && c.place >= place; c = c.before {
		list = append(list, c)
	}
	slices.Reverse(list)
	return list
}
