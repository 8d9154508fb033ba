package format

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeHeader(t *testing.T) {
	tests := []struct {
		name, line string
		want       *Header
	}{
		{
			"everything",
			`{"acme:z":1.50,"type":"session","format":"agentsession/0.5","id":"s","created_at":"2026-09-20T14:00:00+02:00","payload":"openresponses/2026-04-24",` +
				`"harness":{"build":7,"name":"h","version":"1"},"records":["run"],"cwd":"/w","parent_session":"p","spawned_by":"c1","media":"sidecar",` +
				`"base":"b","redacted":true}`,
			&Header{
				Format: "agentsession/0.5", ID: "s", CreatedAt: at(0), Payload: "openresponses/2026-04-24",
				Harness: &Harness{Name: "h", Version: "1", Unknown: members("build", `7`)},
				Records: []string{"run"}, CWD: "/w", ParentSession: "p", SpawnedBy: "c1", Media: "sidecar", Base: "b",
				Unknown: members("acme:z", `1.50`, "redacted", `true`),
			},
		},
		{
			"before there were bases",
			headerOf("4", `"base":"b"`),
			&Header{Format: "agentsession/0.4", ID: "s", CreatedAt: at(0), Payload: "openresponses/2026-04-24", Unknown: members("base", `"b"`)},
		},
		{
			"a minor that nobody knows yet",
			headerOf("999"),
			&Header{Format: "agentsession/0.999", ID: "s", CreatedAt: at(0), Payload: "openresponses/2026-04-24"},
		},
		{
			"an id that is no UUID, no payload, nulls",
			`{"type":"session","format":"agentsession/0.2","id":"my session/1","created_at":"2026-09-20T12:00:00Z","harness":null,"records":null,"cwd":null}`,
			&Header{Format: "agentsession/0.2", ID: "my session/1", CreatedAt: at(0)},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := DecodeHeader([]byte(test.line))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeHeaderDamage(t *testing.T) {
	const created = `"created_at":"2026-09-20T12:00:00Z"`
	tests := []struct {
		name, line string
		errs       []error
		detail     string
		left       bool // whether there is a header all the same
	}{
		{"no JSON", `not json`, []error{ErrNoHeader, ErrSyntax}, "invalid character", false},
		{"cut short", header02[:50], []error{ErrNoHeader, ErrSyntax}, "unexpected end", false},
		{"an array", `[]`, []error{ErrNoHeader, ErrSyntax}, "instead of an object", false},
		{"no type", `{}`, []error{ErrNoHeader}, `"type" is not "session"`, false},
		{"an entry", info("a", ""), []error{ErrNoHeader}, `"type" is not "session"`, false},
		{"no format", `{"type":"session","id":"s",` + created + `}`, []error{ErrInvalidEntry}, `"format" is missing`, false},
		{"format is a number", `{"type":"session","format":0.2,"id":"s",` + created + `}`, []error{ErrInvalidEntry}, `"format" is not a string`, false},
		{"another format", `{"type":"session","format":"pi/0.2","id":"s",` + created + `}`, []error{ErrUnsupportedFormat}, `found "pi/0.2", this version reads agentsession/0.N with a number N`, false},
		{"no version", `{"type":"session","format":"agentsession","id":"s",` + created + `}`, []error{ErrUnsupportedFormat}, `found "agentsession"`, false},
		{"another major", `{"type":"session","format":"agentsession/1.0","id":"s",` + created + `}`, []error{ErrUnsupportedFormat}, `found "agentsession/1.0"`, false},
		{"no id", `{"type":"session","format":"agentsession/0.2",` + created + `}`, []error{ErrInvalidEntry}, `"id" is missing`, false},
		{"an empty id", `{"type":"session","format":"agentsession/0.2","id":"",` + created + `}`, []error{ErrInvalidEntry}, `"id" is empty`, false},
		{"no created_at", `{"type":"session","format":"agentsession/0.2","id":"s"}`, []error{ErrInvalidEntry}, `"created_at" is missing`, true},
		{"created_at without a zone", strings.Replace(header02, `00Z"`, `00"`, 1), []error{ErrInvalidEntry}, `"created_at" is not an RFC 3339 time`, true},
		{"records is a string", headerOf("2", `"records":"run"`), []error{ErrInvalidEntry}, `"records" is not an array`, true},
		{"harness is a string", headerOf("2", `"harness":"h"`), []error{ErrInvalidEntry}, `"harness" is not an object`, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, err := DecodeHeader([]byte(test.line))
			d, ok := errors.AsType[*DamageError](err)
			if !ok {
				t.Fatalf("got %v, want a DamageError", err)
			}
			for _, want := range test.errs {
				if !errors.Is(err, want) {
					t.Errorf("%v is not %v", err, want)
				}
			}
			if !strings.Contains(d.Detail, test.detail) {
				t.Errorf("detail %q, want %q in it", d.Detail, test.detail)
			}
			if (h != nil) != test.left {
				t.Fatalf("header %v", h)
			}
			if h != nil && (h.ID != "s" || h.Format != "agentsession/0.2") {
				t.Errorf("header %v", h)
			}
		})
	}
}
