package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/stored"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// What kinds of problems there are.
const (
	kindDamaged  = "damaged"   // a line cannot be read as it should be
	kindNotRead  = "not_read"  // a file cannot be read, or is no session
	kindCutShort = "cut_short" // a file cannot be read to its end
	kindNote     = "note"      // nothing is lost, but somebody may want to know
)

// kindWords say the kinds to people.
var kindWords = map[string]string{
	kindDamaged: "damaged", kindNotRead: "not read", kindCutShort: "not read to the end", kindNote: "note",
}

// problem is something that was wrong with a file, or notable, as a program reads it. What is not known is null.
type problem struct {
	Kind   string  `json:"kind"`
	Path   *string `json:"path"`
	Line   *int    `json:"line"`
	Offset *int64  `json:"offset"`
	Rule   *string `json:"rule"`
	What   string  `json:"what"`

	said string // to people: what, with its place in the file
}

// String says it on one line that is safe for a terminal.
func (p *problem) String() string {
	words := forPeople(p.said)
	if p.Path != nil {
		words = forPeople(*p.Path) + ": " + words
	}
	return kindWords[p.Kind] + ": " + words
}

// note is what is notable of a path, or, without one, of several.
func note(path, what string) problem {
	return problem{Kind: kindNote, Path: orNull(path), What: what, said: what}
}

// problemOfLine is what was found in a line of a file.
func problemOfLine(path string, err error, isNote bool) problem {
	p := problem{Kind: kindDamaged, Path: &path, What: err.Error(), said: err.Error()}
	if isNote {
		p.Kind = kindNote
	}
	d := stored.Damage{Rule: stored.RuleDamage}
	if e, ok := errors.AsType[*format.DamageError](err); ok {
		d = stored.NewDamage(e.Line, e.Offset, "", e.Err, e.Detail)
	} else if e, ok := errors.AsType[projection.Problem](err); ok {
		d = stored.NewDamage(e.Line, e.Offset, "", e.Err, e.Detail)
	} else {
		return p
	}
	p.Line, p.Offset, p.What = &d.Line, &d.Offset, d.What
	if !isNote {
		p.Rule = &d.Rule
		for known, rule := range projectionRules {
			if errors.Is(err, known) {
				p.Rule = &rule
			}
		}
	}
	return p
}

// projectionRules are the rules that the projector looks at as well.
var projectionRules = map[error]string{
	projection.ErrDuplicateEntry: stored.RuleDuplicate,
	projection.ErrParentLost:     stored.RuleParent,
}

// problemOfFile is what was wrong with a file as a whole.
func problemOfFile(err error) problem {
	p := problem{Kind: kindNotRead, What: err.Error()}
	if e, ok := errors.AsType[*input.FileError](err); ok {
		p.Path, p.What = &e.Path, e.What()
		if e.Begun {
			p.Kind = kindCutShort
		}
	}
	p.said = p.What
	return p
}

// losses counts what could not be read: lines, and files.
type losses struct {
	Damaged  int `json:"damaged"`
	NotRead  int `json:"not_read"`
	CutShort int `json:"cut_short"`

	damagedIn int // files
}

// lines counts the damaged lines of one file.
func (l *losses) lines(damaged int) {
	l.Damaged += damaged
	l.damagedIn += min(damaged, 1)
}

// file counts a file that could not be read, or not to its end.
func (l *losses) file(err error) problem {
	p := problemOfFile(err)
	if p.Kind == kindCutShort {
		l.CutShort++
	} else {
		l.NotRead++
	}
	return p
}

func (l *losses) any() bool { return l.Damaged > 0 || l.NotRead > 0 || l.CutShort > 0 }

// words say them to people, for a sum.
func (l *losses) words() []string {
	var sum []string
	if l.Damaged > 0 {
		sum = append(sum, terminal.Plural(l.Damaged, "line")+" damaged in "+terminal.Plural(l.damagedIn, "file"))
	}
	if l.NotRead > 0 {
		sum = append(sum, terminal.Plural(l.NotRead, "file")+" "+kindWords[kindNotRead])
	}
	if l.CutShort > 0 {
		sum = append(sum, terminal.Plural(l.CutShort, "file")+" "+kindWords[kindCutShort])
	}
	return sum
}

// maxText bounds, in bytes, how much of one text from a file or a path is shown to people.
const maxText = 1000

// forPeople makes a text safe and short enough to be shown.
func forPeople(text string) string {
	if len(text) <= maxText {
		return terminal.Sanitize(text)
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", terminal.Sanitize(text[:end]), len(text))
}

// errInterrupted is why a file was not read to its end when the signal came.
var errInterrupted = errors.New("interrupted")

// inputName says to people what a path leads to.
func inputName(path string) string {
	if path == input.Stdin {
		return "standard input"
	}
	return path
}

// interruptedWhile says what was being done with a file when the signal came, and how many files were not reached.
func interruptedWhile(what, path string, unreached int) error {
	return &exitError{exitFinding, errors.New(interruptedWords(what, path, unreached))}
}

func interruptedWords(what, path string, unreached int) string {
	words := "interrupted while " + strings.TrimSpace(what+" "+inputName(path))
	if unreached > 0 {
		words += "; " + terminal.Plural(unreached, "file") + " not reached"
	}
	return words
}

// interrupted is the error of a command that was interrupted before it had come to so many files.
func interrupted(unreached int) error {
	words := []string{"interrupted"}
	if unreached > 0 {
		words = append(words, terminal.Plural(unreached, "file")+" not reached")
	}
	return &exitError{exitFinding, errors.New(strings.Join(words, "; "))}
}

// outputError is what is left to say when writing has failed: nothing, when the reader has seen enough.
func outputError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, syscall.EPIPE):
		return nil
	case ctx.Err() != nil:
		return &exitError{exitFinding, errors.New("interrupted; what is above is complete as far as it goes")}
	}
	return &exitError{exitFinding, err}
}

// fileError is the error of a file that was read up to some entry.
func fileError(path string, err error, entries int) error {
	e := input.NewFileError(path, err)
	e.Begun, e.Entries = true, entries
	return e
}
