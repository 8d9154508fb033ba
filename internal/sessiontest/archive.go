package sessiontest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// Realistic writes one session of at least size bytes to w, and ends it with a turn: a session of the kind that a
// benchmark should be run on. Half of its lines are longer than about 1.2 kB, a tenth longer than 57 kB, a hundredth
// longer than 178 kB; 6 % of the bytes are backslashes. It has runs, dispatches, a few decisions, retries and
// compactions, and no branches. It is made out of blocks that are used again and again, so it is of no use for
// measuring compression.
func Realistic(w io.Writer, r *rand.Rand, size int64) (Truth, error) {
	f := realistic(w, r, newBlocks(r, realisticSize))
	f.fill(size)
	return f.truth, f.err
}

// Archive writes that many realistic sessions of about size bytes in all into dir, one file each, and returns their
// paths. Sessions are of very different lengths.
func Archive(dir string, r *rand.Rand, files int, size int64) ([]string, error) {
	weights, sum := make([]float64, files), 0.0
	for i := range weights {
		weights[i] = math.Exp(1.5 * r.NormFloat64())
		sum += weights[i]
	}
	p := newBlocks(r, realisticSize)
	var paths []string
	for _, x := range weights {
		path := filepath.Join(dir, fmt.Sprintf("session-%05d.jsonl", len(paths)))
		paths = append(paths, path)
		if err := writeFile(path, r, p, int64(float64(size)*x/sum)); err != nil {
			return paths, err
		}
	}
	return paths, nil
}

func writeFile(path string, r *rand.Rand, p prose, size int64) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	f := realistic(w, r, p)
	f.fill(size)
	return errors.Join(f.err, w.Flush(), file.Close())
}

func realistic(w io.Writer, r *rand.Rand, p prose) *file {
	o := Options{Records: true, Compactions: true, CallsPerResponse: 3, Rounds: 40}
	f := newFile(w, r, o.withDefaults(), someTime(r))
	f.prose = p
	f.header()
	return f
}

// fill writes turns until the file has that many bytes.
func (f *file) fill(size int64) {
	for p := f.root(); f.size < size && f.err == nil; {
		f.o.Decisions, f.o.Retries = f.oneIn(8), f.oneIn(8)
		p.turn()
		f.wait(5 * time.Minute)
	}
	f.finish()
}

// realisticSize draws the length of a text.
func realisticSize(r *rand.Rand, as role) int {
	// lognormal returns a length whose median is the given one.
	lognormal := func(median, spread, most float64) int {
		return int(min(median*math.Exp(spread*r.NormFloat64()), most))
	}
	switch as {
	case userText:
		return lognormal(200, 1.2, 20e3)
	case reasoningText:
		return lognormal(2500, 0.7, 30e3)
	case messageText:
		return lognormal(900, 1, 20e3)
	case argsText:
		return lognormal(1900, 0.8, 60e3)
	case outputText:
		return lognormal(46e3, 1.1, 178e3)
	default:
		return lognormal(6000, 0.5, 30e3)
	}
}
