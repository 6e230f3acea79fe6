// SPDX-License-Identifier: BSD-2-Clause
/* Rounds of gradients by the trees of an aggregation job. */
#include "rounds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

uint32_t trib_rounds_hash(const struct ndn_name *job)
{
	uint32_t h = 2166136261u;

	/*
	 * FNV-1a of the job's name: tells apart two jobs that share an
	 * aggregation job by mistake.
	 */
	for (size_t i = 0; i < job->len; i++)
		h = (h ^ job->value[i]) * 16777619u;
	return h;
}

static int fail(struct trib_rounds *tree, int rc)
{
	snprintf(tree->error, sizeof(tree->error), "%s", trib_error_text(tree->t));
	return rc;
}

int trib_rounds_attach(struct trib_rounds *tree)
{
	struct trib_options o = {.size = sizeof(o), .job = tree->job, .rank = tree->rank};
	int rc = trib_attach(&tree->t, &o);

	if (rc) {
		tree->t = NULL;
		return fail(tree, rc);
	}
	if ((uint32_t)trib_number(tree->t) != tree->number) {
		snprintf(
			tree->error, sizeof(tree->error),
			"attached to aggregation job %d, but the task's gradients go by job %u: correct TRIB_JOB",
			trib_number(tree->t), tree->number);
		rc = -EPROTO;
	} else if (trib_world(tree->t) < 2) {
		snprintf(
			tree->error, sizeof(tree->error),
			"aggregation job %u has one rank: it needs the server and at least one worker",
			tree->number);
		rc = -EPROTO;
	}
	if (rc)
		trib_rounds_detach(tree);
	return rc;
}

void trib_rounds_detach(struct trib_rounds *tree)
{
	trib_detach(tree->t);
	tree->t = NULL;
}

void trib_rounds_guard(int32_t own[TRIB_ROUNDS_GUARD], uint32_t name, uint64_t version)
{
	const uint32_t word[] = {name, (uint32_t)(version >> 32), (uint32_t)version};

	/* The maximum of the complements is the complement of the minimum. */
	for (unsigned int i = 0; i < TRIB_ROUNDS_GUARD; i++)
		own[i] = (int32_t)(i & 1 ? ~word[i / 2] : word[i / 2]);
}

/* Issue and wait for both collectives, so that all ranks stay in step. */
static int reduce(struct trib_rounds *tree, int32_t *guard, float *values, size_t count)
{
	struct trib_req *first, *second;
	int rc, gradients;

	rc = trib_iallreduce(tree->t, guard, guard, TRIB_ROUNDS_GUARD, TRIB_I32, TRIB_MAX, &first);
	if (rc)
		return rc;
	rc = trib_iallreduce(tree->t, values, values, count, TRIB_F32, TRIB_SUM, &second);
	if (rc) {
		fail(tree, rc);
		/*
		 * After detaching, the engine no longer uses the memory of the
		 * first.
		 */
		trib_rounds_detach(tree);
		trib_wait(first);
		return rc;
	}
	rc = trib_wait(first);
	gradients = trib_wait(second);
	/* The sum is there, with infinities, which the PS clamps. */
	if (gradients == -ERANGE)
		gradients = 0;
	return rc ? rc : gradients;
}

int trib_rounds_round(struct trib_rounds *tree, uint64_t version, float *values, size_t count)
{
	int32_t own[TRIB_ROUNDS_GUARD], all[TRIB_ROUNDS_GUARD];
	int rc;

	trib_rounds_guard(own, tree->name, version);
	memcpy(all, own, sizeof(all));
	rc = reduce(tree, all, values, count);
	if (rc && tree->t)
		fail(tree, rc);
	if (rc && rc != -EDOM && tree->t)
		trib_rounds_detach(tree);
	if (!rc && memcmp(own, all, sizeof(own))) {
		snprintf(
			tree->error, sizeof(tree->error),
			"the ranks gave gradients of different versions: fetch the newest model and repeat");
		rc = -EAGAIN;
	}
	/*
	 * -EAGAIN means mixed versions only: another -EAGAIN of libtrib becomes
	 * -EIO.
	 */
	else if (rc == -EAGAIN)
		rc = -EIO;
	return rc;
}
