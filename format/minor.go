package format

// A minor is one minor version of the format: what it changed in words, and the code that goes with that.
type minor struct {
	number  int
	changed string
	// added says which of the things that the minor brought an entry uses, "" for none. They are decoded in whatever file they
	// are found in the form that the minor gave them, and written from it on. Nil when it brought none.
	added func(Entry) string
	// set changes the rules; nil when they stay.
	set func(*Rules)
}

// minors are the minor versions that this package knows, oldest first. The rules of a file are those of all minors up to its
// own; a file of one that this package does not know yet has those of the newest here ([Header.Newer]).
var minors = []minor{
	{1, "the beginning", nil, nil},
	{
		2, "run, dispatch and decision; records; spawned_by; workspaces; the target of an outcome is an entry",
		addedBy2, func(r *Rules) { r.OutcomeTargets = true },
	},
	{
		3, "queued inputs, triggers, instruction parts, pinned items; a run's reason reads the path",
		addedBy3, func(r *Rules) { r.PathReason, r.LatestCall, r.Queues = true, true, true },
	},
	{
		4, "parents; nothing is written that only names an item",
		addedBy4, func(r *Rules) { r.Parents, r.Materialised = true, true },
	},
	{
		5, "ids are hashes of what they name; canonical lines; base; an append off the leaf leaves it",
		nil, func(r *Rules) { r.ContentIDs, r.Repeats, r.Base, r.SteadyLeaf = true, true, true, true },
	},
	{6, "triggers on runs; call_id on custom; a proceed promises no dispatch", addedBy6, nil},
	{7, "attempts; kept instruction parts; a part without text is empty", addedBy7, nil},
	{
		8, "answers; several dispatches; a hold after a dispatch holds; omitted instructions stay in force",
		addedBy8, func(r *Rules) { r.Answers, r.OmittedStays = true, true },
	},
	{
		9, "a run has the calls that it takes up; its source is checked; what may follow what for a call",
		addedBy9, func(r *Rules) { r.TakesUp, r.RejectedState, r.CallOrder, r.RunSource = true, true, true, true },
	},
	{
		10, "a dispatch may stand off the path; usage in custom data is a model call",
		nil, func(r *Rules) { r.DispatchElsewhere = true },
	},
	{
		11, "omit; judged_by; parts named by hash when out of force; keep of an earlier list",
		addedBy11, func(r *Rules) { r.Omits, r.Judges = true, true },
	},
}

// Rules are what the minors up to a file's own ask of who reads and writes it, where one asks otherwise than those before. In
// brackets are the functions of this package that look.
type Rules struct {
	OutcomeTargets    bool // the target of an outcome is an entry (Rules.references)
	PathReason        bool // the reason of a run reads the path, not its segment alone (partition)
	LatestCall        bool // of two calls with one id the later is meant, and a target goes before the id (book.find)
	Queues            bool // an input may wait, and an item say from where it was taken (Rules.references)
	Parents           bool // merged work is named in order, once, and stands before (checker.named)
	Materialised      bool // no item is written that only names another (Session.validate)
	ContentIDs        bool // an id is the hash of the entry; lines are canonical (ContentID, Session.encodeHashed)
	Repeats           bool // a repeated line is the same entry (Session.add)
	Base              bool // the header may have a base; promises begin after it (DecodeHeader, checker.records)
	SteadyLeaf        bool // an append off the leaf does not move it (Session.moveLeaf)
	Answers           bool // a hold after a dispatch holds (book.held)
	OmittedStays      bool // omitted instructions stay in force until changed (view.add)
	TakesUp           bool // a run's calls include those it takes up (partition)
	RejectedState     bool // a rejected call without its output has a state of its own (book.state)
	CallOrder         bool // call ids are unique; nothing follows what ends a call (checkRecord, checker.unique)
	RunSource         bool // the source of a run is checked (checker.run)
	DispatchElsewhere bool // a dispatch off the path counts (Session.dispatched)
	Judges            bool // a link may have a target (Rules.references)
	Omits             bool // settings may leave items out (view.add)
}

// newestMinor is the newest that this package knows.
const newestMinor = 11

// ruleTable has the rules of each minor, by its number.
var ruleTable = func() (table [newestMinor + 1]Rules) {
	for _, m := range minors {
		for number := m.number; number <= newestMinor && m.set != nil; number++ {
			m.set(&table[number])
		}
	}
	return table
}()

func (h *Header) rules() *Rules { return &ruleTable[min(h.Minor(), newestMinor)] }

// Rules returns the rules that apply to the file.
func (h *Header) Rules() Rules { return *h.rules() }
