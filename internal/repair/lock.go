package repair

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/sessionspan/sessionspan/internal/lockfile"
)

// lockPaths are the places where a store may have locked a file; the first is where we do.
func lockPaths(path, target string) []string {
	if path == target {
		return []string{target + lockfile.Suffix}
	}
	return []string{target + lockfile.Suffix, path + lockfile.Suffix}
}

// lockedBy says in words who holds a lock; "" for nobody.
func lockedBy(paths []string) string {
	for _, path := range paths {
		h, err := lockfile.Read(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return path + " is there"
		}
		who := fmt.Sprintf("%s is there: held by %s", path, h)
		if h.Gone() {
			who += ", which is not running any more"
		}
		return who
	}
	return ""
}

// lock locks a file as a store would, so that none opens it meanwhile.
func lock(paths []string, now time.Time) (unlock func(), err error) {
	if holder := lockedBy(paths); holder != "" {
		return nil, lockedError(holder)
	}
	f, err := os.OpenFile(paths[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, lockedError(lockedBy(paths))
	}
	if err != nil {
		return nil, cannot("it cannot be locked against agents: "+paths[0], err)
	}
	text, err := lockfile.Own(now).Encode()
	if err == nil {
		_, err = f.Write(text)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(paths[0])
		return nil, cannot("it cannot be locked against agents: "+paths[0], err)
	}
	return func() { os.Remove(paths[0]) }, nil
}

func lockedError(holder string) error {
	return fmt.Errorf("%w: %s; end the agent first, or, if it has ended, use --force", ErrLocked, holder)
}
