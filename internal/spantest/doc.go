// Package spantest helps to test what a projection sends: a [Recorder] keeps spans, [Dump] writes them as text for golden
// files, and [Check] holds them against the rules that every trace of this project keeps.
package spantest
