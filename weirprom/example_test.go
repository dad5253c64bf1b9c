package weirprom_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/weirhttp"
	"github.com/64ed045f/weir/weirprom"
)

// show prints a metric as a scrape of the registry would.
func show(registry prometheus.Gatherer, name string) {
	families, err := registry.Gather()
	if err != nil {
		panic(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				fmt.Printf("%s=%s ", l.GetName(), l.GetValue())
			}
			fmt.Println(value(m))
		}
	}
}

// A program that uses the default registry calls prometheus.MustRegister and promhttp.Handler instead.
func ExampleNew() {
	registry := prometheus.NewRegistry()
	registry.MustRegister(weirprom.New())
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	thumbnails := weir.New(4, weir.Name("thumbnails"))
	defer thumbnails.Close()
	for range 3 {
		if err := thumbnails.Submit(func() {}); err != nil {
			panic(err)
		}
	}
	thumbnails.Wait()
	show(registry, "weir_pool_finished_total")
	// Output: pool=thumbnails 3
}

func ExampleLimiter() {
	api := weirhttp.Limit(http.NotFoundHandler(), 100)
	registry := prometheus.NewRegistry()
	registry.MustRegister(weirprom.New(weirprom.Limiter("api", api)))
	show(registry, "weir_http_limiter_limit")
	// Output: limiter=api 100
}

func ExampleTransport() {
	backend := &weirhttp.Transport{PerHost: 8}
	registry := prometheus.NewRegistry()
	registry.MustRegister(weirprom.New(weirprom.Transport("backend", backend)))
	show(registry, "weir_http_transport_run_seconds")
	// Output: transport=backend 0
}

func ExampleKeeper() {
	database := reuse.NewKeeper(reuse.KeeperConfig[int]{Capacity: 10, Open: func(context.Context) (int, error) { return 0, nil }})
	defer database.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(weirprom.New(weirprom.Keeper("database", database)))
	show(registry, "weir_keeper_capacity")
	// Output: keeper=database 10
}

// A library's own metrics need not wait for those of its program: they may be another collector.
func ExampleNoPools() {
	registry := prometheus.NewRegistry()
	registry.MustRegister(weirprom.New())
	api := weirhttp.Limit(http.NotFoundHandler(), 100)
	registry.MustRegister(weirprom.New(weirprom.NoPools(), weirprom.Limiter("api", api)))
	show(registry, "weir_http_limiter_limit")
	// Output: limiter=api 100
}

func ExampleOnly() {
	registry := prometheus.NewRegistry()
	registry.MustRegister(weirprom.New(weirprom.Only(func(p weir.PoolInfo) bool { return p.Name == "mail" })))
	for _, name := range []string{"mail", "scratch"} {
		p := weir.New(1, weir.Name(name))
		defer p.Close()
		if err := p.Submit(func() {}); err != nil {
			panic(err)
		}
		p.Wait()
	}
	show(registry, "weir_pool_accepted_total")
	// Output: pool=mail 1
}

func ExampleMaxNames() {
	registry := prometheus.NewRegistry()
	tenants := weirprom.Only(func(p weir.PoolInfo) bool { return len(p.Name) == len("tenant 1") && p.Name[:6] == "tenant" })
	registry.MustRegister(weirprom.New(tenants, weirprom.MaxNames(2)))
	for i := range 5 {
		p := weir.New(1, weir.Name(fmt.Sprint("tenant ", i)))
		defer p.Close()
		if err := p.Submit(func() {}); err != nil {
			panic(err)
		}
		p.Wait()
	}
	show(registry, "weir_pools")
	// Output:
	// pool=other 3
	// pool=tenant 0 1
	// pool=tenant 1 1
}

func ExampleMetrics() {
	for _, m := range weirprom.Metrics()[:3] {
		fmt.Println(m.Type, m.Name, m.Labels)
	}
	// Output:
	// gauge weir_pools [pool]
	// counter weir_pool_accepted_total [pool]
	// counter weir_pool_finished_total [pool]
}
