package store_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/store"
)

// check ends the example when something fails.
func check[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func ExampleNewMemory() {
	ctx := context.Background()
	var s store.Store = store.NewMemory() // or jsonl.Open(dir), or sqlite.Open(ctx, path)

	session := check(s.Create(ctx, format.Header{CWD: "/home/me/project"}))
	check(s.Append(ctx, session.ID(), format.NewInfo("Greetings")))
	check(s.Append(ctx, session.ID(), format.NewItem(openresponses.UserText("Hello."))))

	for one, err := range s.List(ctx, store.ListFilter{CWD: "/home/me/project", WithNames: true}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(one.Name, session.Len())
	}
	// Output: Greetings 2
}

// Two goroutines, or two tools, that work on branches of their own each name the parent of what they append.
func ExampleStore_branches() {
	ctx := context.Background()
	s := store.NewMemory()
	session := check(s.Create(ctx, format.Header{}))
	root := check(s.Append(ctx, session.ID(), format.NewItem(openresponses.UserText("Try two ways."))))
	for _, way := range []string{"The first.", "The second."} {
		e := format.NewItem(openresponses.AssistantText(way))
		e.Parent = root
		check(s.Append(ctx, session.ID(), e))
	}
	fmt.Println(len(session.Children(root)), "branches")
	// Output: 2 branches
}

func ExampleContinue() {
	ctx := context.Background()
	s := store.NewMemory()
	old := check(s.Create(ctx, format.Header{ID: "january"}))
	check(s.Append(ctx, old.ID(), format.NewConfig("gpt-5")))
	check(s.Append(ctx, old.ID(), format.NewInfo("The long one")))

	next := check(store.Continue(ctx, s, old.ID(), openresponses.UserText("What was said in January.")))

	c := check(next.Context(next.Leaf()))
	fmt.Println(next.Name(), c.Settings.Model, len(c.Items))
	fmt.Println(next.Header().ParentSession, old.SupersededBy() == next.ID())
	for one := range s.List(ctx, store.ListFilter{Current: true}) {
		fmt.Println(one.Header.ID == next.ID())
	}
	// Output:
	// The long one gpt-5 1
	// january true
	// true
}
