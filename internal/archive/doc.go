// Package archive replays stored sessions: it finds their files, reads the headers of all of them first, so that
// subsessions find the trace they belong to whatever the order, and projects them one by one into a sink.
//
// Whatever reads takes a context and ends with it, also where it waits for a pipe that is silent. A session that several
// files hold is projected once by [Index.ProjectTrace].
//
// It is what the command line and the replay library stand on. It sends nothing anywhere.
package archive
