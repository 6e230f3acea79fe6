// SPDX-License-Identifier: GPL-2.0
/*
 * Users of collective sockets, and the memory that each uses. A user is there as long
 * as one of its sockets.
 */
#include <linux/cred.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>

#include "sock.h"

/* By __kuid_val(); the lock also guards &trib_user.socks. */
static DEFINE_XARRAY(users);
static DEFINE_MUTEX(lock);

/*
 * A user who makes user namespaces has many user ids there. So the outermost namespace
 * that another user than root made counts as its maker.
 */
static kuid_t current_user_of_memory(void)
{
	const struct user_namespace *ns;
	kuid_t uid = current_fsuid();

	for (ns = current_user_ns(); ns->parent; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	return uid;
}

struct trib_user *trib_user_get(void)
{
	kuid_t uid = current_user_of_memory();
	struct trib_user *u;

	mutex_lock(&lock);
	u = xa_load(&users, __kuid_val(uid));
	if (!u) {
		u = kzalloc(sizeof(*u), GFP_KERNEL_ACCOUNT);
		if (u && xa_is_err(xa_store(&users, __kuid_val(uid), u, GFP_KERNEL_ACCOUNT))) {
			kfree(u);
			u = NULL;
		}
		if (u)
			u->uid = uid;
	}
	if (u)
		u->socks++;
	mutex_unlock(&lock);
	return u;
}

void trib_user_put(struct trib_user *u)
{
	if (!u)
		return;
	mutex_lock(&lock);
	if (!--u->socks) {
		WARN_ON_ONCE(atomic64_read(&u->used));
		xa_erase(&users, __kuid_val(u->uid));
		kfree(u);
	}
	mutex_unlock(&lock);
}
