// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports over libfabric with a connection a link: by tcp on the loopback device; or, in
 * the VM, by verbs: port_rc PROVIDER NIC
 */
#include <errno.h>
#include <string.h>

#include "peer/net/ofi.h"
#include "tests/lib/tap.h"
#include "tests/unit/peer/port/port_tests.h"

static struct rig own = {
	.ops = &peer_port_ofi,
	.nic = "127.0.0.1",
	.provider = "tcp",
};

static void peer__that_ends_idle_is_noticed(void)
{
	pair_idle_death();
}

/* Rank 0 comes with a token that rank 1 never gave. */
static void connection__with_another_token_is_refused(void)
{
	static uint8_t blob[PEER_BLOB_MAX];
	struct ofi_blob *b = (struct ofi_blob *)blob;
	uint64_t end = clock_ms() + 5000;
	struct peer_fault f;
	int err = 0;

	rig->n = 2;
	rig->chunk = 1024;
	rig->slots = 4;
	memset(rig->p, 0, sizeof(rig->p));
	expect_eq(rig_open_one(rig, 0, &f), 0);
	expect_eq(rig_open_one(rig, 1, &f), 0);
	rig->ops->blob(rig->p[1], blob, sizeof(blob));
	b->token ^= 1;
	expect_eq(
		rig->ops->connect(rig->p[0], 0, blob, ofi_blob_size((struct ofi_port *)rig->p[1])),
		0);
	while (!err && clock_ms() < end) {
		err = rig->ops->poll(rig->p[0]);
		expect(rig->ops->poll(rig->p[1]) >= 0);
		err = err < 0 ? err : 0;
	}
	expect(err < 0);
	rig->ops->fault(rig->p[0], &f);
	expect_eq(f.peer, 1);
	printf("# %s\n", f.text);
	expect(!((struct ofi_port *)rig->p[1])->links[0].ep);
	rig_close(rig);
}

int main(int argc, char **argv)
{
	echo_main(&own, argc, argv);
	if (argc > 2) {
		own.provider = argv[1];
		own.nic = argv[2];
	}
	port_tests(&own);
	run(peer__that_ends_idle_is_noticed);
	run(connection__with_another_token_is_refused);
	return tap_done();
}
