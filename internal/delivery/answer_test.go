package delivery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// spanOf returns a span with an attribute of so many bytes.
func spanOf(name string, size int) *projection.Span {
	s := &projection.Span{Name: name, Session: new(projection.Session)}
	s.TraceID[15], s.SpanID[7] = 1, 1
	if size > 0 {
		s.Attributes = []attribute.KeyValue{attribute.String("text", strings.Repeat("x", size))}
	}
	return s
}

func upload(up Uploader, size int) error {
	b := otlp.NewBatch(otlp.Config{})
	b.Add(spanOf("a", size))
	b.Add(spanOf("b", 0))
	return up.UploadTraces(context.Background(), b.ResourceSpans())
}

// The errors come from the real clients, which have seen a real server give the answer.
func TestClassify(t *testing.T) {
	withInfo := func(code codes.Code, wait time.Duration) error {
		s, err := status.New(code, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
		if err != nil {
			t.Fatal(err)
		}
		return s.Err()
	}
	both := []Protocol{GRPC, HTTPProtobuf, HTTPJSON}
	overHTTP := []Protocol{HTTPProtobuf, HTTPJSON}
	for _, tc := range []struct {
		name      string
		protocols []Protocol
		reply     reply
		size      int
		want      answer // the message is a part of it
	}{
		{name: "accepted", protocols: both},
		{name: "some rejected", protocols: both, reply: reply{rejected: 1, message: "no (such) span\n(7 spans rejected)"}, want: answer{rejected: 1, message: "no (such) span (7 spans rejected)"}},
		{name: "rejected without a word", protocols: both, reply: reply{rejected: 2}, want: answer{rejected: 2, message: "rejected without"}},
		{name: "a warning", protocols: both, reply: reply{message: "old times"}, want: answer{message: "old times"}},
		{name: "less than none rejected", protocols: both, reply: reply{rejected: -5, message: "odd"}, want: answer{message: "odd"}},
		{name: "the connection breaks", protocols: both, reply: reply{reset: true}, want: answer{verdict: retry}},
		{name: "the answer is lost", protocols: both, reply: reply{lose: true}, want: answer{verdict: retry}},
		{name: "no answer in time", protocols: both, reply: reply{hang: true}, want: answer{verdict: retry}},
		{name: "larger than the backend takes", protocols: both, size: 200 << 10, want: answer{verdict: tooLarge, message: "large"}},
		{name: "larger than the client takes", protocols: both, size: 65 << 20, want: answer{verdict: tooLarge, message: "too large"}},

		{name: "unavailable", protocols: []Protocol{GRPC}, reply: reply{err: status.Error(codes.Unavailable, "busy")}, want: answer{verdict: retry, message: "Unavailable: busy"}},
		{name: "unavailable for a time", protocols: []Protocol{GRPC}, reply: reply{err: withInfo(codes.Unavailable, 3*time.Second)}, want: answer{verdict: retry, message: "later", wait: 3 * time.Second}},
		{name: "exhausted for a time", protocols: []Protocol{GRPC}, reply: reply{err: withInfo(codes.ResourceExhausted, time.Minute)}, want: answer{verdict: retry, message: "later", wait: time.Minute}},
		{name: "a wait of less than nothing", protocols: []Protocol{GRPC}, reply: reply{err: withInfo(codes.Unavailable, -time.Minute)}, want: answer{verdict: retry}},
		{name: "exhausted", protocols: []Protocol{GRPC}, reply: reply{err: status.Error(codes.ResourceExhausted, "RATE_LIMITED: slow down")}, want: answer{verdict: retry, message: "slow down"}},
		{name: "data loss", protocols: []Protocol{GRPC}, reply: reply{err: status.Error(codes.DataLoss, "")}, want: answer{verdict: retry}},
		{name: "an invalid argument", protocols: []Protocol{GRPC}, reply: reply{err: status.Error(codes.InvalidArgument, "bad span")}, want: answer{verdict: refused, message: "InvalidArgument: bad span"}},
		{name: "an error of the handler", protocols: []Protocol{GRPC}, reply: reply{err: errors.New("oops")}, want: answer{verdict: refused, message: "oops"}},
		{name: "an internal error", protocols: []Protocol{GRPC}, reply: reply{err: status.Error(codes.Internal, "oops")}, want: answer{verdict: refused}},
		{name: "who are you", protocols: []Protocol{GRPC}, reply: reply{err: status.Error(codes.Unauthenticated, "no key")}, want: answer{verdict: denied, message: "no key"}},
		{name: "another service", protocols: []Protocol{GRPC}, reply: reply{err: status.Error(codes.Unimplemented, "unknown service")}, want: answer{verdict: denied}},

		{name: "429", protocols: overHTTP, reply: reply{code: 429, err: errors.New("slow down")}, want: answer{verdict: retry, message: "429"}},
		{name: "503 for a time", protocols: overHTTP, reply: reply{code: 503, header: map[string]string{"Retry-After": "7"}}, want: answer{verdict: retry, message: "503", wait: 7 * time.Second}},
		{name: "503 with nonsense", protocols: overHTTP, reply: reply{code: 503, header: map[string]string{"Retry-After": "-7"}}, want: answer{verdict: retry}},
		{name: "502 with a page", protocols: overHTTP, reply: reply{code: 502, contentType: "text/html", body: []byte("<html>")}, want: answer{verdict: retry, message: "a web page"}},
		{name: "504", protocols: overHTTP, reply: reply{code: 504}, want: answer{verdict: retry}},
		{name: "500", protocols: overHTTP, reply: reply{code: 500}, want: answer{verdict: refused, message: "500 Internal Server Error"}},
		{name: "400 with a reason", protocols: []Protocol{HTTPProtobuf}, reply: reply{code: 400, err: errors.New("bad span")}, want: answer{verdict: refused, message: "400 Bad Request: bad span"}},
		{name: "400 in JSON", protocols: overHTTP, reply: reply{code: 400, contentType: "application/json", body: []byte(`{"code":3,"message":"bad span"}`)}, want: answer{verdict: refused, message: "400 Bad Request: bad span"}},
		{name: "400 in other JSON", protocols: overHTTP, reply: reply{code: 400, contentType: "application/json", body: []byte(`["bad"]`)}, want: answer{verdict: refused, message: `400 Bad Request: ["bad"]`}},
		{name: "400 in words", protocols: overHTTP, reply: reply{code: 400, contentType: "text/plain", body: []byte(" bad\xff ")}, want: answer{verdict: refused, message: "bad\uFFFD"}},
		{name: "401", protocols: overHTTP, reply: reply{code: 401}, want: answer{verdict: denied}},
		{name: "404", protocols: overHTTP, reply: reply{code: 404}, want: answer{verdict: denied, message: "404"}},
		{name: "413", protocols: overHTTP, reply: reply{code: 413}, want: answer{verdict: tooLarge, message: "413"}},
		{name: "it has moved", protocols: overHTTP, reply: reply{code: 307, header: map[string]string{"Location": "http://other.example/"}}, want: answer{verdict: denied, message: "other.example"}},
		{name: "a page for people", protocols: overHTTP, reply: reply{contentType: "text/html; charset=utf-8", body: []byte("<html>Welcome")}, want: answer{verdict: denied, message: "a web page"}},
		{name: "a page for people that does not say so", protocols: overHTTP, reply: reply{contentType: "application/octet-stream", body: []byte("<!DOCTYPE html><html>Login")}, want: answer{verdict: denied, message: "a web page"}},
		{name: "another service", protocols: overHTTP, reply: reply{contentType: "text/plain", body: []byte("Hello, I am a service")}, want: answer{verdict: denied, message: "200 OK: this is no answer of OTLP: Hello"}},
		{name: "an error that says it went well", protocols: overHTTP, reply: reply{contentType: "application/json", body: []byte(`{"error":"unauthorized"}`)}, want: answer{verdict: denied, message: "unauthorized"}},
		{name: "an answer that cannot be read", protocols: overHTTP, reply: reply{contentType: "application/x-protobuf", body: []byte("\xff\xff")}, want: answer{verdict: denied, message: "no answer of OTLP"}},
		{name: "JSON that is no object", protocols: overHTTP, reply: reply{contentType: "application/json", body: []byte(`[]`)}, want: answer{verdict: denied}},
		{name: "an empty object", protocols: overHTTP, reply: reply{contentType: "application/json", body: []byte(` {} `)}},
		{name: "a redirect to nowhere", protocols: overHTTP, reply: reply{code: 304}, want: answer{verdict: denied, message: "304 Not Modified"}},
		{name: "a redirect with a password", protocols: overHTTP, reply: reply{code: 307, header: map[string]string{"Location": "http://u:secret@other.example/x?key=secret"}}, want: answer{verdict: denied, message: "it has moved to http://…@other.example/x…"}},
		{name: "escapes of a terminal", protocols: overHTTP, reply: reply{code: 400, contentType: "text/plain", body: []byte("a\x1b[31m\u202eb\r\nc")}, want: answer{verdict: refused, message: "a\uFFFD[31m\uFFFDb  c"}},
		{name: "accepted with a word of its own", protocols: overHTTP, reply: reply{contentType: "text/plain", body: []byte("ok")}},
		{name: "accepted without a word", protocols: overHTTP, reply: reply{code: http.StatusNoContent, contentType: "text/plain"}},
	} {
		for _, protocol := range tc.protocols {
			t.Run(tc.name+"/"+string(protocol), func(t *testing.T) {
				if tc.reply.hang {
					t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "50")
				}
				b := &backend{limit: 100 << 10, answer: func(int, []*tracepb.Span) reply { return tc.reply }}
				b.start(t, protocol, nil)
				err := upload(b.client(t, protocol), tc.size)
				got := classify(err)
				if !strings.Contains(got.message, tc.want.message) || (got.message == "") != (got.verdict == accepted && tc.want.message == "") {
					t.Errorf("the message is %q, want %q", got.message, tc.want.message)
				}
				want := tc.want
				want.message, got.message = "", ""
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{})); diff != "" {
					t.Errorf("of %v (-want +got):\n%s", err, diff)
				}
			})
		}
	}
}

// What servers in other languages, and those in between, say of a message that is too large.
func TestClassifyTooLarge(t *testing.T) {
	for _, err := range []error{
		status.Error(codes.ResourceExhausted, "grpc: received message after decompression larger than max 4194304"),
		status.Error(codes.ResourceExhausted, "CLIENT: Sent message larger than max (5000000 vs. 4194304)"),
		status.Error(codes.ResourceExhausted, "gRPC message exceeds maximum size 4194304: 5000000"),
		status.Error(codes.ResourceExhausted, "Received message exceeds the maximum configured message size."),
		status.Error(codes.OutOfRange, "Error, decoded message length too large: found 5000000 bytes, the limit is: 4194304 bytes"),
		status.Error(codes.Unknown, "unexpected HTTP status code received from server: 413 (Request Entity Too Large)"),
		fmt.Errorf("around: %w", status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)")),
	} {
		if a := classify(err); a.verdict != tooLarge {
			t.Errorf("%v is read as %+v", err, a)
		}
	}
	// A limit of something else than the message, and a text that only looks like a partial success.
	if a := classify(status.Error(codes.ResourceExhausted, "TRACE_TOO_LARGE: max size of trace (5000000) exceeded")); a.verdict != retry {
		t.Errorf("a trace that is too large is read as %+v", a)
	}
	if a := classify(errors.New("no OTLP partial success: x (1 spans rejected)")); a.verdict != retry || a.rejected != 0 {
		t.Errorf("something else is read as %+v", a)
	}
}

// The client gives both when an acknowledgement with a partial success does not end as it should.
func TestClassifyJoined(t *testing.T) {
	partial := errors.New("OTLP partial success: full (3 spans rejected)")
	want := answer{rejected: 3, message: "full"}
	for _, err := range []error{errors.Join(errors.New("close"), partial), fmt.Errorf("a: %w", errors.Join(nil, partial, nil))} {
		if got := classify(err); got != want {
			t.Errorf("%v is read as %+v", err, got)
		}
	}
	if got := classify(errors.Join(partial, status.Error(codes.Unavailable, "x"))); got.verdict != retry {
		t.Errorf("a partial success that ended in an error is read as %+v", got)
	}
}

func TestMessage(t *testing.T) {
	if got := message(" x" + strings.Repeat("ä", 1000)); len(got) > maxMessage+len("…") || !strings.HasSuffix(got, "ä…") {
		t.Errorf("a long message becomes %d bytes: …%s", len(got), got[len(got)-10:])
	}
}

func TestMessageOfAConnection(t *testing.T) {
	const in = `Post "http://box:4318/v1/traces": read tcp [::1]:46714->127.0.0.1:4318: connection reset by peer`
	const want = `Post "http://box:4318/v1/traces": read tcp 127.0.0.1:4318: connection reset by peer`
	if got := message(in); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestRetryAfterDate(t *testing.T) {
	at := time.Now().Add(time.Hour)
	if d := retryAfter(at.UTC().Format(http.TimeFormat)); d < 59*time.Minute || d > time.Hour {
		t.Errorf("an hour from now is in %v", d)
	}
	if d := retryAfter(at.Add(-2 * time.Hour).UTC().Format(http.TimeFormat)); d != 0 {
		t.Errorf("an hour ago is in %v", d)
	}
}

// The clients of OpenTelemetry, as somebody else has made them, say the same in words of their own.
func TestClassifyForeignClients(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reply reply
		want  answer // the message is a part of it
	}{
		{"accepted", reply{}, answer{}},
		{"busy", reply{code: 503, err: errors.New("later")}, answer{verdict: retry, message: "later"}},
		{"too many", reply{code: 429}, answer{verdict: retry}},
		{"who are you", reply{code: 401}, answer{verdict: denied, message: "401 Unauthorized"}},
		{"nothing there", reply{code: 404}, answer{verdict: denied, message: "404"}},
		{"too large", reply{code: 413}, answer{verdict: tooLarge}},
		{"nonsense", reply{code: 400, err: errors.New("bad span")}, answer{verdict: refused, message: "400 Bad Request"}},
		{"some rejected", reply{rejected: 1, message: "full"}, answer{rejected: 1, message: "full"}},
		{"the connection breaks", reply{reset: true}, answer{verdict: retry}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := &backend{answer: func(int, []*tracepb.Span) reply { return tc.reply }}
			b.start(t, HTTPProtobuf, nil)
			c := otlptracehttp.NewClient(otlptracehttp.WithEndpointURL(b.endpoint+tracesPath),
				otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false}))
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Stop(context.WithoutCancel(t.Context())) }()
			err := upload(c, 0)
			got := classify(err)
			if !strings.Contains(got.message, tc.want.message) {
				t.Errorf("the message is %q, want %q", got.message, tc.want.message)
			}
			if got.verdict != tc.want.verdict || got.rejected != tc.want.rejected {
				t.Errorf("%v is read as %+v, want %+v", err, got, tc.want)
			}
		})
	}
	// What is no word of a backend's is trouble on the way.
	for _, err := range []error{errors.New("oops"), os.ErrDeadlineExceeded, &net.OpError{Op: "dial", Err: errors.New("no route")}} {
		if got := classify(err); got.verdict != retry {
			t.Errorf("%v is read as %+v", err, got)
		}
	}
}
