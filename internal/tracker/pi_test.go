package tracker_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/sessionspan/sessionspan/internal/sessiontest"
)

// Files of pi that arrive in pieces, cut anywhere and damaged, give what they give as a whole (promises P4, P5).
func TestPiInPieces(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "pi", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		data := read(t, path)
		t.Run(filepath.Base(path), func(t *testing.T) {
			for seed := range uint64(8) {
				inPieces(t, rand.New(rand.NewPCG(seed, 1)), data)
			}
		})
	}
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("at random ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			data, _ := sessiontest.RandomPi(r, 1+r.IntN(120))
			if seed%2 == 1 {
				at := bytes.IndexByte(data, '\n') + 1
				at += r.IntN(len(data) - at)
				data[at] = byte(r.IntN(256))
			}
			inPieces(t, r, data)
		})
	}
}
