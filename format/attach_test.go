package format_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
)

// What is attached has written what the session says, in its order, whoever appends.
func TestAttach(t *testing.T) {
	for name, header := range map[string]string{
		"a whole last line":   `{"type":"session","format":"agentsession/0.2","id":"s","created_at":"2026-01-02T03:04:05Z"}` + "\n",
		"one without its end": `{"type":"session","format":"agentsession/0.2","id":"s","created_at":"2026-01-02T03:04:05Z"}`,
	} {
		t.Run(name, func(t *testing.T) {
			s, err := format.ReadSession(strings.NewReader(header))
			if err != nil {
				t.Fatal(err)
			}
			file := bytes.NewBufferString(header)
			s.Attach(func(more []byte, e format.Entry) error {
				if !bytes.Contains(more, []byte(e.Base().ID)) {
					t.Errorf("%s is not in %s", e.Base().ID, more)
				}
				file.Write(more)
				return nil
			})
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range 25 {
						if _, err := s.Append(format.NewItem(openresponses.UserText("Hello."))); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if whole := text(t, s); s.Len() != 200 || whole != file.String() {
				t.Errorf("%d entries; the session has\n%.500s\nand the file\n%.500s", s.Len(), whole, file)
			}
		})
	}
}

func text(t *testing.T, s *format.Session) string {
	t.Helper()
	var b strings.Builder
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What cannot be written is not in the session, and the next append goes on as if it had not been tried.
func TestAppendThatIsNotWritten(t *testing.T) {
	s, err := format.NewSession(format.Header{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Append(format.NewItem(openresponses.UserText("Hello.")))
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	s.Attach(func([]byte, format.Entry) error { return full })
	before := len(text(t, s))
	if _, err := s.Append(format.NewRunStart("r", format.SourceInput, "")); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if s.Len() != 1 || s.Leaf() != first || len(text(t, s)) != before {
		t.Errorf("%d entries, leaf %s", s.Len(), s.Leaf())
	}
	s.Attach(nil)
	if _, err := s.Append(format.NewRunStart("r", format.SourceInput, "")); err != nil || s.Len() != 2 {
		t.Errorf("error %v, %d entries", err, s.Len())
	}
}

// Whoever reads a session does not wait until an entry that is being appended is written, and does not see it before.
func TestReadWhileAnEntryIsWritten(t *testing.T) {
	s, err := format.NewSession(format.Header{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Append(format.NewItem(openresponses.UserText("Hello.")))
	if err != nil {
		t.Fatal(err)
	}
	s.Attach(func([]byte, format.Entry) error {
		if s.Len() != 1 || s.Leaf() != first || len(s.Since(0)) != 1 {
			t.Errorf("%d entries, leaf %s", s.Len(), s.Leaf())
		}
		if _, err := s.Context(s.Leaf()); err != nil {
			t.Error(err)
		}
		return nil
	})
	if _, err := s.Append(format.NewItem(openresponses.UserText("And now?"))); err != nil {
		t.Fatal(err)
	}
	if s.Len() != 2 || s.Leaf() == first {
		t.Errorf("%d entries, leaf %s", s.Len(), s.Leaf())
	}
}
