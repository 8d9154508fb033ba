// Package pi is the session file of the coding agent pi, and of its Go port orb: JSON lines, of which the first value is the
// header and all others are entries of a tree.
//
// Files of versions 1, 2 and 3 are read, as permissively as the agents read them: blank and damaged lines are passed over,
// members of the wrong kind count as absent, and unknown types, roles and members are kept. The first JSON value has to be the
// header, else the file is no session.
//
// There are two doors. A [Decoder] looks at one line at a time, for who streams. A [Session] is a whole file in memory:
//
//	s, err := pi.Read(f)
//	leaf, _ := s.Leaf()
//	for _, m := range s.Context(leaf).Messages { … m.Role, m.Content … }
//
// It has the tree of its entries ([Session.Path], [Session.Children], [Session.Roots]), bookmarks and name, sums ([Sum] counts
// once what several files of one origin have), and writes the file again byte for byte ([Session.WriteTo]).
//
// [Session.Migrated] gives what the agents make of a file of version 1 or 2 when they open it, in memory. What they rewrite
// goes through the JSON of JavaScript, for which [Stringify] has the rules.
package pi
