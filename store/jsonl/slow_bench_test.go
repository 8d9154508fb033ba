package jsonl

import (
	"io/fs"
	"sync"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/format"
)

// BenchmarkSlowDisk has eight goroutines append to a session on a disk that takes a millisecond longer for a sync than the one here,
// as disks do that are not in memory.
func BenchmarkSlowDisk(b *testing.B) {
	for _, policy := range []Sync{Group, Always} {
		b.Run(policy.String(), func(b *testing.B) {
			s, err := Open(b.TempDir(), WithSync(policy), withFiles(&slow{by: time.Millisecond}))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Create(b.Context(), format.Header{ID: "s"}); err != nil {
				b.Fatal(err)
			}
			const writers = 8
			b.ResetTimer()
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for n := w; n < b.N; n += writers {
						if _, err := s.Append(b.Context(), "s", format.NewInfo("x")); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
		})
	}
}

// slow is a file system whose syncs take longer.
type slow struct {
	disk
	by time.Duration
}

func (s *slow) OpenFile(name string, flag int, mode fs.FileMode) (file, error) {
	f, err := s.disk.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return &slowFile{f, s.by}, nil
}

type slowFile struct {
	file
	by time.Duration
}

func (f *slowFile) Sync() error {
	<-time.After(f.by)
	return f.file.Sync()
}
