/*
 * Tiers (src/ring/order/tier.rs, note.rs, tier_view.rs), over the rotation: this file has one tier,
 * whose coarse buckets are COARSE_LENGTH buckets long and never leave it; noting; what is put
 * beside blocks; and a reader of the span from a boundary up to now. The rest is rotation.pml.
 */

#ifndef COARSE_LENGTH
#define COARSE_LENGTH 2
#endif

#define BOUNDARY(start) ((start) - (start) % COARSE_LENGTH)

#define NOTHING 0
#define NOTED 1
#define MISSED 2

/* By boundary. */
byte notes[STARTS];             /* what all buckets before it have counted through blocks */
byte says[STARTS];              /* its coarse bucket: NOTHING, NOTED if that is known, MISSED if a
                                   bucket of it was displaced without being noted */
byte beside[STARTS];            /* what was added to its coarse bucket other than through a block */

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
    y = BOUNDARY(header[held].start);
    if
#ifdef NOTE_UNCLOSED            /* seeded: whatever is not closed */
    :: false
#else
    :: !all_closed ->
#ifndef NOT_MISSED              /* seeded: it is not said that a bucket was not noted */
       says[y] = (says[y] == NOTHING -> MISSED : says[y])
#else
       skip
#endif
#endif
    :: else ->
       if
       :: says[y] == NOTED
       :: else ->
          known = (says[y] != MISSED);
          i = 1;
          do
          :: i <= BLOCKS -> sum = sum + block[i].base; i++
          :: else -> break
          od;
#ifdef MISSED_IGNORED           /* seeded: any live bucket passes for the first of its boundary */
          known = true;
#else
          if
          :: !known ->
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
                 says[y] = NOTED
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
    byte y, s, b, r, sum, low, high;

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
    /* The first boundary from it on that is noted, unless one before was missed. */
    s = y;
    do
    :: s <= start ->
       if
       :: says[s] == NOTED -> break
#ifdef NO_MISSED                /* seeded: the reader does not ask */
       :: says[s] != NOTED
#else
#ifdef TWO_LOOKS                /* seeded: it asks twice, once for each answer */
       :: says[s] != NOTED ->
          if :: says[s] == MISSED -> goto end :: else fi
#else
       :: says[s] == MISSED -> goto end
       :: says[s] == NOTHING
#endif
#endif
       fi;
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
