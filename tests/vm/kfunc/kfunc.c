/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The module's functions, called by XDP programs: each is compared with this file's
 * arithmetic, by BPF_PROG_TEST_RUN and with arriving frames, with the FPU and
 * without. Runs with trib.ko loaded.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include "uapi/trib_kfunc.h"
#include "uapi/trib_wire.h"
#include "tests/lib/tap.h"
#include "kfunc.h"

#define BUSY "/sys/module/trib/parameters/fpu_busy"
#define NMAX 1024
#define PKT_MAX 3400

static struct bpf_object *obj;
static int prog, prog_frags, map_ask, map_acc, map_val;

static const unsigned int fmts[] = {TRIB_FMT_I32, TRIB_FMT_F32, TRIB_FMT_F16, TRIB_FMT_BF16};

/* --- arithmetic */

static uint32_t seed = 1;

static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

static unsigned int size_of(unsigned int fmt)
{
	return fmt == TRIB_FMT_F16 || fmt == TRIB_FMT_BF16 ? 2 : 4;
}

static bool is_nan(uint32_t f)
{
	return (f & 0x7fffffff) > 0x7f800000;
}

/* The accumulator's NaN wins over the other one, and becomes quiet. */
static uint32_t add_f32(uint32_t acc, uint32_t in)
{
	if (is_nan(acc))
		return acc | 0x00400000;
	asm("movd %1, %%xmm1\n\tmovd %0, %%xmm0\n\taddss %%xmm1, %%xmm0\n\t"
	    "movd %%xmm0, %0"
	    : "+r"(acc)
	    : "r"(in)
	    : "xmm0", "xmm1");
	return acc;
}

static uint32_t widen(unsigned int fmt, const uint8_t *v)
{
	uint32_t u = v[0] | v[1] << 8;
	_Float16 h;
	float f;

	if (size_of(fmt) == 4)
		return u | (uint32_t)v[2] << 16 | (uint32_t)v[3] << 24;
	if (fmt == TRIB_FMT_BF16)
		return u << 16;
	memcpy(&h, v, 2);
	f = (float)h;
	memcpy(&u, &f, 4);
	return u;
}

static void narrow(unsigned int fmt, uint32_t acc, uint8_t *out)
{
	_Float16 h;
	float f;

	if (size_of(fmt) == 4) {
		memcpy(out, &acc, 4);
		return;
	}
	if (fmt == TRIB_FMT_BF16) {
		acc = (acc + 0x7fff + (acc >> 16 & 1)) >> 16;
		memcpy(out, &acc, 2);
		return;
	}
	memcpy(&f, &acc, 4);
	h = (_Float16)f;
	memcpy(out, &h, 2);
}

static uint32_t add(unsigned int fmt, uint32_t acc, uint32_t in)
{
	return fmt == TRIB_FMT_I32 ? acc + in : add_f32(acc, in);
}

/* Random bits, without NaN in formats with special rules for it. */
static void random_value(unsigned int fmt, uint8_t *v)
{
	uint32_t r = rnd();

	switch (fmt) {
	case TRIB_FMT_F32:
		/* Mostly of similar size, so that digits overlap. */
		if (rnd() % 8)
			r = (r & 0x83ffffff) | 0x3c000000;
		break;
	case TRIB_FMT_F16:
		if ((r & 0x7c00) == 0x7c00)
			r ^= 0x4000;
		break;
	case TRIB_FMT_BF16:
		r = (r & 0x83ff) | 0x3c00;
		break;
	}
	memcpy(v, &r, size_of(fmt));
}

/* A random accumulator. */
static uint32_t random_acc(unsigned int fmt)
{
	uint8_t v[4];

	random_value(fmt, v);
	return fmt == TRIB_FMT_I32 ? rnd() : widen(fmt, v);
}

/* --- one call */

struct call {
	unsigned int func, fmt, n, off, nm;
	uint32_t acc[NMAX];
	uint8_t pkt[PKT_MAX];
	uint32_t pkt_len;
	struct kfunc_values mem;
};

static bool in_memory(const struct call *c)
{
	return c->func < KFUNC_PKT_ADD;
}

static bool expands(const struct call *c)
{
	return c->func >= KFUNC_PKT_EXPAND_ADD;
}

static int test_run(int fd, struct kfunc_ask *k, void *pkt, uint32_t len, void *out)
{
	uint32_t zero = 0;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = pkt, .data_size_in = len, .data_out = out,
		    .data_size_out = out ? len : 0);
	int err = bpf_map_update_elem(map_ask, &zero, k, 0);

	if (!err)
		err = bpf_prog_test_run_opts(fd, &opts);
	if (!err)
		err = bpf_map_lookup_elem(map_ask, &zero, k);
	return err ? err : opts.retval == 1 /* XDP_DROP */ ? 0 : -EPROTO;
}

/* Call @c->func. Return: its result; it may change @c->acc, pkt and mem. */
static long long call(struct call *c)
{
	static struct kfunc_values acc;
	struct kfunc_ask k = {
		.func = c->func,
		.len = c->n * size_of(c->fmt),
		.off = c->off,
		.what = in_memory(c) ? c->fmt : TRIB_KFUNC_WHAT(c->fmt, c->nm, c->n),
	};
	uint32_t zero = 0;
	int err;

	memcpy(acc.b, c->acc, sizeof(c->acc));
	bpf_map_update_elem(map_acc, &zero, &acc, 0);
	bpf_map_update_elem(map_val, &zero, &c->mem, 0);
	err = test_run(prog, &k, c->pkt, c->pkt_len, c->pkt);
	if (err) {
		printf("# test run: %s\n", strerror(errno));
		return -9999;
	}
	bpf_map_lookup_elem(map_acc, &zero, &acc);
	bpf_map_lookup_elem(map_val, &zero, &c->mem);
	memcpy(c->acc, acc.b, sizeof(c->acc));
	return k.ret;
}

/* The values, before and after the call. */
static uint8_t *values(struct call *c)
{
	return in_memory(c) ? c->mem.b : c->pkt + c->off;
}

/* A random mask with M of each N. */
static unsigned int random_mask(struct call *c, uint8_t *v)
{
	unsigned int group = 1U << (c->nm >> 5), kept = (c->nm & 31) + 1;
	unsigned int i, k, words = c->n / 32, at = 4 * words;
	uint32_t mask;

	for (i = 0; i < words; i++) {
		mask = 0;
		for (k = 0; k < 32; k++) {
			uint32_t of = k / group * group;
			uint32_t have = mask >> of & (uint32_t)((1ULL << group) - 1);
			uint32_t left = group - k % group;
			uint32_t miss = kept - __builtin_popcount(have);

			if (miss && (miss == left || rnd() % left < miss))
				mask |= 1U << k;
		}
		memcpy(v + 4 * i, &mask, 4);
	}
	for (i = 0; i < c->n / group * kept; i++, at += size_of(c->fmt))
		random_value(c->fmt, v + at);
	return at;
}

static void fill(struct call *c)
{
	unsigned int i, len = c->n * size_of(c->fmt);
	uint8_t *v = values(c);

	memset(c->pkt, 0xa5, sizeof(c->pkt));
	memset(&c->mem, 0x5a, sizeof(c->mem));
	for (i = 0; i < NMAX; i++)
		c->acc[i] = random_acc(c->fmt);
	if (expands(c))
		len = random_mask(c, v);
	else
		for (i = 0; i < c->n; i++)
			random_value(c->fmt, v + i * size_of(c->fmt));
	/* No byte more than needed, except the minimum of a test run. */
	c->pkt_len = in_memory(c) ? 64 : c->off + len;
	if (c->pkt_len < 64)
		c->pkt_len = 64;
}

static void expect_dense(const struct call *was, struct call *want)
{
	unsigned int i, s = size_of(was->fmt), kind = was->func % 4;
	uint8_t *v = values(want);
	uint32_t in;

	for (i = 0; i < was->n; i++) {
		in = widen(was->fmt, v + i * s);
		if (kind == KFUNC_MEM_STORE)
			want->acc[i] = in;
		else if (kind != KFUNC_MEM_EMIT)
			want->acc[i] = add(was->fmt, was->acc[i], in);
		if (kind >= KFUNC_MEM_FINAL)
			narrow(was->fmt, want->acc[i], v + i * s);
	}
}

static void expect_expanded(const struct call *was, struct call *want)
{
	const uint8_t *v = was->pkt + was->off, *p = v + was->n / 8;
	bool store = was->func == KFUNC_PKT_EXPAND_STORE;
	unsigned int i;
	uint32_t in;

	for (i = 0; i < was->n; i++) {
		if (!(v[i / 8] >> i % 8 & 1)) {
			if (store)
				want->acc[i] = 0;
			continue;
		}
		in = widen(was->fmt, p);
		p += size_of(was->fmt);
		want->acc[i] = store ? in : add(was->fmt, was->acc[i], in);
	}
}

static bool check(struct call *c)
{
	static struct call want;
	long long ret;
	unsigned int i;

	fill(c);
	want = *c;
	if (expands(c))
		expect_expanded(c, &want);
	else
		expect_dense(c, &want);
	ret = call(c);
	if (ret == 0 && !memcmp(c->acc, want.acc, sizeof(c->acc)) &&
	    !memcmp(c->pkt, want.pkt, sizeof(c->pkt)) &&
	    !memcmp(&c->mem, &want.mem, sizeof(c->mem)))
		return true;
	printf("# func %u fmt %u n %u off %u nm %#x returned %lld\n", c->func, c->fmt, c->n, c->off,
	       c->nm, ret);
	for (i = 0; i < NMAX; i++)
		if (c->acc[i] != want.acc[i]) {
			printf("# accumulator %u is %08x, not %08x\n", i, c->acc[i], want.acc[i]);
			break;
		}
	return false;
}

/* --- tests */

static void sums_of(bool packet)
{
	static const unsigned int ns[] = {0, 1, 2, 7, 15, 16, 17, 31, 33, 64, 100, 352, 832};
	static struct call c;
	unsigned int f, i, func;

	for (f = 0; f < sizeof(fmts) / sizeof(fmts[0]); f++)
		for (i = 0; i < sizeof(ns) / sizeof(ns[0]); i++)
			for (func = 0; func < 4; func++) {
				c.func = func + (packet ? KFUNC_PKT_ADD : 0);
				c.fmt = fmts[f];
				c.n = ns[i];
				/* Odd offsets as well as those of real headers. */
				c.off = packet ? 14 + 20 + 8 + i % 3 : 0;
				c.nm = 0;
				expect(check(&c));
			}
}

static void mem__sums_are_right(void)
{
	sums_of(false);
}

static void pkt__sums_are_right(void)
{
	sums_of(true);
}

static void expand__sums_are_right(void)
{
	static const unsigned int nms[] = {1 << 5 | 0, 2 << 5 | 1, 3 << 5 | 2,
					   4 << 5 | 7, 5 << 5 | 0, 5 << 5 | 31};
	static const unsigned int ns[] = {0, 32, 64, 352};
	static struct call c;
	unsigned int f, i, m, func;

	for (f = 0; f < sizeof(fmts) / sizeof(fmts[0]); f++)
		for (i = 1; i < sizeof(ns) / sizeof(ns[0]); i++)
			for (m = 0; m < sizeof(nms) / sizeof(nms[0]); m++)
				for (func = 0; func < 2; func++) {
					c.func = KFUNC_PKT_EXPAND_ADD + func;
					c.fmt = fmts[f];
					c.n = ns[i];
					c.off = 42 + m % 2;
					c.nm = nms[m];
					expect(check(&c));
				}
}

/* qemu's vector instructions pick another one of two NaNs. */
static bool emulated_fpu = true;

static void f32__odd_values_are_sses(void)
{
	static const uint32_t odd[] = {0,	   0x80000000, 1,	   0x807fffff, 0x7f800000,
				       0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0x7f7fffff,
				       0x3f800000, 0x00800000, 0x33800000, 0xbf800000};
	const unsigned int n = sizeof(odd) / sizeof(odd[0]);
	static struct call c;
	uint32_t want[256];
	unsigned int i;

	memset(&c, 0, sizeof(c));
	c.func = KFUNC_PKT_ADD;
	c.fmt = TRIB_FMT_F32;
	c.n = n * n;
	c.off = 42;
	c.pkt_len = 42 + 4 * c.n;
	for (i = 0; i < n * n; i++) {
		c.acc[i] = odd[i / n];
		memcpy(c.pkt + 42 + 4 * i, &odd[i % n], 4);
		want[i] = add_f32(odd[i / n], odd[i % n]);
	}
	expect_eq(call(&c), 0);
	for (i = 0; i < n * n; i++)
		if (!(emulated_fpu && is_nan(odd[i / n]) && is_nan(odd[i % n])) &&
		    !expect(c.acc[i] == want[i]))
			printf("# %08x + %08x is %08x, not %08x\n", odd[i / n], odd[i % n],
			       c.acc[i], want[i]);
}

static void mem__packet_may_be_the_memory(void)
{
	static struct call c;
	float f = 2.5f, g = 0.25f, got;
	int i;

	memset(&c, 0, sizeof(c));
	for (i = 0; i < 16; i++) {
		memcpy(&c.acc[i], &f, 4);
		memcpy(c.pkt + 4 * i, &g, 4);
	}
	c.func = KFUNC_IN_PLACE;
	c.pkt_len = 64;
	expect_eq(call(&c), 0);
	for (i = 0; i < 16; i++) {
		memcpy(&got, c.pkt + 4 * i, 4);
		expect(got == 2.75f);
	}
}

static void caps__say_what_there_is(void)
{
	static struct call c;
	long long caps;

	c.func = KFUNC_CAPS;
	c.pkt_len = 64;
	caps = call(&c);
	expect_eq(caps >> 32, TRIB_KFUNC_API);
	expect_eq((uint32_t)caps,
		  1 << TRIB_FMT_I32 | 1 << TRIB_FMT_F32 | 1 << TRIB_FMT_F16 | 1 << TRIB_FMT_BF16);
}

/* Expect a refusal that changes nothing. */
static void refuse(struct call *c, int err)
{
	static struct call was;

	was = *c;
	expect_eq(call(c), err);
	expect(!memcmp(c->acc, was.acc, sizeof(was.acc)));
	expect(!memcmp(c->pkt, was.pkt, sizeof(was.pkt)));
}

static void refused__nothing_is_touched(void)
{
	static struct call c;

	c.func = KFUNC_PKT_FINAL;
	c.fmt = TRIB_FMT_F32;
	c.n = 16;
	c.off = 42;
	fill(&c);
	c.off = 43;
	refuse(&c, -ERANGE);
	c.off = 0xffffffff;
	refuse(&c, -ERANGE);
	c.off = 0xfffffffc;
	refuse(&c, -ERANGE);
	c.off = 42;
	c.fmt = TRIB_FMT_Q32;
	refuse(&c, -EINVAL);
	c.fmt = 255;
	refuse(&c, -EINVAL);
	c.fmt = TRIB_FMT_F32;
	c.nm = 1;
	refuse(&c, -EINVAL);
	c.nm = 0;
	c.n = 1025;
	refuse(&c, -EINVAL);
	c.n = 0x40000001;
	refuse(&c, -E2BIG);
	c.func = KFUNC_PKT_EXPAND_ADD;
	c.n = 32;
	c.nm = 2 << 5 | 1;
	c.off = 0;
	memset(c.pkt, 0xff, 4);
	c.pkt_len = 4 + 64;
	refuse(&c, -EINVAL);
	c.func = KFUNC_NULL;
	c.nm = 0;
	refuse(&c, -EINVAL);
}

static void refused__packets_of_several_buffers(void)
{
	static uint8_t big[9000];
	struct kfunc_ask k = {
		.func = KFUNC_PKT_ADD,
		.off = 42,
		.what = TRIB_KFUNC_WHAT(TRIB_FMT_F32, 0, 16),
	};

	expect_eq(test_run(prog_frags, &k, big, sizeof(big), NULL), 0);
	expect_eq(k.ret, -EOPNOTSUPP);
	expect_eq(test_run(prog_frags, &k, big, 200, NULL), 0);
	expect_eq(k.ret, 0);
}

/* --- arriving frames */

static int frame_socket(const char *ifname)
{
	struct sockaddr_ll sa = {
		.sll_family = AF_PACKET,
		.sll_ifindex = (int)if_nametoindex(ifname),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool wait_calls(unsigned long long n)
{
	struct timespec ms = {.tv_nsec = 5000000};
	struct kfunc_ask k = {0};
	uint32_t zero = 0;
	int i;

	for (i = 0; i < 2000 && k.calls < n; i++) {
		bpf_map_lookup_elem(map_ask, &zero, &k);
		nanosleep(&ms, NULL);
	}
	return k.calls == n && k.ret == 0;
}

#define FRAMES 200
#define VALUES 352

static void live__frames_add_up(void)
{
	struct kfunc_ask k = {
		.func = KFUNC_PKT_ADD,
		.off = 42,
		.what = TRIB_KFUNC_WHAT(TRIB_FMT_F32, 0, VALUES),
	};
	static uint8_t frame[42 + 4 * VALUES];
	struct kfunc_values acc = {0};
	float want[VALUES] = {0}, v;
	int sock, i, j, ifindex;
	uint32_t zero = 0;

	if (!expect(!unshare(CLONE_NEWNET)) ||
	    !expect(!system("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 && "
			    "ip link add m0 type veth peer name m1 && "
			    "ip link set m0 up && ip link set m1 up")))
		return;
	ifindex = (int)if_nametoindex("m1");
	if (!expect(!bpf_xdp_attach(ifindex, prog, XDP_FLAGS_DRV_MODE, NULL)))
		return;
	sock = frame_socket("m0");
	bpf_map_update_elem(map_ask, &zero, &k, 0);
	bpf_map_update_elem(map_acc, &zero, &acc, 0);
	memset(frame, 0xff, 6);
	for (i = 0; i < FRAMES; i++) {
		for (j = 0; j < VALUES; j++) {
			v = (float)(int)(rnd() % 2001) - 1000;
			want[j] += v;
			memcpy(frame + 42 + 4 * j, &v, 4);
		}
		expect(send(sock, frame, sizeof(frame), 0) == sizeof(frame));
	}
	expect(wait_calls(FRAMES));
	bpf_map_lookup_elem(map_acc, &zero, &acc);
	expect(!memcmp(acc.b, want, sizeof(want)));
	bpf_xdp_detach(ifindex, XDP_FLAGS_DRV_MODE, NULL);
	close(sock);
}

/* --- with and without the FPU */

static bool set_busy(char on)
{
	int fd = open(BUSY, O_WRONLY);
	bool ok = fd >= 0 && write(fd, &on, 1) == 1;

	if (fd >= 0)
		close(fd);
	return ok;
}

static void busy__sums_are_the_same(void)
{
	expect(set_busy('1'));
	emulated_fpu = false;
	mem__sums_are_right();
	pkt__sums_are_right();
	expand__sums_are_right();
	f32__odd_values_are_sses();
	live__frames_add_up();
	emulated_fpu = true;
	expect(set_busy('0'));
}

static bool load(void)
{
	obj = bpf_object__open_file(TEST_VM_DIR "/kfunc/kfunc.bpf.o", NULL);
	if (!obj || bpf_object__load(obj))
		return false;
	prog = bpf_program__fd(bpf_object__find_program_by_name(obj, "kfunc_call"));
	prog_frags = bpf_program__fd(bpf_object__find_program_by_name(obj, "kfunc_frags"));
	map_ask = bpf_object__find_map_fd_by_name(obj, "ask");
	map_acc = bpf_object__find_map_fd_by_name(obj, "acc");
	map_val = bpf_object__find_map_fd_by_name(obj, "val");
	return true;
}

int main(void)
{
	if (!load()) {
		printf("Bail out! the program does not load: %s\n", strerror(errno));
		return 1;
	}
	run(caps__say_what_there_is);
	run(mem__sums_are_right);
	run(mem__packet_may_be_the_memory);
	run(pkt__sums_are_right);
	run(expand__sums_are_right);
	run(f32__odd_values_are_sses);
	run(refused__nothing_is_touched);
	run(refused__packets_of_several_buffers);
	run(live__frames_add_up);
	run(busy__sums_are_the_same);
	bpf_object__close(obj);
	return tap_done();
}
