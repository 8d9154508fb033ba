package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// ErrCut: the file is compressed and ends before the data does.
var ErrCut = errors.New("the compressed data ends too early")

// Error says what an error of opening or reading a file means to who knows which file it is: it has no path in it.
func Error(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) { // a plain file ends wherever it likes
		return ErrCut
	}
	return err
}

// FileError says what was wrong with a file as a whole: it is not there, cannot be opened, has no usable header, or could
// not be read to its end.
type FileError struct {
	Path string
	Err  error
	// Begun: its header was read, and Entries entries behind it.
	Begun   bool
	Entries int
}

// NewFileError puts the path in front of an error, once.
func NewFileError(path string, err error) *FileError {
	if e, ok := errors.AsType[*FileError](err); ok {
		return e
	}
	return &FileError{Path: path, Err: Error(err)}
}

// Error names the path, then the trouble.
func (e *FileError) Error() string { return e.Path + ": " + e.What() }

// What says the trouble without the path.
func (e *FileError) What() string {
	if e.Begun {
		return fmt.Sprintf("read up to entry %d, then: %v", e.Entries, e.Err)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }
