package environment_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/environment"
)

// An env entry says in which state a session found its working directory.
func Example() {
	cwd, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(cwd)
	if err := os.WriteFile(filepath.Join(cwd, "go.mod"), []byte("module ledgerly\n"), 0o600); err != nil {
		log.Fatal(err)
	}

	vcs, err := environment.Git(cwd)
	if err != nil && !errors.Is(err, environment.ErrNotGit) {
		log.Fatal(err)
	}
	read, err := environment.HashFiles(cwd, "go.mod")
	if err != nil {
		log.Fatal(err)
	}
	entry := &format.EnvEntry{
		CWD:       cwd,
		VCS:       vcs, // nil when it is in no checkout
		Files:     &format.FileHashes{Read: read},
		Workspace: &format.Workspace{Kind: format.WorkspaceLocal},
	}
	fmt.Println(entry.Files.Read["go.mod"])
	// Output: sha256:a34fed80d0d097442fb296cd713eb3819ef815c39adf8e8ea0b32ea6708b82f7
}
