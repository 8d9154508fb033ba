// Package benchmark measures the agentsession receiver beside the file log receiver, which splits the same files into lines and does no more.
// It is a module of its own, so that nobody who uses the receiver gets the other one.
package benchmark
