package delivery

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// OpenTelemetry's clients read the environment by themselves, and go on without what they cannot read: a header with the key that
// a backend asks for, a compression that they do not have. What they say of it goes to a log, keys and all. So it is read here
// before, and what cannot be used is an error, which names the variable and never shows a value.

// variables are the names of a setting, that for everything and that for traces.
func variables(name string) []string {
	return []string{"OTEL_EXPORTER_OTLP_" + name, "OTEL_EXPORTER_OTLP_TRACES_" + name}
}

// checkEnvironment returns the values of the headers that are sent, which are secrets, or the error of what cannot be used.
func checkEnvironment() (secrets []string, err error) {
	for _, name := range variables("HEADERS") {
		values, err := headerValues(os.Getenv(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		secrets = append(secrets, values...)
	}
	for _, name := range variables("COMPRESSION") {
		if v := os.Getenv(name); v != "" && v != "none" && v != "gzip" {
			return nil, fmt.Errorf("%s: %.40q is neither gzip nor none", name, v)
		}
	}
	for _, name := range variables("TIMEOUT") {
		if v := strings.TrimSpace(os.Getenv(name)); v != "" {
			if _, err := strconv.ParseUint(v, 10, 31); err != nil {
				return nil, fmt.Errorf("%s: %.40q is no number of milliseconds", name, v)
			}
		}
	}
	return secrets, nil
}

// headerValues reads a list of name=value pairs with percent-encoded values, as the specification of the exporter has it.
func headerValues(list string) (values []string, err error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	items := strings.Split(list, ",")
	for i, item := range items {
		wrong := func(what string) error {
			return fmt.Errorf("header %d of %d %s; it is not shown, since it may be a key", i+1, len(items), what)
		}
		name, raw, found := strings.Cut(item, "=")
		value, err := url.PathUnescape(raw)
		value = strings.TrimSpace(value)
		switch {
		case !found:
			return nil, wrong("has no = (a comma in a value is written %2C)")
		case !httpguts.ValidHeaderFieldName(strings.TrimSpace(name)):
			return nil, wrong("has a name that headers cannot have")
		case err != nil:
			return nil, wrong("has a % that no two hexadecimal digits follow (a % in a value is written %25)")
		case !httpguts.ValidHeaderFieldValue(value):
			return nil, wrong("has a value with a character that headers cannot have")
		}
		values = append(values, value)
	}
	return values, nil
}

// minSecret is how long a word of a header is that is kept out of texts; a shorter one is no key.
const minSecret = 6

// hide takes secrets out of a text of others: whole values of headers, and the last words of values, as of "Bearer KEY".
func hide(text string, secrets []string) string {
	var words []string
	for _, s := range secrets {
		last := s[strings.LastIndexByte(s, ' ')+1:]
		for _, w := range []string{s, last} {
			if len(w) >= minSecret {
				words = append(words, w, url.QueryEscape(w), url.PathEscape(w))
			}
		}
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	for _, w := range words {
		text = strings.ReplaceAll(text, w, "…")
	}
	return text
}

// shownEndpoint is what may be shown of an endpoint: nothing of who asks, and nothing of what follows the path.
func shownEndpoint(given string) string {
	if i := strings.LastIndexByte(given, '@'); i >= 0 {
		scheme, _, found := strings.Cut(given[:i], "://")
		if found {
			scheme += "://"
		} else {
			scheme = ""
		}
		given = scheme + "…" + given[i:]
	}
	if i := strings.IndexAny(given, "?#"); i >= 0 {
		given = given[:i] + "…"
	}
	return given
}
