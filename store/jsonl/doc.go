// Package jsonl keeps sessions as files: one append-only JSONL file for each, in the Agent Session Format, laid out as the format's
// reference library does it, so that each side opens what the other wrote.
//
//	s, err := jsonl.Open(filepath.Join(home, ".agent", "sessions"))
//	defer s.Close()
//	session, err := s.Create(ctx, format.Header{CWD: cwd, Harness: &format.Harness{Name: "my-agent"}})
//	_, err = s.Append(ctx, session.ID(), format.NewItem(openresponses.UserText("Hello.")))
//
// # On disk
//
//	ROOT/home-me-project/2026-01-02T03-04-05.006Z_01995b2a-….jsonl   a session
//	ROOT/home-me-project/2026-01-02T03-04-05.006Z_01995b2a-….jsonl.lock
//	ROOT/home-me-project/01995b2a-…/                                  its media, when the header says "sidecar"
//	ROOT/.guard/4f6b2c…                                              what the kernel locks: named after the id, empty, never removed
//
// The folder is the working directory with its separators and colons as dashes ("default" without one), the name of the file the
// time in the header, in UTC and milliseconds, and the id. The header counts: a file whose header has another id than its name is
// not that session. Ids that are empty, longer than 180 bytes, or have one of / \ * ? [ or a zero byte in them are refused. Files have mode
// 0600 and folders 0700 unless [WithModes] says otherwise.
//
// A new session appears with its header in it: it is written under another name, which begins with a point and ends in .new,
// brought to disk, and linked into its place.
//
// # What lasts
//
// An append that has returned an id is in the file, whole, in one line: it is written by one call, after the file was found to be
// what this store left. What it survives depends on the policy:
//
//	policy       death of the process   power cut                                     a sync for
//	Always       survives               survives                                      every append
//	Group        survives               survives                                      all appends that wait at that moment
//	OnResponse   survives               up to the last response, compaction, branch   those entries
//	                                    summary, call output, or promised record
//	Never        survives               what the system has written by itself         nothing
//
// A new file, and the folders it needed, are brought to disk with it, but under Never. Disks that lie about what they have
// written are beyond what a program can do.
//
// An entry that is synced by Always or OnResponse is in memory once it is on disk. With Group it is in memory when it is in the
// file, before it is on disk: others may read it, and Append has not returned yet. When a sync fails, the error says that the
// entry was written and that it is not known whether it lasts. What is appended by [format.Session.Append] on a session
// of the store goes the same way, but under Group does not wait for the disk.
//
// # When something fails
//
// A write that the system refuses whole, as on a full disk, is the error of its append, and the next append tries again. A write
// that is done in part is taken back; after that, and after a failed sync, nothing more is taken ([ErrBroken]): what such a
// system says of the file is not to be relied on. [Store.Open] reads the file anew, and says what is there; what a sync of this
// process has failed to bring to disk is first written once more, over itself, since the system may take it for written.
//
// A file that was moved, replaced, cut, or written to by somebody else is not written to ([ErrNotOwner]), until Open reads it anew.
//
// # After a crash
//
// When a session is opened for writing, a last line without a line feed that is no JSON is what a crash left of an append. It is
// copied into FILE.torn-OFFSET beside the file, and then cut off, each brought to disk ([WithTornTail] tells). A last line that is
// whole but for its line feed gets it. A complete last line that is no entry is left as it is, and the session is not written to:
// a later version may know it. Damage in the middle is an error of Open; the command sessionspan repair mends that.
//
// # Who writes
//
// One store at a time has a session open for writing, from Create or Open (or an append) until [Store.Release], [Store.Delete] or [Store.Close].
// The kernel holds the others off by a lock on the guard, which goes with the process. The lock file beside the session holds off
// those who go by that alone. One that a process has left behind which ended, on this host, is taken over ([WithTakeover] tells);
// a process that has the number of the one that ended is told from it by when it began, where the system says that (Linux). One
// of another host, or that cannot be read, is never taken over: [Store.Break] takes it away.
//
// With [WithReadOnly] nothing is locked and nothing is written.
package jsonl
