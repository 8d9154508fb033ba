// Package source reads session files of any format it knows as events.
//
// A [Format] is one way of writing a session to disk: it recognises its files by their first line and decodes them line by
// line. A [Reader] reads one file: it undoes gzip and zstd, cuts lines, finds the format, and hands the events on in file
// order; a line that is damaged is reported and reading goes on.
//
// To add a format, write a [Decoder] in a file of its own and list it in [Formats]. A decoder
//   - emits the [activity.Session] first, once it knows enough to say it, and nothing before it;
//   - gives each event the stable key of the file's own ids, else its ordinal; a line that has no place in the tree is a
//     further part of the entry before it, since as an entry of its own it would become the leaf;
//   - counts the parts of an entry in the order in which the file says them, whenever they are emitted: spans are named
//     by them;
//   - emits the pieces and calls of a model's output before the response that completes it, if it knows all of them;
//     a response that becomes known later is a late part of its entry;
//   - says for each time how it is known, and what failed, cost and took how long, as far as the file records it;
//   - ends runs where the file does, and where a run only looks finished ends it at once: reopened, it has a next segment;
//   - chains entries so that only what a person went back to is a branch;
//   - names the owner of history that was copied from another session, and takes nothing of it for its own;
//   - says of a spawned session only what the file itself, or one that was there before it, says: live and later must
//     agree;
//   - holds back what a later line decides until that line, or [Decoder.Flush], has come.
package source
