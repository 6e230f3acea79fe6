// SPDX-License-Identifier: BSD-2-Clause
/* Connections of native verbs. */
#include <errno.h>

#include "peer/net/ofi_rc.h"

int ofi_rc_open(struct ofi_port *o)
{
	return ofi_fault(o, ENOSYS, -1, "verbs");
}

void ofi_rc_close(struct ofi_port *o)
{
	(void)o;
}

int ofi_rc_name(const struct ofi_port *o, void *name, size_t *len)
{
	(void)o;
	(void)name;
	(void)len;
	return -ENOSYS;
}

int ofi_rc_connect(struct ofi_port *o, uint32_t link, const void *name, size_t len)
{
	(void)o;
	(void)link;
	(void)name;
	(void)len;
	return -ENOSYS;
}

bool ofi_rc_ready(const struct ofi_link *l)
{
	return l->known;
}

bool ofi_rc_is_receive(const struct ofi_port *o, const void *context)
{
	(void)o;
	(void)context;
	return false;
}

int ofi_rc_take(struct ofi_port *o, void *context, bool again)
{
	(void)o;
	(void)context;
	(void)again;
	return 0;
}

int ofi_rc_poll(struct ofi_port *o)
{
	(void)o;
	return 0;
}

int ofi_rc_fd(const struct ofi_port *o)
{
	(void)o;
	return -1;
}

bool ofi_rc_rest(struct ofi_port *o)
{
	(void)o;
	return false;
}
