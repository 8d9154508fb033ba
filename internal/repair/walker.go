package repair

import "bytes"

// maxOpen is how many levels a walker remembers: far more than any reader of this project takes, so that what has more is
// left alone rather than judged.
const maxOpen = 1 << 20

// walker goes through an object token by token, as far as the grammar of JSON allows. Unlike a decoder it can be stopped
// anywhere, and knows of each token whether an object began there. Of a string it looks for the end alone, as the
// scanner of package jsonscan does.
type walker struct {
	data  []byte
	pos   int // of the next token
	state state
	want  want
	open  []int // where the objects that are open begin; -1 for arrays
	// lastStart and lastEnd are the object whose closing brace was the token before; lastEnd is 0 after any other.
	lastStart, lastEnd int
}

type state int

const (
	walking state = iota
	whole         // the object has ended
	stuck         // what stands at pos cannot come there
	tooDeep
)

// want is a set of what may come next.
type want uint8

const (
	wantKey want = 1 << iota
	wantColon
	wantValue
	wantComma
	wantClose
)

// newWalker returns a walker of the object that begins at start.
func newWalker(data []byte, start int) *walker {
	w := &walker{}
	w.begin(data, start)
	return w
}

// begin puts a walker, a used one too, before the object that begins at start.
func (w *walker) begin(data []byte, start int) {
	*w = walker{data: data, pos: start, want: wantValue, open: w.open[:0]}
}

// run walks to the end.
func (w *walker) run() {
	for w.state == walking {
		w.step()
	}
}

// step takes the next token.
func (w *walker) step() {
	if w.pos >= len(w.data) {
		w.state = stuck
		return
	}
	lastStart, lastEnd := 0, 0
	end := w.pos + 1
	switch c := w.data[w.pos]; {
	case c == '"' && w.want&(wantKey|wantValue) != 0:
		var ok bool
		if end, ok = stringEnd(w.data, w.pos); !ok {
			w.pos, w.state, w.lastEnd = end, stuck, 0
			return
		}
		if w.want&wantKey != 0 {
			w.want = wantColon
		} else {
			w.want = wantComma | wantClose
		}
	case (c == '{' || c == '[') && w.want&wantValue != 0:
		if len(w.open) == maxOpen {
			w.state = tooDeep
			return
		}
		if c == '{' {
			w.open = append(w.open, w.pos)
			w.want = wantKey | wantClose
		} else {
			w.open = append(w.open, -1)
			w.want = wantValue | wantClose
		}
	case (c == '}' || c == ']') && w.want&wantClose != 0 && w.inObject() == (c == '}'):
		if c == '}' {
			lastStart, lastEnd = w.open[len(w.open)-1], end
		}
		w.open = w.open[:len(w.open)-1]
		w.want = wantComma | wantClose
		if len(w.open) == 0 {
			w.state = whole
		}
	case c == ',' && w.want&wantComma != 0:
		w.want = wantValue
		if w.inObject() {
			w.want = wantKey
		}
	case c == ':' && w.want&wantColon != 0:
		w.want = wantValue
	case w.want&wantValue != 0:
		var ok bool
		if end, ok = scalarEnd(w.data, w.pos); !ok {
			w.pos, w.state, w.lastEnd = end, stuck, 0
			return
		}
		w.want = wantComma | wantClose
	default:
		w.state = stuck
		return
	}
	w.pos = skipSpace(w.data, end)
	w.lastStart, w.lastEnd = lastStart, lastEnd
}

func (w *walker) inObject() bool { return w.open[len(w.open)-1] >= 0 }

// covers walks up to position k, and reports whether an object that begins there is part of the walk: then it needs no
// walker of its own.
func (w *walker) covers(k int) bool {
	for w.state == walking && w.pos < k {
		w.step()
	}
	if w.state == walking && w.pos == k {
		w.step()
	}
	return w.state == walking && len(w.open) > 0 && w.open[len(w.open)-1] == k
}

// found returns the object that was closed right where the walk ended. It is none if what comes next shows it to be a part of
// another one.
func (w *walker) found() (start, end int, ok bool) {
	return w.lastStart, w.lastEnd, w.state != walking && w.lastEnd > 0 && !w.goesOn()
}

// goesOn reports whether at the end of the walk stands what may come behind a value.
func (w *walker) goesOn() bool {
	return w.pos < len(w.data) && bytes.IndexByte([]byte(",]}"), w.data[w.pos]) >= 0
}

// early reports whether the whole object that begins at start seems to have ended too early: zero bytes in it have wiped out
// a part of its structure, and what is left over follows.
func (w *walker) early(start int) bool {
	return w.pos < len(w.data) && w.data[w.pos] != '{' && w.data[w.pos] != 0 &&
		bytes.IndexByte(w.data[start:w.lastEnd], 0) >= 0
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n') {
		i++
	}
	return i
}

// stringEnd returns the end of the string that begins at i; where it has none, the end of data.
func stringEnd(data []byte, i int) (end int, ok bool) {
	start := i + 1
	for i = start; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return len(data), false
		}
		i += n
		slash := i
		for slash > start && data[slash-1] == '\\' {
			slash--
		}
		if (i-slash)%2 == 0 {
			return i + 1, true
		}
	}
}

// scalarEnd returns the end of the literal or number that begins at i; where there is none, the place of the byte that
// cannot come there, or the end of data.
func scalarEnd(data []byte, i int) (end int, ok bool) {
	for _, literal := range []string{"true", "false", "null"} {
		if data[i] == literal[0] {
			n := 1
			for n < len(literal) && i+n < len(data) && data[i+n] == literal[n] {
				n++
			}
			return i + n, n == len(literal)
		}
	}
	if data[i] == '-' {
		i++
	}
	digits := skipDigits(data, i)
	switch {
	case digits == i:
		return i, false
	case data[i] == '0':
		i++
	default:
		i = digits
	}
	if i < len(data) && data[i] == '.' {
		if digits = skipDigits(data, i+1); digits == i+1 {
			return digits, false
		}
		i = digits
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if digits = skipDigits(data, i); digits == i {
			return digits, false
		}
		i = digits
	}
	return i, true
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && data[i] >= '0' && data[i] <= '9' {
		i++
	}
	return i
}
