// Package otlp writes spans in the two encodings of the OpenTelemetry protocol: protobuf, to be sent, and JSON, to be
// kept in files.
//
// A [Batch] collects finished spans and groups them as the protocol does, by resource and scope. There is one resource
// for each session (the same *[projection.Session] is the same resource) and one scope, [scope.Name].
//
//	b := otlp.NewBatch(otlp.Config{ScopeVersion: version, SchemaURL: schemaURL})
//	b.Add(span)
//	if b.Size() >= limit {
//		err := client.UploadTraces(ctx, b.ResourceSpans())
//		b.Reset()
//	}
//
// # Protobuf
//
// A span is encoded once, by [AppendSpan], at the moment it is added: that makes [Batch.Size] exact and free, lets a batch
// be halved without encoding anything again ([Batch.Halves]), and takes about a sixth of the time that filling and
// marshalling the generated structs takes. [Batch.ResourceSpans] hands the bytes on without touching them again, as fields
// that the generated code keeps but does not look into; marshalled, the message is what it would be with the spans in
// their places. [Batch.Messages] gives the generated structs where they are wanted.
//
// # JSON
//
// [WriteJSON] writes one TracesData object a line, the form that the Collector's file exporter and its OTLP JSON file
// receiver share. That is protobuf's own JSON (64-bit integers are strings, bytes are base64, NaN and the infinities are
// the strings "NaN", "Infinity" and "-Infinity") but for what the OTLP specification has otherwise: trace and span ids
// are in lower-case hexadecimal, enumerations are numbers. The same batch gives the same bytes.
//
// # What the spans become
//
// Strings that are not valid UTF-8, which a protobuf message may not hold, have U+FFFD in place of what is wrong, so
// that one odd file name cannot cost a batch. Times before 1970 are 0 and times after 2262 the last that fits. Every
// span and link carries [Flags]. Fields that are zero are left out, but never the value of an attribute.
package otlp
