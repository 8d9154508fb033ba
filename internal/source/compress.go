package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// What may be wrong with compressed data, its being damaged or cut apart.
var (
	// ErrTwice: what comes out is compressed again.
	ErrTwice = errors.New("compressed twice: decompress it once")
	// ErrTrailing: the data is whole, and something that is no part of it follows.
	ErrTrailing = errors.New("something else follows the compressed data, which is whole")
)

// maxWindow bounds the memory that a zstd frame may ask for.
const maxWindow = 128 << 20

// How compressed data begins.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

func compressed(head []byte) bool {
	return bytes.HasPrefix(head, gzipMagic) || bytes.HasPrefix(head, zstdMagic)
}

// Decompress returns the plain bytes of a stream that may be compressed, by its first bytes. Closing what it returns frees
// what that took, and does not close the stream. What is compressed twice is refused: no agent writes that.
func Decompress(r io.Reader) (io.ReadCloser, error) {
	head := make([]byte, len(zstdMagic))
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	head = head[:n]
	whole := io.MultiReader(bytes.NewReader(head), r)
	var plain io.ReadCloser
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		plain, err = newGzip(whole)
	case bytes.HasPrefix(head, zstdMagic):
		plain, err = newZstd(whole)
	default:
		return io.NopCloser(whole), nil
	}
	if err != nil {
		return nil, err
	}
	ahead := bufio.NewReader(plain)
	if head, _ := ahead.Peek(len(zstdMagic)); compressed(head) { // its error is that of the next read
		plain.Close()
		return nil, ErrTwice
	}
	return struct {
		io.Reader
		io.Closer
	}{ahead, plain}, nil
}

// gzipReader reads gzip data member by member, to tell what is cut from what has something else behind it.
type gzipReader struct {
	*gzip.Reader
	src *bufio.Reader
}

func newGzip(r io.Reader) (*gzipReader, error) {
	src := bufio.NewReader(r)
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipReader{z, src}, nil
}

func (g *gzipReader) Read(p []byte) (int, error) {
	for {
		n, err := g.Reader.Read(p)
		if err == io.EOF {
			err = g.next()
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// next goes on to the next member. Zero bytes at the end are the padding of archives on tape, and ignored as gzip does.
func (g *gzipReader) next() error {
	// The error is that of the next read, and one byte of the magic is a member that was cut.
	head, _ := g.src.Peek(len(gzipMagic))
	if len(head) > 0 && bytes.HasPrefix(gzipMagic, head) {
		if err := g.Reset(g.src); err != nil {
			return err
		}
		g.Multistream(false)
		return nil
	}
	for {
		c, err := g.src.ReadByte()
		switch {
		case err != nil:
			return err
		case c != 0:
			return ErrTrailing
		}
	}
}

// zstdReader reads zstd data frame by frame.
type zstdReader struct {
	io.ReadCloser
	begun bool
}

func newZstd(r io.Reader) (*zstdReader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return &zstdReader{ReadCloser: z.IOReadCloser()}, nil
}

func (z *zstdReader) Read(p []byte) (int, error) {
	n, err := z.ReadCloser.Read(p)
	if z.begun && errors.Is(err, zstd.ErrMagicMismatch) {
		err = ErrTrailing
	}
	z.begun = z.begun || n > 0
	return n, err
}
