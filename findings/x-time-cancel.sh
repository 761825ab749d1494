#!/bin/sh
# golang.org/x/time/rate, golang-golang-x-time-dev 0.3.0-1 (Debian 12), with Go 1.19.8
#
# Guess: a reservation that is cancelled before its time gives its token back, whatever order the
# cancellations come in.
# What happens: a cancellation gives back only what was not reserved after it; so those who came
# first give nothing back, and what they held is lost although all who came later cancel, too.
# Seen: at one a second, four callers reserve; all four cancel at once. If the last one cancels
# first, a fifth caller waits 1 s. If the first one cancels first, the fifth waits 4 s, with nobody
# before it.
# What it means: time-outs end the oldest waits first, which is the bad order. After a burst of
# requests that gave up, Wait makes the next ones wait for calls that nobody made.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

apt-get -o APT::Sandbox::User=root -qq download \
    golang-golang-x-time-dev=0.3.0-1 golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2
for package in *.deb; do dpkg -x "$package" .; done

cat > cancel.go <<'END'
package main

import (
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

func main() {
	now := time.Unix(1000, 0)
	for _, order := range [][]int{{3, 2, 1, 0}, {0, 1, 2, 3}} {
		limiter := rate.NewLimiter(1, 1)
		limiter.AllowN(now, 1)
		var reserved [4]*rate.Reservation
		for i := range reserved {
			reserved[i] = limiter.ReserveN(now, 1)
		}
		for _, i := range order {
			reserved[i].CancelAt(now)
		}
		fmt.Println("cancelled", order, "next waits", limiter.ReserveN(now, 1).DelayFrom(now))
	}
}
END
GOPATH=$here/usr/share/gocode GO111MODULE=off GOCACHE=$here/cache \
    usr/lib/go-1.19/bin/go run cancel.go | tee found

cat > expected <<'END'
cancelled [3 2 1 0] next waits 1s
cancelled [0 1 2 3] next waits 4s
END
diff expected found
