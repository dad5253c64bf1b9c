package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/64ed045f/weir/lab/internal/behaviour"
	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// list shows what there is to run.
func list(out io.Writer, s suite.Scale) error {
	var text strings.Builder
	plan := suite.Plan(s)
	for _, about := range suite.All() {
		fmt.Fprintf(&text, "%s: %s\n", about.Name, about.Title)
		for _, e := range plan {
			if e.ID.Suite != about.Name {
				continue
			}
			took := time.Duration(e.Rounds*len(e.Contenders)) * e.Turn
			fmt.Fprintf(&text, "  %s\t%d peers\t%d rounds\t%v\n", name(e.ID), len(e.Contenders), e.Rounds, took.Round(time.Second))
		}
	}
	fmt.Fprintln(&text, "\nscenarios of suite behaviour:")
	for _, s := range behaviour.Scenarios() {
		fmt.Fprintf(&text, "  %s\t%s\n", s.ID, s.Title)
	}
	fmt.Fprintln(&text, "\npeers:")
	for _, p := range peer.All() {
		fmt.Fprintf(&text, "  %s\t%s\n", p.Name, p.About)
	}
	to := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(to, text.String()); err != nil {
		return err
	}
	return to.Flush()
}
