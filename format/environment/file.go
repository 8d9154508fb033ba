package environment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular: a path names a folder, a pipe or a device where a file is wanted.
var ErrNotRegular = errors.New("not a regular file")

// open opens a regular file. It asks before it opens, since opening a pipe waits, and once more afterwards.
func open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// maxSmall is how many bytes a file may have that holds a path or a reference.
const maxSmall = 16 << 10

// readSmall reads a file that holds a path or a reference.
func readSmall(path string) (string, error) {
	f, err := open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSmall+1))
	if err == nil && len(text) > maxSmall {
		err = fmt.Errorf("%s: more than %d bytes", path, maxSmall)
	}
	return string(text), err
}
