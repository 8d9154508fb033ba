package follow

import "time"

// Options say what is followed, and how. Zero values stand for the defaults.
type Options struct {
	FS       FS        // of the machine
	Patterns *Patterns // required
	// Interval is how often a file is looked at that grows (1 s), and the folders for new ones, unless that takes long. A file in which
	// nothing happens is looked at more seldom the longer it lasts, but at least every Idle (30 s).
	Interval, Idle time.Duration
	// MaxLine is the length of a line in bytes up to which it is given whole, 0 for that of package lines.
	MaxLine int
	// MaxOpen is how many files stay open (256).
	MaxOpen int
	// Notifier hastens what would be found anyhow; nil for none.
	Notifier Notifier
}

// Notifier tells of folders in which something happens. It may miss things, and may tell of nothing.
type Notifier interface {
	// Watch is given all folders that matter.
	Watch(folders []string)
	// Changed is given the paths of what has changed.
	Changed() <-chan string
	Close() error
}
