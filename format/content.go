package format

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/jsonwrite"
)

// ContentID returns the id that an entry with this line has in files from minor 5 on (C.4): the hash over its type, parent,
// parents, time and the hash of all its other members. Everything that the line says is in it, known or not.
func ContentID(line []byte) (string, error) {
	var s jsonscan.Scanner
	if err := s.Scan(line, ""); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotCanonical, err)
	}
	var content, envelope jsonwrite.Object
	for _, m := range s.Members {
		switch name := string(m.Name); name {
		case "id":
		case "parents":
			if !emptyArray(m.Value) {
				envelope.Raw(name, m.Value)
			}
		case "type", "parent", "ts":
			envelope.Raw(name, m.Value)
		case "content":
			return "", fmt.Errorf(`%w: a member "content", which is reserved`, ErrNotCanonical)
		default:
			content.Raw(name, m.Value)
		}
	}
	hash, err := openresponses.HashJSON(content.Bytes())
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotCanonical, err)
	}
	envelope.Text("content", hash)
	id, err := openresponses.HashJSON(envelope.Bytes())
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotCanonical, err)
	}
	return id, nil
}

func emptyArray(raw []byte) bool {
	for range jsonscan.Elements(raw) {
		return false
	}
	return jsonscan.Kind(raw) == '['
}

// canonicalLine returns a line in the form in which files from minor 5 on have it.
func canonicalLine(line []byte) ([]byte, error) {
	if err := checkExact(line); err != nil {
		return nil, err
	}
	canonical, err := openresponses.CanonicalJSON(line)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotCanonical, err)
	}
	return canonical, nil
}

// checkExact finds a whole number that would become another one as a double, which the canonical form makes of every number
// (C.4): one that neither is exact nor has the digits with which that double is written.
func checkExact(line []byte) error {
	if !hasLongNumber(line) {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return nil // the end; what is broken is for others to say
		}
		if token.Kind() != jsontext.KindNumber {
			continue
		}
		number := token.String()
		digits, exponent := decimal(number)
		if len(digits) <= exactDigits || exponent < 0 {
			continue
		}
		f, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return fmt.Errorf("%w: the number %.40s is beyond the range of a double", ErrNotCanonical, number)
		}
		spelling := string(jsontext.AppendFloat(nil, f, 64))
		for _, same := range []string{strconv.FormatFloat(f, 'f', 0, 64), spelling} {
			if d, e := decimal(same); d == digits && e == exponent {
				spelling = ""
			}
		}
		if spelling != "" {
			return fmt.Errorf("%w: the number %.40s would become %s", ErrNotCanonical, number, spelling)
		}
	}
}

// exactDigits is how many digits of a number a double always keeps.
const exactDigits = 15

// hasLongNumber reports whether there may be a number with more digits than a double always keeps.
func hasLongNumber(line []byte) bool {
	run := 0
	for _, c := range line {
		switch {
		case c-'0' <= 9:
			if run++; run > exactDigits {
				return true
			}
		case c != '.':
			run = 0
		}
	}
	return false
}

// decimal returns the digits of a number without zeros around them, and the power of ten that they are to be multiplied by.
func decimal(number string) (digits string, exponent int) {
	number = strings.TrimPrefix(number, "-")
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		exponent, _ = strconv.Atoi(number[i+1:]) // out of range it is the nearest that is not, which no double has either
		number = number[:i]
	}
	whole, fraction, _ := strings.Cut(number, ".")
	digits = whole + fraction
	exponent -= len(fraction)
	all := len(digits)
	digits = strings.TrimRight(digits, "0")
	exponent += all - len(digits)
	return strings.TrimLeft(digits, "0"), exponent
}
