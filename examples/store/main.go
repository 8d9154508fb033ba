// Command store records a session with tools, a branch and a compaction, resumes it as a later process would, and shows what is
// left: in memory, in a file, and in a database.
//
//	go run ./examples/store            # each of them, in a folder that is removed
//	go run ./examples/store DIR        # in that folder, to look at the files
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/jsonl"
	"github.com/sessionspan/sessionspan/store/sqlite"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "store:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	dir := ""
	if len(args) > 0 {
		dir = args[0]
	} else {
		temp, err := os.MkdirTemp("", "sessions-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir = temp
	}
	memory := store.NewMemory()
	for _, kind := range []struct {
		name string
		open func() (store.Store, func() error, error) // a process begins
	}{
		{"memory", func() (store.Store, func() error, error) { return memory, func() error { return nil }, nil }},
		{"files", func() (store.Store, func() error, error) {
			s, err := jsonl.Open(filepath.Join(dir, "files"), jsonl.WithSync(jsonl.OnResponse))
			return s, s.Close, err
		}},
		{"database", func() (store.Store, func() error, error) {
			s, err := sqlite.Open(ctx, filepath.Join(dir, "sessions.db"))
			if err != nil {
				return nil, nil, err
			}
			return s, s.Close, nil
		}},
	} {
		s, done, err := kind.open()
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		id, err := record(ctx, s)
		if err = errors.Join(err, done()); err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		if s, done, err = kind.open(); err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		text, err := resume(ctx, s, id)
		if err = errors.Join(err, done()); err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		fmt.Printf("%-9s %s\n", kind.name+":", text)
	}
	return nil
}

// record is the first process: it works on a request, and stops while a call is with its tool.
func record(ctx context.Context, s store.Store) (id string, err error) {
	session, err := s.Create(ctx, format.Header{
		Harness: &format.Harness{Name: "example", Version: "1.0"}, CWD: "/home/me/project", Records: []string{format.TypeRun, format.TypeDispatch},
	})
	if err != nil {
		return "", err
	}
	w := &writer{ctx: ctx, store: s, session: session}

	w.append(format.ConfigFromRequest(&openresponses.Request{Model: "gpt-5", Instructions: "Be brief."}))
	w.append(format.NewRunStart("run-1", format.SourceInput, ""))
	w.append(format.NewItem(openresponses.UserText("Do the tests pass?")))
	question := session.Leaf()
	w.model("resp_1", openresponses.NewFunctionCall("call_1", "bash", `{"cmd":"go test"}`))
	w.tool("call_1", "ok")
	w.model("resp_2", openresponses.AssistantText("They do."))
	w.append(format.NewRunEnd("run-1", format.ReasonDone, "", nil))

	// The same question once more, on a branch: the leaf moves back, and what is appended goes on from there.
	w.branch(question)
	w.model("resp_3", openresponses.AssistantText("Let me see with the race detector."))

	// What came before the last item of the context is folded into a summary.
	if w.err == nil {
		compaction, err := session.CompactKeeping(1, openresponses.UserText("The user asked whether the tests pass."))
		if err != nil {
			return "", err
		}
		w.append(compaction)
	}
	w.model("resp_4", openresponses.NewFunctionCall("call_2", "bash", `{"cmd":"go test -race"}`))
	call := session.Leaf()
	w.append(format.NewDispatch("call_2", call)) // on disk before the tool runs, since the header promises it
	return session.ID(), w.err
}

// resume is a later process: it finds what is left to do, does it, and lists what the store has.
func resume(ctx context.Context, s store.Store, id string) (string, error) {
	session, err := s.Open(ctx, id)
	if err != nil {
		return "", err
	}
	pending, err := session.PendingCalls(session.Leaf())
	if err != nil {
		return "", err
	}
	w := &writer{ctx: ctx, store: s, session: session}
	for _, c := range pending {
		w.append(format.NewItem(openresponses.NewFunctionCallOutput(c.ID(), "ok, no races")))
	}
	w.model("resp_5", openresponses.AssistantText("They pass, without races."))
	if end, err := session.EndRun("", ""); w.err == nil { // its reason is what happened in it
		w.err = err
		w.append(end)
	}
	w.append(format.NewInfo("Do the tests pass?"))
	if w.err != nil {
		return "", w.err
	}
	for _, leaf := range session.Leaves() {
		if err := session.VerifyRecords(leaf); err != nil {
			return "", err
		}
	}
	text := ""
	for one, err := range s.List(ctx, store.ListFilter{CWD: "/home/me/project", WithNames: true, Limit: 1}) {
		if err != nil {
			return "", err
		}
		text = fmt.Sprintf("%q, %d entries, %d branches, %d call taken up again, %d bytes", one.Name, session.Len(), len(session.Leaves()), len(pending), one.Size)
	}
	return text, nil
}

// writer appends to a session, until something fails.
type writer struct {
	ctx     context.Context
	store   store.Store
	session *format.Session
	err     error
}

func (w *writer) append(e format.Entry) {
	if w.err == nil {
		_, w.err = w.store.Append(w.ctx, w.session.ID(), e)
	}
}

// model records a model call with its output, and the hash of the request that it answers.
func (w *writer) model(id string, output openresponses.Item) {
	if w.err != nil {
		return
	}
	c, err := w.session.Context(w.session.Leaf())
	if err != nil {
		w.err = err
		return
	}
	req, err := c.Request() // what is sent to the model
	if err != nil {
		w.err = err
		return
	}
	_, w.err = store.RecordResponse(w.ctx, w.store, w.session.ID(), &req, &openresponses.Response{
		ID: id, Model: "gpt-5-2026-08-01", Status: openresponses.StatusCompleted, Output: []openresponses.Item{output},
	}, 800*time.Millisecond)
}

// tool hands a call over and records what came back.
func (w *writer) tool(call, output string) {
	w.append(format.NewDispatch(call, w.session.Leaf()))
	w.append(format.NewItem(openresponses.NewFunctionCallOutput(call, output)))
}

// branch moves the leaf to an earlier entry, and marks it, so that it is there after a restart as well.
func (w *writer) branch(entry string) {
	if w.err != nil {
		return
	}
	if w.err = w.session.Branch(entry); w.err != nil {
		return
	}
	mark, err := w.session.MarkLeaf()
	if err != nil {
		w.err = err
		return
	}
	w.append(mark)
}
