package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/sqlite"
)

func say(text string) format.Entry { return format.NewItem(openresponses.UserText(text)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was imported is exported byte for byte, with what was appended behind it.
func TestImportAndExport(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"), sqlite.WithRelaxedSync())
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0))
		for _, f := range sessiontest.Random(r, sessiontest.All(r)).Files {
			session, err := s.Import(t.Context(), bytes.NewReader(f.Data))
			if errors.Is(err, store.ErrSessionExists) {
				continue // a copy of another file
			}
			if err != nil {
				if _, rerr := format.ReadSession(bytes.NewReader(f.Data)); rerr == nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				continue
			}
			var out bytes.Buffer
			must(t, s.Export(t.Context(), session.ID(), &out))
			if !bytes.Equal(out.Bytes(), f.Data) {
				t.Errorf("seed %d: %d bytes went in, %d came out", seed, len(f.Data), out.Len())
			}
		}
	}
	text := "\ufeff" + `{"type":"session","format":"agentsession/0.2","id":"odd","created_at":"2026-01-02T03:04:05.006Z"}` + "\r\n\n" +
		`{"type":"info","id":"a","parent":null,"ts":"2026-01-02T03:04:05Z","name":"One" , "more":1e2}`
	session, err := s.Import(t.Context(), strings.NewReader(text))
	must(t, err)
	_, err = s.Append(t.Context(), "odd", say("And on."))
	must(t, err)
	listed := false
	for one, err := range s.List(t.Context(), store.ListFilter{WithNames: true}) {
		must(t, err)
		listed = listed || one.Header.ID == "odd" && one.Name == "One"
	}
	if !listed {
		t.Error("what was imported is not listed")
	}
	must(t, s.Release("odd"))
	var out bytes.Buffer
	must(t, s.Export(t.Context(), "odd", &out))
	again, err := s.Open(t.Context(), "odd")
	if err != nil || again.Len() != 2 || session.Len() != 2 || !strings.HasPrefix(out.String(), text+"\n{") {
		t.Errorf("error %v, %d entries, exported\n%s", err, again.Len(), &out)
	}
	for _, bad := range []string{"", "{}", text + "\n{\"type\":", text} {
		if _, err := s.Import(t.Context(), strings.NewReader(bad)); err == nil {
			t.Errorf("%q was imported", bad)
		}
	}
	if err := s.Export(t.Context(), "nobody", &out); !errors.Is(err, store.ErrNoSession) {
		t.Errorf("error %v", err)
	}
}

// One store at a time writes to a session, several to the database.
func TestTwoStores(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	one, two := open(t, path), open(t, path)
	_, err := one.Create(t.Context(), format.Header{ID: "s"})
	must(t, err)
	_, err = one.Append(t.Context(), "s", say("Hello."))
	must(t, err)
	if _, err := two.Open(t.Context(), "s"); !errors.Is(err, store.ErrSessionLocked) {
		t.Errorf("open: error %v", err)
	}
	if _, err := two.Append(t.Context(), "s", say("x")); !errors.Is(err, store.ErrSessionLocked) {
		t.Errorf("append: error %v", err)
	}
	if err := two.Delete(t.Context(), "s"); !errors.Is(err, store.ErrSessionLocked) {
		t.Errorf("delete: error %v", err)
	}
	if _, err := two.Create(t.Context(), format.Header{ID: "s"}); !errors.Is(err, store.ErrSessionExists) {
		t.Errorf("create: error %v", err)
	}
	var out bytes.Buffer
	if err := two.Export(t.Context(), "s", &out); err != nil || !strings.Contains(out.String(), "Hello.") {
		t.Errorf("export: error %v", err)
	}
	_, err = two.Create(t.Context(), format.Header{ID: "other"})
	must(t, err)
	var wg sync.WaitGroup
	for s, id := range map[*sqlite.Store]string{one: "s", two: "other"} {
		wg.Go(func() {
			for range 50 {
				if _, err := s.Append(t.Context(), id, say("At once.")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	must(t, one.Release("s"))
	if session, err := two.Open(t.Context(), "s"); err != nil || session.Len() != 51 {
		t.Errorf("error %v", err)
	}
}

// A session that was changed in the database by somebody who does not go by the guard is not written to.
func TestChangedUnderneath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	session, err := s.Create(t.Context(), format.Header{ID: "s"})
	must(t, err)
	_, err = s.Append(t.Context(), "s", say("Hello."))
	must(t, err)
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	_, err = db.Exec("DELETE FROM lines WHERE n = 1; UPDATE sessions SET lines = 1")
	must(t, err)
	for range 2 {
		if _, err := s.Append(t.Context(), "s", say("x")); !errors.Is(err, sqlite.ErrNotOwner) {
			t.Errorf("error %v", err)
		}
	}
	if session.Len() != 1 {
		t.Errorf("%d entries", session.Len())
	}
	again, err := s.Open(t.Context(), "s")
	if err != nil || again.Len() != 0 {
		t.Fatalf("error %v", err)
	}
	if _, err := s.Append(t.Context(), "s", say("x")); err != nil {
		t.Error(err)
	}
}

// A later version is left alone, and one of nobody's is no database of sessions.
func TestVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	must(t, open(t, path).Close())
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.Exec("PRAGMA user_version = 99")
	must(t, errors.Join(err, db.Close()))
	if _, err := sqlite.Open(t.Context(), path); !errors.Is(err, sqlite.ErrNewer) {
		t.Errorf("error %v", err)
	}
	for version, want := range map[int]error{-1: sqlite.ErrForeign, 0: sqlite.ErrForeign, 1: nil} {
		db, err := sql.Open("sqlite", path)
		must(t, err)
		_, err = db.Exec(fmt.Sprintf("PRAGMA user_version = %d", version))
		must(t, errors.Join(err, db.Close()))
		s, err := sqlite.Open(t.Context(), path)
		if !errors.Is(err, want) {
			t.Errorf("version %d: error %v", version, err)
		}
		if s != nil {
			s.Close()
		}
	}
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	db, err = sql.Open("sqlite", foreign)
	must(t, err)
	_, err = db.Exec("CREATE TABLE mine (x); PRAGMA user_version = 1")
	must(t, errors.Join(err, db.Close()))
	if _, err := sqlite.Open(t.Context(), foreign); !errors.Is(err, sqlite.ErrForeign) {
		t.Errorf("error %v", err)
	}
	text := filepath.Join(t.TempDir(), "text")
	must(t, os.WriteFile(text, bytes.Repeat([]byte("no database\n"), 1000), 0o600))
	if _, err := sqlite.Open(t.Context(), text); err == nil {
		t.Error("a text was opened")
	}
	if got, err := os.ReadFile(text); err != nil || len(got) != 12000 {
		t.Errorf("the text has %d bytes, error %v", len(got), err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}

const writerPath = "SESSIONSPAN_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerPath); path != "" {
		s, err := sqlite.Open(context.Background(), path)
		if err == nil {
			_, err = s.Open(context.Background(), "s")
		}
		for err == nil {
			var id string
			if id, err = s.Append(context.Background(), "s", say(strings.Repeat("x", 500))); err == nil {
				os.Stdout.WriteString(id + "\n")
			}
		}
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// What a process has acknowledged that was killed is there, and its lock is not.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	_, err := s.Create(t.Context(), format.Header{ID: "s"})
	must(t, err)
	for n := range 5 {
		must(t, s.Release("s"))
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), writerPath+"="+path, "GORACE=atexit_sleep_ms=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		said := make([]byte, 9*(5+10*n)) // so many ids
		for at := 0; at < len(said); {
			k, err := out.Read(said[at:])
			must(t, err)
			at += k
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		session, err := s.Open(t.Context(), "s")
		must(t, err)
		for id := range strings.FieldsSeq(string(said)) {
			if _, ok := session.Entry(id); !ok {
				t.Errorf("kill %d: entry %s is gone", n, id)
			}
		}
	}
}

// A session that comes in the place of another one does not get what that one was to get.
func TestKeysAreNotUsedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	link := path + ".link"
	s := open(t, path)
	session, err := s.Create(t.Context(), format.Header{ID: "a"})
	must(t, err)
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if err := open(t, link).Delete(t.Context(), "a"); !errors.Is(err, store.ErrSessionLocked) {
		t.Errorf("through a link: error %v", err)
	}
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	_, err = db.Exec("PRAGMA foreign_keys = ON; DELETE FROM sessions")
	must(t, err)
	_, err = s.Create(t.Context(), format.Header{ID: "b"})
	must(t, err)
	if _, err := session.Append(say("belongs to a")); !errors.Is(err, sqlite.ErrNotOwner) {
		t.Errorf("error %v", err)
	}
	var out bytes.Buffer
	must(t, s.Export(t.Context(), "b", &out))
	if strings.Contains(out.String(), "belongs to a") {
		t.Error("the entry is in another session")
	}
	if err := s.Export(t.Context(), "a", &out); !errors.Is(err, store.ErrNoSession) {
		t.Errorf("error %v", err)
	}
}

// A database that was removed or replaced is not written to.
func TestRemovedUnderneath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := sqlite.Open(t.Context(), path)
	must(t, err)
	defer s.Close()
	session, err := s.Create(t.Context(), format.Header{ID: "a"})
	must(t, err)
	must(t, os.Rename(path, path+".old"))
	if _, err := s.Append(t.Context(), "a", say("x")); !errors.Is(err, sqlite.ErrNotOwner) || session.Len() != 0 {
		t.Errorf("removed: error %v", err)
	}
	must(t, os.WriteFile(path, nil, 0o600))
	if err := s.Delete(t.Context(), "a"); !errors.Is(err, sqlite.ErrNotOwner) {
		t.Errorf("replaced: error %v", err)
	}
}

// Several processes may open a new database at once, and one that is written to can be opened.
func TestOpenedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			s, err := sqlite.Open(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	wg.Wait()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("BEGIN IMMEDIATE")
	must(t, err)
	s := open(t, path)
	if _, err := s.Create(t.Context(), format.Header{ID: "a"}); !errors.Is(err, store.ErrSessionLocked) {
		t.Errorf("error %v", err)
	}
	for _, err := range s.List(t.Context(), store.ListFilter{}) {
		t.Error(err)
	}
	_, err = db.Exec("COMMIT")
	must(t, err)
	_, err = s.Create(t.Context(), format.Header{ID: "a"})
	must(t, err)
}

func TestClosed(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"))
	must(t, err)
	must(t, s.Close())
	if err := s.Export(t.Context(), "a", new(bytes.Buffer)); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("export: error %v", err)
	}
	n := 0
	for _, err := range s.List(t.Context(), store.ListFilter{}) {
		n++
		if !errors.Is(err, sqlite.ErrClosed) {
			t.Errorf("list: error %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d answers", n)
	}
}
