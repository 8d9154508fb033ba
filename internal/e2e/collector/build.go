package collector

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// folder is where the command is built, if it is.
var folder string

// Binary builds the Collector, once, and returns its path. It is built by itself, outside of the workspace, as it is released.
var Binary = sync.OnceValues(func() (path string, err error) {
	if folder, err = os.MkdirTemp("", "sessionspan-collector-"); err != nil {
		return "", err
	}
	path = filepath.Join(folder, "sessionspan-collector")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".")
	build.Dir = filepath.Join(repository(), "cmd", "sessionspan-collector")
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v in %s: %w\n%s", build, build.Dir, err, out)
	}
	return path, nil
})

// Remove removes what was built, if it was. TestMain calls it at the end.
func Remove() { _ = os.RemoveAll(folder) } // nothing, for ""

// Example is the path of a configuration of examples/collector.
func Example(name string) string { return filepath.Join(repository(), "examples", "collector", name) }

// repository is the root of the checkout, from whichever package of it the tests are run.
func repository() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}
