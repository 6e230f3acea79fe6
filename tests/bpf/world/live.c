// SPDX-License-Identifier: BSD-2-Clause
/*
 * Attaching, sending and catching.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "live.h"
#include "ports.h"

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
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = ifindex};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), one = 1;

	must(fd, "packet socket");
	must(setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)), "PACKET_AUXDATA");
	must(bind(fd, (void *)&ll, sizeof(ll)), "bind of packet socket");
	return fd;
}

static void attach_grow(int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = w.grow);

	must(bpf_tc_hook_create(&hook), "clsact");
	must(bpf_tc_attach(&hook, &opts), "trib_grow");
}

void live_mode(bool generic)
{
	int now = generic ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
	int next = generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;

	for (int i = 0; i < PORTS; i++) {
		must(bpf_xdp_detach(w.ifindex[i], now, NULL), "detaching trib_xdp");
		must(bpf_xdp_attach(w.ifindex[i], w.xdp, next, NULL), "trib_xdp");
	}
}

void live_relay_behind(int port)
{
	attach_grow(w.peer_ifindex[port]);
}

int live_listen(int port)
{
	return packet_socket(w.ifindex[port]);
}

void live_open(void)
{
	for (int i = 0; i < PORTS; i++) {
		attach_grow(w.ifindex[i]);
		must(bpf_xdp_attach(w.ifindex[i], w.xdp, XDP_FLAGS_DRV_MODE, NULL), "trib_xdp");
		must(bpf_xdp_attach(w.peer_ifindex[i], w.pass, XDP_FLAGS_DRV_MODE, NULL),
		     "trib_pass");
		caught[i] = packet_socket(w.peer_ifindex[i]);
	}
	/* Port 2 leads to a worker's host: it needs addresses. */
	command("ip link set q2 address 02:00:00:00:02:0c && "
		"ip addr add 10.9.2.12/24 dev q2 && "
		"ip neigh add 10.9.2.1 lladdr 02:00:00:00:02:01 dev q2");
}

void live_send(const struct frame *f, int port)
{
	must(send(caught[port], f->b, f->len, 0), "send of a frame");
}

void live_send_train(const struct frame *f, int n)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(TRIB_UDP_PORT)};
	int len = f->len - f->h, fd = socket(AF_INET, SOCK_DGRAM, 0);
	int tos = 0xba;
	struct addr us = ourselves(ROOT, 2);
	static uint8_t train[65536];

	memcpy(&to.sin_addr, us.ip + 12, 4);
	must(fd, "socket");
	for (int i = 0; i < n; i++)
		memcpy(train + i * len, f[i].b + f[i].h, len);
	must(setsockopt(fd, SOL_UDP, UDP_SEGMENT, &len, sizeof(len)), "UDP_SEGMENT");
	must(setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)), "IP_TOS");
	must(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "q2", 3), "SO_BINDTODEVICE");
	must(sendto(fd, train, n * len, 0, (void *)&to, sizeof(to)), "sendto");
	close(fd);
}

/* Put a tag that the kernel took out of the frame back into it. */
static void put_tag(struct frame *f, const struct tpacket_auxdata *aux)
{
	uint16_t tag[2] = {htons(aux->tp_vlan_tpid), htons(aux->tp_vlan_tci)};

	memmove(f->b + 16, f->b + 12, f->len - 12);
	memcpy(f->b + 12, tag, 4);
	f->len += 4;
}

/* Receive one frame; skip outgoing ones and those of other protocols. */
static bool receive(struct frame *f, int port)
{
	struct sockaddr_ll from;
	char control[128];
	struct iovec iov = {f->b, FRAME_MAX - 4};
	struct msghdr msg = {.msg_name = &from,
			     .msg_namelen = sizeof(from),
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct tpacket_auxdata aux = {};
	struct cmsghdr *c;

	f->len = recvmsg(caught[port], &msg, MSG_DONTWAIT);
	if (f->len < 0 || from.sll_pkttype == PACKET_OUTGOING)
		return false;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA)
			memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	if (aux.tp_status & TP_STATUS_VLAN_VALID)
		put_tag(f, &aux);
	offloaded = aux.tp_status & TP_STATUS_CSUMNOTREADY;
	return frame_parse(f);
}

static bool readable(int port, int ms)
{
	struct pollfd p = {.fd = caught[port], .events = POLLIN};

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
