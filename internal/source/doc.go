// Package source reads session files of any format it knows as events.
//
// A [Format] is one way of writing a session to disk: it recognises its files by their first line and decodes them line by
// line. A [Reader] reads one file: it undoes gzip and zstd, cuts lines, finds the format, and hands the events on in file
// order; a line that is damaged is reported and reading goes on.
//
// To add a format, write a [Decoder] in a file of its own and list it in formats.go. A decoder
//   - gives each event the stable key of the file's own ids, else its ordinal;
//   - says for each time how it is known, and what failed, cost and took how long, as far as the file records it;
//   - ends runs where the file does;
//   - names the owner of history that was copied from another session;
//   - holds back what a later line decides until that line, or [Decoder.Flush], has come.
package source
