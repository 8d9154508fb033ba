package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// readFunc is a reader in one function.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

// An interrupt ends the reading; what was read before it is listed, and what was not is counted.
func TestListInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	header := `{"type":"session","format":"agentsession/0.2","id":"piped","created_at":"2026-01-02T03:04:05Z"}` + "\n"
	entry := `{"type":"info","id":"a","parent":null,"ts":"2026-01-02T03:04:05Z","name":"x"}` + "\n"
	in := io.MultiReader(strings.NewReader(header), readFunc(func(b []byte) (int, error) {
		cancel()
		return copy(b, entry), nil // for ever
	}))
	var out, log bytes.Buffer
	code := run(ctx, []string{"list", "--json", "-"}, streams{in: in, out: &out, err: &log})
	if code != exitFinding {
		t.Errorf("exit code %d", code)
	}
	// The entry of the read in which the signal comes may be the last one, or come too late.
	if want := regexp.MustCompile(`^{"id":"piped",.*"cut_short":true,"error":"read up to entry [01], then: interrupted"}`); !want.MatchString(out.String()) {
		t.Errorf("listed %s", &out)
	}
	if want := "1 file not read to the end\nsessionspan: interrupted while reading standard input\n"; !strings.HasSuffix(log.String(), want) {
		t.Errorf("said %q, want %q", &log, want)
	}
}

func TestListInterruptedAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, log bytes.Buffer
	s := streams{in: strings.NewReader(""), out: &out, err: &log}
	if code := run(ctx, []string{"list", "../../testdata"}, s); code != exitFinding {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(log.String(), "interrupted") || out.Len() > 0 {
		t.Errorf("said %q, wrote %q", &log, &out)
	}
}

// A list that cannot be written is a finding.
func TestListThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"list", "--json"}, {"list"}} {
		var log bytes.Buffer
		s := streams{in: strings.NewReader(""), out: closedWriter{}, err: &log}
		if code := run(t.Context(), append(args, "../../testdata/agentsession/parallel.jsonl"), s); code != exitFinding {
			t.Errorf("%v: exit code %d", args, code)
		}
		if !strings.Contains(log.String(), io.ErrClosedPipe.Error()) {
			t.Errorf("%v: said %q", args, &log)
		}
	}
}

type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// What the README shows is what its list prints in a terminal of that width.
func TestREADMEShowsWhatListPrints(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, name := range []string{"quickstart", "decisions", "no-runs", "aborted"} {
		paths = append(paths, "../../testdata/agentsession/"+name+".jsonl")
	}
	l := &list{streams: streams{err: io.Discard}}
	ix := archive.NewIndex(t.Context(), paths, nil, source.Options{})
	rows, _, _ := l.read(t.Context(), ix, &findings{w: io.Discard})
	if want := written(t, listTable(rows, terminal.Look{}), terminal.Look{Width: 118}); !strings.Contains(string(readme), want) {
		t.Errorf("the README does not show\n%s", want)
	}
}
