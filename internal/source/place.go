package source

import (
	"errors"
	"fmt"
	"os"
)

// Place is where a file stands, for formats in which other files say something of it.
type Place struct {
	// Path is "" for what is no file in a folder.
	Path string
	// Kin knows the files around it. With nil none is looked into but what is the file's own.
	Kin *Kin
	// Waits: somebody follows the file. Where what another file says of its session is not there yet, its decoder returns
	// [ErrWaits] instead of doing without.
	Waits bool
}

// ErrWaits: the file is to be read later, from its start: another one does not say yet what it will.
var ErrWaits = errors.New("it waits for what another file will say of it")

// Kin knows what files say of the sessions in other ones. It can be used by several goroutines.
type Kin struct{ claude claudeKin }

// NewKin returns one that has looked at nothing yet.
func NewKin() *Kin { return &Kin{} }

// openRegular opens a file that lies beside another one. What may have somebody wait, as a pipe, is not opened.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return os.Open(path)
}
