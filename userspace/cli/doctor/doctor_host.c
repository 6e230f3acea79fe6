// SPDX-License-Identifier: BSD-2-Clause
/* trib doctor: checks tribd, and the kernel for its needs. */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/object/ndn.h"
#include "uapi/trib_maps.h"
#include "doctor.h"

#define PIN_ROOT "/sys/fs/bpf"

static int fetch_lists(struct doctor *d)
{
	struct cli *c = d->c;
	int err;

	err = cli_fetch_all(c, TRIB_CMD_FACE_GET, TRIB_A_FACE, &d->faces);
	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_JOB_GET, TRIB_A_JOB, &d->jobs);
	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_TREE_GET, TRIB_A_TREE, &d->trees);
	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_STATS_GET, TRIB_A_STAT, &d->stats);
	if (!err)
		err = ndn_look(c, &d->ndn);
	return err;
}

void doctor_tribd(struct doctor *d)
{
	struct cli *c = d->c;
	struct nl_msg *msg = cli_message(c, TRIB_CMD_STATUS_GET, 0);
	json_t *list;
	pid_t pid;
	uid_t uid;

	if (!msg || cli_fetch(c, msg, TRIB_A_STATUS, &list)) {
		/*
		 * A worker's host may have no tribd; the path can be checked.
		 */
		doctor_note(d, d->peer ? DOCTOR_WARN : DOCTOR_FAIL, "tribd", "",
			    "start tribd in this network namespace", "%s", c->error);
		c->error[0] = '\0';
		return;
	}
	d->status = json_incref(json_array_get(list, 0));
	json_decref(list);
	if (fetch_lists(d)) {
		doctor_note(d, DOCTOR_FAIL, "tribd", "", NULL, "answers badly: %s", c->error);
		c->error[0] = '\0';
		json_decref(d->status);
		d->status = NULL;
		return;
	}
	client_peer(c->client, &pid, &uid);
	doctor_note(d, DOCTOR_OK, "tribd", "", NULL, "%s, pid %u, uid %u, %u values per chunk",
		    jstr(d->status, "version"), (unsigned int)jnum(d->status, "pid"),
		    (unsigned int)uid, (unsigned int)jnum(d->status, "nval"));
	if (strcmp(jstr(d->status, "version"), TRIB_VERSION))
		doctor_note(d, DOCTOR_WARN, "version", "", "restart tribd after an update",
			    "trib is %s, tribd is %s", TRIB_VERSION, jstr(d->status, "version"));
	if (jnum(d->status, "abi") != TRIB_MAPS_ABI)
		doctor_note(d, DOCTOR_WARN, "version", "abi", "restart tribd after an update",
			    "trib knows maps of ABI %u, tribd has %u", TRIB_MAPS_ABI,
			    (unsigned int)jnum(d->status, "abi"));
}

static void check_kernel(struct doctor *d)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	if (uname(&u))
		return;
	if (sscanf(u.release, "%u.%u", &major, &minor) != 2 || major < 6 ||
	    (major == 6 && minor < 1))
		doctor_note(d, DOCTOR_FAIL, "kernel", "", "use Linux 6.1 or newer", "%s is too old",
			    u.release);
	else
		doctor_note(d, DOCTOR_OK, "kernel", "", NULL, "%s", u.release);
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		doctor_note(d, DOCTOR_FAIL, "btf", "", "use a kernel with CONFIG_DEBUG_INFO_BTF=y",
			    "/sys/kernel/btf/vmlinux: %s", strerror(errno));
	else
		doctor_note(d, DOCTOR_OK, "btf", "", NULL, "/sys/kernel/btf/vmlinux is there");
}

static void check_jit(struct doctor *d)
{
	FILE *f = fopen("/proc/sys/net/core/bpf_jit_enable", "re");
	int on = -1;

	/* Only root in the initial network namespace can read it. */
	if (!f)
		return;
	if (fscanf(f, "%d", &on) == 1 && on == 0)
		doctor_note(d, DOCTOR_FAIL, "jit", "", "sysctl net.core.bpf_jit_enable=1",
			    "BPF programs are interpreted: ten times slower");
	else if (on > 0)
		doctor_note(d, DOCTOR_OK, "jit", "", NULL, "BPF programs are compiled");
	fclose(f);
}

static void check_bpffs(struct doctor *d)
{
	const char *path;
	struct statfs fs;
	struct stat st;

	if (statfs(PIN_ROOT, &fs) || fs.f_type != BPF_FS_MAGIC) {
		/* A new mount namespace has its own sysfs, without bpffs. */
		doctor_note(d, DOCTOR_WARN, "bpffs", "",
			    "mount -t bpf bpf " PIN_ROOT
			    "; or enter the namespace by nsenter --net, not by ip netns exec",
			    "not mounted at " PIN_ROOT " as seen from here");
		return;
	}
	if (!d->status || geteuid()) {
		doctor_note(d, DOCTOR_OK, "bpffs", "", NULL, "mounted at " PIN_ROOT);
		return;
	}
	path = jstr(d->status, "instance");
	if (stat(path, &st))
		doctor_note(d, DOCTOR_WARN, "bpffs", "",
			    "restart tribd: with its pins gone, a restart stops traffic",
			    "%s: %s, as seen from here", path, strerror(errno));
	else
		doctor_note(d, DOCTOR_OK, "bpffs", "", NULL, "tribd's maps are pinned in %s", path);
}

/* Read a limit of tribd's memory cgroup, "max" or bytes; false if unknown. */
static bool cgroup_limit(pid_t pid, char *out, size_t size)
{
	char path[64], line[512], file[600];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::", 3))
			continue;
		snprintf(file, sizeof(file), "/sys/fs/cgroup%s/memory.max", line + 3);
		found = true;
	}
	if (f)
		fclose(f);
	f = found ? fopen(file, "re") : NULL;
	if (!f)
		return false;
	found = fgets(out, (int)size, f);
	out[found ? strcspn(out, "\n") : 0] = '\0';
	fclose(f);
	return found;
}

/* Since 5.11 BPF memory counts against the cgroup, not RLIMIT_MEMLOCK. */
static void check_memory(struct doctor *d)
{
	unsigned long long need, max;
	char limit[64];

	if (!d->status)
		return;
	need = jnum(d->status, "slots") * (64 + jnum(d->status, "nval") * 4);
	if (!cgroup_limit((pid_t)jnum(d->status, "pid"), limit, sizeof(limit)) ||
	    !strcmp(limit, "max")) {
		doctor_note(d, DOCTOR_OK, "memlock", "", NULL,
			    "no limit on BPF memory (slots take %.1f MB)", (double)need / 1e6);
		return;
	}
	max = strtoull(limit, NULL, 10);
	doctor_note(d, max < 2 * need ? DOCTOR_WARN : DOCTOR_OK, "memlock", "",
		    max < 2 * need ? "raise MemoryMax of tribd's unit" : NULL,
		    "tribd's cgroup may use %.1f MB; slots take %.1f MB", (double)max / 1e6,
		    (double)need / 1e6);
}

static void check_module(struct doctor *d)
{
	bool loaded = !access("/sys/module/trib", F_OK);

	if (!d->status)
		return;
	if (jbool(d->status, "module"))
		doctor_note(d, DOCTOR_OK, "module", "", NULL,
			    "trib.ko is loaded and its kfuncs are in use");
	else if (loaded)
		doctor_note(d, DOCTOR_WARN, "module", "",
			    "restart tribd: it looks for kfuncs when it loads its programs",
			    "trib.ko is loaded but tribd does not use it");
	else
		doctor_note(d, DOCTOR_OK, "module", "", NULL,
			    "trib.ko is not loaded: block floating point is used instead");
}

void doctor_host(struct doctor *d)
{
	check_kernel(d);
	check_jit(d);
	check_bpffs(d);
	check_memory(d);
	check_module(d);
}
