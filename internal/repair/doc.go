// Package repair takes what is broken out of a session file and leaves what is good.
//
// A session file is one JSON object on each line, and what breaks it is always the same: a crash in the middle of an append
// leaves the head of a line (torn), to which the next append is glued; two writers leave two entries on one line (fused); a
// power cut leaves runs of zero bytes (null padding); something else wrote into the file (garbage); the last line lacks its
// line feed. [File] finds all of it anywhere in a file, says what it would do, and does it when told to:
//
//   - A line that is one JSON object is never moved or changed, whatever it says. If it is no valid entry, has the id of an
//     earlier one, or a parent that is not there, that is reported and the line stays. So do blank lines, carriage returns, a
//     byte order mark at the start, and lines that are longer, deeper or wider than the readers of this project take.
//   - A complete object at the start of a line, or right behind another one, is an entry that lost its line feed: it gets a
//     line of its own.
//   - Behind anything else, an object is taken for an entry only if it is the outermost one that ends where the line does, or
//     where something comes that cannot come behind a value in JSON, and if it looks like an entry: in the Agent Session
//     Format it has type, id, parent and ts, which no item inside a torn entry has; in other formats it must not stand where
//     the torn head has room for a value. Of two that overlap, the one whose end is reached first is taken.
//   - Every other byte is set aside.
//   - A last line that lacks nothing but its line feed is no damage, and gets it when the file is written.
//
// So the bytes of the input are those of the output, line feeds that were added apart, and those set aside; and a file that
// was repaired needs no second repair.
//
// A file is replaced only when nobody seems to have it open, since what is written to the old one afterwards is lost: there
// is no lock, it was not written to for a minute, and, on Linux, no process has it open for writing. The last two are looked
// at again right before it is replaced.
//
// A file whose first line is no usable header is not written to: it is no session, or somebody has to say which one it is.
//
// # The file of broken bytes
//
// It stands beside the repaired file and is called FILE.broken-<UTC time>. Its lines are JSON objects. The first says what
// was repaired; each of the others is one change, in the order of the file, with line and offset (in bytes) in the file as it
// was:
//
//	{"file":"s.jsonl","size":4711,"time":"2026-09-20T12:00:00Z"}
//	{"line":8,"offset":1736,"kind":"torn","bytes":"eyJ0eXBlIjoiaXRl"}
//	{"line":8,"offset":1748,"kind":"fused","added":1}
//
// Bytes were taken out there (base64), or a line feed was put in there. With the repaired file that gives the old one
// exactly: copy up to each offset, insert the bytes, leave out one byte for each line feed added.
//
// # Cost
//
// Memory is that of the longest line, and up to 64 bytes for each entry to find repeated ids and lost parents. Time is linear
// in the size of the file, also for a line of nothing but opening braces.
package repair
