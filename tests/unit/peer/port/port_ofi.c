// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports over libfabric, by tcp;ofi_rxm on the loopback device; or, in the VM, by
 * another provider: port_ofi PROVIDER NIC
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "peer/net/ofi.h"
#include "tests/lib/tap.h"
#include "tests/unit/peer/port/port_tests.h"

static struct rig own = {
	.ops = &peer_port_ofi,
	.nic = "127.0.0.1",
	.provider = "tcp;ofi_rxm",
};

static void start_three(void)
{
	start(3, 256, 4);
}

static uint64_t word(enum peer_flow_kind kind, uint32_t link, uint16_t number, uint32_t len)
{
	struct peer_flow_word w = {.kind = kind, .link = link, .number = number, .len = len};

	return peer_flow_pack(&w);
}

/* Give a new port 0 this word. Return: the error, and the rank it blames. */
static int hostile(uint64_t data, int *peer)
{
	struct ofi_port *o;
	int err;

	start_three();
	o = (struct ofi_port *)rig->p[0];
	err = ofi_word(o, data, -1);
	*peer = o->fault.peer;
	rig_close(rig);
	return err;
}

static void words__hostile_ones_are_faults(void)
{
	static const struct {
		unsigned int kind;
		uint32_t link;
		uint16_t number;
		uint32_t len;
		int peer;
	} bad[] = {
		{PEER_FLOW_STAGED, 2, 0, 10, -1},    /* no such link */
		{PEER_FLOW_STAGED, 4095, 0, 10, -1}, /* nor this */
		{PEER_FLOW_STAGED, 1, 128, 10, 2},   /* beyond the window */
		{PEER_FLOW_STAGED, 1, 65535, 10, 2}, /* before it */
		{PEER_FLOW_STAGED, 1, 0, 257, 2},    /* more than a slot */
		{PEER_FLOW_STAGED, 0, 0, UINT32_MAX, 1},
		{PEER_FLOW_DIRECT, 0, 0, 10, 1}, /* nothing was announced */
		{PEER_FLOW_LEN, 0, 0, 10, 1},	 /* lengths travel in words here */
		{PEER_FLOW_CREDIT, 0, 1, 0, 1},	 /* nothing was sent */
		{PEER_FLOW_CREDIT, 0, 40000, 0, 1},
		{PEER_FLOW_ANNOUNCE, 0, 4, 0, 1}, /* beyond the notes */
		{PEER_FLOW_ANNOUNCE, 0, 65535, 0, 1},
		{0, 0, 0, 0, -1}, /* no kind */
		{7, 0, 0, 0, -1},
	};
	unsigned int i;
	int peer;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		expect_eq(hostile(word((enum peer_flow_kind)bad[i].kind, bad[i].link, bad[i].number,
				       bad[i].len),
				  &peer),
			  -EPROTO);
		expect_eq(peer, bad[i].peer);
	}
}

static void words__a_link_other_than_its_own_is_a_fault(void)
{
	struct ofi_port *o;

	start_three();
	o = (struct ofi_port *)rig->p[0];
	expect_eq(ofi_word(o, word(PEER_FLOW_STAGED, 1, 0, 10), 1), 0);
	expect_eq(ofi_word(o, word(PEER_FLOW_STAGED, 1, 1, 10), 0), -EPROTO);
	expect_eq(o->fault.peer, 1);
	rig_close(rig);
}

static void words__random_ones_do_no_harm(void)
{
	struct peer_chunk c;
	struct ofi_port *o;
	unsigned int i, j;

	rig->rng = 3;
	for (i = 0; i < 200; i++) {
		if (i % 20 == 0)
			start_three();
		o = (struct ofi_port *)rig->p[0];
		for (j = 0; j < 50; j++) {
			o->fault.err = 0;
			ofi_word(o,
				 (uint64_t)(rig_random(rig) % 300) << 32 |
					 (uint64_t)(rig_random(rig) % 8) << 29 |
					 (rig_random(rig) % 3) << 16 | rig_random(rig) % 130,
				 -1);
			if (rig->ops->next(rig->p[0], 0, &c)) {
				expect(c.len <= 256);
				expect(!c.data ||
				       ((const uint8_t *)c.data >= o->area &&
					(const uint8_t *)c.data + c.len <= o->area + o->area_len));
				rig->ops->done(rig->p[0], 0);
			}
		}
		if (i % 20 == 19)
			rig_close(rig);
	}
}

static void mem__what_covers_is_found(void)
{
	struct peer_mem *a, *b, *c;

	start(2, 1024, 4);
	a = mem(0, area[0], AREA);
	b = mem(0, area[0] + 100, 5000);
	c = mem(0, area[0] + AREA - 1, 2);
	expect(a && a == b);
	expect(c && c != a);
	rig->ops->mem_put(rig->p[0], b);
	rig->ops->mem_put(rig->p[0], c);
	b = mem(0, area[0], 10);
	expect(a == b);
	rig->ops->mem_put(rig->p[0], b);
	rig->ops->mem_put(rig->p[0], a);
	rig_close(rig);
}

/* Put a note where the peer of link 0 would write it. */
static int announced(struct ofi_port *o, uint16_t nth, struct ofi_note n)
{
	((struct ofi_ctrl *)o->area)->notes[nth % OFI_NOTES] = n;
	return ofi_word(o, word(PEER_FLOW_ANNOUNCE, 0, nth, 0), -1);
}

static void notes__overtake_each_other(void)
{
	struct ofi_port *o;

	start_three();
	o = (struct ofi_port *)rig->p[0];
	expect_eq(announced(o, 1, (struct ofi_note){.addr = 0x2000, .len = 10, .nth = 1}), 0);
	expect(!rig->ops->ready(rig->p[0], 0, 0));
	expect_eq(announced(o, 0, (struct ofi_note){.addr = 0x1000, .len = 10, .nth = 0}), 0);
	expect(rig->ops->ready(rig->p[0], 0, 1));
	expect(!rig->ops->ready(rig->p[0], 0, 2));
	expect_eq(o->links[0].target.addr, 0x2000);
	expect_eq(announced(o, 1, (struct ofi_note){.nth = 1}), -EPROTO);
	rig_close(rig);
}

static void notes__mistakes_are_faults(void)
{
	struct ofi_port *o;

	start_three();
	o = (struct ofi_port *)rig->p[0];
	expect_eq(announced(o, 0, (struct ofi_note){.addr = 0, .len = 10, .nth = 5}), -EPROTO);
	rig_close(rig);
	start_three();
	o = (struct ofi_port *)rig->p[0];
	expect_eq(announced(o, 0, (struct ofi_note){.addr = ~0ULL - 5, .len = 10}), -EPROTO);
	rig_close(rig);
}

/* The provider carries 32 bits only, verbs does: lengths come on their own. */
static void narrow__lengths_come_on_their_own(void)
{
	static uint8_t src[4096];
	struct peer_mem *m;
	struct peer_chunk c;
	uint32_t i;

	start_three();
	for (i = 0; i < 3; i++)
		((struct ofi_port *)rig->p[i])->wide = false;
	m = rig->ops->mem_get(rig->p[0], src, sizeof(src));
	for (i = 0; i < 600; i++) {
		src[0] = (uint8_t)i;
		expect_eq(rig_send(rig, 0, 0, m, src, i % 257), 0);
		if (!expect(rig_next(rig, 1, 0, &c)))
			break;
		expect_eq(c.len, i % 257);
		expect(!c.len || *(const uint8_t *)c.data == (uint8_t)i);
		rig->ops->done(rig->p[1], 0);
	}
	rig->ops->mem_put(rig->p[0], m);
	rig_close(rig);
}

/* The length of an odd chunk could not be told yet: the next odd one waits. */
static void narrow__one_length_waits_at_a_time(void)
{
	static uint8_t src[256];
	struct ofi_port *o;
	struct peer_mem *m;

	start_three();
	rig_settle(rig, 20);
	o = (struct ofi_port *)rig->p[0];
	o->wide = false;
	m = mem(0, src, sizeof(src));
	ofi_due(o, &o->links[0], OFI_DUE_LEN);
	expect_eq(rig->ops->send(rig->p[0], 0, m, src, 10), -EAGAIN);
	expect_eq(rig->ops->send(rig->p[0], 0, m, src, 256), 0);
	expect_eq(rig->ops->send(rig->p[0], 1, m, src, 10), 0);
	rig_close(rig);
}

/* A blob that is well made, but not for this port. */
static void blob__of_another_port_is_refused(void)
{
	static uint8_t blob[PEER_BLOB_MAX];
	struct ofi_blob *b = (struct ofi_blob *)blob;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		start_three();
		rig->ops->blob(rig->p[1], blob, sizeof(blob));
		b->rank += i == 0;
		b->chunk *= i == 1 ? 2 : 1;
		b->slots += i == 2;
		b->wide ^= i == 3;
		b->format += i == 4;
		b->peers[0] = i == 5 ? 9 : b->peers[0];
		expect_eq(rig->ops->connect(rig->p[0], 0, blob,
					    ofi_blob_size((struct ofi_port *)rig->p[1])),
			  -EPROTO);
		rig_close(rig);
	}
}

static void provider__unknown_ones_are_refused(void)
{
	static const char *const names[] = {"udp", "sockets", "", "verbs;ofi_rxd", "shm"};
	struct peer_fault f;
	unsigned int i;

	rig->n = 2;
	rig->chunk = 256;
	rig->slots = 4;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		rig->provider = names[i];
		expect_eq(rig_open_one(rig, 0, &f), -EINVAL);
		expect(strstr(f.text, "tcp;ofi_rxm") != NULL);
		expect_eq(peer_nics_find(names[i], NULL, 0), -EINVAL);
	}
	rig->provider = "tcp;ofi_rxm";
	rig->nic = "nosuchnic0";
	expect_eq(rig_open_one(rig, 0, &f), -ENODEV);
	rig->nic = "127.0.0.1";
}

static void nics__are_listed_once(void)
{
	struct peer_nic nics[16];
	int n = peer_nics_find("tcp;ofi_rxm", nics, 16), i, j;

	expect(n >= 1);
	for (i = 0; i < n; i++) {
		printf("# %s %s %s %s %llu\n", nics[i].provider, nics[i].domain, nics[i].device,
		       nics[i].address, (unsigned long long)nics[i].bits_per_second);
		expect(!strcmp(nics[i].provider, "tcp;ofi_rxm"));
		expect(strncmp(nics[i].address, "fe80", 4) && strncmp(nics[i].address, "169.", 4));
		for (j = 0; j < i; j++)
			expect(strcmp(nics[i].device, nics[j].device) != 0);
	}
	expect_eq(peer_nics_find(NULL, nics, 1), 1);
}

/* A network of its own, in a child: one device has link-local addresses only. */
static int only_local(void)
{
	static const char *const commands[] = {
		"ip link set lo up",
		"ip link add d0 type veth peer name d1",
		"ip address add 169.254.9.9/16 dev d0",
		"ip address add 10.9.9.9/24 dev d1",
		"ip address add 10.9.8.9/24 dev d1",
		"ip link set d0 up",
		"ip link set d1 up",
	};
	struct peer_nic nics[8];
	unsigned int i;
	int n = 0;

	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (system(commands[i]))
			return 4;
	/* A device that came up is running a little later. */
	for (i = 0; i < 100; i++) {
		n = peer_nics_find("tcp;ofi_rxm", nics, 8);
		if (n > 0 && strcmp(nics[0].device, "lo"))
			break;
		usleep(20000);
	}
	for (i = 0; n > 0 && i < (unsigned int)n; i++)
		printf("# %s %s\n", nics[i].device, nics[i].address);
	return n == 1 && !strcmp(nics[0].device, "d1") && !strncmp(nics[0].address, "10.9.", 5) ? 0
												: 1;
}

static void nics__of_link_local_addresses_are_none(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		status = unshare(CLONE_NEWNET) ? 4 : only_local();
		fflush(stdout);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	expect(WIFEXITED(status));
	if (WEXITSTATUS(status) == 4)
		printf("# no network of its own here\n");
	else
		expect_eq(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
	echo_main(&own, argc, argv);
	if (argc > 2) {
		own.provider = argv[1];
		own.nic = argv[2];
	}
	port_tests(&own);
	if (argc > 2) {
		run(mem__what_covers_is_found);
		return tap_done();
	}
	run(mem__what_covers_is_found);
	run(words__hostile_ones_are_faults);
	run(words__a_link_other_than_its_own_is_a_fault);
	run(words__random_ones_do_no_harm);
	run(notes__overtake_each_other);
	run(notes__mistakes_are_faults);
	run(narrow__lengths_come_on_their_own);
	run(narrow__one_length_waits_at_a_time);
	run(blob__of_another_port_is_refused);
	run(provider__unknown_ones_are_refused);
	run(nics__of_link_local_addresses_are_none);
	run(nics__are_listed_once);
	return tap_done();
}
