package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/lockfile"
)

// handle is a session that is open for writing.
type handle struct {
	store   *Store
	key     int64
	session *format.Session
	guard   *lockfile.Guard

	mu    sync.Mutex
	lines int64 // in the database, as they were left
	err   error // why nothing more is taken
}

// append puts the line of an entry into the database. It is called in the order of the entries.
func (h *handle) append(more []byte, e format.Entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return h.err
	}
	ctx := context.Background() // what has come this far is not given up
	rows := split(more)
	if err := h.store.isThere(); err != nil {
		h.err = err
		return err
	}
	err := inTransaction(ctx, h.store.write, func(tx *sql.Conn) error {
		name, successor := described(e)
		result, err := tx.ExecContext(ctx, `UPDATE sessions SET lines = lines + ?, size = size + ?, modified = ?,
			name = coalesce(?, name), successor = coalesce(?, successor) WHERE key = ? AND id = ? AND lines = ?`,
			len(rows), len(more), time.Now().UnixNano(), name, successor, h.key, h.session.ID(), h.lines)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n != 1 {
			return errors.Join(ErrNotOwner, err)
		}
		return insertLines(ctx, tx, h.key, h.lines, rows)
	})
	switch {
	case errors.Is(err, ErrNotOwner):
		h.err = fmt.Errorf("session %.100s: %w; Open reads it anew", h.session.ID(), err)
		return h.err
	case err != nil:
		return fmt.Errorf("session %.100s: %w", h.session.ID(), err)
	}
	h.lines += int64(len(rows))
	return nil
}

// described returns the display name and the successor that an entry gives its session, where it does.
func described(e format.Entry) (name, successor any) {
	switch e := e.(type) {
	case *format.InfoEntry:
		if e.Name != "" {
			name = e.Name
		}
	case *format.LinkEntry:
		if e.Rel == format.RelContinuedIn {
			successor = e.Session
		}
	}
	return name, successor
}

// split cuts text into lines, each with its line feed.
func split(text []byte) (rows [][]byte) {
	for line := range bytes.Lines(text) {
		rows = append(rows, line)
	}
	return rows
}

func insertLines(ctx context.Context, tx *sql.Conn, key, from int64, rows [][]byte) error {
	for i, line := range rows {
		if _, err := tx.ExecContext(ctx, "INSERT INTO lines (session, n, line) VALUES (?, ?, ?)", key, from+int64(i), line); err != nil {
			return err
		}
	}
	return nil
}

// failed returns why nothing more is taken.
func (h *handle) failed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// close gives the session up. Why is what later appends are told.
func (h *handle) close(why error) error {
	h.mu.Lock()
	h.err = fmt.Errorf("session %.100s: %w", h.session.ID(), why)
	h.mu.Unlock()
	return h.guard.Release()
}
