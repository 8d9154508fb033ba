package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrNewer: the database is of a later version than this package knows.
var ErrNewer = errors.New("the database is of a later version")

// versions bring a database from each version to the next. They are never changed, only added to.
var versions = []string{
	`CREATE TABLE sessions (
		key       INTEGER PRIMARY KEY,
		id        TEXT NOT NULL UNIQUE,
		created   INTEGER NOT NULL, -- nanoseconds since 1970
		cwd       TEXT NOT NULL,
		parent    TEXT NOT NULL,    -- the session that it comes from
		name      TEXT NOT NULL DEFAULT '',
		successor TEXT NOT NULL DEFAULT '',
		size      INTEGER NOT NULL, -- of all lines, in bytes
		lines     INTEGER NOT NULL,
		modified  INTEGER NOT NULL  -- nanoseconds since 1970
	) STRICT;
	CREATE INDEX sessions_by_time ON sessions (created DESC, id);
	CREATE INDEX sessions_by_folder ON sessions (cwd, created DESC, id);
	CREATE INDEX sessions_by_parent ON sessions (parent, created DESC, id) WHERE parent <> '';
	CREATE TABLE lines (
		session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
		n       INTEGER NOT NULL, -- from 0, which has the header
		line    BLOB NOT NULL,    -- with its line feed, if it has one
		PRIMARY KEY (session, n)
	) STRICT, WITHOUT ROWID;`,
}

// migrate brings the database to the newest version.
func migrate(ctx context.Context, db *sql.DB) error {
	return inTransaction(ctx, db, func(tx *sql.Tx) error {
		var at int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&at); err != nil {
			return err
		}
		if at > len(versions) {
			return fmt.Errorf("%w: %d, and %d is the latest that is known", ErrNewer, at, len(versions))
		}
		for ; at < len(versions); at++ {
			if _, err := tx.ExecContext(ctx, versions[at]); err != nil {
				return fmt.Errorf("bring the database to version %d: %w", at+1, err)
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", at))
		return err
	})
}

// inTransaction does something whole or not at all. Once it has begun, the context does not matter.
func inTransaction(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
