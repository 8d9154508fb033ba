package collector

import (
	"maps"
	"net"
	"testing"
)

// chain is an agent, a gateway and two backends, which are there from the beginning. Agent and gateway are started by the test.
type chain struct {
	*testing.T
	home, state string
	gateway     string // where it listens
	backends    [2]*Sink
}

func (c *chain) start(config string, env map[string]string) *Process {
	c.Helper()
	ports := FreePorts(c, 2)
	_, metrics, _ := net.SplitHostPort(ports[1])
	env["HOME"], env["SESSIONSPAN_HEALTH"], env["SESSIONSPAN_METRICS_PORT"] = c.home, ports[0], metrics
	return Start(c, Options{Config: Example(config), Env: env, Health: ports[0]})
}

func (c *chain) startAgent() *Process {
	c.Helper()
	return c.start("agent.yaml", map[string]string{"SESSIONSPAN_OTLP_ENDPOINT": c.gateway})
}

func (c *chain) startGateway() *Process {
	c.Helper()
	return c.start("gateway.yaml", map[string]string{
		"SESSIONSPAN_LISTEN":    c.gateway,
		"SESSIONSPAN_BACKEND_1": c.backends[0].Address, "SESSIONSPAN_BACKEND_2": c.backends[1].Address,
	})
}

// spans are those of both backends.
func (c *chain) spans() map[SpanID]int {
	all := c.backends[0].Spans()
	for id, n := range c.backends[1].Spans() {
		all[id] += n
	}
	return all
}

// Every span reaches a backend, those of a trace the same one, though the gateway is not there when the agent begins, and each of
// the two is killed with spans in its queue.
func TestAgentAndGatewayThatAreKilledLoseNothing(t *testing.T) {
	c := &chain{T: t, gateway: FreePorts(t, 1)[0], backends: [2]*Sink{StartSink(t), StartSink(t)}}
	var sessions string
	c.home, sessions = Home(t)
	CopySessions(t, sessions, Half)

	agent := c.startAgent()
	waitForQueue(t, agent, "otlp_grpc")
	agent.Kill()
	for _, b := range c.backends {
		b.Refuse(true)
	}
	gateway := c.startGateway()
	agent = c.startAgent()
	CopySessions(t, sessions, Whole)
	waitForQueue(t, gateway, "load_balancing")
	gateway.Kill()
	for _, b := range c.backends {
		b.Refuse(false)
	}
	c.startGateway()
	want := ids(Replayed(t, sessions))
	waitForSpans(t, want, c.spans)

	first, second := traces(c.backends[0].Spans()), traces(c.backends[1].Spans())
	if len(first) == 0 || len(second) == 0 {
		t.Errorf("of the traces %d went to one backend and %d to the other", len(first), len(second))
	}
	for trace := range first {
		if second[trace] {
			t.Errorf("trace %s is at both backends", trace)
		}
	}
	_, _ = agent, maps.Clone[map[string]bool]
}
