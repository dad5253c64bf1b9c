package text

import (
	"math"
	"strconv"
	"strings"
)

// Duration returns seconds in at most 6 characters, such as 1.2ms.
func Duration(seconds float64) string {
	if math.IsNaN(seconds) || seconds <= 0 {
		return "-"
	}
	for _, unit := range []struct {
		name    string
		seconds float64
		most    float64
	}{{"ns", 1e-9, 1000}, {"µs", 1e-6, 1000}, {"ms", 1e-3, 1000}, {"s", 1, 60}, {"m", 60, 60}, {"h", 3600, 48}, {"d", 86400, 99999}} {
		if text := short(seconds / unit.seconds); seconds/unit.seconds < unit.most && text != strconv.FormatFloat(unit.most, 'f', 0, 64) {
			return text + unit.name
		}
	}
	return "ages"
}

// Count returns n in at most 6 characters, such as 1.2M.
func Count[N int | uint64 | float64](n N) string {
	value, sign := float64(n), ""
	if value < 0 {
		value, sign = -value, "-"
	}
	if value == math.Trunc(value) && value < 10000 {
		return sign + strconv.Itoa(int(value))
	}
	for _, unit := range []string{"", "k", "M", "G", "T", "P", "E"} {
		if text := short(value); value < 1000 && text != "1000" {
			return sign + text + unit
		}
		value /= 1000
	}
	return sign + "many"
}

// short formats a number from 0 to 99999 with two digits or more.
func short(value float64) string {
	if value >= 9.95 {
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', 1, 64), ".0")
}
