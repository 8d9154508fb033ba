package jsonscan

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fastjson"
)

// sessionLines returns lines as coding agents write them: eleven top-level members with the large nested message before
// uuid and timestamp, sizes log-normal with a median of about 1.2 kB and 57 kB at p90, text with line feeds, tabs, quotes,
// escape characters and some words outside ASCII.
func sessionLines(total int) [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{
		"the", "session", "func", "returns", "error", "nil", "if", "err", "value", "context", "file", "window",
		"main.go", "package", "internal/source", "x", "=", "{", "}", "0x7fff", "time.Duration",
	}
	foreign := []string{"Größe", "naïve", "→", "日本", "—", "✓"}
	specials := []string{"\n", "\n", "\n", "\n\t", "\t", "\"", "\x1b[0m", "\\", "\n\n", "\""}
	var lines [][]byte
	for n := 0; n < total; {
		size := min(650*math.Exp(3.3*random.NormFloat64()), 190_000)
		var text strings.Builder
		for float64(text.Len()) < size {
			if random.IntN(50) == 0 {
				text.WriteString(foreign[random.IntN(len(foreign))])
			} else {
				text.WriteString(words[random.IntN(len(words))])
			}
			if random.IntN(5) < 2 {
				text.WriteString(specials[random.IntN(len(specials))])
			} else {
				text.WriteByte(' ')
			}
		}
		quoted, _ := jsontext.AppendQuote(nil, text.String())
		line := fmt.Appendf(nil, `{"parentUuid":"%016x-%016x","isSidechain":false,"userType":"external","cwd":"/home/user/project",`+
			`"sessionId":"%016x-%016x","version":"2.0.14","type":"assistant","message":{"id":"msg_%x","role":"assistant",`+
			`"model":"some-model-1","content":[{"type":"text","text":%s}],"stop_reason":null,"usage":{"input_tokens":%d,`+
			`"output_tokens":%d,"cache":{"read":%d,"write":0}}},"requestId":"req_%x","uuid":"%016x-%016x",`+
			`"timestamp":"2026-02-03T04:05:06.789Z"}`,
			random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64(), quoted,
			random.IntN(1e5), random.IntN(1e4), random.IntN(1e6), random.Uint64(), random.Uint64(), random.Uint64())
		lines = append(lines, line)
		n += len(line)
	}
	return lines
}

// fixtureLines returns the lines of real sessions, if they are at hand.
func fixtureLines(b *testing.B) [][]byte {
	files, err := filepath.Glob("../../../shared/fixtures/pi/*.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	var lines [][]byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		for line := range bytes.SplitSeq(data, []byte{'\n'}) {
			if isObject(line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// benchmarkLines runs a benchmark over each kind of lines.
func benchmarkLines(b *testing.B, run func(b *testing.B, lines [][]byte)) {
	one := func(line string) [][]byte { return [][]byte{[]byte(line)} }
	for _, kind := range []struct {
		name  string
		lines [][]byte
	}{
		{"session", sessionLines(16 << 20)},
		{"fixtures", fixtureLines(b)},
		{"short", one(`{"type":"message","id":"a1b2c3d4","parentId":"b2c3d4e5","timestamp":"2026-02-03T04:05:06.789Z","message":` +
			`{"role":"toolResult","toolCallId":"call_1","toolName":"bash","content":[{"type":"text","text":"ok"},{"type":"text",` +
			`"text":"done"}],"isError":false,"usage":{"input":12,"output":345,"cacheRead":6789,"cost":{"total":0.0123}}}}`)},
		{"plain", one(`{"type":"a","uuid":"b","text":"` + strings.Repeat("only plain letters here ", 2000) + `"}`)},
		{"escapes", one(`{"type":"a","uuid":"b","text":"` + strings.Repeat(`a\n\t\"b\\`, 5000) + `"}`)},
		{"foreign", one(`{"type":"a","uuid":"b","text":"` + strings.Repeat("日本語のテキスト、", 2000) + `"}`)},
		{"numbers", one(`{"type":"a","uuid":"b","data":[` + strings.Repeat("12,-3.25,0,1e5,{},[true],", 2000) + `0]}`)},
	} {
		b.Run(kind.name, func(b *testing.B) {
			if len(kind.lines) == 0 {
				b.Skip("the shared fixtures are not here")
			}
			size := 0
			for _, line := range kind.lines {
				size += len(line)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			run(b, kind.lines)
		})
	}
}

func BenchmarkScan(b *testing.B) {
	benchmarkLines(b, func(b *testing.B, lines [][]byte) {
		var s Scanner
		for b.Loop() {
			for _, line := range lines {
				if err := s.Scan(line, "message"); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkFastjson4 reads four members with a reused parser, which is the quickest that fastjson does.
func BenchmarkFastjson4(b *testing.B) {
	benchmarkLines(b, func(b *testing.B, lines [][]byte) {
		var p fastjson.Parser
		n := 0
		for b.Loop() {
			for _, line := range lines {
				v, err := p.ParseBytes(line)
				if err != nil {
					b.Fatal(err)
				}
				n += len(v.GetStringBytes("type")) + len(v.GetStringBytes("uuid")) +
					len(v.GetStringBytes("parentUuid")) + len(v.GetStringBytes("timestamp"))
			}
		}
		if n == 0 {
			b.Fatal("found nothing")
		}
	})
}

// BenchmarkIndexByte jumps from quote to quote, which bounds what any scanner can reach.
func BenchmarkIndexByte(b *testing.B) {
	benchmarkLines(b, func(b *testing.B, lines [][]byte) {
		n := 0
		for b.Loop() {
			for _, line := range lines {
				for i := 0; i >= 0; n++ {
					line = line[i:]
					i = bytes.IndexByte(line[1:], '"') + 1
					if i == 0 {
						break
					}
				}
			}
		}
		if n == 0 {
			b.Fatal("found nothing")
		}
	})
}

// TestSessionLines holds the generated lines to what the benchmarks say of them.
func TestSessionLines(t *testing.T) {
	lines := sessionLines(16 << 20)
	escapes, total := 0, 0
	for _, line := range lines {
		if !isObject(line) {
			t.Fatalf("not an object: %q", line)
		}
		escapes += bytes.Count(line, []byte{'\\'})
		total += len(line)
	}
	slices.SortFunc(lines, func(a, b []byte) int { return len(a) - len(b) })
	median, p90, share := len(lines[len(lines)/2]), len(lines[len(lines)*9/10]), float64(escapes)/float64(total)
	if median < 1_000 || median > 1_500 || p90 < 40_000 || p90 > 80_000 || share < 0.06 || share > 0.08 {
		t.Errorf("median %d bytes, p90 %d, backslashes %.3f", median, p90, share)
	}
}
