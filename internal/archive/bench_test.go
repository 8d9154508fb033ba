package archive_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/valyala/fastjson"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// realistic is 100 MB of sessions whose lines are as long as those of real ones; see the generator.
var realistic = sync.OnceValue(func() [][]byte {
	const size, each = 100 << 20, 2 << 20
	var files [][]byte
	for n := uint64(0); n < size/each; n++ {
		var b bytes.Buffer
		if _, err := sessiontest.Realistic(&b, rand.New(rand.NewPCG(n, 0)), each); err != nil {
			panic(err)
		}
		files = append(files, b.Bytes())
	}
	return files
})

func total(files [][]byte) (n int64) {
	for _, f := range files {
		n += int64(len(f))
	}
	return n
}

// discard is a sink that counts.
type discard struct{ spans int }

func (d *discard) Start(*projection.Span) {}
func (d *discard) End(*projection.Span)   { d.spans++ }

// encode is a sink that encodes OTLP in batches and throws them away.
type encode struct {
	discard
	batch *otlp.Batch
	bytes int
}

func (e *encode) End(s *projection.Span) {
	e.discard.End(s)
	e.batch.Add(s)
	if e.batch.Size() > 2<<20 {
		e.flush()
	}
}

func (e *encode) flush() {
	data, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: e.batch.ResourceSpans()})
	if err != nil {
		panic(err)
	}
	e.bytes += len(data)
	e.batch.Reset()
}

func readAll(b *testing.B, r io.Reader, emit func(*activity.Event)) {
	rd, err := source.NewReader(r, source.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer rd.Close()
	for {
		err := rd.Read(emit, func(d *format.DamageError) { b.Error(d) })
		if err == io.EOF {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkArchive measures each step over the same 100 MB, beside what another JSON library needs just to find four
// members of the same lines.
func BenchmarkArchive(b *testing.B) {
	files := realistic()
	run := func(name string, work func(data []byte) (spans int)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(total(files))
			spans := 0
			for b.Loop() {
				for _, data := range files {
					spans += work(data)
				}
			}
			if spans > 0 {
				b.ReportMetric(float64(spans)/b.Elapsed().Seconds(), "spans/s")
			}
		})
	}
	run("fastjson-4-members", func(data []byte) int {
		var p fastjson.Parser
		found := 0
		for line := range bytes.Lines(data) {
			v, err := p.ParseBytes(line)
			if err != nil {
				b.Fatal(err)
			}
			for _, name := range []string{"type", "id", "parent", "ts"} {
				found += len(v.GetStringBytes(name))
			}
		}
		if found == 0 {
			b.Fatal("nothing found")
		}
		return 0
	})
	run("read", func(data []byte) int {
		readAll(b, bytes.NewReader(data), func(*activity.Event) {})
		return 0
	})
	run("project", func(data []byte) int {
		sink := &discard{}
		p := projection.New(projection.Options{}, sink)
		readAll(b, bytes.NewReader(data), p.Feed)
		p.Finish()
		return sink.spans
	})
	run("encode", func(data []byte) int {
		sink := &encode{batch: otlp.NewBatch(otlp.Config{})}
		p := projection.New(projection.Options{}, sink)
		readAll(b, bytes.NewReader(data), p.Feed)
		p.Finish()
		sink.flush()
		return sink.spans
	})
}

// BenchmarkMemory (promise P11) reports what the projection of one long session holds for each entry when all of it has been read: a
// session with texts of realistic length, and a dense one that records every step and has hardly any text.
func BenchmarkMemory(b *testing.B) {
	sessions := map[string]func(w io.Writer) error{
		"realistic": func(w io.Writer) error {
			_, err := sessiontest.Realistic(w, rand.New(rand.NewPCG(1, 0)), 1<<30)
			return err
		},
		"claude-code": func(w io.Writer) error {
			return sessiontest.RealisticClaude(w, rand.New(rand.NewPCG(1, 0)), 1<<30, 40)
		},
		"dense": func(w io.Writer) error {
			c := sessiontest.Random(rand.New(rand.NewPCG(1, 0)),
				sessiontest.Options{Entries: 200_000, Records: true, Decisions: true, TextSize: 50})
			_, err := w.Write(c.Files[0].Data)
			return err
		},
	}
	for name, write := range sessions {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, w := io.Pipe()
				go func() { w.CloseWithError(write(w)) }()
				p := projection.New(projection.Options{}, &discard{})
				readAll(b, r, p.Feed)
				var with, without runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&with)
				entries := float64(p.Entries())
				runtime.KeepAlive(p)
				runtime.GC()
				runtime.ReadMemStats(&without)
				b.ReportMetric(float64(with.HeapAlloc-without.HeapAlloc)/entries, "B/entry")
				b.ReportMetric(entries, "entries")
			}
		})
	}
}
