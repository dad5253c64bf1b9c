package report

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"regexp"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// A picture is a plot as an SVG element. Its colours are custom properties of the document that contains it.
type picture struct {
	Name string        // name of its file, without extension
	SVG  template.HTML // made by us; every text in it was escaped when it was drawn
}

// pictureWidth is the width of every picture in points: about a phone's, so that a phone shows the letters at
// full size.
const pictureWidth = 360

// The pen writes colours as numbers. Each of these numbers stands for a custom property, which replaces it in
// the finished picture.
var themeColors = []struct {
	name        string
	mark        color.RGBA
	light, dark string
}{
	{"ink", color.RGBA{1, 2, 1, 255}, "#1f2328", "#e6e8eb"},
	{"muted", color.RGBA{1, 2, 2, 255}, "#656d76", "#9aa2ab"},
	{"line", color.RGBA{1, 2, 3, 255}, "#d8dce1", "#363b42"},
	{"weir", color.RGBA{1, 2, 4, 255}, "#0f766e", "#3fc1b0"},
	{"go", color.RGBA{1, 2, 5, 255}, "#5b6470", "#b4bcc6"},
	{"other", color.RGBA{1, 2, 6, 255}, "#b9c1ca", "#565e68"},
	{"ants", color.RGBA{1, 2, 7, 255}, "#b45309", "#e0964a"},
	{"conc", color.RGBA{1, 2, 8, 255}, "#6d4fc4", "#a895ec"},
	{"errgroup", color.RGBA{1, 2, 9, 255}, "#2563b8", "#77a8ee"},
	{"pond", color.RGBA{1, 2, 10, 255}, "#a83262", "#e585ab"},
	{"workerpool", color.RGBA{1, 2, 11, 255}, "#6b7c1e", "#b4c45f"},
	{"gopool", color.RGBA{1, 2, 12, 255}, "#8a5a44", "#c79a83"},
}

func themed(name string) color.Color {
	for _, c := range themeColors {
		if c.name == name {
			return c.mark
		}
	}
	return themed("other")
}

// libraryColor returns the colour that distinguishes the library in curves and clouds of points.
func libraryColor(name string) color.Color {
	library := peer.LibraryOf(name)
	if library == "semaphore" {
		library = "go"
	}
	return themed(library)
}

// themeCSS returns the custom properties, for a page or for one SVG file.
func themeCSS(selector string) string {
	var light, dark strings.Builder
	for _, c := range themeColors {
		fmt.Fprintf(&light, "--%s:%s;", c.name, c.light)
		fmt.Fprintf(&dark, "--%s:%s;", c.name, c.dark)
	}
	return fmt.Sprintf("%[1]s{%[2]s}@media(prefers-color-scheme:dark){%[1]s{%[3]s}}", selector, light.String(), dark.String())
}

var (
	svgHead  = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
	svgStyle = regexp.MustCompile(`style="[^"]*"`)
	svgFont  = regexp.MustCompile(`font-family:[^;"]*`)
)

// faint is the style of lines behind the drawing.
var faint = draw.LineStyle{Color: themed("line"), Width: 0.4}

// A frame is the surroundings of a plot: its title, and a line below that.
type frame struct {
	name, title, below string // name is the name of the file
	height             vg.Length
}

// draw draws the plot in the frame, with its legend at the right.
func (f frame) draw(p *plot.Plot) picture {
	canvas := vgsvg.New(pictureWidth, f.height)
	all := draw.New(canvas)
	top := all.Max.Y - 9
	heading := letters(12.5, "ink")
	heading.Font.Weight = xfont.WeightBold
	all.FillText(heading, vg.Point{X: 1, Y: top}, fit(heading, f.title, pictureWidth-2))
	used := vg.Length(23)
	if f.below != "" {
		small := letters(10, "muted")
		all.FillText(small, vg.Point{X: 1, Y: top - 16}, fit(small, f.below, pictureWidth-2))
		used += 16
	}
	inner := draw.Crop(all, 0, 0, 0, -used)
	legend, room := p.Legend, vg.Length(8)
	if names := legend.Rectangle(all); names.Max.X > names.Min.X {
		room += names.Size().X + 10
	}
	p.Legend = plot.NewLegend()
	p.Draw(draw.Crop(inner, 0, -room, 0, 0))
	legend.Draw(draw.Crop(inner, pictureWidth-room+6, 0, 0, 0))

	var raw bytes.Buffer
	if _, err := canvas.WriteTo(&raw); err != nil {
		panic(err) // writing to a buffer never fails
	}
	title := join([]string{f.title, f.below}, ", ")
	width, height := canvas.Size()
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.5g %.5g" width="%.5g" height="%.5g" role="img"><title>%s</title>`,
		width.Points(), height.Points(), width.Points(), height.Points(), html.EscapeString(title))
	svg := svgHead.ReplaceAllLiteralString(raw.String(), head)
	svg = svgStyle.ReplaceAllStringFunc(svg, func(style string) string {
		for _, c := range themeColors {
			style = strings.ReplaceAll(style, fmt.Sprintf("#%02X%02X%02X", c.mark.R, c.mark.G, c.mark.B), "var(--"+c.name+")")
		}
		// Arial and Helvetica are as wide as the font with which the plot was laid out.
		return svgFont.ReplaceAllLiteralString(style, "font-family:'Liberation Sans',Arial,Helvetica,sans-serif")
	})
	return picture{f.name, template.HTML(strings.TrimSpace(svg))}
}

// standalone returns the picture as a file of its own, with both sets of colours.
func (p picture) standalone() string {
	head, rest, _ := strings.Cut(string(p.SVG), "<title>")
	return head + "<style>svg{color-scheme:light dark}" + themeCSS("svg") + "</style><title>" + rest + "\n"
}

var fileUnsafe = regexp.MustCompile(`[^a-z0-9.]+`)

// fileName returns a name that is valid on every file system.
func fileName(parts ...string) string {
	name := fileUnsafe.ReplaceAllString(strings.ToLower(strings.Join(parts, "-")), "-")
	return strings.Trim(name, "-.")
}

// nameLetters returns the style of a peer's name: bold for Weir's.
func nameLetters(size vg.Length, name string) text.Style {
	style := letters(size, "ink")
	if isWeir(name) {
		style.Font.Weight = xfont.WeightBold
	}
	return style
}

func letters(size vg.Length, colorName string) text.Style {
	return text.Style{
		Color:   themed(colorName),
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign:  text.XLeft,
		YAlign:  text.YCenter,
		Handler: plot.DefaultTextHandler,
	}
}

// newPlot returns an empty plot in the lab's style: no frame, faint lines, small letters.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // the background of the document shows through
	p.Legend.Top, p.Legend.Left, p.Legend.TextStyle = true, true, letters(10.5, "ink")
	p.Legend.TextStyle.YAlign, p.Legend.Padding = text.YBottom, 3
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle = draw.LineStyle{Color: themed("line"), Width: 0.75}
		axis.Tick.LineStyle = draw.LineStyle{}
		axis.Tick.Length = 0
		axis.Padding = 0
		vertical := axis.Tick.Label
		axis.Tick.Label = letters(10, "muted")
		axis.Tick.Label.XAlign, axis.Tick.Label.YAlign = vertical.XAlign, vertical.YAlign
		label := axis.Label.TextStyle
		axis.Label.TextStyle = letters(10, "muted")
		axis.Label.TextStyle.XAlign, axis.Label.TextStyle.YAlign, axis.Label.TextStyle.Rotation = label.XAlign, label.YAlign, label.Rotation
	}
	return p
}

// fit shortens a text to a width.
func fit(style text.Style, s string, width vg.Length) string {
	if style.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 1 && style.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}
