package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store/sqlite"
)

// A file goes into the database and comes out again, with what was appended behind it.
func Example() {
	dir, err := os.MkdirTemp("", "sessions-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := sqlite.Open(ctx, filepath.Join(dir, "sessions.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	file := `{"type":"session","format":"agentsession/0.2","id":"hello","created_at":"2026-01-02T03:04:05Z"}` + "\n"
	if _, err := s.Import(ctx, strings.NewReader(file)); err != nil {
		log.Fatal(err)
	}
	if _, err := s.Append(ctx, "hello", format.NewInfo("Greetings")); err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Export(ctx, "hello", &out); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(out.String(), file), strings.Count(out.String(), "\n"), "lines")
	// Output: true 2 lines
}
