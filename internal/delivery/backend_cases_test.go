package delivery

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Everything a backend and the way to it can do, over real connections: the counts are true.
func TestBackends(t *testing.T) {
	const n = 100 // spans, in batches of 10
	once := func(at int, a reply) func(int, []*tracepb.Span) reply {
		return func(request int, _ []*tracepb.Span) reply {
			if request == at {
				return a
			}
			return reply{}
		}
	}
	unavailable := reply{err: status.Error(codes.Unavailable, "busy"), code: 503}
	bad := reply{err: status.Error(codes.InvalidArgument, "bad"), code: 400}
	all := fmt.Sprintf("%d spans, 0 of them again", n)
	for _, tc := range []struct {
		name   string
		answer func(request int, spans []*tracepb.Span) reply
		limit  int64
		size   func(i int) int // of the text in each span
		want   Result
		has    string // what the backend has
		retry  bool   // once at least; how often is a matter of reconnecting
	}{
		{name: "accepts", want: Result{Sent: n}, has: all},
		{name: "refuses", answer: once(3, bad), want: Result{Sent: 90, Refused: 10}, has: "90 spans, 0 of them again"},
		{name: "takes a part", answer: once(3, reply{rejected: 4, message: "full"}), want: Result{Sent: 96, Refused: 4}, has: "96 spans, 0 of them again"},
		{name: "is busy", answer: once(3, unavailable), want: Result{Sent: n}, has: all, retry: true},
		{name: "is busy at first", answer: once(1, unavailable), want: Result{Sent: n}, has: all, retry: true},
		{name: "breaks the connection", answer: once(3, reply{reset: true}), want: Result{Sent: n}, has: all, retry: true},
		{
			name: "loses the acknowledgement", answer: once(3, reply{lose: true}),
			want: Result{Sent: n}, has: "100 spans, 10 of them again", retry: true,
		},
		{name: "does not answer", answer: once(3, reply{hang: true}), want: Result{Sent: n}, has: all, retry: true},
		{name: "takes little", limit: 4000, size: func(int) int { return 1000 }, want: Result{Sent: n}, has: all},
		{name: "takes less than a span", limit: 6000, size: func(i int) int {
			if i == 42 {
				return 20_000
			}
			return 100
		}, want: Result{Sent: n, Cut: 1}, has: all},
	} {
		for _, protocol := range Protocols {
			t.Run(tc.name+"/"+string(protocol), func(t *testing.T) {
				t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "300")
				b := &backend{answer: tc.answer, limit: tc.limit}
				if protocol == HTTPJSON {
					b.limit *= 2 // the same is longer
				}
				b.start(t, protocol, nil)
				s := New(t.Context(), b.client(t, protocol), Options{MaxSpans: 10, InFlight: 1, firstWait: time.Millisecond})
				for i := range n {
					size := 0
					if tc.size != nil {
						size = tc.size(i)
					}
					s.End(spanOf(fmt.Sprint(i), size))
				}
				got, err := s.Close()
				tc.want.Spans, tc.want.Batches = n, 10
				if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Result{}, "Bytes", "Messages", "Requests", "Retries")); diff != "" || err != nil {
					t.Errorf("error %v (-want +got):\n%s", err, diff)
				}
				if tc.retry != (got.Retries > 0) {
					t.Errorf("%d retries: %v", got.Retries, got.Messages)
				}
				if got.Requests < got.Batches+got.Retries {
					t.Errorf("%d requests with %d retries", got.Requests, got.Retries)
				}
				if has := b.counts(); has != tc.has {
					t.Errorf("the backend has %s, want %s: %v", has, tc.has, got.Messages)
				}
			})
		}
	}
}

func TestNobodyThere(t *testing.T) {
	for _, protocol := range Protocols {
		t.Run(string(protocol), func(t *testing.T) {
			b := new(backend)
			l := b.listen(t)
			b.endpoint = "http://" + l.Addr().String()
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			s := New(t.Context(), b.client(t, protocol), Options{Patience: 50 * time.Millisecond, firstWait: time.Millisecond})
			feed(s, 10)
			r, err := s.Close()
			if r.Lost != 10 || !errors.Is(err, ErrDown) {
				t.Errorf("%+v, error %v", r, err)
			}
			t.Log(err)
		})
	}
}

// The one protocol where the other is spoken.
func TestOtherProtocol(t *testing.T) {
	for speaks, told := range map[Protocol]Protocol{GRPC: HTTPProtobuf, HTTPProtobuf: GRPC} {
		t.Run(string(told)+" to "+string(speaks), func(t *testing.T) {
			b := new(backend).start(t, speaks, nil)
			s := New(t.Context(), b.client(t, told), Options{Patience: 50 * time.Millisecond, firstWait: time.Millisecond})
			feed(s, 10)
			r, err := s.Close()
			if r.Lost+r.Refused != 10 || err == nil {
				t.Errorf("%+v, error %v", r, err)
			}
			t.Log(err)
		})
	}
}
