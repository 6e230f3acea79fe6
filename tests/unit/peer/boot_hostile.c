// SPDX-License-Identifier: BSD-2-Clause
/* Strangers at the rendezvous, garbage, and ranks that do what they must not. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "peer/boot/boot_priv.h"
#include "tests/lib/tap.h"
#include "tests/unit/peer/boot_rig.h"

static struct rank ranks[RIG_WORLD];
static int strangers[200];
static uint32_t rng = 5;

static uint32_t draw(uint32_t n)
{
	rng = rng * 1664525 + 1013904223;
	return (rng >> 8) % n;
}

static void auth__covers_all_of_a_message(void)
{
	struct trib_key key = {{1, 2, 3}}, other = {{1, 2, 4}};
	uint8_t body[40] = {0};
	uint64_t a = boot_auth(&key, 3, BOOT_SWAP, body, 37), b;
	unsigned int i;

	expect(boot_auth(&other, 3, BOOT_SWAP, body, 37) != a);
	expect(boot_auth(&key, 4, BOOT_SWAP, body, 37) != a);
	expect(boot_auth(&key, 3, BOOT_ALL, body, 37) != a);
	expect(boot_auth(&key, 3, BOOT_SWAP, body, 36) != a);
	expect(boot_auth(&key, 3, BOOT_SWAP, body, 40) != a);
	for (i = 0; i < 37; i++) {
		body[i] ^= 1;
		b = boot_auth(&key, 3, BOOT_SWAP, body, 37);
		expect(b != a && !boot_equal(&a, &b, 1));
		body[i] ^= 1;
	}
	b = boot_auth(&key, 3, BOOT_SWAP, body, 37);
	expect(boot_equal(&a, &b, 1));
}

static void ranks__are_named_briefly(void)
{
	uint8_t there[100] = {0};
	char text[BOOT_TEXT_MAX];
	uint32_t first = 0, i;

	expect_eq(boot_ranks_text(there, 100, text, sizeof(text), &first), 100);
	expect(!strcmp(text, "0-99"));
	for (i = 0; i < 100; i += 2)
		there[i] = 1;
	expect_eq(boot_ranks_text(there, 100, text, sizeof(text), &first), 50);
	expect_eq(first, 1);
	expect(strstr(text, "1, 3, 5") == text && strstr(text, "and 38 more"));
	expect_eq(boot_ranks_text(there, 100, text, 40, &first), 50);
	expect(strlen(text) < 40);
	memset(there, 1, sizeof(there));
	expect_eq(boot_ranks_text(there, 100, text, sizeof(text), &first), 0);
	expect(!text[0]);
}

/* Two ends of a connection that have proved the key. */
static void pair(struct boot_conn *root, struct boot_conn *rank)
{
	int s[2];

	expect(!socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	boot_conn_init(root, s[0]);
	boot_conn_init(rank, s[1]);
	memset(&root->keys, 3, sizeof(root->keys));
	memset(root->keys.to_root.b, 4, 16);
	rank->keys = root->keys;
	boot_conn_secure(root, true, 1000);
	boot_conn_secure(rank, false, 1000);
}

/* Raw bytes of one message of a rank. */
static size_t raw_message(struct boot_conn *rank, struct boot_conn *root, uint8_t *out)
{
	boot_conn_say(rank, BOOT_SWAP, "0123456789", 10);
	expect_eq(boot_conn_flush(rank), 1);
	return (size_t)recv(root->fd, out, 200, 0);
}

static int read_raw(struct boot_conn *rank, struct boot_conn *root, const uint8_t *raw, size_t len)
{
	struct boot_msg m;

	expect(send(rank->fd, raw, len, 0) == (ssize_t)len);
	return boot_conn_read(root, &m);
}

static void message__a_changed_bit_is_noticed(void)
{
	struct boot_conn root, rank;
	uint8_t raw[200];
	unsigned int i;
	size_t len;
	int n;

	for (i = 0; i < 26 * 8; i += 3) {
		pair(&root, &rank);
		len = raw_message(&rank, &root, raw);
		expect_eq(len, 26);
		raw[i / 8] ^= 1 << i % 8;
		n = read_raw(&rank, &root, raw, len);
		/* A longer length waits for the rest. */
		expect(n == -EBADMSG || n == -EPROTO || (n == 0 && i < 32));
		boot_conn_end(&root);
		boot_conn_end(&rank);
	}
}

static void message__copies_and_reflections_are_noticed(void)
{
	struct boot_conn root, rank;
	struct boot_msg m;
	uint8_t raw[200];
	size_t len;

	pair(&root, &rank);
	len = raw_message(&rank, &root, raw);
	expect_eq(read_raw(&rank, &root, raw, len), 1);
	expect_eq(read_raw(&rank, &root, raw, len), -EBADMSG);
	boot_conn_end(&root);
	boot_conn_end(&rank);
	pair(&root, &rank);
	len = raw_message(&rank, &root, raw);
	expect(send(root.fd, raw, len, 0) == (ssize_t)len);
	expect_eq(boot_conn_read(&rank, &m), -EBADMSG);
	boot_conn_end(&root);
	boot_conn_end(&rank);
}

static void message__promises_cost_no_memory(void)
{
	struct boot_head head = {.len = 999, .type = BOOT_SWAP};
	struct boot_conn root, rank;

	pair(&root, &rank);
	root.max = BOOT_ALL_MAX;
	head.len = BOOT_ALL_MAX;
	expect_eq(read_raw(&rank, &root, (uint8_t *)&head, sizeof(head)), 0);
	expect(root.body_room <= 65536);
	boot_conn_end(&root);
	boot_conn_end(&rank);
	pair(&root, &rank);
	head.len = 1001;
	expect_eq(read_raw(&rank, &root, (uint8_t *)&head, sizeof(head)), -EPROTO);
	boot_conn_end(&root);
	boot_conn_end(&rank);
}

static void fault__mistakes_are_refused(void)
{
	static const struct {
		uint32_t code;
		int32_t rank;
		int err;
	} cases[] = {
		{TRIB_PEER_GONE, 3, 0},
		{TRIB_PEER_GONE, -1, 0},
		{TRIB_PEER_GONE, 4, -EPROTO},
		{TRIB_PEER_GONE, -2, -EPROTO},
		{0, 1, -EPROTO},
		{3, 1, -EPROTO},
		{0xffffffff, 1, -EPROTO},
	};
	struct trib_peer_error e;
	struct boot_fault f;
	struct boot_msg m;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		f = (struct boot_fault){.code = cases[i].code, .rank = cases[i].rank};
		m = (struct boot_msg){BOOT_FAULT, (uint8_t *)&f, sizeof(f)};
		expect_eq(boot_fault_parse(&m, 4, &e), cases[i].err);
		m.len--;
		expect_eq(boot_fault_parse(&m, 4, &e), -EPROTO);
	}
}

/* Strangers come, with garbage or in silence, more than may wait. */
static void *invade(void *arg)
{
	struct boot_hello hello = {.magic = BOOT_MAGIC, .job = 7, .rank = 1, .world = 3};
	struct boot_head head = {.len = sizeof(hello), .type = BOOT_HELLO};
	uint8_t noise[300];
	unsigned int i, j;
	ssize_t n = 0;

	(void)arg;
	for (i = 0; i < 200; i++) {
		strangers[i] = rig_connect();
		for (j = 0; j < sizeof(noise); j++)
			noise[j] = (uint8_t)draw(256);
		switch (i % 4) {
		case 0:
			n += send(strangers[i], noise, sizeof(noise), MSG_NOSIGNAL);
			break;
		case 1: /* HELLO, then a proof of noise */
			n += send(strangers[i], &head, sizeof(head), MSG_NOSIGNAL);
			n += send(strangers[i], &hello, sizeof(hello), MSG_NOSIGNAL);
			head = (struct boot_head){.len = 32, .type = BOOT_PROOF};
			n += send(strangers[i], &head, sizeof(head), MSG_NOSIGNAL);
			n += send(strangers[i], noise, 32, MSG_NOSIGNAL);
			head = (struct boot_head){.len = sizeof(hello), .type = BOOT_HELLO};
			break;
		case 2: /* a proof at once */
			head.type = BOOT_PROOF;
			n += send(strangers[i], &head, sizeof(head), MSG_NOSIGNAL);
			n += send(strangers[i], noise, 32, MSG_NOSIGNAL);
			head.type = BOOT_HELLO;
			break;
		}
	}
	return n ? arg : NULL;
}

static void join__strangers_do_not_disturb(void)
{
	pthread_t invader;
	uint32_t i;

	ranks_init(ranks, 3);
	ranks[1].delay = 300;
	ranks[2].delay = 700;
	pthread_create(&invader, NULL, invade, NULL);
	ranks_run(ranks, 3, NULL);
	pthread_join(invader, NULL);
	for (i = 0; i < 3; i++)
		expect_eq(ranks[i].result, 0);
	ranks_close(ranks, 3, true);
	for (i = 0; i < 3; i++)
		expect_eq(ranks[i].deaths, 0);
	for (i = 0; i < 200; i++)
		close(strangers[i]);
}

static void join__false_proofs_are_counted(void)
{
	pthread_t invader;
	uint32_t i;

	ranks_init(ranks, 2);
	ranks[0].conf.join_timeout_ms = 1000;
	ranks[1].skip = true;
	pthread_create(&invader, NULL, invade, NULL);
	ranks_run(ranks, 2, NULL);
	pthread_join(invader, NULL);
	expect_eq(ranks[0].result, -ETIMEDOUT);
	expect(strstr(ranks[0].error.text, "another key") != NULL);
	printf("# %s\n", ranks[0].error.text);
	for (i = 0; i < 200; i++)
		close(strangers[i]);
}

/* A place where somebody else listens. */
static void *other_service(void *arg)
{
	int l = *(int *)arg, s;
	uint64_t end = clock_ms() + 700;
	struct pollfd p = {.fd = l, .events = POLLIN};

	while (clock_ms() < end) {
		if (poll(&p, 1, 100) < 1)
			continue;
		s = accept(l, NULL, NULL);
		if (send(s, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, MSG_NOSIGNAL) < 0)
			break;
		close(s);
	}
	return NULL;
}

static void join__another_service_is_not_rank_0(void)
{
	union addr_sock a;
	struct in6_addr ip;
	uint16_t port = 0;
	pthread_t service;
	int l, one = 1;
	socklen_t len;

	ranks_init(ranks, 2);
	addr_parse_port(rig_address, &ip, &port);
	len = addr_to_sock(AF_INET, &ip, port, &a);
	l = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	expect(!bind(l, &a.sa, len) && !listen(l, 10));
	pthread_create(&service, NULL, other_service, &l);
	ranks[0].skip = true;
	ranks[1].conf.join_timeout_ms = 500;
	ranks_run(ranks, 2, NULL);
	expect_eq(ranks[1].result, -ETIMEDOUT);
	printf("# %s\n", ranks[1].error.text);
	pthread_join(service, NULL);
	close(l);
}

/* Wait for a message of this type. */
static bool await(struct boot_conn *c, enum boot_type type, struct boot_msg *m)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	int n;

	do {
		boot_conn_flush(c);
		n = boot_conn_read(c, m);
		if (!n)
			poll(&p, 1, 2000);
	} while (n >= 0 && (n == 0 || m->type != type));
	return n == 1;
}

/* Rank 2 of 3, by hand. */
static bool rank_by_hand(struct boot_conn *c, const struct peer_boot_conf *conf)
{
	struct boot_proof p;
	struct boot_msg m;

	boot_conn_init(c, rig_connect());
	c->hello = (struct boot_hello){BOOT_MAGIC, conf->job, 2, 3, {9}};
	boot_conn_say(c, BOOT_HELLO, &c->hello, sizeof(c->hello));
	if (!await(c, BOOT_CHALLENGE, &m))
		return false;
	memcpy(&p, m.body, sizeof(p));
	boot_keys_make(&c->keys, &conf->key, &c->hello, p.nonce);
	if (!boot_equal(p.proof, c->keys.proof_root, 2))
		return false;
	memcpy(p.proof, c->keys.proof_rank, sizeof(p.proof));
	boot_conn_say(c, BOOT_PROOF, &p, sizeof(p));
	boot_conn_secure(c, false, 1 << 20);
	return true;
}

/** struct deed - a message that no honest rank sends */
struct deed {
	enum boot_type type;
	uint32_t words[4];
	size_t len;
};

static struct deed deed;

static void *evil(void *arg)
{
	struct boot_conn *c = arg;
	struct boot_msg m;

	if (!rank_by_hand(c, &ranks[2].conf) || !await(c, BOOT_START, &m))
		return NULL;
	boot_conn_say(c, deed.type, deed.words, deed.len);
	if (deed.type == BOOT_SWAP && deed.words[3] == 2)
		boot_conn_say(c, deed.type, deed.words, deed.len);
	boot_conn_flush(c);
	await(c, BOOT_FAULT, &m);
	return NULL;
}

static void member__that_errs_is_named(void)
{
	static const struct deed deeds[] = {
		{BOOT_ALL, {0, 3, 0, 0}, 16},
		{BOOT_START, {0}, 0},
		{BOOT_HELLO, {0}, 4},
		{BOOT_SWAP, {1, 0, 0, 0}, 16},
		{BOOT_SWAP, {0}, 3},
		{BOOT_SWAP, {0, 0, 0, 2}, 16},
		{BOOT_FAULT, {TRIB_PEER_GONE, 3}, 8},
		{BOOT_FAULT, {99, 0}, 8},
		{BOOT_REFUSE, {TRIB_PEER_GONE, 1}, 8},
	};
	struct boot_conn c;
	pthread_t t;
	unsigned int i, r;

	for (i = 0; i < sizeof(deeds) / sizeof(*deeds); i++) {
		ranks_init(ranks, 3);
		ranks[2].skip = true;
		deed = deeds[i];
		pthread_create(&t, NULL, evil, &c);
		ranks_run(ranks, 3, NULL);
		for (r = 0; r < 2; r++) {
			expect_eq(ranks[r].result, 0);
			if (!expect(rank_wait_death(&ranks[r], 2000) >= 0))
				printf("# deed %u\n", i);
			expect_eq(ranks[r].dead, 2);
		}
		ranks_close(ranks, 3, true);
		pthread_join(t, NULL);
		boot_conn_end(&c);
	}
}

int main(void)
{
	run(auth__covers_all_of_a_message);
	run(ranks__are_named_briefly);
	run(message__a_changed_bit_is_noticed);
	run(message__copies_and_reflections_are_noticed);
	run(message__promises_cost_no_memory);
	run(fault__mistakes_are_refused);
	run(join__strangers_do_not_disturb);
	run(join__false_proofs_are_counted);
	run(join__another_service_is_not_rank_0);
	run(member__that_errs_is_named);
	return tap_done();
}
