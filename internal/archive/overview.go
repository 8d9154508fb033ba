package archive

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/projection"
)

// State says where the work at the leaf of a session stands.
type State string

// The states. Those from Done on are how the last run of the path to the leaf ended.
const (
	// Waiting for a person: a call is held, or the last run ended to ask for something.
	Waiting State = "waiting"
	// Working: a run or a call is open, and something was written in the last 24 hours.
	Working State = "open"
	// CutOff: a run or a call is open, and nothing was written for 24 hours.
	CutOff      State = "cut_off"
	Done        State = "done"
	Stopped     State = "stopped"
	Interrupted State = "interrupted"
	Aborted     State = "aborted"
	Failed      State = "error"
	// Ended is for a reason that the format does not have.
	Ended State = "ended"
	// Empty: no run was started on the path to the leaf.
	Empty State = "empty"
)

// States lists the states in the order in which people look for them.
var States = []State{Waiting, Working, CutOff, Failed, Aborted, Interrupted, Stopped, Done, Ended, Empty}

// Overview says what one session file comes to, in a few hundred bytes whatever the size of the file. The counts are
// those of the spans that a replay of the file makes.
type Overview struct {
	File    *File
	TraceID string
	// Name is the display name given last.
	Name string
	// Start is when the session was created, or its first entry where the header does not say; zero when neither does.
	Start time.Time
	// End is the latest time in the file.
	End time.Time
	// Runs counts segments: the parts in which a run was worked on.
	Runs, Chats int
	// Calls counts tool calls, and not how often one was handed to its tool.
	Calls int
	// Errors counts the model calls, tools and runs that failed: runs that were aborted or cut off among them.
	Errors int
	Tokens Tokens
	State  State
	// Leaf is the id of the entry at which work would go on; "" when there is none.
	Leaf string
	// ContinuedIn is the session that goes on in place of this one, or "".
	ContinuedIn string
	Entries     int
	Damaged     int
	// Problems are the first of what was damaged, without the bytes.
	Problems []error
	// Err is why the file could not be read to its end, or the error of the context.
	Err error
	// Begun: something of the file was read.
	Begun bool
	// Agents counts those that worked for the session, whose work is counted with it.
	Agents int
}

// add counts the work of an agent with that of the session for which it worked. Runs and the state are the session's own.
func (v *Overview) add(part Overview) {
	v.Agents += 1 + part.Agents
	v.Chats, v.Calls, v.Errors = v.Chats+part.Chats, v.Calls+part.Calls, v.Errors+part.Errors
	v.Entries, v.Damaged = v.Entries+part.Entries, v.Damaged+part.Damaged
	v.Tokens.LowerBound = v.Tokens.LowerBound || part.Tokens.LowerBound
	if n := part.Tokens.Input; n != nil {
		v.Tokens.Input = sum(v.Tokens.Input, *n)
	}
	if n := part.Tokens.Output; n != nil {
		v.Tokens.Output = sum(v.Tokens.Output, *n)
	}
	if part.End.After(v.End) {
		v.End = part.End
	}
	for _, p := range part.Problems {
		if len(v.Problems) < maxProblems {
			v.Problems = append(v.Problems, input.NewFileError(part.File.Path, p))
		}
	}
	if v.Err == nil {
		v.Err = part.Err
	}
}

// Tokens sums up the model calls of a session. A count that no call states is nil.
type Tokens struct {
	Input, Output *int64
	// LowerBound: a call did not state a count, or stated one that is known to be too small.
	LowerBound bool
}

// maxProblems bounds how many problems of one file are kept.
const maxProblems = 20

// Overviews reads files side by side, as many at a time as there are processors, and returns what they come to, in the
// order of files. A file that was not reached before the context was done has the error of the context. Options.Read is called
// from several goroutines.
func (ix *Index) Overviews(ctx context.Context, files []*File, o Options) []Overview {
	all := make([]Overview, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				all[i] = ix.overview(ctx, files[i], o)
				if o.Parts {
					for _, part := range ix.parts[files[i]] {
						all[i].add(ix.overview(ctx, part, o))
					}
				}
			}
		})
	}
	wg.Wait()
	return all
}

func (ix *Index) overview(ctx context.Context, f *File, o Options) Overview {
	v := Overview{File: f, TraceID: projection.TraceID(o.Projection.Salt, f.Root).String(), Start: f.Created()}
	if v.Err = ctx.Err(); v.Err != nil {
		return v
	}
	c := &census{of: &v}
	o.Select = Selection{}
	o.tap = c.tap
	o.Problem = func(_ string, err error, note bool) {
		if note || len(v.Problems) == maxProblems {
			return
		}
		if d, ok := errors.AsType[*format.DamageError](err); ok {
			brief := *d
			brief.Data = nil
			err = &brief
		}
		v.Problems = append(v.Problems, err)
	}
	rep := ix.Project(ctx, f, o, c)
	v.Entries, v.Damaged, v.Err, v.Begun = rep.Entries, rep.Damaged, rep.Err, rep.Session != nil
	c.finish(o.now())
	return v
}

// Created is when the header says that the session was created; zero when it does not give a usable time.
func (f *File) Created() time.Time {
	if t := f.Session.Created; usable(t) {
		return t
	}
	return time.Time{}
}

// usable reports whether a span could have the time.
func usable(t time.Time) bool {
	s := t.Unix()
	return s > 0 && s < math.MaxInt64/int64(time.Second)
}
