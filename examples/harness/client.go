package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/sessionspan/sessionspan/format/openresponses"
)

// client calls a model by the Responses API.
type client struct {
	http *http.Client
	url  string
	out  io.Writer // is told what the model says
}

// event is one event of a stream, as far as the client looks at it. The response at the end has everything.
type event struct {
	Type     string
	Text     string
	Response *openresponses.Response
}

// respond sends a request and reads the stream that answers it.
func (c *client) respond(ctx context.Context, req openresponses.Request) (*openresponses.Response, error) {
	req.Stream = new(true) // in this copy: how it is sent is not part of what the session records, nor of its hash
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(req.JSON()))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Content-Type", "application/json")
	post.Header.Set("Accept", "text/event-stream")
	answer, err := c.http.Do(post)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10)) // the status alone is reason enough
		return nil, fmt.Errorf("%s: %s", answer.Status, text)
	}
	var result *openresponses.Response
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() { // to the end, so that the connection can be used again
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return nil, fmt.Errorf("event %.100q: %w", data, err)
		}
		switch e.Type {
		case "response.output_text.done":
			fmt.Fprintln(c.out, "model:", printable(e.Text))
		case "response.completed", "response.incomplete", "response.failed":
			result = e.Response
		case "error":
			return nil, fmt.Errorf("error in the stream: %s", data)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if result == nil {
		return nil, errors.New("the stream ended before the response")
	}
	return result, nil
}
