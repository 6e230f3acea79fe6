// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the comparison of faces and jobs. A face is identified by its neighbour,
 * not by its name. A job keeps all but its rate for life.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/addr.h"
#include "uapi/trib.h"
#include "uapi/trib_wire.h"
#include "apply.h"

/* --- faces */

static bool same_addr(const char *a, const char *b)
{
	uint8_t x[16], y[16];

	return !parse_addr(a, x) && !parse_addr(b, y) && !memcmp(x, y, 16);
}

static bool is_true(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

/* The face on the host that leads to the same neighbour, under any name; NULL: none. */
static const json_t *face_there(const struct apply_host *h, const json_t *f)
{
	uint64_t port = json_object_get(f, "port") ? jnum(f, "port") : TRIB_UDP_PORT;
	const json_t *old;
	size_t i;

	json_array_foreach(json_object_get(h->look, "faces"), i, old)
		if (!strcmp(jstr(old, "ifname"), jstr(f, "dev")) &&
		    same_addr(jstr(old, "addr"), jstr(f, "addr")) && jnum(old, "port") == port &&
		    !jnum(old, "vlan"))
			return old;
	return NULL;
}

/* Is there a face to be watched that no tribd watches? All get a new key then. */
static bool lacks_watch(const struct apply *a)
{
	const json_t *f, *old;
	size_t i, k;

	for (i = 0; i < a->nhost; i++)
		json_array_foreach(json_object_get(a->host[i].plan, "faces"), k, f) {
			old = face_there(&a->host[i], f);
			if (is_true(f, "watch") && (!old || !json_object_get(old, "neighbour")))
				return true;
		}
	return false;
}

/* Give face @old the right to forward, if @f has it. An operator's is kept. */
static void give_forward(struct apply_host *h, const json_t *f, const json_t *old)
{
	const char *name = jstr(old, "name");

	if (strcmp(jstr(f, "forward"), "yes") || !strcmp(jstr(old, "forward"), "yes"))
		return;
	apply_step(h->load, apply_words("face set %s forward yes", name),
		   apply_words("face set %s forward no", name));
	apply_note(h, '~', "face %s forward yes", name);
}

void apply_diff_watch(struct apply *a)
{
	static const char none[TRIB_KEY_HEX + 1] = "00000000000000000000000000000000";
	char hex[TRIB_KEY_HEX + 1];
	struct trib_key key = {};
	const json_t *f;
	size_t i, k;

	if (!lacks_watch(a))
		return;
	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		apply_refuse(&a->host[0], "no random numbers");
	text_key_put(&key, hex);
	for (i = 0; i < a->nhost; i++)
		json_array_foreach(json_object_get(a->host[i].plan, "faces"), k, f) {
			struct apply_host *h = &a->host[i];
			const char *name =
				json_string_value(json_object_get(h->faces, jstr(f, "name")));

			if (!is_true(f, "watch") || !name)
				continue;
			apply_step(h->load, apply_words("face set %s watch %s", name, hex),
				   apply_words("face set %s watch %s", name, none));
			/* Do not print the secret. */
			apply_note(h, '~', "face %s watch", name);
		}
	explicit_bzero(hex, sizeof(hex));
}

void apply_diff_face(struct apply_host *h, const json_t *f)
{
	const char *name = jstr(f, "name"), *dev = jstr(f, "dev");
	const char *addr = jstr(f, "addr");
	uint64_t port = json_object_get(f, "port") ? jnum(f, "port") : TRIB_UDP_PORT;
	const json_t *old = face_there(h, f);
	size_t i;

	if (json_object_get(h->faces, name)) {
		apply_refuse(h, "face %s is in the plan twice", name);
		return;
	}
	if (old) {
		json_object_set_new(h->faces, name, json_string(jstr(old, "name")));
		give_forward(h, f, old);
		return;
	}
	json_array_foreach(json_object_get(h->look, "faces"), i, old)
		if (!strcmp(jstr(old, "name"), name))
			apply_refuse(
				h,
				"face %s is dev %s addr %s port %u there, dev %s addr %s port %u in the plan",
				name, jstr(old, "ifname"), jstr(old, "addr"),
				(unsigned int)jnum(old, "port"), dev, addr, (unsigned int)port);
	/* tribd makes the LOCAL pair with the first face that needs it. */
	if (strcmp(dev, TRIB_LOCAL_PORT) &&
	    !json_object_get(json_object_get(h->look, "devices"), dev))
		apply_refuse(h, "face %s: no device %s", name, dev);
	json_object_set_new(h->faces, name, json_string(name));
	apply_step(h->load,
		   apply_words("face add %s dev %s addr %s port %u%s", name, dev, addr,
			       (unsigned int)port,
			       strcmp(jstr(f, "forward"), "yes") ? "" : " forward yes"),
		   apply_words("face del %s", name));
	if (port == TRIB_UDP_PORT)
		apply_note(h, '+', "face %s dev %s addr %s", name, dev, addr);
	else
		apply_note(h, '+', "face %s dev %s addr %s port %u", name, dev, addr,
			   (unsigned int)port);
}

/* --- jobs */

static void compare_peers(struct apply_host *h, const json_t *want, const json_t *old)
{
	const char *name = jstr(want, "name"), *there = jstr(old, "peers");
	uint16_t port, old_port;
	struct in6_addr ip, old_ip;

	if (!json_object_get(want, "peers"))
		return;
	if (!addr_parse_meeting(jstr(want, "peers"), &ip, &port) &&
	    !addr_parse_meeting(there, &old_ip, &old_port) && port == old_port &&
	    IN6_ARE_ADDR_EQUAL(&ip, &old_ip))
		return;
	apply_refuse(
		h,
		"job %s: peers is %s there, %s in the plan: a job keeps it for life (trib job del %s)",
		name, *there ? there : "none", jstr(want, "peers"), name);
}

/* Compare an existing job with the plan's; only the rate may differ. */
static void compare_job(struct apply_host *h, const json_t *want, const json_t *old)
{
	static const char *const keys[][2] = {{"id", "id"},
					      {"world", "world"},
					      {"window", "window"},
					      {"timeout", "timeout_ms"},
					      {"owner", "owner"}};
	const char *name = jstr(want, "name");
	const char *dtype = json_object_get(want, "dtype") ? jstr(want, "dtype") : "int";
	size_t i;

	compare_peers(h, want, old);
	if (strcmp(dtype, jstr(old, "dtype")))
		apply_refuse(
			h,
			"job %s: dtype is %s there, %s in the plan: a job keeps it for life (trib job del %s)",
			name, jstr(old, "dtype"), dtype, name);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_object_get(want, keys[i][0]) &&
		    apply_number(want, keys[i][0]) != jnum(old, keys[i][1]))
			apply_refuse(
				h,
				"job %s: %s is %llu there, %llu in the plan: a job keeps it for life (trib job del %s)",
				name, keys[i][0], (unsigned long long)jnum(old, keys[i][1]),
				(unsigned long long)apply_number(want, keys[i][0]), name);
	if (!json_object_get(want, "rate") || apply_number(want, "rate") == jnum(old, "rate"))
		return;
	apply_step(
		h->flip,
		apply_words("job set %s rate %llu", name,
			    (unsigned long long)apply_number(want, "rate")),
		apply_words("job set %s rate %llu", name, (unsigned long long)jnum(old, "rate")));
	apply_note(h, '-', "job %s rate %llu", name, (unsigned long long)jnum(old, "rate"));
	apply_note(h, '+', "job %s rate %llu", name,
		   (unsigned long long)apply_number(want, "rate"));
}

static void add_job(struct apply_host *h, const json_t *want, const struct trib_key *key)
{
	static const char *const keys[] = {"window", "timeout", "owner", "rate", "dtype", "peers"};
	const char *name = jstr(want, "name");
	const json_t *j;
	char hex[TRIB_KEY_HEX + 1];
	json_t *words, *more;
	char *text;
	size_t i;

	json_array_foreach(json_object_get(h->look, "jobs"), i, j)
		if (jnum(j, "id") == jnum(want, "id"))
			apply_refuse(h, "job %s: id %llu is job %s there", name,
				     (unsigned long long)jnum(want, "id"), jstr(j, "name"));
	words = apply_words("job add %s world %llu id %llu", name,
			    (unsigned long long)jnum(want, "world"),
			    (unsigned long long)jnum(want, "id"));
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *v = json_object_get(want, keys[i]);

		if (!v)
			continue;
		more = json_is_string(v) ? apply_words("%s %s", keys[i], json_string_value(v))
					 : apply_words("%s %llu", keys[i],
						       (unsigned long long)jnum(want, keys[i]));
		json_array_extend(words, more);
		json_decref(more);
	}
	text = apply_join(words);
	apply_note(h, '+', "job %s", text ? text + strlen("job add ") : name);
	free(text);
	/* Do not print the secret. */
	more = apply_words("key %s", text_key_put(key, hex));
	explicit_bzero(hex, sizeof(hex));
	json_array_extend(words, more);
	json_decref(more);
	apply_step(h->load, words, apply_words("job del %s", name));
}

struct trib_key apply_key(struct apply *a, const char *job)
{
	const json_t *want, *old;
	struct trib_key key = {}, v;
	bool known = false;
	size_t i;

	for (i = 0; i < a->nhost; i++) {
		want = apply_named(json_object_get(a->host[i].plan, "jobs"), job);
		if (!want || !json_object_get(want, "key") || text_key(jstr(want, "key"), &v))
			continue;
		if (known && memcmp(&v, &key, sizeof(v)))
			apply_refuse(&a->host[i],
				     "job %s: the plan has another key for other hosts", job);
		key = v;
		known = true;
	}
	for (i = 0; i < a->nhost; i++) {
		want = apply_named(json_object_get(a->host[i].plan, "jobs"), job);
		old = want ? apply_job_there(&a->host[i], job) : NULL;
		if (!apply_ps_key(&a->host[i], job, &v) && (!old || text_key(jstr(old, "key"), &v)))
			continue;
		if (known && memcmp(&v, &key, sizeof(v)))
			apply_refuse(
				&a->host[i],
				"job %s has another key there than in the plan or on other hosts (trib job del %s)",
				job, job);
		key = v;
		known = true;
	}
	if (!known && getrandom(&key, sizeof(key), 0) != sizeof(key))
		apply_refuse(&a->host[0], "no random numbers");
	return key;
}

void apply_diff_job(struct apply_host *h, const char *job, const struct trib_key *key)
{
	const json_t *want = apply_named(json_object_get(h->plan, "jobs"), job);
	const json_t *old = apply_job_there(h, job);

	if (want && old)
		compare_job(h, want, old);
	else if (want)
		add_job(h, want, key);
}
