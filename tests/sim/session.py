# SPDX-License-Identifier: BSD-2-Clause
"""Start and end of epochs at one node: tribd's part of the protocol.

Models userspace/base/session.c; a tick is a millisecond.
"""

from net import ABORT, JOIN, LEAVE, START, Msg, make_nonce, nonce_is_older

REPEAT = 200        # between JOINs
FRESH = 3000        # a child that sends no JOIN for this long is gone
WATCH, GONE = 125, 500
RETIRED = 4         # limit of retired nonces per child
PACKET_LIFE = 1000  # time that they stay retired: late copies can arrive
ABORT_AT = (0, 30, 120)


class Session:
    def __init__(self, relay):
        self.relay = relay
        self.rules = relay.rules
        self.net = relay.net
        self.last_epoch = 0
        self.file_epoch = 0  # in the state file
        self.full_until = 0  # the disk of that file refuses until then
        self.up_nonce = 0
        self.instance = self.net.rng.getrandbits(30)
        self.joins = 0
        self.nonce = {}      # child -> nonce of a joined child
        self.known = {}      # child -> its newest nonce, joined or not
        self.heard = {}      # child -> time of its last JOIN
        self.retired = {}    # child -> {retired nonce: time}
        self.blame = {}      # child -> rank that made it leave
        self.stuck_since = None
        self.token = 0       # that a JOIN must have
        self.up_token = 0    # that the parent wants
        self.renew_token()

    def renew_token(self):
        self.token = self.net.rng.getrandbits(60)

    def receive(self, m):
        if m.type == JOIN:
            self.on_join(m)
        elif m.type == LEAVE:
            self.on_leave(m)
        else:
            self.on_start(m)

    def restart(self):
        """tribd restarts: waiting children join again; an epoch goes on."""
        self.instance = self.net.rng.getrandbits(30)
        self.renew_token()
        self.last_epoch = self.relay.epoch
        if self.rules.epochs_are_not_reused:
            self.last_epoch = max(self.last_epoch, self.file_epoch)
        if self.rules.restart_exceeds_all_traces:
            for z in self.relay.slots.values():
                self.last_epoch = max(self.last_epoch, z.epoch)

    def keep(self, epoch):
        """True if a restart will know of this epoch."""
        if epoch <= self.file_epoch:
            return True
        if self.net.now < self.full_until:
            return not self.rules.epoch_is_saved_before_start
        self.file_epoch = epoch
        return True

    def complete(self):
        return len(self.nonce) == len(self.relay.children)

    # --- from children

    def on_join(self, m):
        child, nonce = m.child, m.nonce
        if self.is_retired(child, nonce):
            return
        if m.token != self.token and self.rules.join_echoes_token:
            running = self.relay.epoch and self.nonce.get(child) == nonce
            self.send_start(child, bool(running), nonce)
            return
        known = self.known.get(child)
        if nonce != known:
            if self.rules.nonces_are_ordered and nonce_is_older(nonce, known):
                return
            self.retire(child, known)
            self.known[child] = nonce
        self.heard[child] = self.net.now
        self.last_epoch = max(self.last_epoch, m.epoch)
        if self.relay.epoch and self.nonce.get(child) == nonce:
            self.send_start(child, True)
            return
        if self.relay.epoch:
            if not self.rules.rejoin_aborts_the_others:
                return
            self.abort("rejoin", self.relay.ranks[child], child)
        if self.nonce.get(child) != nonce:
            self.leave_parent(self.relay.ranks[child])
            self.nonce[child] = nonce
            self.net.at(FRESH, self.expire, child, nonce)
            self.advance()
        if not self.relay.epoch:
            self.send_start(child, False)

    def on_leave(self, m):
        self.retire(m.child, m.nonce)
        if self.nonce.get(m.child) != m.nonce:
            return
        del self.nonce[m.child]
        rank = self.relay.ranks[m.child]
        self.blame[m.child] = m.rank if rank < 0 else rank
        if not self.relay.epoch or not self.nonce:
            self.leave_parent(self.blame[m.child])
        if not self.nonce:
            self.relay.epoch = 0
        elif self.relay.epoch:
            self.net.at(WATCH, self.watch, self.relay.epoch)

    def retire(self, child, nonce):
        if not nonce or not self.rules.nonces_are_retired:
            return
        given_up = self.retired.setdefault(child, {})
        given_up[nonce] = self.net.now
        if len(given_up) > RETIRED:
            del given_up[next(iter(given_up))]

    def is_retired(self, child, nonce):
        when = self.retired.get(child, {}).get(nonce)
        if when is None:
            return False
        # Only the living nonce is repeated.
        return (self.net.now - when < PACKET_LIFE or
                not self.rules.retirement_ends)

    def expire(self, child, nonce):
        """Remove a waiting child that has become silent."""
        if self.nonce.get(child) != nonce or self.relay.epoch:
            return
        if self.net.now - self.heard[child] < FRESH:
            self.net.at(FRESH, self.expire, child, nonce)
            return
        del self.nonce[child]
        self.leave_parent(self.relay.ranks[child])

    # --- the parent

    def advance(self):
        if not self.complete():
            return
        if not self.relay.parent:
            self.begin(self.last_epoch + 1)
            if not self.relay.epoch:
                self.net.at(REPEAT, self.begin_again)
        elif not self.up_nonce:
            self.joins += 1
            self.up_nonce = make_nonce(self.instance, self.joins)
            self.join_parent(self.up_nonce)

    def begin_again(self):
        if not self.relay.epoch:
            self.advance()

    def join_parent(self, nonce):
        if self.up_nonce != nonce or self.relay.epoch or self.relay.dead:
            return
        # The parent must not begin what this node could not.
        if self.keep(self.last_epoch + 1):
            self.relay.emit(self.relay.parent,
                          Msg(JOIN, self.last_epoch, up=True, nonce=nonce,
                              child=self.relay.up_child,
                              token=self.up_token))
        self.net.at(REPEAT, self.join_parent, nonce)

    def leave_parent(self, rank=-1):
        if self.up_nonce and self.relay.parent:
            self.relay.emit(self.relay.parent,
                          Msg(LEAVE, self.last_epoch, up=True, rank=rank,
                              nonce=self.up_nonce, child=self.relay.up_child))
        self.up_nonce = 0

    def on_start(self, m):
        if self.relay.epoch or not self.up_nonce:
            return
        if not m.run:
            if m.nonce == self.up_nonce and m.token != self.up_token:
                self.up_token = m.token
                self.join_parent(m.nonce)
            return
        if m.nonce != self.up_nonce and self.rules.start_names_nonce:
            return
        if m.epoch > self.last_epoch or not self.rules.start_names_nonce:
            self.begin(m.epoch)

    # --- epochs

    def begin(self, epoch):
        if not self.keep(epoch):
            return
        self.relay.epoch = self.last_epoch = epoch
        self.renew_token()
        for child in self.nonce:
            self.send_start(child, True)

    def send_start(self, child, run, nonce=0):
        run = run and self.keep(self.relay.epoch)
        self.relay.emit(self.relay.joiners[child],
                      Msg(START, self.relay.epoch, run=run,
                          nonce=nonce or self.nonce[child],
                          token=self.token))

    def abort(self, why, rank, but):
        """End the epoch; tell all but one child, three times."""
        relay = self.relay
        told = [relay.children[c] for c in sorted(self.nonce) if c != but]
        ports = list(dict.fromkeys(told))  # each port once
        epoch, relay.epoch = relay.epoch, 0
        self.renew_token()
        self.nonce.clear()
        down = Msg(ABORT, epoch, rank=rank, why=why)
        up = Msg(ABORT, epoch, up=True, child=relay.up_child, rank=rank,
                 why=why)
        for delay in ABORT_AT:
            for port in ports:
                self.net.at(delay, relay.emit, port, down)
            if relay.parent:
                self.net.at(delay, relay.emit, relay.parent, up)
        self.leave_parent(rank)

    def watch(self, epoch):
        """A child left: end the epoch if a chunk waits for that child."""
        relay = self.relay
        if relay.epoch != epoch or relay.dead or self.complete():
            return
        waited = {c for z in relay.slots.values()
                  if z.epoch == epoch and z.state == "collect" and z.seen
                  for c in range(len(relay.children))
                  if c not in self.nonce and not z.seen >> c & 1}
        if not waited:
            self.stuck_since = None
        elif self.stuck_since is None:
            self.stuck_since = self.net.now
        elif self.net.now - self.stuck_since >= GONE:
            child = min(waited)
            rank = relay.ranks[child]
            if self.rules.leave_names_rank:
                rank = self.blame.get(child, rank)
            self.abort("gone", rank, child)
            return
        self.net.at(WATCH, self.watch, epoch)
