# SPDX-License-Identifier: BSD-2-Clause
"""A worker host with tribd: its LEAF row, its cells and its rings."""

from auth import TRIBD, Windows, proof
from net import ABORT, RESULT, Msg, serial_diff

RING_EVERY = 64


class Cell:
    """struct trib_cell."""

    __slots__ = ("epoch", "chunk", "shape", "value")

    def __init__(self, m):
        self.epoch = m.epoch
        self.chunk = m.chunk
        self.shape = m.shape
        self.value = m.value


class Leaf:
    def __init__(self, world, relay):
        self.world = world
        self.rules = world.rules
        self.net = world.net
        self.relay = relay
        self.parent = None
        self.workers = []
        self.windows = Windows(self.rules)
        self.count = TRIBD
        self.up_child = -1   # child number of the first rank; a row has one
        self.epoch = 0       # of the row in `trees`; 0: none
        self.last_epoch = 0
        self.cells = {}
        self.next = 0
        self.unrung = 0
        self.mask = 2 * world.window - 1

    def start(self, epoch):
        """A rank has START of an epoch; False if that epoch is over."""
        if epoch > self.last_epoch:
            self.epoch = self.last_epoch = epoch
        return epoch == self.epoch

    def receive(self, m):
        if m.epoch != self.epoch:
            return
        if not self.windows.admit(m, self.relay.name, None):
            return
        if m.type == RESULT:
            self.deliver(m)
            return
        if (not self.rules.leaf_passes_every_need and
                m.seen >> self.up_child & 1):
            return
        for w in self.workers:
            self.net.at(0, w.receive, m)

    def deliver(self, m):
        i = m.chunk & self.mask
        cell = self.cells.get(i)
        if cell:
            same_epoch = (cell.epoch == m.epoch or
                          not self.rules.cell_names_epoch)
            newer = serial_diff(m.chunk, cell.chunk)
            if same_epoch and (newer < 0 and self.rules.cell_takes_only_newer
                               or newer == 0):
                return
            for w in self.workers:
                if w.has_not_consumed(cell):
                    self.world.fail("overwritten", f"{cell.chunk} at {w.rank}")
        self.cells[i] = Cell(m)
        self.unrung += 1
        out_of_row = m.chunk != self.next and self.rules.gap_rings
        if m.push or out_of_row or self.unrung >= RING_EVERY:
            self.unrung = 0
            for w in self.workers:
                self.net.at(0, w.wake)
        if serial_diff(m.chunk + 1, self.next) > 0 or not self.net.now:
            self.next = m.chunk + 1 & 0xFFFFFFFF

    def read(self, epoch, chunk):
        cell = self.cells.get(chunk & self.mask)
        if cell and cell.chunk == chunk and (
                cell.epoch == epoch or not self.rules.cell_names_epoch):
            return cell
        return None

    def process_died(self, worker):
        """Handle a connection that closed without BYE: ABORT, three times."""
        for delay in (0, 30, 120):
            self.count += 1
            up = Msg(ABORT, self.epoch, up=True, child=worker.child,
                     rank=worker.rank, why="gone", number=self.count)
            up.auth = proof(self.rules, up, worker.rank)
            self.net.at(delay, self.net.send, self.relay, up)
