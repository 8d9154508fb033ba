package main

import (
	"crypto/rand"
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/format/openresponses"
)

const modelName = "scripted-1"

// step is one answer of the model: calls, or a text.
type step struct {
	calls []openresponses.FunctionCall
	text  string
}

// scripts are what the model does: as the agent, which can delegate, and as its assistant.
var (
	agentScript = []step{
		{calls: []openresponses.FunctionCall{
			{Name: "fetch", Arguments: `{"path":"/changes"}`},
			{Name: "delegate", Arguments: `{"task":"Which open issues does version 1.4 close?"}`},
		}},
		{calls: []openresponses.FunctionCall{
			{Name: "write_file", Arguments: `{"name":"NOTES.md","text":"# 1.4\n\nComments are kept (#12). No more panic on empty input (#15).\n"}`},
		}},
		{text: "NOTES.md has the release notes of version 1.4, which closes #12 and #15."},
	}
	assistantScript = []step{
		{calls: []openresponses.FunctionCall{{Name: "fetch", Arguments: `{"path":"/issues"}`}}},
		{text: "Version 1.4 closes #12 and #15."},
	}
)

// next returns what the model answers to a request: the first step of its script whose calls have no output in it. So it goes on
// after whatever the session holds, whoever recorded that.
func next(req *openresponses.Request) *openresponses.Response {
	script := assistantScript
	if slices.ContainsFunc(req.Tools, func(t openresponses.Tool) bool { return t.Name == "delegate" }) {
		script = agentScript
	}
	outputs := 0
	for _, item := range req.Input {
		if item.Type == openresponses.ItemFunctionCallOutput {
			outputs++
		}
	}
	for len(script) > 1 && outputs >= len(script[0].calls) {
		outputs -= len(script[0].calls)
		script = script[1:]
	}
	return respond(req, script[0])
}

// respond makes a response of a step, with tokens of four bytes.
func respond(req *openresponses.Request, s step) *openresponses.Response {
	r := &openresponses.Response{ID: newID("resp"), Model: modelName, Status: openresponses.StatusCompleted}
	for _, call := range s.calls {
		call.ID, call.CallID, call.Status = newID("fc"), newID("call"), openresponses.StatusCompleted
		r.Output = append(r.Output, call.Item())
	}
	if s.text != "" {
		r.Output = append(r.Output, openresponses.Message{
			ID: newID("msg"), Status: openresponses.StatusCompleted, Role: openresponses.RoleAssistant,
			Content: []openresponses.Part{openresponses.OutputText(s.text)},
		}.Item())
	}
	var in, out, cached int64
	in = int64(len(req.JSON())) / 4
	for _, item := range r.Output {
		out += int64(len(item.Raw)) / 4
	}
	if len(req.Input) > 1 {
		cached = in / 2
	}
	total := in + out
	r.Usage = &openresponses.Usage{InputTokens: &in, CachedTokens: &cached, OutputTokens: &out, TotalTokens: &total}
	return r
}

func newID(kind string) string { return kind + "_" + strings.ToLower(rand.Text()[:16]) }
