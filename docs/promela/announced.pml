/*
 * The close of an announced bucket: src/reclaim/announced.rs, and what calls it in
 * src/ring/write/add.rs, close.rs and src/stripe/membarrier.rs. docs/promela/README.md says what
 * has been checked.
 *
 * Adders announce a header, look again whether it is current, and add to their own cell of its
 * block by a plain load and store. Their stores go through a buffer each, as on x86-64: so a look
 * may come before the announcement that stands before it, for all that other threads can tell. A
 * barrier empties one buffer after another. With FENCED an adder empties its own between
 * announcement and look, and there is no barrier.
 *
 * One thread rotates, and closes what it can; another closes too, and begins barriers. One step of
 * a process is one access to memory that others see too, but for what a closer does to take a
 * header: see which one a block belongs to, that it is retired, and count a hold. (rotation.pml
 * takes that apart.)
 *
 * Buckets are numbered; headers and blocks too, from 1, and 0 is none.
 */

#ifndef ADDERS
#define ADDERS 2
#endif
#ifndef ADDS
#define ADDS 2                  /* adds of each */
#endif
#ifndef LAST
#define LAST 2                  /* the number of the last bucket, and of rotations */
#endif
#ifndef CLOSERS
#define CLOSERS 1               /* threads that only close */
#endif
#define HEADERS 3
#define BLOCKS 2
#define NONE 0

#define SLOT 0                  /* in a buffer: a store to the slot; any other: to that block */
#define DEPTH 6                 /* entries of a buffer: more than one add has */

/* A header's states. */
#define OPEN 0
#define CLOSING 1
#define CLOSED 2

typedef Header {
    byte bucket;                /* which it is */
    byte block;
    byte state;
    byte holds;
    byte ticket
}
Header header[HEADERS + 1];

typedef Block {
    byte owner;
    byte base
}
Block block[BLOCKS + 1];

typedef Thread {
    byte slot;                  /* the header that it announces */
    byte cells[BLOCKS + 1]
}
Thread adder[ADDERS];           /* as others see them */
chan buffer[ADDERS] = [DEPTH] of { byte, byte };

byte current;
byte begun, ended;               /* barriers */
byte over;                      /* ghost: threads that have ended */
byte ledger[LAST + 1];          /* ghost: adds by bucket */
byte total[LAST + 1];           /* what was written at the close */
bool closed[LAST + 1];

/* One store of a thread becomes visible. */
inline let_out(thread) {
    buffer[thread] ? what, value;
    if
    :: what == SLOT -> adder[thread].slot = value
    :: else -> adder[thread].cells[what] = value
    fi;
    what = 0; value = 0
}

/* A fence in a thread. */
inline empty_buffer(thread) {
    atomic {
        do
        :: nempty(buffer[thread]) -> let_out(thread)
        :: empty(buffer[thread]) -> break
        od
    }
}

/* The processor lets stores out when it likes. */
proctype Buffer(byte me) {
    byte what, value;
end:
    do
    :: atomic { nempty(buffer[me]) -> let_out(me) }
    od
}

proctype Adder(byte me) {
    byte mine[BLOCKS + 1];      /* what it has stored into its cells */
    byte adds, found, b, what, value;

    do
    :: adds < ADDS ->
       found = current;
       buffer[me] ! SLOT, found;
#ifdef FENCED
#ifndef NO_FENCE                /* seeded: announcement and look may change places */
       empty_buffer(me);
#endif
#endif
       atomic {
           if
#ifdef NO_SECOND_LOOK           /* seeded: it is used as it was found */
           :: true ->
#else
           :: current == found ->
#endif
              ledger[header[found].bucket]++; /* ghost */
              b = header[found].block
           :: else -> b = NONE  /* missed: out of line */
           fi
       }
#ifdef TAKEN_BACK_FIRST         /* seeded: the announcement goes before the add is done */
       buffer[me] ! SLOT, NONE;
#endif
       if
       :: b != NONE -> atomic { mine[b]++; buffer[me] ! b, mine[b] }
       :: else
       fi;
#ifndef TAKEN_BACK_FIRST
       buffer[me] ! SLOT, NONE;
#endif
       adds++
    :: else -> break
    od;
    atomic { empty(buffer[me]) -> over++ }
}

/* A retired header that owns block `b`: `owner`, held; or none. */
inline hold_retired() {
    atomic {
        owner = block[b].owner;
        if
        :: owner != NONE && owner != current && header[owner].bucket < header[current].bucket ->
           header[owner].holds++
        :: else -> owner = NONE
        fi
    }
}

/* Takes a ticket for `owner`, if it has none. */
inline take_ticket() {
    if
    :: header[owner].ticket == 0 ->
#ifdef STALE_TICKET             /* seeded: a barrier that may have begun before passes */
       n = (begun > 0 -> begun : 1);
#else
       n = begun + 1;
#endif
       atomic {
           if
           :: header[owner].ticket == 0 -> header[owner].ticket = n
           :: else
           fi;
           n = 0
       }
    :: else
    fi
}

/* Sees to it that the ticket's barrier has ended. */
inline barrier() {
    if
    :: ended < header[owner].ticket ->
       atomic { begun++; number = begun };
       i = 0;
       do
       :: i < ADDERS ->
#ifndef NO_BARRIER              /* seeded: no thread passes a fence */
          empty_buffer(i);
#endif
          i++
       :: else -> break
       od;
       atomic { i = 0; ended = (ended < number -> number : ended); number = 0 }
    :: else
    fi
}

/* Whether no adder announces `owner`. */
inline look() {
    quiet = true;
#ifndef NO_LOOK                 /* seeded: the barrier is taken for enough */
    i = 0;
    do
    :: i < ADDERS && quiet -> atomic { quiet = (adder[i].slot != owner); i++ }
    :: else -> break
    od;
    i = 0
#endif
}

/* Closes what can be closed. */
inline close_all() {
    b = 1;
    do
    :: b <= BLOCKS ->
       hold_retired();
       if
       :: owner != NONE ->
#ifdef LOOK_FIRST               /* seeded: the look before the barrier */
          look();
#endif
#ifndef FENCED
          take_ticket();
          barrier();
#endif
#ifndef LOOK_FIRST
          look();
#endif
          atomic {
              if
              :: quiet && header[owner].state == OPEN -> header[owner].state = CLOSING
              :: else -> quiet = false
              fi
          }
          if
          :: quiet ->
             do
             :: i < ADDERS -> atomic { sum = sum + adder[i].cells[b]; i++ }
             :: else -> break
             od;
             atomic {
                 total[header[owner].bucket] = sum - block[b].base;
                 closed[header[owner].bucket] = true;
                 block[b].base = sum;
                 header[owner].state = CLOSED;
                 i = 0; sum = 0
             }
             block[b].owner = NONE
          :: else
          fi;
          atomic { header[owner].holds--; owner = NONE; quiet = false }
       :: else
       fi;
       b++
    :: else -> break
    od;
    b = 0
}

proctype Rotator() {
    byte bucket, h, b, owner, i, n, number, sum, what, value;
    bool quiet;

    do
    :: bucket < LAST ->
       b = 1;
       do
       :: b <= BLOCKS && block[b].owner != NONE -> b++
       :: else -> break
       od;
       if
       :: b > BLOCKS -> break   /* all are held up: it opens no bucket with a block */
       :: else
       fi;
       /* A header that is not in use: closed, and without holds. */
       h = 1;
       do
       :: header[h].state != CLOSED || header[h].holds > 0 -> h++
       :: else -> break
       od;
       assert(h <= HEADERS);
       atomic {
           bucket++;
           header[h].bucket = bucket; header[h].block = b; header[h].ticket = 0; header[h].state = OPEN
       }
       block[b].owner = h;
       current = h;
       atomic { h = 0; b = 0 }
       close_all()
    :: else -> break
    od;
    over++
}

proctype Closer() {
    byte b, owner, i, n, number, sum, what, value;
    bool quiet;

    close_all();
    over++
}

init {
    byte i, b, sum;

    atomic {
        header[1].block = 1; header[1].state = OPEN;
        header[2].state = CLOSED; header[3].state = CLOSED;
        block[1].owner = 1;
        current = 1
    }
    atomic {
        i = 0;
        do
        :: i < ADDERS -> run Adder(i); run Buffer(i); i++
        :: else -> break
        od;
        run Rotator();
        i = 0;
        do
        :: i < CLOSERS -> run Closer(); i++
        :: else -> break
        od;
        i = 0
    }
    over == ADDERS + CLOSERS + 1;
    /* What a closed bucket has is what was added to it; what the others have is in their blocks. */
    atomic {
        i = 0;
        do
        :: i <= LAST ->
           if :: closed[i] -> assert(total[i] == ledger[i]) :: else fi;
           i++
        :: else -> break
        od;
        b = 1;
        do
        :: b <= BLOCKS ->
           sum = 0; i = 0;
           do
           :: i < ADDERS -> sum = sum + adder[i].cells[b]; i++
           :: else -> break
           od;
           if
           :: block[b].owner != NONE -> assert(sum - block[b].base == ledger[header[block[b].owner].bucket])
           :: else -> assert(sum == block[b].base)
           fi;
           b++
        :: else -> break
        od
    }
}
