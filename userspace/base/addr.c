// SPDX-License-Identifier: BSD-2-Clause
/* Owns the forms of IP addresses; see addr.h. */
#include "addr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

bool addr_is_v4(const struct in6_addr *a)
{
	return IN6_IS_ADDR_V4MAPPED(a);
}

bool addr_is_zero(const struct in6_addr *a)
{
	return IN6_IS_ADDR_UNSPECIFIED(a);
}

bool addr_is_multicast(const struct in6_addr *a)
{
	return addr_is_v4(a) ? (a->s6_addr[12] & 0xf0) == 0xe0 : IN6_IS_ADDR_MULTICAST(a);
}

void addr_from_v4(struct in6_addr *to, const struct in_addr *from)
{
	memset(to, 0, sizeof(*to));
	to->s6_addr[10] = to->s6_addr[11] = 0xff;
	memcpy(to->s6_addr + 12, from, 4);
}

bool addr_parse(const char *s, struct in6_addr *out)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, s, &v4) == 1) {
		addr_from_v4(out, &v4);
		return true;
	}
	return inet_pton(AF_INET6, s, out) == 1;
}

bool addr_parse_port(const char *s, struct in6_addr *ip, uint16_t *port)
{
	bool brackets = *s == '[';
	const char *from = s + brackets;
	size_t len = strcspn(from, brackets ? "]" : ":");
	char text[INET6_ADDRSTRLEN + 1];
	const char *rest = from + len;
	uint64_t v;

	/* A second colon: IPv6 without a port. */
	if (!brackets && *rest && strchr(rest + 1, ':')) {
		len = strlen(from);
		rest = from + len;
	}
	if (len >= sizeof(text) || (brackets && *rest++ != ']'))
		return false;
	memcpy(text, from, len);
	text[len] = '\0';
	if (brackets ? inet_pton(AF_INET6, text, ip) != 1 : !addr_parse(text, ip))
		return false;
	if (!*rest)
		return true;
	if (*rest != ':' || text_number(rest + 1, 0, UINT16_MAX, &v))
		return false;
	*port = (uint16_t)v;
	return true;
}

/* No host has such an address to itself. */
static bool is_nobodys(const struct in6_addr *a)
{
	static const uint8_t none[4], all[4] = {255, 255, 255, 255};

	if (addr_is_zero(a) || addr_is_multicast(a))
		return true;
	return addr_is_v4(a) &&
	       (!memcmp(a->s6_addr + 12, none, 4) || !memcmp(a->s6_addr + 12, all, 4));
}

const char *addr_parse_meeting(const char *s, struct in6_addr *ip, uint16_t *port)
{
	*port = 0;
	if (!addr_parse_port(s, ip, port))
		return "is not an address with a port, like 10.0.0.1:7416 or [fd00::1]:7416";
	if (!*port)
		return "lacks a port from 1 to 65535";
	if (is_nobodys(ip))
		return "is not the address of one host";
	if (IN6_IS_ADDR_LINKLOCAL(ip))
		return "is link-local: it would need a device on each host";
	return NULL;
}

const char *addr_text(const struct in6_addr *a, char buf[INET6_ADDRSTRLEN])
{
	if (addr_is_v4(a))
		inet_ntop(AF_INET, a->s6_addr + 12, buf, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, a, buf, INET6_ADDRSTRLEN);
	return buf;
}

const char *addr_text_port(const struct in6_addr *a, uint16_t port, char buf[ADDR_TEXT_MAX])
{
	char ip[INET6_ADDRSTRLEN];

	snprintf(buf, ADDR_TEXT_MAX, addr_is_v4(a) ? "%s:%u" : "[%s]:%u", addr_text(a, ip), port);
	return buf;
}

socklen_t addr_to_sock(int family, const struct in6_addr *ip, uint16_t port, union addr_sock *out)
{
	memset(out, 0, sizeof(*out));
	if (family == AF_INET) {
		out->in.sin_family = AF_INET;
		out->in.sin_port = htons(port);
		memcpy(&out->in.sin_addr, ip->s6_addr + 12, 4);
		return sizeof(out->in);
	}
	out->in6.sin6_family = AF_INET6;
	out->in6.sin6_port = htons(port);
	out->in6.sin6_addr = *ip;
	return sizeof(out->in6);
}

void addr_from_sock(const union addr_sock *from, struct in6_addr *ip, uint16_t *port)
{
	if (from->sa.sa_family == AF_INET) {
		addr_from_v4(ip, &from->in.sin_addr);
		*port = ntohs(from->in.sin_port);
	} else {
		*ip = from->in6.sin6_addr;
		*port = ntohs(from->in6.sin6_port);
	}
}
