package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// FileError says what was wrong with a file as a whole: it is not there, cannot be opened, has no usable header, or could
// not be read to its end.
type FileError struct {
	Path string
	Err  error
	// Entries is how many entries had been read, of a file whose header was; Begun tells whether it was.
	Entries int
	Begun   bool
}

// Error names the path, then the trouble.
func (e *FileError) Error() string { return e.Path + ": " + e.What() }

// What says the trouble without the path.
func (e *FileError) What() string {
	what := e.Err.Error()
	if errors.Is(e.Err, io.ErrUnexpectedEOF) { // a plain file ends wherever it likes
		what = "the compressed data ends too early"
	}
	if e.Begun {
		return fmt.Sprintf("read up to entry %d, then: %s", e.Entries, what)
	}
	return what
}

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }

// fileError puts the path in front of an error, once.
func fileError(path string, err error) *FileError {
	if e, ok := errors.AsType[*FileError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &FileError{Path: path, Err: e.Err}
	}
	return &FileError{Path: path, Err: err}
}
