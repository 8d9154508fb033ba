// Package stored reads one session file into memory: what looks at a session as a whole, and not line by line, starts here.
//
// [Load] undoes gzip and zstd, finds the format, and reads on where lines are damaged. Of the Agent Session Format it makes
// a [format.Session]; the events of any other format are handed on as they come. What could be read of a file that cannot be
// read to its end is there all the same, and [File.Err] says why it ended.
//
// A file may be no larger than [MaxBytes] once decompressed, and have no more than [MaxLines] lines, so that one made to fill
// the memory does not.
package stored
