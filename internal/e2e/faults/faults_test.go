package faults

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/e2e/collector"
)

var (
	seeds  = flag.Uint64("faults.seeds", 1, "how many random runs of each kind")
	rounds = flag.Int("faults.kills", 6, "how often in each run something goes wrong")
	size   = byteCount(2e6)
)

// byteCount is a flag: a number of bytes, with or without a unit.
type byteCount int64

func (b *byteCount) String() string { return fmt.Sprint(int64(*b)) }

// Set implements [flag.Value].
func (b *byteCount) Set(text string) error {
	factor := 1.0
	for unit, of := range map[string]float64{"KB": 1e3, "MB": 1e6, "GB": 1e9} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			text, factor = number, of
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	*b = byteCount(n * factor)
	return err
}

func TestMain(m *testing.M) {
	if os.Getenv(sinkVariable) != "" {
		if err := runSink(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Var(&size, "faults.size", "how many bytes of sessions grow in each run")
	flag.Parse()
	code := m.Run()
	collector.Remove()
	os.Exit(code)
}

// run is one history of files, a Collector, and a sink.
type run struct {
	*testing.T
	r      *rand.Rand
	folder *folder
	sink   *backend
	agent  *agent
	round  int
	// of all runs with the same fault
	failed, copies *atomic.Int64
}

// fault is something that goes wrong at a random moment of each round.
type fault struct {
	name   string
	files  bool   // things happen to files, too
	mayEnd bool   // it may have the Collector end by itself
	slow   bool   // the sink takes its time, and what strikes waits every other time until something comes
	fails  bool   // it has the sink not say that all is well
	again  bool   // it has spans come again
	skip   string // why it is not tried
	strike func(*run)
}

var faults = []fault{
	{name: "killed", slow: true, again: true, strike: func(r *run) { r.agent.kill(func() {}) }},
	{name: "refused", fails: true, strike: func(r *run) { // for half of the time
		if r.round >= *rounds/4 && r.round < *rounds*3/4 {
			r.sink.be(refuse)
		} else {
			r.sink.be(accept)
		}
	}},
	{name: "not acknowledged", fails: true, again: true, strike: alternately(lose)},
	{name: "taken in part", fails: true, strike: alternately(partial)},
	{name: "not answered", fails: true, strike: alternately(stall)},
	{name: "checkpoints deleted", again: true, strike: (*run).remove},
	{name: "checkpoints overwritten", again: true, mayEnd: true, strike: damaged((*run).overwrite)},
	{name: "checkpoints with bits flipped", again: true, mayEnd: true, strike: damaged((*run).flip)},
	{name: "disk full", again: true, skip: noLimit(), strike: (*run).fill},
	{name: "files", files: true, strike: func(*run) {}},
}

// everything has any of the others strike.
var everything = fault{name: "everything", slow: true, files: true, mayEnd: true, strike: func(r *run) {
	if f := faults[r.r.IntN(len(faults))]; f.skip == "" {
		f.strike(r)
	}
}}

// alternately has the sink do something every other round.
func alternately(m mode) func(*run) {
	return func(r *run) {
		if r.round%2 == 0 {
			r.sink.be(m)
		} else {
			r.sink.be(accept)
		}
	}
}

// remove removes the checkpoints, of a Collector that runs and goes on for a while, or of one that was killed.
func (r *run) remove() {
	if r.r.IntN(2) == 0 {
		r.agent.remove()
	}
	if r.round == 1 || r.r.IntN(2) == 0 {
		r.agent.kill(r.agent.remove)
	}
}

// damaged has the Collector killed, and its checkpoints damaged meanwhile.
func damaged(how func(r *run, data []byte, used []int) []byte) func(*run) {
	return func(r *run) {
		r.agent.kill(func() {
			r.agent.damage(func(data []byte, used []int) []byte { return how(r, data, used) })
		})
	}
}

// overwrite writes something else over some stretches, or has the end be missing.
func (r *run) overwrite(data []byte, used []int) []byte {
	if r.r.IntN(4) == 0 {
		return data[:r.r.IntN(len(data))]
	}
	for range 1 + r.r.IntN(4) {
		at := used[r.r.IntN(len(used))]
		for i := range min(8+r.r.IntN(600), len(data)-at) {
			data[at+i] = byte(r.r.Uint32())
		}
	}
	return data
}

// flip has some bits be others.
func (r *run) flip(data []byte, used []int) []byte {
	for range 1 << r.r.IntN(8) {
		data[used[r.r.IntN(len(used))]] ^= 1 << r.r.IntN(8)
	}
	return data
}

// fill has the disk be full when the Collector runs, without which it would not start; or has it killed on that: there is room again for the
// next one.
func (r *run) fill() {
	if r.round%2 == 1 {
		r.agent.kill(func() {})
	} else if r.agent.isReady(startTime) { // else it has ended, which is looked at next
		r.agent.limit("4096")
	}
}

// Whatever goes wrong, the sink has in the end what a replay of the final files gives, and all copies were equal (promises P5, P6, P7).
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the Collector and starts it many times")
	}
	if _, err := collector.Binary(); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(faults, everything) {
		t.Run(f.name, func(t *testing.T) {
			if f.skip != "" {
				t.Skip(f.skip)
			}
			var failed, copies atomic.Int64
			t.Cleanup(func() {
				if f.fails && failed.Load() == 0 || f.again && copies.Load() == 0 {
					t.Errorf("nothing went wrong in any run: the sink has failed %d times, and %d spans came again", failed.Load(), copies.Load())
				}
			})
			for _, config := range slices.Sorted(maps.Keys(configurations)) {
				for seed := range *seeds {
					t.Run(fmt.Sprint(config, " ", seed), func(t *testing.T) {
						t.Parallel()
						r := begin(t, rand.New(rand.NewPCG(seed, 19)), config, f)
						r.failed, r.copies = &failed, &copies
						r.run(f)
					})
				}
			}
		})
	}
}

func begin(t *testing.T, r *rand.Rand, config string, f fault) *run {
	home := t.TempDir()
	dir := filepath.Join(home, ".agent", "sessions")
	s := &run{T: t, r: r, sink: startBackend(t)}
	s.folder = newFolder(t, r, dir, makeSessions(t, r, t.TempDir(), int64(size)))
	s.agent = newAgent(t, config, home, s.sink.address)
	s.agent.mayEnd = f.mayEnd
	if f.slow {
		s.sink.be(slow)
	}
	return s
}

const (
	tickTime = 20 * time.Millisecond
	steps    = 20  // at most, before the fault of a round strikes
	patience = 100 // of them more, until something has come
)

func (r *run) run(f fault) {
	tick := time.NewTicker(tickTime)
	defer tick.Stop()
	share := r.folder.left()/int64(*rounds*steps) + 1
	step := func() {
		<-tick.C
		r.folder.grow(share)
		if f.files && r.r.IntN(4) == 0 {
			r.folder.happen()
		}
		r.agent.look()
	}
	for r.round = range *rounds {
		if f.slow && r.r.IntN(2) == 0 {
			before, _ := r.sink.count()
			for now, n := before, 0; now == before && n < patience; n++ {
				step()
				now, _ = r.sink.count()
			}
		}
		for range r.r.IntN(steps) {
			step()
		}
		f.strike(r)
	}
	r.folder.finish()
	r.sink.be(accept)
	if r.agent.limited {
		r.agent.limit("unlimited")
	}
	want := replayed(r, r.folder.dir)
	r.wait(want.len(), tick)
	r.agent.stop()
	r.compare(want)
	if size >= 100e6 {
		r.agent.flat()
	}
}

// wait waits until the sink has so many spans.
func (r *run) wait(n int, tick *time.Ticker) {
	r.Helper()
	end := time.Now().Add(time.Minute + time.Duration(size)*time.Second/5e6)
	for {
		spans, failed := r.sink.count()
		if spans >= n || time.Now().After(end) {
			r.failed.Add(failed)
			return
		}
		<-tick.C
		r.agent.look()
	}
}

// compare holds what the sink has against what it is to have.
func (r *run) compare(want *ledger) {
	r.Helper()
	got := r.sink.spans()
	copies := int64(0)
	differ := map[string][]string{}
	note := func(what string, id spanID, name string) {
		differ[what] = append(differ[what], fmt.Sprintf("%v %s", id, name))
	}
	for id, w := range want.spans {
		g, came := got.spans[id]
		copies += int64(g.times - 1)
		switch {
		case w.unequal > 0:
			note("are two in the replay", id, w.name)
		case !came:
			note("did not come", id, w.name)
		case g.unequal > 0:
			note("came again as others", id, w.name)
		case g.sum != w.sum:
			note("are not those of the replay", id, w.name)
		}
	}
	for id, g := range got.spans {
		if _, wanted := want.spans[id]; !wanted {
			note("came, and are not in the replay", id, g.name)
		}
	}
	for what, list := range differ {
		r.Errorf("%d of %d spans %s:\n%s", len(list), len(want.spans), what, strings.Join(list[:min(len(list), 20)], "\n"))
	}
	r.copies.Add(copies)
	r.Logf("%d files, %d spans, %d copies", len(r.folder.files), len(want.spans), copies)
}
