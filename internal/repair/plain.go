package repair

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sessionspan/sessionspan/internal/input"
)

// cannot says what could not be done, and why, without the names that the operating system's call had.
func cannot(what string, err error) error {
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s: %w", what, input.Error(err))
}

// failed is an error of reading or writing.
func failed(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return cannot("it cannot be written anew", e)
	}
	return err
}
