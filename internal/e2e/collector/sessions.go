package collector

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/replaytest"
)

// Home is a home directory of its own for a Collector, in which the only agent keeps its sessions in the folder that is
// returned. The variables that name the folders of others are not set until the test ends.
func Home(t *testing.T) (home, sessions string) {
	t.Helper()
	for _, name := range []string{"PI_CODING_AGENT_DIR", "ORB_SESSION_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		t.Setenv(name, "") // which puts back what it was
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	home = t.TempDir()
	sessions = filepath.Join(home, ".agent", "sessions")
	if err := os.MkdirAll(sessions, 0o700); err != nil {
		t.Fatal(err)
	}
	return home, sessions
}

// CopySessions copies the project's own session files into a folder, but those that are there in two copies, and those that
// end within a line: whoever follows them waits for the rest. Of each it copies what part leaves of it, and appends to what is there.
func CopySessions(t testing.TB, to string, part func(data []byte) []byte) {
	t.Helper()
	from := filepath.Join(repository(), "testdata", "agentsession")
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && d.Name() == "damaged":
			return fs.SkipDir
		case err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl":
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !bytes.HasSuffix(data, []byte("\n")) {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		copied := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
			return err
		}
		return appendTo(copied, part(data))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// appendTo appends to a file what is not yet in it of data, as an agent does: a file that is written anew counts as another one.
func appendTo(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		_, err = file.Write(data[info.Size():])
	}
	return errors.Join(err, file.Close())
}

// Whole is a session file as it is.
func Whole(data []byte) []byte { return data }

// Half is about the first half of a session file, to the middle of a line, so that nobody takes it for the end.
func Half(data []byte) []byte {
	end := len(data)/2 + 1 + bytes.IndexByte(data[len(data)/2:], '\n')
	return data[:min(end+10, len(data)-1)]
}

// Replayed are the spans that a replay of a folder gives, as its files are now. What has not ended in them is not among these: its
// times are long past, but its file was written just now, and whoever follows it waits for more.
func Replayed(t testing.TB, dir string) []*projection.Span {
	t.Helper()
	return replaytest.Spans(t, projection.Options{}, dir, time.Unix(1, 0))
}
