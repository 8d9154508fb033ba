package source

import "testing"

func TestBeginsWith(t *testing.T) {
	for _, tc := range []struct {
		name, raw string
		want      bool
	}{
		{"as it is", `"<bash-input>ls</bash-input>"`, true},
		{"nothing else", `"<bash-input>"`, true},
		{"with an escaped letter", `"\u003cbash-input>ls"`, true},
		{"with two", `"\u003cbash\u002Dinput>ls"`, true},
		{"with an escape behind it", `"<bash-input>\n"`, true},
		{"with another escape in it", `"<bash\ninput>"`, false},
		{"too short", `"<bash"`, false},
		{"too short, with an escape", `"\u003cbash"`, false},
		{"cut in an escape", `"\u003"`, false},
		{"something else", `"ls"`, false},
		{"no string", `7`, false},
		{"empty", `""`, false},
		{"nothing", ``, false},
	} {
		if got := beginsWith([]byte(tc.raw), "<bash-input>"); got != tc.want {
			t.Errorf("%s: %s: %t", tc.name, tc.raw, got)
		}
	}
}
