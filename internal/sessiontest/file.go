package sessiontest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// file is a session being written.
type file struct {
	o      Options
	r      *rand.Rand
	prose  prose
	id     string
	parent *file
	// spawnedBy is the call of parent that this session does the work of.
	spawnedBy string

	out   io.Writer
	err   error // of out
	size  int64
	enc   encoder
	now   time.Time
	limit int // the most entries, or 0

	nodes []node
	ids   map[string]bool
	calls []*call
	runs  []*run
	tips  []int // leaves that were left for a branch
	mark  int   // the target of the leaf label in force, or -1
	since int   // the entry of that label
	chats int
	kids  []*file
	truth Truth
}

// node is one entry in the ledger.
type node struct {
	id        string
	parent    int // index, or -1
	children  bool
	leafLabel bool
	// item is what the entry gives to the context, or nil; firstKept is the index that a compaction names, else -1.
	item      any
	firstKept int
	// pinned are items that a compaction keeps; reasoning is one that a response gave.
	pinned             list
	reasoning, summary bool // summary: of a branch
	state              state
}

func newFile(out io.Writer, r *rand.Rand, o Options, now time.Time) *file {
	f := &file{o: o, r: r, out: out, now: now, mark: -1, ids: map[string]bool{}, prose: randomProse{o.TextSize}}
	f.truth = Truth{ByType: map[string]int{}, States: map[string]string{}}
	f.id = f.uuid7()
	if o.Spellings {
		f.enc.vary = r
	}
	f.enc.canonical = o.Minor >= hashedIDs
	if o.Interrupted && f.oneIn(2) {
		f.limit = o.Entries
	}
	return f
}

// oneIn is true once in n times.
func (f *file) oneIn(n int) bool { return f.r.IntN(n) == 0 }

// wait lets up to d pass, and at least half of it.
func (f *file) wait(d time.Duration) {
	f.now = f.now.Add(d/2 + time.Duration(f.r.Int64N(int64(d/2)+1)))
}

// full says that the file is to end here.
func (f *file) full() bool { return f.limit > 0 && len(f.nodes) >= f.limit || f.err != nil }

// uuid7 returns a session id that is as old as the session.
func (f *file) uuid7() string {
	ms := uint64(f.now.UnixMilli())
	return fmt.Sprintf("%08x-%04x-7%03x-%04x-%012x", ms>>16, ms&0xffff, f.r.IntN(1<<12), 0x8000|f.r.IntN(1<<14),
		f.r.Uint64()>>16)
}

// subsessionID returns the id of the session that a call spawns (A.13).
func subsessionID(parent, callID string) string {
	h := sha1.New()
	h.Write(make([]byte, 16))
	io.WriteString(h, parent+"/"+callID)
	b := h.Sum(nil)[:16]
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	s := hex.EncodeToString(b)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// newID returns an entry id.
func (f *file) newID() string {
	for {
		if id := fmt.Sprintf("%08x", f.r.Uint32()); !f.ids[id] {
			f.ids[id] = true
			return id
		}
	}
}

// stamp spells a time.
func (f *file) stamp(t time.Time) string {
	if f.o.Minor >= hashedIDs {
		return t.UTC().Format(time.RFC3339Nano)
	}
	if f.o.Spellings {
		switch f.r.IntN(8) {
		case 0:
			return t.In(time.FixedZone("", (f.r.IntN(25)-12)*3600)).Format("2006-01-02T15:04:05.000Z07:00")
		case 1:
			return t.Truncate(time.Second).Format(time.RFC3339)
		case 2:
			return t.Add(time.Duration(f.r.IntN(1e6))).Format("2006-01-02T15:04:05.000000000Z07:00")
		}
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}

// header writes the first line.
func (f *file) header() {
	o := object{
		{"type", "session"},
		{"format", fmt.Sprintf("agentsession/0.%d", f.o.Minor)},
		{"id", f.id},
		{"created_at", f.stamp(f.now)},
		{"payload", "openresponses/2026-04-24"},
	}
	if !f.oneIn(8) {
		o = o.with("harness", object{{"name", "acme-coder"}, {"version", "1.4.0"}})
	}
	if f.o.Records {
		records := list{"run", "dispatch", "decision"}
		if f.o.Minor >= queues {
			records = append(records, "queued")
		}
		o = o.with("records", records)
	} else if f.oneIn(3) {
		o = o.with("records", list{})
	}
	if !f.oneIn(8) {
		o = o.with("cwd", "/home/ada/ledgerly")
	}
	if f.parent != nil {
		o = append(o, member{"parent_session", f.parent.id}, member{"spawned_by", f.spawnedBy})
	}
	if f.oneIn(8) {
		o = o.with("media", "inline")
	}
	f.line(f.extend(o))
}

// extend adds members that the format does not define.
func (f *file) extend(o object) object {
	if !f.o.Extensions || !f.oneIn(6) {
		return o
	}
	return o.with("acme_"+[]string{"seat", "region", "größe"}[f.r.IntN(3)], f.anything(2))
}

// anything returns any value, nested up to depth.
func (f *file) anything(depth int) any {
	switch k := f.r.IntN(8); {
	case k < 2 && depth > 0:
		return object{{"z", f.anything(depth - 1)}, {"a", f.anything(depth - 1)}, {"", nil}}
	case k < 4 && depth > 0:
		return list{f.anything(depth - 1), true, f.anything(depth - 1)}
	case k < 6 && f.o.Minor >= hashedIDs:
		return raw([]string{"1.5", "100", "-3", "0.25", "[]", "{}", "false"}[f.r.IntN(7)])
	case k < 6:
		return raw([]string{"1.50", "1e2", "-0.0", "12345678901234567890", "2.5E-7", "[]", "{}", `"\u00E9\/"`}[f.r.IntN(8)])
	default:
		return phrase(f.r, 12)
	}
}

// line writes one line.
func (f *file) line(o object) {
	if f.err != nil {
		return
	}
	f.enc.b = f.enc.b[:0]
	f.enc.value(o)
	f.enc.b = append(f.enc.b, '\n')
	n, err := f.out.Write(f.enc.b)
	f.size, f.err = f.size+int64(n), err
}

// pen writes entries one below the other.
type pen struct {
	f *file
	// at is the index of the leaf, or -1 before a root.
	at int
	// yield, when set, is called after each entry; when it returns false the pen is dry.
	yield func(struct{}) bool
	// dry: nothing more is written. It lets a turn come to its end when the file has to.
	dry bool
}

func (p *pen) state() *state {
	if p.at < 0 {
		return &state{set: &settings{}}
	}
	s := p.f.nodes[p.at].state
	return &s
}

// append writes an entry, unless the pen is dry; then note, if any, enters in the ledger what the entry means.
func (p *pen) append(typ string, body object, note func(*node)) {
	f := p.f
	if p.dry = p.dry || f.full(); p.dry {
		return
	}
	f.now = f.now.Add(time.Duration(1+f.r.IntN(40)) * time.Millisecond)
	switch {
	case f.o.ClockSteps && f.oneIn(12):
		f.now = f.now.Add(-time.Duration(f.r.Int64N(int64(2 * time.Hour))))
	case f.o.Silences && f.oneIn(50):
		f.wait(6 * 24 * time.Hour)
	}
	n := node{id: f.newID(), parent: p.at, firstKept: -1, state: *p.state()}
	n.state.begun = n.state.begun || typ == "item"
	o := object{{"type", typ}, {"id", n.id}, {"parent", nil}, {"ts", f.stamp(f.now)}}
	if p.at >= 0 {
		o[2].value = f.nodes[p.at].id
		f.nodes[p.at].children = true
		o = f.merge(o, p.at)
	}
	o = f.extend(append(o, body...))
	if f.o.Minor >= hashedIDs {
		n.id = f.hashID(o)
	}
	f.line(o)
	f.truth.Entries++
	f.truth.ByType[typ]++
	if note != nil {
		note(&n)
	}
	if !f.o.Hashes {
		n.item = nil // nobody asks for the context, and the items may be large
	}
	f.nodes = append(f.nodes, n)
	if !n.leafLabel {
		p.at = len(f.nodes) - 1
	}
	if p.yield != nil && !p.yield(struct{}{}) {
		p.dry = true
	}
}

// finish completes the ledger.
func (f *file) finish() {
	t := &f.truth
	for _, c := range f.calls {
		t.Calls = append(t.Calls, c.truth)
	}
	for _, r := range f.runs {
		t.RunTruths = append(t.RunTruths, r.truth)
	}
	for _, n := range f.nodes {
		if n.parent < 0 {
			t.Roots++
		}
		if !n.children && !n.leafLabel {
			t.Leaves = append(t.Leaves, n.id)
		}
	}
	leaf := f.leaf()
	if leaf < 0 {
		return
	}
	t.Leaf = f.nodes[leaf].id
	above := map[string]bool{}
	for i := leaf; i >= 0; i = f.nodes[i].parent {
		above[f.nodes[i].id] = true
	}
	for _, c := range f.calls {
		if !above[c.truth.EntryID] {
			continue
		}
		t.States[c.truth.ID] = "completed"
		if x, ok := f.nodes[leaf].state.find(c); ok {
			t.States[c.truth.ID] = x.callState(f.o.Records && (f.o.Minor < elsewhere || c.truth.HandOffs == 0), f.o.Minor)
		}
	}
}

// leaf returns the index of the entry that a reader goes on from (A.4), or -1 in a file without entries.
func (f *file) leaf() int {
	leaf := len(f.nodes) - 1
	if f.mark >= 0 {
		leaf = f.mark
		for i := f.since + 1; i < len(f.nodes); i++ {
			for up := i; up >= f.mark; up = f.nodes[up].parent {
				if up == f.mark {
					leaf = i
				}
			}
		}
	}
	for leaf >= 0 && f.nodes[leaf].leafLabel {
		leaf = f.nodes[leaf].parent
	}
	return leaf
}
