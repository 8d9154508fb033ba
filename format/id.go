package format

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"

	"github.com/google/uuid"
)

// NewSessionID returns a UUID of version 7 in its canonical form. Its first 48 bits are the time in milliseconds, so that ids
// sort by when they were made.
func NewSessionID() string { return uuid.Must(uuid.NewV7()).String() }

// SubsessionID derives the id of the session that a call spawns (A.13): a UUID of version 5 under the nil namespace over
// "<parent session id>/<call id>", so that whoever has the one knows the other before it exists.
func SubsessionID(parentSession, callID string) string {
	return uuid.NewSHA1(uuid.Nil, []byte(parentSession+"/"+callID)).String()
}

// SubsessionRetryID derives the id of the session that another attempt at a call spawns (C, 0.5); the first retry is 1.
func SubsessionRetryID(parentSession, callID string, attempt int) string {
	return SubsessionID(parentSession, callID+"/"+strconv.Itoa(attempt))
}

// NewEntryID returns a random id for an entry: eight hexadecimal digits. [Session.Append] makes ids that are new in their
// file by itself.
func NewEntryID() string { return randomID(4) }

func randomID(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
