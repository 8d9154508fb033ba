package otlp

import (
	"math"

	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/protobuf/encoding/protowire"
)

func appendAttributes(b []byte, n protowire.Number, kvs []attribute.KeyValue) []byte {
	for i := range kvs {
		var start, value int
		b, start = open(b, n)
		b = appendString(b, keyValueKey, string(kvs[i].Key))
		b, value = open(b, keyValueValue)
		b = appendValue(b, kvs[i].Value)
		b = shut(shut(b, value), start)
	}
	return b
}

// appendValue appends what stands inside an AnyValue: one member, also when it is zero, and nothing for the empty value.
func appendValue(b []byte, v attribute.Value) []byte {
	switch v.Type() {
	case attribute.STRING:
		return protowire.AppendString(protowire.AppendTag(b, anyString, protowire.BytesType), Text(v.AsString()))
	case attribute.INT64:
		return protowire.AppendVarint(protowire.AppendTag(b, anyInt, protowire.VarintType), uint64(v.AsInt64()))
	case attribute.BOOL:
		bit := protowire.EncodeBool(v.AsBool())
		return protowire.AppendVarint(protowire.AppendTag(b, anyBool, protowire.VarintType), bit)
	case attribute.FLOAT64:
		bits := math.Float64bits(v.AsFloat64())
		return protowire.AppendFixed64(protowire.AppendTag(b, anyDouble, protowire.Fixed64Type), bits)
	case attribute.STRINGSLICE:
		return appendArray(b, v.AsStringSlice(), attribute.StringValue)
	case attribute.INT64SLICE:
		return appendArray(b, v.AsInt64Slice(), attribute.Int64Value)
	case attribute.BOOLSLICE:
		return appendArray(b, v.AsBoolSlice(), attribute.BoolValue)
	case attribute.FLOAT64SLICE:
		return appendArray(b, v.AsFloat64Slice(), attribute.Float64Value)
	case attribute.BYTESLICE:
		return protowire.AppendBytes(protowire.AppendTag(b, anyBytes, protowire.BytesType), v.AsByteSlice())
	case attribute.SLICE:
		return appendArray(b, v.AsSlice(), itself)
	case attribute.MAP:
		b, start := open(b, anyKvlist)
		b = appendAttributes(b, listValues, v.AsMap())
		return shut(b, start)
	}
	return b
}

func appendArray[T any](b []byte, elements []T, value func(T) attribute.Value) []byte {
	b, start := open(b, anyArray)
	for _, e := range elements {
		var element int
		b, element = open(b, listValues)
		b = shut(appendValue(b, value(e)), element)
	}
	return shut(b, start)
}

func itself(v attribute.Value) attribute.Value { return v }
