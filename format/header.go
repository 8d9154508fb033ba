package format

import (
	"fmt"
	"slices"
	"time"
)

// What this package writes unless it is told otherwise.
const (
	// DefaultFormat is the version of the format.
	DefaultFormat = "agentsession/0.2"
	// DefaultPayload is the profile of the payload.
	DefaultPayload = "openresponses/2026-04-24"
)

// How media are kept, in a header (A.2).
const (
	MediaInline  = "inline"
	MediaSidecar = "sidecar"
)

// AllRecords are the record types that a harness which runs the loop itself can promise in [Header.Records].
func AllRecords() []string { return []string{TypeRun, TypeDispatch, TypeDecision} }

// Header is the first line of a session file (A.2). It is not part of the tree.
type Header struct {
	Format    string // "agentsession/<major>.<minor>"
	ID        string
	CreatedAt time.Time
	Payload   string // "openresponses/<spec date>"
	Harness   *Harness
	// Records lists the record types that the writer writes whenever their event occurs.
	Records       []string
	CWD           string
	ParentSession string
	// SpawnedBy is, for a subsession, the call of the parent session that spawned it.
	SpawnedBy string
	Media     string // "", inline, sidecar
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
func (h *Header) HasRecord(entryType string) bool { return slices.Contains(h.Records, entryType) }

// Validate checks what a header must have: a format that this package reads, an id, a time of creation and a payload of the
// profile. The error wraps [ErrUnsupportedFormat] or [ErrInvalidEntry].
func (h *Header) Validate() error {
	major, _, err := ParseFormat(h.Format)
	switch {
	case err != nil:
		return fmt.Errorf("header: %w", err)
	case major != formatMajor:
		return fmt.Errorf("header: %w: %s", ErrUnsupportedFormat, notRead(h.Format))
	case h.ID == "":
		return fmt.Errorf("header: %w: the id is empty", ErrInvalidEntry)
	case h.CreatedAt.IsZero():
		return fmt.Errorf("header: %w: created_at is not set", ErrInvalidEntry)
	}
	if err := h.checkMembers(); err != nil {
		return fmt.Errorf("header: %w: %w", ErrInvalidEntry, err)
	}
	return nil
}

// checkMembers says what the header lacks that it must have, and that reading does not ask for.
func (h *Header) checkMembers() error {
	switch {
	case !isProfile(h.Payload):
		return fmt.Errorf("%w: payload %q is not of the profile %s…", ErrMember, h.Payload, payloadProfile)
	case h.Media != "" && h.Media != MediaInline && h.Media != MediaSidecar:
		return fmt.Errorf("%w: media %q is neither %s nor %s", ErrMember, h.Media, MediaInline, MediaSidecar)
	case h.Harness != nil && h.Harness.Name == "":
		return fmt.Errorf("%w: the harness has no name", ErrMember)
	}
	return nil
}

const payloadProfile = "openresponses/"

func isProfile(payload string) bool {
	return len(payload) > len(payloadProfile) && payload[:len(payloadProfile)] == payloadProfile
}

// clone returns a copy that shares nothing with h.
func (h *Header) clone() *Header {
	c := *h
	if c.Harness = clonePointer(h.Harness); c.Harness != nil {
		c.Harness.Unknown = h.Harness.Unknown.Clone()
	}
	c.Records = slices.Clone(h.Records)
	c.Unknown = h.Unknown.Clone()
	return &c
}
