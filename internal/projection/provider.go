package projection

import "strings"

// providers maps the beginnings of model names to the values of gen_ai.provider.name that the conventions list.
var providers = []struct{ prefix, provider string }{
	{"claude", "anthropic"},
	{"gpt", "openai"},
	{"chatgpt", "openai"},
	{"codex", "openai"},
	{"o1", "openai"},
	{"o3", "openai"},
	{"o4", "openai"},
	{"gemini", "gcp.gen_ai"},
	{"mistral", "mistral_ai"},
	{"codestral", "mistral_ai"},
	{"devstral", "mistral_ai"},
	{"magistral", "mistral_ai"},
	{"deepseek", "deepseek"},
	{"grok", "x_ai"},
	{"command", "cohere"},
	{"sonar", "perplexity"},
	{"kimi", "moonshot_ai"},
	{"moonshot", "moonshot_ai"},
}

// provider names the provider of a model call: what the file says of the call, else what the settings say, else by the
// model's name, else nothing. A name with a vendor before a slash is judged by what follows it.
func provider(call, settings, model string) string {
	switch {
	case call != "":
		return call
	case settings != "":
		return settings
	}
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, p := range providers {
		if strings.HasPrefix(name, p.prefix) {
			return p.provider
		}
	}
	return ""
}
