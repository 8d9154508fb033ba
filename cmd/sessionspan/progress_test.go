package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgressShowsNothingOutsideATerminal(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b, "reading", []string{quickstart})
	p.add(50)
	if p.beside(&b) != &b {
		t.Error("text takes a way round")
	}
	p.end()
	if p.bar != nil || b.Len() > 0 {
		t.Errorf("wrote %q", &b)
	}
}

// What is seen of a bar, of text beside it, and in what order.
func TestScreen(t *testing.T) {
	gone := "\r" + strings.Repeat(" ", 6) + "\r"
	for _, tc := range []struct {
		name string
		late time.Duration // how long after the delay it is
		do   func(s *screen, text *besideBar)
		want string
	}{
		{"a bar that is early is not drawn", -time.Hour, func(s *screen, _ *besideBar) {
			s.Write([]byte("\rbar 10"))
			s.end()
		}, ""},
		{"the end takes it away for good", time.Hour, func(s *screen, _ *besideBar) {
			s.Write([]byte("\rbar 10"))
			s.end()
			s.Write([]byte("\rbar 20"))
		}, "\rbar 10" + gone},
		{"text takes its place, and it comes back below", time.Hour, func(s *screen, text *besideBar) {
			s.Write([]byte("\rbar 10"))
			text.Write([]byte("one\n"))
			text.Write([]byte("two\n"))
			s.Write([]byte("\rbar 20"))
		}, "\rbar 10" + gone + "one\ntwo\n\rbar 20"},
		{"it waits for the end of a line", time.Hour, func(s *screen, text *besideBar) {
			text.Write([]byte("be"))
			s.Write([]byte("\rbar 10"))
			text.Write([]byte("gun\n"))
		}, "begun\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			s := &screen{w: &b, after: time.Now().Add(-tc.late)}
			tc.do(s, &besideBar{s, &b})
			if b.String() != tc.want {
				t.Errorf("wrote %q, want %q", &b, tc.want)
			}
		})
	}
}
