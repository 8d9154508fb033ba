package format

import "time"

// Header is the first line of a session file (A.2). It is not part of the tree.
type Header struct {
	Format        string // "agentsession/<major>.<minor>"
	ID            string
	CreatedAt     time.Time
	Payload       string // "openresponses/<spec date>"
	Harness       *Harness
	Records       []string
	CWD           string
	ParentSession string
	SpawnedBy     string
	Media         string // "", inline, sidecar
	// Base is the entry up to which the file repeats another session's path (C.5, from minor 5 on).
	Base string
	// Unknown holds, in file order, the members that this package does not define.
	Unknown Members
}

// Harness names the writer of a session.
type Harness struct {
	Name    string
	Version string
	Unknown Members
}

// HasRecord reports whether the header promises that entries of that type are written whenever their event occurs, so
// that their absence on a path means that it did not happen.
func (h *Header) HasRecord(entryType string) bool {
	for _, r := range h.Records {
		if r == entryType {
			return true
		}
	}
	return false
}
