package collectorreceiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// checkpoints are the tracker's records in a storage extension. What is in a storage cannot be listed, so the keys of the records are kept
// in records of their own, each with those of one hash: a new file has a small one written anew, and not one with all keys.
type checkpoints struct {
	client storage.Client
	index  [shards]map[string]bool
}

// shards is how many records there are with keys.
const shards = 256

// perBatch is how many records are asked for at once.
const perBatch = 1024

const (
	indexKey  = "index/%02x"
	recordKey = "record/"
)

// openCheckpoints opens the storage of an id, which is nil for none.
func openCheckpoints(ctx context.Context, host component.Host, id *component.ID, of component.ID) (*checkpoints, error) {
	if id == nil {
		return nil, nil
	}
	e, ok := host.GetExtensions()[*id]
	if !ok {
		return nil, fmt.Errorf("storage %q: there is no such extension; name it below extensions and in service::extensions", id)
	}
	s, ok := e.(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("storage %q: that extension is no storage; file_storage is one", id)
	}
	client, err := s.GetClient(ctx, component.KindReceiver, of, "")
	if err != nil {
		return nil, fmt.Errorf("storage %q: %w", id, err)
	}
	c := &checkpoints{client: client}
	return c, c.readIndex(ctx)
}

func (c *checkpoints) close(ctx context.Context) error { return c.client.Close(ctx) }

func shardOf(key string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(key))
	return h.Sum32() % shards
}

// readIndex reads which records there are.
func (c *checkpoints) readIndex(ctx context.Context) error {
	var ops []*storage.Operation
	for i := range c.index {
		ops = append(ops, storage.GetOperation(fmt.Sprintf(indexKey, i)))
	}
	if err := c.client.Batch(ctx, ops...); err != nil {
		return fmt.Errorf("reading how far files were read: %w", err)
	}
	for i, op := range ops {
		c.index[i] = map[string]bool{}
		if op.Value == nil {
			continue
		}
		var keys []string
		if json.Unmarshal(op.Value, &keys) != nil {
			continue // what they are for is read from its start
		}
		for _, key := range keys {
			c.index[i][key] = true
		}
	}
	return nil
}

// Get implements [tracker.Checkpoints].
func (c *checkpoints) Get(key string) ([]byte, error) {
	return c.client.Get(context.Background(), recordKey+key)
}

// Put implements [tracker.Checkpoints].
func (c *checkpoints) Put(records map[string][]byte) error {
	var ops []*storage.Operation
	changed := map[uint32]map[string]bool{}
	for key, data := range records {
		shard := shardOf(key)
		if data == nil {
			ops = append(ops, storage.DeleteOperation(recordKey+key))
		} else {
			ops = append(ops, storage.SetOperation(recordKey+key, data))
		}
		if c.index[shard][key] == (data != nil) {
			continue
		}
		if changed[shard] == nil {
			changed[shard] = maps.Clone(c.index[shard])
		}
		if data == nil {
			delete(changed[shard], key)
		} else {
			changed[shard][key] = true
		}
	}
	for shard, keys := range changed {
		list, err := json.Marshal(slices.Sorted(maps.Keys(keys)))
		if err != nil {
			return err
		}
		ops = append(ops, storage.SetOperation(fmt.Sprintf(indexKey, shard), list))
	}
	if err := c.client.Batch(context.Background(), ops...); err != nil {
		if errors.Is(err, storage.ErrStorageFull) {
			return fmt.Errorf("storing how far files were read: %w; make room, or give the storage another folder", err)
		}
		return fmt.Errorf("storing how far files were read: %w", err)
	}
	for shard, keys := range changed {
		c.index[shard] = keys
	}
	return nil
}

// Each implements [tracker.Checkpoints].
func (c *checkpoints) Each(give func(key string, record []byte) error) error {
	var keys []string
	for _, shard := range c.index {
		keys = append(keys, slices.Sorted(maps.Keys(shard))...)
	}
	for some := range slices.Chunk(keys, perBatch) {
		var ops []*storage.Operation
		for _, key := range some {
			ops = append(ops, storage.GetOperation(recordKey+key))
		}
		if err := c.client.Batch(context.Background(), ops...); err != nil {
			return fmt.Errorf("reading how far files were read: %w", err)
		}
		for i, op := range ops {
			if op.Value == nil {
				continue
			}
			if err := give(some[i], op.Value); err != nil {
				return err
			}
		}
	}
	return nil
}
