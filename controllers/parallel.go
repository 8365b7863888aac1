package controllers

import (
	"context"
	"iter"
	"sync"
)

// atOnce is how many reminders of one pass are in work at once.
const atOnce = 32

// inParallel calls fn for each item; the first error ends it.
func inParallel[T any](ctx context.Context, items iter.Seq[T], fn func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan T)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for item := range work {
				if ctx.Err() != nil {
					continue
				}
				if err := guarded(ctx, func() error { return fn(ctx, item) }); err != nil {
					cancel(err)
				}
			}
		})
	}
	for item := range items {
		if ctx.Err() != nil {
			break
		}
		work <- item
	}
	close(work)
	all.Wait()
	return context.Cause(ctx)
}
