package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// findings gathers what was wrong with the files of a list, and says it when the list has been written.
type findings struct {
	losses
	w       io.Writer
	list    []problem
	more    int       // what is counted, not shown
	lost    []problem // files that could not be read at all
	foreign int       // files in the agents' folders that are of no known format
}

// maxFindings bounds how many problems are shown of all files together.
const maxFindings = 200

func (f *findings) say(p problem) {
	if len(f.list) >= maxFindings {
		f.more++
		return
	}
	f.list = append(f.list, p)
}

// files takes what was found where it was looked, and the errors of files without a usable header. In the agents' own
// folders, files of no known format are other things that an agent keeps there, or sessions of one that is not read yet:
// they are counted, and no finding.
func (f *findings) files(found archive.Found, headers []error, known bool) {
	for _, n := range found.Notes {
		f.say(note(n.Path, n.Text))
	}
	for _, err := range found.Bad {
		f.unreadable(err)
	}
	for _, err := range headers {
		if _, foreign := errors.AsType[*source.UnknownFormatError](err); foreign && known {
			f.foreign++
			continue
		}
		f.unreadable(err)
	}
}

// unreadable takes the error of a file that could not be read, or not to its end, and reports whether some of it was.
func (f *findings) unreadable(err error) bool {
	p := f.file(err)
	f.say(p)
	if p.Kind != kindCutShort {
		f.lost = append(f.lost, p)
		return false
	}
	return true
}

// copies takes the sessions that are in several files.
func (f *findings) copies(list []archive.Copied) {
	for _, c := range list {
		f.say(note("", fmt.Sprintf("session %s is in several files, each of which is listed: %s",
			forPeople(c.ID), strings.Join(c.Paths, ", "))))
	}
}

// session takes what was wrong with one session, and reports whether there is anything of it to list.
func (f *findings) session(v *archive.Overview) bool {
	f.lines(v.Damaged)
	for _, err := range v.Problems {
		f.say(problemOfLine(v.File.Path, err, false))
	}
	f.more += v.Damaged - len(v.Problems)
	return v.Err == nil || f.unreadable(v.Err)
}

// end says what was found. none is the number of sessions when none of them is wanted, else 0.
func (f *findings) end(none int) {
	for i := range f.list {
		fmt.Fprintln(f.w, &f.list[i])
	}
	var sum []string
	if none > 0 {
		sum = append(sum, "none of "+terminal.Plural(none, "session")+" matches")
	}
	sum = append(sum, f.words()...)
	if f.foreign > 0 {
		sum = append(sum, terminal.Plural(f.foreign, "file")+" of no known format passed over")
	}
	if f.more > 0 {
		sum = append(sum, terminal.Plural(f.more, "finding")+" not shown")
	}
	if len(sum) > 0 {
		fmt.Fprintln(f.w, strings.Join(sum, "; "))
	}
}
