package repair

// What is wrong at some place of a file.
type What string

// What can be wrong. Those up to NoLineFeed are repaired; the others are reported.
const (
	// Torn: the beginning of an object that does not go on.
	Torn What = "torn"
	// NullPadding: zero bytes.
	NullPadding What = "null padding"
	// Garbage: no JSON object, nor the beginning of one.
	Garbage What = "garbage"
	// Fused: a complete object that stands behind something else on its line.
	Fused What = "fused"
	// NoLineFeed: the last line is complete but for its line feed.
	NoLineFeed What = "no line feed"
	// ZeroBytes: zero bytes stand in a text of an object that is complete; what was there is lost.
	ZeroBytes What = "zero bytes inside"
	// InvalidHeader: the header says enough to read on, but not all that it must.
	InvalidHeader What = "invalid header"
	// InvalidEntry: the line is a JSON object, but no valid entry.
	InvalidEntry What = "invalid entry"
	// DuplicateID: an earlier entry has the same id.
	DuplicateID What = "duplicate id"
	// NoParent: the parent is no earlier entry; perhaps it was lost.
	NoParent What = "no parent"
	// TooLong: the line is longer than the limit and was not looked into.
	TooLong What = "line over the limit"
	// TooLarge: the line may be one JSON object, but has more levels or members than the readers of this project take.
	TooLarge What = "object over the limits"
)

// Action is what a repair does about a finding.
type Action string

// The actions.
const (
	SetAside    Action = "set aside"
	Recover     Action = "recover"
	AddLineFeed Action = "add line feed"
	Keep        Action = "keep"
)

// Finding is something that is wrong with a file, and what is to be done about it. It holds nothing of the content but the
// type and the id of an entry.
type Finding struct {
	// Line counts from 1. Offset is the place in the file, Bytes the length of what stands there; the line feed of a line
	// that is set aside as a whole is part of it.
	Line   int    `json:"line"`
	Offset int64  `json:"offset"`
	What   What   `json:"what"`
	Bytes  int64  `json:"bytes"`
	Action Action `json:"action"`
	// Added counts the line feeds, 0 or 1, that are put in at Offset.
	Added int `json:"added,omitempty"`
	// Type and ID are those of the entry, as far as there is one, cut to 64 characters.
	Type string `json:"type,omitempty"`
	ID   string `json:"id,omitempty"`
	// Detail says more in words.
	Detail string `json:"detail,omitempty"`
}

// Sum says what a repair comes to.
type Sum struct {
	// Bytes and Lines count the whole file.
	Bytes int64 `json:"bytes"`
	Lines int   `json:"lines"`
	// Kept counts the entries that stand on a line of their own, Recovered those on damaged lines. The header is none of them.
	Kept      int `json:"entries_kept"`
	Recovered int `json:"entries_recovered"`
	// SetAside counts bytes, Added line feeds.
	SetAside int64 `json:"bytes_set_aside"`
	Added    int   `json:"line_feeds_added"`
	// Beyond counts the findings that no repair of bytes can change.
	Beyond int `json:"beyond_repair"`
}

// Changes reports whether there is anything to repair.
func (s *Sum) Changes() bool { return s.SetAside > 0 || s.Added > 0 }
