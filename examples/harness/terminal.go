package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// terminal is a span processor that draws each span as it ends: what is inside another comes before it, further to the right.
type terminal struct {
	out io.Writer

	mu    sync.Mutex
	depth map[trace.SpanID]int
}

func newTerminal(out io.Writer) *terminal {
	return &terminal{out: out, depth: map[trace.SpanID]int{}}
}

// shown are the attributes that are drawn.
var shown = []attribute.Key{
	"agentsession.run.source", "agentsession.run.reason", "agentsession.call.state", "agentsession.call.dispatch",
	"agentsession.approval.tool", "agentsession.approval.verdict", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens",
	"http.response.status_code", "error.type",
}

// OnStart implements [sdktrace.SpanProcessor].
func (t *terminal) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.Parent().IsValid() {
		t.depth[s.SpanContext().SpanID()] = t.depth[s.Parent().SpanID()] + 1
	}
}

// OnEnd implements [sdktrace.SpanProcessor].
func (t *terminal) OnEnd(s sdktrace.ReadOnlySpan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	values := map[attribute.Key]string{}
	for _, kv := range s.Attributes() {
		values[kv.Key] = kv.Value.String()
	}
	var line strings.Builder
	fmt.Fprintf(&line, "%9.1fms  %*s%s", float64(s.EndTime().Sub(s.StartTime()))/float64(time.Millisecond),
		2*t.depth[s.SpanContext().SpanID()], "", s.Name())
	for _, key := range shown {
		if value := values[key]; value != "" {
			name := string(key)
			fmt.Fprintf(&line, "  %s=%s", name[strings.LastIndexByte(name, '.')+1:], value)
		}
	}
	fmt.Fprintln(t.out, printable(strings.ReplaceAll(line.String(), "\n", " ")))
}

// Shutdown and ForceFlush implement [sdktrace.SpanProcessor].
func (*terminal) Shutdown(context.Context) error   { return nil }
func (*terminal) ForceFlush(context.Context) error { return nil }

// printable returns a text without what would move the cursor of a terminal: a model may say anything.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
}
