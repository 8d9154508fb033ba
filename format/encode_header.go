package format

import (
	"fmt"

	"github.com/sessionspan/sessionspan/internal/jsonwrite"
)

// EncodeHeader encodes a header as the first line of a file, without its line feed. The error is that of [Header.Validate], or
// wraps [ErrInvalidEntry] when [DecodeHeader] would find trouble in the line.
func EncodeHeader(h *Header) ([]byte, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	o := jsonwrite.NewStrict()
	o.Text("type", "session")
	o.Text("format", h.Format)
	o.Text("id", h.ID)
	o.Text("created_at", formatTime(h.CreatedAt))
	o.Text("payload", h.Payload)
	if h.Harness != nil {
		var in jsonwrite.Object
		in.OptionalText("name", h.Harness.Name)
		in.OptionalText("version", h.Harness.Version)
		encodeRest(&in, h.Harness.Unknown)
		o.Raw("harness", in.Bytes())
	}
	if h.Records != nil {
		o.Texts("records", h.Records)
	}
	o.OptionalText("cwd", h.CWD)
	o.OptionalText("parent_session", h.ParentSession)
	o.OptionalText("spawned_by", h.SpawnedBy)
	o.OptionalText("base", h.Base)
	o.OptionalText("media", h.Media)
	if err := encodeUnknown(o, h.Unknown); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrInvalidEntry, err)
	}
	if err := o.Err(); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrInvalidEntry, err)
	}
	line := o.Bytes()
	if h.rules().ContentIDs {
		canonical, err := canonicalLine(line)
		if err != nil {
			return nil, fmt.Errorf("%w: header: %w", ErrInvalidEntry, err)
		}
		line = canonical
	}
	if _, err := DecodeHeader(line); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return line, nil
}
