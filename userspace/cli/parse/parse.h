/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments: text to values with range checks, and keyword lists to netlink
 * attributes by table. A command sends nothing unless all its arguments are
 * valid.
 */
#ifndef TRIB_CLI_PARSE_H
#define TRIB_CLI_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli;
struct nl_msg;

/* Convert text to a value. All return 0, -EINVAL (no such value) or -ERANGE. */
/* Digits with an optional k, M, G or T (powers of 1000). */
int parse_rate(const char *s, uint64_t *out);
/* IPv4 or IPv6 address to 16 bytes, IPv4 mapped. */
int parse_addr(const char *s, uint8_t out[16]);
/*
 * ADDR[:PORT]; brackets around an IPv6 address with a port. *@port is 0 without
 * a port.
 */
int parse_host(const char *s, uint8_t addr[16], uint16_t *port);
int parse_mac(const char *s, uint8_t out[6]);
/* "0-3,8" to a bitmap as in a packet. */
int parse_ranks(const char *s, uint8_t out[128]);
/* Number or name of a user. */
int parse_uid(const char *s, uint32_t *out);
/* Seconds, fractions allowed, to milliseconds. */
int parse_seconds(const char *s, uint32_t min_ms, uint32_t max_ms, uint32_t *out);

/* "30s", "1.5s", "500ms" or "2m" to milliseconds. */
int parse_time(const char *s, uint32_t min_ms, uint32_t max_ms, uint32_t *out);

enum arg_kind {
	ARG_TEXT,    /* printable ASCII, blanks included; at most max bytes */
	ARG_NAME,    /* name of a face, or of what is there */
	ARG_NEW_JOB, /* name of a new job: stricter, see base/name.h */
	ARG_IFNAME,
	ARG_ADDR,
	ARG_MAC,
	ARG_U8,
	ARG_U16,
	ARG_U32,
	ARG_U64,
	ARG_WORD, /* one of words; becomes its index, u8 */
	ARG_KEY,  /* 32 hexadecimal digits; a file that has them, or - */
	ARG_RATE,
	ARG_UID,
	ARG_CHILD,    /* FACE[:RANK] */
	ARG_LOCAL,    /* RANK[:INDEX], or RANK[:PORT] */
	ARG_HOP,      /* RELAY:FACE */
	ARG_HOST,     /* ADDR[:PORT]; attr + 1 is the port, if one is given */
	ARG_RANKS,    /* 0-3,8 */
	ARG_FLAG,     /* the keyword alone */
	ARG_TIME,     /* 30s, 500ms; becomes milliseconds, u32 */
	ARG_PREFIX,   /* /ps/job: an NDN name or prefix */
	ARG_PREFIXES, /* the same, or "none" alone: an empty list */
	ARG_MARK,     /* one component of a name */
	ARG_NDN,      /* host, router, none */
	ARG_DTYPE,    /* int, f32, f16, bf16 */
	ARG_NDN_PORT, /* 1 to 65535, ether */
	ARG_MEETING,  /* ADDR:PORT, as text */
};

/**
 * struct arg - an argument of a command
 * @word: keyword before the value; NULL for an argument with a fixed place
 *        (these come first in the table and on the command line).
 * @value: name of the value in usage and errors.
 * @kind: how to read it.
 * @attr: attribute it becomes.
 * @min:  smallest and
 * @max:  largest number; ARG_TEXT: most bytes.
 * @flags: ARG_NEEDED, ARG_LIST (may be repeated, and takes all values up to
 *        the next keyword), ARG_POW2.
 */
struct arg {
	const char *word;
	const char *value;
	enum arg_kind kind;
	int attr;
	uint64_t min, max;
	unsigned int flags;
	const char *const *words; /* ARG_WORD: ends with NULL */
};

/* A row of a table of arguments, without and with a range. */
#define ARG_ROW(word, value, kind, attr, flags)                                                    \
	{                                                                                          \
		word, value, kind, attr, 0, 0, flags, NULL                                         \
	}
#define ARG_NUM(word, value, kind, attr, min, max, flags)                                          \
	{                                                                                          \
		word, value, kind, attr, min, max, flags, NULL                                     \
	}

/*
 * parse_ndn.c: put a value of the kinds that are NDN's, number @order of its
 * keyword. Returns like nla_put(), or enum cli_code.
 */
int parse_put_ndn(struct cli *c, const struct arg *a, const char *s, int order, struct nl_msg *msg);
/* True if @s stands for an empty list. */
bool parse_is_none(const struct arg *a, const char *s);

#define ARG_NEEDED (1u << 0)
#define ARG_LIST (1u << 1)
#define ARG_POW2 (1u << 2)

#define ARG_MAX 32
#define ARG_BIT(attr) (1u << (attr))

/* Write @words, which end with NULL, with @between between them. */
void parse_words_text(const char *const *words, const char *between, char *buf, size_t size);

/**
 * parse_args() - parse the arguments of a command
 * @args: at most ARG_MAX rows, with attributes below 32.
 * @msg:  gets the attributes.
 * @seen: out: ARG_BIT() of each attribute that was given; may be NULL.
 *
 * Returns enum cli_code; errors name the offending word or value.
 */
int parse_args(struct cli *c, int argc, char **argv, const struct arg *args, size_t n,
	       struct nl_msg *msg, uint32_t *seen);

#endif /* TRIB_CLI_PARSE_H */
