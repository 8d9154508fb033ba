// Package store records sessions.
//
// [RecordResponse] writes one model call to a session, in the order and with the hash that the format asks for, through
// anything that can append:
//
//	_, err := store.RecordResponse(ctx, sessions, id, request, response, time.Since(start))
//
// What the call was given, the user's items and the outputs of calls, is appended before the request is sent.
package store
