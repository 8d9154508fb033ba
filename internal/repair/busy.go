package repair

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// An agent may keep a file open, write to it with pauses, and leave no lock. When the file is replaced, it goes on writing
// to the old one, which nobody will read again. So a file is replaced only when nobody seems to have it open.

// Why a file may still be in use.
var (
	// ErrOpen: a process has it open for writing.
	ErrOpen = errors.New("a process has the file open for writing, and would go on writing to the old one: end the agent " +
		"first (fuser or lsof say which process it is), or repair a copy")
	// ErrRecent: it was written less than a minute ago.
	ErrRecent = errors.New("it may still be in use")
)

// quiet is how long a file must not have been written to.
const quiet = time.Minute

// busy finds out whether an open file may be in use. That it is open for writing is known on Linux alone, and there not on
// all file systems; nobody may do anything about it but end the process. How recently it was written counts unless forced.
func busy(f *os.File, info fs.FileInfo, now time.Time, force bool) error {
	if openForWriting(f) {
		return ErrOpen
	}
	ago := now.Sub(info.ModTime())
	switch {
	case force || ago >= quiet:
		return nil
	case ago < 0:
		return fmt.Errorf("%w: it was written at %s, which is yet to come; end the agent first, then use --force", ErrRecent,
			info.ModTime().UTC().Format(time.RFC3339))
	}
	return fmt.Errorf("%w: it was written %d s ago; end the agent first, then wait until nothing was written for %d s, "+
		"or use --force", ErrRecent, int(ago.Seconds()), int(quiet.Seconds()))
}
