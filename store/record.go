package store

import (
	"context"
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
)

// RecordResponse writes one model call to a session (A.14): each item of the output, then the response with its model, status,
// usage, error, the hash of the request and the latency, which is left out when it is zero. The request must be the one that
// was sent, so that the hash is the one which the session gives. It returns the id of the response entry.
//
// When an append fails, the entries before it are written and the error says how many of how many.
func RecordResponse(ctx context.Context, to Appender, sessionID string, req *openresponses.Request,
	resp *openresponses.Response, latency time.Duration,
) (string, error) {
	entries, err := format.ResponseEntries(req, resp, latency)
	if err != nil {
		return "", fmt.Errorf("response of session %s: %w", sessionID, err)
	}
	var id string
	for i, e := range entries {
		if id, err = to.Append(ctx, sessionID, e); err != nil {
			return "", fmt.Errorf("response of session %s: entry %d of %d: %w", sessionID, i+1, len(entries), err)
		}
	}
	return id, nil
}
