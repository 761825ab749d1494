#!/bin/sh
# github.com/rcrowley/go-metrics, golang-github-rcrowley-go-metrics-dev 0.0~git20180125.8732c61-3
# (Debian 12), with Go 1.19.8
#
# Guess: a histogram's Sum() is the sum of the values that its Count() counts.
# What happens: Count() is of all values since the start, Sum() of those that are in the sample.
# Seen: after 1000 values of 5 in a sample of 10, Count() is 1000 and Sum() is 50: their quotient is
# 0.05. After 100 000 values of 1 more, Count() is 101 000 and Sum() is smaller than before.
# What it means: an exporter that writes both, as `_sum` and `_count`, shows means that are too small
# by as many times as values were left out, and a sum that falls. Take Mean(), which is of the
# sample, or count the sum in a counter beside it.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

apt-get -o APT::Sandbox::User=root -qq download \
    golang-github-rcrowley-go-metrics-dev=0.0~git20180125.8732c61-3 \
    golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2
for package in *.deb; do dpkg -x "$package" .; done

cat > sum.go <<'END'
package main

import (
	"fmt"

	"github.com/rcrowley/go-metrics"
)

func main() {
	histogram := metrics.NewHistogram(metrics.NewUniformSample(10))
	for i := 0; i < 1000; i++ {
		histogram.Update(5)
	}
	count, sum := histogram.Count(), histogram.Sum()
	fmt.Println("count", count, "sum", sum, "mean", histogram.Mean())
	fmt.Println("sum by count", float64(sum)/float64(count))
	for i := 0; i < 100_000; i++ {
		histogram.Update(1)
	}
	fmt.Println("count", histogram.Count(), "the sum has fallen:", histogram.Sum() < sum)
}
END
GOPATH=$here/usr/share/gocode GO111MODULE=off GOCACHE=$here/cache \
    usr/lib/go-1.19/bin/go run sum.go | tee found

cat > expected <<'END'
count 1000 sum 50 mean 5
sum by count 0.05
count 101000 the sum has fallen: true
END
diff expected found
