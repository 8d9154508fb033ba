// Package scope names the instrumentation scope of every span of ours.
package scope

import (
	"runtime/debug"
	"sync"
)

// Name is the name of the scope: that of the module.
const Name = "github.com/sessionspan/sessionspan"

// Version returns the version of the module that this is in, as far as the build knows it, else "development": in the
// command it is that of the program, in a program that uses the library that of the dependency.
var Version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "development"
	}
	return moduleVersion(info)
})

func moduleVersion(info *debug.BuildInfo) string {
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == Name && m.Replace == nil && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return "development"
}
