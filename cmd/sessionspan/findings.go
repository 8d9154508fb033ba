package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/source"
)

// findings gathers what was wrong with the files of a list, and says it when the list has been written.
type findings struct {
	w         io.Writer
	lines     []string
	more      int // what is counted, not shown
	damaged   int // lines
	unread    int // files
	cut       int // files that could not be read to their end
	foreign   int // files in the agents' folders that are of no known format
	damagedIn int // sessions
}

// maxFindings bounds how many lines are shown of all files together.
const maxFindings = 200

func (f *findings) say(line string) {
	if len(f.lines) >= maxFindings {
		f.more++
		return
	}
	f.lines = append(f.lines, line)
}

// notRead takes the error of a file that could not be read, or not to its end; it has the path in it.
func (f *findings) notRead(err error) {
	if begun(err) {
		f.cut++
		f.say("cut short: " + err.Error())
		return
	}
	f.unread++
	f.say("not read: " + err.Error())
}

// begun reports whether the error is one of reading on in a file that has a usable header.
func begun(err error) bool {
	e, ok := errors.AsType[*archive.FileError](err)
	return ok && e.Begun
}

// files takes what was found where it was looked, and the errors of files without a usable header. In the agents' own
// folders, files of no known format are other things that an agent keeps there, or sessions of one that is not read yet:
// they are counted, and no finding.
func (f *findings) files(found archive.Found, headers []error, known bool) {
	for _, n := range found.Notes {
		f.say("note: " + n.Path + ": " + n.Text)
	}
	for _, err := range found.Bad {
		f.notRead(err)
	}
	for _, err := range headers {
		if _, foreign := errors.AsType[*source.UnknownFormatError](err); foreign && known {
			f.foreign++
			continue
		}
		f.notRead(err)
	}
}

// copies takes the sessions that are in several files.
func (f *findings) copies(list []archive.Copied) {
	for _, c := range list {
		f.say(fmt.Sprintf("note: session %s is in several files, each of which is listed: %s",
			forPeople(c.ID), strings.Join(c.Paths, ", ")))
	}
}

// session takes what was wrong with one session.
func (f *findings) session(v *archive.Overview) {
	if v.Damaged > 0 {
		f.damaged += v.Damaged
		f.damagedIn++
	}
	for _, p := range v.Problems {
		f.say("damaged: " + v.File.Path + ": " + p)
	}
	f.more += v.Damaged - len(v.Problems)
	if v.Err != nil {
		f.notRead(v.Err)
	}
}

// any reports whether anything was wrong.
func (f *findings) any() bool { return f.damaged > 0 || f.unread > 0 || f.cut > 0 }

// end says what was found. none is the number of sessions when none of them is wanted, else 0.
func (f *findings) end(none int) {
	for _, line := range f.lines {
		fmt.Fprintln(f.w, forPeople(line))
	}
	var sum []string
	if none > 0 {
		sum = append(sum, fmt.Sprintf("none of %s matches", count(none, "session")))
	}
	if f.damaged > 0 {
		sum = append(sum, fmt.Sprintf("%s damaged in %s", count(f.damaged, "line"), count(f.damagedIn, "session")))
	}
	if f.unread > 0 {
		sum = append(sum, count(f.unread, "file")+" not read")
	}
	if f.cut > 0 {
		sum = append(sum, count(f.cut, "file")+" not read to the end")
	}
	if f.foreign > 0 {
		sum = append(sum, count(f.foreign, "file")+" of no known format passed over")
	}
	if f.more > 0 {
		sum = append(sum, count(f.more, "finding")+" not shown")
	}
	if len(sum) > 0 {
		fmt.Fprintln(f.w, strings.Join(sum, "; "))
	}
}
