package repair

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/format"
)

// Each case has, between «», what is set aside; ¶ is where a line feed is put in.
func TestDamage(t *testing.T) {
	a, b, c := entry("a", ""), entry("b", "a"), entry("c", "b")
	lacksTime := `{"type":"info","id":"a","parent":null,"name":"x"}`
	for _, test := range []struct {
		name, file string
		findings   []string // what is not told by the marks
	}{
		{"nothing wrong", header + "\n" + a + "\n" + b + "\n", nil},
		{"only a header", header + "\n", nil},
		{"torn tail", header + "\n" + a + "\n«" + b[:40] + "»", nil},
		{"torn tail inside an escape", header + "\n" + a + "\n«" + b[:strings.Index(b, `\"`)+1] + "»", nil},
		{"torn tail with its line feed", header + "\n" + a + "\n«" + b[:40] + "\n»", nil},
		{"torn line in the middle", header + "\n" + a + "\n«" + b[:len(b)-1] + "\n»" + c + "\n", []string{"no parent c"}},
		{"torn head glued to the next entry", header + "\n" + a + "\n«" + b[:40] + "»" + b + "\n" + c + "\n", nil},
		{"torn head glued to the last entry without line feed", header + "\n" + a + "\n«" + b[:41] + "»" + b + "¶", nil},
		{"torn heads glued twice", header + "\n" + a + "\n«" + b[:40] + b[:90] + "»" + b + "\n", nil},
		{"torn inside an item, glued", header + "\n«" + a[:len(a)-20] + "»" + a + "\n", nil},
		{"torn where a value belongs, glued", header + "\n«" + a[:strings.Index(a, `{"type":"message"`)] + "»" + a + "\n", nil},
		{"torn behind the item: the item is no entry", header + "\n" + a + "\n«" + b[:len(b)-1] + "»", nil},
		{"two fused", header + "\n" + a + "¶" + b + "\n", nil},
		{"three fused, with white space between", header + "\n" + a + " ¶" + b + "\t\r¶" + c + "\r\n", nil},
		{"fused without the last line feed", header + "\n" + a + "¶" + b + "¶", nil},
		{"fused with a torn tail", header + "\n" + a + "«" + b[:50] + "»¶", nil},
		{"fused with a torn one in the middle of the file", header + "\n" + a + "«" + b[:50] + "»\n" + b + "\n", nil},
		{"fused, torn, fused", header + "\n" + a + "«" + b[:50] + "»¶" + b + "¶" + c + "\n", nil},
		{"fused with an object that is no entry", header + "\n" + a + "¶{}\n", []string{"invalid entry"}},
		{"header fused with an entry", header + "¶" + a + "\n" + b + "\n", nil},
		{"zero bytes as a line", header + "\n" + a + "\n«" + strings.Repeat("\x00", 64) + "\n»" + b + "\n", nil},
		{"zero bytes before what was inside an entry", header + "\n«" + strings.Repeat("\x00", 99) + `{"type":"message","id":"m"},"response":"r"}` + "\n»" + a + "\n", nil},
		{"zero bytes before an entry", header + "\n«\x00\x00»" + a + "\n", nil},
		{"zero bytes behind an entry", header + "\n" + a + "«\x00\x00»\n" + b + "\n", nil},
		{"zero bytes for a line feed", header + "\n" + a + "«\x00»¶" + b + "\n", nil},
		{"zero bytes at the end", header + "\n" + a + "\n«" + strings.Repeat("\x00", 5000) + "»", nil},
		{"zero bytes at the end of a torn tail", header + "\n" + a + "\n«" + b[:50] + "\x00\x00»", nil},
		{"zero bytes between torn and entry", header + "\n«" + a[:50] + "\x00\x00\x00»" + a + "\n", nil},
		{"zero bytes in the middle of an entry", header + "\n«" + a[:8] + "\x00\x00\x00" + a[11:] + "\n»" + b + "\n", []string{"no parent b"}},
		{
			"zero bytes that let an entry end inside of a text",
			header + "\n«" + `{"typ` + "\x00\x00" + `\":947}"},"response":"r"}` + "\n»" + a + "\n", nil,
		},
		{
			"zero bytes that let an entry end with its item",
			header + "\n«" + `{"type":"item","id":"x","parent":null,"ts":"2026` + "\x00\x00" + `"}],"role":"user"}}` + "\n»" + a + "\n", nil,
		},
		{
			"zero bytes that make one of an entry and its item",
			header + "\n«" + `{"item":{"type":"message","output":"a` + "\x00\x00" + `", "id":"x","parent":null,"ts":"2026-01-02T03:04:06Z"}` +
				"\n»" + a + "\n", nil,
		},
		{"zero bytes in a text of a fused entry stay", header + "\n" + strings.Replace(a, "say", "\x00", 1) + "¶" + b + "\n", []string{"zero bytes inside a"}},
		{"zero bytes in a text stay", header + "\n" + strings.Replace(a, "say", "\x00\x00\x00", 1) + "\n", []string{"zero bytes inside a"}},
		{"zero bytes before the header", "«\x00\x00\x00»" + header + "\n" + a + "\n", nil},
		{"a line of zero bytes before the header", "«\x00\x00\x00\n»" + header + "\n" + a + "\n", nil},
		{"a torn header that was written again", "«" + header[:50] + "»" + header + "\n" + a + "\n", nil},
		{"binary garbage", header + "\n" + a + "\n«\xff\xfe\x01{\x80}\n»" + b + "\n", nil},
		{"text", header + "\n" + a + "\n«panic: nil\n»«goroutine 1 [running]:\n»" + b + "\n", nil},
		{"text behind an entry", header + "\n" + a + "«panic: nil»\n" + b + "\n", nil},
		{"text before an entry", header + "\n" + a + "\n«warning: »" + b + "\n", nil},
		{"a byte order mark inside", header + "\n«\ufeff»" + a + "\n", nil},
		{"JSON that is no object", header + "\n«[" + a + "]\n»«null\n»", nil},
		{"a byte changed in the structure", header + "\n" + a + "\n«" + strings.Replace(b, `"ts":`, `"ts";`, 1) + "\n»", nil},
		{"no last line feed", header + "\n" + a + "¶", nil},
		{"no last line feed after the header", header + "¶", nil},
		{"CRLF, blank lines and a byte order mark stay", "\ufeff" + header + "\r\n\r\n \n" + a + "\r\n\n" + b + "\r\n\n", nil},
		{"blank last line without line feed stays", header + "\n" + a + "\n  ", nil},
		{"an object that lacks a member stays", header + "\n" + lacksTime + "\n{}\n", []string{"invalid entry a", "invalid entry"}},
		{"an object that lacks a member, fused", header + "\n" + lacksTime + "¶" + b + "\n", []string{"invalid entry a"}},
		{"an unknown type stays", header + "\n" + strings.Replace(a, `"item"`, `"acme:x"`, 1) + "\n", nil},
		{"a repeated id stays", header + "\n" + a + "\n" + a + "\n", []string{"duplicate id a"}},
		{"a lost parent stays", header + "\n" + b + "\n", []string{"no parent b"}},
		{"a header that lacks a time stays", `{"type":"session","format":"agentsession/0.2","id":"s"}` + "\n" + a + "\n", []string{"invalid header s"}},
		{
			"a line that is there twice, from minor 5 on", strings.Replace(header, "0.2", "0.5", 1) + "\n" + a + "\n" + a + "\n",
			nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := strings.NewReplacer("«", "", "»", "", "¶", "").Replace(test.file)
			want := test.file
			for {
				before, rest, ok := strings.Cut(want, "«")
				if !ok {
					break
				}
				_, after, _ := strings.Cut(rest, "»")
				want = before + after
			}
			want = strings.ReplaceAll(want, "¶", "\n")
			p, found := plans(t, []byte(data), 0)
			if p.headed != hasHeader {
				t.Fatalf("no header: %v", p.why)
			}
			good, aside := apply([]byte(data), found)
			if diff := cmp.Diff(want, string(good)); diff != "" {
				t.Errorf("what stays (-want +got):\n%s", diff)
			}
			if int64(len(aside)) != p.sum.SetAside || len(good)-p.sum.Added+len(aside) != len(data) {
				t.Errorf("%d bytes stay, %d are set aside, of %d: %+v", len(good), len(aside), len(data), p.sum)
			}
			var kept []string
			for _, f := range found {
				if f.Action == Keep {
					kept = append(kept, strings.TrimSpace(f.Kind.String()+" "+f.ID))
				}
			}
			if diff := cmp.Diff(test.findings, kept); diff != "" {
				t.Errorf("what is reported and stays (-want +got):\n%s", diff)
			}
			if again, found := plans(t, good, 0); again.sum.Changes() {
				t.Errorf("a second repair would change: %v", say(found))
			}
		})
	}
}

func TestFindings(t *testing.T) {
	a, b := entry("a", ""), entry("b", "a")
	data := header + "\n" + a[:40] + a + b + "\x00\x00\n" + "oops\n" + b + "\n" + b[:60]
	line := len(header) + 1
	third := line + 40 + len(a) + len(b) + 3
	p, found := plans(t, []byte(data), 0)
	want := []string{
		fmt.Sprintf("2@%d torn 40: set_aside", line),
		fmt.Sprintf("2@%d fused %d: recover a", line+40, len(a)),
		fmt.Sprintf("2@%d fused %d: recover +LF b", line+40+len(a), len(b)),
		fmt.Sprintf("2@%d null padding 2: set_aside", line+40+len(a)+len(b)),
		fmt.Sprintf("3@%d garbage 5: set_aside", third),
		fmt.Sprintf("4@%d duplicate id %d: keep b", third+5, len(b)),
		fmt.Sprintf("5@%d torn 60: set_aside", third+5+len(b)+1),
	}
	if diff := cmp.Diff(want, say(found)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	sum := Sum{Bytes: int64(len(data)), Lines: 5, Kept: 1, Recovered: 2, SetAside: 107, Added: 1, Beyond: 1}
	if diff := cmp.Diff(sum, p.sum); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
}

// Lines that no reader of this project takes are not judged, and stay.
func TestLinesBeyondTheLimitsStay(t *testing.T) {
	deep := func(n int) string {
		return `{"type":"custom","id":"deep","parent":null,"ts":"2026-01-02T03:04:06Z","data":` + strings.Repeat(`[`, n) +
			strings.Repeat(`]`, n) + `}`
	}
	long := strings.Replace(entry("a", ""), "say", strings.Repeat("x", 5000), 1)
	for _, test := range []struct {
		name, line string
		kind       Kind
	}{
		{"long", long, TooLong},
		{"long and broken", long[:4000], TooLong},
		{"deep", deep(10_001), TooLarge},
		{"wide", strings.Replace(entry("a", ""), `"type":"message",`, strings.Repeat(`"x":1,`, 70_000), 1), TooLarge},
		{"deeper than a walker goes", deep(maxOpen + 1), TooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			limit := 0
			if test.kind == TooLong {
				limit = 2000
			}
			for _, end := range []string{"", "\n", "\ny\n"} {
				data := header + "\n" + test.line + end
				_, found := plans(t, []byte(data), limit)
				good, aside := apply([]byte(data), found)
				if want := strings.TrimSuffix(data, "y\n"); string(good) != want || len(data)-len(want) != len(aside) {
					t.Errorf("with %q behind it: %v", end, say(found))
				}
				if len(found) == 0 || found[0].Kind != test.kind || found[0].Action != Keep {
					t.Errorf("with %q behind it: %v", end, say(found))
				}
			}
		})
	}
	// Fused, each of them is an object that has ended, and so not lost either.
	data := header + "\n" + deep(10_001) + entry("a", "") + "\n"
	_, found := plans(t, []byte(data), 0)
	if good, aside := apply([]byte(data), found); len(aside) > 0 || bytes.Count(good, []byte{'\n'}) != 3 {
		t.Errorf("a deep entry fused with another: %v", say(found))
	}
}

func TestNoUsableHeader(t *testing.T) {
	a, b := entry("a", ""), entry("b", "a")
	for _, test := range []struct {
		name, file string
		entries    int
		err        error
	}{
		{"an image", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\n{\x00", 0, ErrNoSession},
		{"a text", "Dear Mara,\n\nsee {below}.\n", 0, ErrNoSession},
		{"other JSON lines", `{"level":"info"}` + "\n" + `{"level":` + "\n", 0, ErrNoSession},
		{"a JSON document", "{\n \"a\": 1\n}\n", 0, ErrNoSession},
		{"nothing but zero bytes", strings.Repeat("\x00", 4096), 0, ErrNoSession},
		{"nothing but blank lines", "\n \n", 0, ErrNoSession},
		{"entries without a header", a + "\n" + b + "\n" + b[:30], 2, ErrNoHeader},
		{"a torn header", header[:40] + "\n" + a + "\n" + b + "\n", 2, ErrNoHeader},
		{"a torn header fused with an entry", header[:40] + a + "\n" + b + "\n", 2, ErrNoHeader},
		{"a header without an id", strings.Replace(header, `"id":"s"`, `"id":""`, 1) + "\n" + a + "\n", 1, ErrNoHeader},
		{"another major version", strings.Replace(header, "0.2", "1.0", 1) + "\n" + a + "\n", 1, ErrNoHeader},
		{"what grep prints of a session", "s.jsonl:" + header + "\ns.jsonl:" + a + "\n", 1, ErrNoHeader},
		{"garbage, then a session", "garbage\n" + header + "\n" + a + "\n", 1, ErrNoHeader},
	} {
		t.Run(test.name, func(t *testing.T) {
			rep, err := write(t, put(t, test.file), Options{})
			if !errors.Is(err, test.err) || rep.Kept+rep.Recovered != test.entries || rep.Written {
				t.Errorf("%v, report %+v", err, rep)
			}
		})
	}
	_, err := write(t, put(t, strings.Replace(header, "0.2", "1.0", 1)+"\n"+a+"\n"), Options{})
	if !errors.Is(err, format.ErrUnsupportedFormat) || !strings.Contains(err.Error(), "1 entry could be saved") {
		t.Errorf("another major: %v", err)
	}
}

// The error of who listens ends the scan, and so does that of the file.
func TestScanEndsWithErrors(t *testing.T) {
	stop := errors.New("stop")
	_, err := scan(strings.NewReader(header+"\nx\ny\n"), 0, func(Finding) error { return stop })
	if err != stop {
		t.Errorf("error %v", err)
	}
	_, err = scan(io.MultiReader(strings.NewReader(header), failing{}), 0, func(Finding) error { return nil })
	if err != io.ErrUnexpectedEOF {
		t.Errorf("error %v", err)
	}
}

// failing cannot be read.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
