package externalpayments

import "context"

// Iterator walks through a list over all its pages, like the Rows of database/sql:
//
//	for it.Next(ctx) {
//		use(it.Value())
//	}
//	if err := it.Err(); err != nil { … }
//
// A page is fetched when its first value is read.
type Iterator[T any] struct {
	// fetch reads the page after a value, or the first one.
	fetch func(ctx context.Context, last *T) (*Page[T], error)
	// skip leaves values out; nil for none.
	skip  func(T) bool
	rest  []T
	last  *T
	value T
	// ended says that there is no further page.
	ended bool
	err   error
}

// Next goes to the next value; false at the end, and after an error.
func (it *Iterator[T]) Next(ctx context.Context) bool {
	for it.err == nil {
		for len(it.rest) > 0 {
			it.value, it.rest = it.rest[0], it.rest[1:]
			if it.skip == nil || !it.skip(it.value) {
				return true
			}
		}
		if it.ended {
			return false
		}
		page, err := it.fetch(ctx, it.last)
		if err != nil {
			it.err = err
			return false
		}
		it.rest = page.Data
		it.ended = !page.HasMore || len(page.Data) == 0
		if len(page.Data) > 0 {
			it.last = &page.Data[len(page.Data)-1]
		}
	}
	return false
}

// Value is the one that Next has gone to.
func (it *Iterator[T]) Value() T { return it.value }

// Err is why Next has ended early; nil at the end of the list.
func (it *Iterator[T]) Err() error { return it.err }
