# SPDX-License-Identifier: BSD-2-Clause
"""The NDN forwarder by itself: bench-pit, several times."""

from driver import drive
from figures import Figures
from pairs import progress


def measure(pairs, _transport):
    figures = Figures("pit")
    runs = [drive("bench-pit") for _ in range(min(pairs, 5))]
    progress(end=True)

    def add(name, **how):
        figures.add(name, [r[name] for r in runs], **how)

    add("mpps_data_1m", bar=3, note="distribution, 2^20 entries, 3 faces each; driver excluded")
    add("mpps_insert", bar=1, note="new subscriptions")
    add("mpps_renew", note="renewed, by another face")
    add("mpps_data_kept", note="as mpps_data_1m, and into the cache")
    add("ns_data_1m", note="driver included; best of the rounds")
    add("ns_data_1m_median", note="... median of the rounds")
    add("ns_names_driver", note="driver alone")
    return figures
