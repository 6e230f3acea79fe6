# SPDX-License-Identifier: BSD-2-Clause
"""Room in a router's persistent PIT: each face has some to itself, all share the
rest."""

from collections import Counter


def has_room(router, face):
    """May the face insert another entry?"""
    world, rules = router.world, router.rules
    own, shared = world.own_entries, world.shared_entries
    if len(router.entries) < own:
        return True
    if not rules.entries_are_own:
        return len(router.entries) < own * len(router.faces) + shared
    held = Counter(e.owner for e in router.entries.values())
    if held[face] < own:
        return True
    most = shared
    if face.host and rules.hosts_have_a_part:
        most //= 4
    beyond = sum(max(0, n - own) for n in held.values())
    return held[face] < own + most and beyond < shared
