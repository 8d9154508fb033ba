package input

import (
	"bytes"
	"fmt"
	"io"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/source"
)

// Header reads the header of a session file.
func Header(r io.Reader, o source.Options) (*activity.Session, error) {
	rd, err := source.NewReader(r, o)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	return rd.Session()
}

// Begin reads the header of what can be read only once, and returns it with a reader of the whole.
func Begin(r io.Reader, o source.Options) (*activity.Session, io.Reader, error) {
	head := &beginning{limit: o.MaxLine}
	if head.limit <= 0 {
		head.limit = format.DefaultMaxLine
	}
	s, err := Header(io.TeeReader(r, head), o)
	if err != nil {
		return nil, nil, err
	}
	return s, io.MultiReader(&head.Buffer, r), nil
}

// beginning keeps what was read up to the header: its line, what was read with it, and some blank lines.
type beginning struct {
	bytes.Buffer
	limit int
}

func (b *beginning) Write(p []byte) (int, error) {
	if b.Len() > b.limit+pipeRead {
		return 0, fmt.Errorf("its first %d bytes have no header", b.Len())
	}
	return b.Buffer.Write(p)
}
