package e2e

import (
	"encoding/hex"
	"encoding/json"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
)

// memoryKeeps returns spans without what a Jaeger does not keep in any storage: the URLs of the schemas.
func memoryKeeps(all traces) traces {
	all = all.clone()
	for of := range all.each() {
		of.SchemaUrl, of.ScopeSpans[0].SchemaUrl = "", ""
	}
	return all
}

// badgerKeeps returns what a Jaeger has of spans in Badger. That holds Jaeger's older model, which has no attributes of
// links but one that says what kind of reference a link is, no flags, and no counts of what was dropped, in which lists are
// text, and in which what only links to a span of its trace is below it.
func badgerKeeps(all traces) traces {
	all = memoryKeeps(all)
	for of := range all.each() {
		s := the(of)
		s.ParentSpanId, _ = hex.DecodeString(placeOf(s)) // which is hexadecimal
		s.Flags, s.DroppedAttributesCount, s.DroppedEventsCount, s.DroppedLinksCount = 0, 0, 0, 0
		for _, l := range s.Links {
			l.Flags = 0
			l.Attributes = []*commonpb.KeyValue{{Key: "opentracing.ref_type", Value: stringValue("follows_from")}}
		}
		listsToText(s.Attributes)
		for _, e := range s.Events {
			listsToText(e.Attributes)
		}
	}
	return all
}

// listsToText makes JSON of the lists among attributes, all of which are of strings.
func listsToText(kvs []*commonpb.KeyValue) {
	for _, kv := range kvs {
		array := kv.Value.GetArrayValue()
		if array == nil {
			continue
		}
		list := make([]string, 0, len(array.Values))
		for _, v := range array.Values {
			list = append(list, v.GetStringValue())
		}
		text, err := json.Marshal(list)
		if err != nil {
			panic(err)
		}
		kv.Value = stringValue(string(text))
	}
}

func stringValue(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}
