package faults

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/e2e/collector"
)

var (
	seeds  = flag.Uint64("faults.seeds", 1, "how many random runs of each kind")
	rounds = flag.Int("faults.kills", 4, "how often in each run something goes wrong")
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
}

// fault is something that goes wrong at a random moment of each round.
type fault struct {
	name   string
	files  bool // things happen to files, too
	mayEnd bool // it may have the Collector end by itself
	strike func(*run)
}

var faults = []fault{
	{name: "killed", strike: func(r *run) { r.agent.kill(func() {}) }},
	{name: "refused", strike: func(r *run) { // for half of the time
		if r.round >= *rounds/4 && r.round < *rounds*3/4 {
			r.sink.be(refuse)
		} else {
			r.sink.be(accept)
		}
	}},
	{name: "not acknowledged", strike: alternately(lose)},
	{name: "taken in part", strike: alternately(partial)},
	{name: "not answered", strike: alternately(stall)},
	{name: "checkpoints deleted", strike: (*run).remove},
	{name: "checkpoints damaged", mayEnd: true, strike: func(r *run) {
		r.agent.kill(func() { r.agent.damage(r.r) })
	}},
	{name: "disk full", mayEnd: true, strike: (*run).fill},
	{name: "files", files: true, strike: func(*run) {}},
}

// everything has any of the others strike.
var everything = fault{name: "everything", files: true, mayEnd: true, strike: func(r *run) {
	faults[r.r.IntN(len(faults))].strike(r)
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
	if r.r.IntN(2) == 0 {
		r.agent.kill(r.agent.remove)
	}
}

// fill has the disk be full every other round.
func (r *run) fill() {
	if _, err := exec.LookPath("prlimit"); err != nil {
		r.Skip("there is no prlimit, of util-linux, by which a disk is full for one process alone")
	}
	if r.round%2 == 0 {
		r.agent.limit("4096")
	} else {
		r.agent.limit("unlimited")
	}
}

// Whatever goes wrong, the sink has in the end what a replay of the final files gives, and all copies were equal (promises P5, P6, P7).
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the Collector and starts it many times")
	}
	for _, f := range append(faults, everything) {
		t.Run(f.name, func(t *testing.T) {
			for _, config := range slices.Sorted(maps.Keys(configurations)) {
				for seed := range *seeds {
					t.Run(fmt.Sprint(config, " ", seed), func(t *testing.T) {
						t.Parallel()
						begin(t, rand.New(rand.NewPCG(seed, 19)), config, f).run(f)
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
	return s
}

const (
	roundTime = 500 * time.Millisecond
	steps     = 25 // of a round
)

func (r *run) run(f fault) {
	tick := time.NewTicker(roundTime / steps)
	defer tick.Stop()
	share := r.folder.left()/int64(*rounds*steps) + 1
	for r.round = range *rounds {
		at := r.r.IntN(steps)
		for step := range steps {
			<-tick.C
			r.folder.grow(share)
			if f.files && r.r.IntN(4) == 0 {
				r.folder.happen()
			}
			if step == at {
				f.strike(r)
			}
			r.agent.look()
		}
	}
	r.folder.finish()
	r.sink.be(accept)
	if f.mayEnd {
		r.agent.limit("unlimited")
	}
	want := replayed(r, r.folder.dir)
	r.wait(want.len(), tick)
	if err := r.agent.process.Stop(); err != nil {
		r.Error(err)
	}
	r.compare(want)
	if size >= 100e6 {
		r.agent.flat()
	}
}

// wait waits until the sink has so many spans.
func (r *run) wait(n int, tick *time.Ticker) {
	r.Helper()
	end := time.Now().Add(time.Minute + time.Duration(size)*time.Second/5e6)
	for ; r.sink.count() < n && time.Now().Before(end); <-tick.C {
		r.agent.look()
	}
}

// compare holds what the sink has against what it is to have.
func (r *run) compare(want *ledger) {
	r.Helper()
	got := r.sink.spans()
	copies := 0
	differ := map[string][]string{}
	note := func(what string, id spanID, name string) {
		differ[what] = append(differ[what], fmt.Sprintf("%v %s", id, name))
	}
	for id, w := range want.spans {
		g, came := got.spans[id]
		copies += g.times - 1
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
	r.Logf("%d files, %d spans, %d copies", len(r.folder.files), len(want.spans), copies)
}
