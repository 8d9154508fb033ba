package sqlite_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/sqlite"
)

func benchStore(b *testing.B, opts ...sqlite.Option) *sqlite.Store {
	b.Helper()
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "s.db"), opts...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// BenchmarkAppend appends entries of 1.2 kB.
func BenchmarkAppend(b *testing.B) {
	entry := say(strings.Repeat("All the words of an entry. ", 40))
	for name, opts := range map[string][]sqlite.Option{"full": nil, "relaxed": {sqlite.WithRelaxedSync()}} {
		b.Run(name, func(b *testing.B) {
			s := benchStore(b, opts...)
			if _, err := s.Create(b.Context(), format.Header{ID: "s"}); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := s.Append(b.Context(), "s", entry); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
		})
	}
}

// BenchmarkOpen opens a session of 100 MB.
func BenchmarkOpen(b *testing.B) {
	s := benchStore(b, sqlite.WithRelaxedSync())
	var file bytes.Buffer
	if _, err := sessiontest.Realistic(&file, rand.New(rand.NewPCG(1, 0)), 100e6); err != nil {
		b.Fatal(err)
	}
	session, err := s.Import(b.Context(), &file)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(100e6)
	for b.Loop() {
		if err := s.Release(session.ID()); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Open(b.Context(), session.ID()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList lists 10,000 sessions, all and the newest, always with their names.
func BenchmarkList(b *testing.B) {
	s := benchStore(b, sqlite.WithRelaxedSync())
	for n := range 10_000 {
		h := format.Header{ID: fmt.Sprint("s", n), CWD: fmt.Sprint("/home/me/project-", n%50)}
		if _, err := s.Create(b.Context(), h); err != nil {
			b.Fatal(err)
		}
		if err := s.Release(h.ID); err != nil {
			b.Fatal(err)
		}
	}
	for name, f := range map[string]store.ListFilter{"all": {}, "newest-20": {Limit: 20}, "folder": {CWD: "/home/me/project-7"}} {
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
