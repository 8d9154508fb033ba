package format

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonwrite"
)

// normalisedMember records what a writer had to respell (C.4).
const normalisedMember = "normalised"

// respelled is a value that has no exact canonical form, with what it was.
type respelled struct {
	at  string // JSON Pointer
	was []byte // as it was written
}

// normalise returns a line in which every value has an exact canonical form, and what was respelled for that, in the order of
// the places: what is no text, half a surrogate pair among it, becomes U+FFFD, and a whole number that no double holds the
// nearest one that it does.
func normalise(line []byte) ([]byte, []respelled, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowInvalidUTF8(true))
	var out bytes.Buffer
	e := jsontext.NewEncoder(&out, jsontext.AllowInvalidUTF8(true))
	var list []respelled
	for {
		kind := d.PeekKind()
		if kind != jsontext.KindString && kind != jsontext.KindNumber {
			token, err := d.ReadToken()
			if err == io.EOF {
				break
			}
			if err == nil {
				err = e.WriteToken(token)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%w: %w", ErrNotCanonical, err)
			}
			continue
		}
		raw, err := d.ReadValue()
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrNotCanonical, err)
		}
		to, changed, err := respell(raw)
		if err != nil {
			return nil, nil, err
		}
		if changed {
			list = append(list, respelled{string(d.StackPointer()), bytes.Clone(raw)})
		}
		if err := e.WriteValue(to); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrNotCanonical, err)
		}
	}
	slices.SortFunc(list, func(a, b respelled) int { return cmp.Compare(a.at, b.at) })
	return bytes.TrimSpace(out.Bytes()), list, nil
}

// respell returns a string or number that has an exact canonical form, and whether that is another than what was written.
func respell(raw jsontext.Value) (to jsontext.Value, changed bool, err error) {
	if raw.Kind() == jsontext.KindString {
		if raw.IsValid() {
			return raw, false, nil
		}
		// One U+FFFD for bytes in a row, one for each half of a pair.
		text, _ := jsontext.AppendUnquote(nil, bytes.ToValidUTF8(raw, []byte("\uFFFD")))
		return jsonwrite.AppendText(nil, string(text)), true, nil
	}
	exact := checkExact(raw)
	if exact == nil {
		return raw, false, nil
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return nil, false, exact
	}
	return jsontext.AppendFloat(nil, f, 64), true, nil
}

// appendRespelled writes the record of a value that was respelled.
func appendRespelled(dst []byte, r respelled) []byte {
	var o jsonwrite.Object
	o.Text("at", r.at)
	if utf8.Valid(r.was) {
		o.Text("was", string(r.was))
	} else {
		o.Text("raw", base64.StdEncoding.EncodeToString(r.was))
	}
	return append(dst, o.Bytes()...)
}

// withNormalised returns a line in which every value has an exact canonical form, with the record of what was respelled.
func withNormalised(line []byte) ([]byte, error) {
	if utf8.Valid(line) && !bytes.Contains(line, []byte(`\u`)) && !hasLongNumber(line) {
		return line, nil
	}
	line, list, err := normalise(line)
	if err != nil || len(list) == 0 {
		return line, err
	}
	record := []byte(`,"` + normalisedMember + `":[`)
	for i, r := range list {
		if i > 0 {
			record = append(record, ',')
		}
		record = appendRespelled(record, r)
	}
	return append(append(line[:len(line)-1], record...), "]}"...), nil
}
