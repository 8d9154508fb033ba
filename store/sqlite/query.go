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
	h := &handle{db: s.write, session: session}
	rows := split(text)
	err := inTransaction(ctx, s.write, func(tx *sql.Tx) error {
		var taken int
		header := session.Header()
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sessions WHERE id = ?", header.ID).Scan(&taken); err != nil {
			return err
		}
		if taken > 0 {
			return exists(header.ID)
		}
		result, err := tx.ExecContext(ctx, `INSERT INTO sessions (id, created, cwd, parent, name, successor, size, lines, modified)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, header.ID, header.CreatedAt.UnixNano(), header.CWD, header.ParentSession,
			session.Name(), session.SupersededBy(), len(text), len(rows), time.Now().UnixNano())
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

// load reads a session.
func (s *Store) load(ctx context.Context, id string) (*handle, error) {
	key, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	h := &handle{db: s.write, key: key}
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(s.lines(ctx, key, func(line []byte) error {
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

// lines gives the lines of a session, each with its line feed.
func (s *Store) lines(ctx context.Context, key int64, give func(line []byte) error) error {
	rows, err := s.read.QueryContext(ctx, "SELECT line FROM lines WHERE session = ? ORDER BY n", key)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var line sql.RawBytes
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if err := give(line); err != nil {
			return err
		}
	}
	return rows.Err()
}

// remove deletes a session with its lines.
func (s *Store) remove(ctx context.Context, id string) error {
	result, err := s.write.ExecContext(context.WithoutCancel(ctx), "DELETE FROM sessions WHERE id = ?", id)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(noSession(id), err)
	}
	return nil
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
	add := func(wanted bool, condition string, arg any) {
		if wanted {
			where, args = append(where, condition), append(args, arg)
		}
	}
	add(f.CWD != "", "cwd = ?", f.CWD)
	add(f.ParentSession != "", "parent = ?", f.ParentSession)
	add(!f.After.IsZero(), "created > ?", f.After.UnixNano())
	add(!f.Before.IsZero(), "created < ?", f.Before.UnixNano())
	add(f.Current, "successor = ?", "")
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	rows, err := s.read.QueryContext(ctx, `SELECT name, successor, size, modified, line FROM sessions JOIN lines ON session = key AND n = 0
		WHERE `+strings.Join(where, " AND ")+" ORDER BY created DESC, id LIMIT ?", append(args, limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var errs []error
	for rows.Next() {
		var one store.Summary
		var modified int64
		var line sql.RawBytes
		if err := rows.Scan(&one.Name, &one.SupersededBy, &one.Size, &modified, &line); err != nil {
			return all, err
		}
		h, err := format.DecodeHeader(bytes.TrimSpace(line))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		one.Header, one.Modified = *h, time.Unix(0, modified)
		all = append(all, one)
	}
	return all, errors.Join(append(errs, rows.Err())...)
}
