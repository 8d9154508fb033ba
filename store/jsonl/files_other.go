//go:build !unix

package jsonl

// SyncFolder does nothing: folders cannot be synced here.
func (disk) SyncFolder(string) error { return nil }
