package peers_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/64ed045f/weir/verify/peers"
)

func TestPageIsWrittenFromTheCases(t *testing.T) {
	var sections []peers.Section
	for _, peer := range all {
		version, names := namesOf(t, peer)
		sections = append(sections, peers.Section{Peer: peer, Version: version, Tests: len(names)})
	}
	compare(t, filepath.Join("..", "..", "docs", "peers.md"), peers.Page(sections))
}

// TestEveryCaseIsComplete is also what keeps the tables of the page whole.
func TestEveryCaseIsComplete(t *testing.T) {
	name := regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	sentence := regexp.MustCompile(`^[A-Z][^|\n]*[^.|\n]\.$`)
	for _, peer := range all {
		seen := map[string]bool{}
		for _, c := range peer.Cases {
			at := peer.Name + "/" + c.Name
			if c.Run == nil && len(c.Ours) == 0 {
				t.Errorf("%s: %q has neither code nor tests of the library", at, c.Behaviour)
			}
			if c.Run == nil && c.Name != "" || c.Run != nil && (!name.MatchString(c.Name) || seen[c.Name]) {
				t.Errorf("%s is not the name of one test", at)
			}
			seen[c.Name] = true
			if !sentence.MatchString(c.Behaviour) {
				t.Errorf("%s: its behaviour is not a sentence: %q", at, c.Behaviour)
			}
			if c.Different != "" && !sentence.MatchString(c.Different) {
				t.Errorf("%s: why it differs is not a sentence: %q", at, c.Different)
			}
			if len(c.Theirs) == 0 {
				t.Errorf("%s: %q answers nothing", at, c.Behaviour)
			}
		}
		for _, apart := range peer.Apart {
			if len(apart.Theirs) == 0 || apart.Reason == "" || strings.HasSuffix(apart.Reason, ".") {
				t.Errorf("%s: %v stand apart without a reason: %q", peer.Name, apart.Theirs, apart.Reason)
			}
		}
	}
}
