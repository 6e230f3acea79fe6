// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lets hwloc read a machine. hwloc trusts its files: one that lies, about the CPUs of
 * an object or its place, may end the process, or make it write to standard error. So
 * a process of its own reads a file first; only if that is quiet does this one.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "topo_own.h"

#define PATIENCE_SECONDS 10

int peer_topo_load(hwloc_topology_t *hw, const char *text, size_t len)
{
	if (hwloc_topology_init(hw)) {
		*hw = NULL;
		return -ENOMEM;
	}
	/* The same machine for each process of it, wherever its CPUs are. */
	hwloc_topology_set_flags(*hw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	hwloc_topology_set_io_types_filter(*hw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	/* It asks an X server, which may not answer. */
	hwloc_topology_set_components(*hw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "gl");
	if (text && hwloc_topology_set_xmlbuffer(*hw, text, (int)len + 1))
		return -EINVAL;
	if (hwloc_topology_load(*hw))
		return errno == ENOMEM ? -ENOMEM : -EINVAL;
	return 0;
}

/* Use what peer_topo_open() will use, too; complaints go to @log. Does not return. */
static void child(const char *text, size_t len, int log)
{
	const struct rlimit no_core = {0};
	struct hwloc_distances_s *latency;
	hwloc_topology_t hw;
	sigset_t alarms;
	unsigned int n = 1;

	if (dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
		_exit(1);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	alarm(PATIENCE_SECONDS);
	if (peer_topo_load(&hw, text, len))
		_exit(1);
	hwloc_distances_get_by_name(hw, "NUMALatency", &n, &latency, 0);
	_exit(0);
}

/* Return: 0 if the child ended well and had nothing to say. */
static int wait_for(pid_t pid, int log)
{
	struct stat st;
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return -EINVAL;
	return fstat(log, &st) || st.st_size ? -EINVAL : 0;
}

int peer_topo_try(const char *text, size_t len)
{
	int log = memfd_create("hwloc", MFD_CLOEXEC), err;
	pid_t pid;

	if (log < 0)
		return -errno;
	pid = fork();
	if (!pid)
		child(text, len, log);
	err = pid < 0 ? -errno : wait_for(pid, log);
	close(log);
	return err;
}
