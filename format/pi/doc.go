// Package pi is the session file of the coding agent pi, and of its Go port orb: JSON lines, of which the first value is the
// header and all others are entries of a tree.
//
// Files of versions 1, 2 and 3 are read, as permissively as the agents read them: blank and damaged lines are passed over,
// members of the wrong kind count as absent, and unknown types, roles and members are kept. The first JSON value has to be the
// header, else the file is no session.
//
// # One line
//
// A [Decoder] looks at one line at a time, for who streams. What it gives is a view, valid until the next line:
//
//	var d pi.Decoder
//	e, err := d.Decode(line)
//	if m := e.Message(); m != nil && m.Role == pi.RoleAssistant {
//		for c := range m.ToolCalls() {
//			fmt.Println(c.Name, string(c.Arguments))
//		}
//	}
//
// Members that are asked for often have fields and methods ([Message.Usage], [Message.Duration]); all others are had by name
// ([Entry.Text], [Entry.Raw]).
//
// # The whole file
//
// [Read] and [Parse] take a whole file into a [Session], which keeps every line ([Session.Lines]), also those that say
// nothing:
//
//	s, err := pi.Read(f)
//	for _, e := range s.Entries() {
//		fmt.Println(e.ID, e.Type, e.Time)
//	}
//
// The error is [format.ErrNoHeader] or [format.ErrEmpty] where the file is no session. Nothing else is an error: what is wrong
// behind the header is passed over, as the agents do, and counted ([Session.Count]).
//
// # The tree
//
// Entries name their parents. [Session.Leaf] is the entry from which work goes on, [Session.Path] leads from a root to an entry;
// [Session.Roots], [Session.Children] and [Session.Leaves] show the other branches. Bookmarks and the name hold for the whole
// file ([Session.Labels], [Session.Name]).
//
// # What the model sees
//
// [Session.Context] builds the messages of a request at an entry, with compactions, summaries of branches and edits applied, and
// the settings in force:
//
//	leaf, _ := s.Leaf()
//	for _, m := range s.Context(leaf).Messages {
//		fmt.Println(m.Role, string(m.Content))
//	}
//
// # Sums
//
// [Session.Statistics] sums up messages, tokens and costs of all branches. A fork begins with a copy of what was before it;
// [Sum] counts once what several files have.
//
// # What is not as it should be
//
// [Session.Check] finds ids that are used twice, parents and other entries that are not there, results without a call, and
// sums that are none. All of that is read all the same.
//
// # Writing
//
// [Session.WriteTo] writes the file byte for byte as it was read. [Session.Migrated] gives what the agents make of a file of
// version 1 or 2 when they open it, in memory. What they rewrite goes through the JSON of JavaScript, for which [Stringify] has
// the rules.
package pi
