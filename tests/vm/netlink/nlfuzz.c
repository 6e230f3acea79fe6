// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random requests to the module's netlink family from several processes: root,
 * nobody, root of a short-lived network namespace, root of a user namespace.
 * nlspec.c judges which requests are accepted and how they are answered; in a
 * namespace of its own a process knows all claims. Some allocations fail if the
 * kernel supports it.
 *
 *	nlfuzz [-s SEED] [-t SECONDS] [-p PROCESSES]
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "nlgen.h"
#include "nlspec.h"
#include "tests/vm/rig/sockrig.h"
#include "tests/vm/rig/stress.h"

#define JOBS 65536
#define FREE_JOB UINT32_MAX
#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

enum role { ROOT, NOBODY, OWN_NET, OWN_USER, ROLES };

/* Counters: requests and verdicts, then those of each command. */
enum {
	SENT,
	VERDICTS,
	ANSWERS,
	EVENTS,
	LOST,
	FAILED,
	CHECKED,
	DELETED,
	TAKEN = 16,
	REFUSED = TAKEN + 40
};

static enum role role;
static int sock = -1, family;
static uint32_t seq = 1;

/* Claims of this process's namespace, if no other process changes them. */
static uint32_t claims[JOBS];
static bool claims_known;

/* Answers to one request. */
static struct {
	bool verdict, text, multi, done, fence;
	int error;
	unsigned int objects;
} got;
static uint32_t seen[JOBS];

static void start_socket(void)
{
	int group, size = 1 << 20;

	if (sock >= 0)
		close(sock);
	sock = nl_socket();
	if (sock < 0)
		stress_complain("no netlink socket: %s", strerror(errno));
	setsockopt(sock, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	family = nl_family(sock, TRIB_GENL_NAME, &group);
	if (!family || !group)
		stress_complain("there is no family %s", TRIB_GENL_NAME);
	if (chance_one_in(4))
		setsockopt(sock, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
}

/* --- answers */

/* Does an error message have a text? */
static bool has_text(const uint8_t *at, const uint8_t *end)
{
	const struct nlattr *a;

	for (; at + NLA_HDRLEN < end; at += NLA_ALIGN(a->nla_len)) {
		a = (const struct nlattr *)at;
		if (a->nla_len < NLA_HDRLEN)
			return false;
		if ((a->nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG)
			return a->nla_len > NLA_HDRLEN + 1;
	}
	return false;
}

static void note_error(const struct nlmsghdr *nlh, size_t header)
{
	const uint8_t *data = NLMSG_DATA(nlh), *end = (const uint8_t *)nlh + nlh->nlmsg_len;
	int error = 0;

	if (data + sizeof(error) <= end)
		memcpy(&error, data, sizeof(error));
	got.error = error;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		got.text = has_text(data + header, end);
}

static void note_object(struct nlmsghdr *nlh)
{
	struct nl_claim claim;
	const char *wrong = nl_judge_answer(nlh, &claim);

	if (wrong)
		stress_complain("an answer has %s: %s", wrong, stress_hex(nlh, nlh->nlmsg_len));
	if (nlh->nlmsg_pid == 0 && nlh->nlmsg_seq == 0) {
		stress_count(EVENTS);
		return;
	}
	stress_count(ANSWERS);
	if (nlh->nlmsg_seq != seq)
		return;
	got.objects++;
	if (claim.has_job)
		seen[claim.job] = claim.uid;
	if (nlh->nlmsg_flags & NLM_F_MULTI)
		got.multi = true;
	else
		got.verdict = true;
}

static void note(struct nlmsghdr *nlh)
{
	if (nlh->nlmsg_type == family) {
		note_object(nlh);
	} else if (nlh->nlmsg_type == NLMSG_DONE) {
		if (nlh->nlmsg_seq != seq)
			return;
		got.verdict = got.done = true;
		note_error(nlh, sizeof(int));
	} else if (nlh->nlmsg_type == NLMSG_ERROR) {
		if (nlh->nlmsg_seq == seq + 1)
			got.fence = true;
		if (nlh->nlmsg_seq != seq)
			return;
		got.verdict = true;
		note_error(nlh, sizeof(struct nlmsgerr));
	}
}

/* Receive until the fence is answered and a started dump has ended. */
static bool collect(void)
{
	static uint8_t answer[65536];
	struct nlmsghdr *nlh;
	ssize_t n;

	while (!got.fence || (got.multi && !got.done)) {
		n = recv(sock, answer, sizeof(answer), 0);
		if (n < 0 && (errno == ENOBUFS || errno == ENOMEM))
			return false;
		if (n < 0)
			stress_complain("no answer: %s", strerror(errno));
		for (nlh = (struct nlmsghdr *)answer; NLMSG_OK(nlh, n); nlh = NLMSG_NEXT(nlh, n))
			note(nlh);
	}
	return true;
}

/* --- verdicts */

static void judge_claims(void)
{
	if (!claims_known) {
		memcpy(claims, seen, sizeof(claims));
		claims_known = true;
		return;
	}
	stress_count(CHECKED);
	for (unsigned int j = 0; j < JOBS; j++)
		if (claims[j] != seen[j])
			stress_complain("job %u is claimed by %d, not %d", j, (int)seen[j],
					(int)claims[j]);
}

static bool may_change(int cmd)
{
	return role == ROOT || role == OWN_NET ||
	       (role == OWN_USER && cmd != TRIB_CMD_MODULE_RESET);
}

/* Check the verdict on a valid request. */
static bool verdict_is_right(int cmd, bool dump, const struct nl_claim *claim)
{
	bool none = got.error == -ENOENT;

	if (nl_cmd_changes(cmd) && !may_change(cmd))
		return got.error == -EPERM;
	switch (cmd) {
	case TRIB_CMD_KFUNC_GET:
		return !got.error || (none && !dump);
	case TRIB_CMD_CLAIM_NEW:
		/* A user namespace has one user. */
		if (role == OWN_USER && claim->uid)
			return got.error == -EINVAL;
		return !got.error;
	case TRIB_CMD_CLAIM_DEL:
		if (!claims_known)
			return !got.error || none;
		stress_count(DELETED);
		return claims[claim->job] == FREE_JOB ? none : !got.error;
	default:
		return !got.error;
	}
}

static void judge_verdict(const struct nl_request *r, int cmd, bool dump)
{
	struct nl_claim claim;
	const char *wrong = nl_judge_request(&r->nlh, &claim);

	if (wrong && !got.error)
		stress_complain("command %d was taken with %s: %s", cmd, wrong,
				stress_hex(r->bytes, r->len));
	if (!wrong && !verdict_is_right(cmd, dump, &claim))
		stress_complain("command %d, role %d: wrong error %d: %s", cmd, role, -got.error,
				stress_hex(r->bytes, r->len));
	if (got.error)
		return;
	stress_count(TAKEN + cmd);
	if (role != OWN_NET && role != OWN_USER)
		return;
	if (cmd == TRIB_CMD_CLAIM_NEW)
		claims[claim.job] = claim.uid;
	else if (cmd == TRIB_CMD_CLAIM_DEL)
		claims[claim.job] = FREE_JOB;
	else if (cmd == TRIB_CMD_CLAIM_GET && dump)
		judge_claims();
}

static void judge(const struct nl_request *r, bool failing)
{
	const struct genlmsghdr *g = NLMSG_DATA(&r->nlh);
	bool whole = r->len >= NLMSG_LENGTH(GENL_HDRLEN),
	     dump = (r->nlh.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	int cmd = whole ? g->cmd : 0;

	if (!r->clear || failing)
		claims_known = false;
	if (!r->clear || (failing && (!got.verdict || got.error)))
		return;
	if (!got.verdict)
		stress_complain("no verdict about %s", stress_hex(r->bytes, r->len));
	stress_count(VERDICTS);
	judge_verdict(r, cmd, dump);
	if (!got.error)
		return;
	if (got.objects && !dump)
		stress_complain("command %d is refused and answered", cmd);
	if (cmd < TRIB_CMD__MAX)
		stress_count(REFUSED + cmd);
	if (whole && !got.text && got.error != -EOPNOTSUPP)
		stress_complain("command %d is refused (%d) without a text: %s", cmd, got.error,
				stress_hex(r->bytes, r->len));
}

/* --- processes */

/* Return: false if the socket lost messages. */
static bool one(void)
{
	static struct nl_request r, fence;
	bool failing, sent;

	seq += 2;
	nl_make(&r, family, seq);
	nl_begin(&fence, family, TRIB_CMD_MODULE_GET, NLM_F_ACK, seq + 1);
	memset(&got, 0, sizeof(got));
	memset(seen, 0xff, sizeof(seen));
	failing = stress_fail_some(6);
	sent = nl_send(sock, &r);
	if (failing) {
		stress_fail_end();
		stress_count(FAILED);
	}
	if (!sent && !failing)
		stress_complain("send: %s", strerror(errno));
	stress_count(SENT);
	/* A dump that is not read to its end. */
	if (chance_one_in(50)) {
		claims_known = false;
		return false;
	}
	if (!nl_send(sock, &fence))
		stress_complain("send: %s", strerror(errno));
	if (!collect()) {
		stress_count(LOST);
		claims_known = false;
		return false;
	}
	judge(&r, failing);
	/* Bytes behind the request may have started a dump. */
	return r.clear;
}

static void be(enum role r)
{
	role = r;
	switch (r) {
	case NOBODY:
		stress_be_nobody();
		break;
	case OWN_USER:
		if (!stress_be_root_of_own())
			role = NOBODY;
		break;
	default:
		break;
	}
}

static void another_net(void)
{
	if (role != OWN_NET && role != OWN_USER)
		return;
	if (unshare(CLONE_NEWNET))
		stress_complain("no network namespace: %s", strerror(errno));
	memset(claims, 0xff, sizeof(claims));
	claims_known = true;
}

static void process(unsigned int i)
{
	int n;

	be(i % ROLES);
	while (!stress_over()) {
		another_net();
		/* The namespace's first socket may keep it for a while. */
		start_socket();
		for (n = 1 + chance_below(400); n && !stress_over(); n--)
			if (!one())
				start_socket();
	}
}

static bool each_was(int what)
{
	bool all = true;

	for (int cmd = 0; cmd < TRIB_CMD__MAX; cmd++)
		if (nl_cmd_is_ours(cmd) && !stress->count[what + cmd]) {
			printf("# command %d never was\n", cmd);
			all = false;
		}
	return all;
}

static long before;

static void nlfuzz__taken_and_answered_is_what_is_right(void)
{
	expect(!stress->complained);
	expect(!stress->dead);
}

static void nlfuzz__each_command_was_taken(void)
{
	expect(each_was(TAKEN));
}

static void nlfuzz__each_command_was_refused(void)
{
	expect(each_was(REFUSED));
}

static void nlfuzz__claims_are_what_was_said(void)
{
	expect(stress->count[CHECKED] > 0);
	expect(stress->count[DELETED] > 0);
}

static void nlfuzz__nothing_keeps_the_module(void)
{
	/* A namespace ends some time after its last process. */
	expect(rig_unused(before, 20000));
}

int main(int argc, char **argv)
{
	const uint64_t *c;

	stress_init(argc, argv, 20, 4);
	for (int cmd = 0; cmd < TRIB_CMD__MAX; cmd++)
		if (nl_cmd_is_ours(cmd))
			stress->floor[TAKEN + cmd] = stress->floor[REFUSED + cmd] = 1;
	stress->floor[VERDICTS] = 2000;
	before = rig_users();
	stress_run(process);
	c = stress->count;
	printf("# %lu requests, %lu verdicts, %lu objects, %lu events, "
	       "%lu with failing allocations, %lu lost, claims compared %lu "
	       "times, %lu of those deleted\n",
	       c[SENT], c[VERDICTS], c[ANSWERS], c[EVENTS], c[FAILED], c[LOST], c[CHECKED],
	       c[DELETED]);
	run(nlfuzz__taken_and_answered_is_what_is_right);
	run(nlfuzz__each_command_was_taken);
	run(nlfuzz__each_command_was_refused);
	run(nlfuzz__claims_are_what_was_said);
	run(nlfuzz__nothing_keeps_the_module);
	return tap_done();
}
