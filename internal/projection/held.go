package projection

// Held is a sink that keeps spans until it is known which of them are wanted.
type Held struct {
	started []*Span
	ended   []*Span
}

// Start keeps a span.
func (h *Held) Start(s *Span) { h.started = append(h.started, s) }

// End keeps that a span has ended.
func (h *Held) End(s *Span) { h.ended = append(h.ended, s) }

// Release gives a sink the spans that are wanted, in the order in which they came.
func (h *Held) Release(to Sink, want func(*Span) bool) {
	for _, s := range h.started {
		if want(s) {
			to.Start(s)
		}
	}
	for _, s := range h.ended {
		if want(s) {
			to.End(s)
		}
	}
}
