package jsonl_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/lines"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/jsonl"
)

// text is as long as half of the entries of real sessions are at least.
var text = strings.Repeat("All the words of an entry. ", 40)

// BenchmarkAppend appends entries of 1.2 kB by one goroutine and by eight, for each policy, beside a bare write and a bare write with
// a sync of the same bytes.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8} {
		for _, sync := range []bool{false, true} {
			b.Run(fmt.Sprintf("bare/sync=%t/%d", sync, writers), func(b *testing.B) { benchBare(b, writers, sync) })
		}
		for _, policy := range []jsonl.Sync{jsonl.Never, jsonl.OnResponse, jsonl.Group, jsonl.Always} {
			b.Run(fmt.Sprintf("%s/%d", policy, writers), func(b *testing.B) {
				s, err := jsonl.Open(b.TempDir(), jsonl.WithSync(policy))
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				benchAppend(b, s, writers)
			})
		}
		b.Run(fmt.Sprintf("memory/%d", writers), func(b *testing.B) { benchAppend(b, store.NewMemory(), writers) })
	}
}

// together calls do b.N times by so many goroutines.
func together(b *testing.B, writers int, do func() error) {
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for w := range writers {
		n := b.N / writers
		if w < b.N%writers {
			n++
		}
		wg.Go(func() {
			for range n {
				if err := do(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}

func benchAppend(b *testing.B, s store.Store, writers int) {
	if _, err := s.Create(b.Context(), format.Header{ID: "s"}); err != nil {
		b.Fatal(err)
	}
	item := openresponses.UserText(text)
	together(b, writers, func() error {
		_, err := s.Append(b.Context(), "s", format.NewItem(item))
		return err
	})
}

func benchBare(b *testing.B, writers int, sync bool) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line, err := format.NewSession(format.Header{ID: "s"})
	if err != nil {
		b.Fatal(err)
	}
	id, err := line.Append(format.NewItem(openresponses.UserText(text)))
	if err != nil {
		b.Fatal(err)
	}
	raw, _ := line.Line(id)
	data := append(bytes.Clone(raw.Data), '\n')
	b.SetBytes(int64(len(data)))
	together(b, writers, func() error {
		if _, err := f.Write(data); err != nil {
			return err
		}
		if sync {
			return f.Sync()
		}
		return nil
	})
}

// BenchmarkOpen opens a session of 100 MB, beside a bare scan of its lines and a reading of its entries.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "p", "2026-01-02T03-04-05.006Z_s.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := sessiontest.Realistic(f, rand.New(rand.NewPCG(1, 0)), 100e6); err != nil {
		b.Fatal(err)
	}
	f.Close()
	h := readHeader(b, path)
	if err := os.Rename(path, filepath.Join(filepath.Dir(path), "x_"+h.ID+".jsonl")); err != nil {
		b.Fatal(err)
	}
	path = filepath.Join(filepath.Dir(path), "x_"+h.ID+".jsonl")
	run := func(name string, do func(f *os.File) error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(100e6)
			for b.Loop() {
				f, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				if err := do(f); err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
	run("scan", func(f *os.File) error {
		r := lines.NewReader(f, 64<<20)
		for {
			if _, err := r.Next(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
	run("read", func(f *os.File) error {
		r, err := format.NewReader(f)
		if err != nil {
			return err
		}
		for _, err := range r.Entries() {
			if err != nil {
				return err
			}
		}
		return nil
	})
	run("open", func(*os.File) error {
		s, err := jsonl.Open(dir, jsonl.WithSync(jsonl.Never))
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = s.Open(b.Context(), h.ID)
		return err
	})
}

func readHeader(b *testing.B, path string) *format.Header {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r, err := format.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	return r.Header()
}

// BenchmarkList lists 10,000 sessions by their headers, and with their names.
func BenchmarkList(b *testing.B) {
	s, err := jsonl.Open(b.TempDir(), jsonl.WithSync(jsonl.Never))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for n := range 10_000 {
		h := format.Header{ID: fmt.Sprint("s", n), CWD: fmt.Sprint("/home/me/project-", n%50)}
		if _, err := s.Create(b.Context(), h); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Append(b.Context(), h.ID, format.NewInfo("The name")); err != nil {
			b.Fatal(err)
		}
		if err := s.Release(h.ID); err != nil {
			b.Fatal(err)
		}
	}
	for name, f := range map[string]store.ListFilter{
		"all": {}, "newest-20": {Limit: 20}, "newest-20-with-names": {Limit: 20, WithNames: true}, "with-names": {WithNames: true},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, err := range s.List(b.Context(), f) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
