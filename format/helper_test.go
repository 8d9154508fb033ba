package format

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const header02 = `{"type":"session","format":"agentsession/0.2","id":"s","created_at":"2026-09-20T12:00:00Z","payload":"openresponses/2026-04-24"}`

// file joins lines into a file that ends with a line feed.
func file(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// info is the smallest entry; a parent of "" makes it a root.
func info(id, parent string, members ...string) string { return entry("info", id, parent, members...) }

func entry(typ, id, parent string, members ...string) string {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	line := `{"type":"` + typ + `","id":"` + id + `","parent":` + p + `,"ts":"2026-09-20T12:00:01Z"`
	for _, m := range members {
		line += "," + m
	}
	return line + "}"
}

// chain builds entries from their types and members, and hangs each from the one before: e1, e2, ….
func chain(entries ...[]string) []string {
	var lines []string
	parent := ""
	for i, e := range entries {
		id := fmt.Sprint("e", i+1)
		lines = append(lines, entry(e[0], id, parent, e[1:]...))
		parent = id
	}
	return lines
}

func headerOf(minor string, members ...string) string {
	h := strings.Replace(header02, "/0.2", "/0."+minor, 1)
	for _, m := range members {
		h = strings.TrimSuffix(h, "}") + "," + m + "}"
	}
	return h
}

func mustRead(t testing.TB, text string) *Session {
	t.Helper()
	s, err := ReadSession(strings.NewReader(text))
	if err != nil {
		t.Fatalf("ReadSession: %v", err)
	}
	return s
}

// readAll reads entries and damage until the end of the file.
func readAll(t testing.TB, r *Reader) (entries []Entry, damage []*DamageError) {
	t.Helper()
	for {
		e, err := r.Next()
		switch d, damaged := errors.AsType[*DamageError](err); {
		case err == io.EOF:
			return entries, damage
		case damaged:
			clone := *d
			clone.Data = []byte(string(d.Data))
			clone.Entry = Clone(d.Entry)
			damage = append(damage, &clone)
		case err != nil:
			t.Fatalf("Next: %v", err)
		default:
			entries = append(entries, Clone(e))
		}
	}
}

func ids(entries []Entry) []string {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Base().ID)
	}
	return ids
}

func at(second int) time.Time { return time.Date(2026, 9, 20, 12, 0, second, 0, time.UTC) }

func ptr[T any](v T) *T { return &v }

func raw(s string) jsontext.Value { return jsontext.Value(s) }

// members pairs names with raw values.
func members(pairs ...string) Members {
	var m Members
	for i := 0; i < len(pairs); i += 2 {
		m = append(m, Member{Name: pairs[i], Value: raw(pairs[i+1])})
	}
	return m
}
