package delivery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// verdict is what a backend makes of a request.
type verdict int

const (
	accepted verdict = iota // but for what answer.rejected counts
	retry                   // it may go well another time
	tooLarge                // it may go well in parts
	refused                 // it will not go well, whatever is done
	denied                  // nor will any other: the address or the credentials are wrong
)

// answer is what came of a request.
type answer struct {
	verdict  verdict
	rejected int64         // spans that were not accepted, of a request that was
	message  string        // what there is to say, "" for an acknowledgement
	wait     time.Duration // how long the backend asks to wait, or zero
}

// classify reads the error of an OTLP client. The rules are those of the OTLP specification ("Failures" of OTLP/gRPC and of
// OTLP/HTTP), with two exceptions that both keep spans: RESOURCE_EXHAUSTED is worth a retry also without RetryInfo, since
// that is how rate limits are said by backends which do not send it (over HTTP, 429 always is); and what is said to be too
// large is tried in parts.
func classify(err error) answer {
	a := read(err)
	if hint := misread(a.message); hint != "" && a.verdict == retry {
		a.verdict, a.message = denied, a.message+": "+hint
	}
	return a
}

// misread returns what to do where a client's error says that the other side speaks another protocol, or is not who it should
// be, as far as the words of net/http, crypto/tls and grpc-go tell; else "". What they no longer tell is tried again until patience ends.
func misread(text string) (hint string) {
	for _, m := range []struct{ words, hint string }{
		{"looked like an HTTP/1.1 header", "that is a port for HTTP and not for gRPC; use protocol " + string(HTTPProtobuf)},
		{`malformed HTTP response "\x00`, "that is a port for gRPC and not for HTTP; use protocol " + string(GRPC)},
		{"server gave HTTP response to HTTPS client", "it has no TLS there; write http:// instead of https://"},
		{"first record does not look like a TLS handshake", "it has no TLS there; write http:// instead of https://"},
		{"failed to verify certificate", "OTEL_EXPORTER_OTLP_CERTIFICATE names the file of a certificate to trust"},
	} {
		if strings.Contains(text, m.words) {
			return m.hint
		}
	}
	return ""
}

// read does what classify does, but for errors of connections to something else.
func read(err error) answer {
	if err == nil {
		return answer{}
	}
	if e, ok := errors.AsType[*httpError](err); ok {
		return e.answer()
	}
	if e, ok := errors.AsType[grpcError](err); ok {
		return grpcAnswer(e.GRPCStatus())
	}
	if a, ok := partialSuccess(err); ok {
		return a
	}
	if e := sdkError(err); e != nil {
		return e.answer()
	}
	a := answer{verdict: retry, message: message(err.Error())} // whatever it is, it is no word of a backend that turns it away
	transport, isTransport := errors.AsType[*url.Error](err)
	switch {
	case isTransport && transport.Timeout(), !isTransport && errors.Is(err, context.DeadlineExceeded):
		a.message = noAnswer
	case isTransport:
	case saysTooLarge(err.Error()): // the client's own limit
		a.verdict = tooLarge
	}
	return a
}

// sdkText is the text of the error that OpenTelemetry's HTTP client makes of an answer which it does not try again, when it has a
// transport of its own.
var sdkText = regexp.MustCompile(`(?s)failed to send to \S+: ((\d{3})\b[^(]*) \(body: (.*)\)`)

// sdkError reads such an error; nil for another one.
func sdkError(err error) *httpError {
	m := sdkText.FindStringSubmatch(err.Error())
	if m == nil {
		return nil
	}
	code, _ := strconv.Atoi(m[2])
	return &httpError{code: code, status: m[1], message: message(m[3])}
}

// answer follows OTLP/HTTP.
func (e *httpError) answer() answer {
	a := answer{verdict: refused, message: message(e.Error()), wait: e.wait}
	switch e.code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		a.verdict = retry
	case http.StatusRequestEntityTooLarge:
		a.verdict = tooLarge
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusProxyAuthRequired:
		a.verdict = denied
	case http.StatusBadRequest:
		if saysTooLarge(e.message) { // what the Collector answers
			a.verdict = tooLarge
		}
	}
	if e.code < 400 { // a redirect, or a page for people
		a.verdict = denied
	}
	return a
}

type grpcError interface {
	error
	GRPCStatus() *status.Status
}

// grpcAnswer follows OTLP/gRPC.
func grpcAnswer(s *status.Status) answer {
	a := answer{verdict: refused, message: message(fmt.Sprintf("%s: %s", s.Code(), s.Message()))}
	switch s.Code() {
	case codes.DeadlineExceeded:
		a.verdict = retry
		if s.Message() == context.DeadlineExceeded.Error() { // which is the client's
			a.message = noAnswer
		}
	case codes.Canceled, codes.Aborted, codes.OutOfRange, codes.Unavailable, codes.DataLoss,
		codes.ResourceExhausted:
		a.verdict = retry
	case codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented:
		a.verdict = denied
	}
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			a.wait = max(info.GetRetryDelay().AsDuration(), 0)
			return a
		}
	}
	switch s.Code() { // in gRPC no code says it alone; Unknown is that of an HTTP 413 on the way
	case codes.ResourceExhausted, codes.OutOfRange, codes.InvalidArgument, codes.Unknown:
		if saysTooLarge(s.Message()) {
			a.verdict = tooLarge
		}
	}
	return a
}

// saysTooLarge reports whether a text says that a message is too large. The words are those of the gRPC libraries (Go, C,
// Java, .NET, Rust), of net/http and of the OTLP clients.
func saysTooLarge(text string) bool {
	text = strings.ToLower(text)
	for _, words := range []string{"larger than max", "exceeds maximum size", "exceeds the maximum", "too large"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// partialText is the text of the error that the OTLP clients make of a partial success, whose type is internal to them.
var partialText = regexp.MustCompile(`(?s)^OTLP partial success: (.*) \((-?\d+) spans rejected\)$`)

// partialSuccess reads the error of a request that was accepted, in part or with a warning.
func partialSuccess(err error) (answer, bool) {
	if m := partialText.FindStringSubmatch(err.Error()); m != nil {
		if n, convErr := strconv.ParseInt(m[2], 10, 64); convErr == nil {
			if m[1] == "empty message" {
				m[1] = "rejected without a message"
			}
			return answer{rejected: max(n, 0), message: message(m[1])}, true
		}
	}
	switch e := err.(type) { // each error of the tree by itself
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return partialSuccess(inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if a, ok := partialSuccess(inner); ok {
				return a, true
			}
		}
	}
	return answer{}, false
}

// noAnswer says that a request took longer than it may.
const noAnswer = "no answer in time (OTEL_EXPORTER_OTLP_TIMEOUT)"

// maxMessage bounds a message of others in bytes.
const maxMessage = 500

// localAddress is our side of a connection in an error of package net. It is another one each time.
var localAddress = regexp.MustCompile(`\S+:\d+->`)

// message returns a text of others as one that can be kept, and shown: on one line, without what steers a terminal or turns the
// direction of writing.
func message(text string) string {
	text = strings.TrimPrefix(text, "retry-able request failure: ")
	text = localAddress.ReplaceAllLiteralString(text, "")
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '\uFFFD'
		}
		return r
	}, text)
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}
