package jsonl

import (
	"io/fs"

	"github.com/sessionspan/sessionspan/internal/lockfile"
)

// Option changes how a store keeps sessions.
type Option interface{ apply(*Store) }

type option func(*Store)

func (o option) apply(s *Store) { o(s) }

// WithSync says when appends are brought to disk; the default is [OnResponse].
func WithSync(policy Sync) Option { return option(func(s *Store) { s.sync = policy }) }

// WithReadOnly opens the store for reading: nothing is locked, nothing is written, not even to mend a torn tail, and Open reads
// the file anew each time. Sessions may be written by others meanwhile.
func WithReadOnly() Option { return option(func(s *Store) { s.readOnly = true }) }

// WithModes sets the permissions of new files and folders; the default is 0600 and 0700, to which the umask applies.
func WithModes(file, folder fs.FileMode) Option {
	return option(func(s *Store) { s.fileMode, s.folderMode = file, folder })
}

// WithTakeover is told of every lock of a process that has ended without giving it up, as it is taken over: the one lasting sign
// that a process died between two appends. It is called while the session is being opened, and must not call the store.
func WithTakeover(report func(Takeover)) Option {
	return option(func(s *Store) { s.takeover = report })
}

// WithTornTail is told of every torn last line that was set aside when its session was opened, and must not call the store.
func WithTornTail(report func(TornTail)) Option {
	return option(func(s *Store) { s.tornTail = report })
}

// Takeover is a lock that was taken over.
type Takeover struct {
	// Session is the id of the session, Path its file.
	Session, Path string
	// PID, Host and Since are of the holder that is gone.
	PID         int
	Host, Since string
}

func newTakeover(id, path string, h lockfile.Holder) Takeover {
	return Takeover{Session: id, Path: path, PID: h.PID, Host: h.Host, Since: h.Since}
}

// TornTail is what an append left that was cut off by a crash.
type TornTail struct {
	// Session is the id of the session, Path its file, Aside the file beside it with the bytes that were cut.
	Session, Path, Aside string
	// Offset is where they began, Size how many they were.
	Offset, Size int64
}

// withFiles has the store use another file system.
func withFiles(fs files) Option { return option(func(s *Store) { s.fs = fs }) }
