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
		VCS:       vcs, // nil: it is in no checkout
		Files:     &format.FileHashes{Read: read},
		Workspace: &format.Workspace{Kind: "local"},
	}
	fmt.Println(entry.VCS == nil, entry.Files.Read["go.mod"])
	// Output: true sha256:ff8ba1f89b2bc1f2d6d6a71c7cfb97d21e4d2dd1c0b9cdcf6a3bc1d02bbb2e7e
}
