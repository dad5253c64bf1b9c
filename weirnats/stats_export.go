package weirnats

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/64ed045f/weir/exporter"
)

// counts returns the counts for package exporter.
func (q *queue) counts(ctx context.Context) (exporter.QueueCounts, error) {
	s, err := q.stats(ctx)
	if err != nil {
		return exporter.QueueCounts{}, err
	}
	return exporter.QueueCounts{
		Waiting: s.Waiting, Leased: s.Leased, Redelivered: s.Redelivered, Dead: s.Dead, Later: s.Later, Accepted: uint64(max(0, s.Accepted)), Oldest: s.Age,
	}, nil
}

// where returns where the messages are, for metrics and pages: the folder, or the URLs without user,
// password, token and query.
func (o *options) where() string {
	if o.url == "" {
		dir := cmp.Or(o.dir, defaultDir)
		if path, err := filepath.Abs(dir); err == nil {
			return path
		}
		return dir
	}
	var all []string
	for text := range strings.SplitSeq(o.url, ",") {
		text = strings.TrimSpace(text)
		if !strings.Contains(text, "://") {
			text = "nats://" + text
		}
		if u, err := url.Parse(text); err == nil && u.Host != "" { // otherwise it is not known which part is a password
			all = append(all, u.Scheme+"://"+u.Host)
		}
	}
	return strings.Join(all, ",")
}
