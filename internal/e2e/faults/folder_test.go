package faults

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// folder is where agents write their sessions, and where other things happen to files.
type folder struct {
	testing.TB
	r     *rand.Rand
	dir   string
	files []*file
	names int
	most  int // files
}

// file is one that is to be a session in the end.
type file struct {
	session
	path string
	has  int64 // bytes
	gone bool  // for now
	over bool  // compressed, and with that complete
	rest []byte
}

const (
	atOnce = 8        // sessions that grow
	small  = 16 << 20 // files which are no longer than that are compressed, copied and written anew
)

func newFolder(t testing.TB, r *rand.Rand, dir string, list []session) *folder {
	f := &folder{TB: t, r: r, dir: dir, most: len(list) + len(list)/2}
	for _, s := range list {
		one := &file{session: s, path: f.name()}
		f.files = append(f.files, one)
		f.write(one, s.header)
	}
	return f
}

func (f *folder) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// name returns a path that nothing has had.
func (f *folder) name() string {
	f.names++
	dir := filepath.Join(f.dir, []string{"a", "b", "b/c"}[f.r.IntN(3)])
	f.ok(os.MkdirAll(dir, 0o700))
	return filepath.Join(dir, fmt.Sprintf("%05d.jsonl", f.names))
}

// left is how many bytes are still to be written.
func (f *folder) left() (n int64) {
	for _, one := range f.files {
		n += one.size - one.has
	}
	return n
}

// grow writes so many bytes in pieces, to some of the files that are not complete.
func (f *folder) grow(n int64) {
	for n > 0 {
		var growing []*file
		for _, one := range f.files {
			if one.has < one.size && len(growing) < atOnce {
				growing = append(growing, one)
			}
		}
		if len(growing) == 0 {
			return
		}
		one := growing[f.r.IntN(len(growing))]
		piece := min(1+f.r.Int64N(n), one.size-one.has)
		n -= piece
		f.restore(one)
		f.write(one, piece)
	}
}

// write appends the next bytes of a session to its file, which may end in the middle of a line.
func (f *folder) write(one *file, n int64) {
	if n > 0 {
		f.copy(one.path, os.O_APPEND, one.session, one.has, n)
		one.has += n
	}
}

// copy writes some bytes of a session to a file.
func (f *folder) copy(path string, how int, from session, at, n int64) {
	in, err := os.Open(from.path)
	f.ok(err)
	defer in.Close()
	out, err := os.OpenFile(path, how|os.O_CREATE|os.O_WRONLY, 0o600)
	f.ok(err)
	_, err = io.Copy(out, io.NewSectionReader(in, at, n))
	f.ok(err)
	f.ok(out.Close())
}

// happen has something happen to a file.
func (f *folder) happen() {
	one := f.files[f.r.IntN(len(f.files))]
	switch {
	case one.rest != nil:
		f.compressed(one)
		return
	case one.over || one.gone || one.has == 0:
		return
	}
	switch what := f.r.IntN(7); {
	case what == 0: // cut off, as by somebody who repairs it; it is written again
		one.has = max(f.r.Int64N(one.has), one.header)
		f.ok(os.Truncate(one.path, one.has))
	case what == 1: // moved
		to := f.name()
		f.ok(os.Rename(one.path, to))
		one.path = to
	case what == 2: // removed, for a while
		if one.header == 0 {
			f.ok(os.Remove(one.path))
			one.gone = true
		}
	case one.has > small:
	case what == 3: // written anew in its place
		f.copy(one.path, os.O_TRUNC, one.session, 0, one.has)
	case what == 4: // replaced, by another file with its name
		temp := one.path + ".new"
		f.copy(temp, os.O_TRUNC, one.session, 0, one.has)
		f.ok(os.Rename(temp, one.path))
	case what == 5: // forked; both go on by themselves
		if len(f.files) < f.most {
			to := &file{session: one.session, path: f.name(), has: one.has}
			f.copy(to.path, os.O_TRUNC, to.session, 0, to.has)
			f.files = append(f.files, to)
		}
	case one.has == one.size: // compressed, at the end
		f.compress(one)
	}
}

// restore has a file be there again that was removed.
func (f *folder) restore(one *file) {
	if one.gone {
		one.gone = false
		if f.r.IntN(2) == 0 {
			one.path = f.name()
		}
		f.copy(one.path, os.O_TRUNC, one.session, 0, one.has)
	}
}

// compress begins to write the compressed file of a session.
func (f *folder) compress(one *file) {
	data, err := os.ReadFile(one.session.path)
	f.ok(err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(data)
	f.ok(err)
	f.ok(z.Close())
	n := 1 + f.r.IntN(packed.Len()-1)
	f.ok(os.WriteFile(one.path+".gz", packed.Bytes()[:n], 0o600))
	one.rest = packed.Bytes()[n:]
}

// compressed has the compressed file of a session be whole.
func (f *folder) compressed(one *file) {
	out, err := os.OpenFile(one.path+".gz", os.O_APPEND|os.O_WRONLY, 0o600)
	f.ok(err)
	_, err = out.Write(one.rest)
	f.ok(err)
	f.ok(out.Close())
	one.rest, one.over = nil, true
	if f.r.IntN(3) > 0 {
		f.ok(os.Remove(one.path))
	}
}

// finish has all files be as they are to be in the end.
func (f *folder) finish() {
	for _, one := range f.files {
		switch {
		case one.rest != nil:
			f.compressed(one)
		case !one.over:
			f.restore(one)
			f.write(one, one.size-one.has)
		}
	}
}
