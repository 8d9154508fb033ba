// Package pi is the session file of the coding agent pi, and of its Go port orb: JSON lines, of which the first value is the
// header and all others are entries of a tree.
//
// Files of versions 1, 2 and 3 are read, as permissively as the agents read them: blank and damaged lines are passed over,
// members of the wrong kind count as absent, and unknown types, roles and members are kept. A [Decoder] looks at one line at
// a time and decodes of it what is asked for. What a value says is never changed by reading.
package pi
