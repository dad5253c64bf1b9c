package peer_test

import (
	"testing"

	"github.com/64ed045f/weir/lab/internal/peer"
)

func TestCollectRunsEachTaskOnceAndKeepsTheOrder(t *testing.T) {
	forAll(t, ofOneProducer(settings()), func(p peer.Peer, s setting) error {
		if p.Collect == nil {
			return errLacks
		}
		return checkCollect(p.Collect, s)
	})
}

func TestCollectHoldsItsLimit(t *testing.T) {
	forAll(t, ofOneProducer(crowded()), func(p peer.Peer, s setting) error {
		if p.Collect == nil {
			return errLacks
		}
		must, may := bounds(p, s)
		return checkLimit(collectAsRunner(p.Collect), s, must, may)
	})
}

func TestStreamRunsEachTaskOnceAndKeepsTheOrder(t *testing.T) {
	forAll(t, ofOneProducer(settings()), func(p peer.Peer, s setting) error {
		if p.Stream == nil {
			return errLacks
		}
		return checkStream(p.Stream, s)
	})
}

func TestStreamHoldsItsLimit(t *testing.T) {
	forAll(t, ofOneProducer(crowded()), func(p peer.Peer, s setting) error {
		if p.Stream == nil {
			return errLacks
		}
		p.Unlimited = false // that is about Open and Collect
		must, may := bounds(p, s)
		return checkLimit(streamAsRunner(p.Stream), s, must, may)
	})
}

func TestStreamDoesNotWaitForItsEnd(t *testing.T) {
	forAll(t, ofOneProducer(crowded()), func(p peer.Peer, s setting) error {
		if p.Stream == nil {
			return errLacks
		}
		return checkFlow(p.Stream, s)
	})
}

func TestSortSorts(t *testing.T) {
	var all []setting
	for _, limit := range []int{1, 2, 8} {
		for _, n := range []int{10, 100_000} {
			all = append(all, setting{limit: limit, tasks: n, patience: patience})
		}
	}
	forAll(t, all, func(p peer.Peer, s setting) error {
		if p.Sort == nil {
			return errLacks
		}
		return checkSort(p.Sort, s)
	})
}
