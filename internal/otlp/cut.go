package otlp

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/internal/names"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// minText is how many bytes of a text stay at least. What is no longer is never cut.
const minText = 256

// cutMark ends a text that was cut.
const cutMark = "…"

// Cut shortens the texts of a batch of one span, the longest first, until the batch is no more than limit bytes, and
// reports whether it is. When it cannot be, nothing is changed. Names, ids and hashes are never cut, nor what is shorter
// than 256 bytes. A text ends with "…" then, one that is JSON stays JSON with the strings in it cut, and
// agentsession.truncated counts them.
func (b *Batch) Cut(limit int) bool {
	if b.len != 1 || b.size <= limit {
		return b.size <= limit
	}
	g := b.groups[0]
	scope := new(tracepb.ScopeSpans)
	if proto.Unmarshal(g.spans, scope) != nil {
		return false // nested deeper than protobuf takes
	}
	span := scope.GetSpans()[0]
	const room = 64 // for the attribute that counts the cuts
	texts := textsOf(span)
	level, ok := waterLevel(texts, b.size-limit+room, func(v *commonpb.AnyValue) int { return len(v.GetStringValue()) })
	if !ok || level < minText {
		return false
	}
	n := 0
	for _, v := range texts {
		if s := v.GetStringValue(); len(s) > level {
			v.Value = &commonpb.AnyValue_StringValue{StringValue: cutText(s, level)}
			n++
		}
	}
	countCuts(span, n)
	encoded, err := proto.Marshal(span)
	if err != nil {
		return false
	}
	field := protowire.AppendTag(make([]byte, 0, len(encoded)+8), scopeSpansSpans, protowire.BytesType)
	g.spans = protowire.AppendBytes(field, encoded)
	g.ends = []int{len(g.spans)}
	b.size = b.groupSize(g)
	return b.size <= limit
}

// textsOf returns the values of a span that may be cut: what attributes hold, unless it names something.
func textsOf(s *tracepb.Span) (texts []*commonpb.AnyValue) {
	var value func(v *commonpb.AnyValue)
	attributes := func(kvs []*commonpb.KeyValue) {
		for _, kv := range kvs {
			if !isName(kv.GetKey()) {
				value(kv.GetValue())
			}
		}
	}
	value = func(v *commonpb.AnyValue) {
		switch held := v.GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			if len(held.StringValue) > minText {
				texts = append(texts, v)
			}
		case *commonpb.AnyValue_ArrayValue:
			for _, element := range held.ArrayValue.GetValues() {
				value(element)
			}
		case *commonpb.AnyValue_KvlistValue:
			attributes(held.KvlistValue.GetValues())
		}
	}
	attributes(s.GetAttributes())
	for _, e := range s.GetEvents() {
		attributes(e.GetAttributes())
	}
	for _, l := range s.GetLinks() {
		attributes(l.GetAttributes())
	}
	return texts
}

// isName reports whether the attribute of this key names something, so that part of it would name nothing or another thing.
func isName(key string) bool {
	return slices.ContainsFunc([]string{"id", "name", "hash", "key", "model"}, func(word string) bool {
		before, ok := strings.CutSuffix(key, word)
		return ok && (before == "" || strings.HasSuffix(before, ".") || strings.HasSuffix(before, "_"))
	})
}

// waterLevel returns the greatest length so that over bytes at least go when whatever is longer is cut to it, and whether
// there is any.
func waterLevel[T any](texts []T, over int, length func(T) int) (level int, ok bool) {
	lengths := make([]int, len(texts), len(texts)+1)
	for i, t := range texts {
		lengths[i] = length(t)
	}
	slices.Sort(lengths)
	slices.Reverse(lengths)
	lengths = append(lengths, 0)
	for i := range texts { // cut the i+1 longest, down to the next one
		n := i + 1
		if gain := n * (lengths[i] - lengths[n]); gain < over {
			over -= gain
			continue
		}
		return lengths[i] - (over+n-1)/n, true
	}
	return 0, over <= 0
}

// cutText returns s cut to n bytes, n being 256 or more.
func cutText(s string, n int) string {
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		if short, ok := cutJSON(s, n); ok {
			return short
		}
	}
	n -= len(cutMark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + cutMark
}

// countCuts adds n to the count of values of a span that were cut.
func countCuts(s *tracepb.Span, n int) {
	for _, kv := range s.GetAttributes() {
		if kv.GetKey() == string(names.Truncated) {
			kv.Value = &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: kv.GetValue().GetIntValue() + int64(n)}}
			return
		}
	}
	value := &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: int64(n)}}
	s.Attributes = append(s.Attributes, &commonpb.KeyValue{Key: string(names.Truncated), Value: value})
}
