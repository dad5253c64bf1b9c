package weirhttp

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// host is where a request goes, however its URL spells it.
type host struct{ name, port string }

func hostOf(u *url.URL) host {
	return host{hostName(u.Hostname()), portNumber(u.Port(), u.Scheme)}
}

// String returns the host in the form used in errors.
func (h host) String() string { return net.JoinHostPort(h.name, h.port) }

func portNumber(port, scheme string) string {
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		return strconv.FormatUint(n, 10) // without leading zeros
	}
	switch {
	case port != "":
		return port
	case scheme == "http":
		return "80"
	case scheme == "https":
		return "443"
	default:
		return ""
	}
}

// Longer names and labels cannot be looked up (RFC 1035, 2.3.4). An encoded label has at least one letter for
// each rune, so these are bounds of runes, too.
const (
	longestName  = 255
	longestLabel = 63
)

// hostName returns a name in the form in which it is looked up: lower case, in ASCII, without the dot of the
// root. It returns an address in its shortest form. It encodes no name or label that is too long to be looked
// up: that would take long, as a redirect may have such a name.
func hostName(name string) string {
	// Any other name is no address, and ParseAddr would allocate an error.
	if strings.Contains(name, ":") || name != "" && name[0] <= '9' {
		if address, err := netip.ParseAddr(name); err == nil {
			return address.Unmap().String()
		}
	}
	name = strings.ReplaceAll(name, "İ", "i\u0307") // which ToLower takes for i
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if isASCII(name) || utf8.RuneCountInString(name) > longestName {
		return name
	}
	labels := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".。．｡", r) }) // of RFC 3490
	for i, label := range labels {
		if !isASCII(label) && utf8.RuneCountInString(label) <= longestLabel {
			labels[i] = "xn--" + punycode([]rune(strings.Map(cherokeeUpper, label)))
		}
	}
	return strings.Join(labels, ".")
}

// cherokeeUpper undoes what ToLower does to a Cherokee letter. These letters are looked up in upper case: those in lower
// case came into Unicode later.
func cherokeeUpper(r rune) rune {
	if unicode.Is(unicode.Cherokee, r) {
		return unicode.ToUpper(r)
	}
	return r
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7f })
}

// punycode encodes a label as in RFC 3492, and uses the names of that RFC. The label has at most longestLabel
// runes, so delta stays below 1<<27, and an int of 32 bits holds it.
func punycode(label []rune) string {
	const (
		base, tMin, tMax     = 36, 1, 26
		skew, damp           = 38, 700
		initialBias, initial = 72, 0x80
		digits               = "abcdefghijklmnopqrstuvwxyz0123456789"
	)
	var out []byte
	for _, r := range label {
		if r < initial {
			out = append(out, byte(r))
		}
	}
	basic := len(out)
	if basic > 0 {
		out = append(out, '-')
	}
	adapt := func(delta, points, divisor int) (bias int) {
		delta /= divisor
		delta += delta / points
		for delta > (base-tMin)*tMax/2 {
			delta /= base - tMin
			bias += base
		}
		return bias + (base-tMin+1)*delta/(delta+skew)
	}
	n, delta, bias := rune(initial), 0, initialBias
	for handled := basic; handled < len(label); {
		next := rune(0x10ffff)
		for _, r := range label {
			if r >= n {
				next = min(next, r)
			}
		}
		delta += int(next-n) * (handled + 1)
		n = next
		for _, r := range label {
			switch {
			case r < n:
				delta++
			case r == n:
				q := delta
				for k := base; ; k += base {
					t := min(max(k-bias, tMin), tMax)
					if q < t {
						break
					}
					out = append(out, digits[t+(q-t)%(base-t)])
					q = (q - t) / (base - t)
				}
				out = append(out, digits[q])
				divisor := 2
				if handled == basic {
					divisor = damp
				}
				bias = adapt(delta, handled+1, divisor)
				delta = 0
				handled++
			}
		}
		delta++
		n++
	}
	return string(out)
}
