//go:build !linux

package jaeger

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
