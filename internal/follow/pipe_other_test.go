//go:build !unix

package follow_test

func pipe(string) error { return nil }
