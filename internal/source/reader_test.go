package source_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/source"
)

const (
	header = `{"type":"session","format":"agentsession/0.2","id":"s","created_at":"2026-01-02T03:04:05Z","payload":"openresponses/2026-04-24"}` + "\n"
	first  = `{"type":"config","id":"a","parent":null,"ts":"2026-01-02T03:04:06Z","model":"m"}` + "\n"
	second = `{"type":"run","id":"b","parent":"a","ts":"2026-01-02T03:04:07Z","run_id":"r","phase":"start","source":"input"}` + "\n"
)

// result is what comes of reading a file: the keys of its events and what was damaged.
type result struct {
	Keys    []string
	Damaged []string
	Err     string
}

func read(t *testing.T, r io.Reader, o source.Options) result {
	t.Helper()
	rd, err := source.NewReader(r, o)
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	var res result
	for {
		err := rd.Read(func(ev *activity.Event) { res.Keys = append(res.Keys, ev.Key) },
			func(d *format.DamageError) { res.Damaged = append(res.Damaged, d.Error()) })
		switch {
		case err == io.EOF:
			return res
		case err != nil:
			res.Err = err.Error()
			return res
		}
	}
}

func TestReader(t *testing.T) {
	tests := []struct {
		name, in string
		opts     source.Options
		want     result
	}{
		{name: "whole file", in: header + first + second, want: result{Keys: []string{"", "a", "b"}}},
		{name: "blank lines", in: "\n" + header + " \n" + first + "\r\n" + second, want: result{Keys: []string{"", "a", "b"}}},
		{name: "no line feed at the end", in: header + strings.TrimSpace(first), want: result{Keys: []string{"", "a"}}},
		{name: "empty", in: "", want: result{Err: "empty input"}},
		{name: "blank", in: "\n \n", want: result{Err: "empty input"}},
		{
			name: "broken line in the middle", in: header + "{oops\n" + first,
			want: result{Keys: []string{"", "a"}, Damaged: []string{
				"line 2 (offset 129, 1 byte into the line): not a JSON object: invalid character 'o' where an object key belongs",
			}},
		},
		{
			name: "broken last line", in: header + first + `{"type":"run"` + "\n\n",
			want: result{Keys: []string{"", "a"}, Damaged: []string{
				"line 3 (offset 210, 13 bytes into the line): broken last line: not a JSON object: unexpected end of input",
			}},
		},
		{
			name: "two broken lines", in: header + "x\ny\n",
			want: result{Keys: []string{""}, Damaged: []string{
				"line 2 (offset 129): not a JSON object: invalid character 'x' where a value belongs",
				"line 3 (offset 131): broken last line: not a JSON object: invalid character 'y' where a value belongs",
			}},
		},
		{
			name: "an entry with a bad member keeps its place", in: header + strings.Replace(first, "2026-01-02T03:04:06Z", "noon", 1) + second,
			want: result{Keys: []string{"", "a", "b"}, Damaged: []string{
				`line 2 (offset 129, 45 bytes into the line): invalid entry: "ts" is not an RFC 3339 time with a zone`,
			}},
		},
		{
			name: "line over the limit", in: header + first + second, opts: source.Options{MaxLine: 130},
			want: result{Keys: []string{"", "a", "b"}},
		},
		{
			name: "header over the limit", in: header + first, opts: source.Options{MaxLine: 20},
			want: result{Err: "line 1 (offset 0): line over the limit: 129 bytes"},
		},
		{
			name: "no format knows it", in: `{"type":"mode"}` + "\n",
			want: result{Err: "line 1: not the beginning of a session file of a known format; looked for agentsession (a line {\"type\":\"session\",\"format\":\"agentsession/0.…\",…}), pi (a line {\"type\":\"session\",\"id\":\"…\",…} without a format), " +
				`claude-code (lines {"type":"…","sessionId":"…",…})`},
		},
		{
			name: "named, but not that format", in: first, opts: source.Options{Format: "agentsession"},
			want: result{Err: `line 1 (offset 0, 8 bytes into the line): no session header: "type" is not "session"`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, read(t, strings.NewReader(tt.in), tt.opts)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, read(t, iotest.OneByteReader(strings.NewReader(tt.in)), tt.opts)); diff != "" {
				t.Errorf("a byte at a time (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReaderReadsCompressedFiles(t *testing.T) {
	plain := []byte(header + first + second)
	var gz, zs bytes.Buffer
	gw := gzip.NewWriter(&gz)
	if _, err := gw.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := gw.Close(); err != nil {
		t.Fatal(err)
	}
	zw, err := zstd.NewWriter(&zs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := zw.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	want := read(t, bytes.NewReader(plain), source.Options{})
	for name, data := range map[string][]byte{"gzip": gz.Bytes(), "zstd": zs.Bytes()} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, read(t, bytes.NewReader(data), source.Options{})); diff != "" {
				t.Errorf("(-plain +compressed):\n%s", diff)
			}
		})
		t.Run(name+" cut short", func(t *testing.T) {
			got := read(t, bytes.NewReader(data[:len(data)-9]), source.Options{})
			if got.Err == "" && len(got.Damaged) == 0 {
				t.Errorf("a cut stream reads as whole: %v", got)
			}
		})
	}
}

func TestReaderReturnsWhatTheStreamReturns(t *testing.T) {
	broken := errors.New("disk on fire")
	in := io.MultiReader(strings.NewReader(header+first), iotest.ErrReader(broken))
	rd, err := source.NewReader(in, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	for err == nil {
		err = rd.Read(func(*activity.Event) { events++ }, func(d *format.DamageError) { t.Error(d) })
	}
	if !errors.Is(err, broken) || events != 2 {
		t.Errorf("got %d events and %v, want 2 and the stream's error", events, err)
	}
}

func TestLookup(t *testing.T) {
	for _, name := range source.Names() {
		if _, err := source.Lookup(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := source.Lookup("xml"); err == nil || !strings.Contains(err.Error(), `format "xml" is not one of auto, agentsession`) {
		t.Errorf("got %v", err)
	}
}

func TestStats(t *testing.T) {
	in := header + "broken\n" + first
	rd, err := source.NewReader(strings.NewReader(in), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		err = rd.Read(func(*activity.Event) {}, func(*format.DamageError) {})
	}
	want := source.Stats{Bytes: int64(len(in)), Lines: 3, Damaged: 1}
	if got := rd.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
