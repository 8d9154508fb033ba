package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tree in the README is what its command draws.
func TestREADMEShowsTheTreeThatShowDraws(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\\$ sessionspan (show [^\n]*)\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the README does not have the command")
	}
	t.Chdir("../..")
	t.Setenv("LC_ALL", "C.UTF-8")
	var out, log bytes.Buffer
	if code := run(t.Context(), strings.Fields(string(block[1])), streams{in: strings.NewReader(""), out: &out, err: &log}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &log)
	}
	if got := out.String(); got != string(block[2]) {
		t.Errorf("the README shows\n%s\nand the command draws\n%s", block[2], got)
	}
}

// The contexts that the fixtures of the format's own repository expect are those that show gives.
func TestShowGivesTheContextsOfTheFixtures(t *testing.T) {
	expected, _ := filepath.Glob("../../../shared/fixtures/agentsession/*/*.context.json")
	if len(expected) == 0 {
		t.Skip("no fixtures")
	}
	for _, path := range expected {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var contexts map[string]map[string]any
		if err := json.Unmarshal(data, &contexts); err != nil {
			t.Fatal(err)
		}
		file := strings.TrimSuffix(path, ".context.json") + ".jsonl"
		for leaf, want := range contexts {
			got := shownContextOf(t, file, leaf)
			items, from := []any{}, []any{}
			for _, item := range got["items"].([]any) {
				items = append(items, item.(map[string]any)["item"])
				from = append(from, item.(map[string]any)["entry"])
			}
			for name, have := range map[string]any{
				"settings": got["settings"], "items": items, "item_entries": from, "entries": got["entries"], "omitted": got["omitted"],
			} {
				if want[name] == nil {
					continue
				}
				if diff := cmp.Diff(want[name], have); diff != "" {
					t.Errorf("%s, leaf %s: %s (-want +got):\n%s", file, leaf, name, diff)
				}
			}
		}
	}
}

func shownContextOf(t *testing.T, file, leaf string) (shown map[string]any) {
	t.Helper()
	var out, log bytes.Buffer
	args := []string{"show", "--json", "--context", "--leaf", leaf, file}
	if code := run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &log}); code != exitOK {
		t.Fatalf("%s: exit code %d: %s", file, code, &log)
	}
	if err := json.Unmarshal(out.Bytes(), &shown); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return shown
}

func TestAnInterruptEndsAWait(t *testing.T) {
	for _, args := range [][]string{{"show", "-"}, {"verify", "-"}, {"verify", "--json", "-"}} {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		go func() { // what is read first shows that the reading has begun
			_, _ = w.Write([]byte(`{"type":"session",`))
			cancel()
		}()
		var out, log bytes.Buffer
		code := run(ctx, args, streams{in: r, out: &out, err: &log})
		if code != exitFinding || !strings.Contains(log.String(), "interrupted") || out.Len() > 0 {
			t.Errorf("%q: exit code %d, %s, %s", args, code, &log, &out)
		}
		w.Close()
	}
}

// What was read before an interrupt is shown, and said to be a part.
func TestShowInterrupted(t *testing.T) {
	text := strings.Join(strings.SplitAfter(string(fixture(t)), "\n")[:20], "")
	for _, args := range [][]string{{"show", "-"}, {"show", "--json", "-"}, {"show", "--raw", "-"}} {
		ctx, cancel := context.WithCancel(t.Context())
		in := &silent{strings.NewReader(text), cancel, make(chan struct{})}
		code, out, log := call(ctx, in, args...)
		close(in.end)
		want := "sessionspan: interrupted while reading standard input\n"
		shown := strings.Contains(out, "Fix the")
		if args[1] == "--raw" {
			shown = out == "" // half a file is none
		} else {
			want = "not read to the end: -: read up to entry 19, then: interrupted\n" + want
		}
		if code != exitFinding || log != want || !shown {
			t.Errorf("%q: exit code %d, said %q, want %q\n%s", args, code, log, want, out)
		}
	}
}
