package repair

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openForWriting asks the kernel whether anybody has a file open for writing that is open for reading here: then there is
// no lease for readers. It is false as well where the kernel does not tell: on some file systems, and for a file of somebody
// else.
func openForWriting(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return errors.Is(err, unix.EAGAIN)
}
