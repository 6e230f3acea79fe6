// SPDX-License-Identifier: BSD-2-Clause
/* The link to a forwarder, on the loopback device. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "ndn/app/link.h"

#define MANY 100

static unsigned int taken;
static size_t taken_size;
static uint8_t taken_first;

static void take(void *ctx, const uint8_t *pkt, size_t n)
{
	(void)ctx;
	taken++;
	taken_size = n;
	taken_first = n ? *pkt : 0;
}

/* Open a socket that plays the forwarder; write its port to @text. */
static int forwarder(bool v6, char *text, size_t size)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in four = {.sin_family = AF_INET,
				   .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	struct sockaddr *sa = v6 ? (void *)&six : (void *)&four;
	socklen_t len = v6 ? sizeof(six) : sizeof(four);
	int fd = socket(sa->sa_family, SOCK_DGRAM, 0);

	if (fd < 0 || bind(fd, sa, len) || getsockname(fd, sa, &len))
		return -1;
	if (v6)
		snprintf(text, size, "[::1]:%u", ntohs(six.sin6_port));
	else
		snprintf(text, size, "127.0.0.1:%u", ntohs(four.sin_port));
	return fd;
}

static int open_to(struct ndn_socket **l, const char *to, const char *from)
{
	struct ndn_socket_addr a = {to, from};
	char why[200];

	return ndn_socket_open(l, &a, why, sizeof(why));
}

static unsigned int receive(struct ndn_socket *l, unsigned int want)
{
	struct pollfd p = {.fd = ndn_socket_fd(l), .events = POLLIN};

	taken = 0;
	while (taken < want && poll(&p, 1, 1000) > 0)
		expect(ndn_socket_receive(l, take, NULL) >= 0);
	return taken;
}

static void there_and_back(bool v6)
{
	uint8_t pkt[TRIB_NDN_PACKET_MAX + 10] = {0};
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	struct ndn_socket *l;
	unsigned int i;
	char text[60];
	int fd = forwarder(v6, text, sizeof(text));

	if (!expect(fd >= 0) || !expect(!open_to(&l, text, v6 ? "[::1]:0" : "127.0.0.1:0")))
		return;
	expect_eq(ndn_socket_room(l), TRIB_NDN_PACKET_MAX);
	for (i = 0; i < MANY; i++) {
		pkt[0] = (uint8_t)i;
		ndn_socket_send(l, pkt, i + 1);
	}
	ndn_socket_flush(l);
	for (i = 0; i < MANY; i++) {
		len = sizeof(from);
		expect_eq(recvfrom(fd, pkt, sizeof(pkt), MSG_DONTWAIT, (void *)&from, &len), i + 1);
		expect_eq(pkt[0], i);
	}
	expect_eq(ndn_socket_stats(l).tx_packets, MANY);
	expect_eq(ndn_socket_stats(l).tx_bytes, MANY * (MANY + 1) / 2);
	for (i = 0; i < MANY; i++)
		sendto(fd, pkt, 7, 0, (void *)&from, len);
	expect_eq(receive(l, MANY), MANY);
	/* A packet of the largest size passes; one byte more does not. */
	sendto(fd, pkt, TRIB_NDN_PACKET_MAX + 1, 0, (void *)&from, len);
	pkt[0] = 42;
	sendto(fd, pkt, TRIB_NDN_PACKET_MAX, 0, (void *)&from, len);
	expect_eq(receive(l, 1), 1);
	expect(taken_size == TRIB_NDN_PACKET_MAX && taken_first == 42);
	expect_eq(ndn_socket_stats(l).rx_long, 1);
	expect_eq(ndn_socket_stats(l).rx_packets, MANY + 2);
	ndn_socket_send(l, pkt, TRIB_NDN_PACKET_MAX + 1);
	expect_eq(ndn_socket_stats(l).tx_error, 1);
	ndn_socket_close(l);
	close(fd);
}

static void link__carries_batches_both_ways(void)
{
	there_and_back(false);
}

static void link__carries_ipv6(void)
{
	there_and_back(true);
}

static void link__hears_its_forwarder_only(void)
{
	char one[60], two[60], mine[60];
	int fd = forwarder(false, one, sizeof(one));
	int other = forwarder(false, two, sizeof(two));
	struct sockaddr_in here;
	socklen_t len = sizeof(here);
	struct ndn_socket *l;

	expect_eq(open_to(&l, one, "127.0.0.1:0"), 0);
	getsockname(ndn_socket_fd(l), (void *)&here, &len);
	snprintf(mine, sizeof(mine), "%u", ntohs(here.sin_port));
	sendto(other, "no", 2, 0, (void *)&here, len);
	sendto(fd, "yes", 3, 0, (void *)&here, len);
	expect_eq(receive(l, 1), 1);
	expect_eq(taken_size, 3);
	ndn_socket_close(l);
	close(fd);
	close(other);
}

static void link__outlives_a_dead_forwarder(void)
{
	struct ndn_socket *l;
	char text[60];
	int fd = forwarder(false, text, sizeof(text));
	unsigned int i;

	expect_eq(open_to(&l, text, "127.0.0.1:0"), 0);
	close(fd);
	for (i = 0; i < 4; i++) {
		ndn_socket_send(l, "x", 1);
		ndn_socket_flush(l);
		expect(ndn_socket_receive(l, take, NULL) >= 0);
	}
	expect_eq(ndn_socket_stats(l).tx_error, 0);
	expect_eq(ndn_socket_stats(l).tx_packets + ndn_socket_stats(l).tx_full, 4);
	ndn_socket_close(l);
}

/* Tell the socket at @port that its packet to @to did not get through. */
static bool send_icmp(int raw, uint8_t code, in_port_t port, in_port_t to)
{
	struct sockaddr_in here = {.sin_family = AF_INET,
				   .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	struct {
		struct icmphdr icmp;
		struct iphdr ip;
		struct udphdr udp;
	} p = {
		.icmp = {.type = ICMP_DEST_UNREACH, .code = code},
		.ip = {.version = 4, .ihl = 5, .ttl = 1, .protocol = IPPROTO_UDP},
		.udp = {.source = port, .dest = to, .len = htons(1400)},
	};
	uint32_t sum = 0;
	uint16_t word;

	p.icmp.un.frag.mtu = htons(1000);
	p.ip.saddr = p.ip.daddr = here.sin_addr.s_addr;
	p.ip.tot_len = htons(1420);
	for (size_t i = 0; i < sizeof(p); i += sizeof(word)) {
		memcpy(&word, (char *)&p + i, sizeof(word));
		sum += word;
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	p.icmp.checksum = (uint16_t)~sum;
	return sendto(raw, &p, sizeof(p), 0, (void *)&here, sizeof(here)) == sizeof(p);
}

/* The kernel remembers what ICMP says: stay out of the machine's network. */
static bool own_network(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd;
	bool good;

	if (unshare(CLONE_NEWNET))
		return false;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	good = fd >= 0 && !ioctl(fd, SIOCSIFFLAGS, &lo);
	close(fd);
	return good;
}

static void link__outlives_icmp_errors(void)
{
	static const uint8_t codes[] = {ICMP_NET_UNREACH,   ICMP_HOST_UNREACH, ICMP_PROT_UNREACH,
					ICMP_PORT_UNREACH,  ICMP_FRAG_NEEDED,  ICMP_SR_FAILED,
					ICMP_HOST_ISOLATED, ICMP_HOST_ANO,     ICMP_PKT_FILTERED};
	char text[60];
	int raw = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
	int fd = forwarder(false, text, sizeof(text));
	struct sockaddr_in here, there;
	socklen_t len = sizeof(here);
	struct ndn_socket *l;

	expect_eq(open_to(&l, text, "127.0.0.1:0"), 0);
	getsockname(ndn_socket_fd(l), (void *)&here, &len);
	getsockname(fd, (void *)&there, &len);
	for (unsigned int i = 0; i < sizeof(codes); i++) {
		expect(send_icmp(raw, codes[i], here.sin_port, there.sin_port));
		if (!expect(ndn_socket_receive(l, take, NULL) >= 0))
			printf("# code %u\n", codes[i]);
	}
	sendto(fd, "yes", 3, 0, (void *)&here, len);
	expect_eq(receive(l, 1), 1);
	ndn_socket_close(l);
	close(fd);
	close(raw);
}

static void address__that_is_none_is_refused(void)
{
	static const char *const bad[] = {
		"",	      "host",
		"1.2.3",      "1.2.3.4:",
		"1.2.3.4:0",  "1.2.3.4:65536",
		"1.2.3.4:1x", "1.2.3.4:-1",
		"::1::2",     "::1%lo",
		":1",	      "[::1",
		"[::1]x",     "[1.2.3.4]:5",
		"[::1]:0",    "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.18.19"};
	struct ndn_socket *l;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!expect(open_to(&l, bad[i], "127.0.0.1:0") == -EINVAL))
			printf("# %s\n", bad[i]);
	expect_eq(open_to(&l, "127.0.0.1", "[::1]:0"), -EINVAL);
	expect_eq(open_to(&l, "127.0.0.1", "127.0.0.1:x"), -EINVAL);
	expect_eq(open_to(&l, "127.0.0.1", "192.0.2.1:0"), -EADDRNOTAVAIL);
}

static void address__ipv6_without_a_port_needs_no_brackets(void)
{
	static const char *const good[] = {"::1", "0:0:0:0:0:0:0:1", "[::1]", "[::1]:6363"};
	struct ndn_socket *l;
	unsigned int i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		if (expect(!open_to(&l, good[i], "[::1]:0")))
			ndn_socket_close(l);
		else
			printf("# %s\n", good[i]);
	}
}

int main(void)
{
	run(link__carries_batches_both_ways);
	run(link__carries_ipv6);
	run(link__hears_its_forwarder_only);
	run(link__outlives_a_dead_forwarder);
	run(address__that_is_none_is_refused);
	run(address__ipv6_without_a_port_needs_no_brackets);
	if (own_network())
		run(link__outlives_icmp_errors);
	else
		tap_skip("link__outlives_icmp_errors", "needs root");
	return tap_done();
}
