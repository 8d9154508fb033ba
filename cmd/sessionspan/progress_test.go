package main

import (
	"bytes"
	"testing"
	"time"
)

func TestProgressShowsNothingOutsideATerminal(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b, "reading", 100)
	p.add(50)
	p.end()
	if p.bar != nil || b.Len() > 0 {
		t.Errorf("wrote %q", &b)
	}
}

func TestLateWriterDropsWhatIsEarly(t *testing.T) {
	var b bytes.Buffer
	early := &lateWriter{&b, time.Now().Add(time.Hour)}
	if n, err := early.Write([]byte("early")); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	late := &lateWriter{&b, time.Now().Add(-time.Hour)}
	if _, err := late.Write([]byte("late")); err != nil {
		t.Error(err)
	}
	if b.String() != "late" {
		t.Errorf("wrote %q", &b)
	}
}
