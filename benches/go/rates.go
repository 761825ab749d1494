// Rates asks Go's limiter for the decisions of ../tests/admissions.rs: of golang.org/x/time/rate.
//
// Each line of its input has a period and a burst, or a time and a weight, in nanoseconds; to the
// second kind it answers 1 or 0.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"

	"golang.org/x/time/rate"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	answers := bufio.NewWriter(os.Stdout)
	defer answers.Flush()
	var limiter *rate.Limiter
	for lines.Scan() {
		var kind string
		var first, second int64
		fmt.Sscan(lines.Text(), &kind, &first, &second)
		if kind == "limit" {
			limiter = rate.NewLimiter(rate.Every(time.Duration(first)), int(second))
			continue
		}
		answer := 0
		if limiter.AllowN(time.Unix(1_000_000, first), int(second)) {
			answer = 1
		}
		fmt.Fprintln(answers, answer)
	}
}
