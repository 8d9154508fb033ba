package follow

import (
	"io"
	"io/fs"
	"os"
	"time"
)

// FS is the file system that is followed: that of the machine ([OS]), or a test's.
type FS interface {
	// Stat tells of what a path leads to, through links.
	Stat(path string) (Info, error)
	// ReadDir lists a folder, in order of names.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Open opens a file to be read. What is no regular file is not waited for.
	Open(path string) (File, error)
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Closer
	Stat() (Info, error)
}

// Info is what a file system tells of a file.
type Info struct {
	Kind     Kind
	Size     int64
	Modified time.Time
	// ID is zero where the system has nothing of the kind.
	ID ID
}

// ID tells files apart, whatever their names: two of the same time with one ID are one.
type ID struct{ Device, Inode uint64 }

// Kind says what something is.
type Kind int

// What something is. What is neither is a device, a pipe, a socket: it is never opened.
const (
	Other Kind = iota
	Regular
	Folder
)

// OS is the file system of the machine.
type OS struct{}

// Stat implements [FS].
func (OS) Stat(path string) (Info, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

// ReadDir implements [FS].
func (OS) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// Open implements [FS].
func (OS) Open(path string) (File, error) {
	f, err := openNow(path)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

type osFile struct{ *os.File }

func (f osFile) Stat() (Info, error) {
	info, err := f.File.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

func infoOf(info fs.FileInfo) Info {
	i := Info{Size: info.Size(), Modified: info.ModTime(), ID: idOf(info)}
	switch {
	case info.Mode().IsRegular():
		i.Kind = Regular
	case info.IsDir():
		i.Kind = Folder
	}
	return i
}
