package archive

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/source"
)

// withoutTwins leaves out the compressed files whose plain twin, of the same name without the last ending, holds the same.
func (s *search) withoutTwins(files []string) []string {
	have := map[string]bool{}
	for _, f := range files {
		have[f] = true
	}
	return slices.DeleteFunc(files, func(f string) bool {
		plain := f
		for _, ending := range []string{".gz", ".zst"} {
			if n := len(f) - len(ending); n > 0 && strings.EqualFold(f[n:], ending) {
				plain = f[:n]
			}
		}
		if plain == f || !have[plain] {
			return false
		}
		if sameContent(s.ctx, plain, f) {
			s.note(f, "not read: %s has the same content", plain)
			return true
		}
		s.note(f, "read beside %s, which has other content", plain)
		return false
	})
}

// sameContent reports whether two files that can be read to their ends hold the same, once decompressed.
func sameContent(ctx context.Context, a, b string) bool {
	var streams [2]io.Reader
	for i, path := range []string{a, b} {
		f, err := input.Open(ctx, path, nil)
		if err != nil {
			return false
		}
		defer f.Close()
		plain, err := source.Decompress(f)
		if err != nil {
			return false
		}
		defer plain.Close()
		streams[i] = plain
	}
	bufs := [2][]byte{make([]byte, 64<<10), make([]byte, 64<<10)}
	for {
		n, errA := io.ReadFull(streams[0], bufs[0])
		m, errB := io.ReadFull(streams[1], bufs[1])
		switch {
		case !bytes.Equal(bufs[0][:n], bufs[1][:m]):
			return false
		case errA != nil || errB != nil:
			return ended(errA) && ended(errB)
		}
	}
}

// ended reports whether a full read met the end of its stream.
func ended(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }
