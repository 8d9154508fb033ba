// Package jsonwrite builds one JSON object by appending members to it, in the order in which they are given. Raw values go in
// as they are, so that nothing a type does not know is lost, and numbers keep their spelling.
package jsonwrite
