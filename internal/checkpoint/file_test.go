package checkpoint_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/checkpoint"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

var _ tracker.Checkpoints = (*checkpoint.File)(nil)

func open(t *testing.T, path string) *checkpoint.File {
	t.Helper()
	f, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// What is put is there afterwards, and for the next process.
func TestRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "state.db")
	f := open(t, path)
	if err := f.Put(map[string][]byte{"one": []byte("1"), "two": []byte("2"), "three": []byte("3")}); err != nil {
		t.Fatal(err)
	}
	if err := f.Put(map[string][]byte{"two": nil, "three": []byte("III"), "none": nil}); err != nil {
		t.Fatal(err)
	}
	check := func(f *checkpoint.File) {
		t.Helper()
		var all []string
		if err := f.Each(func(key string, record []byte) error {
			all = append(all, key+"="+string(record))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(all, " "); got != "one=1 three=III" {
			t.Errorf("records: %s", got)
		}
		if got, err := f.Get("three"); string(got) != "III" || err != nil {
			t.Errorf("got %s, %v", got, err)
		}
		if got, err := f.Get("two"); got != nil || err != nil {
			t.Errorf("got %s, %v", got, err)
		}
	}
	check(f)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	check(open(t, path))
}

// Two do not use it at once.
func TestFileInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	open(t, path)
	if _, err := checkpoint.Open(path); !errors.Is(err, checkpoint.ErrInUse) {
		t.Errorf("error %v", err)
	}
}

// Nothing of what cannot be put whole is put.
func TestPutOfWhatCannotBe(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "state.db"))
	if err := f.Put(map[string][]byte{"a": []byte("1"), "": []byte("2")}); err == nil {
		t.Error("an empty key was taken")
	}
	if got, _ := f.Get("a"); got != nil {
		t.Error("half of it was stored")
	}
}
