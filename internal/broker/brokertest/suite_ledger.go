package brokertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func createOnce(t *testing.T, s Services) {
	r := record("a", time.Now().UTC())
	first, err := s.Ledger.Create(t.Context(), r)
	must(t, err)
	if again, err := s.Ledger.Create(t.Context(), r); err != nil || again != first {
		t.Errorf("the same again: revision %d, %v; want %d", again, err, first)
	}
	r.Epoch = 7
	_, err = s.Ledger.Create(t.Context(), r)
	want(t, "another creation", err, reminder.ErrExists)
}

func updateByRevision(t *testing.T, s Services) {
	ctx, r := t.Context(), record("a", time.Now().UTC())
	first, err := s.Ledger.Create(ctx, r)
	must(t, err)
	r.Epoch = 2
	second, err := s.Ledger.Update(ctx, r, first)
	must(t, err)
	if again, err := s.Ledger.Update(ctx, r, first); err != nil || again != second {
		t.Errorf("an update whose answer was lost, again: revision %d, %v; want %d", again, err, second)
	}
	r.Epoch = 3
	_, err = s.Ledger.Update(ctx, r, first)
	want(t, "an update over an old revision", err, reminder.ErrConflict)
	got, revision, err := s.Ledger.Get(ctx, r.Key.Token())
	if err != nil || revision != second || got.Epoch != 2 {
		t.Errorf("get: epoch %d at %d, %v; want 2 at %d", got.Epoch, revision, err, second)
	}
	if last, err := s.Ledger.LastRevision(ctx); err != nil || last != second {
		t.Errorf("the last revision: %d, %v; want %d", last, err, second)
	}
	_, _, err = s.Ledger.Get(ctx, record("b", r.DueTime).Key.Token())
	want(t, "get of nothing", err, reminder.ErrNotFound)
	_, err = s.Ledger.Update(ctx, record("b", r.DueTime), 1)
	want(t, "an update of nothing", err, reminder.ErrConflict)
}

func forgetExpired(t *testing.T, s Services) {
	ctx, r := t.Context(), record("a", time.Now().UTC())
	r.ExpireTime = r.UpdateTime.Add(time.Second)
	first, err := s.Ledger.Create(ctx, r)
	must(t, err)
	eventually(t, "the record is forgotten", func() bool {
		_, _, err := s.Ledger.Get(ctx, r.Key.Token())
		return errors.Is(err, reminder.ErrNotFound)
	})
	r.Epoch, r.ExpireTime = 2, r.UpdateTime.Add(time.Hour)
	if second, err := s.Ledger.Create(ctx, r); err != nil || second <= first {
		t.Errorf("created anew: revision %d, %v; want more than %d", second, err, first)
	}
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(30 * time.Second); !check(); {
		select {
		case <-end:
			t.Fatalf("not after 30 s: %s", what)
		case <-tick.C:
		}
	}
}

var errEnough = errors.New("enough")

// three writes three revisions of one reminder and one of another.
func three(t *testing.T, s Services) (numbers []uint64, other uint64) {
	t.Helper()
	r, last := record("a", time.Now().UTC()), uint64(0)
	for range 3 {
		next, err := s.Ledger.Update(t.Context(), r, last)
		must(t, err)
		numbers, last = append(numbers, next), next
		r.Epoch++
	}
	o := record("b", r.DueTime)
	o.Key.Schedule = "renewal"
	other, err := s.Ledger.Create(t.Context(), o)
	must(t, err)
	return numbers, other
}

// followed are the numbers that a follower sees before it is idle.
func followed(t *testing.T, s Services, from uint64, most int) (numbers []uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := s.Ledger.Follow(ctx, from, func(r broker.Revision) error {
		numbers = append(numbers, r.Number)
		return r.Err
	}, func() error {
		if len(numbers) >= most {
			return errEnough
		}
		return nil
	})
	want(t, "the end of following", err, errEnough)
	return numbers
}

func followFrom(t *testing.T, s Services) {
	numbers, other := three(t, s)
	if diff := cmp.Diff([]uint64{numbers[1], numbers[2], other}, followed(t, s, numbers[1], 3)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := followed(t, s, other+1, 0); len(got) != 0 {
		t.Errorf("behind the end: %v", got)
	}
}

func followLatest(t *testing.T, s Services) {
	numbers, other := three(t, s)
	if diff := cmp.Diff([]uint64{numbers[2], other}, followed(t, s, 0, 2)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func listSchedule(t *testing.T, s Services) {
	numbers, _ := three(t, s)
	var got []uint64
	must(t, s.Ledger.Of(t.Context(), "shop", "renewal.notice", func(r broker.Revision) error {
		got = append(got, r.Number)
		return r.Err
	}))
	if diff := cmp.Diff(numbers[2:], got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
