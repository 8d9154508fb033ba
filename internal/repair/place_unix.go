//go:build unix

package repair

import (
	"io/fs"
	"os"
	"syscall"
)

// giveOwner gives a new file the owner and group of the one that it stands for, and reports whether it has that group. Only
// the administrator may give away a file; for anybody else it is their own, as a copy would be.
func giveOwner(f *os.File, info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (f.Chown(int(s.Uid), int(s.Gid)) == nil || f.Chown(-1, int(s.Gid)) == nil)
}

// syncFolder brings new and renamed files of a folder to disk.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
