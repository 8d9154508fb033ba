//go:build unix

package follow

import (
	"io/fs"
	"os"
	"syscall"
)

func idOf(info fs.FileInfo) ID {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return ID{Device: uint64(s.Dev), Inode: uint64(s.Ino)}
	}
	return ID{}
}

// openNow opens a file; a pipe, which may have taken its place, without waiting for somebody to write to it.
func openNow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
