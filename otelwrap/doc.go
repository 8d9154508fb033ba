// Package otelwrap traces the sessions of an agent live: a store that is wrapped turns every append into spans.
//
//	tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithIDGenerator(otelwrap.IDGenerator()))
//	sessions := otelwrap.Wrap(inner, otelwrap.WithTracerProvider(tracers))
//	defer sessions.Shutdown(ctx) // and then tracers.Shutdown
//
// That is all that a harness has to change. What it appends to sessions gives the spans of the session, its runs, model calls, tool
// calls and approvals, each when the entry that ends it has been kept. They are those that docs/trace.md describes, and the same, to
// the id, that a replay of the session gives later.
//
// # The context for a tool
//
// Between a dispatch and its output the span of the call is open, and what the tool does belongs below it:
//
//	sessions.Append(ctx, id, format.NewDispatch(call, item))
//	ctx := sessions.CallContext(ctx, id, call)
//	out := tool.Run(ctx) // HTTP clients, MCP servers and databases that are instrumented hang from the call
//
// [Store.RunContext] is the same for what is done in a run and is no tool's, such as the request to the model. A process takes the
// context in its environment:
//
//	cmd.Env = append(os.Environ(), otelwrap.Environ(ctx)...)
//
// and finds it with [FromEnviron].
//
// A sub-agent with a session of its own needs nothing of that: the header says which call spawned it ([format.Header]), in this process
// or another one, and [Store.Create] adds a member sessionspan:root_session, the session at the top, so that a process that has only
// that file finds the trace as well.
//
// # Going on in another process
//
// Only the session ends a span. What a process leaves open when it ends, or dies, is ended by the one that opens the session next,
// under the id and with the start that it always had; nothing is sent twice. A session that nobody goes on with keeps what it left
// open to itself, until a replay, to which 24 hours of silence are an end.
//
// # Ids
//
// [IDGenerator] gives our spans the ids that follow from the session, and leaves those of all others as they are. Without it ids are
// random: the trace of one process is right, but no resumed session, other process or replay joins it. That is told once, to the
// error handler ([ErrNoIDGenerator]). Samplers that decide by the trace id, or by the parent, keep whole sessions, in whatever
// process and however often they are resumed.
//
// Each session has a trace of its own ([TraceID]). A span that the caller's context carries, of a request that the harness serves, is
// linked to from the session and from each run that begins under it; [WithParent] has the session hang from it instead. The context is
// that of the append which brings an entry; where another goroutine's comes first and takes it along, it has none.
//
// # What it costs, and what it cannot do to the harness
//
// An append fails only if the store fails, and waits for nothing but the span processors of the provider; only an entry that names another
// session, which is not open here, has the store look for the header of that, once. Entries are read from the session in memory; no lock is held across the store's append or the end of a span. A panic, of this package or of a processor, is caught
// and told once ([PanicError]), and that session goes on untraced. Of a session is remembered what is open, with some 180 bytes an
// entry to know branches by (and the ids of all spans, without an [IDGenerator]), until [Store.Close], or an hour in which nothing
// happens and nothing is open ([WithIdleLimit]). The first append after that, like [Store.Open], reads the whole session again.
//
// So what remains is which processor is chosen. They are called on the goroutine that appends. When a span starts, that is under a lock of the
// session: a processor that uses the store passes on the context that it is given, by which we know, and nobody waits. When a
// span ends it is under none:
//
//   - sdktrace.WithBatcher puts the span into a queue, and drops it when that is full: never waits, and may lose. The one to choose,
//     with a queue for the worst minute (sdktrace.WithMaxQueueSize; 2,048 spans otherwise). What is lost stands in a debug log of the SDK
//     alone, but a replay of the session sends it, under the ids that it would have had.
//   - sdktrace.WithBatcher with sdktrace.WithBlocking waits when the queue is full: the harness is as slow as the backend.
//   - sdktrace.WithSyncer, and NewSimpleSpanProcessor, export each span by itself, and wait for it: for tests and terminals.
//
// Shutdown and Close wait for appends that are under way, flush the providers, with the time that their context gives, and end no
// span. Where a process goes on with a session, processors see spans start that have started before: those that are open, and the
// session's own, which is not ended.
//
// Content, prompts and outputs, is in no span.
//
// # Metrics
//
// With [WithMeterProvider] what ends is counted as well, whether sampled or not. What a session did before it was opened here is not,
// so that each thing is counted by one process, and a replay counts nothing.
//
//	gen_ai.client.token.usage          histogram, {token}: gen_ai.token.type is input or output
//	gen_ai.client.operation.duration   histogram, s: model calls and tools, by gen_ai.operation.name
//	agentsession.runs                  counter: agentsession.run.reason
//	agentsession.calls                 counter: agentsession.call.state, each hand-off by itself
//
// They have the model, the provider, the tool, the agent and the error as attributes where that applies. With WithSemconv("latest")
// the first two are counters gen_ai.client.inference.usage.*_tokens, with histograms gen_ai.client.inference.operation.*_tokens
// beside, and gen_ai.client.inference.duration and gen_ai.execute_tool.duration. Buckets are those of the conventions, which end at
// 82 seconds: a View extends them for agents whose tools take minutes.
//
// # A store of one's own
//
// A harness whose store is no [store.Store] tells a [Recorder] what it has appended, with the ids, parents and times that were kept:
//
//	recorder := otelwrap.NewRecorder(otelwrap.WithTracerProvider(tracers))
//	recorder.Begin(ctx, header)            // a new session
//	recorder.Begin(ctx, header, past...)   // or one to go on with
//	recorder.Record(ctx, header.ID, entry) // after each append
//
// # Beside a receiver
//
// Where a Collector reads the same session files, both make the same spans: one of the two is enough, and where both are wanted, for
// the contexts of tools and for what a crash keeps from being sent, docs/trace.md says what backends do with a span that comes twice.
package otelwrap
