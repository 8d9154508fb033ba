package delivery

import (
	"slices"
	"sync"
)

// Result says what became of the spans that a [Sender] was given. Once the sender is closed, each of them is in exactly one of
// Sent, Refused and Lost.
type Result struct {
	// Spans is how many have been handed over to be sent, Batches in how many batches.
	Spans, Batches int64
	// Sent were acknowledged by the backend.
	Sent int64
	// Refused were turned away by the backend for good: in a partial success, with an error that is not worth a retry, or
	// because they are too large however much is cut off.
	Refused int64
	// Lost were given up: the backend did not answer for long enough, or there was an interrupt. It may have taken some of
	// them without its answer having arrived.
	Lost int64
	// Requests is how many were made: at least one for each batch, unless there was an interrupt.
	Requests int64
	// Retries counts requests that were repeats of one that had failed.
	Retries int64
	// Cut counts the spans, among those sent, whose texts were shortened since they were larger than the backend takes.
	Cut int64
	// Bytes is the size of what was acknowledged, encoded and not compressed.
	Bytes int64
	// Messages are the first few distinct things that the backend, or the connection to it, had to say beside an
	// acknowledgement, and Others how many times there was something else. They are texts of others: sanitise them before
	// they are printed.
	Messages []Message
	Others   int64
}

// Message is something that was answered, and how many times.
type Message struct {
	Text  string
	Times int64
}

// maxMessages is how many distinct messages a result holds.
const maxMessages = 8

// tally is a result that grows.
type tally struct {
	mu       sync.Mutex
	result   Result
	progress func(Result)
}

// snapshot returns the result so far.
func (t *tally) snapshot() Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.copied()
}

func (t *tally) copied() Result {
	r := t.result
	r.Messages = slices.Clone(r.Messages)
	return r
}

// update changes the result.
func (t *tally) update(change func(*Result)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.result)
}

// report tells of the progress.
func (t *tally) report() {
	if t.progress == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress(t.copied())
}

// note counts a message.
func (r *Result) note(text string) {
	if text == "" {
		return
	}
	for i := range r.Messages {
		if r.Messages[i].Text == text {
			r.Messages[i].Times++
			return
		}
	}
	if len(r.Messages) == maxMessages {
		r.Others++
		return
	}
	r.Messages = append(r.Messages, Message{Text: text, Times: 1})
}
