// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds NDN packets and frames of faces.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ndn_world.h"

static uint32_t sum(const void *p, int n, uint32_t start)
{
	const uint8_t *b = p;

	for (int i = 0; i < n; i++)
		start += i & 1 ? b[i] : b[i] << 8;
	return start;
}

static uint16_t fold(uint32_t s)
{
	s = (s & 0xffff) + (s >> 16);
	return (s & 0xffff) + (s >> 16);
}

static int put16(uint8_t *p, uint16_t be)
{
	memcpy(p, &be, 2);
	return 2;
}

/* Write the headers up to L3. @in: frame towards the forwarder. */
static int put_ether(uint8_t *b, const struct ndn_face *f, bool in)
{
	int n = 14;
	uint16_t proto = f->flags & NDN_FACE_ETHER ? TRIB_NDN_ETHERTYPE
			 : f->flags & NDN_FACE_V6  ? ETH_P_IPV6
						   : ETH_P_IP;

	memcpy(b, in ? f->smac : f->dmac, 6);
	memcpy(b + 6, in ? f->dmac : f->smac, 6);
	if (f->vlan) {
		put16(b + 12, htons(ETH_P_8021Q));
		put16(b + 14, f->vlan);
		n += 4;
	}
	put16(b + n - 2, htons(proto));
	return n;
}

static int put_v4(uint8_t *b, const struct ndn_face *f, bool in, int n)
{
	struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.ttl = 64,
		.frag_off = htons(0x4000),
		.protocol = IPPROTO_UDP,
		.tot_len = htons(28 + n),
		.saddr = in ? f->daddr[3] : f->saddr[3],
		.daddr = in ? f->saddr[3] : f->daddr[3],
	};

	ip.check = htons(~fold(sum(&ip, 20, 0)));
	memcpy(b, &ip, 20);
	return 20;
}

static int put_v6(uint8_t *b, const struct ndn_face *f, bool in, int n)
{
	struct ip6_hdr ip = {
		.ip6_flow = htonl(6 << 28),
		.ip6_nxt = IPPROTO_UDP,
		.ip6_hlim = 64,
		.ip6_plen = htons(8 + n),
	};

	memcpy(&ip.ip6_src, in ? f->daddr : f->saddr, 16);
	memcpy(&ip.ip6_dst, in ? f->saddr : f->daddr, 16);
	memcpy(b, &ip, 40);
	return 40;
}

/* Write the UDP header behind the addresses, with checksum for IPv6. */
static int put_udp(uint8_t *b, const struct ndn_face *f, bool in, const void *ndn, int n)
{
	struct udphdr udp = {
		.source = in ? f->dport : f->sport,
		.dest = in ? f->sport : f->dport,
		.len = htons(8 + n),
	};
	uint32_t s;

	if (f->flags & NDN_FACE_V6) {
		s = sum(b - 32, 32, IPPROTO_UDP + 8 + n);
		s = sum(&udp, 8, s);
		s = sum(ndn, n, s);
		udp.check = htons(~fold(s)) ?: 0xffff;
	}
	memcpy(b, &udp, 8);
	return 8;
}

static int put_headers(uint8_t *b, const struct ndn_face *f, bool in, const void *ndn, int n)
{
	int off = put_ether(b, f, in);

	if (f->flags & NDN_FACE_ETHER)
		return off;
	off += f->flags & NDN_FACE_V6 ? put_v6(b + off, f, in, n) : put_v4(b + off, f, in, n);
	return off + put_udp(b + off, f, in, ndn, n);
}

void nframe_from(struct nframe *f, int face, const void *ndn, int n)
{
	struct ndn_face row = ndn_face(face);

	memset(f->b, 0, sizeof(f->b));
	f->off = put_headers(f->b, &row, true, ndn, n);
	f->n = n;
	memcpy(f->b + f->off, ndn, n);
	f->len = f->off + n;
	/* Minimum length of a frame. */
	if (f->len < 60)
		f->len = 60;
}

bool nframe_is_for(struct nframe *f, int face)
{
	struct ndn_face row = ndn_face(face);
	uint8_t head[96] = {0};
	int off = put_ether(head, &row, false);

	if (!(row.flags & NDN_FACE_ETHER))
		off += row.flags & NDN_FACE_V6 ? 48 : 28;
	if (f->len < off)
		return false;
	f->off = off;
	f->n = f->len - off;
	put_headers(head, &row, false, f->b + off, f->n);
	return !memcmp(head, f->b, off);
}

static void must(enum ndn_err err, const char *what)
{
	if (!err)
		return;
	printf("Bail out! %s: %s\n", what, ndn_err_text(err));
	exit(1);
}

int ndn_make_interest(uint8_t *buf, const struct ask *a)
{
	static uint32_t nonce = 0x10000;
	struct ndn_interest i = {
		.can_be_prefix = a->prefix,
		.must_be_fresh = a->fresh,
		.has_nonce = !a->no_nonce,
		.nonce = a->nonce ?: nonce++,
		.has_lifetime = a->life,
		.lifetime = a->life,
		.has_hop_limit = a->hops,
		.hop_limit = a->hops - 1,
	};
	struct ndn_name_buf name;
	uint8_t body[NFRAME_MAX];
	size_t n;
	int at;

	must(ndn_name_parse(&name, a->name), a->name);
	i.name = ndn_name_of(&name);
	must(ndn_interest_encode(&i, NULL, buf, NFRAME_MAX, &n), a->name);
	if (!a->pad)
		return n;
	/* An unknown element at the end that is not critical. */
	at = buf[1] < 253 ? 2 : 4;
	memcpy(body, buf + at, n - at);
	n -= at;
	body[n++] = 0xf0;
	if (a->pad < 253) {
		body[n++] = a->pad;
	} else {
		body[n++] = 253;
		n += put16(body + n, htons(a->pad));
	}
	memset(body + n, 0, a->pad);
	n += a->pad;
	buf[1] = n < 253 ? n : 253;
	at = n < 253 ? 2 : 2 + put16(buf + 2, htons(n));
	memcpy(buf + at, body, n);
	return at + n;
}

int ndn_make_data(uint8_t *buf, const char *text, int content)
{
	static uint8_t bytes[NFRAME_MAX];
	struct ndn_name_buf name;
	struct ndn_data d = {
		.has_content = content,
		.content = {bytes, content},
	};
	size_t n;

	for (int i = 0; i < content; i++)
		bytes[i] = i * 7;
	must(ndn_name_parse(&name, text), text);
	d.name = ndn_name_of(&name);
	must(ndn_data_encode(&d, NULL, buf, NFRAME_MAX, &n), text);
	return n;
}

int ndn_make_link(uint8_t *buf, int n, bool nack)
{
	struct ndn_lp lp = {
		.is_nack = nack,
		.nack_reason = nack ? TRIB_NDN_NACK_NO_ROUTE : 0,
		.pit_token = {(const uint8_t *)"token", nack ? 0 : 5},
	};
	uint8_t inner[NFRAME_MAX];
	size_t len;

	memcpy(inner, buf, n);
	must(ndn_lp_encode(&lp, (struct ndn_bytes){inner, n}, buf, NFRAME_MAX, &len), "link");
	return len;
}
