# SPDX-License-Identifier: BSD-2-Clause
CHECK_TESTS += tests/sim/sim.t tests/sim/pool/pool.t \
	tests/sim/ndn/ndn.t tests/sim/reflex/reflex.t \
	tests/sim/failover/failover.t tests/sim/ways/ways.t
