package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/source"
)

// eventsIn are the events of a file in words, and those that come when nothing more will.
func eventsIn(t *testing.T, name string, data []byte) (events, late []string) {
	t.Helper()
	rd, err := source.NewReader(bytes.NewReader(data), source.Options{Format: name})
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	seen := map[string]bool{}
	emit := func(list *[]string) func(*activity.Event) {
		return func(ev *activity.Event) {
			_, begins := ev.Fact.(*activity.Session)
			key := ev.Within + " " + ev.Key
			if begins && seen[key] || !begins && ev.Key == "" || ev.Part > 0 && !seen[key] {
				t.Errorf("part %d of %q, which has no first", ev.Part, key)
			}
			seen[key] = true
			fact, err := json.Marshal(ev.Fact)
			if err != nil {
				t.Errorf("%+v: %v", ev.Fact, err)
			}
			*list = append(*list, fmt.Sprintf("%q %q %q %d %q %v %d %d %T %s", ev.Within, ev.Key, ev.Parent, ev.Part, ev.Owner, ev.Time, ev.Line, ev.Offset, ev.Fact, fact))
		}
	}
	for err == nil {
		err = rd.Read(emit(&events), func(*format.DamageError) {})
	}
	if len(events) == 0 {
		return nil, nil
	}
	rd.Flush(source.Silence, emit(&late))
	again := []string{}
	rd.Flush(source.Silence, emit(&again))
	if len(again) > 0 {
		t.Errorf("said twice: %v", again)
	}
	return events, late
}

// staysSaid holds that a file can be read: nothing panics, an entry begins with its first part, and what a part of the file says stays said
// whatever follows.
func staysSaid(t *testing.T, name string, data []byte, after uint8) {
	t.Helper()
	whole, _ := eventsIn(t, name, data)
	end := 0
	for line := range bytes.Lines(data) {
		if end += len(line); after == 0 {
			break
		}
		after--
	}
	part, _ := eventsIn(t, name, data[:end])
	if len(part) > len(whole) || !slices.Equal(part, whole[:len(part)]) {
		t.Errorf("the first %d bytes say\n%s\nand all of them\n%s", end, strings.Join(part, "\n"), strings.Join(whole, "\n"))
	}
}

// FuzzPi has any lines read as a session of pi.
func FuzzPi(f *testing.F) {
	for _, pattern := range []string{"*.jsonl", "forked/*.jsonl"} {
		paths, err := filepath.Glob(filepath.Join("../../testdata/pi", pattern))
		if err != nil || len(paths) == 0 {
			f.Fatal(len(paths), err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data, uint8(7))
		}
	}
	for seed := range uint64(5) {
		data, _ := sessiontest.RandomPi(rand.New(rand.NewPCG(seed, 9)), 15)
		f.Add(data, uint8(3*seed))
	}
	f.Add([]byte("{\n\x00\n"+`{"type":"session","id":"s","thinkingLevel":"low"}`+"\nnull\n"+strings.Repeat(`{"type":"message","message":{"role":"user"}}`+"\n", 3)), uint8(5))
	f.Fuzz(func(t *testing.T, data []byte, after uint8) { staysSaid(t, source.Pi.Name, data, after) })
}

// FuzzClaude has any lines read as a session of Claude Code.
func FuzzClaude(f *testing.F) {
	paths := 0
	err := filepath.WalkDir("../../testdata/claude-code", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		data, err := os.ReadFile(path)
		paths++
		f.Add(data, uint8(5))
		return err
	})
	if err != nil || paths == 0 {
		f.Fatal(paths, err)
	}
	for seed := range uint64(8) {
		files, _ := sessiontest.RandomClaude(rand.New(rand.NewPCG(seed, 9)), 3, sessiontest.ClaudeCopies(seed%4))
		f.Add(files[0].Data, uint8(3*seed))
	}
	f.Fuzz(func(t *testing.T, data []byte, after uint8) { staysSaid(t, source.Claude.Name, data, after) })
}
