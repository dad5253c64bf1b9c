package top

import (
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
)

// maxInput is the most bytes of a line of input.
const maxInput = 200

// A prompt asks for a line, at the bottom of the terminal.
type prompt struct {
	question string
	line     string
	hint     string
	// enter gets the line. If it returns a problem, the prompt stays and shows it.
	enter func(line string) (problem string, cmd tea.Cmd)
}

func (p *prompt) key(msg tea.KeyPressMsg) (done bool, cmd tea.Cmd) {
	switch msg.String() {
	case "esc":
		return true, nil
	case "enter":
		if p.hint, cmd = p.enter(p.line); p.hint == "" {
			return true, cmd
		}
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(p.line)
		p.line = p.line[:len(p.line)-size]
	case "ctrl+u":
		p.line = ""
	default:
		p.insert(msg.Text)
	}
	return false, nil
}

// insert adds the printable characters of s.
func (p *prompt) insert(s string) {
	for _, r := range s {
		if unicode.IsPrint(r) && r != utf8.RuneError && len(p.line) < maxInput {
			p.line += string(r)
		}
	}
}

func (p *prompt) draw(width int) string {
	answer := " " + p.line + "▏ " + p.hint
	question := text.Clean(p.question, max(0, width-text.Width(answer))) // what is typed must be seen
	return bold.Styled(text.Clean(question+answer, width))
}
