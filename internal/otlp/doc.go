// Package otlp writes spans in the two encodings of the OpenTelemetry protocol: protobuf, to be sent, and JSON, to be
// kept in files.
//
// A [Batch] collects finished spans and groups them as the protocol does, by resource and scope. There is one resource
// for each session (the same *[projection.Session] is the same resource) and one scope, [ScopeName].
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
// A span is encoded once, by [AppendSpan], at the moment it is added: that makes [Batch.Size] exact and free, and takes
// a quarter of the time that the generated structs take to be marshalled, let alone to be filled. [Batch.ResourceSpans]
// hands the bytes on without touching them again, as fields that the generated code keeps but does not look into;
// marshalled, the message is what it would be with the spans in their places. Only who counts the spans of the messages
// sees none, as the OTLP clients do for their own experimental metrics. [Span] gives the generated struct where one is
// wanted.
//
// # JSON
//
// [WriteJSON] writes one TracesData object a line, the form that the Collector's file exporter and its OTLP JSON file
// receiver share. It follows the OTLP rules where they differ from those of protobuf's own JSON: trace and span ids in
// lower-case hexadecimal, enumerations as numbers, names in lowerCamelCase. 64-bit integers are strings, bytes are
// base64, NaN and the infinities are the strings "NaN", "Infinity" and "-Infinity". The same batch gives the same bytes.
//
// # What both do alike
//
// Strings that are not valid UTF-8, which a protobuf message may not hold, have U+FFFD in place of what is wrong, so
// that one odd file name cannot cost a batch. Times before 1970 are 0 and times after 2262 the last that fits. Every
// span and link carries [Flags]. An unset status without a description, a zero count and a zero parent are left out.
package otlp
