// Package arch has no code, only the tests that hold the structure of the root module: which package may import which, as
// the table of CONTRIBUTING.md says, and that the dependencies of go.mod are those that CONTRIBUTING.md gives reasons for.
package arch
