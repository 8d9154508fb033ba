package format

import "time"

// parseTime parses an RFC 3339 time with its zone, strictly: no space for the T, no comma, no second 60, no day that the
// month does not have. The result is in UTC; digits after the ninth of a fraction are dropped.
func parseTime(b []byte) (time.Time, bool) {
	const shape = "2006-01-02T15:04:05"
	if len(b) < len(shape)+1 ||
		b[4] != '-' || b[7] != '-' || b[10]|0x20 != 't' || b[13] != ':' || b[16] != ':' {
		return time.Time{}, false
	}
	ok := true
	century := digits2(b[0:], 0, 99, &ok)
	year := 100*century + digits2(b[2:], 0, 99, &ok)
	month := digits2(b[5:], 1, 12, &ok)
	day := digits2(b[8:], 1, 31, &ok)
	hour := digits2(b[11:], 0, 23, &ok)
	minute := digits2(b[14:], 0, 59, &ok)
	second := digits2(b[17:], 0, 59, &ok)
	if !ok || day > daysIn(month, year) {
		return time.Time{}, false
	}
	b = b[len(shape):]
	nanosecond := 0
	if b[0] == '.' {
		scale := 100_000_000
		n := 1
		for ; n < len(b) && b[n]-'0' <= 9; n++ {
			nanosecond += int(b[n]-'0') * scale
			scale /= 10
		}
		if n == 1 {
			return time.Time{}, false
		}
		b = b[n:]
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanosecond, time.UTC)
	switch {
	case len(b) == 1 && b[0]|0x20 == 'z':
		return t, true
	case len(b) == 6 && (b[0] == '+' || b[0] == '-') && b[3] == ':':
		offset := time.Duration(digits2(b[1:], 0, 23, &ok))*time.Hour + time.Duration(digits2(b[4:], 0, 59, &ok))*time.Minute
		if b[0] == '+' {
			offset = -offset
		}
		return t.Add(offset), ok
	}
	return time.Time{}, false
}

// digits2 reads two digits, and clears ok when they are none or say a number outside low to high.
func digits2(b []byte, low, high int, ok *bool) int {
	if b[0]-'0' > 9 || b[1]-'0' > 9 {
		*ok = false
		return 0
	}
	n := int(b[0]-'0')*10 + int(b[1]-'0')
	if n < low || n > high {
		*ok = false
	}
	return n
}

func daysIn(month, year int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}
