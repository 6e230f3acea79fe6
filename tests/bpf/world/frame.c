// SPDX-License-Identifier: BSD-2-Clause
/* Build and read frames, independently of the headers of bpf/. */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include "frame.h"

static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static uint16_t get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static uint16_t ip_sum(const uint8_t *p, int len)
{
	uint32_t sum = 0;

	for (int i = 0; i < len; i += 2)
		sum += get16(p + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static int put_eth(uint8_t *b, const struct link *link)
{
	int n = 12;

	memcpy(b, link->to.mac, 6);
	memcpy(b + 6, link->from.mac, 6);
	for (int i = 0; i < 2 && link->vlan[i]; i++, n += 4) {
		put16(b + n, link->tpid[i] ? link->tpid[i] : 0x8100);
		put16(b + n + 2, link->vlan[i]);
	}
	put16(b + n, link->v6 ? 0x86dd : 0x0800);
	return n + 2;
}

static int put_ip(uint8_t *b, const struct link *link, int l4_len)
{
	if (link->v6) {
		memset(b, 0, 40);
		b[0] = 0x60 | link->tos >> 4;
		b[1] = link->tos << 4;
		put16(b + 4, l4_len);
		b[6] = IPPROTO_UDP;
		b[7] = 3;
		memcpy(b + 8, link->from.ip, 16);
		memcpy(b + 24, link->to.ip, 16);
		return 40;
	}
	memset(b, 0, 20);
	b[0] = 0x45;
	b[1] = link->tos;
	put16(b + 2, 20 + l4_len);
	put16(b + 6, 0x4000); /* don't fragment */
	b[8] = 3;
	b[9] = IPPROTO_UDP;
	memcpy(b + 12, link->from.ip + 12, 4);
	memcpy(b + 16, link->to.ip + 12, 4);
	put16(b + 10, ip_sum(b, 20));
	return 20;
}

void frame_build(struct frame *f, const struct link *link, const struct trib_hdr *hdr,
		 const void *pay, int len)
{
	int l4_len = 8 + (int)sizeof(*hdr) + len;

	memset(f, 0, sizeof(*f));
	f->v6 = link->v6;
	f->tags = link->vlan[0] ? link->vlan[1] ? 2 : 1 : 0;
	f->l3 = put_eth(f->b, link);
	f->l4 = f->l3 + put_ip(f->b + f->l3, link, l4_len);
	put16(f->b + f->l4, link->from.port);
	put16(f->b + f->l4 + 2, link->to.port);
	put16(f->b + f->l4 + 4, l4_len);
	put16(f->b + f->l4 + 6, 0xbeef); /* no code may check this */
	f->h = f->l4 + 8;
	memcpy(f->b + f->h, hdr, sizeof(*hdr));
	f->pay = f->h + (int)sizeof(*hdr);
	if (len)
		memcpy(f->b + f->pay, pay, len);
	f->len = f->pay + len;
}

bool frame_parse(struct frame *f)
{
	int n = 12, type;

	f->tags = 0;
	if (f->len < 14)
		return false;
	while (f->tags < 2 && n + 6 <= f->len &&
	       (get16(f->b + n) == 0x8100 || get16(f->b + n) == 0x88a8)) {
		f->tags++;
		n += 4;
	}
	type = get16(f->b + n);
	f->l3 = n + 2;
	f->v6 = type == 0x86dd;
	if (type != 0x86dd && type != 0x0800)
		return false;
	f->l4 = f->l3 + (f->v6 ? 40 : 20);
	f->h = f->l4 + 8;
	f->pay = f->h + (int)sizeof(struct trib_hdr);
	return f->len >= f->pay && f->b[f->h] == TRIB_WIRE_VERSION &&
	       f->b[f->l3 + (f->v6 ? 6 : 9)] == IPPROTO_UDP;
}

bool frame_lengths_agree(const struct frame *f)
{
	const struct trib_hdr *h = (void *)(f->b + f->h);
	int l4_len = f->len - f->l4;

	if (get16(f->b + f->l4 + 4) != l4_len)
		return false;
	if ((int)(h->bmwords * 8 + trib_values_len(h->flags, h->nm, ntohs(h->nval))) !=
	    f->len - f->pay)
		return false;
	if (f->v6)
		return get16(f->b + f->l3 + 4) == l4_len;
	return get16(f->b + f->l3 + 2) == 20 + l4_len;
}

bool frame_sound(const struct frame *f)
{
	const uint8_t *ip = f->b + f->l3;

	if (!frame_lengths_agree(f) || f->b[f->l4 + 6] || f->b[f->l4 + 7])
		return false;
	if (f->v6)
		return ip[0] >> 4 == 6 && ip[7] == 64;
	return ip[0] == 0x45 && ip[8] == 64 && ip_sum(ip, 20) == 0;
}

void frame_ip(const struct frame *f, int which, uint8_t out[16])
{
	if (f->v6) {
		memcpy(out, f->b + f->l3 + 8 + 16 * which, 16);
		return;
	}
	memcpy(out, mapped, 12);
	memcpy(out + 12, f->b + f->l3 + 12 + 4 * which, 4);
}

uint16_t frame_port(const struct frame *f, int which)
{
	return get16(f->b + f->l4 + 2 * which);
}

uint16_t frame_vlan(const struct frame *f, int i)
{
	return i < f->tags ? get16(f->b + 14 + 4 * i) & 0xfff : 0;
}

uint64_t frame_bitmap(const struct frame *f)
{
	uint64_t v;

	memcpy(&v, f->b + f->pay, 8);
	return be64toh(v);
}

uint64_t frame_word(const struct frame *f, int i)
{
	uint64_t v;

	memcpy(&v, f->b + f->pay + 8 * i, 8);
	return le64toh(v);
}
