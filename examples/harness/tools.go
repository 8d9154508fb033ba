package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
)

// tool is something that the model may call.
type tool struct {
	name, description string
	parameters        string // a JSON schema
	approval          bool   // a person has to allow it
	spawns            bool   // it has a session of its own
	// run does a call of a session. The context carries the call's span. Every tool may be run again after a crash.
	run func(ctx context.Context, session string, c *format.Call) (output string, err error)
}

// fetch gets a page of the site. Its client makes a span for each request, which hangs from that of the call.
func fetch(client *http.Client, site string) tool {
	return tool{
		name: "fetch", description: "Gets a page of the project's site.",
		parameters: `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`,
		run: func(ctx context.Context, _ string, c *format.Call) (string, error) {
			var args struct{ Path string }
			if err := json.Unmarshal([]byte(c.Args()), &args); err != nil {
				return "", fmt.Errorf("arguments: %w", err)
			}
			page, err := url.JoinPath(site, args.Path)
			if err != nil {
				return "", err
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
			if err != nil {
				return "", err
			}
			resp, err := client.Do(req)
			if err != nil {
				return "", err
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
			if err == nil && resp.StatusCode != http.StatusOK {
				err = fmt.Errorf("%s: %s", args.Path, resp.Status)
			}
			return string(text), err
		},
	}
}

// writeFile writes a file into a folder, and nowhere else.
func writeFile(folder string) tool {
	return tool{
		name: "write_file", description: "Writes a file.", approval: true,
		parameters: `{"type":"object","properties":{"name":{"type":"string"},"text":{"type":"string"}},"required":["name","text"]}`,
		run: func(_ context.Context, _ string, c *format.Call) (string, error) {
			var args struct{ Name, Text string }
			if err := json.Unmarshal([]byte(c.Args()), &args); err != nil {
				return "", fmt.Errorf("arguments: %w", err)
			}
			root, err := os.OpenRoot(folder)
			if err != nil {
				return "", err
			}
			defer root.Close()
			if err := root.WriteFile(args.Name, []byte(args.Text), 0o600); err != nil {
				return "", err
			}
			return fmt.Sprintf("%d bytes written", len(args.Text)), nil
		},
	}
}

// delegate gives a task to a sub-agent with tools of its own. It has a session of its own as well, whose id follows from the call:
// after a crash it is found again, and goes on.
func (a *agent) delegate(tools ...tool) tool {
	return tool{
		name: "delegate", description: "Has an assistant find something out.", spawns: true,
		parameters: `{"type":"object","properties":{"task":{"type":"string"}},"required":["task"]}`,
		run: func(ctx context.Context, session string, c *format.Call) (string, error) {
			var args struct{ Task string }
			if err := json.Unmarshal([]byte(c.Args()), &args); err != nil {
				return "", fmt.Errorf("arguments: %w", err)
			}
			assistant := *a
			assistant.instructions, assistant.tools = "You find things out.", tools
			h := a.header
			h.ID, h.ParentSession, h.SpawnedBy = format.SubsessionID(session, c.ID()), session, c.ID()
			s, err := a.sessions.Open(ctx, h.ID)
			if errors.Is(err, store.ErrNoSession) {
				s, err = a.sessions.Create(ctx, h) // under the call's context, so that it is in the call's trace
			}
			if err != nil {
				return "", err
			}
			return assistant.work(ctx, s, args.Task)
		},
	}
}
