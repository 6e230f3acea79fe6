# SPDX-License-Identifier: BSD-2-Clause
"""Several ranks on a host: added up there, against each of them on the wire."""

from figures import Figures
from nets import Star
from pairs import gbps, in_turns, ratios

HOSTS = ("--ranks", "2")
SIZE = ("-b", "16M", "-e", "16M", "-w", "1", "-n", "3")


def against(pairs, wires, other):
    """algbw of 4 ranks on 2 hosts, and with the options `other` on the same wires."""
    with Star(2, *HOSTS, *wires) as ours, Star(2, *HOSTS, *wires, *other) as theirs:
        return in_turns(pairs, lambda: gbps(ours.perf(*SIZE)),
                        lambda: gbps(theirs.perf(*SIZE)))


def measure(pairs, transport):
    del transport  # without tribd on the host, nobody adds up
    figures = Figures("host")
    few = min(pairs, 3)  # a wire of fixed rate varies little
    ours, apart = against(few, ("--rate", "200m"), ("--apart",))
    figures.add("ratio_2ranks_per_host", ratios(ours, apart), bar=1.8,
                note="200 Mb/s wires, 4 ranks on 2 hosts, over each rank on the wire")
    figures.add("algbw_added_up", ours, note="Gb/s")
    figures.add("algbw_apart", apart, note="Gb/s")
    for loss in "1", "5":
        ours, apart = against(few, ("--rate", "200m", "--loss", loss), ("--apart",))
        figures.add(f"ratio_2ranks_loss{loss}", ratios(ours, apart),
                    note=f"the same with {loss}% loss on every wire, each way")
    ours, sockets = against(pairs, (), ("--no-reflex",))
    figures.add("ratio_xdp_over_sockets", ratios(ours, sockets),
                note="bare veths, over ranks that send by socket to their host")
    return figures
