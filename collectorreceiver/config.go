package collectorreceiver

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configretry"
)

// Config is the configuration of the receiver.
type Config struct {
	// Include and Exclude are globs of files, or folders with all session files below them. A leading ~ is the home of the user.
	Include []string `mapstructure:"include"`
	Exclude []string `mapstructure:"exclude"`
	// Format is that of all files, or auto.
	Format string `mapstructure:"format"`
	// StartAt is beginning, or end: of files that are there at the start and were never read, only what ends after it.
	StartAt string `mapstructure:"start_at"`
	// PollInterval is how often it is looked for new files and for what was appended, where the system does not tell of it.
	PollInterval time.Duration `mapstructure:"poll_interval"`
	// StorageID is the storage extension that keeps how far each file has come.
	StorageID *component.ID `mapstructure:"storage"`

	// Group, Naming, Semconv and ServiceName are as those of sessionspan replay. With others all files are read from their start.
	Group       string `mapstructure:"group"`
	Naming      string `mapstructure:"naming"`
	Semconv     string `mapstructure:"semconv"`
	ServiceName string `mapstructure:"service_name"`

	// MaxLineSize is the longest line that is read; longer ones are skipped, counted and logged.
	MaxLineSize Size `mapstructure:"max_line_size"`
	// MaxOpenFiles, MaxStateMemory and MaxLineMemory are how many files stay open, and how much memory the states of sessions and the lines
	// of files may take. What is let go of is read again when its file grows.
	MaxOpenFiles   int  `mapstructure:"max_open_files"`
	MaxStateMemory Size `mapstructure:"max_state_memory"`
	MaxLineMemory  Size `mapstructure:"max_line_memory"`

	// Batch says when spans are given to the next component.
	Batch BatchConfig `mapstructure:"batch"`
	// RetryOnFailure says how spans are given to it again that it did not accept.
	RetryOnFailure configretry.BackOffConfig `mapstructure:"retry_on_failure"`
}

// BatchConfig says when spans are given to the next component: when there are so many, or when the first one has waited so long.
type BatchConfig struct {
	MaxSize      Size          `mapstructure:"max_size"` // as they take in OTLP
	FlushTimeout time.Duration `mapstructure:"flush_timeout"`
}

// Size is a number of bytes, written as a number or with a unit: 65536, 64KiB, 2 MB.
type Size int64

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Size) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n > math.MaxInt64 {
		return fmt.Errorf("%q is no size: want a number of bytes, or one with a unit as 64MiB", text)
	}
	*s = Size(n)
	return nil
}

// MarshalText implements [encoding.TextMarshaler].
func (s Size) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d", int64(s)), nil }

func (s Size) String() string { return humanize.IBytes(uint64(max(s, 0))) }

// Where to start with a file.
const (
	startAtBeginning = "beginning"
	startAtEnd       = "end"
)

func createDefaultConfig() component.Config {
	retry := configretry.NewDefaultBackOffConfig()
	retry.InitialInterval, retry.MaxElapsedTime = time.Second, 0
	return &Config{
		Format: source.Auto, StartAt: startAtBeginning, PollInterval: time.Second,
		Group: string(projection.GroupSession), Naming: string(projection.NamingGenAI), Semconv: string(projection.Semconv141),
		MaxLineSize: 64 << 20, MaxOpenFiles: 256, MaxStateMemory: 256 << 20, MaxLineMemory: 256 << 20,
		Batch:          BatchConfig{MaxSize: 2 << 20, FlushTimeout: time.Second},
		RetryOnFailure: retry,
	}
}

// leastLine is the least max_line_size: headers are longer than nothing.
const leastLine = 1 << 10

// Validate reports all that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(c.Include) == 0 {
		wrong("include: name at least one file, folder or glob")
	}
	if _, err := c.patterns(); err != nil {
		errs = append(errs, err)
	}
	if _, err := source.Lookup(c.Format); err != nil {
		wrong("format: %w", err)
	}
	if c.StartAt != startAtBeginning && c.StartAt != startAtEnd {
		wrong("start_at %q: want %s or %s", c.StartAt, startAtBeginning, startAtEnd)
	}
	if err := c.projection().Validate(); err != nil {
		errs = append(errs, err)
	}
	if c.PollInterval < 10*time.Millisecond {
		wrong("poll_interval %v: want 10ms or more", c.PollInterval)
	}
	if c.MaxLineSize < leastLine || c.MaxLineSize > math.MaxInt32 {
		wrong("max_line_size %v: want 1KiB to 2GiB", c.MaxLineSize)
	}
	if c.MaxLineMemory < c.MaxLineSize {
		wrong("max_line_memory %v: want at least max_line_size, which is %v", c.MaxLineMemory, c.MaxLineSize)
	}
	if c.MaxOpenFiles < 1 {
		wrong("max_open_files %d: want 1 or more", c.MaxOpenFiles)
	}
	if c.MaxStateMemory < 1 {
		wrong("max_state_memory %d: want 1 or more", c.MaxStateMemory)
	}
	if c.Batch.MaxSize < 1 || c.Batch.MaxSize > math.MaxInt32 {
		wrong("batch::max_size %d: want 1 to 2GiB", c.Batch.MaxSize)
	}
	if c.Batch.FlushTimeout <= 0 {
		wrong("batch::flush_timeout %v: want more than 0", c.Batch.FlushTimeout)
	}
	return errors.Join(errs...)
}

func (c *Config) patterns() (*follow.Patterns, error) {
	return follow.NewPatterns(c.Include, c.Exclude)
}

func (c *Config) projection() projection.Options {
	return projection.Options{
		Group: projection.Group(c.Group), Naming: projection.Naming(c.Naming), Semconv: projection.Semconv(c.Semconv),
	}
}
