package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const quickstart = "../../testdata/agentsession/quickstart.jsonl"

// fixture returns a session file of the project.
func fixture(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// call runs the command line.
func call(ctx context.Context, in io.Reader, args ...string) (code int, out, log string) {
	var o, e bytes.Buffer
	code = run(ctx, args, streams{in: in, out: &o, err: &e})
	return code, o.String(), e.String()
}

// object reads the summary for programs, which is all that there is.
func object(t *testing.T, log string) (s struct {
	Entries     int
	Error       string
	Interrupted *interruption
	Problems    []problem
},
) {
	t.Helper()
	if err := json.Unmarshal([]byte(log), &s); err != nil {
		t.Fatalf("not one JSON object: %v\n%s", err, log)
	}
	return s
}

// silent is standard input that gives a text and then nothing, until its end is asked for.
type silent struct {
	text  io.Reader
	waits func()
	end   chan struct{}
}

func (s *silent) Read(p []byte) (int, error) {
	if n, _ := s.text.Read(p); n > 0 {
		return n, nil
	}
	s.waits()
	<-s.end
	return 0, io.EOF
}

// An interrupt ends the command while standard input is silent, before its header as after it, and it is said what was
// being read and what was not reached.
func TestInterruptWhileInputIsSilent(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		entries          int
	}{
		{"before the header", "\n\n", "interrupted while reading the header of standard input; 1 file not reached", 0},
		{
			"after some entries", strings.Join(strings.SplitAfter(string(fixture(t)), "\n")[:20], ""),
			"interrupted while reading standard input; 1 file not reached; what is above is complete as far as it goes", 19,
		},
	} {
		for _, asJSON := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, json=%t", test.name, asJSON), func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				in := &silent{strings.NewReader(test.text), cancel, make(chan struct{})}
				defer close(in.end)
				code, out, log := call(ctx, in, "replay", fmt.Sprintf("--json=%t", asJSON), "-", "../../testdata/agentsession/parallel.jsonl")
				if code != exitFinding {
					t.Errorf("exit code %d", code)
				}
				if strings.Contains(out, "invoke_agent") != (test.entries > 0) {
					t.Errorf("drawn:\n%s", out)
				}
				if !asJSON {
					if !strings.HasSuffix(log, "sessionspan: "+test.want+"\n") || strings.Contains(log, "not read:") {
						t.Errorf("said:\n%s", log)
					}
					return
				}
				s := object(t, log)
				if s.Error != test.want || s.Entries != test.entries || s.Interrupted == nil ||
					*s.Interrupted.Path != "standard input" || s.Interrupted.NotReached != 1 {
					t.Errorf("got %s", log)
				}
			})
		}
	}
}

// canceling takes what is written, and interrupts with the first of it.
type canceling struct {
	text   bytes.Buffer
	cancel func()
}

func (c *canceling) Write(p []byte) (int, error) {
	c.cancel()
	return c.text.Write(p)
}

// So does an interrupt while a long picture is made.
func TestInterruptWhileDrawing(t *testing.T) {
	const calls = 5000
	text := strings.Builder{}
	text.WriteString(`{"type":"session","format":"agentsession/0.2","id":"long","created_at":"2026-01-02T03:04:05Z","payload":"p/1"}` + "\n")
	parent := "null"
	for i := range calls {
		fmt.Fprintf(&text, `{"type":"response","id":"e%d","parent":%s,"ts":"2026-01-02T03:04:05Z","response_id":"r%d","model":"m"}`+"\n", i, parent, i)
		parent = fmt.Sprintf("%q", fmt.Sprint("e", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, log := &canceling{cancel: cancel}, &bytes.Buffer{}
	code := run(ctx, []string{"replay", "--max-rows", "0", "-", quickstart},
		streams{in: strings.NewReader(text.String()), out: out, err: log})
	want := "sessionspan: interrupted while writing the trace of standard input; 1 file not reached; what is above is complete as far as it goes\n"
	if code != exitFinding || !strings.HasSuffix(log.String(), want) {
		t.Errorf("exit code %d: %s", code, log)
	}
	if n := strings.Count(out.text.String(), "chat m"); n == 0 || n > calls/2 {
		t.Errorf("%d of %d calls are drawn", n, calls)
	}
}

// brokenPipe takes nothing.
type brokenPipe struct{}

var errBroken = errors.New("nobody reads this")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestFailureToWriteIsInTheObject(t *testing.T) {
	for _, to := range []string{"text", "otlp-json"} {
		var log bytes.Buffer
		code := run(t.Context(), []string{"replay", "--json", "--to", to, quickstart}, streams{out: brokenPipe{}, err: &log})
		if s := object(t, log.String()); code != exitFinding || s.Error != errBroken.Error() {
			t.Errorf("--to %s: exit code %d, %s", to, code, &log)
		}
	}
}

// A compressed file that is cut was read as far as it goes.
func TestCutArchive(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(fixture(t)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.jsonl.gz")
	if err := os.WriteFile(path, b.Bytes()[:b.Len()/2], 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, log := call(t.Context(), nil, "replay", path)
	if code != exitFinding || !strings.Contains(out, "execute_tool") || !strings.Contains(log, "; 1 file not read to the end\n") {
		t.Errorf("exit code %d\n%s%s", code, out, log)
	}
	_, _, log = call(t.Context(), nil, "replay", "--json", path)
	s := object(t, log)
	want := problem{
		Kind: kindCutShort, Path: &path,
		What: fmt.Sprintf("read up to entry %d, then: the compressed data ends too early", s.Entries),
	}
	if s.Entries < 10 || len(s.Problems) != 1 || cmp.Diff(want, s.Problems[0], cmpopts.IgnoreUnexported(problem{})) != "" {
		t.Errorf("%d entries, %+v, want %+v", s.Entries, s.Problems, want)
	}
}

// No text of a file floods the terminal.
func TestLongTextsAreCut(t *testing.T) {
	id := strings.Repeat("é", 500_000)
	path := filepath.Join(t.TempDir(), "long.jsonl")
	text := `{"type":"session","format":"agentsession/0.2","id":"` + id + `","created_at":"2026-01-02T03:04:05Z","payload":"p/1"}` + "\n" +
		`{"type":"config","id":"a","parent":null,"ts":"2026-01-02T03:04:05Z","model":"m"}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.jsonl")
	if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, log := call(t.Context(), nil, "replay", path, copied)
	if code != exitOK || len(out)+len(log) > 10_000 || !strings.Contains(log, "éé… (1000000 bytes)  trace ") {
		t.Errorf("exit code %d, %d bytes drawn, %d said: %.3000s", code, len(out), len(log), log)
	}
}

func TestEscapeHidden(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"plain"}`:                    `{"a":"plain"}`,
		"{\n \"a\": 1}":                    "{\n \"a\": 1}",
		"\"é→日本\"":                         "\"é→日本\"",
		"\"\u009b\x7f\"":                   `"\u009b\u007f"`,
		"\"a\u202eb\u2066c\u200bd\ufeff\"": `"a\u202eb\u2066c\u200bd\ufeff"`,
		"\"\U000e0041 x\"":                 `"\udb40\udc41 x"`,
	} {
		got := string(escapeHidden([]byte(in)))
		if got != want {
			t.Errorf("%q becomes %s, want %s", in, got, want)
		}
		var before, after any
		if err := errors.Join(json.Unmarshal([]byte(in), &before), json.Unmarshal([]byte(got), &after)); err != nil {
			t.Errorf("%q: %v", in, err)
		}
		if fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("%q says %v, then %v", in, before, after)
		}
	}
}
