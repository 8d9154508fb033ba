package delivery

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Protocol is a way to speak OTLP, by the names that OTEL_EXPORTER_OTLP_PROTOCOL has for them.
type Protocol string

// The protocols.
const (
	GRPC         Protocol = "grpc"
	HTTPProtobuf Protocol = "http/protobuf"
	HTTPJSON     Protocol = "http/json"
)

// Protocols lists them.
var Protocols = []Protocol{HTTPProtobuf, GRPC, HTTPJSON}

// target is where to send to.
type target struct {
	protocol Protocol
	shown    string // the endpoint for people
	// url is what the client is told, with the path for traces; "" leaves it to the environment.
	url      string
	isSocket bool // url is a Unix socket, for gRPC
}

const (
	grpcPort, httpPort = "4317", "4318"
	tracesPath         = "/v1/traces"
)

// resolve decides what a protocol and an endpoint stand for, each of which may be "".
func resolve(protocol Protocol, endpoint string) (target, error) {
	protocol = cmp.Or(protocol, Protocol(setting("PROTOCOL")))
	if protocol != "" && !slices.Contains(Protocols, protocol) {
		return target{}, fmt.Errorf("protocol %q is none of %q", protocol, Protocols)
	}
	given := cmp.Or(endpoint, setting("ENDPOINT"))
	if given == "" {
		protocol = cmp.Or(protocol, HTTPProtobuf)
		port := httpPort
		if protocol == GRPC {
			port = grpcPort
		}
		endpoint = "http://localhost:" + port
		given = endpoint
	}
	u, err := parseEndpoint(given, endpoint == "")
	shown := shownEndpoint(given)
	if err != nil {
		return target{}, err
	}
	if protocol == "" {
		protocol = HTTPProtobuf
		if u.Port() == grpcPort || u.Scheme == "unix" {
			protocol = GRPC
		}
	}
	t := target{protocol: protocol, shown: shown}
	switch {
	case u.Scheme == "unix" && protocol != GRPC:
		return target{}, fmt.Errorf("endpoint %s: only gRPC goes to a Unix socket", shown)
	case endpoint == "" && protocol != GRPC && !strings.Contains(given, "://"):
		return target{}, fmt.Errorf("endpoint %s, from the environment: write http:// or https:// before it", shown)
	case endpoint == "": // the client reads it
	case u.Scheme == "unix":
		t.url, t.isSocket = given, true
	case protocol == GRPC:
		if strings.Trim(u.Path, "/") != "" {
			return target{}, fmt.Errorf("endpoint %s: gRPC knows no paths; leave it out, or use protocol %s", shown, HTTPProtobuf)
		}
		t.url = u.String()
	default:
		if !strings.HasSuffix(u.Path, tracesPath) {
			u = u.JoinPath(tracesPath)
		}
		t.url = u.String()
	}
	return t, nil
}

// parseEndpoint reads an endpoint. What has no scheme gets one, by OTEL_EXPORTER_OTLP_INSECURE. Without that it is an error,
// since whether to encrypt is nothing to guess, but for the environment's own endpoint, for which the clients have a rule.
func parseEndpoint(given string, isFromEnvironment bool) (*url.URL, error) {
	text := given
	if !strings.Contains(text, "://") && !strings.HasPrefix(text, "unix:") {
		insecure, err := strconv.ParseBool(setting("INSECURE"))
		switch {
		case err == nil && insecure:
			text = "http://" + text
		case err == nil || isFromEnvironment:
			text = "https://" + text
		default:
			return nil, fmt.Errorf("endpoint %s: write http://%[1]s, or https://%[1]s if it has TLS", shownEndpoint(given))
		}
	}
	u, err := url.Parse(text)
	if parseErr, ok := errors.AsType[*url.Error](err); ok {
		if strings.Contains(given, "@") { // what is wrong may be a password
			parseErr.Err = errors.New("it is no URL")
		}
		return nil, fmt.Errorf("endpoint %q: %w", shownEndpoint(given), parseErr.Err)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("endpoint %s: it has more than host, port and path; keys belong in OTEL_EXPORTER_OTLP_HEADERS", shownEndpoint(given))
	}
	switch u.Scheme {
	case "unix":
	case "http", "https":
		if u.Hostname() == "" {
			return nil, fmt.Errorf("endpoint %s: it has no host", shownEndpoint(given))
		}
		if port := u.Port(); port != "" {
			if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
				return nil, fmt.Errorf("endpoint %s: ports are 1 to 65535", shownEndpoint(given))
			}
		}
	default:
		return nil, fmt.Errorf("endpoint %s: write http:// or https:// before host and port", shownEndpoint(given))
	}
	return u, nil
}

// setting returns an OTEL_EXPORTER_OTLP_ variable, that for traces before that for everything.
func setting(name string) string {
	const prefix = "OTEL_EXPORTER_OTLP_"
	return cmp.Or(strings.TrimSpace(os.Getenv(prefix+"TRACES_"+name)), strings.TrimSpace(os.Getenv(prefix+name)))
}
