package repair

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sessionspan/sessionspan/internal/input"
)

// maxSideFiles is how many files of broken bytes of the same second there may be.
const maxSideFiles = 100

// sideName is the name of the file of broken bytes, unless it is taken.
func sideName(target string, now time.Time) string {
	return target + ".broken-" + now.UTC().Format("20060102T150405Z")
}

// writer repairs a file that was scanned.
type writer struct {
	ctx     context.Context
	src     *os.File
	info    fs.FileInfo // of src, when it was opened
	target  string
	maxLine int
	sum     Sum // of the scan
	now     time.Time

	good   *output
	broken *output // nil when no byte is set aside
	copied int64   // up to here src has been written
	done   bool    // the good part is in the place of the file
}

// write writes both parts and puts the good one in the place of the file. It returns the name of the file of broken bytes.
func (w *writer) write() (side string, err error) {
	dir := filepath.Dir(w.target)
	defer func() {
		for _, o := range []*output{w.good, w.broken} {
			if !w.done && o != nil {
				o.drop()
			}
		}
	}()
	if w.sum.SetAside > 0 {
		if w.broken, err = w.sideFile(); err != nil {
			return "", err
		}
		side = w.broken.file.Name()
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(w.target)+".repair-*")
	if err != nil {
		return "", cannot("no file can be written beside it", err)
	}
	w.good = w.output(temp)
	if err := w.fill(dir); err != nil {
		return "", err
	}
	// Whoever began to write since this was asked first is seen by one or the other.
	if err := unchanged(w.target, w.info, w.sum.Bytes); err != nil {
		return "", err
	}
	if openForWriting(w.src) {
		return "", ErrOpen
	}
	w.src.Close() // some systems do not replace a file that is open
	if err := os.Rename(w.good.file.Name(), w.target); err != nil {
		return "", cannot("it cannot be replaced", err)
	}
	w.done = true
	if err := syncFolder(dir); err != nil {
		return side, cannot("repaired, but a power cut may still undo it", err)
	}
	return side, nil
}

// fill writes both files, the one of broken bytes first to disk.
func (w *writer) fill(dir string) error {
	if err := w.divide(); err != nil {
		return failed(err)
	}
	if w.broken != nil {
		if err := w.broken.finish(); err != nil {
			return failed(err)
		}
		if err := syncFolder(dir); err != nil {
			return failed(err)
		}
	}
	return failed(w.good.finish())
}

// sideFile creates the file of broken bytes and writes its first line. An earlier one is never written to.
func (w *writer) sideFile() (*output, error) {
	first := sideName(w.target, w.now)
	name := first
	for i := 2; ; i++ {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && i <= maxSideFiles {
			name = fmt.Sprintf("%s-%d", first, i)
			continue
		}
		if err != nil {
			return nil, cannot("no file can be written beside it", err)
		}
		o := w.output(f)
		return o, o.json(struct {
			File string    `json:"file"`
			Size int64     `json:"size"`
			Time time.Time `json:"time"`
		}{filepath.Base(w.target), w.sum.Bytes, w.now.UTC()})
	}
}

// divide scans the file once more and writes each byte to one of the outputs.
func (w *writer) divide() error {
	all := io.NewSectionReader(w.src, 0, w.sum.Bytes)
	p, err := scan(input.Until(w.ctx, all), w.maxLine, w.change)
	if err != nil {
		return err
	}
	if p.sum != w.sum {
		return ErrChanged
	}
	return w.copy(w.good, w.sum.Bytes)
}

// change does what a finding says.
func (w *writer) change(f Finding) error {
	if f.Action == Keep || f.Action == Recover && f.Added == 0 {
		return nil
	}
	if err := w.copy(w.good, f.Offset); err != nil {
		return err
	}
	if f.Added > 0 {
		if err := w.good.WriteByte('\n'); err != nil || w.broken == nil {
			return err
		}
		return w.broken.json(struct {
			Line   int   `json:"line"`
			Offset int64 `json:"offset"`
			Kind   Kind  `json:"kind"`
			Added  int   `json:"added"`
		}{f.Line, f.Offset, f.Kind, f.Added})
	}
	fmt.Fprintf(w.broken, `{"line":%d,"offset":%d,"kind":%q,"bytes":"`, f.Line, f.Offset, string(f.Kind))
	encoder := base64.NewEncoder(base64.StdEncoding, w.broken)
	if err := w.copy(encoder, f.Offset+f.Bytes); err != nil {
		return err
	}
	if err := encoder.Close(); err != nil {
		return err
	}
	_, err := w.broken.WriteString("\"}\n")
	return err
}

// copy writes the file from where it was copied to up to an offset.
func (w *writer) copy(to io.Writer, offset int64) error {
	n, err := io.Copy(to, io.NewSectionReader(w.src, w.copied, offset-w.copied))
	w.copied += n
	if err == nil && w.copied < offset {
		err = ErrChanged
	}
	return err
}

// output is a file that is being written, with the mode and owner of the one that is repaired.
type output struct {
	*bufio.Writer
	file *os.File
	info fs.FileInfo
}

func (w *writer) output(f *os.File) *output {
	return &output{bufio.NewWriterSize(f, 64<<10), f, w.info}
}

func (o *output) json(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = o.Write(append(line, '\n'))
	return err
}

// finish brings the file to disk.
func (o *output) finish() error {
	if err := o.Flush(); err != nil {
		return err
	}
	mode := o.info.Mode().Perm()
	if !giveOwner(o.file, o.info) {
		mode &^= 0o070 // its group is another one, which was not given the content
	}
	if err := o.file.Chmod(mode); err != nil {
		return err
	}
	if err := o.file.Sync(); err != nil {
		return err
	}
	return o.file.Close()
}

// drop removes a file that is of no use.
func (o *output) drop() {
	o.file.Close()
	os.Remove(o.file.Name())
}
