/*
 * A gate: sheets whose words are compared and exchanged, one of which is the head.
 *
 * An interval has two buckets. Threads ask for one at a time, and may wait for WAIT buckets;
 * TURNERS turn to a sheet of the same bucket, as a change of the limit does. A clock runs
 * meanwhile. A sheet's parts are read and written one at a time; its word, and the head with its
 * version, are one step each.
 *
 * Asserted: no two buckets side by side have more than LIMIT, at any grant; what is carried over is
 * what was granted; a refusal was right at the moment when the word was read. A thread whose
 * exchange has failed may go on with the word that it has found, if the head is still the same.
 *
 * Seeds: NO_SEAL, NO_SERIAL (a serial begins at 0), LAST_SERIAL (it goes on from
 * the last sheet's), NO_LOOK (the head is not looked at again), NO_LOOK_AGAIN
 * (nor after an exchange that has failed), NO_VERSION.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef TURNERS
#define TURNERS 1
#endif
#ifndef CALLS
#define CALLS 2
#endif
#ifndef LAST
#define LAST 3
#endif
#ifndef LIMIT
#define LIMIT 1
#endif
#ifndef WAIT
#define WAIT 0
#endif
#define SHEETS (THREADS + TURNERS + 2)
#define STARTS (LAST + WAIT + 3)

typedef Sheet { bool taken; bool sealed; byte serial; byte base; byte start; byte carried }
Sheet sheet[SHEETS];
byte head;                  /* the number of a sheet */
byte version;               /* one step with it */
byte clock;
byte granted[STARTS];       /* what was granted, by the bucket in which it counts */

#define BEFORE(s) ((s) > 0 -> granted[(s) - 1] : 0)

inline note_grant(bucket) {
    granted[bucket]++;
    assert(granted[bucket] + BEFORE(bucket) <= LIMIT);
    assert(granted[bucket] + granted[(bucket) + 1] <= LIMIT)
}

#define READ_WORD \
    serial = sheet[h].serial; sealed = sheet[h].sealed; \
    right = granted[sheet[h].start] + BEFORE(sheet[h].start) + 1 > LIMIT

/* Looks until what was read is of the head: h, v, serial, sealed, base, s, carried. `right` is
   whether one more did not fit when the word was read. */
inline look() {
    do
    :: atomic { h = head; v = version };
       atomic {
           READ_WORD
       };
       base = sheet[h].base;
       s = sheet[h].start;
       carried = sheet[h].carried;
#ifdef NO_LOOK
       break
#else
       if
       :: atomic { head == h && version == v -> break }
       :: else -> skip
       fi
#endif
    od
}

/* Turns to a sheet of `next`, in which `more` is granted at once. `done` says whether it did. */
inline turn() {
    done = false;
    if
    :: sealed -> done = true
    :: else ->
       atomic {
           if
           :: sheet[h].serial == serial && !sheet[h].sealed ->
#ifndef NO_SEAL
              sheet[h].sealed = true;
#endif
              done = true
           :: else -> skip
           fi
       }
    fi;
    if
    :: !done -> skip
    :: else ->
       d_step {
           n = 0;
           do :: n < SHEETS && sheet[n].taken -> n++ :: else -> break od;
           assert(n < SHEETS);
           sheet[n].taken = true
       };
       own = serial - base;
       sheet[n].start = next;
       sheet[n].carried = (next == s -> carried : (next == s + 1 -> own : 0));
       own = (next == s -> own : 0);
#ifdef NO_SERIAL
       sheet[n].base = 0;
       atomic { sheet[n].serial = own + more; sheet[n].sealed = false };
#else
#ifdef LAST_SERIAL
       mine = serial + 1;
#else
       mine = sheet[n].serial + 1;
#endif
       sheet[n].base = mine - own;
       atomic { sheet[n].serial = mine + more; sheet[n].sealed = false; mine = 0 };
#endif
       atomic {
           if
           :: head == h && version == v ->
              head = n;
#ifndef NO_VERSION
              version++;
#endif
              if :: more > 0 -> note_grant(next) :: else -> skip fi;
#ifndef NO_SEAL
              assert(sheet[n].carried == BEFORE(next));
              assert(sheet[n].serial - sheet[n].base == granted[next]);
#endif
              n = h
           :: else -> done = false
           fi
       };
       sheet[n].taken = false
    fi;
    atomic { n = 0; own = 0; next = 0; more = 0 }
}

#define FORGET h = 0; v = 0; serial = 0; base = 0; s = 0; carried = 0; sealed = false; right = false

proctype Thread() {
    byte calls, now, h, v, serial, base, s, carried, n, own, mine, next, more, at;
    bool sealed, done, right;
again:
    now = clock;
    do
    :: look();
       if
       :: s < now ->
          next = now;
          turn();
          atomic { done = false; FORGET }
       :: else ->
overtaken:
          /* The first start in which one more fits, behind what is granted in `s` and before it. */
          at = (carried + (serial - base) + 1 <= LIMIT -> s : (serial - base + 1 <= LIMIT -> s + 1 : s + 2));
          if
          :: at > now + WAIT ->
             atomic { assert(right || s > now + WAIT || at > s); assert(at == s || right); at = 0; FORGET; break }
          :: at <= now + WAIT && at == s && !sealed ->
             atomic {
                 if
                 :: sheet[h].serial == serial && !sheet[h].sealed ->
                    sheet[h].serial++;
                    note_grant(sheet[h].start);
                    done = true
                 :: else ->
                    done = false;
                    READ_WORD
                 fi
             };
             if
             :: atomic { done -> done = false; at = 0; FORGET; break }
#ifdef NO_LOOK_AGAIN
             :: atomic { !done && !sealed -> at = 0; goto overtaken }
#else
             :: atomic { !done && !sealed && head == h && version == v -> at = 0; goto overtaken }
#endif
             :: atomic { !done -> at = 0; FORGET }
             fi
          :: else ->
             next = at;
             more = 1;
             turn();
             if
             :: atomic { done -> done = false; at = 0; FORGET; break }
             :: atomic { else -> at = 0; FORGET }
             fi
          fi
       fi
    od;
    atomic {
        now = 0; calls++;
        if :: calls < CALLS -> goto again :: else -> calls = 0 fi
    }
}

proctype Turner() {
    byte h, v, serial, base, s, carried, n, own, mine, next, more;
    bool sealed, done, right;
    do
    :: look();
       next = s;
       turn();
       if
       :: atomic { done -> done = false; FORGET; break }
       :: atomic { else -> FORGET }
       fi
    od
}

proctype Clock() { do :: clock < LAST -> clock++ :: break od }

init {
    byte i;
    atomic {
        sheet[0].taken = true;
        do :: i < THREADS -> run Thread(); i++ :: else -> break od; i = 0;
        do :: i < TURNERS -> run Turner(); i++ :: else -> break od; i = 0;
        run Clock()
    }
}
