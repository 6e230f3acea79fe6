/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IP addresses. All code holds them as IPv6; IPv4 is ::ffff:a.b.c.d. Ports are
 * in host byte order. Only a socket's own address has the kernel's form.
 */
#ifndef TRIB_BASE_ADDR_H
#define TRIB_BASE_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Room for "[IPV6]:PORT". */
#define ADDR_TEXT_MAX (INET6_ADDRSTRLEN + 8)

/* An address as the kernel takes it. */
union addr_sock {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

bool addr_is_v4(const struct in6_addr *a);
bool addr_is_zero(const struct in6_addr *a);
bool addr_is_multicast(const struct in6_addr *a);
void addr_from_v4(struct in6_addr *to, const struct in_addr *from);

/* Parse an IPv4 or IPv6 address and nothing else. Return: whether it is one. */
bool addr_parse(const char *s, struct in6_addr *out);

/**
 * addr_parse_port() - parse ADDR, ADDR:PORT, [ADDR] or [ADDR]:PORT
 * @port: 0 to 65535; unchanged if @s names none.
 *
 * Brackets hold IPv6 only. IPv6 needs brackets only if a port follows.
 *
 * Return: whether @s is such an address; if not, the outputs are undefined.
 */
bool addr_parse_port(const char *s, struct in6_addr *ip, uint16_t *port);

/**
 * addr_parse_meeting() - parse ADDR:PORT or [ADDR]:PORT of a TCP listener on some host
 *
 * Return: NULL, or why other hosts could not connect to it; then the outputs are
 * undefined.
 */
const char *addr_parse_meeting(const char *s, struct in6_addr *ip, uint16_t *port);

/* Write @a, IPv4 in its own notation. Return: @buf. */
const char *addr_text(const struct in6_addr *a, char buf[INET6_ADDRSTRLEN]);
/* Write ADDR:PORT or [ADDR]:PORT. Return: @buf. */
const char *addr_text_port(const struct in6_addr *a, uint16_t port, char buf[ADDR_TEXT_MAX]);

/**
 * addr_to_sock() - fill in @out for a socket of @family
 *
 * An AF_INET socket takes IPv4 addresses only; an AF_INET6 one takes both.
 *
 * Return: the length of @out.
 */
socklen_t addr_to_sock(int family, const struct in6_addr *ip, uint16_t port, union addr_sock *out);
void addr_from_sock(const union addr_sock *from, struct in6_addr *ip, uint16_t *port);

#endif /* TRIB_BASE_ADDR_H */
