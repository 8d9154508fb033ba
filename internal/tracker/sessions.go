package tracker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/lines"
	"github.com/sessionspan/sessionspan/internal/source"
)

// reconsider looks again at a file that was no session: its first line may be another one now.
func (t *Tracker) reconsider(ctx context.Context, u *unit) {
	if u.refused == nil {
		return
	}
	t.introduceBy(ctx, u)
	if u.session != nil {
		u.refused = nil
	}
}

// introduceBy reads the header of a file.
func (t *Tracker) introduceBy(ctx context.Context, u *unit) {
	var decoder source.Decoder
	var f *source.Format
	var detector source.Detector
	err := u.file.Peek(ctx, func(l lines.Line) bool {
		if l.Blank() {
			return true
		}
		if decoder == nil {
			var err error
			if f, err = t.formatOf(&detector, l); f == nil {
				return err == nil // what is wrong is told when the file is read
			}
			decoder = f.New(u.place(true))
		}
		if err := decoder.Decode(l, func(ev *activity.Event) {
			if s, ok := ev.Fact.(*activity.Session); ok && u.session == nil {
				u.session = s
			}
		}); err != nil {
			damage, ok := errors.AsType[*format.DamageError](err)
			return ok && u.session == nil && !f.Ends(damage)
		}
		return u.session == nil
	})
	if err == nil && u.session != nil {
		t.introduce(u)
	}
}

// introduce has other sessions know of one.
func (t *Tracker) introduce(u *unit) {
	spawner := ""
	if s := u.session.Spawn; s != nil {
		spawner = s.Session
	}
	if _, have := t.spawners[u.session.ID]; !have {
		t.spawners[u.session.ID] = spawner
	}
	key := u.session.Format + "\x00" + u.session.ID
	if others := t.sessions[key]; len(others) > 0 && others[0].file.Path != u.file.Path {
		t.o.Problem(u.file.Path, fmt.Errorf("%w: %s has it as well", ErrCopy, others[0].file.Path), true)
	}
	t.sessions[key] = append(t.sessions[key], u)
}

// ErrCopy: two files have the same session. Both are read; what they agree in has the same ids.
var ErrCopy = errors.New("a copy of a session")

// formatOf finds out the format of a file by its first lines; nil, without an error, where the next one may tell.
func (t *Tracker) formatOf(d *source.Detector, l lines.Line) (*source.Format, error) {
	if t.kind != nil {
		return t.kind, nil
	}
	return d.Detect(l)
}

// Ancestor implements [projection.Resolver].
func (t *Tracker) Ancestor(id string) (parent string, known bool) {
	parent, known = t.spawners[id]
	return parent, known
}

// forget has other sessions not know of one any more, but for who spawned it.
func (t *Tracker) forget(u *unit) {
	if u.session == nil {
		return
	}
	t.o.Forget(u.session.ID)
	key := u.session.Format + "\x00" + u.session.ID
	t.sessions[key] = slices.DeleteFunc(t.sessions[key], func(other *unit) bool { return other == u })
	if len(t.sessions[key]) == 0 {
		delete(t.sessions, key)
	}
}

// askAgain has the files be read that waited for what another one says.
func (t *Tracker) askAgain() {
	for u := range t.awaiting {
		delete(t.awaiting, u)
		if !u.file.Gone {
			t.queue(u)
		}
	}
}

// failed notes that a file cannot be read. One that is no session is left alone, until its beginning is another; anything else may be over
// the next time.
func (t *Tracker) failed(u *unit, err error) {
	_, unknown := errors.AsType[*source.UnknownFormatError](err)
	_, damaged := errors.AsType[*format.DamageError](err)
	if unknown || damaged && (u.state == nil || u.state.projector.Session() == nil) {
		u.refused = err
		u.drop()
		t.follower.Restart(u.file)
		if source.Beside(u.file.Path) {
			return
		}
	}
	t.say(u, err)
}

// say tells what is wrong with a file, unless that was told last.
func (t *Tracker) say(u *unit, err error) {
	if text := err.Error(); text != u.said {
		u.said = text
		t.o.Problem(u.file.Path, err, false)
	}
}
