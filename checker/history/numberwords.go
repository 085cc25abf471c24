package history

import "strconv"

// Counted is a number and what is counted, agreeing with it: "1 pause", "1,234 pauses". All texts that show a count use it.
func Counted[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(n) + " " + many
}

// Grouped writes 1234567 as 1,234,567.
func Grouped[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}
