package delivery

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// httpError is an answer over HTTP that is no acknowledgement. OpenTelemetry's client has a type of its own for it, which
// keeps status and Retry-After to itself.
type httpError struct {
	code    int
	status  string // e.g. "503 Service Unavailable"
	message string
	wait    time.Duration
}

func (e *httpError) Error() string {
	if e.message == "" {
		return e.status
	}
	return e.status + ": " + e.message
}

// transport makes errors of the answers that are none of OTLP's acknowledgements.
type transport struct{ *http.Transport }

// maxAnswer is how much of an answer is read: what OpenTelemetry's client reads by default.
const maxAnswer = 4 << 20

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if closeErr := answer.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("the answer %s broke off: %w", answer.Status, err)
	}
	contentType, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	isPage := contentType == "text/html" || http.DetectContentType(body) == "text/html; charset=utf-8"
	if answer.StatusCode/100 == 2 && !isPage && acknowledges(contentType, body) {
		answer.Body = io.NopCloser(bytes.NewReader(body))
		return answer, nil
	}
	e := &httpError{code: answer.StatusCode, status: answer.Status, wait: retryAfter(answer.Header.Get("Retry-After"))}
	status := new(spb.Status)
	switch {
	case isPage:
		e.message = "a web page"
	case answer.StatusCode/100 == 3: // not followed: it may lead the headers, and the sessions, to somebody else
		if to := answer.Header.Get("Location"); to != "" {
			e.message = message("it has moved to " + shownEndpoint(to))
		}
	case answer.StatusCode/100 == 2:
		e.message = message("this is no answer of OTLP: " + string(body[:min(len(body), maxMessage)]))
	case contentType == "application/x-protobuf" && proto.Unmarshal(body, status) == nil:
		e.message = message(status.GetMessage())
	case contentType == "application/json" && (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(body, status) == nil:
		e.message = message(status.GetMessage())
	default:
		e.message = message(string(body))
	}
	return nil, e
}

// acknowledges reports whether the body of a good status is one that OTLP's answers have: none, a response, or a word of a server
// that does not care.
func acknowledges(contentType string, body []byte) bool {
	text := bytes.TrimSpace(body)
	if len(text) == 0 {
		return true
	}
	response := new(coltracepb.ExportTraceServiceResponse)
	switch contentType {
	case "application/x-protobuf", "application/protobuf":
		return proto.Unmarshal(body, response) == nil
	case "application/json":
		var members map[string]json.RawMessage
		if json.Unmarshal(body, &members) != nil {
			return false
		}
		_, partial := members["partialSuccess"]
		_, snake := members["partial_success"]
		return partial || snake || len(members) == 0
	}
	switch strings.ToLower(string(text[:min(len(text), 16)])) {
	case "ok", "success", "accepted":
		return true
	}
	return false
}

// maxWait is the longest that a backend is understood to ask for.
const maxWait = 365 * 24 * time.Hour

// retryAfter reads the header of this name, in seconds or as a date.
func retryAfter(value string) time.Duration {
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, maxWait)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(time.Until(at), 0), maxWait)
	}
	return 0
}

// httpClient returns what OpenTelemetry's client would make for itself, by the same variables, but for the transport.
func httpClient(config *tls.Config) *http.Client {
	timeout := 10 * time.Second
	if ms, err := strconv.ParseUint(setting("TIMEOUT"), 10, 31); err == nil {
		timeout = time.Duration(ms) * time.Millisecond
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = config
	t.MaxIdleConnsPerHost = t.MaxIdleConns // two by default, which would have the others dial again for every batch
	return &http.Client{Transport: transport{t}, Timeout: timeout}
}

// tlsConfig returns nil when the environment asks for nothing particular.
func tlsConfig() (*tls.Config, error) {
	roots, cert, key := setting("CERTIFICATE"), setting("CLIENT_CERTIFICATE"), setting("CLIENT_KEY")
	if roots == "" && (cert == "" || key == "") {
		return nil, nil
	}
	config := new(tls.Config)
	if roots != "" {
		text, err := os.ReadFile(roots)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s holds no certificate in PEM", roots)
		}
	}
	if cert != "" && key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
