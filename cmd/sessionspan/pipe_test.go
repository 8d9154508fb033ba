package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/outline"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/stored"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/sessionspan/sessionspan/internal/waterfall"
)

// longSession writes a session whose pictures take many kilobytes, with characters of several bytes all over, and returns
// its path.
func longSession(t *testing.T, id string) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, `{"type":"session","format":"agentsession/0.2","id":%q,"created_at":"2026-01-02T03:04:05Z","payload":"p/1"}`+"\n", id)
	parent := "null"
	for i := range 70 {
		ts := fmt.Sprintf("2026-01-02T03:%02d:%02d.%03dZ", 5+i/60, i%60, i)
		fmt.Fprintf(&text, `{"type":"item","id":"u%d","parent":%s,"ts":%q,"item":{"type":"message","role":"user","content":"日本語 – „Größe“ %s"}}`+"\n",
			i, parent, ts, strings.Repeat("é… ", i))
		fmt.Fprintf(&text, `{"type":"response","id":"e%d","parent":"u%d","ts":%q,"response_id":"r%d","model":"modèle-%d"}`+"\n", i, i, ts, i, i)
		parent = fmt.Sprintf("%q", fmt.Sprint("e", i))
	}
	path := filepath.Join(t.TempDir(), id+".jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What goes to a pipe or a file is what is drawn, to the byte, however long it is and however wide.
func TestNothingIsLostInAPipe(t *testing.T) {
	path := longSession(t, "long")
	var many []string
	for i := range 30 {
		many = append(many, longSession(t, fmt.Sprintf("größer-als-%d-…", i)))
	}
	check := func(what, got, want string) {
		t.Helper()
		switch {
		case !utf8.ValidString(got):
			t.Errorf("%s: no UTF-8", what)
		case len(want) < 5000:
			t.Errorf("%s: %d bytes show nothing", what, len(want))
		case got != want:
			t.Errorf("%s: %d bytes, want %d", what, len(got), len(want))
		}
	}
	ix := archive.NewIndex(t.Context(), []string{path}, nil, source.Options{})
	for width := 40; width <= 120; width += 8 {
		look := terminal.Look{Width: width}
		out, err := outline.Load(t.Context(), path, nil, stored.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := out.Draw(t.Context(), &want, outline.Options{Look: look}); err != nil {
			t.Fatal(err)
		}
		_, got, _ := call(t.Context(), nil, "show", "--width", fmt.Sprint(width), path)
		check(fmt.Sprint("show, width ", width), got, want.String())

		c := &waterfall.Collector{}
		ix.ProjectTrace(t.Context(), ix.Files, archive.Options{}, c)
		want.Reset()
		if err := c.Draw(t.Context(), &want, waterfall.Options{Look: look}); err != nil {
			t.Fatal(err)
		}
		_, got, _ = call(t.Context(), nil, "replay", "--max-rows", "0", "--width", fmt.Sprint(width), path)
		check(fmt.Sprint("replay, width ", width), got, want.String())
	}
	_, got, _ := call(t.Context(), nil, append([]string{"list"}, many...)...)
	var want strings.Builder
	rows := strings.SplitAfter(got, "\n")
	want.WriteString(rows[0])
	for _, path := range many { // in the order of their paths, which are in folders of their own
		id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		found := false
		for _, row := range rows {
			if strings.HasPrefix(row, id+" ") && strings.HasSuffix(row, " "+path+"\n") {
				want.WriteString(row)
				found = true
			}
		}
		if !found {
			t.Errorf("list has no whole row of %s", id)
		}
	}
	if !utf8.ValidString(got) || len(got) < 5000 || len(got) != want.Len() {
		t.Errorf("list: %d bytes, want %d in UTF-8", len(got), want.Len())
	}
}
