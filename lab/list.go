package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// showList prints the experiments that the other flags select.
func (o *options) showList(stdout io.Writer) error {
	var text strings.Builder
	before := ""
	for _, e := range o.plan() {
		if e.ID.Suite != before {
			before = e.ID.Suite
			about := suite.All()[slices.Index(suiteNames(), before)]
			fmt.Fprintf(&text, "%s: %s\n", about.Name, about.Title)
		}
		fmt.Fprintf(&text, "  %s\t%d peers\t%d rounds\t%v\t%s\n", name(e.ID), len(e.Contenders), e.Rounds, took(e).Round(time.Second), e.About)
	}
	fmt.Fprintln(&text, "\npeers:")
	about := map[string]string{}
	for _, p := range peer.All() {
		about[p.Name] = p.About
	}
	for _, name := range peerNames() {
		fmt.Fprintf(&text, "  %s\t%s\n", name, about[name])
	}
	to := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(to, text.String()); err != nil {
		return err
	}
	return to.Flush()
}

// took returns about how long the experiment takes.
func took(e suite.Experiment) time.Duration {
	return time.Duration(e.Rounds*len(e.Contenders)) * e.Turn
}
