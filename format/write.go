package format

import (
	"io"
	"slices"
)

// WriteTo writes the lines that the session was read from, byte for byte: with blank lines, carriage returns, a byte order
// mark and without a last line feed, where the file was so. Only a torn tail, with what blank lines follow it, is left out. The
// error is that of w, or wraps [ErrLineTooLong] where [WithDamage] passed over a line that was not kept.
func (s *Session) WriteTo(w io.Writer) (int64, error) {
	s.mu.RLock()
	text := slices.Clip(s.text)
	s.mu.RUnlock()
	var written int64
	for _, line := range text {
		if line.TooLong() {
			return written, &DamageError{Line: line.Number, Offset: line.Offset, Err: ErrLineTooLong, Detail: "it was not kept"}
		}
		n, err := w.Write(line.Raw)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
