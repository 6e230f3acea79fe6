// SPDX-License-Identifier: BSD-2-Clause
/*
 * userspace/peer/topo: leaders and reasons on machines from files of hwloc, which
 * topo/machines.py writes; drivers from folders that stand for a machine's own.
 */
#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer/topo/topo.h"
#include "tests/lib/tap.h"

#define FOLDER "tests/unit/peer/topo/"

static char why[512];

static struct peer_topo *open_with(const char *name, struct peer_topo_conf conf)
{
	struct peer_topo *t = NULL;
	char path[256];

	snprintf(path, sizeof(path), FOLDER "%s.xml", name);
	conf.xml = path;
	if (peer_topo_open(&t, &conf, why, sizeof(why))) {
		printf("# %s: %s\n", name, why);
		expect(t);
	}
	return t;
}

static struct peer_topo *open_machine(const char *name)
{
	return open_with(name, (struct peer_topo_conf){0});
}

/* The leader for a NIC among @procs; its reason has to be exactly @reason. */
static void leads(const struct peer_topo *t, const char *nic, const struct peer_topo_proc *procs,
		  unsigned int nproc, int gpu, unsigned int proc, const char *reason)
{
	struct peer_topo_leader l;
	int n = t ? peer_topo_find_nic(t, nic) : -1;

	if (!expect(n >= 0) || !expect(!peer_topo_leader(t, (unsigned int)n, procs, nproc, &l)))
		return;
	expect_eq(l.gpu, gpu);
	expect_eq(l.proc, proc);
	if (gpu >= 0)
		expect_eq(l.direct, peer_topo_pair(t, (unsigned int)n, (unsigned int)gpu)->direct);
	if (!expect(!strcmp(l.reason, reason)))
		printf("# %s\n# %s\n", l.reason, reason);
}

static const struct peer_topo_pair *pair(const struct peer_topo *t, const char *nic,
					 unsigned int gpu)
{
	int n = peer_topo_find_nic(t, nic);

	return n < 0 ? NULL : peer_topo_pair(t, (unsigned int)n, gpu);
}

static void dgx__each_nic_has_the_gpu_of_its_switch(void)
{
	struct peer_topo *t = open_machine("dgx");
	char nic[16], reason[128];
	unsigned int i;

	expect_eq(peer_topo_ngpu(t), 8);
	expect_eq(peer_topo_nnic(t), 8);
	expect_eq(peer_topo_packages(t), 2);
	expect_eq(peer_topo_nodes(t), 2);
	for (i = 0; i < 8; i++) {
		snprintf(nic, sizeof(nic), "ib%u", i);
		snprintf(reason, sizeof(reason),
			 "only GPU %u has direct access to ib%u: same PCI switch", i, i);
		leads(t, nic, NULL, 0, (int)i, 0, reason);
	}
	expect_eq(pair(t, "ib0", 0)->near, PEER_TOPO_SWITCH);
	expect_eq(pair(t, "ib0", 0)->hops, 3);
	expect_eq(pair(t, "ib0", 3)->near, PEER_TOPO_NODE);
	expect_eq(pair(t, "ib0", 3)->latency, 0);
	expect_eq(pair(t, "ib0", 4)->near, PEER_TOPO_MACHINE);
	expect_eq(pair(t, "ib0", 4)->latency, 21);
	peer_topo_close(t);
}

/* Reach allows direct access from afar: the nearest still leads. */
static void dgx__reach_and_processes(void)
{
	static const struct peer_topo_proc procs[] = {{5, -1}, {4, -1}, {2, -1}, {2, -1}};
	struct peer_topo *t = open_with("dgx", (struct peer_topo_conf){.reach = PEER_TOPO_MACHINE});

	leads(t, "ib6", NULL, 0, 6, 0,
	      "of 8 GPUs with direct access to ib6 GPU 6 is the nearest: same PCI switch");
	leads(t, "mlx5_6", procs, 4, 4, 1,
	      "of 3 GPUs with direct access to ib6 GPU 4 is the nearest: same NUMA node, the"
	      " lowest index of 2 as near; local rank 1 uses it");
	leads(t, "0000:23:00.0", procs, 4, 2, 2,
	      "of 3 GPUs with direct access to ib2 GPU 2 is the nearest: same PCI switch;"
	      " local rank 2 uses it");
	peer_topo_close(t);
	t = open_machine("dgx");
	leads(t, "ib0", procs, 4, 2, 2,
	      "no GPU has direct access to ib0; GPU 2 is the nearest: same NUMA node; GPU 2:"
	      " same NUMA node is farther than same host bridge; local rank 2 uses it");
	leads(t, "ib5", procs, 1, 5, 0,
	      "GPU 5 is the only one, with direct access to ib5: same PCI switch; local rank 0"
	      " uses it");
	peer_topo_close(t);
}

static void dual__root_ports_of_a_host_bridge(void)
{
	struct peer_topo *t = open_machine("dual");

	/* The management chip's graphics is no GPU. */
	expect_eq(peer_topo_ngpu(t), 4);
	leads(t, "ens1f0", NULL, 0, 0, 0,
	      "of 2 GPUs with direct access to ens1f0 GPU 0 is the nearest: same host bridge, the"
	      " lowest index of 2 as near");
	expect_eq(pair(t, "ens1f0", 1)->near, PEER_TOPO_BRIDGE);
	expect_eq(pair(t, "ens1f0", 1)->hops, 3);
	expect(!pair(t, "ens1f0", 2)->direct);
	expect_eq(pair(t, "ens1f0", 2)->near, PEER_TOPO_MACHINE);
	expect_eq(peer_topo_find_gpu(t, "nvml2"), 2);
	expect_eq(peer_topo_find_gpu(t, "0000:04:00.0"), 1);
	expect_eq(peer_topo_find_gpu(t, "nvml"), -ENOENT);
	expect_eq(peer_topo_find_gpu(t, ""), -ENOENT);
	expect_eq(peer_topo_find_nic(t, "ens1"), -ENOENT);
	expect(!strcmp(peer_topo_gpu(t, 1)->device, "cuda1 nvml1"));
	expect(!strcmp(peer_topo_gpu(t, 1)->name, "A100-SXM4-40GB"));
	expect_eq(peer_topo_gpu(t, 3)->package, 1);
	peer_topo_close(t);
}

static void one_gpu__leads_without_direct_access(void)
{
	struct peer_topo *t = open_machine("one-gpu");

	leads(t, "enp3s0", NULL, 0, 0, 0,
	      "no GPU has direct access to enp3s0; GPU 0 is the only one: same host bridge; GPU 0:"
	      " enp3s0 cannot do RDMA: it has no OpenFabrics device");
	peer_topo_close(t);
}

static void no_gpu__processes_at_the_nic_lead(void)
{
	static const struct peer_topo_proc procs[] = {{-1, 0}, {-1, 1}, {-1, 1}, {-1, -1}};
	static const struct peer_topo_proc unbound[] = {{-1, -1}, {-1, -1}};
	struct peer_topo *t = open_machine("no-gpu");
	struct peer_topo_leader l;

	leads(t, "ens2f0", NULL, 0, -1, 0,
	      "the machine has no GPU: a process at NUMA node 1, where ens2f0 is, should lead");
	leads(t, "ens2f0", procs, 4, -1, 1,
	      "the machine has no GPU; local rank 1 is the nearest to ens2f0: same NUMA node, the"
	      " lowest of several");
	leads(t, "eno1", procs, 4, -1, 0,
	      "the machine has no GPU; local rank 0 is the nearest to eno1: same NUMA node");
	leads(t, "ens2f0", unbound, 2, -1, 0,
	      "the machine has no GPU, and none is nearer to ens2f0 than others: the lowest local"
	      " rank leads");
	expect(!peer_topo_leader(t, 1, procs + 1, 1, &l) && l.near == PEER_TOPO_NODE);
	peer_topo_close(t);
}

static void far_nic__the_nearest_without_any_direct(void)
{
	struct peer_topo *t = open_machine("far-nic");

	leads(t, "ens5", NULL, 0, 0, 0,
	      "no GPU has direct access to ens5; GPU 0 is the nearest: other socket, the lowest"
	      " index of 2 as near; GPU 0: other socket is farther than same host bridge");
	peer_topo_close(t);
	t = open_with("far-nic", (struct peer_topo_conf){.reach = PEER_TOPO_MACHINE});
	leads(t, "ens5", NULL, 0, 0, 0,
	      "of 2 GPUs with direct access to ens5 GPU 0 is the nearest: other socket, the lowest"
	      " index of 2 as near");
	peer_topo_close(t);
}

static void several__a_leader_for_each_nic(void)
{
	static const struct peer_topo_proc procs[] = {{2, -1}, {-1, 1}, {1, -1}};
	struct peer_topo *t = open_machine("several");

	leads(t, "eno1", NULL, 0, 0, 0,
	      "no GPU has direct access to eno1; GPU 0 is the nearest: same host bridge, the"
	      " lowest index of 2 as near; GPU 0: eno1 cannot do RDMA: it has no OpenFabrics"
	      " device");
	leads(t, "ens1", NULL, 0, 0, 0,
	      "of 2 GPUs with direct access to ens1 GPU 0 is the nearest: same PCI switch, the"
	      " lowest index of 2 as near");
	/* GPU 2 shares the outer switch, GPU 3 the inner one: fewer bridges. */
	leads(t, "ens2", NULL, 0, 3, 0,
	      "of 2 GPUs with direct access to ens2 GPU 3 is the nearest: same PCI switch");
	expect_eq(pair(t, "ens2", 2)->hops, 4);
	expect_eq(pair(t, "ens2", 3)->hops, 3);
	leads(t, "ens2", procs, 3, 2, 0,
	      "only GPU 2 has direct access to ens2: same PCI switch; local rank 0 uses it");
	leads(t, "ens1", procs, 3, 1, 2,
	      "only GPU 1 has direct access to ens1: same PCI switch; local rank 2 uses it");
	leads(t, "ens2", procs + 1, 1, -1, 0,
	      "no process uses a GPU, and none is nearer to ens2 than others: the lowest local"
	      " rank leads");
	peer_topo_close(t);
}

static void near_without__the_far_one_with_direct_access_leads(void)
{
	struct peer_topo *t = open_machine("near-without");

	leads(t, "ens1", NULL, 0, 1, 0,
	      "only GPU 1 has direct access to ens1: same host bridge; GPU 0 is nearer (same PCI"
	      " switch) but has none: a graphics card (PCI class VGA) does not export its memory");
	peer_topo_close(t);
	t = open_with("near-without", (struct peer_topo_conf){.reach = PEER_TOPO_SWITCH});
	leads(t, "ens1", NULL, 0, 0, 0,
	      "no GPU has direct access to ens1; GPU 0 is the nearest: same PCI switch; GPU 0: a"
	      " graphics card (PCI class VGA) does not export its memory");
	peer_topo_close(t);
}

static void amd__numa_nodes_of_a_socket(void)
{
	struct peer_topo *t = open_machine("amd");

	leads(t, "hsn0", NULL, 0, 1, 0, "only GPU 1 has direct access to hsn0: same host bridge");
	expect_eq(pair(t, "hsn0", 0)->near, PEER_TOPO_PACKAGE);
	expect_eq(pair(t, "hsn0", 0)->latency, 13);
	expect_eq(pair(t, "hsn0", 3)->latency, 14);
	peer_topo_close(t);
	/* Without the near one, latency decides. */
	t = open_with("amd", (struct peer_topo_conf){.reach = PEER_TOPO_PACKAGE});
	leads(t, "hsn0", (const struct peer_topo_proc[]){{0, -1}, {2, -1}}, 2, 0, 0,
	      "of 2 GPUs with direct access to hsn0 GPU 0 is the nearest: same socket, the lowest"
	      " index of 2 as near; local rank 0 uses it");
	leads(t, "ens7", (const struct peer_topo_proc[]){{0, -1}, {2, -1}}, 2, 2, 1,
	      "no GPU has direct access to ens7; GPU 2 is the nearest: same socket; GPU 2: ens7"
	      " cannot do RDMA: it has no OpenFabrics device; local rank 1 uses it");
	/* Processes on CPUs: the latency of their NUMA nodes. */
	leads(t, "ens7", (const struct peer_topo_proc[]){{-1, 0}, {-1, 1}}, 2, -1, 1,
	      "no process uses a GPU; local rank 1 is the nearest to ens7: same socket");
	peer_topo_close(t);
}

static void override__the_file_knows_better(void)
{
	struct peer_topo *t = open_machine("override");

	leads(t, "ens1", NULL, 0, 1, 0, "only GPU 1 has direct access to ens1: same host bridge");
	expect(!strcmp(pair(t, "ens1", 0)->why, "TribGPUDirect of the GPU says no"));
	leads(t, "ens2", NULL, 0, 1, 0, "only GPU 1 has direct access to ens2: same host bridge");
	leads(t, "ens3", NULL, 0, 0, 0,
	      "no GPU has direct access to ens3; GPU 0 is the nearest: same host bridge, the lowest"
	      " index of 2 as near; GPU 0: TribGPUDirect of ens3 says no");
	peer_topo_close(t);
}

static void direct__options_override_all(void)
{
	static const unsigned int one[] = {1}, none[] = {4};
	struct peer_topo_conf conf = {.direct = PEER_TOPO_LIST, .list = one, .nlist = 1};
	struct peer_topo *t =
		open_with("near-without", (struct peer_topo_conf){.direct = PEER_TOPO_ALL});

	leads(t, "ens1", NULL, 0, 0, 0,
	      "of 2 GPUs with direct access to ens1 GPU 0 is the nearest: same PCI switch");
	peer_topo_close(t);
	t = open_with("near-without", (struct peer_topo_conf){.direct = PEER_TOPO_NONE});
	leads(t, "ens1", NULL, 0, 0, 0,
	      "no GPU has direct access to ens1; GPU 0 is the nearest: same PCI switch; GPU 0: the"
	      " option says so");
	peer_topo_close(t);
	t = open_with("several", conf);
	leads(t, "ens2", NULL, 0, 1, 0,
	      "only GPU 1 has direct access to ens2: other socket; GPU 3 is nearer (same PCI"
	      " switch) but has none: the option says so");
	peer_topo_close(t);
	conf.list = none;
	conf.xml = FOLDER "several.xml";
	expect_eq(peer_topo_open(&t, &conf, why, sizeof(why)), -EINVAL);
	expect(!t && !strcmp(why, "no GPU 4: this machine has 4, numbered from 0"));
	conf = (struct peer_topo_conf){.reach = (enum peer_topo_near)9};
	expect_eq(peer_topo_open(&t, &conf, why, sizeof(why)), -EINVAL);
	conf = (struct peer_topo_conf){.direct = PEER_TOPO_ALL, .nlist = 1, .list = one};
	expect_eq(peer_topo_open(&t, &conf, why, sizeof(why)), -EINVAL);
}

static void unknown__places_are_never_near(void)
{
	struct peer_topo *t = open_machine("unknown");

	expect_eq(peer_topo_gpu(t, 0)->node, -1);
	expect_eq(peer_topo_gpu(t, 1)->node, 1);
	expect(!strcmp(peer_topo_nic(t, 0)->name, "mlx5_0") && peer_topo_nic(t, 0)->can_rdma);
	expect_eq(pair(t, "mlx5_0", 0)->near, PEER_TOPO_UNKNOWN);
	leads(t, "mlx5_0", NULL, 0, 0, 0,
	      "no GPU has direct access to mlx5_0; GPU 0 is the nearest: place unknown, the lowest"
	      " index of 2 as near; GPU 0: place unknown is farther than same host bridge");
	peer_topo_close(t);
}

static void leader__wrong_arguments(void)
{
	struct peer_topo *t = open_machine("dual");
	struct peer_topo_proc proc = {4, -1};
	struct peer_topo_leader l;

	expect_eq(peer_topo_leader(t, 1, NULL, 0, &l), -EINVAL);
	expect_eq(peer_topo_leader(t, 0, &proc, 1, &l), -EINVAL);
	proc.gpu = -2;
	expect_eq(peer_topo_leader(t, 0, &proc, 1, &l), -EINVAL);
	expect(!peer_topo_gpu(t, 4) && !peer_topo_nic(t, 1) && !peer_topo_pair(t, 0, 4) &&
	       !peer_topo_pair(t, 1, 0));
	expect(!strcmp(peer_topo_near_text((enum peer_topo_near)0), "?"));
	expect(!strcmp(peer_topo_near_text((enum peer_topo_near)77), "?"));
	peer_topo_close(t);
	peer_topo_close(NULL);
}

static void draw__bridges_that_join(void)
{
	static const char want[] =
		"Four GPUs and three NICs: 2 sockets, 2 NUMA nodes, 4 GPUs, 3 NICs\n"
		"socket 0, NUMA node 0\n"
		"└─ host bridge 0000:00-0f\n"
		"   ├─ NIC eno1  0000:01:00.0  no RDMA\n"
		"   └─ PCI switch 0000:00:15.0\n"
		"      ├─ PCI switch 0000:02:0e.0\n"
		"      │  ├─ GPU 0  0000:04:00.0  A100-SXM4-40GB  nvml0\n"
		"      │  └─ GPU 1  0000:05:00.0  A100-SXM4-40GB  nvml1\n"
		"      └─ NIC ens1  0000:06:00.0  mlx5_0\n"
		"socket 1, NUMA node 1\n"
		"└─ host bridge 0000:10-1f\n"
		"   └─ PCI switch 0000:10:07.0\n"
		"      ├─ GPU 2  0000:12:00.0  A100-SXM4-40GB  nvml2\n"
		"      └─ PCI switch 0000:11:05.0\n"
		"         ├─ GPU 3  0000:14:00.0  A100-SXM4-40GB  nvml3\n"
		"         └─ NIC ens2  0000:15:00.0  mlx5_1\n";
	struct peer_topo *t = open_machine("several");
	char *text = peer_topo_draw(t);

	if (!expect(text && !strcmp(text, want)))
		printf("%s", text);
	free(text);
	peer_topo_close(t);
}

/* A folder that stands for / of a machine. */
static char root[64];

static void put_root(const char *path, const char *text)
{
	char full[256], *at;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(full, 0700);
		*at = '/';
	}
	f = fopen(full, "w");
	if (!expect(f))
		return;
	fputs(text, f);
	fclose(f);
}

/* The drivers decide only about this machine, which hwloc can be told to be a file. */
static void live_leads(int gpu, const char *reason)
{
	struct peer_topo_conf conf = {.root = root};
	struct peer_topo *t = NULL;

	if (expect(!peer_topo_open(&t, &conf, why, sizeof(why))))
		leads(t, "ens1", NULL, 0, gpu, 0, reason);
	peer_topo_close(t);
}

static void live__drivers_let_nics_read_gpus(void)
{
	char cmd[128];

	strcpy(root, "/tmp/topo-root.XXXXXX");
	if (!expect(mkdtemp(root)))
		return;
	setenv("HWLOC_XMLFILE", FOLDER "near-without.xml", 1);
	live_leads(0,
		   "no GPU has direct access to ens1; GPU 0 is the nearest: same PCI switch; GPU 0:"
		   " a graphics card (PCI class VGA) does not export its memory");
	put_root("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module\n");
	put_root("sys/module/nvidia/x", "");
	live_leads(0,
		   "no GPU has direct access to ens1; GPU 0 is the nearest: same PCI switch; GPU 0:"
		   " a graphics card (PCI class VGA) does not export its memory");
	put_root("sys/module/nvidia_peermem/x", "");
	live_leads(1,
		   "only GPU 1 has direct access to ens1: same host bridge; GPU 0 is nearer (same"
		   " PCI switch) but has none: a graphics card (PCI class VGA) does not export its"
		   " memory");
	snprintf(cmd, sizeof(cmd), "rm -rf %s/sys", root);
	expect(!system(cmd));
	put_root("proc/driver/nvidia/version",
		 "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64\n");
	live_leads(1,
		   "only GPU 1 has direct access to ens1: same host bridge; GPU 0 is nearer (same"
		   " PCI switch) but has none: a graphics card (PCI class VGA) does not export its"
		   " memory");
	unsetenv("HWLOC_XMLFILE");
	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	expect(!system(cmd));
}

static void live__this_machine(void)
{
	struct peer_topo *t = NULL;
	char *text;

	if (!expect(!peer_topo_open(&t, NULL, why, sizeof(why))))
		return;
	text = peer_topo_draw(t);
	expect(peer_topo_nodes(t) >= 1 && text && *text);
	free(text);
	peer_topo_close(t);
}

/* hwloc's own file of this machine says the same as the machine. */
static void live__a_file_of_this_machine(void)
{
	char path[] = "/tmp/topo.XXXXXX", *text, *again;
	struct peer_topo_conf conf = {.xml = path};
	struct peer_topo *t = NULL;
	hwloc_topology_t hw;
	int fd = mkstemp(path);

	if (!expect(fd >= 0) || !expect(!hwloc_topology_init(&hw)))
		return;
	close(fd);
	hwloc_topology_set_io_types_filter(hw, HWLOC_TYPE_FILTER_KEEP_ALL);
	expect(!hwloc_topology_load(hw) && !hwloc_topology_export_xml(hw, path, 0));
	hwloc_topology_destroy(hw);
	if (!expect(!peer_topo_open(&t, &conf, why, sizeof(why))))
		printf("# %s\n", why);
	unlink(path);
	text = t ? peer_topo_draw(t) : NULL;
	peer_topo_close(t);
	expect(!peer_topo_open(&t, NULL, why, sizeof(why)));
	again = t ? peer_topo_draw(t) : NULL;
	expect(text && again && !strcmp(text, again));
	free(text);
	free(again);
	peer_topo_close(t);
}

/* The files are those that the script writes. */
static void machines__are_as_written(void)
{
	expect(!system("python3 " FOLDER "machines.py --check"));
}

int main(void)
{
	run(machines__are_as_written);
	run(dgx__each_nic_has_the_gpu_of_its_switch);
	run(dgx__reach_and_processes);
	run(dual__root_ports_of_a_host_bridge);
	run(one_gpu__leads_without_direct_access);
	run(no_gpu__processes_at_the_nic_lead);
	run(far_nic__the_nearest_without_any_direct);
	run(several__a_leader_for_each_nic);
	run(near_without__the_far_one_with_direct_access_leads);
	run(amd__numa_nodes_of_a_socket);
	run(override__the_file_knows_better);
	run(direct__options_override_all);
	run(unknown__places_are_never_near);
	run(leader__wrong_arguments);
	run(draw__bridges_that_join);
	run(live__drivers_let_nics_read_gpus);
	run(live__this_machine);
	run(live__a_file_of_this_machine);
	return tap_done();
}
