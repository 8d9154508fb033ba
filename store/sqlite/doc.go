// Package sqlite keeps sessions in one SQLite database, for a harness that has many of them and looks for them often. It has the
// semantics of every [store.Store], over a driver in pure Go: nothing needs a C compiler. It is a module of its own, so that
// nobody who does not want a database has one in their build.
//
//	s, err := sqlite.Open(ctx, filepath.Join(dir, "sessions.db"))
//	defer s.Close()
//	session, err := s.Create(ctx, format.Header{CWD: cwd})
//	_, err = s.Append(ctx, session.ID(), format.NewItem(openresponses.UserText("Hello.")))
//
// # In the database
//
// Entries are rows with the exact bytes of their lines, so that [Store.Export] writes the file that [Store.Import] has read, byte
// for byte. Beside them each session has a row for lists: its header, and of its entries the display name and the successor, kept
// up to date in the transaction of the append. So [Store.List] reads no session, and names and successors are always there.
// The schema has a version; a database of an older one is brought up to date when it is opened, one of a later version is
// refused ([ErrNewer]), and so is one of another program ([ErrForeign]).
//
// # What lasts
//
// Every append is a transaction. The database is in WAL mode with full synchronisation: an append that has returned an id is there
// after the process has died and after a power cut. With [WithRelaxedSync] a power cut may take the last appends, and
// never leaves a part of one; the death of the process takes nothing either way.
//
// # Who writes
//
// One store at a time has a session open for writing, from Create or Open (or an append) until [Store.Release], [Store.Delete] or
// [Store.Close]; another one is told [store.ErrSessionLocked]. The kernel holds it, by files in a folder beside the database
// (sessions.db.guard), and lets go when the process ends. Different sessions are written by different processes at once: SQLite
// has one of them wait for the other, for up to five seconds.
//
// The database and what belongs to it have mode 0600. It is for one machine: SQLite in WAL mode does not work over a network
// file system.
package sqlite
