// SPDX-License-Identifier: BSD-2-Clause
/* The bootstrap as its callers see it: open, swap, tell, close. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/text.h"
#include "peer/boot/boot_priv.h"

/* Check the caller's wishes. */
static int open_check(const struct peer_boot_conf *conf, struct trib_peer_error *e)
{
	struct in6_addr ip;
	uint16_t port = 0;

	if (!conf->world || conf->rank >= conf->world)
		return peer_error(e, TRIB_PEER_ARGUMENT, -EINVAL, -1, "rank %u of %u", conf->rank,
				  conf->world);
	if (!conf->timeout_ms || !conf->join_timeout_ms)
		return peer_error(e, TRIB_PEER_ARGUMENT, -EINVAL, -1, "a time-out of 0");
	if (conf->world > 1 && (!conf->address || strlen(conf->address) > ADDR_TEXT_MAX ||
				!addr_parse_port(conf->address, &ip, &port) || !port))
		return peer_error(e, TRIB_PEER_ARGUMENT, -EINVAL, -1,
				  "rendezvous address %s: wants ADDR:PORT or [ADDR6]:PORT",
				  conf->address ? conf->address : "missing");
	return 0;
}

static void boot_free(struct peer_boot *b)
{
	uint32_t i;

	for (i = 0; b->conns && i < b->nconn; i++)
		boot_conn_end(&b->conns[i]);
	boot_gather_end(b);
	boot_body_put(b->swap_out);
	boot_body_put(b->swap_in);
	if (b->wake >= 0)
		close(b->wake);
	pthread_cond_destroy(&b->cond);
	pthread_mutex_destroy(&b->lock);
	explicit_bzero(&b->conf.key, sizeof(b->conf.key));
	free(b->conns);
	free(b->fds);
	free(b);
}

static struct peer_boot *boot_new(const struct peer_boot_conf *conf)
{
	struct peer_boot *b = calloc(1, sizeof(*b));
	uint32_t i;

	if (!b)
		return NULL;
	b->conf = *conf;
	if (conf->address)
		snprintf(b->address, sizeof(b->address), "%s", conf->address);
	b->conf.address = b->address;
	b->nconn = conf->rank ? 1 : conf->world - 1;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->cond, NULL);
	b->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	b->conns = calloc(b->nconn + 1, sizeof(*b->conns));
	b->fds = calloc(b->nconn + 1, sizeof(*b->fds));
	for (i = 0; b->conns && i < b->nconn; i++)
		boot_conn_init(&b->conns[i], -1);
	if (b->wake < 0 || !b->conns || !b->fds || boot_gather_init(b)) {
		boot_free(b);
		return NULL;
	}
	return b;
}

/* Start the thread, which takes no signals. */
static int boot_start(struct peer_boot *b)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&b->thread, NULL, boot_loop, b);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	b->running = !err;
	return -err;
}

int peer_boot_open(struct peer_boot **out, const struct peer_boot_conf *conf,
		   struct trib_peer_error *error)
{
	struct peer_boot *b;
	int err = open_check(conf, error);

	if (err)
		return err;
	b = boot_new(conf);
	if (!b)
		return peer_error(error, TRIB_PEER_SYSTEM, -ENOMEM, -1, "no memory");
	if (conf->world > 1)
		err = conf->rank ? boot_join_rank(b, error) : boot_join_root(b, error);
	if (!err) {
		err = boot_start(b);
		if (err)
			peer_error(error, TRIB_PEER_SYSTEM, err, -1, "thread: %s", strerror(-err));
	}
	if (err) {
		boot_free(b);
		return err;
	}
	*out = b;
	return 0;
}

/* Wake the thread. */
static void boot_wake(struct peer_boot *b)
{
	uint64_t one = 1;
	ssize_t n = write(b->wake, &one, sizeof(one));

	(void)n; /* a full counter wakes, too */
}

/* Why a swap cannot go on, if so; with the lock held. */
static int swap_refused(const struct peer_boot *b, struct trib_peer_error *error)
{
	if (b->faulted) {
		*error = b->fault;
		return error->err;
	}
	if (b->left)
		return peer_error(error, TRIB_PEER_GONE, -EHOSTDOWN, 0, "rank 0 has left");
	return 0;
}

/* Hand over the own blob and wait for all; with the lock held. */
static int swap_wait(struct peer_boot *b, struct boot_body *own, struct trib_peer_error *error)
{
	int err = swap_refused(b, error);

	if (!err && b->swap != BOOT_SWAP_IDLE)
		err = peer_error(error, TRIB_PEER_ARGUMENT, -EBUSY, -1, "a swap is under way");
	if (err) {
		boot_body_put(own);
		return err;
	}
	memcpy(own->data, &b->swaps, sizeof(b->swaps));
	b->swap_out = own;
	b->swap = BOOT_SWAP_WANTED;
	boot_wake(b);
	while (b->swap != BOOT_SWAP_HERE) {
		err = swap_refused(b, error);
		if (err)
			return err;
		pthread_cond_wait(&b->cond, &b->lock);
	}
	return 0;
}

/* Copy the blobs to where the caller wants them, each aligned to 8 bytes. */
static int swap_copy(uint32_t world, const struct boot_body *in, const void **all, size_t *lens)
{
	const uint8_t *from = in->data + 8 + 4ULL * world;
	size_t total = 8, at = 0;
	uint8_t *block;
	uint32_t i, n;

	for (i = 0; i < world; i++) {
		memcpy(&n, in->data + 8 + 4ULL * i, 4);
		lens[i] = n;
		total += (n + 7ULL) & ~7ULL;
	}
	block = calloc(1, total);
	if (!block)
		return -ENOMEM;
	for (i = 0; i < world; i++) {
		memcpy(block + at, from, lens[i]);
		all[i] = block + at;
		from += lens[i];
		at += (lens[i] + 7) & ~(size_t)7;
	}
	return 0;
}

int peer_boot_swap(struct peer_boot *b, const void *blob, size_t len, const void **all,
		   size_t *lens, struct trib_peer_error *error)
{
	struct boot_body *own, *in;
	int err;

	all[0] = NULL;
	if (len > PEER_BOOT_BLOB_MAX)
		return peer_error(error, TRIB_PEER_ARGUMENT, -EMSGSIZE, -1, "a blob of %zu bytes",
				  len);
	own = boot_body_new(sizeof(b->swaps) + len);
	if (!own)
		return peer_error(error, TRIB_PEER_SYSTEM, -ENOMEM, -1, "no memory");
	if (len)
		memcpy(own->data + sizeof(b->swaps), blob, len);
	pthread_mutex_lock(&b->lock);
	err = swap_wait(b, own, error);
	in = b->swap_in;
	if (!err) {
		b->swap_in = NULL;
		b->swap = BOOT_SWAP_IDLE;
		b->swaps++;
	}
	pthread_mutex_unlock(&b->lock);
	if (err)
		return err;
	err = swap_copy(b->conf.world, in, all, lens);
	boot_body_put(in);
	return err ? peer_error(error, TRIB_PEER_SYSTEM, err, -1, "no memory") : 0;
}

void peer_boot_swap_free(const void **all)
{
	free((void *)(uintptr_t)all[0]);
	all[0] = NULL;
}

void peer_boot_tell(struct peer_boot *b, int rank, const char *text)
{
	pthread_mutex_lock(&b->lock);
	if (!b->faulted && !b->told) {
		if (rank < -1 || rank >= (int)b->conf.world)
			rank = -1;
		peer_error(&b->tell, TRIB_PEER_GONE, -EHOSTDOWN, rank, "%.*s", BOOT_TEXT_MAX, text);
		b->told = true;
	}
	pthread_mutex_unlock(&b->lock);
	boot_wake(b);
}

int peer_boot_fault(struct peer_boot *b, struct trib_peer_error *error)
{
	int faulted;

	pthread_mutex_lock(&b->lock);
	faulted = b->faulted;
	if (faulted)
		*error = b->fault;
	pthread_mutex_unlock(&b->lock);
	return faulted;
}

void peer_boot_close(struct peer_boot *b, int orderly)
{
	pthread_mutex_lock(&b->lock);
	b->closing = true;
	b->leave = orderly;
	b->stop = !orderly;
	pthread_mutex_unlock(&b->lock);
	boot_wake(b);
	pthread_join(b->thread, NULL);
	boot_free(b);
}
