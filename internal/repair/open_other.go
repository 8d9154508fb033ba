//go:build !linux

package repair

import "os"

// openForWriting does not know: there is nobody to ask here.
func openForWriting(*os.File) bool { return false }
