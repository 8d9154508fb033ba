package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format/openresponses"
)

// server is what the agent finds in its world, on loopback: a model and a site.
type server struct {
	url  string
	http *http.Server
}

// pages are those of the site.
var pages = map[string]string{
	"/changes": "#12 parser: keep comments\n#15 parser: no panic on empty input\n#17 docs: typos",
	"/issues":  "#12 comments get lost\n#15 panic on empty input\n#19 slow on large files",
}

// startServer starts a server whose model takes a while for each word, and whose site never answers one of its paths, unless that
// is "".
func startServer(pace time.Duration, hang string) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", func(w http.ResponseWriter, r *http.Request) {
		var req openresponses.Request
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s := &stream{ctx: r.Context(), to: w, pace: pace}
		s.response(next(&req))
	})
	mux.HandleFunc("GET /{page}", func(w http.ResponseWriter, r *http.Request) {
		page, there := pages[r.URL.Path]
		switch {
		case r.URL.Path == hang:
			<-r.Context().Done()
		case !there:
			http.NotFound(w, r)
		default:
			fmt.Fprintln(w, page)
		}
	})
	s := &server{url: "http://" + listener.Addr().String(), http: &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}}
	go s.http.Serve(listener) // until Close
	return s, nil
}

// Close ends the server with all that it is doing.
func (s *server) Close() error { return s.http.Close() }

// stream sends a response piece by piece, as server-sent events.
type stream struct {
	ctx  context.Context
	to   http.ResponseWriter
	pace time.Duration
	sent int
}

// send sends an event. Whether anybody still listens does not matter.
func (s *stream) send(typ string, members map[string]any) {
	members["type"], members["sequence_number"] = typ, s.sent
	s.sent++
	data, err := json.Marshal(members)
	if err != nil {
		panic(fmt.Sprintf("event %s: %v", typ, err)) // the members are ours
	}
	fmt.Fprintf(s.to, "event: %s\ndata: %s\n\n", typ, data)
	_ = http.NewResponseController(s.to).Flush()
}

// words sends a text in deltas, at the pace of the model.
func (s *stream) words(event string, output int, text string) {
	for word := range strings.SplitAfterSeq(text, " ") {
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(s.pace):
		}
		s.send(event+".delta", map[string]any{"output_index": output, "delta": word})
	}
}

// response streams a response: what it consists of as it comes about, then all of it.
func (s *stream) response(r *openresponses.Response) {
	s.to.Header().Set("Content-Type", "text/event-stream")
	s.send("response.created", map[string]any{"response": &openresponses.Response{
		ID: r.ID, Model: r.Model, Status: openresponses.StatusInProgress,
	}})
	for i, item := range r.Output {
		s.send("response.output_item.added", map[string]any{"output_index": i, "item": map[string]any{"type": item.Type}})
		if call, err := item.FunctionCall(); err == nil {
			s.words("response.function_call_arguments", i, call.Arguments)
			s.send("response.function_call_arguments.done", map[string]any{"output_index": i, "arguments": call.Arguments})
		} else {
			s.words("response.output_text", i, item.Text())
			s.send("response.output_text.done", map[string]any{"output_index": i, "text": item.Text()})
		}
		s.send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	s.send("response.completed", map[string]any{"response": r})
}
