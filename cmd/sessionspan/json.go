package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// What programs read is described in docs/json.md. What is not known is null; no member is left out.

// jsonLines writes values as JSON, one a line, that is safe to look at in a terminal. It keeps its first error.
type jsonLines struct {
	w   *bufio.Writer
	enc *json.Encoder
	err error
}

func newJSONLines(w io.Writer) *jsonLines {
	b := bufio.NewWriterSize(w, 64<<10)
	return &jsonLines{w: b, enc: newEncoder(b)}
}

func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(escaped{w})
	enc.SetEscapeHTML(false)
	return enc
}

func (j *jsonLines) write(v any) {
	if j.err == nil {
		j.err = j.enc.Encode(v)
	}
}

func (j *jsonLines) flush() error {
	if j.err == nil {
		j.err = j.w.Flush()
	}
	return j.err
}

// rawJSON is JSON of a file. What is none, such as a text that is no UTF-8, is written as a string.
type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) {
	switch {
	case r == nil:
		return []byte("null"), nil
	case utf8.Valid(r) && json.Valid(r):
		return r, nil
	}
	return json.Marshal(string(r))
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// errorOrNull says an error without the path of the file that it is about: that is a member of its own.
func errorOrNull(err error) *string {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*input.FileError](err); ok {
		return orNull(e.What())
	}
	return orNull(err.Error())
}

func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return orNull(t.UTC().Format(time.RFC3339Nano))
}

// escaped takes JSON in whole texts, and escapes in them what JSON allows but a terminal obeys: control characters from
// DEL on, and whatever is seen only by what it does to other text. To a program that reads it, it says the same.
type escaped struct{ w io.Writer }

func (e escaped) Write(text []byte) (int, error) {
	if _, err := e.w.Write(escapeHidden(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

func escapeHidden(text []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(text); {
		if text[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if terminal.Hidden(r) {
			out = append(out, text[done:i]...)
			if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
				out = fmt.Appendf(out, `\u%04x\u%04x`, r1, r2)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}
