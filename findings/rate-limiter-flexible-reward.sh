#!/bin/sh
# rate-limiter-flexible 11.4.0 (npm), `reward` of a limiter in memory
#
# Guess: `reward` gives back what a call has consumed: at most that much, and enough to be admitted
# again.
# What happens: it subtracts from a number that may go below zero, and that refused calls have
# raised as well. So a key that has consumed nothing gets more than its limit; and a key whose calls
# were refused stays refused when all that it was granted is given back.
# Seen: with a limit of 5, a reward of 3 for a new key admits 8. After 5 admitted and 10 refused
# calls the number is 15; a reward of 5 leaves 10, and the next call is refused.
# What it means: a program that returns the points of calls that failed can both exceed the limit
# and stay shut until the end of the duration. Reward only what was admitted.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund rate-limiter-flexible@11.4.0

cat > reward.js <<'END'
const { RateLimiterMemory } = require('rate-limiter-flexible');

const limiter = new RateLimiterMemory({ points: 5, duration: 3600 });

/** Returns how many of some calls with a key are admitted. */
async function admitted(key, calls) {
    let count = 0;
    for (let call = 0; call < calls; call++) {
        await limiter.consume(key).then(() => count++, () => {});
    }
    return count;
}

(async () => {
    console.log('without a reward:', await admitted('usual', 20));
    await limiter.reward('new', 3);
    console.log('a reward of 3 before the first call:', await admitted('new', 20));
    console.log('15 calls:', await admitted('busy', 15));
    const { consumedPoints } = await limiter.reward('busy', 5);
    console.log('all 5 given back, consumed:', consumedPoints);
    console.log('the next call:', await admitted('busy', 1));
})();
END
node reward.js | tee found

cat > expected <<'END'
without a reward: 5
a reward of 3 before the first call: 8
15 calls: 5
all 5 given back, consumed: 10
the next call: 0
END
diff expected found
