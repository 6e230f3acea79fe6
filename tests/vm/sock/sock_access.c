/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access: refused places and addresses, other users, claims; and what other users
 * see of a socket: lists, events, /proc/net/trib.
 */
#include "sock.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/vm/netlink/genl.h"
#include "tests/lib/tap.h"

/* Contents of the last answer or event. */
static struct {
	unsigned int socks, claims, kind, uid, state, rank, claim_job;
	unsigned long long inode, mem, messages;
	char error[256];
} said;

static void on_sock(struct nlattr *attr)
{
	struct nlattr *s[TRIB_A_SOCK__MAX];

	if (nla_parse_nested(s, TRIB_A_SOCK__MAX - 1, attr, NULL))
		return;
	said.socks++;
	said.uid = nla_get_u32(s[TRIB_A_SOCK_UID]);
	said.state = nla_get_u8(s[TRIB_A_SOCK_STATE]);
	said.rank = nla_get_u16(s[TRIB_A_SOCK_RANK]);
	said.inode = nla_get_u64(s[TRIB_A_SOCK_INODE]);
	said.mem = nla_get_u64(s[TRIB_A_SOCK_MEM]);
	said.messages = nla_get_u64(s[TRIB_A_SOCK_MESSAGES]);
	said.error[0] = 0;
	if (s[TRIB_A_SOCK_ERROR])
		nla_strlcpy(said.error, s[TRIB_A_SOCK_ERROR], sizeof(said.error));
}

static void on_object(struct nlattr **top)
{
	struct nlattr *a[TRIB_A_CLAIM__MAX], *e[TRIB_A_EVENT__MAX];

	if (top[TRIB_A_SOCK])
		on_sock(top[TRIB_A_SOCK]);
	if (top[TRIB_A_EVENT] &&
	    !nla_parse_nested(e, TRIB_A_EVENT__MAX - 1, top[TRIB_A_EVENT], NULL))
		said.kind = nla_get_u32(e[TRIB_A_EVENT_KIND]);
	if (top[TRIB_A_CLAIM] &&
	    !nla_parse_nested(a, TRIB_A_CLAIM__MAX - 1, top[TRIB_A_CLAIM], NULL)) {
		said.claims++;
		said.claim_job = nla_get_u16(a[TRIB_A_CLAIM_JOB]);
		said.uid = nla_get_u32(a[TRIB_A_CLAIM_UID]);
	}
}

static void dump(int cmd)
{
	memset(&said, 0, sizeof(said));
	genl_ask(genl_request(cmd, NLM_F_DUMP));
}

/* A request about a claim; negative values are left out. */
static struct nl_msg *claim(int cmd, int job, int64_t uid)
{
	struct nl_msg *msg = genl_request(cmd, NLM_F_ACK);
	struct nlattr *nest = nla_nest_start(msg, TRIB_A_CLAIM | NLA_F_NESTED);

	if (job >= 0)
		nla_put_u16(msg, TRIB_A_CLAIM_JOB, (uint16_t)job);
	if (uid >= 0)
		nla_put_u32(msg, TRIB_A_CLAIM_UID, (uint32_t)uid);
	nla_nest_end_keep_empty(msg, nest);
	return msg;
}

static int change(int cmd, int job, int64_t uid)
{
	genl_ask(claim(cmd, job, uid));
	return genl_got.error;
}

static int set_place(int fd, const struct trib_attach_rep *rep, size_t len)
{
	return setsockopt(fd, SOL_TRIB, TRIB_SO_PLACE, rep, (socklen_t)len) ? -errno : 0;
}

/* Length of a place with one tree. */
#define PLACE_LEN (offsetof(struct trib_attach_rep, tree) + sizeof(struct trib_attach_tree))

static void place__wrong_ones_are_refused(void)
{
	struct trib_attach_rep r;
	int fd;

	enter(0);
	fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_TRIB);
	r = w.rep[0];
	expect_eq(set_place(fd, &r, PLACE_LEN - 1), -EINVAL);
	expect(strstr(error_of(fd).text, "too short"));
	expect_eq(set_place(fd, &r, sizeof(r) + 1), -EINVAL);
	expect_eq(set_place(fd, NULL, PLACE_LEN), -EFAULT);
	r.ntree = 2;
	expect_eq(set_place(fd, &r, PLACE_LEN), -EINVAL);
	r.ntree = TRIB_ATTACH_TREES + 1;
	expect_eq(set_place(fd, &r, sizeof(r)), -EINVAL);
	r = w.rep[0];
	r.flags = TRIB_ATTACH_MAPPED;
	expect_eq(set_place(fd, &r, PLACE_LEN), -EINVAL);
	expect(strstr(error_of(fd).text, "cells"));
	r.flags = TRIB_ATTACH_RESUME;
	expect_eq(set_place(fd, &r, PLACE_LEN), -EINVAL);
	expect(strstr(error_of(fd).text, "flags"));
	expect_eq(error_of(fd).code, TRIB_SOCK_ERR_ARGUMENT);
	expect_eq(error_of(fd).err, EINVAL);
	r = w.rep[0];
	expect_eq(set_place(fd, &r, PLACE_LEN), 0);
	expect_eq(set_place(fd, &r, sizeof(r)), 0);
	close(fd);
}

static int bind_as(int fd, const struct sockaddr_trib *a, socklen_t len)
{
	return bind(fd, (const struct sockaddr *)a, len) ? -errno : 0;
}

static void bind__wrong_addresses_are_refused(void)
{
	struct sockaddr_trib a = w.addr[0];
	struct sockaddr_trib got;
	socklen_t len = sizeof(got);
	int fd, other;

	enter(0);
	fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_TRIB);
	expect_eq(bind_as(fd, &a, sizeof(a)), -EINVAL);
	expect(strstr(error_of(fd).text, "no place"));
	close(fd);
	fd = make_socket(0);
	expect_eq(bind_as(fd, &a, sizeof(a) - 1), -EINVAL);
	a.family = AF_INET6;
	expect_eq(bind_as(fd, &a, sizeof(a)), -EINVAL);
	a = w.addr[0];
	a.job ^= 1;
	expect_eq(bind_as(fd, &a, sizeof(a)), -EINVAL);
	a = w.addr[0];
	a.rank ^= htobe16(1);
	expect_eq(bind_as(fd, &a, sizeof(a)), -EINVAL);
	a = w.addr[0];
	a.secret[7] ^= 1;
	expect_eq(bind_as(fd, &a, sizeof(a)), -EINVAL);
	expect(strstr(error_of(fd).text, "secret"));
	a = w.addr[0];
	a.zero = 1;
	expect_eq(bind_as(fd, &a, sizeof(a)), -EINVAL);
	a = w.addr[0];
	/* The failed calls left nothing behind. */
	expect_eq(bind_as(fd, &a, sizeof(a)), 0);
	expect_eq(bind_as(fd, &a, sizeof(a)), -EINVAL);
	expect_eq(getsockname(fd, (struct sockaddr *)&got, &len), 0);
	expect(got.job == a.job && got.rank == a.rank && !got.secret[0]);
	expect_eq(getpeername(fd, (struct sockaddr *)&got, &len), -1);
	expect_eq(set_u32(fd, TRIB_SO_WINDOW, 64), -EISCONN);
	expect_eq(set_place(fd, &w.rep[0], PLACE_LEN), -EISCONN);
	/* The rank and its UDP port are in use now. */
	other = make_socket(0);
	expect_eq(bind_as(other, &a, sizeof(a)), -EADDRINUSE);
	expect(strstr(error_of(other).text, "that rank"));
	close(fd);
	expect_eq(bind_as(other, &a, sizeof(a)), 0);
	close(other);
}

static void bind__a_taken_udp_port_is_refused(void)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htobe16(w.rep[0].tree[0].recv_port),
	};
	int fd = make_socket(0), udp = socket(AF_INET, SOCK_DGRAM, 0);

	expect_eq(bind(udp, (struct sockaddr *)&in, sizeof(in)), 0);
	expect_eq(bind_socket(fd, 0), -EADDRINUSE);
	expect(strstr(error_of(fd).text, "is taken"));
	close(udp);
	expect_eq(bind_socket(fd, 0), 0);
	close(fd);
}

/* The relay drops packets with another key without an answer. */
static void join__a_wrong_key_is_not_answered(void)
{
	struct trib_attach_rep r = w.rep[0];
	struct sockaddr_trib a = w.addr[0];
	float x = 1;
	int fd;

	enter(0);
	fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_TRIB);
	r.up.b[0] ^= 1;
	a.secret[0] ^= 1;
	expect_eq(set_place(fd, &r, PLACE_LEN), 0);
	expect_eq(set_u32(fd, TRIB_SO_JOIN_TIMEOUT, 500), 0);
	expect_eq(bind_as(fd, &a, sizeof(a)), 0);
	expect_eq(state_of(fd), TRIB_SOCK_JOINING);
	expect_eq(send(fd, &x, 4, MSG_DONTWAIT), -1);
	expect_eq(errno, EAGAIN);
	expect_eq(send(fd, &x, 4, 0), -1);
	expect_eq(errno, ETIMEDOUT);
	expect(await(fd, 0, 0) & POLLERR);
	expect_eq(error_of(fd).code, TRIB_SOCK_ERR_RELAY);
	close(fd);
}

static void join__alone_names_who_is_missing(void)
{
	int fd = make_socket(1);

	expect_eq(set_u32(fd, TRIB_SO_JOIN_TIMEOUT, 700), 0);
	expect_eq(bind_socket(fd, 1), 0);
	expect(await(fd, 0, 5000) & POLLERR);
	expect_eq(error_of(fd).code, TRIB_SOCK_ERR_MISSING);
	expect_eq(error_of(fd).rank, 0);
	expect_eq(error_of(fd).err, ETIMEDOUT);
	close(fd);
}

static void options__are_checked(void)
{
	struct trib_sock_info info;
	socklen_t len = 8;
	uint32_t v = 0;
	int fd = make_socket(0);

	expect_eq(set_u32(fd, TRIB_SO_WINDOW, 3), -EINVAL);
	expect_eq(set_u32(fd, TRIB_SO_WINDOW, 2), -EINVAL);
	expect_eq(set_u32(fd, TRIB_SO_WINDOW, 32768), -EINVAL);
	expect_eq(set_u32(fd, TRIB_SO_WINDOW, 16), 0);
	expect_eq(set_u32(fd, TRIB_SO_DTYPE, 2), -EINVAL);
	expect_eq(set_u32(fd, TRIB_SO_TIMEOUT, UINT32_MAX), -EINVAL);
	expect_eq(set_u32(fd, TRIB_SO_INFO, 0), -ENOPROTOOPT);
	expect_eq(set_u32(fd, 0, 0), -ENOPROTOOPT);
	expect_eq(set_u32(fd, 77, 0), -ENOPROTOOPT);
	expect_eq(setsockopt(fd, SOL_TRIB, TRIB_SO_WINDOW, &v, 3), -1);
	expect_eq(setsockopt(fd, IPPROTO_IP, 1, &v, 4), -1);
	expect_eq(errno, ENOPROTOOPT);
	len = 4;
	expect_eq(getsockopt(fd, SOL_TRIB, TRIB_SO_WINDOW, &v, &len), 0);
	expect_eq(v, 16);
	/* The caller gets as much as fits its buffer. */
	len = 8;
	expect_eq(getsockopt(fd, SOL_TRIB, TRIB_SO_INFO, &info, &len), 0);
	expect_eq(len, 8);
	expect_eq(getsockopt(fd, SOL_TRIB, TRIB_SO_PLACE, &info, &len), -1);
	expect_eq(errno, ENOPROTOOPT);
	expect_eq(send(fd, &v, 4, 0), -1);
	expect_eq(errno, ENOTCONN);
	expect_eq(recv(fd, &v, 4, 0), -1);
	expect_eq(errno, ENOTCONN);
	expect_eq(shutdown(fd, SHUT_WR), -1);
	expect_eq(errno, ENOTCONN);
	close(fd);
}

/* Bind in a child. Return: errno as exit status. */
static int bind_rank_0(void *arg)
{
	int fd = make_socket_here(0);

	(void)arg;
	return -bind_socket(fd, 0);
}

static void claim__keeps_other_users_out(void)
{
	int job = w.rep[0].job, fd;

	enter(0);
	/* An unclaimed job needs no capability. */
	expect_eq(as_nobody(bind_rank_0, NULL), 0);
	expect_eq(change(TRIB_CMD_CLAIM_NEW, job, 1000), 0);
	expect_eq(as_nobody(bind_rank_0, NULL), EACCES);
	/* CAP_NET_ADMIN may bind. */
	fd = make_socket(0);
	expect_eq(bind_socket(fd, 0), 0);
	close(fd);
	/* The claim does not cover other jobs and namespaces. */
	expect_eq(change(TRIB_CMD_CLAIM_NEW, job, 65534), 0);
	expect_eq(change(TRIB_CMD_CLAIM_NEW, job + 1, 1000), 0);
	expect_eq(as_nobody(bind_rank_0, NULL), 0);
	dump(TRIB_CMD_CLAIM_GET);
	expect_eq(said.claims, 2);
	expect_eq(said.claim_job, job + 1);
	expect_eq(said.uid, 1000);
	expect_eq(change(TRIB_CMD_CLAIM_DEL, job, -1), 0);
	expect_eq(change(TRIB_CMD_CLAIM_DEL, job + 1, -1), 0);
	dump(TRIB_CMD_CLAIM_GET);
	expect_eq(said.claims, 0);
	expect_eq(as_nobody(bind_rank_0, NULL), 0);
}

#define RACE_MS 3000

static unsigned long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

/* Bind in a child. Return: an errno other than EACCES, or 0. */
static int bind_rank_0_often(void *arg)
{
	unsigned long long end = now_ms() + RACE_MS;
	int fd = make_socket_here(0), rc;

	(void)arg;
	do
		rc = bind_socket(fd, 0);
	while (rc == -EACCES && now_ms() < end);
	return rc == -EACCES ? 0 : rc ? -rc : 255;
}

/* bind() checks a claim while another one replaces it. */
static void claim__is_never_open_while_replaced(void)
{
	unsigned long long end = now_ms() + RACE_MS;
	int job = w.rep[0].job, rc = 0, status, n;
	pid_t pid;

	enter(0);
	expect_eq(change(TRIB_CMD_CLAIM_NEW, job, 1000), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (n = 0; !rc && now_ms() < end; n++)
			rc = change(TRIB_CMD_CLAIM_NEW, job, 1000 + n % 2);
		printf("# replaced %d times\n", n);
		fflush(stdout);
		_exit(rc ? 1 : 0);
	}
	expect_eq(as_nobody(bind_rank_0_often, NULL), 0);
	expect(waitpid(pid, &status, 0) == pid && !status);
	expect_eq(change(TRIB_CMD_CLAIM_DEL, job, -1), 0);
}

static void claim__wrong_requests_are_refused(void)
{
	struct nl_msg *msg;

	expect(genl_refused(genl_request(TRIB_CMD_CLAIM_NEW, NLM_F_ACK), -EINVAL, "no claim"));
	expect(genl_refused(claim(TRIB_CMD_CLAIM_NEW, -1, 0), -EINVAL, "no job"));
	expect(genl_refused(claim(TRIB_CMD_CLAIM_NEW, 1, -1), -EINVAL, "no uid"));
	expect(genl_refused(claim(TRIB_CMD_CLAIM_NEW, 1, UINT32_MAX), -EINVAL, "no such user"));
	expect(genl_refused(claim(TRIB_CMD_CLAIM_DEL, 1, 5), -EINVAL, "by its job"));
	expect(genl_refused(claim(TRIB_CMD_CLAIM_DEL, 60000, -1), -ENOENT, "not claimed"));
	msg = claim(TRIB_CMD_CLAIM_GET, 1, 0);
	nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_DUMP;
	expect(genl_refused(msg, -EINVAL, "not expected"));
}

static int claim_without_capability(void *arg)
{
	(void)arg;
	tap_bad = 0;
	genl_close();
	if (!genl_open(on_object))
		return 2;
	expect(genl_refused(claim(TRIB_CMD_CLAIM_NEW, 1, 65534), -EPERM, "CAP_NET_ADMIN"));
	expect(genl_refused(claim(TRIB_CMD_CLAIM_DEL, 1, -1), -EPERM, "CAP_NET_ADMIN"));
	fflush(stdout);
	return tap_bad != 0;
}

static void claim__takes_a_capability(void)
{
	expect_eq(as_nobody(claim_without_capability, NULL), 0);
}

/* Claim every job number, and dump the claims in many parts. */
static void claim__there_may_be_many(void)
{
	int job;

	for (job = 0; job < 4000; job++)
		if (change(TRIB_CMD_CLAIM_NEW, job, job))
			expect_eq(genl_got.error, 0);
	dump(TRIB_CMD_CLAIM_GET);
	expect_eq(said.claims, 4000);
	for (job = 0; job < 4000; job++)
		if (change(TRIB_CMD_CLAIM_DEL, job, -1))
			expect_eq(genl_got.error, 0);
	dump(TRIB_CMD_CLAIM_GET);
	expect_eq(said.claims, 0);
}

static int list_as_other(void *arg)
{
	int fd;

	(void)arg;
	genl_close();
	if (!genl_open(on_object))
		return 99;
	dump(TRIB_CMD_SOCK_GET);
	if (said.socks) /* root's */
		return 98;
	fd = make_socket_here(1);
	if (bind_socket(fd, 1))
		return 97;
	dump(TRIB_CMD_SOCK_GET);
	return (int)said.socks + (said.uid == 65534 ? 10 : 0);
}

static void list__shows_own_sockets(void)
{
	struct stat st;
	int fd = make_socket(0);

	dump(TRIB_CMD_SOCK_GET);
	expect_eq(said.socks, 0);
	expect_eq(bind_socket(fd, 0), 0);
	expect_eq(fstat(fd, &st), 0);
	dump(TRIB_CMD_SOCK_GET);
	expect_eq(said.socks, 1);
	expect_eq(said.inode, st.st_ino);
	expect_eq(said.uid, 0);
	expect_eq(said.state, TRIB_SOCK_JOINING);
	expect_eq(said.rank, 0);
	/* Sockets of other namespaces and users are not listed. */
	expect_eq(as_nobody(list_as_other, NULL), 11);
	close(fd);
	dump(TRIB_CMD_SOCK_GET);
	expect_eq(said.socks, 0);
	/* A single socket cannot be asked for. */
	genl_ask(genl_request(TRIB_CMD_SOCK_GET, NLM_F_ACK));
	expect_eq(genl_got.error, -EOPNOTSUPP);
}

static unsigned int lines(const char *want)
{
	char line[256];
	unsigned int n = 0;
	FILE *f = fopen("/proc/thread-self/net/trib", "r");

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, want) != NULL;
	if (f)
		fclose(f);
	return n;
}

static void proc__has_a_line_for_each(void)
{
	char want[64];
	struct stat st;
	int fd = make_socket(3);

	expect_eq(lines("inode"), 1);
	expect_eq(lines("joining"), 0);
	expect_eq(bind_socket(fd, 3), 0);
	fstat(fd, &st);
	snprintf(want, sizeof(want), " joining        0 %10lu ", st.st_ino);
	expect_eq(lines(want), 1);
	/* The list shows no secrets. */
	snprintf(want, sizeof(want), "%02x%02x%02x%02x", w.rep[3].up.b[0], w.rep[3].up.b[1],
		 w.rep[3].up.b[2], w.rep[3].up.b[3]);
	expect_eq(lines(want), 0);
	close(fd);
	expect_eq(lines("joining"), 0);
}

/* Events go to listeners of the same namespace. */
static void events__attached_and_gone(void)
{
	enter(1);
	genl_close();
	expect(genl_open(on_object) && genl_listen());
	memset(&said, 0, sizeof(said));
	expect_eq(join_all(0), 0);
	expect(genl_hear(5000));
	expect_eq(said.kind, TRIB_MODULE_EVENT_ATTACHED);
	expect_eq(said.state, TRIB_SOCK_RUNNING);
	expect_eq(said.rank, 1);
	close(w.fd[3]);
	w.fd[3] = -1;
	expect(genl_hear(5000));
	expect_eq(said.kind, TRIB_MODULE_EVENT_GONE);
	expect_eq(said.state, TRIB_SOCK_DEAD);
	expect(strstr(said.error, "3"));
	expect(!genl_hear(100));
	close_all(0);
}

static void events__stalled(void)
{
	float x = 1;

	expect_eq(join_all(0), 0);
	expect(genl_hear(5000));
	expect_eq(said.kind, TRIB_MODULE_EVENT_ATTACHED);
	expect_eq(send(w.fd[1], &x, 4, 0), 4);
	expect(genl_hear(5000));
	expect_eq(said.kind, TRIB_MODULE_EVENT_STALLED);
	expect(!genl_hear(100));
	close_all(0);
}

int main(void)
{
	world_read();
	enter(0);
	if (!genl_open(on_object)) {
		printf("Bail out! there is no family\n");
		return 1;
	}
	run(place__wrong_ones_are_refused);
	run(bind__wrong_addresses_are_refused);
	run(bind__a_taken_udp_port_is_refused);
	run(join__a_wrong_key_is_not_answered);
	run(join__alone_names_who_is_missing);
	run(options__are_checked);
	enter(0);
	genl_close();
	genl_open(on_object);
	run(claim__keeps_other_users_out);
	run(claim__is_never_open_while_replaced);
	run(claim__wrong_requests_are_refused);
	run(claim__takes_a_capability);
	run(claim__there_may_be_many);
	run(list__shows_own_sockets);
	run(proc__has_a_line_for_each);
	run(events__attached_and_gone);
	run(events__stalled);
	genl_close();
	return tap_done();
}
