package jaeger

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// ErrNone: the server has no such trace.
var ErrNone = errors.New("no such trace")

// Trace returns the spans of a trace as they were stored.
func (s *Server) Trace(ctx context.Context, id string) ([]*tracepb.ResourceSpans, error) {
	return s.spans(ctx, "/api/v3/traces/"+url.PathEscape(id), url.Values{"raw_traces": {"true"}})
}

// Search returns all spans, as they were stored, of at most limit traces that have a span of the service which started
// within a time.
func (s *Server) Search(ctx context.Context, service string, from, to time.Time, limit int) ([]*tracepb.ResourceSpans, error) {
	return s.spans(ctx, "/api/v3/traces", url.Values{
		"query.service_name":   {service},
		"query.start_time_min": {from.UTC().Format(time.RFC3339Nano)},
		"query.start_time_max": {to.UTC().Format(time.RFC3339Nano)},
		"query.num_traces":     {strconv.Itoa(limit)},
		"query.raw_traces":     {"true"},
	})
}

func (s *Server) spans(ctx context.Context, path string, query url.Values) ([]*tracepb.ResourceSpans, error) {
	text, err := s.get(ctx, path, query)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result any `json:"result"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := base64IDs(answer.Result); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if text, err = json.Marshal(answer.Result); err != nil {
		return nil, err
	}
	var data tracepb.TracesData
	if err := protojson.Unmarshal(text, &data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data.ResourceSpans, nil
}

// base64IDs makes of OTLP/JSON, where ids are in hexadecimal, the JSON of protobuf, where they are in base64.
func base64IDs(value any) error {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			if err := base64IDs(v); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, v := range value {
			text, isText := v.(string)
			switch {
			case isText && (name == "traceId" || name == "spanId" || name == "parentSpanId"):
				id, err := hex.DecodeString(text)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				value[name] = base64.StdEncoding.EncodeToString(id)
			default:
				if err := base64IDs(v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Shown is a trace as the server shows it in its user interface.
type Shown struct {
	Spans    []ShownSpan `json:"spans"`
	Warnings []string    `json:"warnings"`
}

// ShownSpan is a span of a [Shown]; its ids are in hexadecimal.
type ShownSpan struct {
	ID         string      `json:"spanID"`
	Name       string      `json:"operationName"`
	References []Reference `json:"references"`
	Warnings   []string    `json:"warnings"`
}

// Reference leads from one span to another. That to the parent stands first, and its Type is CHILD_OF unless there is a link
// to it as well; a link is FOLLOWS_FROM.
type Reference struct {
	Type  string `json:"refType"`
	Trace string `json:"traceID"`
	Span  string `json:"spanID"`
}

// Shown returns a trace as the user interface gets it: copies that are equal in one, with a warning on each span that has
// something odd.
func (s *Server) Shown(ctx context.Context, id string) (*Shown, error) {
	shown, err := s.shown(ctx, "/api/traces/"+url.PathEscape(id), nil)
	if err != nil {
		return nil, err
	}
	if len(shown) != 1 {
		return nil, fmt.Errorf("trace %s: %d traces instead of one", id, len(shown))
	}
	return shown[0], nil
}

// Recent returns what the user interface finds of a service when it is asked for the last hours.
func (s *Server) Recent(ctx context.Context, service string, hours int) ([]*Shown, error) {
	now := time.Now()
	return s.shown(ctx, "/api/traces", url.Values{
		"service": {service},
		"start":   {strconv.FormatInt(now.Add(-time.Duration(hours)*time.Hour).UnixMicro(), 10)},
		"end":     {strconv.FormatInt(now.UnixMicro(), 10)},
		"limit":   {strconv.Itoa(maxTraces)},
	})
}

func (s *Server) shown(ctx context.Context, path string, query url.Values) ([]*Shown, error) {
	text, err := s.get(ctx, path, query)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data   []*Shown          `json:"data"`
		Errors []json.RawMessage `json:"errors"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(answer.Errors) > 0 {
		return nil, fmt.Errorf("%s: %s", path, answer.Errors)
	}
	return answer.Data, nil
}

// get asks the query API.
func (s *Server) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.config.QueryHTTP+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case resp.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", path, ErrNone)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s: %s", path, resp.Status, text)
	}
	return text, nil
}
