package pi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/pi"
)

// rewritten are values, and what node makes of each by JSON.stringify(JSON.parse(value)).
var rewritten = []struct{ name, in, want string }{
	{"white space", " { \"a\" : [ 1 , 2 ] } ", `{"a":[1,2]}`},
	{"an escape that needs none", `"\u0041\/\u00e9"`, `"A/é"`},
	{"escapes that are short", `"\u0008\u0009\u000a\u000c\u000d\u0022\u005c"`, `"\b\t\n\f\r\"\\"`},
	{"escapes in lower case", `"\u001F\u0000"`, `"\u001f\u0000"`},
	{"what other writers escape", "\"<>&\u2028\u2029\u007f\"", "\"<>&\u2028\u2029\u007f\""},
	{"a surrogate pair", `"\ud83d\ude00"`, `"😀"`},
	{"half a surrogate pair", `"\uD800x\udc00\ud800\ud83d\ude00"`, `"\ud800x\udc00\ud800😀"`},
	{"a whole number with a point", `1.0`, `1`},
	{"an exponent", `1e3`, `1000`},
	{"negative zero", `-0`, `0`},
	{"a small number", `0.1e-7`, `1e-8`},
	{"the smallest without exponent", `0.000001`, `0.000001`},
	{"the largest without exponent", `123456789012345680000`, `123456789012345680000`},
	{"the smallest with one", `1e21`, `1e+21`},
	{"more digits than a double has", `12345678901234567890`, `12345678901234567000`},
	{"beyond all doubles", `[1e400,-1e400,1e-400]`, `[null,null,0]`},
	{"members twice", `{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
	{"names that are indexes", `{"b":1,"10":2,"2":3,"a":4,"01":5,"4294967294":6,"4294967295":7,"-1":8,"0":9}`, `{"0":9,"2":3,"10":2,"4294967294":6,"b":1,"a":4,"01":5,"4294967295":7,"-1":8}`},
	{"names within", `[{"x":{"1":1,"0":0}}]`, `[{"x":{"0":0,"1":1}}]`},
	{"a name with an escape", `{"\u0061\"":1,"a\"":2}`, `{"a\"":2}`},
	{"names with half a surrogate pair", `{"\uD83D":1,"\ud83e":2,"\ufffd":3,"\uDE00\ud83d":4,"\ud83d":5}`, "{\"\\ud83d\":5,\"\\ud83e\":2,\"\uFFFD\":3,\"\\ude00\\ud83d\":4}"},
	{"names of bytes that are no UTF-8", "{\"\xff\":1,\"\xfe\":2,\"a\xff\" :3}", "{\"\uFFFD\":2,\"a\uFFFD\":3}"},
	{"an empty name", `{"":{},"x":[]}`, `{"":{},"x":[]}`},
	{"literals", `[true,false,null]`, `[true,false,null]`},
	{"bytes that are no UTF-8", "\"\xff\xe2\x82\xf0\x9f\x98x\xed\xa0\x80\"", "\"\uFFFD\uFFFD\uFFFDx\uFFFD\uFFFD\uFFFD\""},
}

func TestStringify(t *testing.T) {
	for _, tc := range rewritten {
		t.Run(tc.name, func(t *testing.T) {
			got, err := pi.Stringify([]byte(tc.in))
			if err != nil || string(got) != tc.want {
				t.Errorf("got %s, %v, want %s", got, err, tc.want)
			}
		})
	}
	for _, bad := range []string{"", "{", "{}{}", "\x00", `"\x"`} {
		if got, err := pi.Stringify([]byte(bad)); !errors.Is(err, format.ErrSyntax) {
			t.Errorf("%q: %s, %v", bad, got, err)
		}
	}
}

// inNode has node rewrite values, one a line.
const inNode = `let b = require('fs').readFileSync(0); process.stdout.write(new TextDecoder('utf-8',{ignoreBOM:true}).decode(b)` +
	`.split('\n').slice(0,-1).map(l => JSON.stringify(JSON.parse(l))+'\n').join(''))`

// What JavaScript itself does, where there is a node to ask.
func TestStringifyAsNodeDoes(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node to compare with")
	}
	var in, got bytes.Buffer
	add := func(value []byte) {
		in.Write(value)
		in.WriteByte('\n')
		out, err := pi.Stringify(value)
		if err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		got.Write(out)
		got.WriteByte('\n')
	}
	for _, tc := range rewritten {
		add([]byte(tc.in))
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		add(appendRandom(nil, r, 4))
	}
	cmd := exec.CommandContext(t.Context(), node, "-e", inNode)
	cmd.Stdin = &in
	want, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("(-node +got):\n%s", diff)
	}
}

// appendRandom appends a random value.
func appendRandom(dst []byte, r *rand.Rand, depth int) []byte {
	k := r.IntN(7)
	if depth == 0 {
		k = r.IntN(4)
	}
	switch k {
	case 0:
		return appendRandomNumber(dst, r)
	case 1, 2:
		return appendRandomString(dst, r)
	case 3:
		return append(dst, []string{"null", "true", "false"}[r.IntN(3)]...)
	case 4:
		dst = append(dst, '[')
		for i := range r.IntN(4) {
			if i > 0 {
				dst = append(dst, " ,"...)
			}
			dst = appendRandom(dst, r, depth-1)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i := range r.IntN(6) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if r.IntN(2) == 0 {
			dst = append(dst, strconv.Quote(strconv.Itoa(r.IntN(20)))...)
		} else {
			dst = appendRandomString(dst, r)
		}
		dst = appendRandom(append(dst, " : "...), r, depth-1)
	}
	return append(dst, '}')
}

func appendRandomNumber(dst []byte, r *rand.Rand) []byte {
	switch r.IntN(3) {
	case 0:
		return strconv.AppendFloat(dst, r.NormFloat64(), 'e', r.IntN(20), 64)
	case 1:
		dst = strconv.AppendInt(dst, r.Int64()-1<<62, 10)
		dst = append(dst, 'e')
		return strconv.AppendInt(dst, int64(r.IntN(80)-40), 10)
	}
	return strconv.AppendInt(dst, int64(r.IntN(100)), 10)
}

// appendRandomString appends a string, or a name.
func appendRandomString(dst []byte, r *rand.Rand) []byte {
	pieces := []string{"a", "é", "😀", `\n`, `\u0041`, `\/`, `\"`, `\\`, `\u0007`, `\u00ff`, `\ud83d\ude00`, `\uD83D`, `\ude00`, "\ufffd", "\u2028", "\x7f", "<"}
	dst = append(dst, '"')
	for range r.IntN(5) {
		dst = append(dst, pieces[r.IntN(len(pieces))]...)
	}
	return append(dst, '"')
}

// A value that has been rewritten is rewritten to itself, and says what it said.
func FuzzStringify(f *testing.F) {
	for _, tc := range rewritten {
		f.Add([]byte(tc.in))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := pi.Stringify(data)
		if err != nil {
			return
		}
		if !json.Valid(once) {
			t.Fatalf("%q is no JSON", once)
		}
		twice, err := pi.Stringify(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q becomes %q, %v", once, twice, err)
		}
	})
}
