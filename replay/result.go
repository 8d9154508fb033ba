package replay

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sessionspan/sessionspan/internal/delivery"
)

// Why a replay of files is not whole, for errors.Is.
var (
	// ErrDown: the backend did not answer, or asked to come again, for too long: 15 seconds when it has accepted nothing,
	// five minutes when it has, or said how long to wait.
	ErrDown = delivery.ErrDown
	// ErrDenied: nothing was accepted yet, and the answer was that nothing is taken at this address, or from this sender.
	ErrDenied = delivery.ErrDenied
	// ErrUndelivered: the backend refused some spans, or did not answer for them.
	ErrUndelivered = errors.New("not every span was accepted")
	// ErrUnread: a file could not be read, or not to its end, or has damaged lines.
	ErrUnread = errors.New("not everything could be read")
)

// Result is what came of a replay of files.
type Result struct {
	// Files were read, if some of them not to their end, with Sessions in them (one that stands in several files is one, one with
	// nothing in the period asked for is none) of so many entries and bytes after decompression.
	Files, Sessions, Entries int
	Bytes                    int64
	// Damaged counts lines and entries that could not be used. Unread counts files that could not be read, which are not among
	// Files, and those that broke off, which are.
	Damaged, Unread int
	// Open counts spans that had not ended where the reading of their files did, and were not sent for that reason: [WithFinish].
	Open     int
	Delivery Delivery
}

// Delivery says what became of spans. Each of them is in one of Sent, Refused and Lost.
type Delivery struct {
	// Spans were handed over to be sent, in so many batches.
	Spans, Batches int64
	// Requests were made: one for each batch, repeats, and parts of what was too large.
	Requests int64
	// Sent were acknowledged by the backend.
	Sent int64
	// Refused were turned away for good: in a partial success, with an error that is not worth a retry, or as too large
	// however much is cut off.
	Refused int64
	// Lost were given up: there was no answer for long enough, or an interrupt. The backend may have some of them.
	Lost int64
	// Retries counts requests that were repeats of one that had failed.
	Retries int64
	// Cut counts the spans, among those sent, whose texts were cut short to become small enough for the backend.
	Cut int64
	// Bytes is the size of what was acknowledged, encoded and not compressed.
	Bytes int64
	// Messages are the first few distinct things that the backend or the connection had to say beside an acknowledgement,
	// OtherMessages how many times there was something else. They are texts of others.
	Messages      []Message
	OtherMessages int64
}

// Message is something that a backend said, and how many times.
type Message struct {
	Text  string
	Times int64
}

func newDelivery(r delivery.Result) Delivery {
	d := Delivery{
		Spans: r.Spans, Batches: r.Batches, Requests: r.Requests, Sent: r.Sent, Refused: r.Refused, Lost: r.Lost, Retries: r.Retries, Cut: r.Cut,
		Bytes: r.Bytes, OtherMessages: r.Others,
	}
	for _, m := range r.Messages {
		d.Messages = append(d.Messages, Message(m))
	}
	return d
}

// shortfall is the error of a replay that came to its end, if it is not whole.
func (r *Result) shortfall() error {
	var errs []error
	if d := &r.Delivery; d.Refused+d.Lost > 0 {
		err := fmt.Errorf("%w: of %d spans %d were refused and %d lost", ErrUndelivered, d.Spans, d.Refused, d.Lost)
		if len(d.Messages) > 0 {
			err = fmt.Errorf("%w: %s", err, d.Messages[0].Text)
		}
		errs = append(errs, err)
	}
	if r.Unread+r.Damaged > 0 {
		var parts []string
		if r.Unread > 0 {
			parts = append(parts, fmt.Sprintf("files: %d", r.Unread))
		}
		if r.Damaged > 0 {
			parts = append(parts, fmt.Sprintf("lines: %d", r.Damaged))
		}
		errs = append(errs, fmt.Errorf("%w: %s", ErrUnread, strings.Join(parts, ", ")))
	}
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("replay: %w", errs[0])
	}
	return fmt.Errorf("replay: %w; %w", errs[0], errs[1])
}

// Progress says how far a replay of files has come.
type Progress struct {
	// Bytes is the size of all files on disk, BytesRead how much of it has been read. Files counts them, and FilesRead those that
	// were reported on ([WithReports]), which wait for those before them.
	Bytes, BytesRead int64
	Files, FilesRead int
	// Sent, Refused and Lost are spans, Retries requests.
	Sent, Refused, Lost, Retries int64
}

// FileReport is what came of one file.
type FileReport struct {
	Path string
	// Session is the id of the session, Trace that of its trace.
	Session, Trace string
	// Entries were read. Spans were handed over to be sent: of a session that stands in several files, each with one of
	// them. Open are left open.
	Entries, Spans, Open int
	// Damaged counts lines and entries that could not be used.
	Damaged int
	// Err is why the file was not read to its end, an interrupt among the reasons; nil when it was.
	Err error
}
