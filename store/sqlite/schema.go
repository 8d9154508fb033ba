package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sessionspan/sessionspan/store"
)

// What a database can be that is none of ours.
var (
	// ErrNewer: the database is of a later version than this package knows.
	ErrNewer = errors.New("the database is of a later version")
	// ErrForeign: the database is of another program.
	ErrForeign = errors.New("the database is of another program")
)

// applicationID is what SQLite has in the header of our databases ("sspa").
const applicationID = 0x73737061

// versions bring a database from each version to the next. They are never changed, only added to.
var versions = []string{
	`CREATE TABLE sessions (
		key       INTEGER PRIMARY KEY AUTOINCREMENT, -- which is never used again
		id        TEXT NOT NULL UNIQUE,
		created   INTEGER NOT NULL, -- seconds since 1970
		nanos     INTEGER NOT NULL, -- and what is left of them
		cwd       TEXT NOT NULL,
		parent    TEXT NOT NULL,    -- the session that it comes from
		header    BLOB NOT NULL,    -- its line, without a line feed or what stands before it
		name      TEXT NOT NULL DEFAULT '',
		successor TEXT NOT NULL DEFAULT '',
		size      INTEGER NOT NULL, -- of all lines, in bytes
		lines     INTEGER NOT NULL,
		modified  INTEGER NOT NULL  -- nanoseconds since 1970
	) STRICT;
	CREATE INDEX sessions_by_time ON sessions (created DESC, nanos DESC, id);
	CREATE INDEX sessions_by_folder ON sessions (cwd, created DESC, nanos DESC, id);
	CREATE INDEX sessions_by_parent ON sessions (parent, created DESC, nanos DESC, id) WHERE parent <> '';
	CREATE TABLE lines (
		session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
		n       INTEGER NOT NULL, -- from 0
		line    BLOB NOT NULL,    -- with its line feed, if it has one
		PRIMARY KEY (session, n)
	) STRICT, WITHOUT ROWID;`,
}

// migrate brings the database to the newest version. One that is, is only read.
func migrate(ctx context.Context, db *sql.DB) error {
	if at, err := version(ctx, db); err != nil || at == len(versions) {
		return err
	}
	return inTransaction(ctx, db, func(tx *sql.Conn) error {
		at, err := version(ctx, tx)
		if err != nil {
			return err
		}
		for ; at < len(versions); at++ {
			if _, err := tx.ExecContext(ctx, versions[at]); err != nil {
				return fmt.Errorf("bring the database to version %d: %w", at+1, err)
			}
		}
		for name, value := range map[string]int{"user_version": at, "application_id": applicationID} {
			if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA %s = %d", name, value)); err != nil {
				return err
			}
		}
		return nil
	})
}

// querier is a database, or a connection to one.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version returns the version of the database, 0 for one that is empty.
func version(ctx context.Context, db querier) (at int, err error) {
	var application, tables int
	for query, to := range map[string]*int{
		"PRAGMA user_version": &at, "PRAGMA application_id": &application, "SELECT count(*) FROM sqlite_master": &tables,
	} {
		if err := db.QueryRowContext(ctx, query).Scan(to); err != nil {
			return 0, err
		}
	}
	switch {
	case tables == 0 && at == 0 && application == 0:
		return 0, nil
	case application != applicationID || at < 1:
		return 0, ErrForeign
	case at > len(versions):
		return 0, fmt.Errorf("%w: %d, and %d is the latest that is known", ErrNewer, at, len(versions))
	}
	return at, nil
}

// inTransaction does something whole or not at all. Once it has begun, the context does not matter.
func inTransaction(ctx context.Context, db *sql.DB, do func(*sql.Conn) error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return busy(err)
	}
	ctx = context.WithoutCancel(ctx)
	if err = do(conn); err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		_, rerr := conn.ExecContext(ctx, "ROLLBACK")
		if e, ok := errors.AsType[*sqlite.Error](rerr); ok && e.Code() == sqlite3.SQLITE_ERROR { // it has rolled back by itself
			rerr = nil
		}
		return errors.Join(busy(err), rerr)
	}
	return nil
}

// busy says of an error that another process has been writing for too long, if it has.
func busy(err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		return fmt.Errorf("%w: another process has been writing to the database for %d ms: %w", store.ErrSessionLocked, patience, err)
	}
	return err
}
