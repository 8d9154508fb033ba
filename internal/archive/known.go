package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/internal/source"
)

// KnownIndex is the index of the sessions in the known agents' folders, empty when there are none. The error is that of the
// context.
func KnownIndex(ctx context.Context, o source.Options) (*Index, error) {
	found, _ := Known(ctx, AnyAgent) // what cannot be looked into has no session to offer
	ix := NewIndex(ctx, found.Files, nil, o)
	return ix, ctx.Err()
}

// Known lists the files with the name of a session file in the folders of an agent, or of [AnyAgent], whatever their format. What else is
// there is the agent's own business: there are no notes about it. [ErrNoSession] says where it looked.
func Known(ctx context.Context, agent string) (Found, error) {
	looked, err := Folders(agent)
	if err != nil {
		return Found{}, err
	}
	var found Found
	for _, dir := range looked {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			continue // that agent is not used here
		}
		files, bad := below(ctx, dir)
		files = slices.DeleteFunc(files, func(path string) bool { // a session in which nothing was ever said
			info, err := os.Stat(path)
			return err == nil && info.Size() == 0
		})
		found.Files, found.Bad = append(found.Files, files...), append(found.Bad, bad...)
	}
	if err := ctx.Err(); err != nil {
		return Found{}, err
	}
	if len(found.Files) == 0 && len(found.Bad) == 0 {
		return Found{}, fmt.Errorf("%w: looked in %s for files of the formats %s; name a file or a folder",
			ErrNoSession, strings.Join(looked, ", "), strings.Join(source.Names()[1:], ", "))
	}
	return found, nil
}
