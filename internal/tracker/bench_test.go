package tracker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/benchtest"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

// dropping is a sink that keeps nothing.
type dropping struct{}

func (dropping) Start(*projection.Span) {}
func (dropping) End(*projection.Span)   {}

// BenchmarkThroughput reads a realistic archive of 100 sessions, as a replay projects it and as it is followed.
func BenchmarkThroughput(b *testing.B) {
	dir := b.TempDir()
	paths, err := sessiontest.Archive(dir, rand.New(rand.NewPCG(1, 0)), 100, 200e6)
	if err != nil {
		b.Fatal(err)
	}
	size := int64(0)
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			b.Fatal(err)
		}
		size += info.Size()
	}
	b.Run("replay", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			index := archive.NewIndex(b.Context(), paths, nil, source.Options{})
			for _, group := range index.Traces() {
				for _, f := range group {
					if rep := index.Project(b.Context(), f, archive.Options{}, dropping{}); rep.Err != nil {
						b.Fatal(rep.Err)
					}
				}
			}
		}
	})
	b.Run("follow", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			tr := track(b, dir, tracker.Options{}, taking{})
			for tr.Stats().BytesRead < size {
				look(b, tr)
			}
			if err := tr.Flush(b.Context()); err != nil {
				b.Fatal(err)
			}
			tr.Close()
		}
	})
}

// finished makes so many small files of sessions that have ended, and a tracker's records of them.
func finished(b *testing.B, files int) (dir string, kept memory) {
	b.Helper()
	dir, kept = b.TempDir(), memory{}
	for i := range files {
		c := sessiontest.Random(rand.New(rand.NewPCG(uint64(i), 2)), sessiontest.Options{Entries: 8, Records: true})
		sub := filepath.Join(dir, fmt.Sprintf("%02d", i%100))
		if err := os.MkdirAll(sub, 0o700); err != nil {
			b.Fatal(err)
		}
		path := filepath.Join(sub, fmt.Sprintf("%d.jsonl", i))
		if err := os.WriteFile(path, c.Files[0].Data, 0o600); err != nil {
			b.Fatal(err)
		}
		// Not all at the same time, or they would be looked at together.
		at := time.Now().Add(-time.Duration(i%600) * time.Second)
		if err := os.Chtimes(path, at, at); err != nil {
			b.Fatal(err)
		}
	}
	tr := track(b, dir, tracker.Options{Checkpoints: kept, BatchWait: time.Millisecond}, taking{})
	look(b, tr)
	for !tr.Idle() {
		look(b, tr)
	}
	if err := tr.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	tr.Close()
	return dir, kept
}

// BenchmarkRestart starts over 10,000 finished files.
func BenchmarkRestart(b *testing.B) {
	dir, kept := finished(b, 10_000)
	for b.Loop() {
		tr := track(b, dir, tracker.Options{Checkpoints: kept}, taking{})
		look(b, tr)
		st := tr.Stats()
		b.ReportMetric(float64(st.BytesRead+st.Reread), "bytes-read")
		if st.Files != 10_000 {
			b.Fatalf("%+v", st)
		}
		tr.Close()
	}
}

// BenchmarkIdle follows files in which nothing happens, for five seconds each time.
func BenchmarkIdle(b *testing.B) {
	dir, kept := finished(b, 10_000)
	tr := track(b, dir, tracker.Options{Checkpoints: kept}, taking{})
	defer tr.Close()
	look(b, tr)
	const long = 5 * time.Second
	for b.Loop() {
		before := benchtest.CPUTime(b)
		ctx, stop := context.WithTimeout(b.Context(), long)
		if err := tr.Run(ctx); err != nil {
			b.Fatal(err)
		}
		stop()
		b.ReportMetric(100*(benchtest.CPUTime(b)-before).Seconds()/long.Seconds(), "%-of-a-core")
	}
}

// BenchmarkDelay is the time from an appended line to the span that it ends, with and without the system telling of changes.
func BenchmarkDelay(b *testing.B) {
	for _, told := range []bool{true, false} {
		b.Run(fmt.Sprint("told=", told), func(b *testing.B) {
			dir := b.TempDir()
			got := make(chan struct{}, 1000)
			o := tracker.Options{BatchWait: time.Millisecond, Problem: func(string, error, bool) {}}
			o.Follow.Interval = 500 * time.Millisecond
			if told {
				n, err := follow.NewNotifier()
				if err != nil {
					b.Skip(err)
				}
				o.Follow.Notifier = n
			}
			tr := track(b, dir, o, signalling{got})
			ctx, stop := context.WithCancel(b.Context())
			ended := make(chan error, 1)
			go func() { ended <- tr.Run(ctx) }()
			defer func() {
				stop()
				if err := <-ended; err != nil {
					b.Error(err)
				}
				tr.Close()
			}()
			s, err := format.NewSession(format.Header{ID: "s"})
			if err != nil {
				b.Fatal(err)
			}
			file, err := os.Create(filepath.Join(dir, "s.jsonl"))
			if err != nil {
				b.Fatal(err)
			}
			defer file.Close()
			if _, err := s.WriteTo(file); err != nil {
				b.Fatal(err)
			}
			s.Attach(func(more []byte, _ format.Entry) error { _, err := file.Write(more); return err })
			if _, err := s.Append(format.NewResponse("first", "gpt-5", "completed")); err != nil {
				b.Fatal(err)
			}
			<-got
			for i := 0; b.Loop(); i++ {
				if _, err := s.Append(format.NewResponse(fmt.Sprint(i), "gpt-5", "completed")); err != nil {
					b.Fatal(err)
				}
				<-got
			}
		})
	}
}

// signalling is a consumer that tells when it is given something.
type signalling struct{ got chan struct{} }

func (s signalling) Consume(context.Context, []*projection.Span) error {
	s.got <- struct{}{}
	return nil
}
