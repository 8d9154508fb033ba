package faults

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io"
	"sync"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spanID is what a span is known by.
type spanID struct {
	trace [16]byte
	span  [8]byte
}

func (id spanID) String() string {
	return hex.EncodeToString(id.trace[:]) + "/" + hex.EncodeToString(id.span[:])
}

// seen is what is kept of a span.
type seen struct {
	sum     uint64 // of the span and its resource, as they came first
	times   int    // it came
	unequal int    // of those it was not what it was first
	name    string
}

// ledger is which spans came. It takes some hundred bytes for each, whatever they hold.
type ledger struct {
	mu    sync.Mutex
	spans map[spanID]seen
	names map[string]string // each once
}

func newLedger() *ledger { return &ledger{spans: map[spanID]seen{}, names: map[string]string{}} }

// add enters spans, and returns how many they are.
func (l *ledger) add(list []*tracepb.ResourceSpans) (n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	encode := proto.MarshalOptions{Deterministic: true}
	for _, r := range list {
		resource, err := encode.Marshal(r.Resource)
		if err != nil {
			return n, err
		}
		for _, sc := range r.ScopeSpans {
			for _, s := range sc.Spans {
				if proto.Equal(s.Status, &tracepb.Status{}) {
					s.Status = nil // some write it where nothing is set, some do not
				}
				span, err := encode.Marshal(s)
				if err != nil {
					return n, err
				}
				n++
				h := fnv.New64a()
				h.Write(resource)
				h.Write(span)
				l.enter(spanID{[16]byte(s.TraceId), [8]byte(s.SpanId)}, h.Sum64(), s.Name)
			}
		}
	}
	return n, nil
}

func (l *ledger) enter(id spanID, sum uint64, name string) {
	s, again := l.spans[id]
	switch {
	case !again:
		if l.names[name] == "" {
			l.names[name] = name
		}
		s.sum, s.name = sum, l.names[name]
	case s.sum != sum:
		s.unequal++
	}
	s.times++
	l.spans[id] = s
}

// len is how many spans there are, each counted once.
func (l *ledger) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.spans)
}

// write writes the ledger, a line for each span.
func (l *ledger) write(out io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := bufio.NewWriter(out)
	for id, s := range l.spans {
		fmt.Fprintf(w, "%x %x %x %d %d %q\n", id.trace, id.span, s.sum, s.times, s.unequal, s.name)
	}
	return w.Flush()
}

// readLedger reads what write has written.
func readLedger(in io.Reader) (*ledger, error) {
	l := newLedger()
	for lines := bufio.NewScanner(in); ; {
		if !lines.Scan() {
			return l, lines.Err()
		}
		var trace, span []byte
		var s seen
		if _, err := fmt.Sscanf(lines.Text(), "%x %x %x %d %d %q", &trace, &span, &s.sum, &s.times, &s.unequal, &s.name); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		l.spans[spanID{[16]byte(trace), [8]byte(span)}] = s
	}
}
