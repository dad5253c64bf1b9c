package weirotel

import "github.com/64ed045f/weir/exporter"

// pools are the pools of weir.Pools, added up by name.
type pools struct {
	*exporter.Pools
	sources []source[exporter.Totals] // in the order of Look
}

// look returns the present totals of each name.
func (p *pools) look() []source[exporter.Totals] {
	totals := p.Look()
	for i := range totals {
		t := &totals[i]
		if i == len(p.sources) {
			p.sources = append(p.sources, newSource(ofPools, t.Since, nil, t.Name))
		}
		p.sources[i].value = t
	}
	return p.sources
}
