// Package activity is the neutral model of what an agent did: what every source decodes its session files into, and the
// one thing that the projector reads.
//
// A session is a sequence of events in file order. Each [Event] stands on an entry, which has a key, a parent key and a
// time, and says one thing ([Event.Fact]); an entry that says several has several events, told apart by [Event.Part].
// An entry that says nothing still has an event, since later entries may hang from it.
package activity
