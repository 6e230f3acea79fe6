// SPDX-License-Identifier: BSD-2-Clause
/* Ports over memory that processes share. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "peer/net/shm.h"
#include "tests/lib/tap.h"
#include "tests/unit/peer/port/port_tests.h"

static char name[64];
static struct rig own = {.ops = &peer_port_shm, .name = name};

static struct shm_port *shm(uint32_t rank)
{
	return (struct shm_port *)rig->p[rank];
}

/* Two ports whose link is up. */
static void start_up(uint32_t n)
{
	start(n, 1024, 4);
	rig_settle(rig, 20);
}

static void names__become_no_other_path(void)
{
	static const char *const bad[] = {"", "a/b", "../x", "a b", "a.b", NULL};
	const char *keep = rig->name;
	struct peer_fault f;
	unsigned int i;

	rig->n = 2;
	rig->chunk = 64;
	rig->slots = 2;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		rig->name = bad[i];
		expect_eq(rig_open_one(rig, 0, &f), -EINVAL);
	}
	rig->name = keep;
}

static void socket__is_private_and_goes_early(void)
{
	struct peer_fault f;
	struct stat st;
	char path[128];

	rig->n = 2;
	rig->chunk = 64;
	rig->slots = 2;
	memset(rig->p, 0, sizeof(rig->p));
	expect_eq(rig_open_one(rig, 0, &f), 0);
	snprintf(path, sizeof(path), "%s", shm(0)->path);
	expect(!stat(path, &st));
	expect_eq(st.st_mode & 07777, 0600);
	rig->ops->close(rig->p[0]);
	rig->p[0] = NULL;
	expect(stat(path, &st) && errno == ENOENT);
	start_up(2);
	expect(stat(path, &st) && errno == ENOENT);
	expect(!shm(0)->listed);
	rig_close(rig);
}

/* Connect to rank 0's socket and say this. */
static int visit(const struct shm_hello *h, size_t len)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", shm(0)->path);
	expect(!connect(s, (struct sockaddr *)&a, sizeof(a)));
	expect(len == 0 || send(s, h, len, 0) == (ssize_t)len);
	return s;
}

static void socket__strangers_do_not_disturb(void)
{
	static uint8_t blob[PEER_BLOB_MAX];
	struct shm_hello h = {.magic = SHM_MAGIC, .rank = 1};
	struct peer_fault f;
	int s[40], i;
	size_t len;

	rig->n = 2;
	rig->chunk = 64;
	rig->slots = 2;
	memset(rig->p, 0, sizeof(rig->p));
	expect_eq(rig_open_one(rig, 0, &f), 0);
	for (i = 0; i < 40; i++) {
		h.rank = (uint32_t)i % 3;
		s[i] = visit(&h, i % 3 == 2 ? 0 : i % 3 == 1 ? sizeof(h) : 7);
		expect(rig->ops->poll(rig->p[0]) >= 0);
	}
	expect(!shm(0)->links[0].up);
	expect_eq(rig_open_one(rig, 1, &f), 0);
	len = rig->ops->blob(rig->p[0], blob, sizeof(blob));
	expect_eq(rig->ops->connect(rig->p[1], 0, blob, len), 0);
	rig_settle(rig, 10);
	expect(shm(0)->links[0].up && shm(1)->links[0].up);
	for (i = 0; i < 40; i++)
		close(s[i]);
	expect_eq(rig_poll(rig), 0);
	rig_close(rig);
}

static void socket__another_token_is_refused(void)
{
	static uint8_t blob[PEER_BLOB_MAX];
	struct peer_fault f;
	size_t len;

	rig->n = 2;
	rig->chunk = 64;
	rig->slots = 2;
	memset(rig->p, 0, sizeof(rig->p));
	expect_eq(rig_open_one(rig, 0, &f), 0);
	expect_eq(rig_open_one(rig, 1, &f), 0);
	len = rig->ops->blob(rig->p[0], blob, sizeof(blob));
	blob[len - 1] ^= 1;
	expect_eq(rig->ops->connect(rig->p[1], 0, blob, len), 0);
	rig_settle(rig, 10);
	expect(!shm(0)->links[0].up);
	expect_eq(rig->ops->poll(rig->p[1]), -ECONNRESET);
	expect_eq(rig->ops->poll(rig->p[0]), 0);
	rig_close(rig);
}

/** enum lie - garbage that the other end may write */
enum lie {
	LIE_HEAD,
	LIE_TAIL,
	LIE_TAIL_BACK,
	LIE_TAIL_FAR,
	LIE_NOTES,
	LIE_KIND,
	LIE_LEN,
	LIE_LEN_MAX,
	LIE_COPY,
	LIE_COPY_OFF,
	LIES
};

static void tell_lie(enum lie lie)
{
	struct shm_side *side = shm(1)->links[0].mine;

	side->desc[0] = (struct shm_desc){.kind = SHM_STAGED, .len = 10};
	switch (lie) {
	case LIE_HEAD:
		atomic_store(&side->head, PEER_FLOW_WINDOW + 1);
		return;
	case LIE_TAIL:
		atomic_store(&side->tail, 1);
		return;
	case LIE_TAIL_BACK:
		atomic_store(&side->tail, ~0u);
		return;
	case LIE_TAIL_FAR:
		atomic_store(&side->tail, 1 << 16);
		return;
	case LIE_NOTES:
		atomic_store(&side->notes_head, SHM_NOTES + 1);
		return;
	case LIE_KIND:
		side->desc[0].kind = 9;
		break;
	case LIE_LEN:
		side->desc[0].len = 1025;
		break;
	case LIE_LEN_MAX:
		side->desc[0].len = UINT32_MAX;
		break;
	case LIE_COPY:
		side->desc[0].kind = SHM_COPY;
		break;
	default:
		side->desc[0] = (struct shm_desc){.kind = SHM_COPY, .len = 10, .off = ~4ULL};
		rig_announce(rig, 0, 0, NULL, place[0], 1000);
	}
	atomic_store(&side->head, 1);
}

static void memory__lies_are_faults(void)
{
	struct peer_fault f;
	int lie;

	for (lie = 0; lie < LIES; lie++) {
		start_up(2);
		tell_lie((enum lie)lie);
		expect_eq(rig->ops->poll(rig->p[0]), -EPROTO);
		rig->ops->fault(rig->p[0], &f);
		if (!expect(f.peer == 1))
			printf("# lie %d\n", lie);
		rig_close(rig);
	}
}

static void peer__that_ends_idle_is_noticed(void)
{
	pair_idle_death();
}

int main(int argc, char **argv)
{
	echo_main(&own, argc, argv);
	snprintf(name, sizeof(name), "test-%d", (int)getpid());
	port_tests(&own);
	run(names__become_no_other_path);
	run(socket__is_private_and_goes_early);
	run(socket__strangers_do_not_disturb);
	run(socket__another_token_is_refused);
	run(memory__lies_are_faults);
	run(peer__that_ends_idle_is_noticed);
	return tap_done();
}
