// SPDX-License-Identifier: BSD-2-Clause
/* Ports over TCP sockets of the kernel: what all ports pass, strangers, and lies. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "peer/net/stream.h"
#include "tests/lib/tap.h"
#include "tests/unit/peer/port/port_tests.h"

static struct rig own = {.ops = &peer_port_stream, .nic = "127.0.0.1"};

static struct stream_port *stream(uint32_t rank)
{
	return (struct stream_port *)rig->p[rank];
}

static void open_two(void)
{
	struct peer_fault f;
	uint32_t i;

	rig->n = 2;
	rig->chunk = 64;
	rig->slots = 2;
	memset(rig->p, 0, sizeof(rig->p));
	for (i = 0; i < 2; i++)
		expect_eq(rig_open_one(rig, i, &f), 0);
}

/* Rank @to learns of the other one. */
static void introduce(uint32_t to)
{
	static uint8_t blob[PEER_BLOB_MAX];
	size_t len = rig->ops->blob(rig->p[!to], blob, sizeof(blob));

	expect_eq(rig->ops->connect(rig->p[to], 0, blob, len), 0);
}

static void nic__that_is_none_is_an_error(void)
{
	const char *keep = rig->nic;
	struct peer_fault f;

	rig->n = 2;
	rig->chunk = 64;
	rig->slots = 2;
	rig->nic = "no-such-nic";
	expect(rig_open_one(rig, 0, &f) < 0 && strstr(f.text, "no-such-nic"));
	rig->nic = "lo";
	expect_eq(rig_open_one(rig, 0, &f), 0);
	rig->ops->close(rig->p[0]);
	rig->p[0] = NULL;
	rig->nic = keep;
}

/* Connect to rank 1 and say @len bytes of @h. */
static int visit(const struct stream_hello *h, size_t len)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(stream(1)->tcp_port)};
	int s = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	expect(!connect(s, (struct sockaddr *)&a, sizeof(a)));
	expect(!len || send(s, h, len, 0) == (ssize_t)len);
	return s;
}

static void strangers__do_not_disturb(void)
{
	struct stream_hello h = {.magic = STREAM_MAGIC};
	int s[60], i;

	open_two();
	for (i = 0; i < 60; i++) {
		h.rank = (uint32_t)i % 3;
		s[i] = visit(&h, i % 3 == 2 ? 0 : i % 3 == 1 ? sizeof(h) : 7);
		expect(rig->ops->poll(rig->p[1]) >= 0);
	}
	expect(!stream(1)->links[0].up);
	introduce(0);
	introduce(1);
	rig_settle(rig, 20);
	expect(stream(0)->links[0].up && stream(1)->links[0].up);
	for (i = 0; i < 60; i++)
		close(s[i]);
	expect_eq(rig_poll(rig), 0);
	rig_close(rig);
}

/* The one who connects is there before the other one has its blob. */
static void hello__may_come_early(void)
{
	open_two();
	introduce(0);
	rig_settle(rig, 20);
	expect(!stream(0)->links[0].up && !stream(1)->links[0].up);
	introduce(1);
	rig_settle(rig, 20);
	expect(stream(0)->links[0].up && stream(1)->links[0].up);
	rig_close(rig);
}

static void hello__with_another_token_is_refused(void)
{
	open_two();
	stream(0)->token[3] ^= 1;
	introduce(1);
	stream(0)->token[3] ^= 1;
	introduce(0);
	rig_settle(rig, 20);
	expect(!stream(0)->links[0].up && !stream(1)->links[0].up);
	expect_eq(rig->ops->poll(rig->p[0]), -ECONNRESET);
	expect_eq(rig->ops->poll(rig->p[1]), 0);
	rig_close(rig);
}

/* Heads that no peer of ours sends; rank 0 has announced 1000 bytes. */
static const struct stream_head lies[] = {
	{.kind = 0},
	{.kind = 9},
	{.kind = STREAM_STAGED, .len = 65},
	{.kind = STREAM_STAGED, .len = UINT32_MAX},
	{.kind = STREAM_STAGED, .len = 1, .zero = 1},
	{.kind = STREAM_STAGED, .len = 1, .taken = 1},
	{.kind = STREAM_CREDIT, .taken = 0x4000},
	{.kind = STREAM_CREDIT, .len = 1},
	{.kind = STREAM_NOTE, .len = 1, .off = 10},
	{.kind = STREAM_DIRECT, .len = 1, .off = 1000},
	{.kind = STREAM_DIRECT, .len = 64, .off = 937},
	{.kind = STREAM_DIRECT, .len = 1, .off = UINT64_MAX},
};

static void lies__are_faults(void)
{
	struct peer_fault f;
	unsigned int i;

	for (i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		open_two();
		introduce(0);
		introduce(1);
		rig_settle(rig, 10);
		rig_announce(rig, 0, 0, NULL, place[0], 1000);
		expect(send(stream(1)->links[0].sock, &lies[i], sizeof(lies[i]), 0) ==
		       sizeof(lies[i]));
		usleep(1000);
		expect_eq(rig->ops->poll(rig->p[0]), -EPROTO);
		rig->ops->fault(rig->p[0], &f);
		if (!expect(f.peer == 1))
			printf("# lie %u\n", i);
		rig_close(rig);
	}
}

/* More chunks than there are slots. */
static void lies__beyond_the_credits(void)
{
	struct stream_head h = {.kind = STREAM_STAGED};
	int i;

	open_two();
	introduce(0);
	introduce(1);
	rig_settle(rig, 10);
	for (i = 0; i < 3; i++)
		send(stream(1)->links[0].sock, &h, sizeof(h), 0);
	usleep(1000);
	expect_eq(rig->ops->poll(rig->p[0]), -EPROTO);
	rig_close(rig);
}

static void peer__that_ends_idle_is_noticed(void)
{
	pair_idle_death();
}

int main(int argc, char **argv)
{
	echo_main(&own, argc, argv);
	port_tests(&own);
	run(nic__that_is_none_is_an_error);
	run(strangers__do_not_disturb);
	run(hello__may_come_early);
	run(hello__with_another_token_is_refused);
	run(lies__are_faults);
	run(lies__beyond_the_credits);
	run(peer__that_ends_idle_is_noticed);
	return tap_done();
}
