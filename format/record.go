package format

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/format/openresponses"
)

// ConfigFromRequest returns the config entry with the full settings that a request was sent with (A.14): its model,
// instructions, reasoning, text and tools, and every other member that is not about the one call in Extra. It replaces what was
// in force, so that it stands alone wherever it is. Rebuilt from it over the same items, a request as [Context.Request] makes
// them has the same hash. Settings cannot say a member that is null, or two tools of one name: the request should not have them.
func ConfigFromRequest(req *openresponses.Request) *ConfigEntry {
	s := req.Settings()
	c := &ConfigEntry{Replace: true, Model: s.Model, Reasoning: s.Reasoning, Text: s.Text, Extra: s.Extra}
	if s.Instructions != "" {
		c.Instructions = &s.Instructions
	}
	for _, tool := range s.Tools {
		c.ToolsAdded = append(c.ToolsAdded, tool.Raw)
	}
	return c
}

// ResponseEntries returns what a model call adds to a session, in order (A.14): an item for each piece of the output, then the
// response with the hash of the request as it was sent. A latency of zero is left out. What is appended before the request is
// sent, the inputs, is not among them.
//
// The error wraps [ErrNoResponse], or is about an output that is null, outputs of a response without an id, by which they
// would be known as its own, or a request that cannot be hashed.
func ResponseEntries(req *openresponses.Request, resp *openresponses.Response, latency time.Duration) ([]Entry, error) {
	switch {
	case resp == nil:
		return nil, ErrNoResponse
	case req == nil:
		return nil, fmt.Errorf("%w: there is no request that it answers", ErrNoResponse)
	case resp.ID == "" && len(resp.Output) > 0:
		return nil, fmt.Errorf("%w with an id, to which its %d outputs could belong: give it one", ErrNoResponse, len(resp.Output))
	}
	hash, err := req.Hash()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for i, item := range resp.Output {
		if item.Type == "" || item.Raw.Kind() != jsontext.KindBeginObject {
			return nil, fmt.Errorf("output %d of the response is no item", i)
		}
		entries = append(entries, NewOutput(item, resp.ID))
	}
	e := NewResponse(resp.ID, resp.Model, resp.Status).WithLatency(latency)
	e.Usage, e.Incomplete, e.Error, e.RequestHash = resp.Usage, resp.Incomplete, resp.Error, hash
	return append(entries, e), nil
}
