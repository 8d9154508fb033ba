package collector

import (
	"fmt"
	"net"
	"os"
	"testing"
)

// chain is an agent, a gateway and two backends.
type chain struct {
	*testing.T
	home     string
	gateway  string // where it listens
	backends [2]*Sink
}

func newChain(t *testing.T) (c *chain, sessions string) {
	t.Helper()
	c = &chain{T: t, gateway: FreePorts(t, 1)[0], backends: [2]*Sink{StartSink(t), StartSink(t)}}
	c.home, sessions = Home(t)
	return c, sessions
}

// start starts a Collector and returns with it where its own metrics are.
func (c *chain) start(config string, env map[string]string) (p *Process, metrics string) {
	c.Helper()
	ports := FreePorts(c, 2)
	_, port, err := net.SplitHostPort(ports[1])
	if err != nil {
		c.Fatal(err)
	}
	env["HOME"], env["SESSIONSPAN_HEALTH"], env["SESSIONSPAN_METRICS_PORT"] = c.home, ports[0], port
	return Start(c, Options{Config: Example(config), Env: env, Health: ports[0]}), ports[1]
}

func (c *chain) startAgent() (p *Process, metrics string) {
	c.Helper()
	return c.start("agent.yaml", map[string]string{"SESSIONSPAN_OTLP_ENDPOINT": c.gateway})
}

func (c *chain) startGateway() (p *Process, metrics string) {
	c.Helper()
	return c.start("gateway.yaml", map[string]string{
		"SESSIONSPAN_LISTEN":    c.gateway,
		"SESSIONSPAN_BACKEND_1": c.backends[0].Address, "SESSIONSPAN_BACKEND_2": c.backends[1].Address,
	})
}

func (c *chain) refuse(refuse bool) {
	for _, b := range c.backends {
		b.Refuse(refuse)
	}
}

// refused waits until a backend has refused what it was just sent.
func (c *chain) refused() {
	c.Helper()
	before := c.backends[0].Refused() + c.backends[1].Refused()
	Eventually(c, func() string {
		if c.backends[0].Refused()+c.backends[1].Refused() == before {
			return "no backend was sent anything"
		}
		return ""
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

// accepted waits until the Collector that serves these metrics has taken so many spans into its queue.
func (c *chain) accepted(metrics string, spans int) {
	c.Helper()
	Eventually(c, func() string {
		if n := int(Scrape(c, metrics).Sum("otelcol_receiver_accepted_spans")); n < spans {
			return fmt.Sprintf("%d spans of %d are in the queue", n, spans)
		}
		return ""
	})
}

// What an agent has in its queue reaches the backends however the agent ended, though the gateway comes late, and the files are gone.
func TestQueueOfAnAgentOutlivesIt(t *testing.T) {
	for name, end := range map[string]func(*Process) error{
		"killed":  func(p *Process) error { p.Kill(); return nil },
		"stopped": (*Process).Stop,
	} {
		t.Run(name, func(t *testing.T) {
			c, sessions := newChain(t)
			CopySessions(t, sessions, Whole)
			want := ids(Replayed(t, sessions))
			agent, metrics := c.startAgent()
			c.accepted(metrics, len(want))
			if err := end(agent); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(sessions); err != nil {
				t.Fatal(err)
			}
			c.startGateway()
			c.startAgent()
			waitForSpans(t, want, c.spans)
		})
	}
}

// Each trace is at one backend, with spans that came early and late. What the gateway has in its queue reaches them when it was
// killed, or stopped while it tried, and no agent is there to send it again.
func TestGatewaySharesOutTracesAndItsQueueOutlivesIt(t *testing.T) {
	c, sessions := newChain(t)
	gateway, taken := c.startGateway()
	agent, _ := c.startAgent()
	CopySessions(t, sessions, Half)
	waitForSpans(t, ids(Replayed(t, sessions)), c.spans)
	once(t, c.spans())

	c.refuse(true)
	CopySessions(t, sessions, Whole)
	want := ids(Replayed(t, sessions))
	c.accepted(taken, len(want))
	if err := agent.Stop(); err != nil {
		t.Fatal(err)
	}
	gateway.Kill()
	gateway, _ = c.startGateway()
	c.refused()
	if err := gateway.Stop(); err != nil {
		t.Fatal(err)
	}
	c.refuse(false)
	c.startGateway()
	waitForSpans(t, want, c.spans)

	first, second := traces(c.backends[0].Spans()), traces(c.backends[1].Spans())
	if len(first) == 0 || len(second) == 0 {
		t.Errorf("%d traces went to one backend, %d to the other", len(first), len(second))
	}
	for trace := range first {
		if second[trace] {
			t.Errorf("trace %s is at both backends", trace)
		}
	}
}
