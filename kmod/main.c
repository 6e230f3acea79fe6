// SPDX-License-Identifier: GPL-2.0
/*
 * trib.ko: comes and goes. The parts are described in README.md.
 */
#include <linux/module.h>

#include "codec.h"
#include "event.h"
#include "fpu.h"
#include "genl.h"
#include "kfunc.h"
#include "sock/sock.h"
#include "stats.h"
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
	trib_event_init();
	err = trib_sock_init();
	if (err)
		goto out_stats;
	err = trib_genl_init();
	if (err)
		goto out_sock;
	err = trib_kfunc_init();
	if (err)
		goto out_genl;
	/* Last: a socket keeps the module, and nothing may fail then. */
	trib_sock_open();
	return 0;

out_genl:
	trib_genl_exit();
out_sock:
	trib_sock_exit();
out_stats:
	trib_stats_exit();
	return err;
}

/* Programs that call kfuncs keep the module: none is left to count or tell. */
static void __exit trib_exit(void)
{
	trib_sock_close();
	trib_event_exit();
	trib_genl_exit();
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
