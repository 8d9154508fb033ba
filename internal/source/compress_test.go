package source_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/sessionspan/sessionspan/internal/source"
)

func gzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t *testing.T, text []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(text, nil)
}

func TestDecompress(t *testing.T) {
	long := []byte(strings.Repeat("a line of text\n", 10_000))
	gz, zst := gzipped(t, long), zstded(t, long)
	for _, tc := range []struct {
		name string
		data []byte
		want string
		err  error
	}{
		{"plain", long, string(long), nil},
		{"nothing", nil, "", nil},
		{"gzip", gz, string(long), nil},
		{"gzip of nothing", gzipped(t, nil), "", nil},
		{"gzip, two members", slices.Concat(gz, gz), string(long) + string(long), nil},
		{"gzip, many members of nothing", slices.Concat(bytes.Repeat(gzipped(t, nil), 500), gz), string(long), nil},
		{"gzip, padded", append(slices.Clone(gz), make([]byte, 1000)...), string(long), nil},
		{"gzip, text behind it", append(slices.Clone(gz), "text"...), string(long), source.ErrTrailing},
		{"gzip, a byte behind it", append(slices.Clone(gz), 'x'), string(long), source.ErrTrailing},
		{"gzip, text behind the padding", append(slices.Clone(gz), "\x00\x00text"...), string(long), source.ErrTrailing},
		{"gzip, second member cut in its head", slices.Concat(gz, gz[:5]), string(long), io.ErrUnexpectedEOF},
		{"gzip, second member cut after a byte", slices.Concat(gz, gz[:1]), string(long), io.ErrUnexpectedEOF},
		{"gzip, cut in its sum", gz[:len(gz)-3], string(long), io.ErrUnexpectedEOF},
		{"gzip in gzip", gzipped(t, gz), "", source.ErrTwice},
		{"zstd in gzip", gzipped(t, zst), "", source.ErrTwice},
		{"gzip in zstd", zstded(t, gz), "", source.ErrTwice},
		{"zstd", zst, string(long), nil},
		{"zstd, two frames", slices.Concat(zst, zst), string(long) + string(long), nil},
		{"zstd, text behind it", append(slices.Clone(zst), "some text"...), string(long), source.ErrTrailing},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plain, err := source.Decompress(bytes.NewReader(tc.data))
			var text []byte
			if err == nil {
				defer plain.Close()
				text, err = io.ReadAll(plain)
			}
			if !errors.Is(err, tc.err) || string(text) != tc.want {
				t.Errorf("%d bytes, %v; want %d, %v", len(text), err, len(tc.want), tc.err)
			}
		})
	}
}
