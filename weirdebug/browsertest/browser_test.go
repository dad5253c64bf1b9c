//go:build browser

package browsertest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/64ed045f/weir/weirdebug"
)

// What all tests share.
var (
	browser    context.Context
	pages      string // the address of the shop's pages
	controlled string // the address of those that have forms
	local      string // the address of pages for the pools of the tests
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "browsertest:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	path, err := findBrowser()
	if err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp("", "browsertest")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	endShop, err := openShop(folder)
	if err != nil {
		return 0, err
	}
	defer endShop()
	server := httptest.NewServer(weirdebug.Handler())
	defer server.Close()
	local = server.URL + "/"
	var end context.CancelFunc
	browser, end = newBrowser(path, folder)
	defer end()
	if err := chromedp.Do(browser); err != nil {
		return 0, fmt.Errorf("%s does not start: %w", path, err)
	}
	if err := awaitFigures(); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// openShop builds and starts the program that the tests look at.
func openShop(folder string) (end func(), err error) {
	program := filepath.Join(folder, "shop.exe")
	if output, err := exec.Command("go", "build", "-o", program, "./shop").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the shop cannot be built: %w: %s", err, output)
	}
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end = func() {
		_ = input.Close()
		_ = cmd.Wait()
	}
	if _, err := fmt.Fscan(output, &pages, &controlled); err != nil {
		end()
		return nil, fmt.Errorf("the shop writes no addresses: %w", err)
	}
	return end, nil
}

func findBrowser() (path string, err error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("a Chromium or Chrome must be in PATH; install one (Debian: apt-get install chromium), or test without -tags browser")
}

// newBrowser returns the context of a browser that keeps its files in the folder.
func newBrowser(path, folder string) (ctx context.Context, end context.CancelFunc) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU,
		chromedp.UserDataDir(filepath.Join(folder, "profile")), chromedp.Env("TMPDIR="+folder))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox refuses to run as root
	}
	ctx, endAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, endBrowser := chromedp.NewContext(ctx)
	return ctx, func() {
		endBrowser()
		endAll()
	}
}

// awaitFigures waits until the first page lists tasks that have run for long, which takes a second, and throughput has a curve.
func awaitFigures() error {
	for range 300 {
		s, err := snapshot(pages + "?find=/src/shop/")
		if err != nil {
			return err
		}
		if len(s.Longest) > 0 && slices.ContainsFunc(s.Pools, func(p weirdebug.Pool) bool { return len(p.Throughput) > 1 }) {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the pages show no throughput after 30 s")
}

// tab is the tab of the browser that a test has.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string // of the browser
}

func newTab(t *testing.T) *tab {
	t.Helper()
	ctx, cancelTime := context.WithTimeout(browser, 30*time.Second)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		closeTab()
		cancelTime()
	})
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	call(b, audits.Enable, cdp.Empty{})
	return b
}

// listen notes what the browser finds wrong.
func (b *tab) listen(event any) {
	complain := func(format string, args ...any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.complaints = append(b.complaints, fmt.Sprintf(format, args...))
	}
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			complain("%s of %s: %s", e.Entry.Level, e.Entry.Source, e.Entry.Text)
		}
	case *runtime.EventConsoleAPICalled:
		complain("a script writes to the console: %s", e.Type)
	case *runtime.EventExceptionThrown:
		complain("a script fails: %s", e.ExceptionDetails.Text)
	case *network.EventLoadingFailed:
		complain("a request fails: %s %s", e.Type, e.ErrorText)
	case *network.EventResponseReceived:
		if e.Response.Status >= http.StatusBadRequest {
			complain("a request is answered with %d: %s", e.Response.Status, e.Response.URL)
		}
	case *page.EventJavascriptDialogOpening:
		complain("a dialog opens: %s", e.Message)
	case *audits.EventIssueAdded:
		complain("issue %s", e.Issue.Code)
	}
}

// complained returns what the browser has found wrong since the last call.
func (b *tab) complained() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	complaints := b.complaints
	b.complaints = nil
	return complaints
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// load opens a page, and waits for it.
func (b *tab) load(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// loads does something that opens another page, and waits for that. It returns the status of the answer.
func (b *tab) loads(step chromedp.Action[chromedp.Void]) int {
	b.t.Helper()
	response, err := chromedp.RunResponse(b.ctx, step)
	if err != nil {
		b.t.Fatal(err)
	}
	return int(response.Status)
}

func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// js returns the value of an expression.
func js[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%v in %s", err, expression)
	}
	return value
}

// look is how a reader sees pages.
type look struct {
	name   string // in those of pictures
	width  int64
	scheme string
}

var looks = []look{
	{"wide-light", 1400, "light"},
	{"wide-dark", 1400, "dark"},
	{"narrow-light", 360, "light"},
	{"narrow-dark", 360, "dark"},
}

func (b *tab) see(l look) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(l.width, 800))
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}},
	})
}

func (b *tab) withoutScripts() {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}
