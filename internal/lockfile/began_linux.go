package lockfile

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks is how many of them /proc has to a second, on every Linux that Go runs on.
const ticks = 100

// began returns when a process began.
func began(pid int) (t time.Time, known bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return time.Time{}, false
	}
	// The name of the program is in parentheses and may hold anything; the time is the 20th field after it (proc_pid_stat(5)).
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return time.Time{}, false
	}
	after, err := strconv.ParseInt(fields[19], 10, 64)
	boot, known := booted()
	if err != nil || !known {
		return time.Time{}, false
	}
	return boot.Add(time.Duration(after) * (time.Second / ticks)), true
}

// booted returns when the machine was started.
func booted() (t time.Time, known bool) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, false
	}
	for line := range strings.Lines(string(stat)) {
		if text, ok := strings.CutPrefix(line, "btime "); ok {
			seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			return time.Unix(seconds, 0), err == nil
		}
	}
	return time.Time{}, false
}
