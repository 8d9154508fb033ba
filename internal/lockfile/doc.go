// Package lockfile is the file beside a session file that says which process writes to it (A.15): FILE.lock, created
// exclusively, a JSON object with the process, its host, and since when. It is what other libraries go by; a process that ends
// without removing its own leaves it behind, and whoever comes next has to find out whether it still means anything.
package lockfile
