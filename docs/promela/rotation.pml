/*
 * The rotation of a window's buckets on the per-core path: docs/promela/README.md says what of it
 * is here, which function of the code each part stands for, and what has been checked.
 *
 * One step of a process is one access to memory that others see too, but for three kinds of access
 * that are put together with a neighbour of the same thread:
 *
 * - what a thread does to a header that no other thread can reach yet (make it);
 * - what it reads of a header that it holds, and that does not change while it is held (start,
 *   block);
 * - giving a hold back, which is put to the step before: a hold that is there for longer keeps a
 *   header from being taken, and nothing else.
 *
 * With SUMS it includes marks.pml, and with TIERS tiers.pml: what sums at once and tiers add to the
 * rotation, and their readers.
 *
 * Starts are counted in bucket numbers. Headers, blocks and slots are numbered; headers and blocks
 * from 1, and 0 is none.
 */

#ifndef WRITERS
#define WRITERS 3               /* threads that add */
#endif
#ifndef ADDS
#define ADDS 1                  /* adds of each */
#endif
#ifndef SLOTS
#define SLOTS 2                 /* buckets in the ring */
#endif
#ifndef LAST
#define LAST 2                  /* the newest start of an add, and the most rotations */
#endif
#ifndef ROWS
#define ROWS 2                  /* rows of a block; writers take turns to have one */
#endif
#ifndef STRIPED
#define STRIPED 5               /* headers that count in blocks */
#endif
#ifndef UNSTRIPED
#define UNSTRIPED 4             /* headers that never do */
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
#if defined(SUMS) || defined(TIERS)
#define LARGE                   /* more steps than COARSE of writers and closers: see the README */
#define FIRST 1                 /* what the first bucket has counted at the beginning */
#else
#define FIRST 0
#endif

#define NONE 0
#define STARTS (LAST + 1)
#define HEADERS (STRIPED + UNSTRIPED)

#ifdef ONE_SLAB                 /* seeded: a header without a block is used again for one with */
#define LAST_STRIPED HEADERS
#define FIRST_UNSTRIPED 1
#else
#define LAST_STRIPED STRIPED
#define FIRST_UNSTRIPED (STRIPED + 1)
#endif

/* A header's states. */
#define OPEN 0
#define CLOSING 1
#define CLOSED 2

/* A thread's sequence. */
#define OUTSIDE 0
#define INSIDE 1
#define ABORTED 2

typedef Header {
    byte start;
    byte block;                 /* the block that it counts in, or none: unstriped */
    byte state;
    byte total;                 /* what its block had counted for it, once CLOSED */
    byte shared;                /* what was added other than through the block */
    byte holds;
#ifdef READER
    byte version;               /* which of the buckets that it ever was */
#endif
#ifdef SUMS
    byte mark;                  /* what `total` means while it is open: see marks.pml */
#endif
    bool real                   /* ghost: was current, or was inserted into a slot */
}

typedef Block {
    byte cells[ROWS];           /* only grow */
    byte base;                  /* their sum when the owner took over */
    byte owner                  /* a header, or none: the block is free */
}

Header header[HEADERS + 1];
Block block[BLOCKS + 1];
byte slot[SLOTS];
byte current;
byte begun, passed;             /* barriers: the last that has begun, the highest that has ended */
byte sequence[WRITERS];

/* Ghosts: what really happened. */
byte ledger[STARTS];            /* adds in the bucket of their time, wherever that was */
byte late;
byte side;
byte finished;                  /* writers */
bool born[STARTS];              /* a header was current or inserted for this start */
bool gone[STARTS];              /* and that header has been used again */

#if ROWS == 1
#define SUM(b) (block[b].cells[0])
#else
#if ROWS == 2
#define SUM(b) (block[b].cells[0] + block[b].cells[1])
#else
#define SUM(b) (block[b].cells[0] + block[b].cells[1] + block[b].cells[2])
#endif
#endif

/* What all blocks count, whether a header owns one, and whether one is free. */
#if BLOCKS == 2
#define ALL_BLOCKS (SUM(1) + SUM(2))
#define OWNS(h) ((block[1].owner == (h)) + (block[2].owner == (h)))
#else
#define ALL_BLOCKS (SUM(1) + SUM(2) + SUM(3))
#define OWNS(h) ((block[1].owner == (h)) + (block[2].owner == (h)) + (block[3].owner == (h)))
#endif

#define SLOT_OF(start) slot[(start) % SLOTS]
#define IN_RING(start, newest) ((start) + SLOTS > (newest))
#define OLDEST(newest) ((newest) >= SLOTS -> (newest) - SLOTS + 1 : 0)

#ifdef SUMS
#include "marks.pml"
#endif
#ifdef TIERS
#include "tiers.pml"
#endif

/* ---- holds ---- */

#define LET_GO(h) assert(header[h].holds > 0); header[h].holds--

/* Holds what a place leads to: counts the hold first, and then looks whether the place still leads
   there. If not, the hold is given back, and all begins again. */
inline hold(h, place) {
#ifdef COARSE                   /* three steps as one: see the README */
    atomic { h = place; if :: h != NONE -> header[h].holds++ :: else fi }
#else
    do
    :: atomic { h = place; if :: h == NONE -> break :: else fi }
#ifdef CHECK_FIRST              /* seeded: looks first, and counts the hold then */
       atomic { if :: place == h :: else -> h = NONE fi }
       if :: h == NONE :: else -> header[h].holds++; break fi
#else
       header[h].holds++;
#ifdef NO_RECHECK               /* seeded: the place is not looked at again */
       break
#else
       atomic { if :: place == h -> break :: else -> LET_GO(h); h = NONE fi }
#endif
#endif
    od
#endif
}

/* Takes the first free header of a slab, and makes it into the bucket at `at`. The one hold is for
   its slot. */
inline take(h, first, last, at, initial) {
    d_step {
        h = first;
        do
        :: h <= last && header[h].holds > 0 -> h++
        :: else -> break
        od;
        assert(h <= last);      /* the slab of the model is large enough; that of the code grows */
        /* Nothing leads to it. */
        assert(h != current && !OWNS(h) && h != slot[0]);
#if SLOTS > 1
        assert(h != slot[1]);
#endif
        /* What it was is final, and is what was added. */
        if
        :: header[h].real ->
           assert(header[h].state == CLOSED || header[h].block == NONE);
           assert(header[h].total + header[h].shared == ledger[header[h].start]);
           gone[header[h].start] = true
        :: else
        fi;
        header[h].start = at;
        header[h].block = NONE;
        header[h].state = initial;
        header[h].total = 0;
        header[h].shared = 0;
#ifdef SUMS
        header[h].mark = UNKNOWN;
#endif
        header[h].holds = 1;
#ifdef READER
        header[h].version++;
#endif
        header[h].real = false
    }
}

/* ---- slots ---- */

/* Puts a header into its slot in place of the one seen there. Ends the slot's hold on that, and
   the thread's own. */
inline replace(h) {
    if
    :: SLOT_OF(header[h].start) == seen ->
       SLOT_OF(header[h].start) = h;
       replaced = true;
       if :: seen != NONE -> LET_GO(seen) :: else fi
    :: else
    fi;
    if :: seen != NONE -> LET_GO(seen); seen = NONE :: else fi
}

/* Puts a header, which the thread holds, into its slot, unless it or a newer one is there. */
inline install(h) {
    do
    :: hold(seen, SLOT_OF(header[h].start));
       atomic {
           if
           :: seen != NONE && header[seen].start >= header[h].start ->
              LET_GO(seen); seen = NONE; break
           :: else ->
              replace(h);
              if :: replaced -> replaced = false; break :: else fi
           fi
       }
    od
}

/* ---- close ---- */

/* Returns when a barrier has passed that began after the displacement was seen. */
inline silence() {
#ifdef NO_BARRIER               /* seeded: no barrier */
    skip
#else
    ticket = begun + 1;
    if
    :: passed >= ticket         /* another thread's has */
    :: else ->
       d_step { begun++; ticket = begun }
       barrier();
       passed = (passed < ticket -> ticket : passed)
    fi;
    ticket = 0
#endif
}

/* Aborts every sequence that is under way: one thread after another. */
inline barrier() {
    i = 0;
    do
    :: atomic {
           if
           :: i < WRITERS -> if :: sequence[i] == INSIDE -> sequence[i] = ABORTED :: else fi; i++
           :: else -> i = 0; break
           fi
       }
    od
}

/* Writes the totals of a silent bucket down, and makes its block ready for another. */
inline write_totals() {
#ifdef BASE_FIRST               /* seeded: the base moves before CLOSED is said */
    header[seen].total = SUM(b) - block[b].base;
    block[b].base = SUM(b);
    header[seen].state = CLOSED
#else
#ifdef TOTAL_AFTER_CLOSED       /* seeded: CLOSED is said before the totals are written */
    header[seen].state = CLOSED;
    header[seen].total = SUM(b) - block[b].base;
#else
    header[seen].total = SUM(b) - block[b].base;
    header[seen].state = CLOSED;
#endif
    d_step { check_total(); block[b].base = SUM(b) }
#endif
}

/* The totals are what was added; of a header that never was current, nothing. */
inline check_total() {
    if
    :: header[seen].real ->
       assert(header[seen].total + header[seen].shared == ledger[header[seen].start])
    :: else -> assert(header[seen].total == 0)
    fi
}

#ifdef LARGE

/* The barrier in one step; the totals in small ones, which a reader sees. */
inline silence_and_write_totals() {
    d_step {
        i = 0;
        do
        :: i < WRITERS -> if :: sequence[i] == INSIDE -> sequence[i] = ABORTED :: else fi; i++
        :: else -> break
        od;
        i = 0
    }
    write_totals()
}

#else
#ifdef COARSE

/* As above, in two steps: the barrier, which is this thread's own and reaches all at once; and the
   rest, which no thread looks at before the block is free. */
inline silence_and_write_totals() {
    d_step {
        i = 0;
        do
        :: i < WRITERS -> if :: sequence[i] == INSIDE -> sequence[i] = ABORTED :: else fi; i++
        :: else -> break
        od;
        i = 0
    }
    d_step {
        header[seen].total = SUM(b) - block[b].base;
        header[seen].state = CLOSED;
        check_total();
        block[b].base = SUM(b)
    }
}

#else

inline silence_and_write_totals() {
    silence();
    write_totals()
}

#endif
#endif

inline close_displaced() {
    b = 1;
    do
    :: b <= BLOCKS -> close_owner(); b++
    :: else -> break
    od;
    b = 0
}

/* Closes the owner of block `b`, if it is displaced. */
inline close_owner() {
#ifdef LARGE
    atomic {
#endif
    hold(seen, block[b].owner);
    if
    :: seen == NONE
    :: else ->
       hold(other, current);
       /* Displaced, for ever; or never to become current, because the one that it was to displace
          is displaced. The claim. */
       atomic {
           if
           :: (seen != other && header[seen].start <= header[other].start &&
               header[seen].state == OPEN) -> header[seen].state = CLOSING
#ifdef HELD_UP                  /* or it is not silent yet */
           :: seen != other && header[seen].start <= header[other].start ->
              all_closed = false; LET_GO(seen); seen = NONE
#else
#if defined(SUMS) || defined(TIERS)
           :: (seen != other && header[seen].start <= header[other].start &&
               header[seen].state != OPEN) -> all_closed = false; LET_GO(seen); seen = NONE
#endif
#endif
           :: else -> LET_GO(seen); seen = NONE
           fi;
           LET_GO(other); other = NONE
       }
#ifdef LARGE
    fi
    }
    if
    :: seen == NONE
    :: else ->
#endif
       if
       :: seen == NONE
       :: else ->
          silence_and_write_totals();
          atomic {
              block[b].owner = NONE;
              LET_GO(seen);     /* the block's hold */
              LET_GO(seen);     /* ours */
              seen = NONE
          }
       fi
    fi
}

/* ---- rotate ---- */

/* Moves on from `held`, which is given back, to the bucket at `at`. */
inline rotate() {
#ifndef NOT_INSTALLED           /* seeded: displaced before it is in its slot */
    install(held);
#endif
#ifdef TIERS
    all_closed = true;
    close_displaced();
    note();
#else
#ifdef SUMS
    all_closed = true;
#endif
    close_displaced();
#endif
    open();
    displace()
}

/* Makes `new`: a header for the bucket at `at`, with a free block if there is one. */
inline open() {
    atomic {
        if
        :: OWNS(NONE) ->
           take(new, 1, LAST_STRIPED, at, OPEN)
        :: else
        fi
    }
    if
    :: new == NONE
    :: else ->
#ifdef SUMS
       make_mark();
#endif
       b = 1;
       do
       :: atomic {
              if
              :: b > BLOCKS -> LET_GO(new); new = NONE; break
              :: b <= BLOCKS && block[b].owner == NONE ->
                 block[b].owner = new;
                 header[new].block = b;
                 header[new].holds++;
                 break
              :: else -> b++
              fi
          }
       od;
       b = 0
    fi;
    if
    :: new == NONE -> take(new, FIRST_UNSTRIPED, HEADERS, at, OPEN)
    :: else
    fi
}

/* Makes `new` current in place of `held`. */
inline displace() {
#ifdef SLOT_FIRST               /* seeded: into its slot before it is current */
    install(new);
#endif
    atomic {
        if
        :: current == held ->
           assert(header[new].start > header[held].start);  /* current never goes back */
           assert(!born[header[new].start]);                /* one header for a start */
           born[header[new].start] = true;
           header[new].real = true;
           header[new].holds++;                             /* ours */
           current = new;
           moved = true
        :: else
        fi;
        LET_GO(held); held = NONE
    }
    if
    :: moved ->
       install(new);
       atomic { LET_GO(new); new = NONE }
    :: else -> discard()
    fi
}

/* Gives up a header that was not made current. Of a closer that has found it in its block and
   claimed it, and this thread, one frees the block. */
inline discard() {
    if
    :: header[new].block != NONE ->
       atomic {
           if
#ifdef BOTH_RELEASE             /* seeded: a loser frees the block whatever a closer has done */
           :: true -> b = header[new].block
#else
           :: header[new].state == OPEN -> header[new].state = CLOSED; b = header[new].block
           :: else
#endif
           fi
       }
       if
       :: b != 0 -> atomic { block[b].owner = NONE; LET_GO(new); b = 0 }
       :: else
       fi
    :: else
    fi;
    atomic { LET_GO(new); new = NONE }
}

/* ---- add ---- */

#define COUNT() assert(!gone[at]); ledger[at]++

inline put_shared(h) {
    header[h].shared++;
#ifdef TIERS
    put_beside();               /* what has not reached the tier is not begun for its readers */
#endif
    side++;
    COUNT()
}

/* Counts in the bucket at `at`, older than `held`, which is given back. */
inline add_back_dated() {
    if
    :: !IN_RING(at, header[held].start) ->
#ifdef TIERS
       put_beside();
#endif
       atomic { late++; LET_GO(held); held = NONE }
    :: else ->
       do
       :: hold(seen, SLOT_OF(at));
          if
          :: seen != NONE && header[seen].start == at ->
#ifdef SUMS
             touch();
#endif
             atomic {
                 put_shared(seen);
                 LET_GO(seen); seen = NONE;
                 LET_GO(held); held = NONE;
                 break
             }
          :: seen != NONE && header[seen].start > at ->
#ifdef TIERS
             put_beside();
#endif
             atomic {
                 late++;
                 LET_GO(seen); seen = NONE;
                 LET_GO(held); held = NONE;
                 break
             }
          :: else ->
             take(new, FIRST_UNSTRIPED, HEADERS, at, CLOSED);
             atomic {
                 replace(new);
                 if
                 :: replaced ->
                    replaced = false;
                    assert(!born[at]);                      /* one header for a start */
                    born[at] = true;
                    header[new].real = true
                 :: else -> LET_GO(new)                     /* it will never be in a slot */
                 fi;
                 new = NONE
             }
          fi
       od
    fi
}

/* ---- what holds at the end ---- */

#define NUMBER(h) (header[h].shared + (header[h].state == CLOSED -> header[h].total : \
    (header[h].block == NONE -> 0 : SUM(header[h].block) - block[header[h].block].base)))

inline at_rest() {
    d_step {
        assert(SLOT_OF(header[current].start) == current);
        /* Every bucket in the ring holds what was added to it, and what never was one, nothing. */
        i = 0;
        do
        :: i < STARTS ->
           if
           :: !born[i] -> assert(ledger[i] == 0)
           :: born[i] && !gone[i] && SLOT_OF(i) != NONE && header[SLOT_OF(i)].start == i ->
              assert(NUMBER(SLOT_OF(i)) == ledger[i])
           :: else -> assert(!IN_RING(i, header[current].start))
           fi;
           i++
        :: else -> break
        od;
        /* Holds are those of slots and blocks. */
        i = 1;
        do
        :: i <= HEADERS ->
           b = (slot[0] == i) + OWNS(i);
#if SLOTS > 1
           b = b + (slot[1] == i);
#endif
           assert(header[i].holds == b);
           i++
        :: else -> break
        od;
        /* The lifetime. */
        assert(ALL_BLOCKS + side + late == WRITERS * ADDS + FIRST);
        assert(block[1].owner == NONE || block[1].owner != block[2].owner);
        i = 0;
        b = 0
    }
}

proctype Writer(byte me; byte at) {
    byte adds;                  /* done */
    byte held;                  /* what was current */
    byte seen;                  /* what was found in a slot or in a block */
    byte other;                 /* current, as a closer finds it */
    byte new;
    byte ticket;
    byte b, i;
    bool replaced, moved;
#if defined(SUMS) || defined(TIERS)
    bool all_closed;            /* no header was found that is displaced and not closed */
    bool known;
    byte sum, y;
#endif

again:
    /* The sequence: load, check, commit. */
#ifdef LARGE
    atomic {
        held = current; sequence[me] = INSIDE;
#else
    atomic { held = current; sequence[me] = INSIDE }
    atomic {
#endif
        if
        :: header[held].start == at && header[held].block != NONE -> b = header[held].block
        :: else
        fi;
        held = NONE;
        if :: b == 0 -> sequence[me] = OUTSIDE :: else fi
    }
    if
    :: b == 0
    :: else ->
       atomic {
           if
           :: sequence[me] == ABORTED -> sequence[me] = OUTSIDE; b = 0; goto again
           :: else ->
              block[b].cells[me % ROWS]++;
              COUNT();
#ifdef TIERS
              through[at]++;
#endif
              sequence[me] = OUTSIDE; b = 0;
              goto added
           fi
       }
    fi;

    /* Slowly. */
    hold(held, current);
    if
    :: at < header[held].start -> add_back_dated()
    :: at == header[held].start && header[held].block == NONE ->
#ifdef SUMS
       touch();
#endif
       atomic { put_shared(held); LET_GO(held); held = NONE }
    :: at == header[held].start && header[held].block != NONE ->
       atomic { LET_GO(held); held = NONE; goto again }
    :: at > header[held].start ->
       rotate();
       if :: moved -> moved = false; close_displaced() :: else fi;   /* settle */
       goto again
    fi;

added:
    atomic {
        adds++;
        at = 0;
        if
        :: adds < ADDS ->
           if :: at = 0 :: at = 1
#if LAST > 1
           :: at = 2
#endif
#if LAST > 2 && defined(LARGE)
           :: at = 3
#endif
#if LAST > 3 && defined(LARGE)
           :: at = 4
#endif
           fi;
           goto again
        :: else -> adds = 0; finished++; if :: finished == WRITERS -> at_rest() :: else fi
        fi
    }
}

/* ---- read ---- */

#if defined(READER) && !defined(SUMS) && !defined(TIERS)
/* Holds nothing, and writes nothing. Reads every bucket in the ring, once. */
proctype Reader() {
    byte first[STARTS];         /* ghost: the ledger when the read began */
    byte live, version;         /* current, when the read began, and which bucket that was */
    byte newest, at;
    byte h, v;                  /* the header that it reads */
    byte b, r;
    byte number, sum;
    bool closed;

    /* Current first. */
    d_step {
        live = current;
        r = 0;
        do :: r < STARTS -> first[r] = ledger[r]; r++ :: else -> break od;
        r = 0
    }
    version = header[live].version;
    if :: live == current :: else -> goto overtaken fi;
    newest = header[live].start;
    if :: version == header[live].version :: else -> goto overtaken fi;

    at = newest;
    do
    :: if
       :: at == newest -> atomic { h = live; v = version }
       :: else ->
          h = SLOT_OF(at);
          if
          :: h == NONE
          :: else ->
             v = header[h].version;
             if :: h == SLOT_OF(at) :: else -> goto left_out fi;
             if
             :: header[h].start == at
             :: header[h].start > at -> goto left_out
             :: header[h].start < at -> h = NONE
             fi
          fi
       fi;
       number = 0;
       if
       :: h == NONE
       :: else ->
          closed = (header[h].state == CLOSED);
          if
          :: closed
          :: else ->
             b = header[h].block;
             if
             :: b == NONE -> goto shared
             :: else
             fi;
             do
             :: r < ROWS -> d_step { sum = sum + block[b].cells[r]; r++ }
             :: else -> break
             od;
             r = 0;
             number = sum - block[b].base;
             closed = (header[h].state == CLOSED)
          fi;
          if
          :: closed -> number = header[h].total
          :: else
          fi;
shared:
          number = number + header[h].shared;
#ifndef NO_VERSION              /* seeded: not looked whether the header is that bucket still */
          if :: v == header[h].version :: else -> goto left_out fi
#else
          skip
#endif
       fi;
       /* Between what it was when the read began, and what it is. */
       assert(first[at] <= number && number <= ledger[at]);
next:
       atomic { h = 0; v = 0; b = 0; r = 0; sum = 0; number = 0; closed = false }
       if
       :: at == 0 || at + SLOTS == newest + 1 -> break
       :: else -> at--
       fi
    od;
    goto end;

left_out:
    /* Zero is right: the bucket has left the ring meanwhile, or was empty when the read began. */
    assert(first[at] == 0 || !IN_RING(at, header[current].start));
    goto next;

overtaken:
    skip;
end:
    skip
}
#endif

init {
    byte t[WRITERS];
    byte i;
    atomic {
        header[1].block = 1;
        header[1].holds = 2;
        header[1].real = true;
        block[1].owner = 1;
        current = 1;
        slot[0] = 1;
        born[0] = true;
        block[1].cells[0] = FIRST;
        ledger[0] = FIRST;
#ifdef SUMS
        header[1].mark = KNOWN;
#endif
#ifdef TIERS
        through[0] = FIRST;
#endif
        /* The times of the first adds: any; those of a later writer are no older, since writers are
           alike. */
        i = 0;
        do
        :: i < WRITERS ->
           if
           :: i == 0 -> t[0] = 0
           :: else -> t[i] = t[i - 1]
           fi;
           do
           :: t[i] < LAST -> t[i]++
           :: break
           od;
           run Writer(i, t[i]);
           i++
        :: else -> break
        od;
        i = 0;
        do :: i < WRITERS -> t[i] = 0; i++ :: else -> break od;
        i = 0;
#ifdef READER
        run Reader()
#endif
    }
}
