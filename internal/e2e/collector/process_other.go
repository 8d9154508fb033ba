//go:build !linux

package collector

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
