#!/bin/sh
# golang.org/x/time/rate, golang-golang-x-time-dev 0.3.0-1 (Debian 12), with Go 1.19.8
#
# Guess: SetLimit(0) stops a limiter ("a zero Limit allows no events"), and a later SetLimit starts
# it again.
# What happens: at a limit of zero each event is taken from the burst itself, which is never given
# back.
# Seen: a limiter of 10 a second with a burst of 5 admits 5 of 10 events after SetLimit(0), and
# Burst() is 0 then. Set to 10 a second again, it admits none of 100 events, a second apart.
# What it means: a pause by the limit lets a burst through, and the limiter stays shut after it. Who
# pauses a limiter so must set its burst again (SetBurst) when it goes on.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

apt-get -o APT::Sandbox::User=root -qq download \
    golang-golang-x-time-dev=0.3.0-1 golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2
for package in *.deb; do dpkg -x "$package" .; done

cat > pause.go <<'END'
package main

import (
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

func admitted(limiter *rate.Limiter, events int, at time.Time, apart time.Duration) (n int) {
	for ; events > 0; events-- {
		if limiter.AllowN(at, 1) {
			n++
		}
		at = at.Add(apart)
	}
	return n
}

func main() {
	start := time.Unix(1000, 0)
	limiter := rate.NewLimiter(10, 5)
	limiter.SetLimitAt(start, 0)
	fmt.Println("limit 0: admitted", admitted(limiter, 10, start, 0), "burst", limiter.Burst())
	start = start.Add(time.Second)
	limiter.SetLimitAt(start, 10)
	fmt.Println("limit 10: admitted", admitted(limiter, 100, start, time.Second))
	limiter.SetBurstAt(start.Add(100*time.Second), 5)
	start = start.Add(101 * time.Second)
	fmt.Println("burst 5: admitted", admitted(limiter, 100, start, time.Second))
}
END
GOPATH=$here/usr/share/gocode GO111MODULE=off GOCACHE=$here/cache \
    usr/lib/go-1.19/bin/go run pause.go | tee found

cat > expected <<'END'
limit 0: admitted 5 burst 0
limit 10: admitted 0
burst 5: admitted 100
END
diff expected found
