#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the machines of tests/unit/peer/topo.c as files of hwloc 2.

    machines.py FOLDER      write MACHINE.xml into FOLDER
    machines.py --check     exit status 1 if the files beside this one differ

The machines are made up, after the block diagrams of common ones; the files have no
more than hwloc needs.
"""

import os
import sys
from xml.sax.saxutils import quoteattr

# PCI: vendor, device, class.
A100 = ("10de", "20b0", "0302")
H100 = ("10de", "2330", "0302")
GEFORCE = ("10de", "2684", "0300")
MI250 = ("1002", "740c", "0380")
RADEON = ("1002", "73bf", "0300")
ASPEED = ("1a03", "2000", "0300")
CX6 = ("15b3", "101b", "0207")
E810 = ("8086", "1592", "0200")
X550 = ("8086", "1563", "0200")

NAMES = {A100: "A100-SXM4-40GB", H100: "H100 80GB HBM3", GEFORCE: "GeForce RTX 4090",
         MI250: "Instinct MI250X", RADEON: "Radeon RX 6900 XT"}


class Machine:
    """A file that grows; buses are numbered in the order of the calls."""

    def __init__(self, name, packages=1, nodes_each=1, distances=None):
        self.name, self.lines, self.gp = name, [], 0
        self.packages, self.nodes_each = packages, nodes_each
        self.distances = distances
        self.io = {node: [] for node in range(-1, packages * nodes_each)}
        self.bus = 0

    def number(self):
        self.gp += 1
        return self.gp

    def bridge(self, node, *below):
        """A host bridge at a NUMA node; -1: nobody knows where."""
        first = self.bus
        self.bus += 1
        inner = [b(self, first) for b in below]
        self.bus = (self.bus + 15) // 16 * 16
        self.io[node].append(
            f'<object type="Bridge" gp_index="{self.number()}" bridge_type="0-1" '
            f'depth="0" bridge_pci="0000:[{first:02x}-{self.bus - 1:02x}]">'
            + "\n".join([""] + inner) + "\n</object>")
        return self

    def sets(self, low, count):
        bits = ((1 << count) - 1) << low
        return (f'cpuset="0x{bits:08x}" complete_cpuset="0x{bits:08x}" '
                f'nodeset="0x{bits:08x}" complete_nodeset="0x{bits:08x}" '
                f'gp_index="{self.number()}"')

    def place(self, node):
        """A NUMA node with one core, and the host bridges at it."""
        own = self.sets(node, 1)
        out = [f'<object type="NUMANode" os_index="{node}" {own} '
               'local_memory="68719476736"/>',
               f'<object type="Core" os_index="{node}" {self.sets(node, 1)}>',
               f'<object type="PU" os_index="{node}" {self.sets(node, 1)}/>',
               "</object>"]
        return out + self.io[node]

    def text(self):
        total = self.packages * self.nodes_each
        bits = (1 << total) - 1
        root = self.sets(0, total)
        out = ['<?xml version="1.0" encoding="UTF-8"?>', '<topology version="2.0">',
               f'<object type="Machine" os_index="0" {root} '
               f'allowed_cpuset="0x{bits:08x}" allowed_nodeset="0x{bits:08x}">'
               '<info name="Licence" value="SPDX-License-Identifier: BSD-2-Clause"/>',
               f'<info name="DMIProductName" value={quoteattr(self.name)}/>']
        for p in range(self.packages):
            first = p * self.nodes_each
            out.append(f'<object type="Package" os_index="{p}" '
                       f'{self.sets(first, self.nodes_each)}>')
            for node in range(first, first + self.nodes_each):
                if self.nodes_each == 1:
                    out += self.place(node)
                    continue
                out.append(f'<object type="Group" kind="0" subkind="0" '
                           f'{self.sets(node, 1)}>')
                out += self.place(node) + ["</object>"]
            out.append("</object>")
        out += self.io[-1] + ["</object>"]
        if self.distances:
            values = " ".join(str(v) for row in self.distances for v in row)
            index = " ".join(str(n) for n in range(total))
            out += [f'<distances2 type="NUMANode" nbobjs="{total}" kind="5" '
                    'name="NUMALatency" indexing="os">',
                    f'<indexes length="{len(index)}">{index}</indexes>',
                    f'<u64values length="{len(values)}">{values}</u64values>',
                    "</distances2>"]
        return "\n".join(out + ["</topology>", ""])


def pci_line(m, bus, kind, link):
    vendor, device, klass = kind
    return (f'<object type="PCIDev" gp_index="{m.number()}" '
            f'pci_busid="0000:{bus:02x}:00.0" '
            f'pci_type="{klass} [{vendor}:{device}] [{vendor}:0001] a1" '
            f'pci_link_speed="{link}">')


def osdev(m, name, kind):
    return (f'<object type="OSDev" gp_index="{m.number()}" name="{name}" '
            f'osdev_type="{kind}"/>')


def device(kind, *inner, model=None, direct=None):
    """A PCI device behind a root port of its own (of a switch: a port of it)."""
    def write(m, above):
        bus = m.bus
        m.bus += 1
        out = [f'<object type="Bridge" gp_index="{m.number()}" bridge_type="1-1" '
               f'depth="1" bridge_pci="0000:[{bus:02x}-{bus:02x}]" '
               f'pci_busid="0000:{above:02x}:{m.number() % 32:02x}.0" '
               'pci_type="0604 [8086:347a] [0000:0000] 04" pci_link_speed="31.5">',
               pci_line(m, bus, kind, "31.5")]
        if model or kind in NAMES:
            out.append(f'<info name="PCIDevice" value="{model or NAMES[kind]}"/>')
        if direct:
            out.append(f'<info name="TribGPUDirect" value="{direct}"/>')
        out += [osdev(m, name, number) for name, number in inner]
        return "\n".join(out + ["</object>", "</object>"])
    return write


def gpu(kind, *names, direct=None):
    return device(kind, *((name, 1 if name.startswith("card") else 5)
                          for name in names), direct=direct)


def nic(kind, name, rdma=None, direct=None):
    inner = [(name, 2)] if name else []
    return device(kind, *(inner + ([(rdma, 3)] if rdma else [])), direct=direct)


def switch(*below):
    """A PCI switch: a bridge with bridges below it."""
    def write(m, above):
        first = m.bus
        m.bus += 1
        inner = [b(m, first) for b in below]
        return (f'<object type="Bridge" gp_index="{m.number()}" bridge_type="1-1" '
                f'depth="1" bridge_pci="0000:[{first:02x}-{m.bus - 1:02x}]" '
                f'pci_busid="0000:{above:02x}:{m.number() % 32:02x}.0" '
                'pci_type="0604 [1000:c010] [0000:0000] b0" pci_link_speed="31.5">\n'
                + "\n".join(inner) + "\n</object>")
    return write


def dgx():
    """Two sockets; four switches each, with a GPU and a NIC."""
    m = Machine("DGX-like, 8 GPUs and 8 NICs", packages=2,
                distances=[[10, 21], [21, 10]])
    for i in range(8):
        m.bridge(i // 4, switch(gpu(H100, f"cuda{i}", f"nvml{i}"),
                                nic(CX6, f"ib{i}", f"mlx5_{i}")))
    return m


def dual():
    """Two sockets; at each two GPUs at root ports, the NIC at the first socket."""
    m = Machine("Dual-socket PCIe server", packages=2)
    m.bridge(0, device(ASPEED, ("card0", 1)), nic(CX6, "ens1f0", "mlx5_0"),
             gpu(A100, "cuda0", "nvml0"), gpu(A100, "cuda1", "nvml1"))
    m.bridge(1, gpu(A100, "cuda2", "nvml2"), gpu(A100, "cuda3", "nvml3"))
    return m


def one_gpu():
    m = Machine("Workstation with one GPU")
    m.bridge(0, gpu(GEFORCE, "card1", "cuda0"), nic(X550, "enp3s0"))
    return m


def no_gpu():
    m = Machine("CPU server", packages=2)
    m.bridge(0, device(ASPEED, ("card0", 1)), nic(X550, "eno1"))
    m.bridge(1, nic(E810, "ens2f0", "irdma0"))
    return m


def far_nic():
    """All GPUs at one socket, the NIC at the other."""
    m = Machine("NIC behind the other socket", packages=2)
    m.bridge(0, switch(gpu(A100, "nvml0"), gpu(A100, "nvml1")))
    m.bridge(1, nic(CX6, "ens5", "mlx5_0"))
    return m


def several():
    """Two RDMA NICs, a third without RDMA, four GPUs; nested switches."""
    m = Machine("Four GPUs and three NICs", packages=2)
    m.bridge(0, nic(X550, "eno1"),
             switch(switch(gpu(A100, "nvml0"), gpu(A100, "nvml1")),
                    nic(CX6, "ens1", "mlx5_0")))
    m.bridge(1, switch(gpu(A100, "nvml2"),
                       switch(gpu(A100, "nvml3"), nic(CX6, "ens2", "mlx5_1"))))
    return m


def near_without():
    """A graphics card beside the NIC, a data centre's GPU farther away."""
    m = Machine("Near GPU without, far GPU with direct access")
    m.bridge(0, switch(gpu(GEFORCE, "card0", "nvml0"), nic(CX6, "ens1", "mlx5_0")),
             gpu(A100, "nvml1"))
    return m


def amd():
    """One socket with four NUMA nodes; GPUs and NICs of each at host bridges."""
    far = [[10 if a == b else 12 + abs(a - b) for b in range(4)] for a in range(4)]
    m = Machine("AMD, 4 Instinct and 2 NICs", nodes_each=4, distances=far)
    m.bridge(0, gpu(MI250, "rsmi0"))
    m.bridge(1, gpu(MI250, "rsmi1"), nic(CX6, "hsn0", "mlx5_0"))
    m.bridge(2, gpu(MI250, "rsmi2"))
    m.bridge(3, gpu(RADEON, "rsmi3"), nic(E810, "ens7"))
    return m


def override():
    """The rule is wrong about two devices, and the file says so."""
    m = Machine("TribGPUDirect")
    m.bridge(0, gpu(A100, "nvml0", direct="no"), gpu(GEFORCE, "nvml1", direct="yes"),
             nic(CX6, "ens1", "mlx5_0"), nic(X550, "ens2", direct="yes"),
             nic(CX6, "ens3", "mlx5_1", direct="no"))
    return m


def unknown():
    """A virtual machine whose firmware does not tell where devices are."""
    m = Machine("Locality unknown", packages=2)
    m.bridge(-1, nic(CX6, None, "mlx5_0"))
    m.bridge(-1, gpu(A100, "nvml0"))
    m.bridge(1, gpu(A100, "nvml1"))
    return m


MACHINES = {"dgx": dgx, "dual": dual, "one-gpu": one_gpu, "no-gpu": no_gpu,
            "far-nic": far_nic, "several": several, "near-without": near_without,
            "amd": amd, "override": override, "unknown": unknown}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    bad = 0
    for name, make in MACHINES.items():
        text = make().text()
        folder = here if sys.argv[1] == "--check" else sys.argv[1]
        path = os.path.join(folder, name + ".xml")
        if sys.argv[1] != "--check":
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            continue
        with open(path, encoding="utf-8") as f:
            if f.read() != text:
                print(f"{path}: not today's; run: {sys.argv[0]} {here}")
                bad = 1
    sys.exit(bad)


if __name__ == "__main__":
    main()
