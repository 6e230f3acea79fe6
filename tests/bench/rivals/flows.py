#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""TCP flows beside a job.

    flows.py listen COUNT WARM SECONDS      wait for COUNT flows, let them run for WARM seconds,
                                            print the bytes a second of each as JSON
    flows.py send COUNT CONTROL ADDRESS     COUNT flows with a congestion control, until the
                                            other end closes
"""
import json
import selectors
import socket
import sys
import time

PORT = 7500


def read_for(watch, conns, seconds):
    """Bytes that came on each connection."""
    got = dict.fromkeys(conns, 0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for key, _ in watch.select(0.1):
            got[key.fileobj] += len(key.fileobj.recv(1 << 18))
    return got


def listen(count, warm, seconds):
    watch = selectors.DefaultSelector()
    with socket.create_server(("", PORT), backlog=count) as server:
        conns = [server.accept()[0] for _ in range(count)]
    for c in conns:
        watch.register(c, selectors.EVENT_READ)
    read_for(watch, conns, warm)
    begun = time.monotonic()
    got = read_for(watch, conns, seconds)
    took = time.monotonic() - begun
    print(json.dumps([got[c] / took for c in conns]))


def connect(control, address):
    """The other end may not listen yet."""
    for _ in range(200):
        try:
            c = socket.create_connection((address, PORT))
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    c.setblocking(False)
    return c


def send(count, control, address):
    watch = selectors.DefaultSelector()
    block = bytes(1 << 16)
    for _ in range(count):
        watch.register(connect(control, address), selectors.EVENT_WRITE)
    try:
        while True:
            for key, _ in watch.select():
                key.fileobj.send(block)
    except (ConnectionResetError, BrokenPipeError):
        pass


if __name__ == "__main__":
    if sys.argv[1:2] == ["listen"] and len(sys.argv) == 5:
        listen(int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
    elif sys.argv[1:2] == ["send"] and len(sys.argv) == 5:
        send(int(sys.argv[2]), *sys.argv[3:])
    else:
        sys.exit(__doc__)
