package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/sessionspan/sessionspan/internal/tracker"
	"github.com/sessionspan/sessionspan/internal/waterfall"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// board shows spans as they end, a line each, and on a terminal, below them, what is open.
type board struct {
	out  io.Writer
	w    *terminal.Writer
	look terminal.Look
	live bool      // it is a terminal, on which what is open can be drawn anew
	from time.Time // what ended before is not shown

	mu    sync.Mutex
	open  map[spanKey]*projection.Span
	of    *projection.Session // whose the last line was
	day   string              // of the last line
	drawn int                 // rows of open work that are on the screen
	err   error
}

// spanKey tells a span from others, as the session may be read again before it has ended.
type spanKey struct {
	trace trace.TraceID
	span  trace.SpanID
}

// maxOpen is how many rows of open work are shown.
const maxOpen = 8

// show follows the files and shows what happens.
func (w *watch) show(ctx context.Context, o tracker.Options) error {
	b := &board{
		out: w.out, w: terminal.NewWriter(w.out, w.out), look: terminal.LookOf(w.out, os.Environ()), live: terminal.Is(w.out) && !w.once,
		open: map[spanKey]*projection.Span{}, from: w.from,
	}
	if w.width > 0 {
		b.look.Width = w.width
	}
	o.Sink, o.Forget = b, b.forget
	o.Problem = w.problems(func(text string) { b.above(func() { fmt.Fprintln(w.err, text) }) })
	if !w.once {
		fmt.Fprintln(w.err, "watching; end with Ctrl-C")
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var drawing sync.WaitGroup
	if b.live {
		drawing.Go(func() { b.redraw(ctx) })
	}
	err := w.follow(ctx, o, showing{b, stop})
	stop(nil)
	drawing.Wait()
	b.above(func() {})
	if b.err != nil {
		return outputError(ctx, b.err)
	}
	return err
}

// showing is the consumer of what is shown: it has been, and ends the watch when nobody can see it.
type showing struct {
	*board
	stop context.CancelCauseFunc
}

// Consume implements [tracker.Consumer].
func (s showing) Consume(context.Context, []*projection.Span) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawOpen()
	if err := s.w.Flush(); err != nil && s.err == nil {
		s.err = err
		s.stop(err)
	}
	return nil
}

// redraw has what is open show how long it is.
func (b *board) redraw(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			b.mu.Lock()
			b.erase()
			b.drawOpen()
			_ = b.w.Flush() // its error stays, and is told with the next line
			b.mu.Unlock()
		}
	}
}

// above has something be written where the open work is not.
func (b *board) above(write func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	_ = b.w.Flush()
	write()
}

// Start implements [projection.Sink].
func (b *board) Start(s *projection.Span) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[spanKey{s.TraceID, s.SpanID}] = s
}

// End implements [projection.Sink].
func (b *board) End(s *projection.Span) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, spanKey{s.TraceID, s.SpanID})
	b.erase()
	if s.Type == projection.TypeSession || s.End.Before(b.from) { // the heading says the one
		return
	}
	if b.of != s.Session {
		b.of = s.Session
		b.line(b.heading(s.Session))
	}
	if day := s.End.Local().Format(time.DateOnly); day != b.day {
		if b.day != "" || day != time.Now().Format(time.DateOnly) {
			b.line([]terminal.Piece{terminal.Faint.Piece(day)})
		}
		b.day = day
	}
	b.line(b.row(s))
}

// forget lets go of what is open in a session of which nothing more will be heard.
func (b *board) forget(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.open, func(_ spanKey, s *projection.Span) bool { return s.Session.ID == session })
}

// heading names the session that the lines below it are of.
func (b *board) heading(s *projection.Session) []terminal.Piece {
	facts := []string{strings.TrimSpace(s.Harness + " " + s.Version), s.CWD}
	if s.Root != s.ID {
		facts = append(facts, "below "+s.Root)
	}
	line := []terminal.Piece{waterfall.Glyph(b.look, projection.TypeSession, false), terminal.Plain.Piece(" "), terminal.Strong.Piece(b.look.Text(s.ID))}
	for _, fact := range facts {
		if fact != "" {
			line = append(line, terminal.Faint.Piece(b.look.Dot()+b.look.Text(fact)))
		}
	}
	return line
}

// row says what a span was: when it ended, how long it took, and what came of it.
func (b *board) row(s *projection.Span) []terminal.Piece {
	failed := s.Status.Code == codes.Error
	took := terminal.Duration(s.End.Sub(s.Start))
	if s.End.Sub(s.Start) <= 2*time.Microsecond { // a moment
		took = ""
	}
	line := []terminal.Piece{
		terminal.Faint.Piece(s.End.Local().Format(time.TimeOnly)), terminal.Plain.Piece(fmt.Sprintf("%8s ", took)),
		waterfall.Glyph(b.look, s.Type, failed), terminal.Plain.Piece(" " + b.look.Text(strings.TrimPrefix(s.Name, names.Namespace))),
	}
	failure, state, detail := waterfall.Words(s)
	text := func(key attribute.Key) string { return s.Attribute(key).AsString() }
	var notes []string
	switch s.Type {
	case projection.TypeChat:
		notes = append(notes, b.tokens(s), text(names.ChatPurpose), state)
	case projection.TypeRun:
		notes = append(notes, b.tokens(s), state)
	case projection.TypeTool:
		if state != names.StateCompleted {
			notes = append(notes, state)
		}
		if wait := s.Attribute(names.ApprovalWait).AsInt64(); wait > 0 {
			notes = append(notes, "waited "+terminal.Duration(time.Duration(wait)*time.Millisecond))
		}
	case projection.TypeApproval:
		notes = append(notes, text(names.ApprovalTool), text(names.ApprovalVerdict))
	case projection.TypeEvent:
		notes = append(notes, detail)
	}
	if failed && !slices.Contains(notes, failure) {
		notes = append(notes, failure)
	}
	ink := terminal.Faint
	if failed {
		ink = terminal.Fail
	}
	for _, note := range notes {
		if note != "" {
			line = append(line, ink.Piece("  "+b.look.Text(note)))
		}
	}
	return line
}

func (b *board) tokens(s *projection.Span) string {
	count := func(key attribute.Key) *int64 {
		v := s.Attribute(key)
		if v.Type() != attribute.INT64 {
			return nil
		}
		n := v.AsInt64()
		return &n
	}
	return b.look.Tokens(count(names.InputTokens), count(names.OutputTokens), s.Attribute(names.LowerBound).AsBool())
}

// line writes one line.
func (b *board) line(pieces []terminal.Piece) {
	if b.live || b.look.Width > 0 {
		pieces = b.look.Fit(pieces, b.look.Columns())
	}
	_, _ = b.w.WriteString(b.look.Line(pieces) + "\n") // its error stays, and ends the watch with the next batch
}

// erase takes the open work off the screen.
func (b *board) erase() {
	if b.drawn == 0 {
		return
	}
	_ = b.w.Flush()
	fmt.Fprintf(b.out, "\x1b[%dA\x1b[J", b.drawn)
	b.drawn = 0
}

// drawOpen draws what is open, the oldest first.
func (b *board) drawOpen() {
	if !b.live || b.drawn > 0 || len(b.open) == 0 {
		return
	}
	list := make([]*projection.Span, 0, len(b.open))
	for _, s := range b.open {
		list = append(list, s)
	}
	slices.SortFunc(list, func(x, y *projection.Span) int {
		return cmp.Or(x.Start.Compare(y.Start), strings.Compare(x.Name, y.Name))
	})
	hidden := max(len(list)-maxOpen, 0)
	for _, s := range list[hidden:] {
		b.line([]terminal.Piece{
			terminal.Faint.Piece("    open"), terminal.Plain.Piece(fmt.Sprintf("%8s ", terminal.Duration(time.Since(s.Start)))),
			waterfall.Glyph(b.look, s.Type, false), terminal.Plain.Piece(" " + b.look.Text(s.Name)),
			terminal.Faint.Piece("  " + b.look.Text(s.Session.ID)),
		})
		b.drawn++
	}
	if hidden > 0 {
		b.line([]terminal.Piece{terminal.Faint.Piece(fmt.Sprintf("    and %d more", hidden))})
		b.drawn++
	}
}
