package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/internal/source"
)

// An agentFolder is where an agent keeps its sessions: below a folder that a variable names, else below the user's home.
type agentFolder struct{ variable, home, below string }

// agentFolders are those of the known agents.
var agentFolders = []agentFolder{
	{"", ".agent", "sessions"},
	{"PI_CODING_AGENT_DIR", ".pi/agent", "sessions"},
	{"ORB_SESSION_DIR", ".orb/agent/sessions", ""},
	{"CLAUDE_CONFIG_DIR", ".claude", "projects"},
	{"CODEX_HOME", ".codex", "sessions"},
}

func (a agentFolder) path(home string) string {
	dir := filepath.Join(home, filepath.FromSlash(a.home))
	if v := os.Getenv(a.variable); a.variable != "" && v != "" {
		dir = v
	}
	return filepath.Join(dir, a.below)
}

// Folders are where the known agents keep their sessions, whether they are there or not.
func Folders() ([]string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, a := range agentFolders {
		folders = append(folders, a.path(home))
	}
	return folders, nil
}

// ErrNoSession: no agent's folder on this machine has a session of a known format.
var ErrNoSession = errors.New("no session found")

// Newest finds the session file that was written last in the known agents' folders, of those whose format is known.
func Newest(ctx context.Context) (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	type file struct {
		path string
		info fs.FileInfo
	}
	var files []file
	var looked []string
	for _, a := range agentFolders {
		dir := a.path(home)
		looked = append(looked, dir)
		list, _ := below(ctx, dir) // a folder that cannot be read has no session to offer
		for _, path := range list {
			if info, err := os.Stat(path); err == nil {
				files = append(files, file{path, info})
			}
		}
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), strings.Compare(a.path, b.path))
	})
	if err := ctx.Err(); err != nil {
		return "", err
	}
	for _, f := range files {
		if _, err := newFile(ctx, f.path, nil, source.Options{}); err == nil {
			return f.path, nil
		}
	}
	return "", fmt.Errorf("%w: looked in %s for files of the formats %s; name a file or a folder",
		ErrNoSession, strings.Join(looked, ", "), strings.Join(source.Names()[1:], ", "))
}
