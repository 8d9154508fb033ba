package format

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	formatName  = "agentsession"
	formatMajor = 0 // of the versions that this package reads; any minor
)

// ParseFormat splits the member "format" of a header, such as "agentsession/0.2", into its versions (A.2). The error
// wraps [ErrUnsupportedFormat]; a version that parses may still have a major that this package does not read.
func ParseFormat(format string) (major, minor int, err error) {
	name, version, _ := strings.Cut(format, "/")
	before, after, _ := strings.Cut(version, ".")
	major, ok1 := parseVersion(before)
	minor, ok2 := parseVersion(after)
	if name != formatName || !ok1 || !ok2 {
		return 0, 0, fmt.Errorf("%w: %s", ErrUnsupportedFormat, notRead(format))
	}
	return major, minor, nil
}

// parseVersion is stricter than [strconv.Atoi], which takes signs.
func parseVersion(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err == nil
}

// notRead names what was found and what is read.
func notRead(format string) string {
	const longest = 40
	if len(format) > longest {
		format = format[:longest] + "…"
	}
	return fmt.Sprintf("found %q, this version reads %s/%d.N with a number N", format, formatName, formatMajor)
}

// Minor returns the minor version that the header's format names, by which later rules apply or do not; 0 when the format
// does not parse.
func (h *Header) Minor() int {
	_, minor, _ := ParseFormat(h.Format)
	return minor
}

// Newer reports whether the header names a minor version that this package does not know. The file is read by the rules of the
// newest that it does know, and not appended to.
func (h *Header) Newer() bool { return h.Minor() > newestMinor }
