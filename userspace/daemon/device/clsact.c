// SPDX-License-Identifier: BSD-2-Clause
/*
 * The clsact filters that run trib_grow and, behind it, ndn_grow. Filters, not
 * TCX links: kernel 6.1 has none. Filters stay when tribd ends, as the pinned
 * links do.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/load/bpf_load.h"
#include "clsact.h"
#include "rtnl.h"

static bool filter_is_ours(uint32_t prog_id)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(prog_id);
	bool ours;

	if (fd < 0)
		return false;
	ours = !bpf_obj_get_info_by_fd(fd, &info, &len) &&
	       !strncmp(info.name, prog_name[PROG_GROW], sizeof(info.name));
	close(fd);
	return ours;
}

/*
 * The filter of the NDN forwarder. Without --ndn, remove that of a former
 * tribd.
 */
static int ndn_filter(struct tribd *d, const struct bpf_tc_hook *hook)
{
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = CLSACT_HANDLE, .priority = CLSACT_PRIORITY_NDN);

	if (!d->ndn_grow) {
		bpf_tc_detach(hook, &opts);
		return 0;
	}
	opts.flags = BPF_TC_F_REPLACE;
	opts.prog_fd = d->ndn_grow;
	return bpf_tc_attach(hook, &opts);
}

int clsact_attach(struct tribd *d, struct port *p)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)p->ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = CLSACT_HANDLE, .priority = CLSACT_PRIORITY,
		    .flags = BPF_TC_F_REPLACE, .prog_fd = d->prog[PROG_GROW]);
	int err = bpf_tc_hook_create(&hook);

	if (!err)
		p->clsact_ours = true;
	else if (err != -EEXIST)
		return err;
	err = bpf_tc_attach(&hook, &opts);
	p->clsact = !err;
	return err ? err : ndn_filter(d, &hook);
}

static bool filter_is(const struct port *p, uint32_t priority, int prog)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)p->ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = CLSACT_HANDLE, .priority = priority);

	return !bpf_tc_query(&hook, &opts) && opts.prog_id == bpf_prog_id(prog);
}

unsigned int clsact_lacks(struct tribd *d, const struct port *p)
{
	unsigned int lacks = 0;

	if (!filter_is(p, CLSACT_PRIORITY, d->prog[PROG_GROW]))
		lacks |= PORT_LACKS_GROW;
	if (d->ndn_grow && !filter_is(p, CLSACT_PRIORITY_NDN, d->ndn_grow))
		lacks |= PORT_LACKS_NDN;
	return lacks;
}

static void filter_remove(struct tribd *d, uint32_t ifindex, bool qdisc)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = CLSACT_HANDLE, .priority = CLSACT_PRIORITY);
	LIBBPF_OPTS(bpf_tc_opts, ndn, .handle = CLSACT_HANDLE, .priority = CLSACT_PRIORITY_NDN);

	bpf_tc_detach(&hook, &opts);
	bpf_tc_detach(&hook, &ndn);
	if (!qdisc || rtnl_clsact_used(d, ifindex))
		return;
	hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
	bpf_tc_hook_destroy(&hook);
}

void clsact_detach(struct tribd *d, struct port *p)
{
	if (p->clsact)
		filter_remove(d, p->ifindex, p->clsact_ours);
	p->clsact = p->clsact_ours = false;
}

void clsact_purge(struct tribd *d, uint32_t ifindex, const char *ifname)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = CLSACT_HANDLE, .priority = CLSACT_PRIORITY);

	if (bpf_tc_query(&hook, &opts) || !filter_is_ours(opts.prog_id))
		return;
	/*
	 * An empty clsact qdisc does nothing, so it may go even if another
	 * program made it.
	 */
	filter_remove(d, ifindex, true);
	log_info("%s: clsact filter removed", ifname);
}
