package lockfile

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

// Suffix is what the name of a session file gets.
const Suffix = ".lock"

// ErrUnreadable: what is there does not say who holds it.
var ErrUnreadable = errors.New("it does not say who holds it")

// maxSize is how many bytes of a lock file are read.
const maxSize = 4 << 10

// Holder is a process that writes to a session.
type Holder struct {
	PID   int    `json:"pid"`
	Host  string `json:"host"`
	Since string `json:"since"` // RFC 3339
	// Guarded: as long as it runs, the holder also has a lock of the kernel's. Whoever gets that one knows that it is gone.
	Guarded bool `json:"guarded,omitempty"`
	// Nonce tells the locks of one process apart.
	Nonce int64 `json:"nonce,omitempty"`
}

// Own is this process, which begins now, without a lock of the kernel's.
func Own(now time.Time) Holder {
	host, _ := os.Hostname() // a lock of no host is never taken for a stale one
	return Holder{PID: os.Getpid(), Host: host, Since: now.UTC().Format(time.RFC3339)}
}

// Encode returns the content of the file.
func (h Holder) Encode() ([]byte, error) { return json.Marshal(h) }

// Read reads who holds a lock. The error wraps [fs.ErrNotExist] when nobody does, and [ErrUnreadable] when it does not say.
func Read(path string) (Holder, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return Holder{}, err
	case !info.Mode().IsRegular():
		return Holder{}, ErrUnreadable
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Holder{}, err
	}
	if err != nil {
		return Holder{}, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize))
	var h Holder
	if err != nil || json.Unmarshal(text, &h) != nil || h.PID <= 0 {
		return Holder{}, ErrUnreadable
	}
	return h, nil
}

// String says who it is.
func (h Holder) String() string {
	who := fmt.Sprintf("process %d", h.PID)
	if h.Host != "" {
		who += " on " + h.Host
	}
	if h.Since != "" {
		who += " since " + h.Since
	}
	return who
}

// Gone reports whether the process was one of this machine and does not run any more: there is none of that number, or, as far
// as the system tells, one that began after the lock. Of another host nothing is known.
func (h Holder) Gone() bool { return h.IsHere() && (!runs(h.PID) || h.reused()) }

// CanTell reports whether this system says when a process began, so that one which has the number of another is told from it.
func CanTell() bool {
	_, known := began(os.Getpid())
	return known
}

// IsHere reports whether the process is, or was, one of this machine.
func (h Holder) IsHere() bool {
	host, err := os.Hostname()
	return err == nil && host != "" && host == h.Host
}

// runs reports whether there is a process of that number on this machine.
func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// slack is how much later than the lock a process may seem to have begun that holds it: locks say whole seconds, and the clock
// may have been set.
const slack = 10 * time.Second

// reused reports whether the process of that number is another one than the holder.
func (h Holder) reused() bool {
	since, err := time.Parse(time.RFC3339, h.Since)
	if err != nil {
		return false
	}
	began, known := began(h.PID)
	return known && began.After(since.Add(slack))
}
