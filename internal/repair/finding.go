package repair

import "strings"

// Kind says what is wrong at some place of a file, in one word for programs.
type Kind string

// The kinds. Those up to NoLineFeed are repaired; the others are reported.
const (
	// Torn: the beginning of an object that does not go on.
	Torn Kind = "torn"
	// NullPadding: zero bytes.
	NullPadding Kind = "null_padding"
	// Garbage: no JSON object, nor the beginning of one.
	Garbage Kind = "garbage"
	// Fused: a complete object that stands behind something else on its line.
	Fused Kind = "fused"
	// NoLineFeed: the last line is complete but for its line feed.
	NoLineFeed Kind = "no_line_feed"
	// ZeroBytes: zero bytes stand in a text of an object that is complete; what was there is lost.
	ZeroBytes Kind = "zero_bytes"
	// InvalidHeader: the header says enough to read on, but not all that it must.
	InvalidHeader Kind = "invalid_header"
	// InvalidEntry: the line is a JSON object, but no valid entry.
	InvalidEntry Kind = "invalid_entry"
	// DuplicateID: an earlier entry has the same id.
	DuplicateID Kind = "duplicate_id"
	// NoParent: the parent is no earlier entry; perhaps it was lost.
	NoParent Kind = "no_parent"
	// TooLong: the line is longer than the limit and was not looked into.
	TooLong Kind = "too_long"
	// TooLarge: the line may be one JSON object, but has more levels or members than the readers of this project take.
	TooLarge Kind = "too_large"
)

// kindWords say those kinds to people of which the word alone would not.
var kindWords = map[Kind]string{
	ZeroBytes: "zero bytes inside", TooLong: "line over the limit", TooLarge: "object over the limits",
}

// String says it to people.
func (k Kind) String() string {
	if words := kindWords[k]; words != "" {
		return words
	}
	return strings.ReplaceAll(string(k), "_", " ")
}

// Action is what a repair does about a finding.
type Action string

// The actions.
const (
	SetAside    Action = "set_aside"
	Recover     Action = "recover"
	AddLineFeed Action = "add_line_feed"
	Keep        Action = "keep"
)

// Finding is something that is wrong with a file, and what is to be done about it. It holds nothing of the content but the
// type and the id of an entry.
type Finding struct {
	// Line counts from 1. Offset is the place in the file, At that in the line, both in bytes from 0, and Bytes the length of
	// what stands there; the line feed of a line that is set aside as a whole is part of it.
	Line   int
	Offset int64
	At     int64
	Kind   Kind
	Bytes  int64
	Action Action
	// Added counts the line feeds, 0 or 1, that are put in at Offset.
	Added int
	// Type and ID are those of the entry, as far as there is one, cut to 64 characters.
	Type string
	ID   string
	// Detail says more in words.
	Detail string
}

// Sum says what a repair comes to.
type Sum struct {
	// Bytes and Lines count the whole file.
	Bytes int64
	Lines int
	// Kept counts the entries that stand on a line of their own, Recovered those on damaged lines. The header is none of them.
	Kept      int
	Recovered int
	// SetAside counts bytes, Added line feeds.
	SetAside int64
	Added    int
	// NoLineFeed: the last line lacks its line feed, which is among those added.
	NoLineFeed bool
	// Beyond counts the findings that no repair of bytes can change.
	Beyond int
}

// Changes reports whether a repair changes anything.
func (s *Sum) Changes() bool { return s.SetAside > 0 || s.Added > 0 }

// Damaged reports whether there is something that has to be repaired. A last line that is whole but for its line feed is not:
// every reader takes it for what it is, and a store adds the line feed before it appends.
func (s *Sum) Damaged() bool { return s.SetAside > 0 || s.Added > 1 || s.Added > 0 && !s.NoLineFeed }
