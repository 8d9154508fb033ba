package openresponses

import (
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Response is what came back from one model call.
type Response struct {
	ID        string
	CreatedAt *int64 // seconds since 1970
	Status    string // one of the Status… constants
	Model     string
	Output    []Item
	Usage     *Usage
	// Incomplete is "incomplete_details" on the wire.
	Incomplete *Incomplete
	Error      *Error
	// Unknown are all other members. One of the name of a field above counts only when that field has its zero value.
	Unknown Members
}

// Statuses of a response (A.5). Items have in_progress, completed and incomplete.
const (
	StatusQueued     = "queued"
	StatusInProgress = "in_progress"
	StatusCompleted  = "completed"
	StatusIncomplete = "incomplete"
	StatusFailed     = "failed"
)

// ParseResponse decodes a response. What it returns points into raw, which the caller may not change afterwards.
func ParseResponse(raw jsontext.Value) (*Response, error) {
	data, err := checked("response", raw)
	if err != nil {
		return nil, err
	}
	var outer, inner jsonscan.Scanner
	o := open("response", data, &outer)
	r := &Response{
		ID:         o.text("id"),
		CreatedAt:  o.int("created_at"),
		Status:     o.text("status"),
		Model:      o.text("model"),
		Output:     list(o, "output", math.MaxInt, &inner, itemView),
		Usage:      usageView(o.object("usage")),
		Incomplete: incompleteView(o.object("incomplete_details")),
		Error:      errorView(o.object("error")),
		Unknown:    o.unknown(),
	}
	return done(r, o)
}

// JSON returns the response as one line. Members whose field is empty are left out.
func (r *Response) JSON() jsontext.Value {
	var b builder
	b.text("id", r.ID)
	if created := r.Unknown.Get("created_at"); r.CreatedAt == nil || !sameInt(created, *r.CreatedAt) {
		b.int("created_at", r.CreatedAt)
	}
	b.text("status", r.Status)
	b.text("model", r.Model)
	if len(r.Output) > 0 {
		array(&b, "output", r.Output, appendItem)
	}
	b.raw("usage", r.Usage.JSON())
	b.raw("incomplete_details", r.Incomplete.JSON())
	b.raw("error", r.Error.JSON())
	return b.end(r.Unknown)
}

// sameInt reports whether a raw number is that integer in another spelling.
func sameInt(raw jsontext.Value, n int64) bool {
	spelled, ok := jsonscan.Int64(raw)
	return ok && spelled == n
}

// MarshalJSON is [Response.JSON].
func (r Response) MarshalJSON() ([]byte, error) { return r.JSON(), nil }

// UnmarshalJSON is [ParseResponse] with a copy of data.
func (r *Response) UnmarshalJSON(data []byte) error {
	response, err := ParseResponse(slices.Clone(data))
	if err == nil {
		*r = *response
	}
	return err
}
