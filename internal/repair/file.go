package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sessionspan/sessionspan/internal/input"
)

// Why a file is not repaired.
var (
	// ErrNotRegular: it is a folder, a pipe or a device.
	ErrNotRegular = errors.New("not a regular file")
	// ErrCompressed: it is compressed.
	ErrCompressed = errors.New("compressed files cannot be repaired in place")
	// ErrEmpty: there is no byte in it.
	ErrEmpty = errors.New("empty file: there is nothing to repair")
	// ErrNoSession: nothing in it looks like a session.
	ErrNoSession = errors.New("not a session file, and so nothing is written")
	// ErrNoHeader: there are entries in it, but no header that says of which session.
	ErrNoHeader = errors.New("no usable header, and so nothing is written")
	// ErrLocked: somebody has it open.
	ErrLocked = errors.New("the session is open")
	// ErrChanged: it is being written to.
	ErrChanged = errors.New("the file changed while it was read: end the agent that writes it, then try again")
)

// Options of a repair.
type Options struct {
	// Write does the repair; without it nothing is written.
	Write bool
	// Force repairs a file although somebody may have it open: there is a lock, or it was written a short while ago. A file
	// that is known to be open for writing is not repaired.
	Force bool
	// MaxLine is the limit for a line in bytes, 0 for the default. A longer one is left as it is.
	MaxLine int
	// Now is the time: it names the file of broken bytes, and tells how long nobody has written to the file.
	Now time.Time
}

// Report says what came of a file.
type Report struct {
	Sum
	// SideFile is where broken bytes were put, or would be; "" when there are none.
	SideFile string
	// Written tells whether the file was repaired.
	Written bool
	// Lock says who seems to have the file open, in words; "" for nobody.
	Lock string
	// Busy says why it may be in use though there is no lock, and would not be repaired for now; it wraps [ErrOpen] or
	// [ErrRecent]. It is nil when nothing has to be repaired.
	Busy error
}

// File finds what is wrong with a file and, with [Options.Write], repairs it. found is told each finding in the order of the
// file, before anything is written.
//
// Broken bytes go into a new file beside it, which is on disk before the good part replaces the file in one step, with the
// same mode and, where possible, owner. A symbolic link stays; the file that it names is repaired. A file that needs nothing
// is not touched. The error wraps one of this package, or is that of the file system; unless the report says that the file
// was written, nothing has changed.
func File(ctx context.Context, path string, o Options, found func(Finding)) (Report, error) {
	var rep Report
	if _, err := os.Stat(path); err != nil { // which says it better than what follows the links
		return rep, input.Error(err)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return rep, input.Error(err)
	}
	f, info, err := open(target)
	if err != nil {
		return rep, err
	}
	defer f.Close()
	p, err := scan(input.Until(ctx, f), o.MaxLine, func(finding Finding) error {
		found(finding)
		return nil
	})
	if err != nil {
		return rep, input.Error(err)
	}
	rep.Sum, rep.Lock = p.sum, lockedBy(lockPaths(path, target))
	if err := unchanged(target, info, p.sum.Bytes); err != nil {
		return rep, err
	}
	switch {
	case p.headed == hasHeader:
	case p.sum.Kept+p.sum.Recovered > 0:
		return rep, fmt.Errorf("%w; %s could be saved once the first line is a header; %w", ErrNoHeader,
			count(p.sum.Kept+p.sum.Recovered), p.why)
	case p.why != nil:
		return rep, fmt.Errorf("%w; %w", ErrNoSession, p.why)
	default:
		return rep, fmt.Errorf("%w; it has no object at all", ErrNoSession)
	}
	if p.sum.SetAside > 0 {
		rep.SideFile = sideName(target, o.Now)
	}
	if !p.sum.Changes() {
		return rep, nil
	}
	if o.Write && !o.Force {
		unlock, err := lock(lockPaths(path, target), o.Now)
		if err != nil {
			return rep, err
		}
		defer unlock()
	}
	rep.Busy = busy(f, info, o.Now, o.Force)
	switch {
	case !o.Write:
		return rep, nil
	case rep.Busy != nil:
		return rep, rep.Busy
	}
	w := &writer{ctx: ctx, src: f, info: info, target: target, maxLine: o.MaxLine, sum: p.sum, now: o.Now}
	rep.SideFile, err = w.write()
	rep.Written = w.done
	return rep, err
}

func count(entries int) string {
	if entries == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", entries)
}

// open opens a regular file that is not compressed. It asks before it opens: opening a pipe waits.
func open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, input.Error(err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%w, but %s", ErrNotRegular, kind(info.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, input.Error(err)
	}
	if info, err = f.Stat(); err == nil {
		err = refuse(f, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, input.Error(err)
	}
	return f, info, nil
}

// refuse finds what makes a file none that could be a session in the clear.
func refuse(f *os.File, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w, but %s", ErrNotRegular, kind(info.Mode()))
	}
	if info.Size() == 0 {
		return ErrEmpty
	}
	head := make([]byte, 4)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	for name, magic := range map[string][]byte{"gzip -d": {0x1f, 0x8b}, "zstd -d": {0x28, 0xb5, 0x2f, 0xfd}} {
		if bytes.HasPrefix(head[:n], magic) {
			return fmt.Errorf("%w: decompress it (%s), repair what comes out, then compress that", ErrCompressed, name)
		}
	}
	return nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder: name the files in it"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// unchanged checks that a path still names the file that was opened, and that this has not changed since.
func unchanged(path string, then fs.FileInfo, read int64) error {
	now, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrChanged, input.Error(err))
	}
	if !os.SameFile(now, then) || now.Size() != then.Size() || now.Size() != read || !now.ModTime().Equal(then.ModTime()) {
		return ErrChanged
	}
	return nil
}
