/*
 * A shared limit: clients that lease permits of an engine, and the network between them.
 *
 * Time is whole buckets, from FIRST to LAST. The interval is one bucket, so the ledger has two
 * counts. An ask wants one permit, or gives one back, or both. The network has the last two copies
 * of a client's asks, and the last answer to it: each may be delivered at any time, again and
 * again, or never. A client that dies does nothing more.
 *
 * Once, with RESTART, the engine is started again without memory; with FAILOVER, a replica takes
 * over that has its memory of an earlier moment; each may have a clock that is behind. With FALL,
 * the engine's clock falls back within the epoch, out of a bucket that an ask has seen. (The other
 * case is a known limit.)
 *
 * Asserted: in each bucket at most LIMIT permits are used.
 *
 * Seeds: NO_COLD, OLD_ANSWER, NO_TOKEN, NO_NEWEST, NO_NUMBERS, NO_SPARE (the engine); NEW_NUMBER,
 * RETURN_TWICE, ONE_STAMP, FROM_ANSWER (the client). tests/core/twin.rs says what they are.
 */
#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef ASKS
#define ASKS 2              /* of each client */
#endif
#ifndef FIRST
#define FIRST 3
#endif
#ifndef LAST
#define LAST (FIRST + 3)
#endif
#ifndef LIMIT
#define LIMIT 1
#endif
#define COLD 3              /* an interval, and two buckets */
#define KEEP 5              /* the buckets for which an answer is kept */

typedef Ask { byte number; byte sent; bool wants; bool back; byte bucket; byte born }
typedef Answer { bool there; bool granted; byte sent; byte bucket; byte age; byte born }
typedef Grant { bool there; byte end; byte bucket; byte born }
typedef Client { byte number; bool pending; byte sent; Grant lease; Grant back; Answer answer }
typedef Last { byte number; bool granted; byte bucket }
typedef Memory {
    bool known;             /* the epoch is of this run of the engine */
    byte born; byte since;
    byte ledger;            /* the epoch in which the ledger began */
    byte newest; byte count[2];
    Last last[CLIENTS]
}
typedef Network { Ask ask[2] }

Client client[CLIENTS];
Network network[CLIENTS];
Memory engine, replica;
byte clock, behind, births, used;
bool copied, failed;

#ifdef NO_TOKEN
#define OF_EPOCH (ask.bucket >= engine.since)
#else
#define OF_EPOCH (ask.born == engine.born)
#endif
#define BUCKET (clock - behind)
#define CLEAR(g) g.there = false; g.end = 0; g.bucket = 0; g.born = 0

#define C client[c]

inline copy_ask(to, from) {
    to.number = from.number; to.sent = from.sent; to.wants = from.wants;
    to.back = from.back; to.bucket = from.bucket; to.born = from.born
}

inline forget_last(i) { engine.last[i].number = 0; engine.last[i].granted = false; engine.last[i].bucket = 0 }

#define CLEAR_ANSWER(a) a.there = false; a.granted = false; a.sent = 0; a.bucket = 0; a.age = 0; a.born = 0

/* Puts an answer into the network. (One that the client would not take is as good as lost.) */
inline say(what, where, old) {
    if
    :: client[c].pending && ask.number == client[c].number ->
       CLEAR_ANSWER(client[c].answer);
       client[c].answer.there = true;
       if
       :: what ->
          client[c].answer.granted = true;
          client[c].answer.sent = ask.sent;
          client[c].answer.bucket = where;
          client[c].answer.age = old;
          client[c].answer.born = engine.born
       :: else
       fi
    :: else
    fi
}

/* The script: the ask in slot s of client c is executed, as one step. */
inline execute() {
    copy_ask(ask, network[c].ask[s]);
    b = BUCKET;
    if
    :: !engine.known || engine.since > b + COLD ||
        (engine.ledger == engine.born && engine.newest > b + COLD) ->
       births++;
       engine.known = true;
       engine.born = births;
#ifdef NO_COLD
       engine.since = b
#else
       engine.since = b + COLD
#endif
    :: else
    fi;
#ifdef NO_TOKEN
    is_void = engine.newest < engine.since;
    if :: !is_void -> engine.ledger = engine.born :: else fi;
#else
    is_void = engine.ledger != engine.born;
#endif
    known = engine.last[c].number > 0 && engine.last[c].bucket + KEEP >= b &&
        engine.last[c].number >= ask.number;
#ifndef OLD_ANSWER
    known = known && !is_void && b >= engine.since;
#endif
#ifdef NO_NUMBERS
    known = false;
#endif
    if
    :: known && engine.last[c].number > ask.number -> skip
    :: known && engine.last[c].number == ask.number ->
#ifdef NO_NEWEST
       at = b;
#else
       at = (b > engine.newest -> b : engine.newest);
#endif
       at = (at > engine.last[c].bucket -> at - engine.last[c].bucket : 0);
       say(engine.last[c].granted, engine.last[c].bucket, at)
    :: !known && b < engine.since -> say(false, b, 0)
    :: else ->
       if
       :: is_void ->
          engine.ledger = engine.born; engine.newest = b;
          engine.count[0] = 0; engine.count[1] = 0;
          at = 0;
          do :: at < CLIENTS -> forget_last(at); at++ :: else -> break od
       :: else
       fi;
       if
       :: b > engine.newest + 1 -> engine.count[0] = 0; engine.count[1] = 0; engine.newest = b
       :: b == engine.newest + 1 -> engine.count[b % 2] = 0; engine.newest = b
       :: else -> b = engine.newest
       fi;
       if
       :: ask.back && OF_EPOCH && ask.bucket <= b && ask.bucket + 1 >= b &&
          engine.count[ask.bucket % 2] > 0 -> engine.count[ask.bucket % 2]--
       :: else
       fi;
       at = engine.count[b % 2];
#ifndef NO_SPARE
       at = at + engine.count[1 - b % 2];
#endif
       known = ask.wants && at < LIMIT;
       if :: known -> engine.count[b % 2]++ :: else fi;
       engine.last[c].number = ask.number;
       engine.last[c].granted = known;
       engine.last[c].bucket = b;
       say(known, b, 0)
    fi;
    ask.number = 0; ask.sent = 0; ask.wants = false; ask.back = false; ask.bucket = 0; ask.born = 0;
    b = 0; at = 0; known = false; is_void = false
}

/* Sends a new ask of client c, or another copy of the one under way. An ask that a new one follows
   was given up: no answer to it is taken. */
inline send(is_new, want) {
    copy_ask(network[c].ask[0], network[c].ask[1]);
    C.sent = clock;
    network[c].ask[1].sent = clock;
    if
    :: is_new ->
       C.number++; C.pending = true;
       CLEAR_ANSWER(C.answer);
       network[c].ask[0].sent = 0; /* it is of no account any more */
       network[c].ask[1].number = C.number;
       network[c].ask[1].wants = want;
       network[c].ask[1].back = C.back.there;
       network[c].ask[1].bucket = C.back.bucket;
       network[c].ask[1].born = C.back.born;
#ifndef RETURN_TWICE
       CLEAR(C.back);
#endif
       skip
    :: else ->
#ifdef NEW_NUMBER
       C.number++;
       CLEAR_ANSWER(C.answer);
#endif
       network[c].ask[1].number = C.number
    fi
}

/* The rest of client c's lease rides in its next ask; or counts as used, where another waits. */
inline give_back() {
    if
    :: C.lease.there && !C.back.there ->
       C.back.there = true; C.back.bucket = C.lease.bucket; C.back.born = C.lease.born
    :: else
    fi;
    CLEAR(C.lease)
}

inline take_answer() {
    C.pending = false;
    network[c].ask[0].sent = 0; network[c].ask[1].sent = 0;
    if
    :: C.answer.granted ->
       give_back();
       C.lease.there = true;
#ifdef ONE_STAMP
       at = C.sent;
#else
#ifdef FROM_ANSWER
       at = clock;
#else
       at = C.answer.sent;
#endif
#endif
       C.lease.end = (at + 2 > C.answer.age -> at + 2 - C.answer.age : 0);
       C.lease.bucket = C.answer.bucket;
       C.lease.born = C.answer.born;
       at = 0;
       if :: clock >= C.lease.end -> give_back() :: else fi
    :: else
    fi;
    C.sent = 0;
    CLEAR_ANSWER(C.answer)
}

inline copy_memory(to, from) {
    to.known = from.known; to.born = from.born; to.since = from.since;
    to.ledger = from.ledger; to.newest = from.newest;
    to.count[0] = from.count[0]; to.count[1] = from.count[1];
    at = 0;
    do
    :: at < CLIENTS ->
       to.last[at].number = from.last[at].number;
       to.last[at].granted = from.last[at].granted;
       to.last[at].bucket = from.last[at].bucket;
       at++
    :: else -> break
    od;
    at = 0
}

inline lose_memory() {
    engine.known = false; engine.born = 0; engine.since = 0;
    engine.ledger = 0; engine.newest = 0; engine.count[0] = 0; engine.count[1] = 0;
    at = 0;
    do :: at < CLIENTS -> forget_last(at); at++ :: else -> break od;
    at = 0
}

inline forget_replica() {
    replica.known = false; replica.born = 0; replica.since = 0;
    replica.ledger = 0; replica.newest = 0; replica.count[0] = 0; replica.count[1] = 0;
    at = 0;
    do
    :: at < CLIENTS ->
       replica.last[at].number = 0; replica.last[at].granted = false; replica.last[at].bucket = 0;
       at++
    :: else -> break
    od;
    at = 0;
    failed = true; copied = false
}

active proctype World() {
    byte c, s, b, at;
    bool known, is_void;
    Ask ask;
    d_step {
        clock = FIRST;
        births = 1;
        engine.known = true; engine.born = 1; engine.ledger = 1;
        copy_memory(replica, engine)
    };
    do
    :: atomic {
           if :: c = 0 :: CLIENTS > 1 -> c = 1 fi;
           if
           :: C.number < ASKS && (c == 0 || client[0].number > 0) -> d_step { send(true, true) }
           :: C.number < ASKS && C.back.there -> d_step { send(true, false) }
           :: C.pending && clock > C.sent -> d_step { send(false, false) }
           :: network[c].ask[0].number > 0 -> d_step { s = 0; execute() }
           :: network[c].ask[1].number > 0 -> d_step { s = 1; execute(); s = 0 }
           :: C.pending && C.answer.there -> d_step { take_answer() }
           :: C.lease.there && clock < C.lease.end ->
              used++;
              assert(used <= LIMIT);
              d_step { CLEAR(C.lease) }
           :: C.lease.there && !C.back.there -> d_step { give_back() }
           :: else /* it waits */
           fi;
           c = 0
       }
    :: clock < LAST -> atomic { clock++; used = 0 }
#ifdef FAILOVER
    :: !copied && !failed -> d_step { copied = true; copy_memory(replica, engine) }
#endif
    :: !failed ->
       atomic {
           if
#ifdef RESTART
           :: d_step { lose_memory() }
#endif
#ifdef FAILOVER
           :: copied -> d_step { copy_memory(engine, replica); engine.known = false }
#endif
#ifdef FALL
           :: engine.ledger == engine.born && engine.newest == BUCKET && clock > 0 -> behind = 1
           :: engine.ledger == engine.born && engine.newest == BUCKET && clock > 1 -> behind = 2
#endif
           :: !copied -> skip
           fi;
           if
           :: !engine.known -> if :: behind = 0 :: clock >= 1 -> behind = 1 :: clock >= 2 -> behind = 2 :: clock >= 3 -> behind = 3 fi
           :: else
           fi;
           d_step { forget_replica() }
       }
    :: clock == LAST -> break
    od
}
