package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// reply is what a receiver does with a request. Zero accepts it.
type reply struct {
	code     int
	text     string
	rejected int64
	// close closes the connection instead of an answer: the spans are taken.
	close bool
	// wait is called before the answer.
	wait func(*http.Request)
}

// receiver is an OTLP backend over HTTP.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests int
	spans    map[string]int // times that each has been taken, by id
	resource map[string]bool
	headers  http.Header
}

// newReceiver starts one, which answers the nth request, counted from 1, as it is told.
func newReceiver(t *testing.T, answer func(n int) reply) *receiver {
	t.Helper()
	r := &receiver{spans: map[string]int{}, resource: map[string]bool{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body := io.Reader(req.Body)
		if req.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		wire, err := io.ReadAll(body)
		if err != nil {
			t.Error(err)
		}
		var data tracepb.TracesData
		if err := proto.Unmarshal(wire, &data); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.requests++
		n := r.requests
		r.headers = req.Header
		r.mu.Unlock()
		a := answer(n)
		if a.wait != nil {
			a.wait(req)
		}
		if a.code == 0 {
			r.take(&data, a.rejected)
		}
		if a.close {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		if a.code != 0 {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(a.code)
			_, _ = io.WriteString(w, a.text)
			return
		}
		var response coltracepb.ExportTraceServiceResponse
		if a.rejected > 0 {
			response.PartialSuccess = &coltracepb.ExportTracePartialSuccess{RejectedSpans: a.rejected, ErrorMessage: a.text}
		}
		out, err := proto.Marshal(&response)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(out)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(data *tracepb.TracesData, rejected int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range data.ResourceSpans {
		for _, kv := range resource.GetResource().GetAttributes() {
			r.resource[kv.GetKey()+"="+kv.GetValue().GetStringValue()] = true
		}
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				if rejected--; rejected < 0 {
					r.spans[string(s.SpanId)]++
				}
			}
		}
	}
}

// times returns how many spans have been taken, and how often at most.
func (r *receiver) times() (spans, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.spans {
		most = max(most, n)
	}
	return len(r.spans), most
}

// sentSummary is what the summary for programs says of sending.
type sentSummary struct {
	Error       *string
	Interrupted *interruption
	Delivery    *deliveryCounts
}

// send replays to an endpoint and returns the summary.
func send(t *testing.T, ctx context.Context, args ...string) (code int, sum sentSummary) {
	t.Helper()
	code, out, log := call(ctx, nil, append([]string{"replay", "--json"}, args...)...)
	if out != "" {
		t.Errorf("standard output has %q", out)
	}
	if err := json.Unmarshal([]byte(log), &sum); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	return code, sum
}

// quickstartSpans is how many spans the quickstart has.
const quickstartSpans = 36

func TestSendingEndsWithTrueCounts(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	for _, tc := range []struct {
		name   string
		answer func(n int) reply
		code   int
		want   deliveryCounts // but for To, Bytes and Messages
		stored int
		most   int
		says   string // in messages
		err    string
	}{
		{
			name:   "everything is accepted",
			answer: func(int) reply { return reply{} },
			want:   deliveryCounts{Spans: 36, Batches: 1, Requests: 1, Sent: 36},
			stored: 36, most: 1,
		},
		{
			name:   "some spans are rejected",
			answer: func(int) reply { return reply{rejected: 5, text: "too old"} },
			code:   exitFinding,
			want:   deliveryCounts{Spans: 36, Batches: 1, Requests: 1, Sent: 31, Refused: 5},
			stored: 31, most: 1, says: "too old",
		},
		{
			name:   "the request makes no sense to it",
			answer: func(int) reply { return reply{code: http.StatusBadRequest, text: "what is this"} },
			code:   exitFinding,
			want:   deliveryCounts{Spans: 36, Batches: 1, Requests: 1, Refused: 36},
			says:   "what is this",
		},
		{
			name:   "nobody takes traces there",
			answer: func(int) reply { return reply{code: http.StatusNotFound, text: "nothing here"} },
			code:   exitFinding,
			want:   deliveryCounts{Spans: 36, Batches: 1, Requests: 1, Refused: 36},
			err:    "it takes no traces",
		},
		{
			name: "it is busy at first",
			answer: func(n int) reply {
				if n == 1 {
					return reply{code: http.StatusServiceUnavailable}
				}
				return reply{}
			},
			want:   deliveryCounts{Spans: 36, Batches: 1, Requests: 2, Sent: 36, Retries: 1},
			stored: 36, most: 1,
		},
		{
			name:   "the acknowledgement is lost",
			answer: func(n int) reply { return reply{close: n == 1} },
			want:   deliveryCounts{Spans: 36, Batches: 1, Requests: 2, Sent: 36, Retries: 1},
			stored: 36, most: 2,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to := newReceiver(t, tc.answer)
			code, sum := send(t, t.Context(), "--endpoint", to.URL, quickstart)
			if code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			d := *sum.Delivery
			var says strings.Builder
			for _, m := range d.Messages {
				says.WriteString(m.Text)
			}
			if !strings.Contains(says.String(), tc.says) {
				t.Errorf("the messages are %q, want %q among them", &says, tc.says)
			}
			if (d.Bytes > 0) != (d.Sent > 0) || d.To != to.URL+" (http/protobuf)" {
				t.Errorf("%+v", d)
			}
			d.To, d.Bytes, d.Messages = "", 0, nil
			want := tc.want
			if got, want := mustJSON(t, d), mustJSON(t, want); got != want {
				t.Errorf("counts\n%s, want\n%s", got, want)
			}
			if spans, most := to.times(); spans != tc.stored || most != tc.most {
				t.Errorf("%d spans have been taken, at most %d times; want %d and %d", spans, most, tc.stored, tc.most)
			}
			if (sum.Error != nil) != (tc.err != "") || sum.Error != nil && !strings.Contains(*sum.Error, tc.err) {
				t.Errorf("error %v, want %q", sum.Error, tc.err)
			}
		})
	}
}

func mustJSON(t *testing.T, of any) string {
	t.Helper()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What people read ends with what became of the spans, and the environment says the rest.
func TestSummarySaysWhatWasSent(t *testing.T) {
	to := newReceiver(t, func(int) reply { return reply{} })
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret")
	code, out, log := call(t.Context(), nil, "replay", "--to", "otlp", "--service-name", "mine", quickstart)
	if code != exitOK || out != "" {
		t.Errorf("exit code %d, output %q", code, out)
	}
	if want := "36 spans sent to " + to.URL + " (http/protobuf) in 1 request, "; !strings.Contains(log, "\n"+want) {
		t.Errorf("%s\nwant a line that begins with %q", log, want)
	}
	if strings.Contains(log, "secret") {
		t.Errorf("%s\nshows a key", log)
	}
	if to.headers.Get("X-Key") != "secret" || !to.resource["service.name=mine"] {
		t.Errorf("headers %v, resource %v", to.headers, to.resource)
	}
}

// Without being told, nothing is sent, whatever the environment says; nor in a dry run, which counts all the same.
func TestNothingIsSentUnlessTold(t *testing.T) {
	to := newReceiver(t, func(int) reply { return reply{} })
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	for _, args := range [][]string{
		{"replay", quickstart},
		{"replay", "--to", "otlp-json", quickstart},
		{"list", quickstart},
		{"show", quickstart},
		{"verify", quickstart},
	} {
		if code, _, log := call(t.Context(), nil, args...); code != exitOK {
			t.Errorf("%v: %d\n%s", args, code, log)
		}
	}
	code, sum := send(t, t.Context(), "--to", "otlp", "--dry-run", quickstart)
	if d := sum.Delivery; code != exitOK || !d.DryRun || d.Sent != quickstartSpans || d.Bytes == 0 {
		t.Errorf("exit code %d, %+v", code, d)
	}
	if to.requests > 0 {
		t.Errorf("%d requests came", to.requests)
	}
}

// An interrupt while a request is under way lets it come to its end, and the spans that it has acknowledged are counted.
func TestInterruptedWhileSending(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	to := newReceiver(t, func(int) reply { return reply{wait: func(*http.Request) { interrupt() }} })
	code, sum := send(t, ctx, "--endpoint", to.URL, quickstart)
	if code != exitFinding || sum.Interrupted == nil || sum.Interrupted.While != "sending the last spans" {
		t.Errorf("exit code %d, interrupted %+v", code, sum.Interrupted)
	}
	if spans, _ := to.times(); sum.Delivery.Sent != quickstartSpans || spans != quickstartSpans {
		t.Errorf("%+v; %d spans came", sum.Delivery, spans)
	}
}

// A second copy of a replay has the ids of the first.
func TestSendingAgainSendsTheSame(t *testing.T) {
	to := newReceiver(t, func(int) reply { return reply{} })
	for range 2 {
		if code, sum := send(t, t.Context(), "--endpoint", to.URL, quickstart); code != exitOK {
			t.Errorf("exit code %d, %+v", code, sum)
		}
	}
	if spans, most := to.times(); spans != quickstartSpans || most != 2 {
		t.Errorf("%d spans came, %d times", spans, most)
	}
}

// However many traces are read at once, the same spans come, and the summary is in the order of the traces.
func TestJobsSendTheSame(t *testing.T) {
	var first string
	for _, jobs := range []string{"1", "2", "16"} {
		to := newReceiver(t, func(int) reply { return reply{} })
		_, _, log := call(t.Context(), nil, "replay", "--json", "--endpoint", to.URL, "--jobs", jobs, "--finish", "../../testdata/agentsession")
		var sum struct {
			Sessions []sessionSummary
			Spans    spanCounts
			Open     openCounts
			Damaged  int
			NotRead  int `json:"not_read"`
			Delivery deliveryCounts
		}
		if err := json.Unmarshal([]byte(log), &sum); err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		if spans, most := to.times(); int64(spans) != sum.Delivery.Sent || most != 1 || spans != total(sum.Spans) {
			t.Errorf("with %s jobs %d spans came, %d times at most; %+v", jobs, spans, most, sum.Delivery)
		}
		sum.Delivery = deliveryCounts{}
		switch got := mustJSON(t, sum); first {
		case "":
			first = got
		case got:
		default:
			t.Errorf("with %s jobs the summary is\n%s\nwith one it was\n%s", jobs, got, first)
		}
	}
}

// With several traces at once an interrupt ends each, and what was read before is sent.
func TestInterruptedJobs(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	to := newReceiver(t, func(int) reply { return reply{} })
	begun := strings.Join(strings.SplitAfter(string(fixture(t)), "\n")[:20], "")
	in := &silent{strings.NewReader(begun), interrupt, make(chan struct{})}
	defer close(in.end)
	code, _, log := call(ctx, in, "replay", "--json", "--endpoint", to.URL, "--jobs", "2", "-", "../../testdata/agentsession/parallel.jsonl")
	var sum sentSummary
	if err := json.Unmarshal([]byte(log), &sum); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if code != exitFinding || sum.Interrupted == nil || sum.Interrupted.While != "reading" || sum.Error == nil {
		t.Errorf("exit code %d, %s", code, log)
	}
	if spans, _ := to.times(); spans == 0 || sum.Delivery.Sent != int64(spans) || sum.Delivery.Lost > 0 {
		t.Errorf("%d spans came, %+v", spans, sum.Delivery)
	}
}

// A backend that turns everything away ends the reading of what is left, and is named.
func TestDeniedEndsReading(t *testing.T) {
	to := newReceiver(t, func(int) reply { return reply{code: http.StatusUnauthorized, text: "who are you"} })
	code, sum := send(t, t.Context(), "--endpoint", to.URL, "--finish", "../../testdata/agentsession")
	if code != exitFinding || sum.Error == nil || !strings.Contains(*sum.Error, "it takes no traces") || sum.Interrupted != nil {
		t.Errorf("exit code %d, %+v, error %q", code, sum, *sum.Error)
	}
	if d := sum.Delivery; d.Sent != 0 || d.Spans != d.Refused+d.Lost {
		t.Errorf("%+v", d)
	}
}
