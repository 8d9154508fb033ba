package jsonl

import (
	"io"
	"io/fs"
	"os"
)

// files is what the store asks of a file system. It is a seam: a test fails each of these calls in turn.
type files interface {
	OpenFile(name string, flag int, mode fs.FileMode) (file, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Mkdir(name string, mode fs.FileMode) error
	Link(from, to string) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	// SyncFolder brings what was created, linked, renamed and removed in a folder to disk, where the system can.
	SyncFolder(name string) error
}

// file is an open file.
type file interface {
	io.ReadWriteCloser
	io.ReaderAt
	io.WriterAt
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// disk is the file system of the machine.
type disk struct{}

func (disk) OpenFile(name string, flag int, mode fs.FileMode) (file, error) {
	f, err := os.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (disk) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (disk) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (disk) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (disk) Mkdir(name string, mode fs.FileMode) error  { return os.Mkdir(name, mode) }
func (disk) Link(from, to string) error                 { return os.Link(from, to) }
func (disk) Rename(from, to string) error               { return os.Rename(from, to) }
func (disk) Remove(name string) error                   { return os.Remove(name) }
func (disk) RemoveAll(name string) error                { return os.RemoveAll(name) }
