// SPDX-License-Identifier: BSD-2-Clause
/* Generic netlink without a library: see nlsock.h. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "nlsock.h"

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

int nl_socket(void)
{
	struct timeval patience = {.tv_sec = 20};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), one = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

void nl_begin(struct nl_request *r, int family, int cmd, int flags, uint32_t seq)
{
	struct genlmsghdr *g = NLMSG_DATA(&r->nlh);

	r->nlh = (struct nlmsghdr){
		.nlmsg_type = family,
		.nlmsg_flags = NLM_F_REQUEST | flags,
		.nlmsg_seq = seq,
		.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
	};
	*g = (struct genlmsghdr){.cmd = cmd, .version = 1};
	r->len = NLMSG_LENGTH(GENL_HDRLEN);
	r->clear = true;
}

void nl_put(struct nl_request *r, int type, const void *data, size_t len)
{
	struct nlattr *a = (struct nlattr *)(r->bytes + r->len);

	if (r->len + NLA_HDRLEN + NLA_ALIGN(len) > sizeof(r->bytes))
		return;
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memset(a + 1, 0, NLA_ALIGN(len));
	if (len)
		memcpy(a + 1, data, len);
	r->len += NLA_HDRLEN + NLA_ALIGN(len);
}

bool nl_send(int fd, struct nl_request *r)
{
	return send(fd, r->bytes, r->len, 0) == (ssize_t)r->len;
}

int nl_family(int fd, const char *name, int *group)
{
	struct nl_request r;
	uint8_t b[8192];
	struct nlmsghdr *nlh = (struct nlmsghdr *)b;
	struct nlattr *a, *g;
	int id = 0, i;
	ssize_t n;

	*group = 0;
	nl_begin(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, 1);
	nl_put(&r, CTRL_ATTR_FAMILY_NAME, name, strlen(name) + 1);
	r.nlh.nlmsg_len = r.len;
	if (!nl_send(fd, &r))
		return 0;
	n = recv(fd, b, sizeof(b), 0);
	if (n < NLMSG_HDRLEN || nlh->nlmsg_type != GENL_ID_CTRL)
		return 0;
	for (uint8_t *at = b + NLMSG_LENGTH(GENL_HDRLEN); at < b + n; at += NLA_ALIGN(a->nla_len)) {
		a = (struct nlattr *)at;
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			id = *(uint16_t *)(a + 1);
		if (a->nla_type != CTRL_ATTR_MCAST_GROUPS)
			continue;
		/* Nested groups; the family has at most one. */
		for (i = 2 * NLA_HDRLEN; i + 8 <= a->nla_len; i += 4) {
			g = (struct nlattr *)(at + i);
			if (g->nla_type == CTRL_ATTR_MCAST_GRP_ID && g->nla_len == NLA_HDRLEN + 4)
				*group = *(uint32_t *)(g + 1);
		}
	}
	return id;
}
