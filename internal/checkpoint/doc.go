// Package checkpoint keeps the small records of a tracker in a file, which one process at a time has open.
package checkpoint
