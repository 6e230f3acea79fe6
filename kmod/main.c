// SPDX-License-Identifier: GPL-2.0
/* trib.ko: load and unload. README.md describes the parts. */
#include <linux/module.h>
#include <net/genetlink.h>

#include "commands.h"
#include "fp/codec.h"
#include "fp/fpu.h"
#include "kfunc/fallback.h"
#include "kfunc/kfunc.h"
#include "kfunc/stats.h"
#include "sock/sock.h"
#include "uapi/trib.h"

static int __init trib_init(void)
{
	int err;

	err = trib_fpu_init();
	if (err)
		return err;
	err = trib_codec_init();
	if (err)
		return err;
	err = trib_stats_init();
	if (err)
		return err;
	trib_fallback_init();
	err = trib_sock_init();
	if (err)
		goto out_stats;
	err = trib_commands_init();
	if (err)
		goto out_sock;
	err = trib_kfunc_init();
	if (err)
		goto out_commands;
	/* Last, because a socket keeps the module: no step may fail after it. */
	trib_sock_open();
	return 0;

out_commands:
	trib_commands_exit();
out_sock:
	trib_sock_exit();
out_stats:
	trib_stats_exit();
	return err;
}

/* Programs that call kfuncs keep the module, so none runs by now. */
static void __exit trib_exit(void)
{
	trib_sock_close();
	trib_fallback_exit();
	trib_commands_exit();
	trib_sock_exit();
	trib_stats_exit();
}

module_init(trib_init);
module_exit(trib_exit);

MODULE_DESCRIPTION("Tributary: sums inside the network");
MODULE_AUTHOR("Tributary maintainers");
MODULE_LICENSE("GPL");
MODULE_VERSION(TRIB_VERSION);
MODULE_ALIAS_GENL_FAMILY(TRIB_GENL_NAME);
