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

// An agentFolder is where an agent keeps its sessions: in the folder that a variable names, else below one that another
// variable names, else below the user's home.
type agentFolder struct {
	agents   []string // whose it is, by the names that people give
	exact    string
	variable string
	home     string
	below    string
}

// agentFolders are those of the known agents.
var agentFolders = []agentFolder{
	{agents: []string{"agentsession"}, home: ".agent", below: "sessions"},
	{agents: []string{"pi"}, exact: "PI_CODING_AGENT_SESSION_DIR", variable: "PI_CODING_AGENT_DIR", home: ".pi/agent", below: "sessions"},
	{agents: []string{"orb", "pi"}, exact: "ORB_SESSION_DIR", home: ".orb/agent", below: "sessions"},
	{agents: []string{"claude-code"}, variable: "CLAUDE_CONFIG_DIR", home: ".claude", below: "projects"},
	{agents: []string{"claude-code"}, home: ".config/claude", below: "projects"},
	{agents: []string{"codex"}, variable: "CODEX_HOME", home: ".codex", below: "sessions"},
}

// AnyAgent is the name for all of them.
const AnyAgent = "any"

// Agents lists the names of the known agents, after the one for all of them. pi stands for its port orb as well, whose
// sessions are of the same kind.
func Agents() []string {
	names := []string{AnyAgent}
	for _, a := range agentFolders {
		if !slices.Contains(names, a.agents[0]) {
			names = append(names, a.agents[0])
		}
	}
	return names
}

func (a agentFolder) path(home string) string {
	if dir := os.Getenv(a.exact); a.exact != "" && dir != "" {
		return expanded(dir, home)
	}
	dir := filepath.Join(home, filepath.FromSlash(a.home))
	if v := os.Getenv(a.variable); a.variable != "" && v != "" {
		dir = expanded(v, home)
	}
	return filepath.Join(dir, a.below)
}

// expanded is a path in which ~ stands for the user's home, as the agents take it.
func expanded(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		return filepath.Join(home, rest)
	}
	return path
}

// Folders are where an agent of a name, or any known one, keeps its sessions, whether they are there or not.
func Folders(agent string) ([]string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, a := range agentFolders {
		if agent == AnyAgent || slices.Contains(a.agents, agent) {
			if path := a.path(home); !slices.Contains(folders, path) {
				folders = append(folders, path)
			}
		}
	}
	return folders, nil
}

// ErrNoSession: no agent's folder on this machine has a session of a known format.
var ErrNoSession = errors.New("no session found")

// Newest finds the session file that was written last in an agent's folders, of those whose format is known.
func Newest(ctx context.Context, agent string) (string, error) {
	looked, err := Folders(agent)
	if err != nil {
		return "", err
	}
	type file struct {
		path string
		info fs.FileInfo
	}
	var files []file
	for _, dir := range looked {
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
		path := source.MainOf(f.path)
		if _, err := newFile(ctx, path, nil, source.Options{}); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: looked in %s for files of the formats %s; name a file or a folder",
		ErrNoSession, strings.Join(looked, ", "), strings.Join(source.Names()[1:], ", "))
}
