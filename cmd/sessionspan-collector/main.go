package main

import (
	_ "embed"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/otelcol"
)

// terminal is the configuration of a Collector that is given none.
//
//go:embed terminal.yaml
var terminal string

func main() {
	if command().Execute() != nil { // it has printed why
		os.Exit(1)
	}
}

// command is that of every Collector, but that it does something without --config, and that --set then changes what it does.
func command() *cobra.Command {
	cmd := otelcol.NewCommand(settings())
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		config := cmd.Flags().Lookup("config")
		if config == nil || config.Changed {
			return nil
		}
		return config.Value.Set("yaml:" + terminal)
	}
	return cmd
}

func settings() otelcol.CollectorSettings {
	return otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{
			Command:     "sessionspan-collector",
			Description: "OpenTelemetry Collector that follows the sessions of AI coding agents",
			Version:     version(),
		},
		Factories: components,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			ProviderFactories: []confmap.ProviderFactory{
				envprovider.NewFactory(), fileprovider.NewFactory(), yamlprovider.NewFactory(),
			},
		}},
	}
}

// version is that of the module, as far as the build knows it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}
