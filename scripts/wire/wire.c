// SPDX-License-Identifier: BSD-2-Clause
/*
 * Joins pairs of network devices of this namespace to wires that lose, double
 * and reorder packets, and stays to carry those that arrive late: the BPF
 * program hands them up, and they go on after a while.
 *
 *	wire [-l PERCENT] [-d PERCENT] [-r PERCENT] [-t US] [-w US] [-p PIN] A:B ...
 *	wire -x [-p PIN] A:B ...
 *	wire -s PIN
 *
 * -l loss, -d duplication, -r reordering: chance for each packet, each way.
 * -t: a reordered packet is late by up to this many microseconds (1000).
 * -w: every packet takes this many microseconds; with -r it is late on top.
 * -x: by native XDP: no faults, and nothing of the sender's kernel clings to
 * the packets. -p: pins the counters there; -s prints them.
 * Prints "ready", and ends, taking the wires apart, at SIGTERM.
 */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "wire.h"
#include "scripts/wire/wire.skel.h"

#define QUEUE_MAX 32768

/*
 * A late packet, its time in CLOCK_MONOTONIC nanoseconds, and its number: those of one
 * time leave in their order.
 */
struct queued {
	__u64 due;
	__u64 nth;
	struct wire_late packet;
};

/* A heap: the first is the next. */
static struct queued *queue[QUEUE_MAX];
static int queue_len;
static __u64 late_ns = 1000 * 1000, slow_ns, last_nth;
static __u32 late_chance;
static int packet_fd = -1;
static bool by_xdp;
static volatile sig_atomic_t stop;

static __attribute__((noreturn, format(printf, 1, 2))) void fail(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "wire: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* The frame as it was on the wire, with its tag back in; returns its length. */
static size_t put_frame(const struct wire_late *p, __u8 *out)
{
	const __u8 tag[4] = {0x81, 0x00, p->vlan >> 8, p->vlan & 0xff};
	size_t addrs = 2 * ETH_ALEN;

	if (!p->tagged || p->len < addrs) {
		memcpy(out, p->frame, p->len);
		return p->len;
	}
	memcpy(out, p->frame, addrs);
	memcpy(out + addrs, tag, sizeof(tag));
	memcpy(out + addrs + sizeof(tag), p->frame + addrs, p->len - addrs);
	return p->len + sizeof(tag);
}

static void send_on(const struct wire_late *p)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = (int)p->peer,
	};
	__u8 frame[WIRE_FRAME_MAX + 4];
	size_t len = put_frame(p, frame);

	/* A full queue on the way out is one more loss. */
	(void)!sendto(packet_fd, frame, len, 0, (struct sockaddr *)&to, sizeof(to));
}

static bool before(const struct queued *a, const struct queued *b)
{
	return a->due < b->due || (a->due == b->due && a->nth < b->nth);
}

static void swap_queued(int a, int b)
{
	struct queued *q = queue[a];

	queue[a] = queue[b];
	queue[b] = q;
}

static void queue_add(struct queued *q)
{
	int i = queue_len++;

	for (queue[i] = q; i && before(queue[i], queue[(i - 1) / 2]); i = (i - 1) / 2)
		swap_queued(i, (i - 1) / 2);
}

static struct queued *queue_take(void)
{
	struct queued *q = queue[0];
	int i = 0, k;

	queue[0] = queue[--queue_len];
	while ((k = 2 * i + 1) < queue_len) {
		if (k + 1 < queue_len && before(queue[k + 1], queue[k]))
			k++;
		if (!before(queue[k], queue[i]))
			break;
		swap_queued(i, k);
		i = k;
	}
	return q;
}

/* All packets come here if the wire is slow; then the chance to be late is ours. */
static __u64 wait_of_packet(void)
{
	__u64 late = random() % (late_ns + 1);

	if (slow_ns && (__u32)(random() << 1) >= late_chance)
		late = 0;
	return slow_ns + late;
}

static int on_late(void *ctx, void *data, size_t size)
{
	const struct wire_late *p = data;
	struct queued *q;

	(void)ctx;
	if (size < sizeof(*p) || p->len > WIRE_FRAME_MAX)
		return 0;
	q = queue_len < QUEUE_MAX ? malloc(sizeof(*q)) : NULL;
	if (!q) {
		send_on(p);
		return 0;
	}
	q->due = now_ns() + wait_of_packet();
	q->nth = last_nth++;
	memcpy(&q->packet, p, offsetof(struct wire_late, frame) + p->len);
	queue_add(q);
	return 0;
}

/* Sends what is due; returns when the next one is, or 0. */
static __u64 run_queue(void)
{
	__u64 now = now_ns();

	while (queue_len && queue[0]->due <= now) {
		struct queued *q = queue_take();

		send_on(&q->packet);
		free(q);
	}
	return queue_len ? queue[0]->due : 0;
}

/* A wire whose time is to be right must not wait for a CPU; without the right it does. */
static void be_in_time(void)
{
	struct sched_param prio = {.sched_priority = 2};

	if (slow_ns)
		(void)sched_setscheduler(0, SCHED_RR, &prio);
}

static void carry(struct ring_buffer *ring)
{
	struct pollfd pfd = {
		.fd = ring_buffer__epoll_fd(ring),
		.events = POLLIN,
	};
	sigset_t none;

	be_in_time();
	sigemptyset(&none);
	while (!stop) {
		struct timespec ts;
		__u64 next = run_queue(), now = now_ns();
		__u64 wait = next > now ? next - now : 0;

		ts.tv_sec = wait / 1000000000;
		ts.tv_nsec = wait % 1000000000;
		/* Signals are let in only here. */
		if (ppoll(&pfd, 1, next ? &ts : NULL, &none) > 0)
			ring_buffer__consume(ring);
	}
}

static __u32 chance_parse(const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || *end || !(percent >= 0 && percent < 100))
		fail("'%s' is not a percentage below 100", text);
	return percent / 100 * 4294967296.0;
}

static int ifindex_of(const char *name)
{
	int ifindex = (int)if_nametoindex(name);

	if (!ifindex)
		fail("no device %s here", name);
	return ifindex;
}

static void end_attach_tc(struct wire_bpf *skel, int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = 1, .priority = 1,
		    .prog_fd = bpf_program__fd(skel->progs.wire));
	int err = bpf_tc_hook_create(&hook);

	if (err && err != -EEXIST)
		fail("clsact: %s", strerror(-err));
	err = bpf_tc_attach(&hook, &opts);
	if (err)
		fail("attach: %s", strerror(-err));
}

static void end_attach(struct wire_bpf *skel, int ifindex, struct wire_end *end)
{
	int err = bpf_map_update_elem(bpf_map__fd(skel->maps.ends), &ifindex, end, BPF_ANY);

	if (err)
		fail("map: %s", strerror(-err));
	if (!by_xdp) {
		end_attach_tc(skel, ifindex);
		return;
	}
	err = bpf_xdp_attach(ifindex, bpf_program__fd(skel->progs.wire_xdp), XDP_FLAGS_DRV_MODE,
			     NULL);
	if (err)
		fail("attach: %s", strerror(-err));
}

static void end_detach(int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

	if (by_xdp)
		bpf_xdp_detach(ifindex, XDP_FLAGS_DRV_MODE, NULL);
	else
		bpf_tc_hook_destroy(&hook);
}

static void wire_join(struct wire_bpf *skel, const char *pair, struct wire_end *end, int ifindex[2])
{
	char name[2 * IF_NAMESIZE + 1];
	char *colon;

	snprintf(name, sizeof(name), "%s", pair);
	colon = strchr(name, ':');
	if (!colon)
		fail("'%s' is not A:B", pair);
	*colon = 0;
	ifindex[0] = ifindex_of(name);
	ifindex[1] = ifindex_of(colon + 1);
	for (int i = 0; i < 2; i++) {
		end->peer = ifindex[!i];
		end_attach(skel, ifindex[i], end);
	}
}

static int show(const char *pin)
{
	__u32 key, *prev = NULL;
	int fd = bpf_obj_get(pin);

	if (fd < 0)
		fail("%s: %s", pin, strerror(errno));
	while (!bpf_map_get_next_key(fd, prev, &key)) {
		struct wire_end e;
		char name[IF_NAMESIZE];

		prev = &key;
		if (bpf_map_lookup_elem(fd, &key, &e) || !if_indextoname(key, name))
			continue;
		printf("%s packets %llu bytes %llu lost %llu dups %llu delayed %llu\n", name,
		       e.packets, e.bytes, e.lost, e.dups, e.delayed);
	}
	close(fd);
	return 0;
}

static void signals_block(void)
{
	struct sigaction sa = {.sa_handler = on_signal};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
}

static int serve(struct wire_end *end, const char *pin, char **pairs, int n)
{
	struct wire_bpf *skel = wire_bpf__open_and_load();
	struct ring_buffer *ring;
	int(*ifindex)[2] = calloc(n, sizeof(*ifindex));

	if (!skel || !ifindex)
		fail("cannot load the program");
	ring = ring_buffer__new(bpf_map__fd(skel->maps.late), on_late, NULL, NULL);
	packet_fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (!ring || packet_fd < 0)
		fail("%s", strerror(errno));
	if (pin && bpf_obj_pin(bpf_map__fd(skel->maps.ends), pin))
		fail("%s: %s", pin, strerror(errno));
	signals_block();
	for (int i = 0; i < n; i++)
		wire_join(skel, pairs[i], end, ifindex[i]);
	puts("ready");
	fflush(stdout);
	carry(ring);
	for (int i = 0; i < n; i++) {
		end_detach(ifindex[i][0]);
		end_detach(ifindex[i][1]);
	}
	if (pin)
		unlink(pin);
	while (queue_len)
		free(queue[--queue_len]);
	close(packet_fd);
	ring_buffer__free(ring);
	free(ifindex);
	wire_bpf__destroy(skel);
	return 0;
}

int main(int argc, char **argv)
{
	struct wire_end end = {0};
	const char *pin = NULL;
	int o;

	while ((o = getopt(argc, argv, "l:d:r:t:w:xp:s:")) != -1) {
		switch (o) {
		case 'l':
			end.loss = chance_parse(optarg);
			break;
		case 'd':
			end.dup = chance_parse(optarg);
			break;
		case 'r':
			end.reorder = chance_parse(optarg);
			break;
		case 't':
			late_ns = strtoul(optarg, NULL, 10) * 1000ull;
			break;
		case 'w':
			slow_ns = strtoul(optarg, NULL, 10) * 1000ull;
			end.slow = slow_ns > 0;
			break;
		case 'x':
			by_xdp = true;
			break;
		case 'p':
			pin = optarg;
			break;
		case 's':
			return show(optarg);
		default:
			return 2;
		}
	}
	if (optind == argc)
		fail("no devices");
	late_chance = end.reorder;
	if (by_xdp && (end.loss || end.dup || end.reorder || end.slow))
		fail("-x knows no faults");
	return serve(&end, pin, argv + optind, argc - optind);
}
