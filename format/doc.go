// Package format reads, writes and examines the Agent Session Format: the file in which a coding agent keeps the record of one
// session. Section numbers in this documentation, such as A.3 and C.5, are those of docs/format.md.
//
// A session file has a header and then entries, one JSON object on each line. Entries form a tree: each names its parent, so
// that a branch is a second child of an earlier entry, and nothing is ever taken away. One entry holds an item of the
// conversation, another the envelope of a model call, a change of settings, the start of a run, the hand-off of a call to
// its tool. The items themselves are those of package openresponses.
//
// # One line
//
// [DecodeEntry] turns one line into one entry, a pointer to one of the …Entry structs:
//
//	e, err := format.DecodeEntry(line)
//	switch e := e.(type) {
//	case *format.ItemEntry:
//		fmt.Println(e.Item.Type)
//	case *format.UnknownEntry: // of an extension, or of a minor yet to come
//		fmt.Println(e.Type)
//	}
//
// Only what is asked of every reader is decoded. An item stays raw JSON behind a small view ([Item]), and so do settings,
// arguments and application data; numbers keep their spelling. Members that the package does not define are kept in order
// ([Envelope.Unknown]), types that it does not define are [UnknownEntry], and values that the format's lists do not have,
// such as a verdict of a later minor, are passed on as they are ([Session.Unfamiliar]).
//
// # One entry at a time
//
// [NewReader] reads a file of any length in memory that does not grow with it:
//
//	r, err := format.NewReader(file)
//	for e, err := range r.Entries() {
//		…
//	}
//
// Raw JSON in an entry points into the reader's line and is valid until the next read; [Clone] keeps an entry. Strings may
// always be kept.
//
// # The whole session
//
// [ReadSession] reads everything into a [Session], which has the tree: the path to an entry ([Session.Path]), the leaf from
// which work goes on ([Session.Leaf], A.4), the runs and calls on a path ([Session.Runs], [Session.Calls]) and what happened
// to each. [Session.WriteTo] writes the file again, byte for byte.
//
// # What the model sees
//
// [Session.Context] runs the context algorithm (A.7) for an entry: the settings that config entries have put in force there
// ([Settings]), and the items that a request would hold, each with the entry that gave it. [Context.Request] makes the
// canonical request of it, whose hash a response records.
//
// # Writing
//
// [NewSession] starts a session, [Session.Append] adds an entry to it. There is a function for each kind of entry ([NewItem],
// [NewRunStart], [NewDispatch], …), [ConfigFromRequest] makes the first entry of a root, and [ResponseEntries] what a model
// call adds. An append continues the leaf and becomes it; [Session.Branch] goes back to an earlier entry, and what
// [Session.MarkLeaf] returns, once appended, makes that last. [Session.Compact] folds the context,
// [Session.SummarizeBranch] carries some of it to another branch.
//
// A session is appended to by the rules of its file's minor: with hashes for ids and canonical lines from minor 5 on, and not
// at all when the minor is one whose rules this package does not know ([ErrNewerFormat]). An append is checked as a reader
// would, and more strictly: words out of the format's closed lists, and records of a call that cannot follow one another, are
// refused.
//
// [Session.PendingCalls] and [Session.Owed] tell a harness that resumes what is left to do, [Session.EndRun] what to write when
// a run ends.
//
// # Verifying
//
// [Session.Verify] rebuilds the request behind a response and compares the hash, [Session.VerifyRecords] holds the runs and
// calls of a path against the rules, and [Session.Check] does all of it for a whole file, every branch, with ids, spellings and
// references.
//
// # Damage
//
// A line that is no entry is described and never guessed at. A [*DamageError] says where it stands, what is wrong, and holds
// the bytes; [errors.Is] tells the kinds apart:
//
//   - [ErrSyntax]: it is not one JSON object. What a text inside it holds is looked at only when it is asked for.
//   - [ErrInvalidEntry]: a member is missing or of the wrong kind. What could be read is in [DamageError.Entry], so that the
//     entry keeps its place in the tree.
//   - [ErrLineTooLong]: it is longer than [WithMaxLine] allows.
//   - [ErrTornTail], besides one of the first two: it is the last line, which a crash in the middle of an append leaves so.
//   - [ErrEmpty], [ErrNoHeader], [ErrUnsupportedFormat]: the file is not one that this package reads.
//   - [ErrDuplicateEntry], [ErrNoParent], [ErrBase]: the entry does not fit into the tree.
//
// [Reader] reports damage and goes on with the next line. [ReadSession] is strict: any damage is its error, but for a torn
// tail, which it sets aside ([Session.Torn]); [WithDamage] makes it report and go on. A last line that decodes is a good entry
// also without its line feed.
//
// Reading asks for what an entry cannot be understood without. Whether a record is true, such as the reason that a run's end
// gives, is for verifying.
//
// # Versions
//
// Every minor of major version 0 is read. Where a later minor changed how a path is to be read, the header's minor decides
// ([Header.Minor]); one table in the package says what each minor changed and which code asks. A member that a later minor
// defined, found in another form, is an unknown member. Sessions are written as minor 2 unless their header says another
// ([DefaultFormat]); [Session.Migrate] makes one of a later minor of an earlier one.
//
// # Lines
//
// A line ends at a line feed. One carriage return before it, a byte order mark at the start of the file, and blank lines are
// accepted and kept. Of members with the same name the last counts. Nesting is limited to 10,000 levels, one
// object to 65,536 members wherever in the line it stands, and a list of an entry, such as its tools, to as many elements.
package format
