package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	"go.opentelemetry.io/otel/trace"
)

// What the headers of our sessions say: who writes them, and what is recorded whenever it happens, so that where it is missing it
// did not happen.
var (
	harness = &format.Harness{Name: "example-harness", Version: "1.0"}
	records = []string{format.TypeRun, format.TypeDispatch, format.TypeDecision}
)

// agent does a task in a session.
type agent struct {
	sessions     *otelwrap.Store
	model        *client
	header       format.Header // of the sessions that it creates
	instructions string
	tools        []tool
	// allowed asks a person whether a call may go to its tool. The error is errNobody when there is no answer.
	allowed func(ctx context.Context, c *format.Call) (bool, error)
	out     io.Writer
}

// work does the task of a session, from where the session stands: at its beginning, or where a process that ended has left it. It
// returns the model's answer.
func (a *agent) work(ctx context.Context, s *format.Session, task string) (string, error) {
	done, err := a.begin(ctx, s, task)
	if err != nil {
		return "", err
	}
	if !done {
		err = a.loop(ctx, s)
		reason := "" // what the entries tell: done, or that a person has to be waited for
		switch {
		case ctx.Err() != nil:
			reason = format.ReasonInterrupted
		case err != nil && !errors.Is(err, errNobody):
			reason = format.ReasonError
		}
		err = errors.Join(err, a.endRun(context.WithoutCancel(ctx), s, reason))
	}
	if err != nil {
		return "", err
	}
	return a.answer(s)
}

// begin opens a run, unless the last one has come to an answer. A run that is still open was cut off with its process, and is ended
// first.
func (a *agent) begin(ctx context.Context, s *format.Session, task string) (done bool, err error) {
	if s.Leaf() == "" {
		if err := a.append(ctx, s, a.settings()); err != nil {
			return false, err
		}
	}
	if err := a.endRun(ctx, s, ""); err != nil && !errors.Is(err, format.ErrNoRun) {
		return false, err
	}
	runs, err := s.Runs(s.Leaf())
	if err != nil {
		return false, err
	}
	if n := len(runs); n > 0 && runs[n-1].ComputeReason() == format.ReasonDone {
		return true, nil
	}
	pending, err := s.PendingCalls(s.Leaf())
	if err != nil {
		return false, err
	}
	source := format.SourceInput
	if len(pending) > 0 {
		source = format.SourceResume
	}
	if err := a.append(ctx, s, format.NewRunStart(fmt.Sprintf("run-%d", len(runs)+1), source, "")); err != nil {
		return false, err
	}
	fmt.Fprintf(a.out, "session %s, trace %s\n",
		s.ID(), trace.SpanContextFromContext(a.sessions.RunContext(ctx, s.ID())).TraceID())
	c, err := s.Context(s.Leaf())
	if err != nil || len(c.Items) > 0 {
		return false, err
	}
	return false, a.append(ctx, s, format.NewItem(openresponses.UserText(task)))
}

// loop answers the calls that have no output and asks the model for more, until it makes none.
func (a *agent) loop(ctx context.Context, s *format.Session) error {
	for {
		pending, err := s.PendingCalls(s.Leaf())
		if err != nil {
			return err
		}
		for _, c := range pending {
			if err := a.answerCall(ctx, s, c); err != nil {
				return err
			}
		}
		if err := a.callModel(ctx, s); err != nil {
			return err
		}
		if pending, err = s.PendingCalls(s.Leaf()); err != nil || len(pending) == 0 {
			return err
		}
	}
}

// callModel sends what the session holds to the model, and records what comes back.
func (a *agent) callModel(ctx context.Context, s *format.Session) error {
	c, err := s.Context(s.Leaf())
	if err != nil {
		return err
	}
	req, err := c.Request()
	if err != nil {
		return err
	}
	start := time.Now()
	resp, err := a.model.respond(a.sessions.RunContext(ctx, s.ID()), req)
	if err != nil {
		return fmt.Errorf("calling the model: %w", err)
	}
	if _, err := store.RecordResponse(ctx, a.sessions, s.ID(), &req, resp, time.Since(start)); err != nil {
		return err
	}
	if resp.Error != nil {
		return fmt.Errorf("the model failed: %s", resp.Error.Message)
	}
	return nil
}

// answerCall decides about a call, has its tool do it, and records each step before the next is taken.
func (a *agent) answerCall(ctx context.Context, s *format.Session, c *format.Call) error {
	t, reason, err := a.decide(ctx, s, c)
	if err != nil {
		return err
	}
	output := reason
	if t != nil {
		if output, err = a.handOver(ctx, s, c, t); err != nil {
			return err
		}
	}
	return a.append(ctx, s, format.NewItem(openresponses.NewFunctionCallOutput(c.ID(), output)))
}

// decide returns the tool that a call goes to, or why it goes to none.
func (a *agent) decide(ctx context.Context, s *format.Session, c *format.Call) (t *tool, reason string, err error) {
	decision := func(verdict, by string) *format.DecisionEntry {
		return format.NewDecision(c.ID(), c.Entry.ID, verdict, by)
	}
	for i := range a.tools {
		if a.tools[i].name == c.Name() {
			t = &a.tools[i]
		}
	}
	if t == nil {
		reason = "there is no such tool"
		return nil, reason, a.append(ctx, s, decision(format.VerdictReject, format.ByPolicy).WithReason(reason))
	}
	if !t.approval || c.Decided(format.VerdictProceed) {
		return t, "", nil
	}
	if c.State != format.CallHeld {
		if err := a.append(ctx, s, decision(format.VerdictHold, format.ByPolicy)); err != nil {
			return nil, "", err
		}
	}
	yes, err := a.allowed(ctx, c)
	switch {
	case err != nil:
		return nil, "", err
	case !yes:
		reason = "the user does not allow it"
		return nil, reason, a.append(ctx, s, decision(format.VerdictReject, format.ByHuman).WithReason(reason))
	}
	return t, "", a.append(ctx, s, decision(format.VerdictProceed, format.ByHuman))
}

// handOver hands a call to its tool and returns the output. A call that was with its tool when a process ended is handed over
// once more, which every tool of ours bears.
func (a *agent) handOver(ctx context.Context, s *format.Session, c *format.Call, t *tool) (output string, err error) {
	if t.spawns && len(c.Dispatches) == 0 {
		link := format.NewSubsessionLink(format.SubsessionID(s.ID(), c.ID()), c.ID())
		if err := a.append(ctx, s, link); err != nil {
			return "", err
		}
	}
	if err := a.append(ctx, s, format.NewDispatch(c.ID(), c.Entry.ID)); err != nil {
		return "", err
	}
	fmt.Fprintf(a.out, "calling %s %s\n", printable(c.Name()), printable(c.Args()))
	output, err = t.run(a.sessions.CallContext(ctx, s.ID(), c.ID()), s.ID(), c)
	switch {
	case ctx.Err() != nil: // the call stays open
		return "", context.Cause(ctx)
	case err != nil: // that is for the model to know
		return "error: " + err.Error(), nil
	}
	return output, nil
}

// settings are what every request of a session has in common.
func (a *agent) settings() *format.ConfigEntry {
	req := &openresponses.Request{Model: modelName, Instructions: a.instructions}
	for _, t := range a.tools {
		req.Tools = append(req.Tools, openresponses.FunctionTool{
			Name: t.name, Description: t.description, Parameters: []byte(t.parameters),
		}.Tool())
	}
	return format.ConfigFromRequest(req)
}

// endRun ends the open run. A reason of "" is the one that its entries tell. The error is format.ErrNoRun when none is open.
func (a *agent) endRun(ctx context.Context, s *format.Session, reason string) error {
	end, err := s.EndRun(reason, "")
	if err != nil {
		return err
	}
	return a.append(ctx, s, end)
}

func (a *agent) append(ctx context.Context, s *format.Session, e format.Entry) error {
	_, err := a.sessions.Append(ctx, s.ID(), e)
	return err
}

// answer returns what the model said last.
func (a *agent) answer(s *format.Session) (string, error) {
	c, err := s.Context(s.Leaf())
	if err != nil {
		return "", err
	}
	return c.Items[len(c.Items)-1].Text(), nil
}
