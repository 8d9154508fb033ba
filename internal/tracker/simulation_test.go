package tracker_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

var seeds = flag.Uint64("seeds", 60, "number of random histories of files")

// Whatever happens to the files while they grow, and to whoever follows them, what is delivered in the end is what a replay of the files
// gives, and what came again was equal (promises P5, P6, P7).
func TestDeliveredEqualsReplayOfTheFinalFiles(t *testing.T) {
	for seed := range *seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				newSimulation(t, rand.New(rand.NewPCG(seed, 7))).run()
			})
		})
	}
}

// simulation is a folder in which agents write, and other things happen.
type simulation struct {
	*testing.T
	r       *rand.Rand
	dir     string
	files   []*simulated
	names   int
	store   memory
	out     *collector
	options tracker.Options
	tracker *tracker.Tracker
}

// simulated is a file that is to have some bytes in the end.
type simulated struct {
	path string
	data []byte
	has  int    // bytes
	gone bool   // for now
	over bool   // compressed, and with that complete
	rest []byte // of the compressed file, which is being written
	// kept: a call spawned it, and its header is always there, so many bytes. Without that nobody could tell the trace of what leads to it.
	kept int
}

func newSimulation(t *testing.T, r *rand.Rand) *simulation {
	s := &simulation{T: t, r: r, dir: t.TempDir(), store: memory{}, out: newCollector(t)}
	o := sessiontest.All(r)
	o.Entries = min(o.Entries, 60)
	o.Silences = false
	o.Subsessions = min(o.Subsessions, 2)
	for range 1 + r.IntN(3) {
		c := sessiontest.Random(r, o)
		for _, f := range c.Files {
			one := &simulated{path: s.name(), data: f.Data}
			if f.ParentSession != "" {
				one.kept = bytes.IndexByte(f.Data, '\n') + 1
				s.write(one, one.kept)
			}
			s.files = append(s.files, one)
		}
	}
	s.options = tracker.Options{
		Projection: projection.Options{Group: []projection.Group{projection.GroupSession, projection.GroupRun}[r.IntN(2)]},
		BatchBytes: []int{0, 1, 20_000}[r.IntN(3)], StateBytes: []int64{0, 1, 50_000}[r.IntN(3)],
	}
	s.options.Follow.MaxOpen = 1 + r.IntN(4)
	s.begin()
	return s
}

// name returns a path that nothing has had.
func (s *simulation) name() string {
	s.names++
	dir := filepath.Join(s.dir, []string{"a", "b", "b/c"}[s.r.IntN(3)])
	s.ok(os.MkdirAll(dir, 0o700))
	return filepath.Join(dir, fmt.Sprintf("%03d.jsonl", s.names))
}

func (s *simulation) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// begin starts a process that follows.
func (s *simulation) begin() {
	o := s.options
	if s.r.IntN(4) > 0 {
		o.Checkpoints = s.store
	}
	s.tracker = track(s, s.dir, o, s.out)
}

func (s *simulation) run() {
	for range 60 + s.r.IntN(200) {
		s.happen(s.files[s.r.IntN(len(s.files))])
		if s.r.IntN(3) == 0 {
			s.ok(s.tracker.Step(s.Context()))
			time.Sleep(time.Duration(s.r.IntN(3000)) * time.Millisecond)
		}
		if s.r.IntN(25) == 0 {
			s.restart()
		}
	}
	for _, f := range s.files {
		switch {
		case f.rest != nil:
			s.finish(f)
		case !f.over:
			s.restore(f)
			s.write(f, len(f.data))
		}
	}
	s.out.refuse = nil
	for range 6 { // by then everything has been looked at, and what was refused tried again
		time.Sleep(time.Minute)
		s.ok(s.tracker.Step(s.Context()))
	}
	s.ok(s.tracker.Flush(s.Context()))
	s.ok(s.tracker.Close())
	s.out.equals(s.T, replayed(s, s.options.Projection, s.dir))
}

// happen has something happen to a file.
func (s *simulation) happen(f *simulated) {
	switch {
	case f.over:
		return
	case f.rest != nil:
		s.finish(f)
		return
	}
	switch s.r.IntN(20) {
	case 0: // cut off, as by somebody who repairs it; it is written again
		if !f.gone && f.has > 0 {
			f.has = max(s.r.IntN(f.has), f.kept)
			s.ok(os.Truncate(f.path, int64(f.has)))
		}
	case 1: // written anew in its place
		if !f.gone {
			s.ok(os.WriteFile(f.path, f.data[:f.has], 0o600))
		}
	case 2: // replaced, by another file with its name
		if !f.gone {
			temp := f.path + ".new"
			s.ok(os.WriteFile(temp, f.data[:f.has], 0o600))
			s.ok(os.Rename(temp, f.path))
		}
	case 3: // moved
		if !f.gone {
			to := s.name()
			if err := os.Rename(f.path, to); err == nil {
				f.path = to
			}
		}
	case 4: // copied; the copy goes on by itself
		if !f.gone && len(s.files) < 12 {
			to := &simulated{path: s.name(), data: f.data, has: f.has}
			s.ok(os.WriteFile(to.path, f.data[:f.has], 0o600))
			s.files = append(s.files, to)
		}
	case 5: // removed, for a while
		if !f.gone && f.has > 0 && f.kept == 0 {
			s.ok(os.Remove(f.path))
			f.gone = true
		}
	case 6: // compressed, at the end
		if f.has == len(f.data) && !f.gone {
			s.compress(f)
		}
	case 7: // the backend is away, or back
		switch {
		case s.out.refuse != nil:
			s.out.refuse = nil
		case s.r.IntN(2) == 0:
			s.out.refuse = func([]*projection.Span) error { return errAway }
		default: // or takes a part, and never the rest
			s.out.refuse = func(spans []*projection.Span) error {
				return &tracker.Refusal{Spans: 1 + s.r.IntN(len(spans)), Err: errAway}
			}
		}
	default:
		s.restore(f)
		s.write(f, min(len(f.data), f.has+1+s.r.IntN(1+len(f.data)/4)))
	}
}

// restore has a file be there again.
func (s *simulation) restore(f *simulated) {
	if f.gone {
		f.gone = false
		if s.r.IntN(2) == 0 {
			f.path = s.name()
		}
		s.ok(os.WriteFile(f.path, f.data[:f.has], 0o600))
	}
}

// write appends to a file up to so many bytes, which may be in the middle of a line.
func (s *simulation) write(f *simulated, upTo int) {
	s.appendTo(f.path, f.data[f.has:upTo])
	f.has = upTo
}

func (s *simulation) appendTo(path string, data []byte) {
	out, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	s.ok(err)
	_, err = out.Write(data)
	s.ok(err)
	s.ok(out.Close())
}

func (s *simulation) compress(f *simulated) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(f.data)
	s.ok(err)
	s.ok(z.Close())
	n := s.r.IntN(packed.Len())
	s.ok(os.WriteFile(f.path+".gz", packed.Bytes()[:n], 0o600))
	f.rest = packed.Bytes()[n:]
	if s.r.IntN(2) == 0 {
		s.finish(f)
	}
}

// finish has a compressed file be whole.
func (s *simulation) finish(f *simulated) {
	s.appendTo(f.path+".gz", f.rest)
	f.rest, f.over = nil, true
	if s.r.IntN(3) > 0 {
		s.ok(os.Remove(f.path))
	}
}

// restart ends the process that follows, in order or not, and starts another one, which may find nothing of what the other had kept.
func (s *simulation) restart() {
	if s.r.IntN(2) == 0 {
		s.ok(s.tracker.Flush(s.Context()))
	}
	s.ok(s.tracker.Close())
	switch s.r.IntN(6) {
	case 0:
		clear(s.store)
	case 1: // an older state, as of a backup
		for key := range s.store {
			if s.r.IntN(2) == 0 {
				delete(s.store, key)
			}
		}
	}
	s.begin()
}
