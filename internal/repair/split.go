package repair

import "bytes"

// piece is a part of a damaged line: an object that is an entry, or broken bytes.
type piece struct {
	start, end int
	// what is wrong with it; "" for an object.
	kind Kind
}

// split cuts a line that is not one object into pieces, in order. White space behind an object is part of none, and stays.
// entry judges an object that stands behind broken bytes; nested is true where it may be a value inside of them.
func split(line []byte, entry func(object []byte, nested bool) bool, emit func(piece)) {
	wiped := false // zero bytes stand before pos, and may stand for anything
	for pos := skipSpace(line, 0); pos < len(line); pos = skipSpace(line, pos) {
		if line[pos] == 0 {
			end := pos + len(line[pos:]) - len(bytes.TrimLeft(line[pos:], "\x00 \t\r\n"))
			emit(piece{pos, end, NullPadding})
			pos, wiped = end, true
			continue
		}
		head := pos // how far the beginning of an object can be followed
		if line[pos] == '{' {
			w := newWalker(line, pos)
			if w.run(); w.state == whole && !wiped && !w.early(pos) {
				emit(piece{pos, w.lastEnd, ""})
				pos = w.lastEnd
				continue
			}
			head = w.pos
		}
		start, end, ok := search(line, pos, entry)
		if !ok {
			broken(line, pos, head, emit)
			return
		}
		if start > pos {
			kind := Garbage
			if line[pos] == '{' {
				kind = Torn
			}
			emit(piece{pos, start, kind})
		}
		emit(piece{start, end, ""})
		pos, wiped = end, false
	}
}

// broken takes the broken rest of a line, which begins at pos and can be followed up to head.
func broken(line []byte, pos, head int, emit func(piece)) {
	end := len(bytes.TrimRight(line, "\x00 \t\r\n"))
	if bytes.IndexByte(line[end:], 0) < 0 {
		end = len(line)
	}
	kind := Garbage
	if line[pos] == '{' && head >= end {
		kind = Torn
	}
	emit(piece{pos, end, kind})
	if end < len(line) {
		emit(piece{end, len(line), NullPadding})
	}
}

// search finds the first object at or behind broken bytes, from which on nothing is known, that is an entry.
//
// Walkers start wherever an object may begin that no walker at work takes for one already. There are two at most: they
// differ about which quotes open a string, since two that agree about that are one walker, or one of them is stuck. So each
// byte is walked over twice, and not once for each brace.
func search(line []byte, from int, entry func(object []byte, nested bool) bool) (start, end int, ok bool) {
	var at, idle []*walker
	// settle looks at the walkers that have ended.
	settle := func() bool {
		live := at[:0]
		for _, a := range at {
			if a.state == walking {
				live = append(live, a)
				continue
			}
			idle = append(idle, a)
			s, e, found := a.found()
			if !ok && found && entry(line[s:e], a.state != whole) {
				start, end, ok = s, e, true
			}
		}
		at = live
		return ok
	}
	for k := from; k < len(line); k++ {
		next := bytes.IndexByte(line[k:], '{')
		if next < 0 {
			break
		}
		k += next
		if first := skipSpace(line, k+1); first == len(line) || line[first] != '"' {
			continue
		}
		covered := false
		for _, a := range at {
			if a.covers(k) {
				covered = true
			}
		}
		if settle() {
			return start, end, true
		}
		if !covered {
			w := &walker{}
			if n := len(idle); n > 0 {
				w, idle = idle[n-1], idle[:n-1]
			}
			w.begin(line, k)
			w.step()
			at = append(at, w)
		}
	}
	for _, a := range at {
		a.run()
	}
	settle()
	return start, end, ok
}
