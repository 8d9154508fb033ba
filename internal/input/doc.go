// Package input opens what a path names, and reads the header of it.
//
// [Open] takes regular files, whatever else can be read, such as a pipe, and standard input. Whoever reads from what it
// returns is let go when the context is done, also where nobody writes to a pipe and where nobody has opened its other end.
// [Begin] reads the header of what can be read only once, and gives back the whole. A [FileError] says of a file as a whole
// what was wrong with it, in the same words wherever files are read.
package input
