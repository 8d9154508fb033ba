package main

import (
	"context"
	"errors"
	"sync"

	"github.com/sessionspan/sessionspan/internal/archive"
)

// traces are the traces that a replay makes, each of which is a group of files.
type traces struct {
	ix      *archive.Index
	groups  [][]*archive.File
	options archive.Options
	dest    destination
	sum     *summary
	shift   bool

	mu      sync.Mutex
	next    int                // the group to begin
	left    int                // files that have not been read
	reports [][]archive.Report // by group
	added   int                // groups whose reports are in the summary: it has them in their order
	err     error              // why no other group is to begin
	while   string             // what was interrupted, if something was,
	at      string             // with which file
}

// project replays the chosen files, so many traces at once. What was read when it is interrupted is written still.
func (t *traces) project(ctx context.Context, jobs int) error {
	for _, g := range t.groups {
		t.left += len(g)
	}
	t.reports = make([][]archive.Report, len(t.groups))
	var workers sync.WaitGroup
	for range min(jobs, len(t.groups)) {
		workers.Go(func() {
			for i, ok := t.begin(); ok; i, ok = t.begin() {
				reports, interrupted := t.projectOne(ctx, t.groups[i])
				t.end(ctx, i, reports, interrupted, t.dest.flush(ctx))
			}
		})
	}
	workers.Wait()
	switch cause := context.Cause(ctx); {
	case t.while == "":
		return t.err
	case takesNoMore(cause):
		return ended(cause, t.left)
	}
	return t.sum.interrupt(t.while, t.at, t.left)
}

// begin returns the next group, unless there is none, or none is wanted any more.
func (t *traces) begin() (group int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next == len(t.groups) || t.err != nil || t.while != "" {
		return 0, false
	}
	t.next++
	return t.next - 1, true
}

// projectOne replays the files of one trace.
func (t *traces) projectOne(ctx context.Context, files []*archive.File) (reports []archive.Report, interrupted bool) {
	sink := t.dest.trace()
	var shifted *archive.Shifted
	if t.shift {
		shifted = &archive.Shifted{}
		sink = shifted
	}
	reports = t.ix.ProjectTrace(ctx, files, t.options, sink)
	if shifted != nil {
		shifted.Release(t.dest.trace(), t.options.Now)
	}
	return reports, ctx.Err() != nil
}

// end takes what came of a group: its reports, whether it was interrupted, and the error of writing its trace.
func (t *traces) end(ctx context.Context, group int, reports []archive.Report, interrupted bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if reports == nil {
		reports = []archive.Report{}
	}
	t.reports[group] = reports
	for ; t.added < len(t.groups) && t.reports[t.added] != nil; t.added++ {
		for _, r := range t.reports[t.added] {
			t.sum.add(r)
		}
		t.reports[t.added] = []archive.Report{}
	}
	t.left -= len(reports)
	if t.err != nil || t.while != "" {
		return
	}
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		t.err = &exitError{exitFinding, err}
	case interrupted:
		t.while = "reading"
	case ctx.Err() != nil:
		t.while = "writing the trace of"
	}
	t.at = t.groups[group][0].Path
	if n := len(reports); n > 0 {
		t.at = reports[n-1].File.Path
	}
}
