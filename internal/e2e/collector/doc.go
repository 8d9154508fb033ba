// Package collector runs the Collector of cmd/sessionspan-collector for a test, as its users do: as a process, with a
// configuration file and environment variables.
//
//	process := collector.Start(t, collector.Options{
//		Config: collector.Example("agent.yaml"),
//		Env:    map[string]string{"HOME": home, "SESSIONSPAN_OTLP_ENDPOINT": sink.Address, "SESSIONSPAN_HEALTH": health},
//		Health: health,
//	})
//	process.Kill()
//
// It is built once for each package of tests that uses it, which takes some minutes on a machine that has not done so before.
// It leaves no process behind, and what it wrote is in the log of a test that fails.
//
// The tests of the package start every configuration of examples/collector and look at what comes out.
package collector
