package spantest

import (
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Chats returns n chat spans as the projector makes them, with 16 attributes, of one session and 64 to a trace: what is
// encoded and sent in benchmarks.
func Chats(n int) []*projection.Span {
	session := &projection.Session{ID: "01983f6e-3b7c-7c3e-b0d4-6a2f8e5d1c90", Harness: "pi", Version: "0.52.9"}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	out := make([]*projection.Span, n)
	for i := range out {
		out[i] = &projection.Span{
			TraceID: trace.TraceID{1, byte(i >> 6), 15: 16}, SpanID: trace.SpanID{byte(i >> 8), byte(i), 7: 8},
			Parent: trace.SpanID{1, 7: 8}, Name: "chat claude-sonnet-4-5", Kind: trace.SpanKindClient,
			Start: at.Add(time.Duration(i) * time.Second), End: at.Add(time.Duration(i)*time.Second + 730*time.Millisecond),
			Attributes: []attribute.KeyValue{
				attribute.String("session.id", session.ID), attribute.String("gen_ai.conversation.id", session.ID),
				attribute.String("agentsession.session.id", session.ID), attribute.String("agentsession.span.type", "chat"),
				attribute.String("agentsession.entry.id", fmt.Sprintf("e%07d", i)),
				attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", "anthropic"),
				attribute.String("gen_ai.request.model", "claude-sonnet-4-5"),
				attribute.String("gen_ai.response.model", "claude-sonnet-4-5-20250929"),
				attribute.String("gen_ai.response.id", fmt.Sprintf("msg_01%022d", i)),
				attribute.StringSlice("gen_ai.response.finish_reasons", []string{"tool_call"}),
				attribute.Int("gen_ai.usage.input_tokens", 48213), attribute.Int("gen_ai.usage.output_tokens", 911),
				attribute.Int("gen_ai.usage.cache_read.input_tokens", 47000),
				attribute.Float64("gen_ai.usage.cost", 0.0421), attribute.String("agentsession.timing", "bounded"),
			},
			Session: session,
		}
	}
	return out
}
