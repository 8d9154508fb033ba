package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
)

// errNobody: nobody has answered.
var errNobody = errors.New("nobody says whether the call is allowed")

// person is who sits at the terminal.
type person struct {
	in   *bufio.Reader
	out  io.Writer
	yes  bool
	pace time.Duration
}

func newPerson(in io.Reader, out io.Writer, o options) *person {
	return &person{in: bufio.NewReader(in), out: out, yes: o.yes, pace: o.pace}
}

// allows asks whether a call may go to its tool. The person who always says yes needs as long for it as the model for ten words.
func (p *person) allows(ctx context.Context, c *format.Call) (bool, error) {
	fmt.Fprintf(p.out, "%s %s\nallow %s? [y/n] ", printable(c.Name()), printable(c.Args()), printable(c.Name()))
	if p.yes {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(10 * p.pace):
			fmt.Fprintln(p.out, "y")
			return true, nil
		}
	}
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() { // reading cannot be interrupted, waiting for it can
		text, err := p.in.ReadString('\n')
		read <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case l := <-read:
		if l.err != nil {
			fmt.Fprintln(p.out)
			return false, fmt.Errorf("%w: %w", errNobody, l.err)
		}
		return strings.HasPrefix(strings.ToLower(strings.TrimSpace(l.text)), "y"), nil
	}
}
