package main

import (
	"fmt"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// newResource returns what resources have beside what a session says: what OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME
// say of them, as the specification of the SDK's environment has it: key=value pairs with percent-encoded values; the name has
// a variable of its own, which wins. A name on the command line wins over both.
func newResource(service string, environ []string) (extra []attribute.KeyValue, err error) {
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "OTEL_SERVICE_NAME" && value != "" && service == "":
			service = value
		case name == "OTEL_RESOURCE_ATTRIBUTES" && value != "":
			extra, err = parseAttributes(value)
			if err != nil {
				return nil, &exitError{exitUsage, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)}
			}
		}
	}
	if service != "" {
		extra = append(extra, attribute.String("service.name", service)) // of two the last counts
	}
	return extra, nil
}

func parseAttributes(list string) ([]attribute.KeyValue, error) {
	var kv []attribute.KeyValue
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not key=value", pair)
		}
		text, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("the value of %s: %w", key, err)
		}
		kv = append(kv, attribute.String(key, text))
	}
	return kv, nil
}
