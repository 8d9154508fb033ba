package archive_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
)

// BenchmarkAgents reads session files of pi, of Claude Code and of the Agent Session Format of the same size, made of the same texts, and
// says how the speeds relate: pi has to come to three quarters. Long ones have the lines of Realistic, in short ones texts are a fortieth of
// that, which is how long those of the real files beside the repository are.
func BenchmarkAgents(b *testing.B) {
	const size = 8 << 20
	for _, shorter := range []int{1, 40} {
		name := "long"
		if shorter > 1 {
			name = "short"
		}
		var own bytes.Buffer
		if err := sessiontest.Shortened(&own, rand.New(rand.NewPCG(1, 0)), size, shorter); err != nil {
			b.Fatal(err)
		}
		asf := 0.0
		read := func(format string, data []byte) {
			b.Run(name+"/"+format, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					p := projection.New(projection.Options{}, &discard{})
					readAll(b, bytes.NewReader(data), p.Feed)
				}
				speed := float64(len(data)) * float64(b.N) / b.Elapsed().Seconds()
				b.ReportMetric(float64(len(data))/float64(bytes.Count(data, []byte("\n"))), "B/line")
				if format != "agentsession" && asf > 0 {
					b.ReportMetric(speed/asf, "of-agentsession")
				} else {
					asf = speed
				}
			})
		}
		read("agentsession", own.Bytes())
		read("pi", sessiontest.RealisticPi(rand.New(rand.NewPCG(1, 0)), size, shorter))
		var claude bytes.Buffer
		if err := sessiontest.RealisticClaude(&claude, rand.New(rand.NewPCG(1, 0)), size, shorter); err != nil {
			b.Fatal(err)
		}
		read("claude-code", claude.Bytes())
	}
}
