package collector

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// Metrics are what a Prometheus would scrape: the value of each series, by its name with its labels.
type Metrics map[string]float64

// Scrape asks for the metrics that are served at an address. There are none as long as nobody serves them.
func Scrape(t testing.TB, address string) Metrics {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil
	}
	metrics, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return metrics
}

func parse(text string) (Metrics, error) {
	metrics := Metrics{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		space := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(line[space+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no metric: %w", line, err)
		}
		metrics[line[:max(space, 0)]] = value
	}
	return metrics, nil
}

// Sum adds up the series of a name that have all the labels, each written as name="value".
func (m Metrics) Sum(name string, labels ...string) float64 {
	sum := 0.0
series:
	for series, value := range m {
		of, with, _ := strings.Cut(series, "{")
		if of != name {
			continue
		}
		for _, label := range labels {
			if !strings.Contains("{"+with, "{"+label) && !strings.Contains(with, ","+label) {
				continue series
			}
		}
		sum += value
	}
	return sum
}
