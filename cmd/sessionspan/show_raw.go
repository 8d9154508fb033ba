package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/outline"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// again gives the bytes of a file once more that has been read. What can be read only once is kept as it goes by.
type again struct {
	path string
	once bool
	kept bytes.Buffer
}

// first opens the file for the first time. The path that goes with the stream is that of standard input.
func (a *again) first(ctx context.Context, stdin io.Reader) (*input.Stream, io.Reader, error) {
	s, err := input.Open(ctx, a.path, stdin)
	if err != nil {
		return nil, nil, err
	}
	if a.once = s.Once; a.once {
		return s, io.TeeReader(s, &a.kept), nil
	}
	return s, s, nil
}

// plain opens it again, decompressed.
func (a *again) plain(ctx context.Context) (r io.Reader, end func(), err error) {
	var s io.ReadCloser = io.NopCloser(bytes.NewReader(a.kept.Bytes()))
	if !a.once {
		if s, err = input.Open(ctx, a.path, nil); err != nil {
			return nil, nil, input.Error(err)
		}
	}
	plain, err := source.Decompress(s)
	if err != nil {
		s.Close()
		return nil, nil, input.Error(err)
	}
	return input.Until(ctx, plain), func() { plain.Close(); s.Close() }, nil
}

// writeRaw writes the file as it stands, or its header and the lines that were asked for, which are a session file as well.
// On a terminal, what it would act on becomes visible.
func (o *show) writeRaw(ctx context.Context, out *outline.Outline) error {
	plain, end, err := o.again.plain(ctx)
	if err != nil {
		return err
	}
	defer end()
	w := bufio.NewWriterSize(o.out, 64<<10)
	put := func(line []byte) { _, _ = w.Write(line) } // what went wrong is known when the writer is flushed
	if terminal.Is(o.out) {
		put = func(line []byte) {
			_, _ = w.WriteString(terminal.Sanitize(strings.TrimRight(string(line), "\r\n")) + "\n")
		}
	}
	lines := bufio.NewReaderSize(plain, 64<<10)
	if o.leaf == "" && !o.context {
		return rawAll(lines, out, put, w.Flush)
	}
	header, number, err := firstLine(lines)
	if err != nil {
		return err
	}
	if len(out.Entries) == 0 || out.Entries[0].Line != number { // there are formats whose first line is an entry
		put(header)
	}
	for i := range out.Entries {
		e := &out.Entries[i]
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if e.Place != outline.Aside && (!o.context || inContext(e)) {
			put(e.Raw)
		}
	}
	return w.Flush()
}

// rawAll writes all lines. That a file ends before it should has been found when it was read for the first time.
func rawAll(lines *bufio.Reader, out *outline.Outline, put func([]byte), flush func() error) error {
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			put(line)
		}
		switch {
		case err == io.EOF || err != nil && out.Err != nil:
			return flush()
		case err != nil:
			_ = flush()
			return input.Error(err)
		}
	}
}

// firstLine reads the first line that is not blank, and counts to it from 1.
func firstLine(lines *bufio.Reader) (line []byte, number int, err error) {
	for {
		number++
		line, err = lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 || err == io.EOF {
			return line, number, nil
		}
		if err != nil {
			return nil, number, input.Error(err)
		}
	}
}

// inContext reports whether an entry is among those that the context is made from.
func inContext(e *outline.Entry) bool { return e.Place == outline.OnPath || e.Place == outline.Here }
