// SPDX-License-Identifier: BSD-2-Clause
/*
 * Identity of this tribd: the name of the instance (by network namespace unless
 * given), its folders in bpffs and under /run, and the lock that keeps a second
 * tribd out. Missing capabilities are reported before anything else fails.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/host/folder.h"
#include "base/host/holder.h"
#include "base/netns.h"
#include "base/text.h"
#include "instance.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

bool instance_name_ok(const char *name)
{
	size_t n = strlen(name);

	if (!n || n > 48)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '-' && *name != '_')
			return false;
	return true;
}

static int caps_check(void)
{
	static const struct {
		int cap;
		const char *name;
	} need[] = {
		{CAP_NET_ADMIN, "CAP_NET_ADMIN"},
		/* ids to descriptors of maps, and mounting bpffs */
		{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
		{CAP_BPF, "CAP_BPF"},
	};
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct c[2] = {};
	unsigned int i;

	if (syscall(SYS_capget, &h, c))
		return -errno;
	for (i = 0; i < sizeof(need) / sizeof(need[0]); i++) {
		int cap = need[i].cap;

		if (c[cap / 32].effective & (1U << cap % 32))
			continue;
		log_error(
			"lacks %s: run as root, or give the service CAP_NET_ADMIN, CAP_SYS_ADMIN and CAP_BPF",
			need[i].name);
		return -EPERM;
	}
	return 0;
}

static bool bpffs_here(void)
{
	struct statfs st;

	return !statfs(BPFFS, &st) && (uint32_t)st.f_type == (uint32_t)BPF_FS_MAGIC;
}

/* Enter the mount namespace of process @pid if that is another one. */
static bool mount_ns_enter(pid_t pid)
{
	struct stat own, other;
	char path[40];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (stat("/proc/self/ns/mnt", &own) || stat(path, &other) ||
	    (own.st_dev == other.st_dev && own.st_ino == other.st_ino))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	err = setns(fd, CLONE_NEWNS);
	close(fd);
	return !err;
}

/*
 * `ip netns exec` gives its child a mount namespace with a fresh /sys. A bpffs
 * mounted there dies with the process, and the pins with it. Use the bpffs of
 * the initial mount namespace, or that of the parent process.
 */
static int bpffs_open(const struct tribd *d)
{
	if (!bpffs_here() && (mount_ns_enter(1) || mount_ns_enter(getppid())))
		log_info("no bpffs in this mount namespace: uses that of the parent namespace");
	if (bpffs_here() || d->opt.check)
		return 0;
	if (mount("bpf", BPFFS, "bpf", 0, "mode=0755")) {
		int err = -errno;

		log_error("no bpffs at " BPFFS " and mounting it failed: %s", strerror(-err));
		return err;
	}
	log_info("mounted a bpffs at " BPFFS);
	return 0;
}

/*
 * A cookie is never used twice; an inode number is, once its namespace is gone.
 */
static int netns_identity(struct tribd *d, char *name, size_t size)
{
	socklen_t len = sizeof(d->netns_cookie);
	int fd, err = netns_name(name, size);

	if (err) {
		log_error("/proc/self/ns/net: %s", strerror(-err));
		return err;
	}

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &d->netns_cookie, &len)) {
		err = -errno;
		log_error(
			"the kernel has no namespace cookies (SO_NETNS_COOKIE: %s): use 5.14 or newer",
			strerror(-err));
		close(fd);
		return err;
	}
	close(fd);
	return 0;
}

/*
 * A purge removes the file; a lock on a removed file keeps no second tribd out.
 */
static bool lock_is_current(int fd, const char *path)
{
	struct stat held, named;

	return !fstat(fd, &held) && !stat(path, &named) && held.st_ino == named.st_ino &&
	       held.st_dev == named.st_dev;
}

/*
 * Whoever could open the file may lock it, also later: a file that others could
 * open, as tribd made it once, is replaced by another one.
 */
static bool lock_is_private(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && !st.st_uid && !(st.st_mode & 077);
}

/* Does a tribd of root's have the lock, as the file says? */
static bool lock_has_tribd(int fd, struct holder *h)
{
	char text[16] = "";
	uint64_t pid;

	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return !text_number(text, 1, INT32_MAX, &pid) && holder_process((pid_t)pid, h) &&
	       h->is_root && !strcmp(h->comm, "tribd");
}

/* Return: 0 if the lock was taken; -EAGAIN to open it again; or another -errno. */
static int lock_try(struct tribd *d, const char *path)
{
	bool locked = !flock(d->lock_fd, LOCK_EX | LOCK_NB);
	struct holder h = {};

	if (!locked && errno != EWOULDBLOCK) {
		log_error("%s: %s", path, strerror(errno));
		return -errno;
	}
	if (!locked && (lock_has_tribd(d->lock_fd, &h) || lock_is_private(d->lock_fd))) {
		log_error(
			"instance %s is already run by process %d: stop that, or choose another --instance",
			d->instance, (int)h.pid);
		return -EBUSY;
	}
	if (!lock_is_private(d->lock_fd)) {
		log_warn("%s can be locked by others%s: replaced", path, locked ? "" : ", and is");
		(void)unlink(path);
		return -EAGAIN;
	}
	return lock_is_current(d->lock_fd, path) ? 0 : -EAGAIN;
}

static int lock_take(struct tribd *d)
{
	char path[160];
	int err;

	snprintf(path, sizeof(path), "%s/lock", d->run_dir);
	do {
		instance_close(d);
		d->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (d->lock_fd < 0) {
			err = -errno;
			log_error("%s: %s", path, strerror(-err));
			return err;
		}
		err = lock_try(d, path);
	} while (err == -EAGAIN);
	if (err) {
		instance_close(d);
		return err;
	}
	/*
	 * The process id is for people who read the file; the lock is what
	 * counts.
	 */
	if (ftruncate(d->lock_fd, 0) || dprintf(d->lock_fd, "%d\n", getpid()) < 0)
		log_warn("%s: %s", path, strerror(errno));
	return 0;
}

/*
 * Folders that somebody else made may hold anything: maps, programs, a state. Those of
 * the pins are made with the pins.
 */
static int folders_make(const struct tribd *d)
{
	static const char *const top[] = {RUN_DIR, BPFFS "/trib"};
	const char *const own[] = {d->run_dir, d->pin_dir};
	char why[300];
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < 2; i++) {
		bool make = !i && !d->opt.check;

		err = make ? folder_own(top[i], 0755, why, sizeof(why))
			   : folder_check(top[i], why, sizeof(why));
		if (!err)
			err = make ? folder_own(own[i], 0755, why, sizeof(why))
				   : folder_check(own[i], why, sizeof(why));
		if (!make && err == -ENOENT)
			err = 0;
	}
	if (err)
		log_error("%s", why);
	return err;
}

int instance_open(struct tribd *d)
{
	char by_ns[64] = "";
	int err;

	d->lock_fd = -1;
	err = caps_check();
	if (!err)
		err = netns_identity(d, by_ns, sizeof(by_ns));
	if (!err)
		err = bpffs_open(d);
	if (err)
		return err;
	snprintf(d->instance, sizeof(d->instance), "%s", d->opt.instance ? d->opt.instance : by_ns);
	snprintf(d->pin_dir, sizeof(d->pin_dir), BPFFS "/trib/%s", d->instance);
	snprintf(d->run_dir, sizeof(d->run_dir), RUN_DIR "/%s", d->instance);

	err = folders_make(d);
	if (!err && !d->opt.check)
		err = lock_take(d);
	return err;
}

void instance_forget(struct tribd *d)
{
	static const char *const file[] = {"state.json", "state.json.new", "lock"};
	char path[160];
	unsigned int i;

	for (i = 0; i < sizeof(file) / sizeof(file[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", d->run_dir, file[i]);
		unlink(path);
	}
	rmdir(d->run_dir);
}

void instance_close(struct tribd *d)
{
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	d->lock_fd = -1;
}
