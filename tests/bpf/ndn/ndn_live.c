// SPDX-License-Identifier: BSD-2-Clause
/*
 * Live frames: they enter by the peers of the ports and leave as copies, or as
 * answers longer than their Interest.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include "ndn_world.h"
#include "tests/lib/tap.h"

#define JOB "/ps/job"

static int sock[NPORTS]; /* packet sockets at the peers */
static struct nframe f;
static uint8_t ndn[NFRAME_MAX];
static int ndn_len;

static void must(bool good, const char *what)
{
	if (good)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static void open_port(int i)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = nw.ifindex[i], .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = nw.grow);
	struct sockaddr_ll ll = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_ALL),
				 .sll_ifindex = nw.peer[i]};
	int one = 1;

	must(!bpf_tc_hook_create(&hook) && !bpf_tc_attach(&hook, &opts), "ndn_grow");
	bpf_xdp_detach(nw.ifindex[i], 0, NULL);
	must(!bpf_xdp_attach(nw.ifindex[i], nw.xdp, XDP_FLAGS_DRV_MODE, NULL), "ndn_xdp");
	/* A peer without an XDP program drops redirected frames. */
	must(!bpf_xdp_attach(nw.peer[i], nw.pass, XDP_FLAGS_DRV_MODE, NULL), "ndn_pass");
	sock[i] = socket(AF_PACKET, SOCK_RAW, 0);
	must(sock[i] >= 0 && !bind(sock[i], (void *)&ll, sizeof(ll)) &&
		     !setsockopt(sock[i], SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)),
	     "packet socket");
}

/* Put the VLAN tag that the kernel removed back into the frame. */
static void put_tag(struct msghdr *msg)
{
	struct tpacket_auxdata aux = {};
	struct cmsghdr *c;
	uint16_t tag[2];

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA)
			memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
		return;
	tag[0] = htons(ETH_P_8021Q);
	tag[1] = htons(aux.tp_vlan_tci);
	memmove(f.b + 16, f.b + 12, f.len - 12);
	memcpy(f.b + 12, tag, 4);
	f.len += 4;
}

/* Receive the next frame at the peer of @port within @ms. */
static bool catch_at(int port, int ms)
{
	struct pollfd p = {.fd = sock[port], .events = POLLIN};
	struct sockaddr_ll from;
	char control[128];
	struct iovec iov = {f.b, NFRAME_MAX - 4};
	struct msghdr msg;

	while (poll(&p, 1, ms) == 1) {
		msg = (struct msghdr){.msg_name = &from,
				      .msg_namelen = sizeof(from),
				      .msg_iov = &iov,
				      .msg_iovlen = 1,
				      .msg_control = control,
				      .msg_controllen = sizeof(control)};
		f.len = recvmsg(p.fd, &msg, MSG_DONTWAIT);
		if (f.len < 14 || from.sll_pkttype == PACKET_OUTGOING)
			continue;
		put_tag(&msg);
		return true;
	}
	return false;
}

static void flush(void)
{
	for (int i = 0; i < NPORTS; i++)
		while (catch_at(i, 0))
			;
}

static void start(int kind)
{
	flush();
	ndn_reset(kind);
}

static void put_in(int face)
{
	nframe_from(&f, face, ndn, ndn_len);
	must(send(sock[ndn_port_of(face)], f.b, f.len, 0) == f.len, "send");
}

static void interest(int face, const char *name, int pad)
{
	struct ask a = {.name = name, .life = 4000, .pad = pad};

	ndn_len = ndn_make_interest(ndn, &a);
	put_in(face);
}

static void data(const char *name, int content)
{
	ndn_len = ndn_make_data(ndn, name, content);
	put_in(UP);
}

/* Expect the Data that was built last at @face. */
static void expect_at(int face)
{
	if (!expect(catch_at(ndn_port_of(face), 1000)))
		return;
	expect(nframe_is_for(&f, face));
	expect_eq(f.n, ndn_len);
	expect(!memcmp(f.b + f.off, ndn, ndn_len));
}

/* Subscribe the faces and expect acknowledgements. */
static void subscribe(const int *faces, int n)
{
	for (int i = 0; i < n; i++) {
		interest(faces[i], "/insert" JOB, 0);
		expect(catch_at(ndn_port_of(UP), 1000));
	}
	data("/distribute" JOB, 0);
	for (int i = 0; i < n; i++)
		expect_at(faces[i]);
}

static const int hosts[] = {H1, H2, H3};
static const int sharing[] = {H1, H3, EXTRA};

/* Copies made by the devmap program, for faces of @kind. */
static void check_copies(int kind)
{
	start(kind);
	subscribe(hosts, 3);
	data("/distribute" JOB "/v=1/seg=0", 1000);
	for (int i = 0; i < 3; i++)
		expect_at(hosts[i]);
	expect(!catch_at(ndn_port_of(UP), 0));
	expect_eq(ndn_stat(NDN_STAT_TX_SLOW), 0);
	/* The acknowledgement and the segment. */
	expect_eq(ndn_stat(NDN_STAT_TX_COPY), 6);
	expect_eq(ndn_the_drop(), -1);
}

static void copies__v4(void)
{
	check_copies(K_V4);
}

static void copies__v6(void)
{
	check_copies(K_V6);
}

static void copies__ether_with_tag(void)
{
	check_copies(K_ETHER | K_VLAN);
}

/* Copies made by the clsact program: two faces behind one port. */
static void check_sharing(int kind)
{
	start(kind);
	subscribe(sharing, 3);
	data("/distribute" JOB "/v=1/seg=0", 1001);
	for (int i = 0; i < 3; i++)
		expect_at(sharing[i]);
	expect_eq(ndn_stat(NDN_STAT_TX_SLOW), 6);
	expect_eq(ndn_the_drop(), -1);
}

static void sharing__v4(void)
{
	check_sharing(K_V4);
}

static void sharing__v6_with_tag(void)
{
	check_sharing(K_V6 | K_VLAN);
}

static void sharing__ether(void)
{
	check_sharing(K_ETHER);
}

static void generic__port_is_sent_to_by_clsact(void)
{
	start(K_V4);
	nw.config.generic[0] = 1 << H2;
	ndn_configure();
	subscribe(hosts, 2);
	data("/distribute" JOB "/v=1/seg=0", 1000);
	expect_at(H1);
	expect_at(H2);
	expect_eq(ndn_stat(NDN_STAT_TX_SLOW), 4);
}

/* Answers that are longer than their Interest. */
static void check_growth(int kind)
{
	start(kind);
	subscribe(hosts, 1);
	interest(H2, "/insert" JOB, 0);
	ndn_len = ndn_make_data(ndn, "/distribute" JOB, 0);
	expect_at(H2);
	data("/distribute" JOB "/v=1/seg=0", 1400);
	expect_at(H1);
	expect_at(H2);
	interest(H3, "/distribute" JOB "/v=1/seg=0", 0);
	ndn_len = ndn_make_data(ndn, "/distribute" JOB "/v=1/seg=0", 1400);
	expect_at(H3);
	expect_eq(ndn_stat(NDN_STAT_TX_SLOW), 2);
	expect_eq(ndn_the_drop(), -1);
}

static void answers__grow_v4(void)
{
	check_growth(K_V4);
}

static void answers__grow_v6_with_tag(void)
{
	check_growth(K_V6 | K_VLAN);
}

/*
 * The number of a flight that a stranger guessed, in a frame that XDP did not see:
 * ndn_grow lets it pass.
 */
static void forged__mark_is_no_order(void)
{
	uint8_t out[NFRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = f.b, .data_out = out,
		    .data_size_out = sizeof(out));
	uint64_t sent;

	start(K_V4);
	subscribe(sharing, 3);
	sent = ndn_stat(NDN_STAT_TX_SLOW);
	expect(sent > 0);
	ndn_len = ndn_make_data(ndn, "/distribute" JOB "/v=9/seg=0", 100);
	nframe_from(&f, UP, ndn, ndn_len);
	for (uint32_t tick = 0; tick < 64; tick++)
		for (uint32_t cpu = 0; cpu < 4; cpu++) {
			uint32_t place = cpu * NDN_FLIGHTS + tick;

			memcpy(f.b, &tick, 4);
			memcpy(f.b + 4, (uint8_t[]){0, 0, 3, 0x6e}, 4);
			memcpy(f.b + 8, &place, 4);
			o.data_size_in = f.len;
			o.data_size_out = sizeof(out);
			expect(!bpf_prog_test_run_opts(nw.grow, &o));
			expect_eq((int)o.retval, TC_ACT_UNSPEC);
		}
	expect_eq(ndn_stat(NDN_STAT_TX_SLOW), sent);
	expect_eq(ndn_the_drop(), -1);
}

/* In generic mode metadata takes another way through the kernel. */
static void answers__grow_in_generic_mode(void)
{
	for (int i = 0; i < NPORTS; i++) {
		bpf_xdp_detach(nw.ifindex[i], XDP_FLAGS_DRV_MODE, NULL);
		must(!bpf_xdp_attach(nw.ifindex[i], nw.xdp, XDP_FLAGS_SKB_MODE, NULL), "ndn_xdp");
	}
	check_sharing(K_V4);
	check_sharing(K_V6 | K_VLAN);
	check_sharing(K_ETHER | K_VLAN);
}

int main(void)
{
	ndn_open();
	for (int i = 0; i < NPORTS; i++)
		open_port(i);
	run(copies__v4);
	run(copies__v6);
	run(copies__ether_with_tag);
	run(sharing__v4);
	run(sharing__v6_with_tag);
	run(sharing__ether);
	run(generic__port_is_sent_to_by_clsact);
	run(answers__grow_v4);
	run(answers__grow_v6_with_tag);
	run(forged__mark_is_no_order);
	run(answers__grow_in_generic_mode);
	return tap_done();
}
