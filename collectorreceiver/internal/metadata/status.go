// Package metadata says what the receiver is called, and holds its own metrics: what metadata.yaml says.
package metadata

import "go.opentelemetry.io/collector/component"

// Type is what the receiver is called in configurations.
var Type = component.MustNewType("agentsession")

const (
	// ScopeName is the scope of the receiver's own metrics.
	ScopeName = "github.com/sessionspan/sessionspan/collectorreceiver"
	// TracesStability is how far what the receiver does with traces can be relied on to stay as it is.
	TracesStability = component.StabilityLevelAlpha
)
