package jsonl_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/store/jsonl"
)

func Example() {
	dir, err := os.MkdirTemp("", "sessions-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	s, err := jsonl.Open(dir, jsonl.WithSync(jsonl.Group),
		jsonl.WithTakeover(func(t jsonl.Takeover) { log.Printf("process %d has crashed in session %s", t.PID, t.Session) }),
		jsonl.WithTornTail(func(t jsonl.TornTail) { log.Printf("%d bytes of a torn line are in %s", t.Size, t.Aside) }))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := s.Create(ctx, format.Header{ID: "hello", CWD: "/home/me/project"}); err != nil {
		log.Fatal(err)
	}
	if _, err := s.Append(ctx, "hello", format.NewItem(openresponses.UserText("Hello."))); err != nil {
		log.Fatal(err)
	}
	if err := s.Close(); err != nil { // a later process opens it again
		log.Fatal(err)
	}

	if s, err = jsonl.Open(dir); err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	session, err := s.Open(ctx, "hello")
	if err != nil {
		log.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "home-me-project", "*_hello.jsonl"))
	fmt.Println(session.Len(), "entry in", len(files), "file")
	// Output: 1 entry in 1 file
}
