// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib_ps_...() with real sockets and threads on the loopback device. The PS
 * acts as its worker's forwarder, too.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "trib.h"
#include "ndn/app/link.h"
#include "ndn/app/ps/ps.h"

#define ELEMENTS 3000
#define VERSIONS 20

/* A PS in a thread; it answers the sender of the last packet. */
struct server {
	pthread_t thread;
	int fd;
	char address[32];
	atomic_bool stop;
	struct sockaddr_in peer;
	struct nps *ps;
	struct ndn_key key;
	struct nps_worker worker;
};

static void on_send(void *ctx, const void *pkt, size_t n)
{
	struct server *s = ctx;

	if (s->peer.sin_port)
		sendto(s->fd, pkt, n, 0, (struct sockaddr *)&s->peer, sizeof(s->peer));
}

static int on_save(void *ctx, const struct nps_job *job)
{
	(void)ctx;
	(void)job;
	return 0;
}

static void *serve(void *arg)
{
	struct server *s = arg;
	uint8_t buf[TRIB_NDN_PACKET_MAX];
	struct pollfd p = {s->fd, POLLIN, 0};
	socklen_t size;
	ssize_t n;

	while (!s->stop) {
		nps_run(s->ps, ndn_socket_now());
		if (poll(&p, 1, 1) <= 0)
			continue;
		size = sizeof(s->peer);
		n = recvfrom(s->fd, buf, sizeof(buf), 0, (struct sockaddr *)&s->peer, &size);
		if (n > 0)
			nps_rx(s->ps, buf, (size_t)n, ndn_socket_now());
	}
	return NULL;
}

/* @worker: the port that the worker will bind. */
static bool server_init(struct server *s, enum ndn_mode mode, uint16_t worker)
{
	static const struct nps_ops ops = {.send = on_send, .save = on_save};
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct nps_spec spec = {.title = "job",
				.markers = ndn_markers_default,
				.mode = mode,
				.elements = ELEMENTS,
				.segment = 1024,
				.lease_ms = 1000,
				.rto_ms = 20,
				.tree_job = NDN_NO_TREE,
				.versions = VERSIONS,
				.every = 10,
				.lr = 1,
				.workers = &s->worker,
				.nworker = 1,
				.least = 1};
	struct nps_model m = {.values = calloc(ELEMENTS, sizeof(float))};
	socklen_t size = sizeof(any);
	char why[100] = "";

	memset(s, 0, sizeof(*s));
	s->fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(s->fd, (struct sockaddr *)&any, size) ||
	    getsockname(s->fd, (struct sockaddr *)&any, &size))
		return expect(false);
	snprintf(s->address, sizeof(s->address), "127.0.0.1:%u", ntohs(any.sin_port));
	s->peer = any;
	s->peer.sin_port = htons(worker);
	s->worker.len = 2;
	memcpy(s->worker.name, "w0", 2);
	s->key = ndn_key_sha256;
	spec.key = spec.verify = &s->key;
	ndn_name_parse(&spec.name, "/ps/job");
	s->ps = nps_new(&ops, s, 1);
	if (nps_add(s->ps, &spec, 1, &m, ndn_socket_now(), why, sizeof(why))) {
		printf("# %s\n", why);
		return expect(false);
	}
	return expect(!pthread_create(&s->thread, NULL, serve, s));
}

static void server_end(struct server *s)
{
	s->stop = true;
	pthread_join(s->thread, NULL);
	nps_free(s->ps);
	close(s->fd);
}

/* Return a port that is free now. */
static uint16_t free_port(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(any);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (bind(fd, (struct sockaddr *)&any, size) ||
	    getsockname(fd, (struct sockaddr *)&any, &size))
		any.sin_port = 0;
	close(fd);
	return ntohs(any.sin_port);
}

static bool is_readable(const struct trib_ps *p, int ms)
{
	struct pollfd fd = {trib_ps_fd(p), POLLIN, 0};

	return poll(&fd, 1, ms) == 1;
}

static void open__names_what_is_wrong(void)
{
	static const struct {
		struct trib_ps_options o;
		const char *says;
	} bad[] = {
		{{.forwarder = "127.0.0.1:1"}, "no name"},
		{{.name = "/w0"}, "no forwarder"},
		{{.name = "/w0/x", .forwarder = "127.0.0.1:1"}, "'/w0/x'"},
		{{.name = "/", .forwarder = "127.0.0.1:1"}, "'/'"},
		{{.name = "/w0", .forwarder = "nowhere"}, "nowhere"},
		{{.name = "/w0", .forwarder = "127.0.0.1:1", .job = "//"}, "'//'"},
		{{.name = "/w0", .forwarder = "127.0.0.1:1", .key = "/none"}, "/none"},
		{{.name = "/w0", .forwarder = "127.0.0.1:1", .insert = "delete"}, "'delete'"},
		{{.name = "/w0", .forwarder = "127.0.0.1:1", .rto_ms = 70000}, "70000"},
	};
	struct trib_ps *p;

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct trib_ps_options o = bad[i].o;

		o.size = sizeof(o);
		o.bind = "127.0.0.1:0";
		expect(trib_ps_open(&p, &o) < 0);
		expect(!p);
		if (!expect(strstr(trib_ps_error_text(NULL), bad[i].says)))
			printf("# %s\n", trib_ps_error_text(NULL));
	}
}

static struct trib_ps *open_worker(const struct server *s, uint16_t port)
{
	char here[32];
	struct trib_ps_options o = {.size = sizeof(o),
				    .name = "/w0",
				    .forwarder = s->address,
				    .bind = here,
				    .job = "/ps"};
	struct trib_ps *p = NULL;

	snprintf(here, sizeof(here), "127.0.0.1:%u", port);
	if (trib_ps_open(&p, &o))
		printf("# %s\n", trib_ps_error_text(NULL));
	expect(p);
	return p;
}

static void join__says_that_the_key_is_another(void)
{
	char path[] = "/tmp/unit_names_api.XXXXXX", here[32];
	struct trib_ps_task task = {.size = sizeof(task)};
	uint16_t port = free_port();
	struct server s;
	struct trib_ps_options o = {.size = sizeof(o),
				    .name = "/w0",
				    .forwarder = s.address,
				    .bind = here,
				    .key = path};
	int fd = mkstemp(path);
	struct trib_ps *p;

	expect(dprintf(fd, "hmac /ps/KEY %064d\n", 1) > 64);
	close(fd);
	snprintf(here, sizeof(here), "127.0.0.1:%u", port);
	if (!server_init(&s, NDN_MODE_SYNC, port))
		return;
	if (expect(!trib_ps_open(&p, &o))) {
		expect_eq(trib_ps_join(p, &task, 500), -ETIMEDOUT);
		expect(strstr(trib_ps_error_text(p), "server's key"));
		trib_ps_close(p);
	}
	server_end(&s);
	unlink(path);
}

static void train(enum ndn_mode mode)
{
	static float model[ELEMENTS], grad[ELEMENTS];
	struct trib_ps_counters n = {.size = sizeof(n)};
	struct trib_ps_version v = {.size = sizeof(v)};
	struct trib_ps_task task = {.size = sizeof(task)};
	uint16_t port = free_port();
	unsigned int turns = 0;
	struct trib_ps *p;
	struct server s;

	if (!server_init(&s, mode, port))
		return;
	p = open_worker(&s, port);
	if (!p)
		return;
	expect_eq(trib_ps_model(p, model, ELEMENTS, &v, 0), -EINVAL);
	expect(!is_readable(p, 0));
	expect_eq(trib_ps_join(p, &task, 0), -ETIMEDOUT);
	expect_eq(trib_ps_join(p, &task, 10000), 0);
	expect(!strcmp(task.job, "/ps/job"));
	expect_eq(task.count, ELEMENTS);
	expect_eq(task.async, mode == NDN_MODE_ASYNC);
	expect_eq(trib_ps_join(p, &task, 0), -EBUSY);
	expect_eq(trib_ps_model(p, model, ELEMENTS - 1, &v, 0), -EINVAL);
	for (unsigned int i = 0; i < ELEMENTS; i++)
		grad[i] = (float)(i % 7);
	while (turns++ < 2 * VERSIONS) {
		expect(is_readable(p, 10000));
		if (trib_ps_model(p, model, ELEMENTS, &v, 10000))
			break;
		for (unsigned int i = 0; i < ELEMENTS; i++)
			if (model[i] != -(float)(uint32_t)v.version * (float)(i % 7)) {
				expect_eq(i, -1);
				break;
			}
		if (v.last)
			break;
		expect_eq(trib_ps_gradient(p, 77, grad, ELEMENTS), -ESTALE);
		expect(!trib_ps_is_stale(p, v.version));
		grad[ELEMENTS - 1] = NAN;
		expect_eq(trib_ps_gradient(p, v.version, grad, ELEMENTS), -EDOM);
		grad[ELEMENTS - 1] = (float)((ELEMENTS - 1) % 7);
		expect_eq(trib_ps_gradient(p, v.version, grad, ELEMENTS), 0);
		expect_eq(trib_ps_gradient(p, v.version, grad, ELEMENTS), -ESTALE);
	}
	expect(v.last);
	expect_eq((uint32_t)v.version, VERSIONS);
	expect_eq(trib_ps_model(p, model, ELEMENTS, &v, 0), -ESHUTDOWN);
	trib_ps_counters(p, &n);
	expect(n.versions >= 2 && n.gradients >= VERSIONS);
	expect_eq(n.bad_signatures + n.bad_content, 0);
	expect_eq(trib_ps_leave(p), 0);
	expect_eq(trib_ps_join(p, &task, 20), -ETIMEDOUT);
	trib_ps_close(p);
	server_end(&s);
}

static void train__synchronous_to_the_last_version(void)
{
	train(NDN_MODE_SYNC);
}

static void train__asynchronous_to_the_last_version(void)
{
	train(NDN_MODE_ASYNC);
}

static void leave__in_the_middle(void)
{
	static float model[ELEMENTS];
	struct trib_ps_version v = {.size = sizeof(v)};
	struct trib_ps_task task = {.size = sizeof(task)};
	uint16_t port = free_port();
	struct trib_ps *p;
	struct server s;

	if (!server_init(&s, NDN_MODE_SYNC, port))
		return;
	p = open_worker(&s, port);
	if (!p)
		return;
	/* The PS offers the task again, and the worker takes it again. */
	for (unsigned int i = 0; i < 2; i++) {
		expect_eq(trib_ps_join(p, &task, 10000), 0);
		expect_eq(trib_ps_model(p, model, ELEMENTS, &v, 10000), 0);
		expect_eq(trib_ps_leave(p), 0);
		expect_eq(trib_ps_gradient(p, v.version, model, ELEMENTS), -EINVAL);
	}
	trib_ps_close(p);
	server_end(&s);
}

static void close__without_a_task(void)
{
	struct trib_ps_options o = {.size = sizeof(o),
				    .name = "/w0",
				    .forwarder = "127.0.0.1:9",
				    .bind = "127.0.0.1:0"};
	struct trib_ps *p;

	trib_ps_close(NULL);
	for (unsigned int i = 0; i < 20; i++) {
		expect_eq(trib_ps_open(&p, &o), 0);
		trib_ps_close(p);
	}
}

int main(void)
{
	unsetenv("TRIB_PS_NAME");
	unsetenv("TRIB_PS_FORWARDER");
	run(open__names_what_is_wrong);
	run(join__says_that_the_key_is_another);
	run(train__synchronous_to_the_last_version);
	run(train__asynchronous_to_the_last_version);
	run(leave__in_the_middle);
	run(close__without_a_task);
	return tap_done();
}
