package scope

import (
	"runtime/debug"
	"testing"
)

func TestModuleVersion(t *testing.T) {
	other := debug.Module{Path: "example.com/app", Version: "v9.0.0"}
	for _, tc := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"the command as installed", debug.BuildInfo{Main: debug.Module{Path: Name, Version: "v1.2.3"}}, "v1.2.3"},
		{"the command out of a checkout", debug.BuildInfo{Main: debug.Module{Path: Name, Version: "(devel)"}}, "development"},
		{"a program with the library", debug.BuildInfo{Main: other, Deps: []*debug.Module{{Path: Name, Version: "v1.2.3"}}}, "v1.2.3"},
		{"a program with a copy of it", debug.BuildInfo{Main: other, Deps: []*debug.Module{
			{Path: Name, Version: "v1.2.3", Replace: &debug.Module{Path: "../copy"}},
		}}, "development"},
		{"a program without", debug.BuildInfo{Main: other}, "development"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := moduleVersion(&tc.info); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
