// Package command builds sessionspan, for tests that run it as its users do.
package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// dir is where the command is built, if it is.
var dir string

// Path builds the command, once, without a version that depends on the commit.
var Path = sync.OnceValues(func() (path string, err error) {
	dir, err = os.MkdirTemp("", "sessionspan-e2e-")
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "sessionspan")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, "github.com/sessionspan/sessionspan/cmd/sessionspan")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// Remove removes what was built, if it was. TestMain calls it at the end.
func Remove() { _ = os.RemoveAll(dir) } // nothing, for ""
