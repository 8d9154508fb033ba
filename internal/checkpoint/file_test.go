package checkpoint_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
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

// Whatever is wrong in the file is an error, and one that a caller can tell.
func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	f, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	records := map[string][]byte{}
	for i := range 200 {
		records[fmt.Sprint("file:", i)] = make([]byte, 200)
	}
	if err := errors.Join(f.Put(records), f.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, damaged := rand.New(rand.NewPCG(1, 1)), 0
	for range 100 {
		bad := bytes.Clone(whole)
		for range 20 {
			bad[8192+r.IntN(len(bad)-8192)] = byte(r.Uint32()) // behind the two pages that have sums
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := checkpoint.Open(path)
		if err == nil {
			err = errors.Join(f.Put(map[string][]byte{"a": []byte("b")}), f.Close())
		}
		if errors.Is(err, checkpoint.ErrDamaged) {
			damaged++
		}
	}
	if damaged < 5 {
		t.Errorf("%d of 100 files were found to be damaged", damaged)
	}
}
