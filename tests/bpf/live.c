// SPDX-License-Identifier: BSD-2-Clause
/*
 * Catching what leaves the ports.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "live.h"

static int caught[PORTS]; /* packet sockets */
static bool offloaded;

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static int packet_socket(int ifindex)
{
	struct sockaddr_ll ll = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL),
				  .sll_ifindex = ifindex };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), one = 1;

	must(fd, "packet socket");
	must(setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)),
	     "PACKET_AUXDATA");
	must(bind(fd, (void *)&ll, sizeof(ll)), "bind of packet socket");
	return fd;
}

static void attach_grow(int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex,
		    .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = w.grow);

	must(bpf_tc_hook_create(&hook), "clsact");
	must(bpf_tc_attach(&hook, &opts), "trib_grow");
}

void live_open(void)
{
	for (int i = 0; i < PORTS; i++) {
		attach_grow(w.ifindex[i]);
		must(bpf_xdp_attach(w.peer_ifindex[i], w.pass,
				    XDP_FLAGS_DRV_MODE, NULL),
		     "trib_pass");
		caught[i] = packet_socket(w.peer_ifindex[i]);
	}
}

void live_run(const struct frame *f, int port, int n)
{
	struct xdp_md ctx = { .data_end = f->len,
			      .ingress_ifindex = w.ifindex[port] };
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = f->b,
		    .data_size_in = f->len, .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx), .repeat = n,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	must(bpf_prog_test_run_opts(w.xdp, &o), "live run");
}

/* A tag that the kernel took out of the frame, back into it. */
static void put_tag(struct frame *f, const struct tpacket_auxdata *aux)
{
	uint16_t tag[2] = { htons(aux->tp_vlan_tpid),
			    htons(aux->tp_vlan_tci) };

	memmove(f->b + 16, f->b + 12, f->len - 12);
	memcpy(f->b + 12, tag, 4);
	f->len += 4;
}

/* One frame, if it is ours and came in. */
static bool receive(struct frame *f, int port)
{
	struct sockaddr_ll from;
	char control[128];
	struct iovec iov = { f->b, FRAME_MAX - 4 };
	struct msghdr msg = { .msg_name = &from,
			      .msg_namelen = sizeof(from),
			      .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct tpacket_auxdata aux = {};
	struct cmsghdr *c;

	f->len = recvmsg(caught[port], &msg, MSG_DONTWAIT);
	if (f->len < 0 || from.sll_pkttype == PACKET_OUTGOING)
		return false;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_PACKET &&
		    c->cmsg_type == PACKET_AUXDATA)
			memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	if (aux.tp_status & TP_STATUS_VLAN_VALID)
		put_tag(f, &aux);
	offloaded = aux.tp_status & TP_STATUS_CSUMNOTREADY;
	return frame_parse(f);
}

static bool readable(int port, int ms)
{
	struct pollfd p = { .fd = caught[port], .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

bool live_catch(struct frame *f, int port)
{
	while (readable(port, 1000))
		if (receive(f, port))
			return true;
	return false;
}

bool live_quiet(int port)
{
	struct frame f;

	while (readable(port, 0))
		if (receive(&f, port))
			return false;
	return true;
}

void live_flush(void)
{
	for (int i = 0; i < PORTS; i++)
		while (!live_quiet(i))
			;
}

bool live_was_offloaded(void)
{
	return offloaded;
}
