// Package outline shows a session to people: its entries in file order with the tree that they form, and the context at one of
// them.
//
// [Load] makes an [Outline] of a session file. An [Entry] of it says in a few words what an entry of the file says, whatever the
// format: for the Agent Session Format the words come from the entries themselves, for all others from the events of package
// activity, so that a format needs nothing here to be shown. What events cannot tell is the context: it is [Outline.Context], and for sessions of pi, whose
// messages are told as well, [Outline.MessageContext].
//
// [Outline.Draw] writes it for a terminal:
//
//   - Every entry has one row. The tree is drawn at the left, with the root at the top: the child that comes last goes on in
//     the column of its parent, and those before it branch off into columns of their own. So a session without branches is
//     a straight line however long it is, and what is going on now stands straight below where it came from.
//   - The symbol of a row says whether the entry is the leaf, on the path to it, folded away by a compaction, or on another
//     branch.
//   - Ids are cut as far as they stay different from all others of the file, but not below eight characters.
//   - No line is wider than [Options] say. Nothing is said by colour alone. Text that comes from a file passes
//     [terminal.Sanitize].
package outline
