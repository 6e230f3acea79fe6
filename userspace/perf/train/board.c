// SPDX-License-Identifier: BSD-2-Clause
/*
 * The display of rank 0: a progress bar that turns into one line
 * per epoch, the summary, and the JSON. On a terminal the bar is redrawn in
 * place, with a little colour unless NO_COLOR is set.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "train.h"

#define BAR 24
#define REDRAW_S 0.1

struct board {
	const struct train_opts *o;
	int ranks;
	char transport[16];
	int live; /* stdout is a terminal */
	const char *bold, *green, *plain;
	const char *full, *empty;
	double drawn;
};

/* 123456 as 123,456. */
static const char *thousands(char out[32], uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v), at = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

static void look(struct board *b)
{
	int utf8;

	setlocale(LC_CTYPE, "");
	utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	b->live = isatty(STDOUT_FILENO);
	b->full = utf8 ? "\xe2\x94\x81" : "#";	/* a heavy line */
	b->empty = utf8 ? "\xe2\x94\x80" : "."; /* a light one */
	b->bold = b->green = b->plain = "";
	if (b->live && !getenv("NO_COLOR")) {
		b->bold = "\033[1m";
		b->green = "\033[32m";
		b->plain = "\033[0m";
	}
}

struct board *board_begin(const struct train_opts *o, struct trib *t, size_t nparam)
{
	struct board *b = calloc(1, sizeof(*b));
	char num[32];

	if (!b)
		return NULL;
	b->o = o;
	b->ranks = t ? trib_world(t) : 1;
	snprintf(b->transport, sizeof(b->transport), "%s", t ? trib_transport_name(t) : "none");
	look(b);
	printf("%strib-train%s: a perceptron of %s parameters, %d rank%s", b->bold, b->plain,
	       thousands(num, nparam), b->ranks, b->ranks == 1 ? "" : "s");
	if (t)
		printf(", gradients summed in the network (%s)", b->transport);
	else
		printf(", alone: the samples and steps of %u", o->alone);
	if (o->compress)
		printf("\ncompression: %s, %s masks%s", o->compress, o->local ? "local" : "shared",
		       o->no_feedback ? ", without feedback" : "");
	printf("\ntask: %d %s, %s samples, %u a step\n\n", TASK_CLASSES, task_text(o->task),
	       thousands(num, o->samples), o->batch);
	fflush(stdout);
	return b;
}

static void draw(const struct board *b, unsigned int epoch, double share,
		 const struct train_epoch *e)
{
	double all = (epoch + share) / b->o->epochs;
	int full = (int)(all * BAR + 0.5);

	printf("epoch %2u/%u %s", epoch + 1, b->o->epochs, b->green);
	for (int i = 0; i < BAR; i++)
		fputs(i < full ? b->full : b->empty, stdout);
	printf("%s loss %.3f  train %5.1f %%", b->plain, e->loss, 100 * e->train);
	if (share >= 1)
		printf("  test %5.1f %%", 100 * e->test);
	else
		printf("              ");
	if (b->ranks > 1)
		printf("  algbw %.2f Gb/s", 8 * e->algbw);
}

void board_progress(struct board *b, unsigned int epoch, double share,
		    const struct train_epoch *so_far)
{
	double now = sync_now();

	/* The last piece is drawn by board_epoch(). */
	if (!b->live || share >= 1 || now - b->drawn < REDRAW_S)
		return;
	b->drawn = now;
	draw(b, epoch, share, so_far);
	printf("\033[K\r");
	fflush(stdout);
}

void board_epoch(struct board *b, unsigned int epoch, const struct train_epoch *e)
{
	draw(b, epoch, 1, e);
	printf("%s\n", b->live ? "\033[K" : "");
	fflush(stdout);
}

static double ring_bytes(const struct board *b, const struct train_result *r)
{
	return 2.0 * (b->ranks - 1) / b->ranks * (double)r->bytes;
}

static void summary_wire(const struct board *b, const struct train_result *r)
{
	double ring = ring_bytes(b, r);
	double most =
		(double)(r->counters.sent_bytes > r->counters.recv_bytes ? r->counters.sent_bytes
									 : r->counters.recv_bytes);

	printf("wire         rank 0 sent %.1f MB and received %.1f MB with all headers, for %.1f MB of gradients\n",
	       (double)r->counters.sent_bytes / 1e6, (double)r->counters.recv_bytes / 1e6,
	       (double)r->bytes / 1e6);
	if (r->has_wire)
		printf("             (its interfaces counted %.1f MB and %.1f MB)\n",
		       (double)r->wire.tx / 1e6, (double)r->wire.rx / 1e6);
	printf("             a ring sends and receives %.1f MB each, without headers: %s%.2f times as much%s\n",
	       ring / 1e6, b->bold, most > 0 ? ring / most : 0, b->plain);
}

static double kept_energy(const struct trib_compress_counters *z)
{
	return z->energy > 0 ? 1 - z->energy_left / z->energy : 1;
}

static void summary_packed(const struct board *b, const struct train_result *r)
{
	const struct trib_compress_counters *z = &r->packed;

	if (!b->o->compress)
		return;
	printf("compression  %.1f MB sent and %.1f MB received as masks, exponents and values: %s%.2f times less%s;\n"
	       "             %.1f %% of the energy at once, the rest %s\n",
	       (double)z->bytes_sent / 1e6, (double)z->bytes_received / 1e6, b->bold,
	       (double)z->bytes_dense / (double)(z->bytes_sent ? z->bytes_sent : 1), b->plain,
	       100 * kept_energy(z), b->o->no_feedback ? "is lost" : "later");
}

static void summary(const struct board *b, const struct train_result *r)
{
	const struct train_epoch *last = &r->epoch[b->o->epochs - 1];
	char rate[32], steps[32];

	printf("\naccuracy     %s%.1f %%%s on samples it never saw; a linear model gets %.1f %%\n",
	       b->bold, 100 * last->test, b->plain, 100 * r->linear);
	if (b->ranks > 1 && r->identical)
		printf("parameters   %sbit-identical%s on all %d ranks: hash %016llx is both the\n"
		       "             largest and the smallest, as found through the network\n",
		       b->bold, b->plain, b->ranks, (unsigned long long)r->hash);
	else if (b->ranks > 1)
		printf("parameters   DIFFER between ranks: this one's hash is %016llx\n",
		       (unsigned long long)r->hash);
	else
		printf("parameters   hash %016llx\n", (unsigned long long)r->hash);
	if (b->ranks > 1)
		summary_wire(b, r);
	summary_packed(b, r);
	printf("speed        %s samples/s: %s steps in %.1f s",
	       thousands(rate, (uint64_t)(r->samples / r->seconds)), thousands(steps, r->steps),
	       r->seconds);
	if (b->ranks > 1)
		printf(", of which %.1f s waiting for sums", r->wait_s);
	printf("\n");
}

static void write_packed(FILE *f, const struct board *b, const struct trib_compress_counters *z)
{
	if (!b->o->compress)
		return;
	fprintf(f,
		",\n \"compress\": \"%s%s\", \"feedback\": %s, \"compressed_dense_bytes\": %llu, "
		"\"compressed_sent_bytes\": %llu, \"compressed_recv_bytes\": %llu, "
		"\"codec_s\": %.3f, \"kept_energy\": %.6f",
		b->o->compress, b->o->local ? "/local" : "", b->o->no_feedback ? "false" : "true",
		(unsigned long long)z->bytes_dense, (unsigned long long)z->bytes_sent,
		(unsigned long long)z->bytes_received, (double)z->codec_ns / 1e9, kept_energy(z));
}

static void write_curve(FILE *f, const struct board *b, const struct train_result *r)
{
	const char *comma = "";

	fprintf(f, ",\n \"curve\": [");
	for (unsigned int i = 0; i < b->o->epochs * TRAIN_POINTS; i++) {
		if (r->point[i].seconds <= 0)
			continue;
		fprintf(f, "%s[%.3f, %.4f]", comma, r->point[i].seconds, r->point[i].loss);
		comma = ", ";
	}
	fprintf(f, "]");
}

static int write_json(const struct board *b, const struct train_result *r)
{
	FILE *f = strcmp(b->o->json, "-") ? fopen(b->o->json, "w") : stdout;
	int rc;

	if (!f)
		return -errno;
	fprintf(f,
		"{\"tool\": \"trib-train\", \"version\": \"%s\", \"ranks\": %d, "
		"\"transport\": \"%s\", \"parameters\": %zu, \"batch\": %u, "
		"\"task\": \"%s\", \"samples\": %u, \"test_samples\": %u, \"seed\": %llu,\n \"epochs\": [",
		TRIB_VERSION, b->ranks, b->transport, r->nparam, b->o->batch, task_name(b->o->task),
		b->o->samples, b->o->test, (unsigned long long)b->o->seed);
	for (unsigned int i = 0; i < b->o->epochs; i++)
		fprintf(f,
			"%s\n  {\"loss\": %.6f, \"train\": %.6f, \"test\": %.6f, \"algbw_GBps\": %.6f, \"seconds\": %.3f}",
			i ? "," : "", r->epoch[i].loss, r->epoch[i].train, r->epoch[i].test,
			r->epoch[i].algbw, r->epoch[i].seconds);
	fprintf(f,
		"],\n \"test_accuracy\": %.6f, \"linear_accuracy\": %.6f, "
		"\"identical\": %s, \"hash\": \"%016llx\",\n"
		" \"seconds\": %.3f, \"samples_per_s\": %.1f, \"steps\": %llu, "
		"\"comm_s\": %.3f, \"waited_s\": %.3f,\n"
		" \"gradient_bytes\": %llu, \"sent_bytes\": %llu, "
		"\"recv_bytes\": %llu, \"interface_tx_bytes\": %llu, "
		"\"interface_rx_bytes\": %llu, \"ring_bytes\": %.0f, "
		"\"resends\": %llu, \"fast_resends\": %llu",
		r->epoch[b->o->epochs - 1].test, r->linear, r->identical ? "true" : "false",
		(unsigned long long)r->hash, r->seconds, r->samples / r->seconds,
		(unsigned long long)r->steps, r->busy_s, r->wait_s, (unsigned long long)r->bytes,
		(unsigned long long)r->counters.sent_bytes,
		(unsigned long long)r->counters.recv_bytes, (unsigned long long)r->wire.tx,
		(unsigned long long)r->wire.rx, ring_bytes(b, r),
		(unsigned long long)r->counters.resends,
		(unsigned long long)r->counters.fast_resends);
	write_packed(f, b, &r->packed);
	write_curve(f, b, r);
	fprintf(f, "}\n");
	rc = ferror(f) || fflush(f) ? -EIO : 0;
	if (f != stdout && fclose(f))
		rc = -errno;
	return rc;
}

int board_end(struct board *b, const struct train_result *res)
{
	summary(b, res);
	fflush(stdout);
	return b->o->json ? write_json(b, res) : 0;
}

void board_free(struct board *b)
{
	free(b);
}
