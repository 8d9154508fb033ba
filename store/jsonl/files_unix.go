//go:build unix

package jsonl

import "os"

func (disk) SyncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
