package format

// A minor is one minor version of the format: what it changed, in words, and what of that a program must do otherwise. What
// only added members or entry types is done by decoding them, in whatever file they are found in the form that the minor
// gave them.
type minor struct {
	number  int
	changed string
	set     func(*rules) // nil when nothing has to be done otherwise
}

// minors are the minor versions that this package knows, oldest first. The rules of a file are those of all minors up to its
// own; one that this package does not know yet has those of the newest here ([Header.Unfamiliar]).
var minors = []minor{
	{1, "the beginning: the target of an outcome may be free text", nil},
	{2, "run, dispatch and decision; records; spawned_by; workspaces; pass", func(r *rules) {
		r.outcomeTargets = true
	}},
	{3, "queued inputs, triggers, instruction parts, pinned items; a run's reason reads the path", func(r *rules) {
		r.pathReason, r.latestCall = true, true
	}},
	{4, "parents; nothing is written that names an item elsewhere", func(r *rules) {
		r.parents, r.materialised = true, true
	}},
	{5, "ids are hashes of what they name; canonical lines; base; an append off the leaf leaves it", func(r *rules) {
		r.contentIDs, r.repeats, r.base, r.steadyLeaf = true, true, true, true
	}},
	{6, "triggers on runs; call_id on custom; a proceed promises no dispatch", nil},
	{7, "attempts; kept instruction parts; a part without text is empty", nil},
	{8, "answers; several dispatches; a hold after a dispatch holds; omitted instructions stay in force", func(r *rules) {
		r.answers, r.omittedStays = true, true
	}},
	{9, "a run has the calls that it takes up; its source is checked; what may follow what", func(r *rules) {
		r.takesUp, r.rejected, r.order, r.source = true, true, true, true
	}},
	{10, "a dispatch may stand off the path; usage in custom data is a model call", func(r *rules) {
		r.elsewhere = true
	}},
	{11, "omit; judged_by; parts named by hash when out of force; keep of an earlier list", nil},
}

// rules are what the minors up to a file's own ask for. The functions named are those that ask.
type rules struct {
	outcomeTargets bool // the target of an outcome is an entry (rules.references)
	pathReason     bool // the reason of a run reads the path, not its segment alone (partition)
	latestCall     bool // of two calls with one id the later is meant, and a target goes before the id (book.find)
	parents        bool // merged work is named in order, once, and stands before (checker.named)
	materialised   bool // no item is written that only names another (Session.validate)
	contentIDs     bool // an id is the hash of the entry; lines are canonical (ContentID, Session.encodeHashed)
	repeats        bool // a repeated line is the same entry (Session.add)
	base           bool // the header may have a base; promises begin after it (DecodeHeader, checker.records)
	steadyLeaf     bool // an append off the leaf does not move it (Session.moveLeaf)
	answers        bool // a hold after a dispatch holds (book.held)
	omittedStays   bool // omitted instructions stay in force until changed (view.add)
	takesUp        bool // a run's calls include those it takes up (partition)
	rejected       bool // a rejected call without its output has a state of its own (book.state)
	order          bool // call ids are unique; nothing follows what ends a call (checkRecord, checker.unique)
	source         bool // the source of a run is checked (checker.run)
	elsewhere      bool // a dispatch off the path counts (Session.dispatched)
}

// newestMinor is the newest that this package knows.
var newestMinor = minors[len(minors)-1].number

// rulesOf returns the rules of a file of that minor.
func rulesOf(number int) *rules { return ruleTable[min(max(number, 0), newestMinor)] }

// ruleTable has the rules of each minor, by its number.
var ruleTable = func() []*rules {
	table := make([]*rules, newestMinor+1)
	var r rules
	next := 0
	for number := range table {
		for next < len(minors) && minors[next].number <= number {
			if set := minors[next].set; set != nil {
				set(&r)
			}
			next++
		}
		at := r
		table[number] = &at
	}
	return table
}()

// rules returns the rules that apply to the file.
func (h *Header) rules() *rules { return rulesOf(h.Minor()) }
