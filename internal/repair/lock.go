package repair

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// lockFile is what a store writes into FILE.lock while it has the session open (A.15).
type lockFile struct {
	PID   int    `json:"pid"`
	Host  string `json:"host"`
	Since string `json:"since"`
}

// maxLock is how many bytes of a lock are read.
const maxLock = 4 << 10

// lockPaths are the places where a store may have locked a file; the first is where we do.
func lockPaths(path, target string) []string {
	if path == target {
		return []string{target + ".lock"}
	}
	return []string{target + ".lock", path + ".lock"}
}

// lockedBy says in words who holds a lock; "" for nobody.
func lockedBy(paths []string) string {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		holder := path + " is there"
		if err != nil || !info.Mode().IsRegular() {
			return holder
		}
		return holder + holderIn(path)
	}
	return ""
}

// holderIn reads who holds a lock.
func holderIn(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxLock))
	var l lockFile
	if err != nil || json.Unmarshal(text, &l) != nil || l.PID <= 0 {
		return ""
	}
	who := fmt.Sprintf(": held by process %d", l.PID)
	if l.Host != "" {
		who += " on " + l.Host
	}
	if l.Since != "" {
		who += " since " + l.Since
	}
	if host, err := os.Hostname(); err == nil && host == l.Host && gone(l.PID) {
		who += ", which is not running any more"
	}
	return who
}

// gone reports whether there is no such process on this machine.
func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer p.Release()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
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
	host, _ := os.Hostname() // a lock of no host is never taken for a stale one
	text, err := json.Marshal(lockFile{os.Getpid(), host, now.UTC().Format(time.RFC3339)})
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
