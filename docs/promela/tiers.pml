/*
 * Tiers (src/ring/tier.rs, note.rs, tier_view.rs), over the rotation: this file has one tier, whose coarse
 * buckets are COARSE_LENGTH buckets long and never leave it; noting; what is put beside blocks; and a reader of
 * the span from a boundary up to now. The rest is rotation.pml.
 */

#ifndef COARSE_LENGTH
#define COARSE_LENGTH 2
#endif

#define BOUNDARY(start) ((start) - (start) % COARSE_LENGTH)

/* By boundary. */
byte notes[STARTS];             /* what all buckets before it have counted through blocks */
bool noted[STARTS];             /* that is known */
byte beside[STARTS];            /* what was added to its coarse bucket other than through a block */
byte missed;                    /* one more than the last start that was displaced without being noted */

/* Ghosts, by start. */
byte through[STARTS];           /* adds through blocks */
byte extra[STARTS];             /* adds beside them */

inline put_beside() {
    d_step {
#ifndef NOT_BESIDE              /* seeded: the tier is not told */
        beside[BOUNDARY(at)]++;
#endif
        extra[at]++
    }
}

/* Looks at the header in the slot of start `i`, as in marks.pml. */
inline take_off_closed() {
    seen = SLOT_OF(i);
    if
    :: seen == NONE
    :: else ->
       if
       :: header[seen].start > i -> known = false
       :: header[seen].start == i && header[seen].state == CLOSED -> sum = sum - header[seen].total
       :: header[seen].start == i && header[seen].state != CLOSED && header[seen].block != NONE ->
          known = false
       :: else
       fi
    fi;
    i++
}

/* Notes `held`, which the thread is about to displace. */
inline note() {
    known = true;
    y = BOUNDARY(header[held].start);
    if
#ifdef NOTE_UNCLOSED            /* seeded: whatever is not closed */
    :: false
#else
    :: !all_closed ->
#ifndef NOT_MISSED              /* seeded: it is not said that a bucket was not noted */
       missed = (missed < header[held].start + 1 -> header[held].start + 1 : missed)
#else
       skip
#endif
#endif
    :: else ->
       if
       :: noted[y]
       :: else ->
          i = 1;
          do
          :: i <= BLOCKS -> sum = sum + block[i].base; i++
          :: else -> break
          od;
#ifndef MISSED_IGNORED          /* seeded: as if the live bucket were the first behind its boundary */
          if
          :: missed > y ->
             i = y;
             known = (y >= OLDEST(header[held].start));
             do
             :: i < header[held].start && known -> take_off_closed()
             :: else -> break
             od
          :: else
          fi;
#endif
          if
#ifdef NOTE_STALE               /* seeded: not looked whether it is current still */
          :: known ->
#else
          :: known && current == held ->
#endif
             notes[y] = sum;
             d_step {
                 /* What it says is so, and remains so. */
                 i = 0;
                 do :: i < y -> sum = sum - through[i]; i++ :: else -> break od;
                 assert(sum == 0);
                 noted[y] = true
             }
          :: else
          fi
       fi
    fi;
    atomic { i = 0; y = 0; sum = 0; seen = NONE; known = false }
}

#ifdef READER
byte found;                     /* ghost: sums that were returned */

/* What block `b` counts: of a free one, its base. */
inline add_block() {
    if
    :: block[b].owner == NONE -> sum = sum + block[b].base
    :: else ->
       do
       :: r < ROWS -> d_step { sum = sum + block[b].cells[r]; r++ }
       :: else -> break
       od;
       r = 0
    fi
}

/* Reads the span from a boundary up to now. Holds nothing, and writes nothing. */
proctype Reader() {
    byte first[STARTS];         /* ghost: the ledgers when the read began */
    byte live, version, start;
    byte y, s, b, r, sum, low, high, not_noted;

    if
    :: y = 0
    :: y = COARSE_LENGTH
    fi;
    d_step {
        live = current;
        r = 0;
        do :: r < STARTS -> first[r] = through[r] + extra[r]; r++ :: else -> break od;
        r = 0
    }
    version = header[live].version;
    if :: live == current :: else -> goto end fi;
    start = header[live].start;
    if :: start >= y :: else -> goto end fi;
    not_noted = missed;
    /* The first boundary from it on that is noted; if something was missed, itself. */
    s = y;
    do
    :: s <= start && noted[s] -> break
    :: s <= start && !noted[s] ->
#ifndef NO_MISSED               /* seeded: the reader does not ask */
       if :: not_noted > y -> goto end :: else fi;
#endif
       s = s + COARSE_LENGTH
    :: else -> break
    od;
    if
    :: s <= start ->
       b = 1;
       do
       :: b <= BLOCKS -> add_block(); b++
       :: else -> break
       od;
       sum = sum - notes[s]
    :: s > start && header[live].block != NONE ->
       b = header[live].block;
       add_block();
       sum = sum - block[b].base
    :: else
    fi;
    s = y;
    do
    :: s <= LAST -> sum = sum + beside[s]; s = s + COARSE_LENGTH
    :: else -> break
    od;
#ifndef NO_CURRENT              /* seeded: not looked whether it is current still */
    if :: live == current :: else -> goto end fi;
#endif
#ifndef NO_VERSION              /* seeded: not looked whether it is that bucket still */
    if :: version == header[live].version :: else -> goto end fi;
#endif
    /* Between what it was when the read began, and what it is. */
    d_step {
        s = y;
        do
        :: s <= LAST -> low = low + first[s]; high = high + through[s] + extra[s]; s++
        :: else -> break
        od;
        assert(low <= sum && sum <= high);
        found++
    }
end:
    skip
}
#endif
