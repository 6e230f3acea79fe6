// SPDX-License-Identifier: BSD-2-Clause
/*
 * Putting back what somebody took off a port: XDP program, row of the ports map,
 * clsact filters. rtnetlink has news of filters, but none of a detached link: a
 * timer asks for links, and now and then for all.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "port.h"
#include "port_check.h"
#include "rtnl.h"

#define MS 1000000ULL
#define LOOK_MS 250
#define NEWS_MS 10
#define LOOK_ALL 20 /* looks between two that look at filters without news */
#define RETRY_MAX_MS 8000
/* This often, with less than this time between, is no accident: pauses follow. */
#define OFTEN 16
#define OFTEN_NS (60000 * MS)
#define PAUSE_MS 500
#define PAUSE_MAX_MS 30000

static const char *lacks_text(unsigned int lacks, char buf[128])
{
	static const char *const names[] = {"XDP program", "row of the map ports",
					    "clsact filter trib_grow", "clsact filter ndn_grow"};
	unsigned int i, n = 0;

	buf[0] = 0;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (lacks & 1u << i)
			n += (unsigned int)snprintf(buf + n, 128 - n, "%s%s", n ? ", " : "",
						    names[i]);
	return buf;
}

/* Log each reason once. */
static void failed(struct port *p, const char *reason)
{
	struct port_check *c = &p->check;

	c->retry_ms = c->retry_ms ? c->retry_ms * 2 : LOOK_MS;
	if (c->retry_ms > RETRY_MAX_MS)
		c->retry_ms = RETRY_MAX_MS;
	c->retry_ns = loop_now() + c->retry_ms * MS;
	snprintf(p->reason, sizeof(p->reason), "%.150s", reason);
	if (!strcmp(c->failed, p->reason))
		return;
	memcpy(c->failed, p->reason, sizeof(c->failed));
	log_error("%s; tries again until it can", p->reason);
}

/* Count, log, and decide on a pause before the next time. */
static void succeeded(struct port *p, unsigned int lacks)
{
	struct port_check *c = &p->check;
	uint64_t now = loop_now();
	uint32_t more, pause = 0;
	char text[128];

	c->often = now - c->done_ns < OFTEN_NS ? c->often + 1 : 0;
	if (c->often >= OFTEN) {
		more = c->often - OFTEN;
		pause = more < 6 ? PAUSE_MS << more : PAUSE_MAX_MS;
	}
	c->done_ns = now;
	c->rest_ns = now + pause * MS;
	c->retry_ms = 0;
	c->failed[0] = 0;
	p->reattached++;
	log_warn("%s: put back what was taken off: %s", p->ifname, lacks_text(lacks, text));
	if (pause)
		log_warn(
			"%s: was taken off %u times, the last ones within a minute each: the next time waits %u ms",
			p->ifname, p->reattached, pause);
}

/*
 * The kernel takes rows of devmaps from a device that leaves the namespace. If it
 * is here again, all rows of it must be made anew.
 */
static int row_put_back(struct tribd *d, struct port *p, const struct netdev *dev,
			struct reason *why)
{
	d->hooks->device_changed(d, dev, true);
	d->hooks->device_changed(d, dev, false);
	return p->mode != TRIB_XDP_MODE_NONE ? 0 : reason_set(why, -EIO, "%s", p->reason);
}

static void put_back(struct tribd *d, struct port *p, unsigned int lacks)
{
	uint8_t mode = p->mode;
	struct reason why = {};
	struct netdev dev;
	int err;

	/* News that it is gone are on their way. */
	if (rtnl_dev(d, NULL, p->ifindex, &dev))
		return;
	if (lacks & PORT_LACKS_ROW)
		err = row_put_back(d, p, &dev, &why);
	else
		err = port_attach(d, p, &dev, &why);
	p->ifindex = dev.ifindex;
	if (err)
		failed(p, why.text);
	else
		succeeded(p, lacks);
	if (mode != p->mode)
		d->hooks->port_changed(d, p);
}

static void look(struct tribd *d, struct port *p, bool filters)
{
	struct port_check *c = &p->check;
	uint64_t now = loop_now();
	unsigned int lacks;

	/* News wait, too. */
	if (!p->ifindex || now < c->retry_ns || now < c->rest_ns)
		return;
	lacks = port_lacks(d, p, filters || c->news);
	c->news = false;
	if (lacks)
		put_back(d, p, lacks);
}

static void look_run(struct tribd *d, struct timer *t)
{
	static unsigned int turn;
	bool filters = !(++turn % LOOK_ALL);
	struct port *p;

	TAILQ_FOREACH(p, &d->ports, link)
		look(d, p, filters);
	timer_set(d, t, LOOK_MS);
}

static struct timer look_timer = {.fn = look_run};

static void hurry(struct tribd *d, struct port *p)
{
	p->check.news = true;
	/* Looking costs little, but a device may have news by the thousand. */
	if (look_timer.at_ns > loop_now() + NEWS_MS * MS)
		timer_set(d, &look_timer, NEWS_MS);
}

void port_check_soon(struct tribd *d, struct port *p)
{
	p->check.retry_ns = 0;
	hurry(d, p);
}

void port_check_filters(struct tribd *d, uint32_t ifindex)
{
	struct port *p;

	TAILQ_FOREACH(p, &d->ports, link)
		if (!ifindex || p->ifindex == ifindex)
			hurry(d, p);
}

int port_check_init(struct tribd *d)
{
	timer_set(d, &look_timer, LOOK_MS);
	return 0;
}

void port_check_exit(struct tribd *d)
{
	timer_cancel(d, &look_timer);
}
