package lockfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/gofrs/flock"
)

// ErrHeld: somebody else has the guard, and runs.
var ErrHeld = errors.New("somebody has it")

// Guard is a lock of the kernel's on a file, which goes with the process. The file stays empty, and is never removed, so that
// there is one for everybody to lock.
type Guard struct{ lock *flock.Flock }

// Hold takes the guard of that path, or returns an error that wraps [ErrHeld].
func Hold(path string, mode fs.FileMode) (*Guard, error) {
	g := flock.New(path, flock.SetPermissions(mode))
	switch ok, err := g.TryLock(); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("%w: %s", ErrHeld, path)
	}
	return &Guard{g}, nil
}

// Release gives it up.
func (g *Guard) Release() error { return g.lock.Unlock() }

// GuardName is the name of the file that stands for an id, whatever that is: ids that a file system takes for one are two.
func GuardName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}
