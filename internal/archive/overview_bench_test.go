package archive_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/source"
)

// BenchmarkOverviews lists 10,000 sessions of about 100 entries each, headers first, and reports what is kept of each.
func BenchmarkOverviews(b *testing.B) {
	const sessions, different = 10_000, 500
	dir := b.TempDir()
	var paths []string
	var size int64
	for n := range sessions {
		r := rand.New(rand.NewPCG(uint64(n%different), 0))
		file := sessiontest.Random(r, sessiontest.Options{Entries: 100, TextSize: 500, Records: true, Branches: true}).Files[0]
		path := filepath.Join(dir, fmt.Sprintf("%05d.jsonl", n))
		if err := os.WriteFile(path, file.Data, 0o600); err != nil {
			b.Fatal(err)
		}
		paths = append(paths, path)
		size += int64(len(file.Data))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		ix := archive.NewIndex(b.Context(), paths, nil, source.Options{})
		all := ix.Overviews(b.Context(), ix.Files, archive.Options{})
		for _, v := range all {
			if v.Err != nil || v.Entries == 0 {
				b.Fatal(v.File.Path, v.Entries, v.Err)
			}
		}
		var with, without runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&with)
		runtime.KeepAlive(all)
		ix, all = nil, nil
		runtime.GC()
		runtime.ReadMemStats(&without)
		b.ReportMetric(float64(with.HeapAlloc-without.HeapAlloc)/sessions, "B/session")
	}
	b.ReportMetric(sessions*float64(b.N)/b.Elapsed().Seconds(), "sessions/s")
}
