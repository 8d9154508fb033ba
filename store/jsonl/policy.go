package jsonl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/format"
)

// Sync says when what was appended is brought to disk, which decides what is still there after the power was cut. What a process
// wrote is there after its own death whatever the policy.
type Sync int

const (
	// Always syncs every append before it is acknowledged.
	Always Sync = iota
	// OnResponse syncs the entries behind which work is lost or done twice: responses, compactions, branch summaries, outputs of
	// calls, and the types that the header promises in records. What stands before one of them is on disk with it.
	OnResponse
	// Group syncs every append before it is acknowledged, as Always, but appends of several goroutines to one session share a
	// sync: each returns when its own line is on disk.
	Group
	// Never leaves it to the system.
	Never
)

// String returns the name of the policy.
func (s Sync) String() string {
	names := []string{"always", "on response", "group", "never"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("Sync(%d)", int(s))
	}
	return names[s]
}

// atOnce reports whether an entry is synced while it is appended.
func (s Sync) atOnce(e format.Entry, h *format.Header) bool {
	switch s {
	case Always:
		return true
	case OnResponse:
		return matters(e, h)
	}
	return false
}

// matters reports whether an entry is one of those that OnResponse syncs.
func matters(e format.Entry, h *format.Header) bool {
	switch e := e.(type) {
	case *format.ResponseEntry, *format.CompactionEntry, *format.BranchSummaryEntry:
		return true
	case *format.ItemEntry:
		if strings.HasSuffix(e.Item.Type, "_call_output") { // of a function, and of the other tools that are run here
			return true
		}
	}
	return slices.Contains(h.Records, e.EntryType())
}
