package audit

import "time"

// StatusCounts are the numbers of a schedule's status.
type StatusCounts struct {
	// Read is the store's clock when the object was read, Lag how old what it says may be: it is written some seconds after
	// what it reports, and not more often than its interval.
	Read time.Time
	Lag  time.Duration
	// Written: the operator has written counts at all.
	Written bool

	Due, Missed, Sent, SentLate, Retried, Suppressed, Cancelled, Dead, Pending, Republished int64
	Open, Total, Replayed, Discarded                                                        int64
}

// status looks whether status shows what the tally says, or said at some time inside the lag: the changes of the
// ledger since then are taken back one by one until the numbers agree.
func (v *verdict) status(b *Books, f Facts) {
	s := *f.Status
	oldest := s.Read.Add(-s.Lag)
	have := CountsOf(f.Tally)
	at := have.clone()
	changes := b.changes
	for len(changes) > 0 && changes[len(changes)-1].number > f.Tally.Applied {
		changes = changes[:len(changes)-1]
	}
	latest := s.compare(at, oldest)
	for differing := latest; len(differing) > 0; differing = s.compare(at, oldest) {
		if len(changes) == 0 || changes[len(changes)-1].written.Before(oldest) {
			for _, d := range latest {
				v.find(Status, d.field, "status says %d, the tally %d", d.status, d.tally)
			}
			return
		}
		at.step(changes[len(changes)-1], -1)
		changes = changes[:len(changes)-1]
	}
}

// shown is a number in status that is not the tally's.
type shown struct {
	field         string
	status, tally int64
}

// compare is what in status differs from some counters. What falls due by the passing of time alone may have done so at
// any time of the lag.
func (s StatusCounts) compare(c Counts, oldest time.Time) (all []shown) {
	if !s.Written && c.Due(s.Read)+c.Cancelled+c.Pending() == 0 {
		return nil
	}
	for _, n := range []shown{
		{"counts.missed", s.Missed, c.Missed}, {"counts.sent", s.Sent, c.Sent}, {"counts.sentLate", s.SentLate, c.SentLate},
		{"counts.retried", s.Retried, c.Retried}, {"counts.suppressed", s.Suppressed, c.Suppressed}, {"counts.cancelled", s.Cancelled, c.Cancelled},
		{"counts.dead", s.Dead, c.Dead}, {"counts.pending", s.Pending, c.Pending()}, {"counts.republished", s.Republished, c.Republished},
		{"deadLetters.open", s.Open, c.Dead}, {"deadLetters.total", s.Total, c.DeadTotal}, {"deadLetters.replayed", s.Replayed, c.Replayed},
		{"deadLetters.discarded", s.Discarded, c.Discarded},
	} {
		if n.tally = max(n.tally, 0); n.status != n.tally { // status shows none below zero
			all = append(all, n)
		}
	}
	if least, most := c.Due(oldest), c.Due(s.Read); s.Due < least || s.Due > most {
		all = append(all, shown{"counts.due", s.Due, most})
	}
	return all
}
