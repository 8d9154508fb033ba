package otlp

var testConfig = Config{
	ScopeVersion: "1.2.3",
	SchemaURL:    "https://opentelemetry.io/schemas/1.41.0",
}
