package source

import (
	"cmp"
	"hash/maphash"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// Claude is the session file of Claude Code, and that of one of its agents.
var Claude = Format{
	Name:       "claude-code",
	Looks:      `lines {"type":"…","sessionId":"…",…}`,
	Detect:     detectClaude,
	New:        func(at Place) Decoder { return newClaudeSession(at) },
	LateHeader: true,
	EntrySize:  claudeEntrySize,
}

// detectClaude knows a file by its first line, which may be one of those that are no entry: two kinds of them do not name the session.
func detectClaude(first []byte) bool {
	var r claudeReader
	e, err := r.read(first)
	if err != nil || e.typ == "" || e.raw("format") != nil {
		return false
	}
	switch e.typ {
	case "summary":
		return e.raw("leafUuid") != nil
	case "file-history-snapshot":
		return e.raw("snapshot") != nil
	}
	return e.session != ""
}

// claudeSession decodes a file of Claude Code. A message of the model is spread over several lines, of which only a later one
// tells that it was the last, and there is no record of the turns: both are found along the chain of parents.
type claudeSession struct {
	at     Place
	bare   bool // only what the file says of other ones is wanted
	reader claudeReader
	block  jsonscan.Scanner // of a part of the line
	part   jsonscan.Scanner // of a part of that

	id     string // of the session
	agent  string // of the agent whose file it is, "" for none
	begun  bool
	title  string // given before the first entry
	name   string // given last
	mode   string // of permissions, in force
	cwd    string // as the line before had it; so are the next two
	branch string
	build  string

	seed     maphash.Seed
	places   map[uint64]int32            // by the hash of the entry's uuid
	place    []claudePlace               // number 0 is that of no entry
	turns    []claudeTurn                // number 0 is what comes before the first prompt
	runs     []*claudeRun                // number 0 is none
	quiet    int                         // how many of them had begun when it was silent last
	chains   []*claudeChain              // the session's own, and those of the agents whose work is in its file
	inner    int32                       // of those, the one that was added to last; 0 for none
	open     map[*claudeMessage]struct{} // those of all chains
	tasks    map[uint64][]*claudeCall    // the calls that may spawn an agent in the file, by their tasks
	over     map[uint64]struct{}         // the ids of the messages that were completed, as hashes
	calls    map[string]*claudeCall
	spawns   map[string]*claudeSpawn // by the id of the call; those of a bare session only
	launched []claudeLaunch          // agents in the background whose files have not been looked for
	kinds    map[string]bool         // those of lines of which nothing is known

	copy claudeCopy
	last time.Time // of the last entry that has a time

	emit  func(*activity.Event)
	event activity.Event
	main  activity.Event // the last entry of the session's own, by its next part
}

// claudePlace is what the path to an entry has brought about, as far as later entries need it.
type claudePlace struct {
	input int64 // when the newest input came, or the model wrote last, in nanoseconds; 0 for never
	turn  int32
	run   int32
	said  int32 // how many lines the model has written on the path
	msg   int32 // the number of the message that began last
	chain int32
	await int32 // the number of what may begin a run, if the model answers it, in its chain; 0 for nothing
	heard bool  // the newest input is a result, and those of one batch may come in any order
}

// claudeEntrySize is about what is held of an entry, in bytes: its place and the way to it.
const claudeEntrySize = 120

// claudeTurn is what hangs from one prompt, up to the next.
type claudeTurn struct {
	tip int32 // the place of the last entry
	key string
}

// claudeChain is a tree of entries: that of a session, all of which its file may hold several.
type claudeChain struct {
	within  string           // the id of the session when that is not the one of the file
	tip     int32            // the entry that was read last
	open    []*claudeMessage // that are not known to be complete
	awaits  []claudeAwait
	agent   string // what agent it is, "" for the session's own
	retries int64  // requests that failed since the last message
}

func newClaudeSession(at Place) *claudeSession {
	return &claudeSession{
		at: at, seed: maphash.MakeSeed(), places: map[uint64]int32{}, place: make([]claudePlace, 1), turns: make([]claudeTurn, 1),
		runs: make([]*claudeRun, 1), chains: []*claudeChain{{awaits: make([]claudeAwait, 1)}}, over: map[uint64]struct{}{},
		open: map[*claudeMessage]struct{}{}, tasks: map[uint64][]*claudeCall{},
		calls: map[string]*claudeCall{}, kinds: map[string]bool{},
	}
}

func (d *claudeSession) Decode(l lines.Line, emit func(*activity.Event)) error {
	if l.TooLong() {
		return &format.DamageError{Err: format.ErrLineTooLong, Data: l.Data}
	}
	e, err := d.reader.read(l.Data)
	if err != nil {
		return err
	}
	d.emit = emit
	defer func() { d.emit = nil }()
	switch {
	case !d.begun && !e.chained:
		d.heading(e)
		return nil
	case !d.begun:
		if err := d.begin(e, l); err != nil {
			return err
		}
	case !e.chained:
		d.aside(e, l)
		return nil
	}
	d.entry(e, l)
	return nil
}

// heading keeps what a line says that stands before the first entry.
func (d *claudeSession) heading(e *claudeLine) {
	d.id = cmp.Or(d.id, e.session)
	if title := d.titleIn(e); title != "" {
		d.title = title
	}
	if e.typ == "permission-mode" {
		d.mode = e.text("permissionMode")
	}
}

// begin says what session it is, by its first entry.
func (d *claudeSession) begin(e *claudeLine, l lines.Line) error {
	s := &activity.Session{Format: Claude.Name, Harness: Claude.Name, Loose: true}
	d.cwd, d.branch, d.build = e.text("cwd"), e.text("gitBranch"), e.text("version")
	s.CWD, s.Version = d.cwd, d.build
	if mode := e.text("permissionMode"); mode != "" {
		d.mode = mode
	}
	for _, a := range []struct{ name, value string }{
		{"session.git_branch", d.branch},
		{"session.entrypoint", e.text("entrypoint")},
		{"session.permission_mode", d.mode},
		{"session.slug", e.text("slug")},
	} {
		if a.value != "" {
			s.Attributes = append(s.Attributes, activity.Attribute{Name: a.name, Value: a.value})
		}
	}
	s.Created = e.time
	d.id = d.idOf(e)
	if d.id == "" {
		return &format.DamageError{Err: format.ErrNoHeader, Detail: "neither the line nor the name of the file says what session it is", Data: l.Data}
	}
	if err := d.spawned(s, e, l); err != nil {
		return err
	}
	if err := d.copied(s, e); err != nil {
		return err
	}
	s.ID = d.id
	d.begun = true
	d.emit(&activity.Event{Line: l.Number, Offset: l.Offset, Fact: s})
	return nil
}

// idOf is the id of the session of the file: the file's name, which copied lines do not change, else what its lines say.
func (d *claudeSession) idOf(e *claudeLine) string {
	stem := claudeStem(d.at.Path)
	if isUUID(stem) {
		return stem
	}
	return cmp.Or(e.session, d.id, stem)
}

// claudeStem is the name of a file without its endings.
func claudeStem(path string) string {
	if path == "" {
		return ""
	}
	name := filepath.Base(path)
	for _, ending := range []string{".zst", ".gz", ".jsonl"} {
		if n := len(name) - len(ending); n > 0 && strings.EqualFold(name[n:], ending) {
			name = name[:n]
		}
	}
	return name
}

// entry takes a line that has a place in the tree.
func (d *claudeSession) entry(e *claudeLine, l lines.Line) {
	h := d.hash(e.uuid)
	if d.places[h] != 0 {
		return // some versions write every copied line twice
	}
	if !e.time.IsZero() {
		if !d.last.IsZero() && e.time.Sub(d.last) >= activity.Silence {
			d.Flush(Silence, d.emit)
		}
		d.last = e.time
	}
	d.event = activity.Event{Key: e.uuid, Time: e.time, Line: l.Number, Offset: l.Offset}
	kind, first := claudePrompt, []byte(nil)
	if e.typ == "user" {
		kind, first = e.input(&d.block)
	}
	d.event.Owner = d.copy.ownerOf(e, d.id, d.agent != "")
	up, branch := d.parentOf(e, kind)
	chain := d.place[up].chain
	if up == 0 && e.sidechain && d.agent == "" {
		chain = d.agentHere(e, first, l)
	}
	d.event.Within = d.chains[chain].within

	n := int32(len(d.place))
	d.place = append(d.place, d.place[up])
	p := &d.place[n]
	if p.chain != chain {
		p.chain, p.turn = chain, d.newTurn()
	}
	if chain != 0 {
		d.inner = chain
	}
	d.places[h] = n
	d.enters(e, kind, n, up)

	switch e.typ {
	case "user":
		d.user(e, kind, first, n, branch)
	case "assistant":
		d.assistant(e, n)
	case "system":
		d.system(e, n)
	case "attachment":
		d.attachment(e, n)
	case "progress":
		d.progress(e)
	default:
		d.unknown(e.typ)
	}
	if d.event.Part == 0 {
		d.say(nil)
	}
	d.tip(n, e.uuid)
}

// tip has an entry be the last of its chain and of its turn.
func (d *claudeSession) tip(n int32, key string) {
	p := &d.place[n]
	d.chains[p.chain].tip = n
	d.turns[p.turn] = claudeTurn{tip: n, key: key}
	if r := d.runs[p.run]; r != nil && !d.event.Time.IsZero() {
		r.last = d.event.Time
	}
	if p.chain == 0 {
		d.surroundings()
		d.main = d.event
	}
}

func (d *claudeSession) newTurn() int32 {
	d.turns = append(d.turns, claudeTurn{})
	return int32(len(d.turns) - 1)
}

// parentOf finds the entry that an entry goes on from, and whether that is a branch: something that a person went back to. The results of tools
// that ran side by side each hang from their own call, and in the chain here from one another. An entry whose parent is not there
// goes on from the one before it.
func (d *claudeSession) parentOf(e *claudeLine, kind claudeInput) (up int32, branch bool) {
	own := int32(0)
	if e.parent != "" {
		own = d.places[d.hash(e.parent)]
	}
	boundary := e.typ == "system" && e.text("subtype") == "compact_boundary"
	if logical := e.text("logicalParentUuid"); own == 0 && boundary && logical != "" {
		own = d.places[d.hash(logical)]
	}
	person := e.typ == "user" && (kind == claudePrompt || kind == claudeCommand)
	if own == 0 {
		chain := d.chains[0]
		if e.sidechain && d.agent == "" {
			if e.parent == "" || d.inner == 0 {
				return 0, false // an agent begins
			}
			chain = d.chains[d.inner]
		}
		if e.parent == "" && person && chain.tip != 0 && d.place[chain.tip].said > 0 {
			return 0, true // the first prompt was written anew
		}
		d.event.Parent = d.turns[d.place[chain.tip].turn].key
		return d.turns[d.place[chain.tip].turn].tip, false
	}
	p := &d.place[own]
	turn := d.turns[p.turn]
	tip := d.chains[p.chain].tip
	switch {
	case person && d.place[turn.tip].said == p.said, !person:
		d.event.Parent = turn.key
		return turn.tip, turn.tip != tip
	default:
		d.event.Parent = e.parent
		return own, own != tip
	}
}

// say emits what the entry says, at its own time.
func (d *claudeSession) say(f activity.Fact) {
	d.event.Fact = f
	d.emit(&d.event)
	d.event.Part++
}

// sayAt emits what the entry says of another time. The first event of an entry has the time of the entry.
func (d *claudeSession) sayAt(t time.Time, f activity.Fact) {
	if d.event.Part == 0 {
		d.say(nil)
	}
	own := d.event.Time
	if !t.IsZero() {
		d.event.Time = t
	}
	d.say(f)
	d.event.Time = own
}

// Flush completes the messages of which no later line tells that they are.
func (d *claudeSession) Flush(why Why, emit func(*activity.Event)) {
	if why != Silence {
		d.empty(emit)
		return
	}
	defer func(e func(*activity.Event)) { d.emit = e }(d.emit)
	d.emit = emit
	list := slices.SortedFunc(maps.Keys(d.open), func(a, b *claudeMessage) int { return cmp.Compare(a.number, b.number) })
	for _, m := range list {
		d.settle(m)
	}
	for _, r := range d.runs[min(d.quiet, len(d.runs)):] {
		if r != nil {
			r.over = true // what was going on has ended; what comes later opens it again
		}
	}
	d.quiet = len(d.runs)
}

// empty says what session a file is of in which nothing has been done yet.
func (d *claudeSession) empty(emit func(*activity.Event)) {
	id := claudeStem(d.at.Path)
	if !isUUID(id) {
		id = d.id
	}
	if d.begun || id == "" {
		return
	}
	d.begun, d.id = true, id
	emit(&activity.Event{Line: 1, Fact: &activity.Session{ID: id, Format: Claude.Name, Harness: Claude.Name, Loose: true}})
}

func (d *claudeSession) hash(key string) uint64 { return maphash.String(d.seed, key) }
