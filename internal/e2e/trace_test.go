package e2e

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"iter"
	"maps"
	"slices"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// traces holds spans by the ids of trace and span, both in hexadecimal. A span that is there several times is so often in
// its list.
type traces map[string]map[string][]*spanOf

// spanOf is a span with its resource and its scope, as messages that hold nothing else.
type spanOf = tracepb.ResourceSpans

// sorted takes spans apart, sorts their attributes, whose order says nothing, and leaves out a status that is not set.
func sorted(lists ...[]*tracepb.ResourceSpans) traces {
	all := traces{}
	for _, list := range lists {
		for _, r := range list {
			for _, sc := range r.ScopeSpans {
				for _, s := range sc.Spans {
					s = proto.CloneOf(s)
					if proto.Equal(s.Status, &tracepb.Status{}) {
						s.Status = nil
					}
					sortKeys(s.Attributes)
					for _, e := range s.Events {
						sortKeys(e.Attributes)
					}
					for _, l := range s.Links {
						sortKeys(l.Attributes)
					}
					resource := proto.CloneOf(r.Resource)
					sortKeys(resource.GetAttributes())
					all.add(s, &spanOf{
						Resource:  resource,
						SchemaUrl: r.SchemaUrl,
						ScopeSpans: []*tracepb.ScopeSpans{{
							Scope: sc.Scope, SchemaUrl: sc.SchemaUrl, Spans: []*tracepb.Span{s},
						}},
					})
				}
			}
		}
	}
	return all
}

func (all traces) clone() traces {
	copies := traces{}
	for of := range all.each() {
		of = proto.CloneOf(of)
		copies.add(the(of), of)
	}
	return copies
}

// each returns every copy of every span.
func (all traces) each() iter.Seq[*spanOf] {
	return func(yield func(*spanOf) bool) {
		for _, spans := range all {
			for _, copies := range spans {
				for _, of := range copies {
					if !yield(of) {
						return
					}
				}
			}
		}
	}
}

func (all traces) add(s *tracepb.Span, of *spanOf) {
	trace, span := hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId)
	if all[trace] == nil {
		all[trace] = map[string][]*spanOf{}
	}
	all[trace][span] = append(all[trace][span], of)
}

func sortKeys(kvs []*commonpb.KeyValue) {
	slices.SortStableFunc(kvs, func(a, b *commonpb.KeyValue) int { return cmp.Compare(a.Key, b.Key) })
}

func the(of *spanOf) *tracepb.Span { return of.ScopeSpans[0].Spans[0] }

// parentOf returns the id of a span's parent in hexadecimal, or "" for none.
func parentOf(s *tracepb.Span) string { return hex.EncodeToString(s.ParentSpanId) }

// ofService are the traces that have spans of a service, sorted, and the times of the first and the last start of those.
type ofService struct {
	traces   []string
	from, to time.Time
}

func byService(all traces) map[string]ofService {
	services := map[string]ofService{}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		for _, copies := range all[id] {
			for _, of := range copies {
				name, start := serviceOf(of), time.Unix(0, int64(the(of).StartTimeUnixNano))
				s, have := services[name]
				if !slices.Contains(s.traces, id) {
					s.traces = append(s.traces, id)
				}
				if !have || start.Before(s.from) {
					s.from = start
				}
				if !have || start.After(s.to) {
					s.to = start
				}
				services[name] = s
			}
		}
	}
	return services
}

func serviceOf(of *spanOf) string {
	for _, kv := range of.Resource.GetAttributes() {
		if kv.Key == "service.name" {
			return kv.Value.GetStringValue()
		}
	}
	return ""
}

// placeOf returns the id of the span below which Jaeger has a span, or "" for none: its parent, else the first one of the same
// trace that it links to, as the second part of a run does to the first when each run is a trace.
func placeOf(s *tracepb.Span) string {
	if len(s.ParentSpanId) > 0 {
		return parentOf(s)
	}
	for _, l := range s.Links {
		if bytes.Equal(l.TraceId, s.TraceId) {
			return hex.EncodeToString(l.SpanId)
		}
	}
	return ""
}
