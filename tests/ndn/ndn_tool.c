// SPDX-License-Identifier: BSD-2-Clause
/*
 * userspace/ndn for scripts: reads commands, one a line, and answers each with
 * one line, "ok ..." or "no REASON".
 *
 *	name TEXT			ok HEX: the Name's VALUE
 *	text HEX			ok TEXT
 *	data KEY NAME [FIELD=VALUE]...	ok HEX
 *	interest KEY NAME [FIELD=VALUE]...
 *	lp HEX [FIELD=VALUE]...		ok HEX: around that packet
 *	decode KEY HEX			ok FIELD=VALUE...: and what verifying says
 *	again KEY HEX			ok HEX: decoded and encoded
 *
 * KEY is a key file, "sha256", or "-" for none. Bytes are in hexadecimal.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndn/packet/ndn.h"

#define LINE (4 * TRIB_NDN_PACKET_MAX)

static uint8_t out[TRIB_NDN_PACKET_MAX];

/* Decoded fields of one command: hexadecimal bytes, and names. */
struct room {
	size_t n;
	uint8_t bytes[2 * TRIB_NDN_PACKET_MAX];
	struct ndn_name_buf name, other;
};
static struct room room;

static void die(const char *what, const char *arg)
{
	fprintf(stderr, "ndn_tool: %s: %s\n", what, arg ? arg : "nothing");
	exit(2);
}

static struct ndn_bytes hex(const char *text)
{
	uint8_t *p = room.bytes + room.n;
	size_t n;

	if (!text ||
	    sodium_hex2bin(p, sizeof(room.bytes) - room.n, text, strlen(text), NULL, &n, NULL))
		die("not hexadecimal", text);
	room.n += n;
	return (struct ndn_bytes){p, n};
}

static void put_hex(struct ndn_bytes b)
{
	for (size_t i = 0; i < b.n; i++)
		printf("%02x", b.p[i]);
}

static void put_name(const struct ndn_name *name)
{
	char text[NDN_NAME_TEXT_MAX];

	ndn_name_text(name, text, sizeof(text));
	fputs(text, stdout);
}

static bool refused(enum ndn_err err)
{
	if (err)
		printf("no %s\n", ndn_err_text(err));
	return err;
}

static void answer(enum ndn_err err, const uint8_t *p, size_t n)
{
	if (refused(err))
		return;
	fputs("ok ", stdout);
	put_hex((struct ndn_bytes){p, n});
	putchar('\n');
}

static const struct ndn_key *read_key(struct ndn_key *key, const char *arg)
{
	enum ndn_err err;

	if (!arg || !strcmp(arg, "-"))
		return NULL;
	if (!strcmp(arg, "sha256"))
		return &ndn_key_sha256;
	err = ndn_key_read(key, arg);
	if (err)
		die(ndn_err_text(err), arg);
	return key;
}

/* FIELD=VALUE: is @arg's field this one? Its value, then, or NULL. */
static const char *value_of(const char *arg, const char *field)
{
	size_t n = strlen(field);

	return !strncmp(arg, field, n) && arg[n] == '=' ? arg + n + 1 : NULL;
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

static char *next(void)
{
	return strtok(NULL, " \n");
}

static enum ndn_err read_name(struct ndn_name *name)
{
	const char *text = next();
	enum ndn_err err;

	err = ndn_name_parse(&room.name, text ? text : "");
	*name = ndn_name_of(&room.name);
	return err;
}

static void data_field(struct ndn_data *d, const char *arg)
{
	struct ndn_name final;
	const char *v;

	if ((v = value_of(arg, "type"))) {
		d->content_type = number(v);
	} else if ((v = value_of(arg, "freshness"))) {
		d->has_freshness = true;
		d->freshness = number(v);
	} else if ((v = value_of(arg, "final"))) {
		if (ndn_name_parse(&room.other, v))
			die("not a component", v);
		final = ndn_name_of(&room.other);
		d->has_final = true;
		d->final_block = ndn_name_get(&final, 0);
	} else if ((v = value_of(arg, "content"))) {
		d->has_content = true;
		d->content = hex(v);
	} else {
		die("unknown field", arg);
	}
}

static void cmd_data(void)
{
	struct ndn_key room_key;
	const struct ndn_key *key = read_key(&room_key, next());
	struct ndn_data d = {0};
	enum ndn_err err;
	size_t n = 0;
	char *arg;

	if (refused(read_name(&d.name)))
		return;
	while ((arg = next()))
		data_field(&d, arg);
	err = ndn_data_encode(&d, key, out, sizeof(out), &n);
	answer(err, out, n);
}

static void sig_field(struct ndn_sig *sig, const char *arg)
{
	const char *v;

	if ((v = value_of(arg, "sig-nonce"))) {
		sig->nonce = hex(v);
	} else if ((v = value_of(arg, "sig-time"))) {
		sig->has_time = true;
		sig->time = number(v);
	} else if ((v = value_of(arg, "sig-seq"))) {
		sig->has_seq = true;
		sig->seq = number(v);
	} else {
		die("unknown field", arg);
	}
}

static void interest_field(struct ndn_interest *i, const char *arg)
{
	const char *v;

	if ((v = value_of(arg, "prefix"))) {
		i->can_be_prefix = number(v);
	} else if ((v = value_of(arg, "fresh"))) {
		i->must_be_fresh = number(v);
	} else if ((v = value_of(arg, "hint"))) {
		i->hint = hex(v);
	} else if ((v = value_of(arg, "nonce"))) {
		i->has_nonce = true;
		i->nonce = number(v);
	} else if ((v = value_of(arg, "lifetime"))) {
		i->has_lifetime = true;
		i->lifetime = number(v);
	} else if ((v = value_of(arg, "hop-limit"))) {
		i->has_hop_limit = true;
		i->hop_limit = number(v);
	} else if ((v = value_of(arg, "params"))) {
		i->has_params = true;
		i->params = hex(v);
	} else {
		sig_field(&i->sig, arg);
	}
}

static void cmd_interest(void)
{
	struct ndn_key room_key;
	const struct ndn_key *key = read_key(&room_key, next());
	struct ndn_interest i = {0};
	enum ndn_err err;
	size_t n = 0;
	char *arg;

	if (refused(read_name(&i.name)))
		return;
	while ((arg = next()))
		interest_field(&i, arg);
	err = ndn_interest_encode(&i, key, out, sizeof(out), &n);
	answer(err, out, n);
}

static void cmd_lp(void)
{
	struct ndn_bytes fragment = hex(next());
	struct ndn_lp lp = {0};
	enum ndn_err err;
	const char *v;
	size_t n = 0;
	char *arg;

	while ((arg = next())) {
		if ((v = value_of(arg, "nack"))) {
			lp.is_nack = true;
			lp.nack_reason = number(v);
		} else if ((v = value_of(arg, "token"))) {
			lp.pit_token = hex(v);
		} else if ((v = value_of(arg, "congestion"))) {
			lp.congestion = number(v);
		} else {
			die("unknown field", arg);
		}
	}
	err = ndn_lp_encode(&lp, fragment, out, sizeof(out), &n);
	answer(err, out, n);
}

static void put_sig(const struct ndn_sig *sig)
{
	printf(" sig-type=%llu", (unsigned long long)sig->type);
	if (sig->has_key) {
		fputs(" key=", stdout);
		put_name(&sig->key);
	}
	if (sig->has_time)
		printf(" sig-time=%llu", (unsigned long long)sig->time);
	if (sig->has_seq)
		printf(" sig-seq=%llu", (unsigned long long)sig->seq);
	if (sig->nonce.n) {
		fputs(" sig-nonce=", stdout);
		put_hex(sig->nonce);
	}
}

static void put_data(const struct ndn_data *d, const struct ndn_key *key)
{
	fputs("ok kind=data name=", stdout);
	put_name(&d->name);
	if (d->content_type)
		printf(" type=%llu", (unsigned long long)d->content_type);
	if (d->has_freshness)
		printf(" freshness=%llu", (unsigned long long)d->freshness);
	if (d->has_final) {
		struct ndn_name_buf buf = {0};
		struct ndn_name name;

		ndn_name_append(&buf, d->final_block.type, d->final_block.value.p,
				d->final_block.value.n);
		name = ndn_name_of(&buf);
		fputs(" final=", stdout);
		put_name(&name);
	}
	if (d->has_content) {
		fputs(" content=", stdout);
		put_hex(d->content);
	}
	put_sig(&d->sig);
	if (key)
		printf(" verified=%d", !ndn_data_verify(d, key));
}

static void put_interest(const struct ndn_interest *i, const struct ndn_key *key)
{
	fputs("ok kind=interest name=", stdout);
	put_name(&i->name);
	printf(" prefix=%d fresh=%d", i->can_be_prefix, i->must_be_fresh);
	if (i->hint.n) {
		fputs(" hint=", stdout);
		put_hex(i->hint);
	}
	if (i->has_nonce)
		printf(" nonce=%u", i->nonce);
	if (i->has_lifetime)
		printf(" lifetime=%llu", (unsigned long long)i->lifetime);
	if (i->has_hop_limit)
		printf(" hop-limit=%u", i->hop_limit);
	if (i->has_params) {
		fputs(" params=", stdout);
		put_hex(i->params);
	}
	printf(" digest=%d", !ndn_interest_check_digest(i));
	if (i->is_signed)
		put_sig(&i->sig);
	if (key)
		printf(" verified=%d", !ndn_interest_verify(i, key));
}

static void cmd_decode(void)
{
	struct ndn_key room_key;
	const struct ndn_key *key = read_key(&room_key, next());
	struct ndn_bytes b = hex(next());
	struct ndn_packet pkt;

	if (refused(ndn_packet_decode(&pkt, b.p, b.n)))
		return;
	if (pkt.type == TRIB_NDN_DATA)
		put_data(&pkt.data, key);
	else
		put_interest(&pkt.interest, key);
	if (pkt.lp.is_nack)
		printf(" nack=%llu", (unsigned long long)pkt.lp.nack_reason);
	if (pkt.lp.pit_token.n) {
		fputs(" token=", stdout);
		put_hex(pkt.lp.pit_token);
	}
	if (pkt.lp.congestion)
		printf(" congestion=%llu", (unsigned long long)pkt.lp.congestion);
	putchar('\n');
}

static void cmd_again(void)
{
	struct ndn_key room_key;
	const struct ndn_key *key = read_key(&room_key, next());
	struct ndn_bytes b = hex(next());
	struct ndn_packet pkt;
	enum ndn_err err;
	size_t n = 0;

	if (refused(ndn_packet_decode(&pkt, b.p, b.n)))
		return;
	if (pkt.type == TRIB_NDN_DATA)
		err = ndn_data_encode(&pkt.data, key, out, sizeof(out), &n);
	else
		err = ndn_interest_encode(&pkt.interest, key, out, sizeof(out), &n);
	answer(err, out, n);
}

static void cmd_name(void)
{
	struct ndn_name name;
	enum ndn_err err = read_name(&name);

	answer(err, name.value, name.len);
}

static void cmd_text(void)
{
	const char *arg = next();
	struct ndn_bytes b = {0};
	struct ndn_name name;

	/* The empty name has no digits. */
	if (arg)
		b = hex(arg);
	if (refused(ndn_name_decode(&name, b.p, b.n)))
		return;
	fputs("ok ", stdout);
	put_name(&name);
	putchar('\n');
}

static const struct {
	const char *name;
	void (*run)(void);
} commands[] = {
	{"name", cmd_name},	{"text", cmd_text},   {"data", cmd_data},	  {"lp", cmd_lp},
	{"decode", cmd_decode}, {"again", cmd_again}, {"interest", cmd_interest},
};

int main(void)
{
	static char line[LINE];
	unsigned int i;
	char *name;

	while (fgets(line, sizeof(line), stdin)) {
		name = strtok(line, " \n");
		if (!name)
			continue;
		room.n = 0;
		for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
			if (!strcmp(commands[i].name, name))
				break;
		if (i == sizeof(commands) / sizeof(commands[0]))
			die("unknown command", name);
		commands[i].run();
		fflush(stdout);
	}
	return 0;
}
