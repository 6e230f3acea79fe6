// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib_xdp passes NDN packets, and no others, to the NDN forwarder if it is loaded.
 */
#include <linux/bpf.h>
#include <string.h>
#include "ndn_world.h"
#include "tests/lib/tap.h"
#include "tests/bpf/world/world.h"

static struct nframe f;

static int run_trib(int face)
{
	static uint8_t out[NFRAME_MAX];
	struct xdp_md ctx = {
		.data_end = f.len,
		.ingress_ifindex = nw.ifindex[ndn_port_of(face)],
	};
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = f.b, .data_size_in = f.len, .data_out = out,
		    .data_size_out = sizeof(out), .ctx_in = &ctx, .ctx_size_in = sizeof(ctx));

	if (bpf_prog_test_run_opts(w.xdp, &o))
		return -1;
	memcpy(f.b, out, o.data_size_out);
	f.len = o.data_size_out;
	return o.retval;
}

static int ask(int kind)
{
	struct ask a = {.name = "/ps/x", .life = 4000};
	uint8_t ndn[NFRAME_MAX];
	int n;

	ndn_reset(kind);
	n = ndn_make_interest(ndn, &a);
	nframe_from(&f, H1, ndn, n);
	return run_trib(H1);
}

static int hook(const char *name)
{
	return bpf_object__find_map_fd_by_name(w.obj, name);
}

static void ndn__is_the_hosts_without_forwarder(void)
{
	expect_eq(ask(K_V4), XDP_PASS);
	expect_eq(ask(K_ETHER | K_VLAN), XDP_PASS);
	expect_eq(ndn_stat(NDN_STAT_RX_INTEREST), 0);
}

static void ndn__reaches_the_forwarder(void)
{
	static const int kinds[] = {K_V4,	   K_V6,	  K_ETHER,
				    K_V4 | K_VLAN, K_V6 | K_VLAN, K_ETHER | K_VLAN};

	expect(!bpf_map_update_elem(hook("ndn_in"), &(int){0}, &nw.xdp, 0));
	expect(!bpf_map_update_elem(hook("ndn_leave"), &(int){0}, &nw.egress, 0));
	for (int i = 0; i < 6; i++) {
		expect_eq(ask(kinds[i]), XDP_REDIRECT);
		expect(nframe_is_for(&f, UP));
		expect_eq(ndn_stat(NDN_STAT_RX_INTEREST), 1);
	}
}

int main(void)
{
	world_open(352);
	ndn_open();
	run(ndn__is_the_hosts_without_forwarder);
	run(ndn__reaches_the_forwarder);
	return tap_done();
}
