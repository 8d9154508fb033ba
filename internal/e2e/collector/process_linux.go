package collector

import "syscall"

// attributes keep an interrupt of the terminal from the process, which is stopped when its test ends, and end it with that
// of the test, however that ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
