package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
)

// find returns the key of a session.
func (s *Store) find(ctx context.Context, id string) (key int64, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT key FROM sessions WHERE id = ?", id).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		err = noSession(id)
	}
	return key, err
}

// insert puts a session with its lines into the database.
func (s *Store) insert(ctx context.Context, session *format.Session, text []byte) (*handle, error) {
	h := &handle{store: s, session: session}
	rows := split(text)
	header := session.Header()
	err := inTransaction(ctx, s.write, func(tx *sql.Conn) error {
		var taken int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sessions WHERE id = ?", header.ID).Scan(&taken); err != nil {
			return err
		}
		if taken > 0 {
			return exists(header.ID)
		}
		result, err := tx.ExecContext(ctx, `INSERT INTO sessions (id, created, nanos, cwd, parent, header, name, successor, size, lines,
			modified) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, header.ID, header.CreatedAt.Unix(), header.CreatedAt.Nanosecond(),
			header.CWD, header.ParentSession, headerLine(rows), session.Name(), session.SupersededBy(), len(text), len(rows), time.Now().UnixNano())
		if err != nil {
			return err
		}
		if h.key, err = result.LastInsertId(); err != nil {
			return err
		}
		return insertLines(ctx, tx, h.key, 0, rows)
	})
	h.lines = int64(len(rows))
	return h, err
}

// headerLine returns the line of the header, of which files may have blank lines and a byte order mark in front.
func headerLine(rows [][]byte) []byte {
	for _, line := range rows {
		if line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))); len(line) > 0 {
			return line
		}
	}
	return nil
}

// load reads a session.
func (s *Store) load(ctx context.Context, id string) (*handle, error) {
	key, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	h := &handle{store: s, key: key}
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(s.lines(ctx, id, func(line []byte) error {
			h.lines++
			_, err := w.Write(line)
			return err
		}))
	}()
	h.session, err = format.ReadSession(r)
	r.CloseWithError(io.ErrClosedPipe)
	if err != nil {
		return nil, fmt.Errorf("session %.100s: %w", id, err)
	}
	return h, nil
}

// lines gives the lines of a session, each with its line feed, as they were at one moment.
func (s *Store) lines(ctx context.Context, id string, give func(line []byte) error) error {
	rows, err := s.read.QueryContext(ctx, "SELECT line FROM lines JOIN sessions ON session = key WHERE id = ? ORDER BY n", id)
	if err != nil {
		return s.closed(err)
	}
	defer rows.Close()
	none := true
	for rows.Next() {
		none = false
		var line sql.RawBytes
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if err := give(line); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil || !none {
		return err
	}
	return noSession(id)
}

// closed says of an error of the driver that the store was closed, if it was.
func (s *Store) closed(err error) error {
	if err != nil && s.slots.Closed() {
		return fmt.Errorf("store %s: %w", s.path, ErrClosed)
	}
	return err
}

// remove deletes a session with its lines.
func (s *Store) remove(ctx context.Context, id string) error {
	if err := s.isThere(); err != nil {
		return err
	}
	return inTransaction(ctx, s.write, func(tx *sql.Conn) error {
		result, err := tx.ExecContext(context.WithoutCancel(ctx), "DELETE FROM sessions WHERE id = ?", id)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(noSession(id), err)
		}
		return nil
	})
}

// List implements [store.Store]. Names and successors are always there.
func (s *Store) List(ctx context.Context, f store.ListFilter) iter.Seq2[store.Summary, error] {
	return func(yield func(store.Summary, error) bool) {
		all, err := s.summaries(ctx, f)
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
		if err != nil {
			yield(store.Summary{}, err)
		}
	}
}

// summaries reads what the rows of the sessions say that pass the filter, and their headers.
func (s *Store) summaries(ctx context.Context, f store.ListFilter) (all []store.Summary, err error) {
	where, args := []string{"1"}, []any{}
	add := func(wanted bool, condition string, values ...any) {
		if wanted {
			where, args = append(where, condition), append(args, values...)
		}
	}
	add(f.CWD != "", "cwd = ?", f.CWD)
	add(f.ParentSession != "", "parent = ?", f.ParentSession)
	add(!f.After.IsZero(), "(created, nanos) > (?, ?)", f.After.Unix(), f.After.Nanosecond())
	add(!f.Before.IsZero(), "(created, nanos) < (?, ?)", f.Before.Unix(), f.Before.Nanosecond())
	add(f.Current, "successor = ?", "")
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	rows, err := s.read.QueryContext(ctx, `SELECT id, name, successor, size, modified, header FROM sessions
		WHERE `+strings.Join(where, " AND ")+" ORDER BY created DESC, nanos DESC, id LIMIT ?", append(args, limit)...)
	if err != nil {
		return nil, s.closed(err)
	}
	defer rows.Close()
	var errs []error
	for rows.Next() {
		var one store.Summary
		var id string
		var modified int64
		var line sql.RawBytes
		if err := rows.Scan(&id, &one.Name, &one.SupersededBy, &one.Size, &modified, &line); err != nil {
			return all, err
		}
		h, err := format.DecodeHeader(line)
		if err != nil {
			errs = append(errs, fmt.Errorf("session %.100s: %w", id, err))
			continue
		}
		one.Header, one.Modified = *h, time.Unix(0, modified)
		all = append(all, one)
	}
	return all, errors.Join(append(errs, rows.Err())...)
}

// Header implements [store.HeaderReader]. It locks nothing.
func (s *Store) Header(ctx context.Context, id string) (*format.Header, error) {
	var line []byte
	switch err := s.read.QueryRowContext(ctx, "SELECT header FROM sessions WHERE id = ?", id).Scan(&line); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, noSession(id)
	case err != nil:
		return nil, s.closed(err)
	}
	h, err := format.DecodeHeader(line)
	if err != nil {
		return nil, fmt.Errorf("session %.100s: %w", id, err)
	}
	return h, nil
}
