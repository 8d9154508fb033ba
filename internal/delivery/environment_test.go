package delivery

import (
	"errors"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// What cannot be used is said, with its place and not with its value.
func TestEnvironmentIsChecked(t *testing.T) {
	for _, tc := range []struct{ name, variable, value, says string }{
		{"no header", "HEADERS", "", ""},
		{"a header", "HEADERS", "api-key=SECRET", ""},
		{"two, with blanks", "HEADERS", " a=SECRET , authorization=Bearer%20SECRET ", ""},
		{"of traces alone", "TRACES_HEADERS", "a=SECRET", ""},
		{"a key alone", "HEADERS", "SECRET", "OTEL_EXPORTER_OTLP_HEADERS: header 1 of 1 has no ="},
		{"a comma in a key", "TRACES_HEADERS", "a=SEC,RET", "OTEL_EXPORTER_OTLP_TRACES_HEADERS: header 2 of 2 has no = (a comma in a value is written %2C)"},
		{"a percent in a key", "HEADERS", "a=x,b=SECRET%zz", "header 2 of 2 has a % that"},
		{"a name with blanks", "HEADERS", "a b=SECRET", "header 1 of 1 has a name"},
		{"a line feed in a value", "HEADERS", "a=SEC%0aRET", "header 1 of 1 has a value"},
		{"gzip", "COMPRESSION", "gzip", ""},
		{"no compression", "TRACES_COMPRESSION", "none", ""},
		{"another compression", "COMPRESSION", "zstd", `OTEL_EXPORTER_OTLP_COMPRESSION: "zstd" is neither gzip nor none`},
		{"gzip in capitals", "COMPRESSION", "GZIP", "neither gzip nor none"},
		{"a timeout", "TIMEOUT", "2500", ""},
		{"a timeout in words", "TIMEOUT", "10s", `OTEL_EXPORTER_OTLP_TIMEOUT: "10s" is no number of milliseconds`},
		{"less than no time", "TRACES_TIMEOUT", "-1", "no number of milliseconds"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_"+tc.variable, tc.value)
			c, err := NewClient("", "http://127.0.0.1:4318")
			if (err != nil) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v, want %q", err, tc.says)
			}
			if err != nil && strings.Contains(err.Error(), "SEC") {
				t.Errorf("%v shows a key", err)
			}
			if c != nil {
				c.Close()
			}
		})
	}
}

func TestEndpointsKeepSecrets(t *testing.T) {
	for _, endpoint := range []string{
		"http://user:SECRET PW@host/", "http://user:SECRET%zz@host/", "http://user:SEC/RET#PW@host", "http://user:SECRET@host:bad", "https://SECRET@host",
		"http://host/?api-key=SECRET", "http://host/#SECRET", "user:SECRET@host:4317", "ftp://user:SECRET@host", "http://user:SECRET@host:99999",
	} {
		for _, set := range []func() (*Client, error){
			func() (*Client, error) { return NewClient("", endpoint) },
			func() (*Client, error) {
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
				return NewClient("", "")
			},
		} {
			if _, err := set(); err == nil || strings.Contains(err.Error(), "SEC") {
				t.Errorf("%s: %v", endpoint, err)
			}
		}
	}
	for _, endpoint := range []string{"http://127.0.0.1:0", "http://127.0.0.1:99999", "http://127.0.0.1:x"} {
		if _, err := NewClient("", endpoint); err == nil {
			t.Errorf("%s is usable", endpoint)
		}
	}
}

// A backend that gives back what it was sent does not make a key known.
func TestHeadersAreHidden(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20SECRET%2Fkey1,short=abc")
	for _, protocol := range Protocols {
		b := &backend{answer: func(int, []*tracepb.Span) reply {
			text := "bad: Bearer SECRET/key1, SECRET%2Fkey1 and abc"
			return reply{code: 400, err: errors.New(text)}
		}}
		b.start(t, protocol, nil)
		s := New(t.Context(), b.client(t, protocol), Options{})
		feed(s, 1)
		r, err := s.Close()
		if err != nil || len(r.Messages) != 1 || strings.Contains(r.Messages[0].Text, "key1") || !strings.Contains(r.Messages[0].Text, "abc") {
			t.Errorf("%s: error %v, messages %v", protocol, err, r.Messages)
		}
	}
}
