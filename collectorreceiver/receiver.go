package collectorreceiver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sessionspan/sessionspan/collectorreceiver/internal/metadata"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/tracker"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"
	"go.uber.org/zap"
)

// sessionReceiver follows session files from Start to Shutdown.
type sessionReceiver struct {
	settings receiver.Settings
	config   *Config
	next     consumer.Traces

	host    component.Host
	tracker *tracker.Tracker
	kept    *checkpoints // nil without storage
	metrics *metadata.Telemetry
	counts  counts
	health  health

	cancel context.CancelFunc
	ended  chan struct{}
}

func newReceiver(set receiver.Settings, c *Config, next consumer.Traces) (*sessionReceiver, error) {
	return &sessionReceiver{settings: set, config: c, next: next}, nil
}

// Start implements [component.Component].
func (r *sessionReceiver) Start(ctx context.Context, host component.Host) (err error) {
	r.host = host
	r.health.report = func(e *componentstatus.Event) { componentstatus.ReportStatus(host, e) }
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close(ctx))
		}
	}()
	if r.kept, err = openCheckpoints(ctx, host, r.config.StorageID, r.settings.ID); err != nil {
		return err
	}
	o, err := r.options()
	if err != nil {
		return err
	}
	to, err := newDownstream(r)
	if err != nil {
		return err
	}
	if r.metrics, err = metadata.NewTelemetry(r.settings.TelemetrySettings, r.settings.ID, r.counts.now); err != nil {
		return err
	}
	if o.Follow.Notifier, err = follow.NewNotifier(); err != nil { // without it there is a look at everything all the same
		r.settings.Logger.Info("The system does not tell of changes; files are looked at at every poll_interval", zap.Error(err))
	}
	if r.tracker, err = tracker.New(o, to); err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.cancel, r.ended = cancel, make(chan struct{})
	go func() {
		defer close(r.ended)
		if err := r.tracker.Run(running); err != nil {
			r.settings.Logger.Error("Following session files has ended", zap.Error(err))
			componentstatus.ReportStatus(host, componentstatus.NewPermanentErrorEvent(err))
		}
	}()
	return nil
}

// Shutdown implements [component.Component]. What has ended is given to the next component once more; what is open stays so for the next
// start.
func (r *sessionReceiver) Shutdown(ctx context.Context) (err error) {
	if r.cancel != nil {
		r.cancel()
		r.cancel = nil
		select {
		case <-r.ended:
		case <-ctx.Done(): // it is still at work on what this would take from it
			return fmt.Errorf("the next component has not answered: %w", ctx.Err())
		}
		err = r.tracker.Flush(ctx)
	}
	return errors.Join(err, r.close(ctx))
}

// close lets go of what was opened.
func (r *sessionReceiver) close(ctx context.Context) error {
	var errs []error
	if r.tracker != nil {
		errs = append(errs, r.tracker.Close())
		r.tracker = nil
	}
	if r.metrics != nil {
		errs = append(errs, r.metrics.Shutdown())
		r.metrics = nil
	}
	if r.kept != nil {
		errs = append(errs, r.kept.close(ctx))
		r.kept = nil
	}
	return errors.Join(errs...)
}

// options are those of the tracker.
func (r *sessionReceiver) options() (tracker.Options, error) {
	c := r.config
	patterns, err := c.patterns()
	if err != nil {
		return tracker.Options{}, err
	}
	o := tracker.Options{
		Follow:     follow.Options{Patterns: patterns, Interval: c.PollInterval, MaxOpen: c.MaxOpenFiles},
		Source:     source.Options{Format: c.Format, MaxLine: int(c.MaxLineSize)},
		Projection: c.projection(),
		FromNow:    c.StartAt == startAtEnd,
		BatchBytes: int(c.Batch.MaxSize), BatchWait: c.Batch.FlushTimeout,
		StateBytes: int64(c.MaxStateMemory), LineBytes: int64(c.MaxLineMemory),
		Retry: tracker.Retry{
			First: c.RetryOnFailure.InitialInterval, Most: c.RetryOnFailure.MaxInterval, For: c.RetryOnFailure.MaxElapsedTime,
			Factor: c.RetryOnFailure.Multiplier, Spread: c.RetryOnFailure.RandomizationFactor, Never: !c.RetryOnFailure.Enabled,
		},
		Generation: c.ServiceName,
		Problem:    r.problem,
		Stats:      r.counts.set,
	}
	if r.kept == nil {
		r.settings.Logger.Warn("There is no storage for how far files were read: a restart repeats all spans of start_at beginning, " +
			"and leaves out those of start_at end that ended meanwhile")
		return o, nil
	}
	o.Checkpoints = r.kept
	o.Unsaved = func(err error) {
		if r.health.set(&r.health.storage, err) && err != nil {
			r.settings.Logger.Warn("A restart now would repeat spans", zap.Error(err))
		}
	}
	return o, nil
}

// problem logs what is wrong with a file, or notable about it, and counts it.
func (r *sessionReceiver) problem(path string, err error, note bool) {
	log := r.settings.Logger.Warn
	fields := []zap.Field{zap.Error(err)}
	if path != "" {
		fields = append(fields, zap.String("path", path))
	}
	damage, damaged := errors.AsType[*format.DamageError](err)
	switch {
	case errors.Is(err, tracker.ErrNoFile):
		log("A pattern means no file yet", zap.String("include", path))
		return
	case errors.Is(err, format.ErrLineTooLong):
		r.counts.skipped.Add(1)
	case damaged && !note:
		r.counts.broken.Add(1)
	}
	if damaged {
		fields = append(fields, zap.Int("line", damage.Line), zap.Int64("offset", damage.Offset))
	}
	_, unknown := errors.AsType[*source.UnknownFormatError](err)
	if note || unknown { // folders have other files beside sessions
		log = r.settings.Logger.Info
	}
	switch {
	case unknown:
		log("A file is left alone", fields...)
	case path == "":
		log("About following session files", fields...)
	case note:
		log("About a session file", fields...)
	default:
		log("Something is wrong with a session file", fields...)
	}
}

// health is what keeps the receiver from its work, for now.
type health struct {
	mu                  sync.Mutex
	report              func(*componentstatus.Event)
	downstream, storage error
}

// set takes what is wrong with one of them, nil for nothing, and reports whether that is news.
func (h *health) set(of *error, err error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if (*of == nil) == (err == nil) {
		return false
	}
	*of = err
	if all := errors.Join(h.downstream, h.storage); all != nil {
		h.report(componentstatus.NewRecoverableErrorEvent(all))
	} else {
		h.report(componentstatus.NewEvent(componentstatus.StatusOK))
	}
	return true
}
