//go:build browser

package browsertest_test

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/64ed045f/weir/internal/check"
)

// folder is where pictures go; "" for nowhere.
var folder = os.Getenv("WEIR_PICTURES")

// picture writes one of the whole page, if there is a folder.
func (b *tab) picture(name string) {
	b.t.Helper()
	if folder == "" {
		return
	}
	data, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), data, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestPicturesOfTheDocumentation(t *testing.T) {
	if folder == "" {
		t.Skip("WEIR_PICTURES names no folder")
	}
	for len(pool(t, "").Throughput) < 20 { // until the curve of the last minute has a shape
		time.Sleep(time.Second)
	}
	b := newTab(t)
	b.see(looks[0])
	for _, p := range []struct {
		name, query   string
		width, height int64
	}{
		{"weirdebug", "", 1360, 720},
		{"weirdebug-groups", "?groups", 900, 370},
	} {
		b.do(chromedp.EmulateViewport(p.width, p.height))
		b.load(pages + p.query)
		shot := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
		small := reduced(t, shot.Data)
		if len(small) > 60_000 {
			t.Errorf("%s has %d bytes", p.name, len(small))
		}
		check.OK(t, os.WriteFile(filepath.Join(folder, p.name+".png"), small, 0o644))
	}
}

// reduced returns the picture with the 64 colors that most of its points have; others become the nearest of these.
func reduced(t *testing.T, data []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	bounds := full.Bounds()
	counts := make(map[color.Color]int)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			counts[full.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return cmp.Compare(counts[b], counts[a]) })
	small := image.NewPaletted(bounds, colors[:min(len(colors), 64)])
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			small.Set(x, y, full.At(x, y))
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	check.OK(t, encoder.Encode(&out, small))
	return out.Bytes()
}
