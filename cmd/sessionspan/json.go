package main

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/internal/waterfall"
)

// writeJSON writes a value as an object of several lines that is safe to look at in a terminal.
func writeJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = escaped{w}.Write(append(text, '\n'))
	return err
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
		if waterfall.Hidden(r) {
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
