package otlp

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

func long(n int) string { return strings.Repeat("0123456789", n/10) }

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		name  string
		kvs   []attribute.KeyValue
		limit int
		cut   string // the keys of what is cut, or "no" when the limit cannot be met
		count int64
	}{
		{"small enough", []attribute.KeyValue{attribute.String("a", long(1000))}, 1400, "", 0},
		{"the longest first", []attribute.KeyValue{
			attribute.String("a", long(1000)), attribute.String("b", long(5000)), attribute.String("c", long(3000)),
		}, 5300, "b c", 2},
		{"names stay", []attribute.KeyValue{
			attribute.String("call.id", long(1000)), attribute.String("tool.name", long(1000)), attribute.String("c", long(1000)),
			attribute.String("grid", long(1000)),
		}, 3300, "c grid", 2},
		{
			"it was cut before",
			[]attribute.KeyValue{names.Truncated.Int(3), attribute.String("a", long(1000))},
			700, "a", 4,
		},
		{"in a list", []attribute.KeyValue{attribute.StringSlice("a", []string{"x", long(2000)})}, 900, "a", 1},
		{"no text may be cut", []attribute.KeyValue{attribute.String("id", long(2000))}, 1000, "no", 0},
		{"no text is long", []attribute.KeyValue{attribute.String("a", long(250)), attribute.String("b", long(250))}, 300, "no", 0},
		{"too little would stay", []attribute.KeyValue{attribute.String("a", long(900)), attribute.String("b", long(900))}, 500, "no", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			span := &projection.Span{Name: long(100), Attributes: tc.kvs, Session: new(projection.Session)}
			span.Events = []projection.Event{{Name: long(100)}}
			b := NewBatch(Config{})
			b.Add(span)
			before, full := b.Size(), texts(t, b)
			if ok := b.Cut(tc.limit); ok != (tc.cut != "no") {
				t.Fatalf("Cut = %t", ok)
			}
			if tc.cut == "no" || tc.cut == "" {
				if b.Size() != before {
					t.Errorf("%d bytes became %d", before, b.Size())
				}
				return
			}
			if b.Size() > tc.limit || b.Size() < tc.limit-100 {
				t.Errorf("%d bytes for a limit of %d", b.Size(), tc.limit)
			}
			if exact := proto.Size(&tracepb.TracesData{ResourceSpans: b.ResourceSpans()}); exact != b.Size() {
				t.Errorf("Size() = %d, but it has %d bytes", b.Size(), exact)
			}
			var cut []string
			for key, short := range texts(t, b) {
				if short == full[key] {
					continue
				}
				cut = append(cut, key)
				if text, ok := strings.CutSuffix(short, "…"); !ok || !strings.HasPrefix(full[key], text) {
					t.Errorf("%s is cut to %q", key, short)
				}
			}
			if got := sorted(cut); got != tc.cut {
				t.Errorf("cut %q, want %q", got, tc.cut)
			}
			if got := count(t, b); got != tc.count {
				t.Errorf("the count is %d, want %d", got, tc.count)
			}
		})
	}
}

func TestCutTakesOneSpan(t *testing.T) {
	b := NewBatch(Config{})
	for range 2 {
		b.Add(&projection.Span{Attributes: []attribute.KeyValue{attribute.String("a", long(1000))}, Session: new(projection.Session)})
	}
	if size := b.Size(); b.Cut(size-1) || b.Size() != size {
		t.Error("a batch of two spans was cut")
	}
	first, second := b.Halves()
	if !first.Cut(500) || count(t, first) != 1 || count(t, second) != 0 || second.Size() < 1000 {
		t.Errorf("a half of it was cut to %d bytes, the other to %d", first.Size(), second.Size())
	}
}

func TestCutJSON(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		n        int
		want     string
	}{
		{
			"members stay", `[ {"type":"text", "content":"` + long(100) + `","more":"` + long(50) + `"}, {"n":1.50}]`, 140,
			`[{"type":"text","content":"` + long(50)[:41] + `…","more":"` + long(50)[:41] + `…"},{"n":1.50}]`,
		},
		{"not inside an escape", `["` + long(30) + `\u00410123456789"]`, 41, `["` + long(30) + `…"]`},
		{"not inside a pair", `["` + long(20) + `\ud83d\ude00\ud83d\ude00"]`, 46, `["` + long(20) + `\ud83d\ude00…"]`},
		{"not inside a character", `["` + long(20) + `äöüäöüäöü"]`, 40, `["` + long(20) + `äöüäöü…"]`},
		{"too little would be left", `["` + long(100) + `"]`, 32, `"…"`},
		{"more structure than room", `[1,2,3,4,5,6,7,8,9,10,11,"a"]`, 12, `"…"`},
		{
			"a name twice", `{"a":"` + long(50) + `","a":"` + long(50) + `"}`, 91,
			`{"a":"` + long(50)[:35] + `…","a":"` + long(50)[:35] + `…"}`,
		},
		{"not JSON", `[not`, 2, ``},
		{"more than one", `{}{}`, 3, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := cutJSON(tc.in, tc.n)
			if diff := cmp.Diff(tc.want, got); diff != "" || ok != (tc.want != "") || len(got) > tc.n {
				t.Errorf("%t, %d bytes (-want +got):\n%s", ok, len(got), diff)
			}
		})
	}
}

// FuzzCutText: whatever the text, what is left is no longer than asked for, whole characters, and JSON if it was.
func FuzzCutText(f *testing.F) {
	f.Add(`{"a":["`+long(300)+`","\u00e4\\\ud83d\ude00"],"b":{"c":null}}`, uint16(256))
	f.Add(strings.Repeat("ä\x00", 400), uint16(300))
	f.Add(`["`+strings.Repeat(`\ud83d\ude00\\`, 100)+`"]`, uint16(999))
	f.Add(`[`+strings.Repeat(`[`, 9000), uint16(256))
	f.Fuzz(func(t *testing.T, s string, n uint16) {
		if s = Text(s); len(s) <= int(n) || n < minText {
			return
		}
		got := cutText(s, int(n))
		if len(got) > int(n) || !utf8.ValidString(got) || !strings.Contains(got, cutMark) {
			t.Errorf("%q cut to %d bytes is %q", s, n, got)
		}
		if (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s)) && !json.Valid([]byte(got)) {
			t.Errorf("%s cut to %d bytes is %s", s, n, got)
		}
	})
}

func TestWaterLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		lengths := make([]int, r.IntN(6))
		all := 0
		for i := range lengths {
			lengths[i] = r.IntN(30)
			all += lengths[i]
		}
		over := 1 + r.IntN(100)
		level, ok := waterLevel(lengths, over, func(n int) int { return n })
		gain := func(level int) (n int) {
			for _, l := range lengths {
				n += max(0, l-level)
			}
			return n
		}
		if ok != (all >= over) || ok && (gain(level) < over || gain(level+1) >= over) {
			t.Fatalf("%v, %d to go: level %d, %t", lengths, over, level, ok)
		}
	}
}

// texts returns the texts in the attributes of the only span of b, by key; those of a list as one.
func texts(t *testing.T, b *Batch) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, kv := range messages(t, b)[0].GetScopeSpans()[0].GetSpans()[0].GetAttributes() {
		out[kv.GetKey()] = kv.GetValue().GetStringValue()
		for _, v := range kv.GetValue().GetArrayValue().GetValues() {
			out[kv.GetKey()] += v.GetStringValue()
		}
	}
	delete(out, string(names.Truncated))
	return out
}

// count returns how many values the only span of b says were cut.
func count(t *testing.T, b *Batch) (n int64) {
	t.Helper()
	for _, kv := range messages(t, b)[0].GetScopeSpans()[0].GetSpans()[0].GetAttributes() {
		if kv.GetKey() == string(names.Truncated) {
			n += kv.GetValue().GetIntValue()
		}
	}
	return n
}

func sorted(keys []string) string {
	slices.Sort(keys)
	return strings.Join(keys, " ")
}
