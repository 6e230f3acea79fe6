// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib doctor --topology: compares the wiring of this host's ports with a
 * topology. A host that the topology has behind a port is probed through that
 * port, and must answer through it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/core/cli.h"
#include "cli/core/plan_file.h"
#include "cli/net/probe.h"
#include "cli/out/out.h"
#include "cli/parse/parse.h"
#include "doctor.h"

#define PROBE_MS 1500
#define PING_BYTES 104
#define PROBES_MAX 4096 /* limits sockets, and answers at one time */

static bool addr_text(const struct sockaddr *sa, char *buf, socklen_t len)
{
	const struct sockaddr_in6 *in6 = (const void *)sa;
	const struct sockaddr_in *in = (const void *)sa;

	if (sa->sa_family == AF_INET)
		return inet_ntop(AF_INET, &in->sin_addr, buf, len);
	return sa->sa_family == AF_INET6 && inet_ntop(AF_INET6, &in6->sin6_addr, buf, len);
}

/* Probe all hosts behind @port through it. */
static void prepare(const struct plan_port *port, struct probe *p)
{
	size_t i;

	for (i = 0; i < port->nask; i++) {
		p[i].kind = PROBE_PING;
		p[i].size = PING_BYTES;
		p[i].dev = port->dev;
		if (parse_addr(port->ask[i], p[i].addr))
			memset(p[i].addr, 0, sizeof(p[i].addr));
		if (parse_addr(port->addr, p[i].local))
			memset(p[i].local, 0, sizeof(p[i].local));
	}
}

/* Check that @port's device has the address that the topology gives it. */
static bool has_addr(const struct plan_port *port)
{
	uint8_t want[16], have[16];
	struct ifaddrs *all, *a;
	char text[INET6_ADDRSTRLEN];
	bool found = false;

	if (parse_addr(port->addr, want) || getifaddrs(&all))
		return true;
	for (a = all; a && !found; a = a->ifa_next)
		found = a->ifa_addr && !strcmp(a->ifa_name, port->dev) &&
			addr_text(a->ifa_addr, text, sizeof(text)) && !parse_addr(text, have) &&
			!memcmp(have, want, 16);
	freeifaddrs(all);
	return found;
}

/* Note hosts that do not answer behind a port where others do. */
static void note_port(struct doctor *d, const struct plan_port *port, const struct probe *p)
{
	char list[160] = "";
	size_t i, silent = 0, len;

	for (i = 0; i < port->nask; i++) {
		len = strlen(list);
		if (!p[i].answered && silent++ < 4)
			snprintf(list + len, sizeof(list) - len, " %s", port->ask[i]);
	}
	if (!port->nask)
		doctor_note(d, DOCTOR_WARN, "wiring", port->dev, NULL,
			    "nobody behind %s has an address to ask", port->peer);
	else if (!silent)
		doctor_note(d, DOCTOR_OK, "wiring", port->dev, NULL,
			    "all %zu behind %s answer through it", port->nask, port->peer);
	else if (silent < port->nask)
		doctor_note(d, DOCTOR_FAIL, "wiring", port->dev,
			    "see whether they are up, and on their cables",
			    "leads to %s, but %zu of %zu there do not answer:%s%s", port->peer,
			    silent, port->nask, list, silent > 4 ? " ..." : "");
}

/* Ports without any answer are judged by plan_wiring_check(). */
static void judge(struct doctor *d, const struct plan_topology *t, const char *host,
		  const struct plan_port *port, const struct probe *p, size_t n)
{
	struct plan_wire *w = calloc(n + 1, sizeof(*w));
	json_t *bad = NULL, *row;
	size_t i, k, at = 0;

	for (i = 0; w && i < n; at += port[i++].nask) {
		w[i] = (struct plan_wire){.node = host, .dev = port[i].dev};
		if (!has_addr(&port[i]))
			doctor_note(d, DOCTOR_FAIL, "address", port[i].dev,
				    "give it to this device, and to no other",
				    "%s does not have %s", port[i].dev, port[i].addr);
		for (k = 0; k < port[i].nask; k++)
			if (p[at + k].answered)
				w[i].peer = port[i].peer;
		if (w[i].peer || !port[i].nask) {
			w[i].peer = port[i].peer;
			note_port(d, &port[i], &p[at]);
		}
	}
	if (!w || plan_wiring_check(t, w, n, &bad))
		doctor_note(d, DOCTOR_FAIL, "wiring", "", NULL, "out of memory");
	json_array_foreach(bad, i, row)
		doctor_note(d, DOCTOR_FAIL, "wiring", jstr(row, "dev"),
			    "look for its cable in another port, and at the device's address", "%s",
			    jstr(row, "text"));
	json_decref(bad);
	free(w);
}

static void look(struct doctor *d, const struct plan_topology *t, const char *host)
{
	struct plan_port *port;
	size_t n, i, total = 0, at = 0;
	struct probe *p;
	int err = plan_topology_ports(t, host, &port, &n);

	if (err) {
		doctor_note(d, DOCTOR_FAIL, "wiring", "",
			    "name it as the topology does: --host NAME", "%s",
			    err == -ENOENT ? "the topology has no such host" : strerror(-err));
		return;
	}
	for (i = 0; i < n; i++)
		total += port[i].nask;
	p = total <= PROBES_MAX ? calloc(total + 1, sizeof(*p)) : NULL;
	if (!p) {
		doctor_note(d, DOCTOR_FAIL, "wiring", "", NULL,
			    "%zu neighbours are too many to ask", total);
	} else if (!n) {
		doctor_note(d, DOCTOR_FAIL, "wiring", "", NULL,
			    "the topology gives no devices for %s", host);
	} else {
		for (i = 0; i < n; at += port[i++].nask)
			prepare(&port[i], &p[at]);
		if (total)
			probe_run(p, total, PROBE_MS);
		judge(d, t, host, port, p, n);
	}
	free(p);
	plan_ports_free(port, n);
}

int doctor_wiring(struct doctor *d)
{
	char here[256] = "";
	struct plan_topology *t;
	int err = plan_file_topology(d->c, d->topology, &t);

	if (err)
		return err;
	if (!d->host)
		gethostname(here, sizeof(here) - 1);
	look(d, t, d->host ? d->host : here);
	plan_topology_free(t);
	return CLI_OK;
}
