package format

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/format/openresponses"
)

// realistic is a session of a coding agent: for each turn a message, a reasoning item, two calls with their records and
// outputs of a few thousand bytes, and a response with its usage. Ids are of the length that providers give.
func realistic(turns int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(`the func return if err != nil { "path/to/file.go": \t\tfmt.Println(x) // comment über Größe → done 42 }`)
	text := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(words[rng.IntN(len(words))])
			b.WriteString([]string{" ", "\n", " "}[rng.IntN(3)])
		}
		return fmt.Sprintf("%q", b.String())
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, headerOf("2", promise))
	n, parent := 0, "null"
	add := func(typ, format string, args ...any) string {
		n++
		id := fmt.Sprintf("%08x", n)
		fmt.Fprintf(&b, `{"type":%q,"id":%q,"parent":%s,"ts":"2026-09-20T12:%02d:%02d.%03dZ",`, typ, id, parent, n/60000%60, n/1000%60, n%1000)
		fmt.Fprintf(&b, format+"}\n", args...)
		parent = `"` + id + `"`
		return id
	}
	for i := range turns {
		resp := fmt.Sprintf("resp_%048d", i)
		add("run", `"run_id":"run-%d","phase":"start","source":"input"`, i)
		add("item", `"item":{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}`, text(400))
		add("item", `"item":{"type":"reasoning","id":"rs_%048d","summary":[],"encrypted_content":"%x"},"response":%q`, i, make([]byte, 1500), resp)
		var targets []string
		for c := range 2 {
			targets = append(targets, add("item", `"item":{"type":"function_call","id":"fc_%d","status":"completed","call_id":"call_%020d","name":"bash","arguments":%s},"response":%q`,
				i, 2*i+c, text(200), resp))
		}
		add("response", `"response_id":%q,"model":"gpt-5","status":"completed","usage":{"input_tokens":%d,"output_tokens":20,"total_tokens":70,`+
			`"input_tokens_details":{"cached_tokens":10},"output_tokens_details":{"reasoning_tokens":5}},"request_hash":"sha256:%064x","latency_ms":400`, resp, i, i)
		for c := range 2 {
			add("dispatch", `"call_id":"call_%020d","target":%q`, 2*i+c, targets[c])
			add("item", `"item":{"type":"function_call_output","call_id":"call_%020d","output":%s}`, 2*i+c, text(4000))
		}
		add("run", `"run_id":"run-%d","phase":"end","reason":"stopped","pending":[]`, i)
	}
	return b.Bytes()
}

func BenchmarkReader(b *testing.B) {
	data := realistic(300)
	lines := bytes.Count(data, []byte{'\n'})
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(lines), "lines/op")
}

func BenchmarkReadSession(b *testing.B) {
	data := realistic(300)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadSession(bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecoder(b *testing.B) {
	for _, test := range []struct{ name, line string }{
		{"item", entry("item", "b", "a", `"item":{"type":"function_call","id":"fc","call_id":"c1","name":"bash","arguments":"{}"}`, `"response":"resp"`)},
		{"response", entry("response", "b", "a", `"response_id":"resp","model":"gpt-5","status":"completed","usage":{"input_tokens":50,"output_tokens":20,`+
			`"total_tokens":70,"input_tokens_details":{"cached_tokens":5},"output_tokens_details":{"reasoning_tokens":2}},"latency_ms":400`)},
		{"dispatch", entry("dispatch", "b", "a", `"call_id":"c1","target":"t"`)},
		{"unknown", entry("acme:note", "b", "a", `"text":"x","nested":{"a":1}`)},
	} {
		b.Run(test.name, func(b *testing.B) {
			line := []byte(test.line)
			var d Decoder
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheck examines a session whose every request hash is recorded, beside what hashing the bytes of the file once
// takes: requests are rebuilt along the tree, so that it grows with the file and not with its square.
func BenchmarkCheck(b *testing.B) {
	for _, turns := range []int{200, 2000} {
		r := &recorder{t: b, r: rand.New(rand.NewPCG(1, 1)), s: newSession(b, "2"), at: at(0)}
		for range turns {
			r.turn()
		}
		var text bytes.Buffer
		if _, err := r.s.WriteTo(&text); err != nil {
			b.Fatal(err)
		}
		s := mustRead(b, text.String())
		b.Run(fmt.Sprintf("turns=%d/check", turns), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if c, err := s.Check(context.Background()); err != nil || len(c.Findings) > 0 || c.Hashes != turns {
					b.Fatal(c, err)
				}
			}
		})
		b.Run(fmt.Sprintf("turns=%d/canonical", turns), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				for line := range bytes.Lines(text.Bytes()) {
					if _, err := openresponses.HashJSON(line); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
