/*
 * Sums at once (src/ring/turn/prefix.rs, at_once.rs, touched.rs), over the rotation: this file has
 * the mark of a bucket, what is touched, and a reader that takes the interval's sum from the blocks
 * and the mark. The rest is rotation.pml.
 *
 * The reader's time lies in the live bucket, or in the one behind it: then it takes the middle way,
 * which takes off what has left the interval, and adds what was put beside blocks.
 */

/* What a header's `total` means while it is open. */
#define UNKNOWN 0
#define KNOWN 1                 /* the count, through blocks, of all buckets before its interval */
#define ALONE 2                 /* nothing; but no other bucket of its interval has used a block */

byte touched;                   /* one more than the last start with a touched bucket before it */

/* Before the shared cells of the bucket at `at` are added to. */
inline touch() {
#ifdef NOT_TOUCHED              /* seeded: an add beside blocks does not say so */
    skip
#else
    touched = (touched < at + SLOTS -> at + SLOTS : touched)
#endif
}

/* Looks at the header in the slot of start `i`: if it is the bucket of that start and closed, its
   total goes to `sum`, `by` times. If it has counted through a block and is not closed, or has left
   its slot, nothing is known. */
inline each_closed(by) {
    seen = SLOT_OF(i);
    if
    :: seen == NONE
    :: else ->
       if
       :: header[seen].start > i -> known = false
       :: header[seen].start == i && header[seen].state == CLOSED -> sum = sum + by * header[seen].total
       :: header[seen].start == i && header[seen].state != CLOSED && header[seen].block != NONE ->
#ifdef OPEN_IS_EMPTY           /* seeded: a bucket that is not closed is taken for an empty one */
          skip
#else
          known = false
#endif
       :: else
       fi
    fi;
    i++
}

/* Writes the mark of `new`, which is to follow `held`. No other thread can reach it yet. */
inline make_mark() {
    known = true;
    if
    :: !IN_RING(header[held].start, at) -> header[new].mark = ALONE; known = false
    :: IN_RING(header[held].start, at) && header[held].mark == KNOWN ->
       sum = header[held].total;
       i = OLDEST(header[held].start);
       do
#ifndef NOTHING_LEAVES          /* seeded: the mark of `held` as it is */
       :: i < OLDEST(at) && known -> each_closed(1)
#endif
       :: else -> break
       od
    :: IN_RING(header[held].start, at) && header[held].mark != KNOWN && all_closed ->
       /* Anew: what all had counted before `held`, less what is in the interval. */
       i = 1;
       do
       :: i <= BLOCKS -> sum = sum + block[i].base; i++
       :: else -> break
       od;
       i = OLDEST(at);
       do
       :: i < header[held].start && known && header[held].mark != ALONE -> each_closed(-1)
       :: else -> break
       od
    :: else -> known = false
    fi;
    atomic {
        if
        :: known -> header[new].total = sum; header[new].mark = KNOWN
        :: else
        fi;
        known = false; sum = 0; i = 0; seen = NONE
    }
}

#ifdef READER
byte found;                     /* ghost: sums that were returned */

/* The rows of block `b`, and its base if it is free. */
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

/* The middle way: what has left the interval since the live bucket opened. */
inline take_off_what_left() {
    known = true;
    i = OLDEST(high);
    do
    :: i < OLDEST(newest) && known -> each_closed(-1)
    :: else -> break
    od;
    if :: known :: else -> goto end fi
}

/* Holds nothing, and writes nothing. */
proctype Reader() {
    byte first[STARTS];         /* ghost: the ledger when the read began */
    byte live, version;         /* current, when the read began, and which bucket that was */
    byte newest, i, seen, b, r, sum, low, high;
    bool known;

    d_step {
        live = current;
        r = 0;
        do :: r < STARTS -> first[r] = ledger[r]; r++ :: else -> break od;
        r = 0
    }
    version = header[live].version;
    if :: live == current :: else -> goto end fi;
    i = header[live].start;
    if :: newest = i :: newest = i + 1 fi;
    high = i;                   /* for the moment: the live start */
    if
    :: !IN_RING(high, newest) -> goto end
    :: else
    fi;
#ifndef LEFT_LAST
    take_off_what_left();
#endif
    if
    :: header[live].mark == KNOWN ->
       low = header[live].total;
       sum = sum + header[live].shared;
       b = 1;
       do
       :: b <= BLOCKS -> add_block(); b++
       :: else -> break
       od;
       sum = sum - low;
       low = 0
    :: header[live].mark == ALONE && header[live].block != NONE ->
       sum = sum + header[live].shared;
       b = header[live].block;
       add_block();
       sum = sum - block[b].base
    :: else -> goto end         /* a walk, which rotation.pml has */
    fi;
#ifdef LEFT_LAST                /* seeded: behind the blocks, which may not have all of it */
    take_off_what_left();
#endif
    i = OLDEST(newest);
    if
    :: touched >= newest + 1 ->
       do
       :: i < high ->
          seen = SLOT_OF(i);
          if
          :: seen != NONE && header[seen].start == i -> sum = sum + header[seen].shared
          :: else
          fi;
          i++
       :: else -> break
       od
    :: else
    fi;
#ifdef VERSION_FIRST            /* seeded: the other way round */
    if :: version == header[live].version :: else -> goto end fi;
#endif
#ifndef NO_CURRENT              /* seeded: not looked whether it is current still */
    if :: live == current :: else -> goto end fi;
#endif
#ifndef NO_VERSION              /* seeded: not looked whether it is that bucket still */
#ifndef VERSION_FIRST
    if :: version == header[live].version :: else -> goto end fi;
#endif
#endif
    /* Between what it was when the read began, and what it is. */
    d_step {
        i = OLDEST(newest); b = high; low = 0; high = 0;
        do
        :: i <= b -> low = low + first[i]; high = high + ledger[i]; i++
        :: else -> break
        od;
        assert(low <= sum && sum <= high);
        found++
    }
end:
    skip
}
#endif
