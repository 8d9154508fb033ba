// Package benchtest tells benchmarks what they used.
package benchtest
