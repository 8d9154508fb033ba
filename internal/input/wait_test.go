package input

import (
	"io"
	"slices"
	"testing"
	"time"
)

// What is silent is named while its reader waits, and what answers is read all the same.
func TestWaitIsSaid(t *testing.T) {
	said := make(chan string)
	silent, answer := io.Pipe()
	ctx := WithWait(t.Context(), func(path string) { said <- path })
	ctx.Value(waitKey{}).(*waits).patience = time.Microsecond
	s, err := Open(ctx, Stdin, silent)
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(s)
		text <- string(all)
	}()
	if path := <-said; path != Stdin {
		t.Errorf("waits for %q", path)
	}
	go func() {
		_, _ = io.WriteString(answer, "text\n")
		answer.Close()
	}()
	if got := <-text; got != "text\n" {
		t.Errorf("read %q", got)
	}
}

func TestWaitIsSaidOnceOfEach(t *testing.T) {
	var said []string
	w := &waits{tell: func(path string) { said = append(said, path) }, told: map[string]bool{}}
	for _, path := range []string{"a", "a", "b", "a"} {
		w.say(path)
	}
	if want := []string{"a", "b"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}
