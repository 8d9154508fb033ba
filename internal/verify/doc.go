// Package verify says of a session file what is not as its format asks: damage found in reading it, and what
// [format.Session.Check] finds.
package verify
