package waterfall

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
)

// big is a session of n spans: runs of a hundred chats and calls, half of them after a long pause, or one chain of calls.
func big(n int, chain bool) *story {
	st := newStory()
	root := st.root()
	at := time.Duration(0)
	var run *projection.Span
	for i := range n {
		if i%100 == 0 && !(chain && run != nil) {
			at += time.Duration(i/100%2) * h
			run = st.run(root, at, at+200*s, reason("done"))
			continue
		}
		t := st.tool(run, "bash", at, at+s, state("completed"))
		at += 2 * s
		if chain {
			run = t
		}
	}
	return st
}

func BenchmarkDraw(b *testing.B) {
	for _, chain := range []bool{false, true} {
		for _, n := range []int{1_000, 10_000, 100_000} {
			st := big(n, chain)
			b.Run(fmt.Sprintf("spans=%d/chain=%t", n, chain), func(b *testing.B) {
				for b.Loop() {
					if err := st.Draw(io.Discard, Options{Width: 120, Color: true}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/span")
			})
		}
	}
}
