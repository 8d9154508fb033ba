package waterfall

import (
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
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
			c := big(n, chain).collector()
			b.Run(fmt.Sprintf("spans=%d/chain=%t", n, chain), func(b *testing.B) {
				for b.Loop() {
					if err := c.Draw(b.Context(), io.Discard, Options{Look: terminal.Look{Width: 120, Color: true}}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/span")
			})
		}
	}
}

// BenchmarkDrawOf has what could cost each row as much as there is of it in the whole trace: folds, and models.
func BenchmarkDrawOf(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		folds, models := newStory(), newStory()
		folds.root()
		run := models.run(models.root(), 0, time.Duration(n)*s)
		for i := range n {
			at := time.Duration(i) * h
			folds.chat(nil, "gpt-5", at, at+s, 100, 10)
			models.chat(run, fmt.Sprint("model ", i), time.Duration(i)*s, time.Duration(i+1)*s, 100, 10)
		}
		for name, st := range map[string]*story{"folds": folds, "models": models} {
			c := st.collector()
			b.Run(fmt.Sprintf("%s=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if err := c.Draw(b.Context(), io.Discard, Options{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/span")
			})
		}
	}
}

// BenchmarkCollector reports what a collector holds of each span.
func BenchmarkCollector(b *testing.B) {
	const n = 100_000
	st := big(n, false)
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c := st.collector()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/span")
		runtime.KeepAlive(c)
	}
}
