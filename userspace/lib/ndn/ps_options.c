// SPDX-License-Identifier: BSD-2-Clause
/* Options of trib_ps_open(), their environment variables, and error texts. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ps.h"

#define RTO_MS 100
#define RTO_MAX_MS 60000

static _Thread_local char thread_error[256] = "no error";
static _Thread_local char thread_copy[256];

int trib_ps_fail(struct trib_ps *p, int err, const char *fmt, ...)
{
	char *text = p ? p->error : thread_error;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(thread_error), fmt, ap);
	va_end(ap);
	return err;
}

const char *trib_ps_error_text(const struct trib_ps *p)
{
	/* Only the caller's own calls write the error of a handle. */
	memcpy(thread_copy, p ? p->error : thread_error, sizeof(thread_copy));
	return thread_copy;
}

static const char *or_env(const char *given, const char *variable)
{
	const char *text = given ? given : getenv(variable);

	return text && *text ? text : NULL;
}

static int read_name(struct trib_ps *p, struct ndn_worker_config *c, const char *text)
{
	struct ndn_component part;
	struct ndn_name name;

	if (!text)
		return trib_ps_fail(NULL, -EINVAL,
				    "this worker has no name: set options.name or TRIB_PS_NAME");
	if (ndn_name_parse(&p->gpu, text))
		return trib_ps_fail(NULL, -EINVAL,
				    "name '%.60s' is not an NDN name: want one component, as /w0",
				    text);
	name = ndn_name_of(&p->gpu);
	if (name.count == 1)
		part = ndn_name_get(&name, 0);
	if (name.count != 1 || part.type != TRIB_NDN_GENERIC || !part.value.n ||
	    part.value.n > NDN_GPU_MAX)
		return trib_ps_fail(NULL, -EINVAL,
				    "name '%.60s': want one component of at most %d bytes, as /w0",
				    text, NDN_GPU_MAX);
	c->gpu = part.value;
	return 0;
}

static int read_filter(struct ndn_worker_config *c, const char *text)
{
	if (text && ndn_name_parse(&c->filter, text))
		return trib_ps_fail(NULL, -EINVAL,
				    "job '%.60s' is not an NDN name: want a prefix, as /ps/train",
				    text);
	return 0;
}

static int read_key(struct ndn_key *key, const char *path)
{
	enum ndn_err err = ndn_key_read(key, path);

	if (err)
		return trib_ps_fail(NULL, -EINVAL, "key %.120s: %s", path, ndn_err_text(err));
	return 0;
}

static int read_keys(struct ndn_worker_config *c, const char *key, const char *own)
{
	int rc = 0;

	c->verify = ndn_key_sha256;
	c->sign = ndn_key_sha256;
	if (key)
		rc = read_key(&c->verify, key);
	if (!rc && own)
		rc = read_key(&c->sign, own);
	else if (!rc && c->verify.has_secret)
		c->sign = c->verify;
	if (!rc && own && !c->sign.has_secret)
		rc = trib_ps_fail(
			NULL, -EINVAL,
			"key %.120s is public and cannot sign: set own_key or TRIB_PS_OWN_KEY",
			own);
	return rc;
}

static int read_markers(struct trib_ps *p, struct ndn_worker_config *c,
			const struct trib_ps_options *o)
{
	const struct ndn_markers *m = &ndn_markers_default;
	struct ndn_name_buf job = {0};
	struct ndn_job_names probe;
	struct ndn_name name;

	p->markers.insert = strdup(o->insert ? o->insert : m->insert);
	p->markers.distribute = strdup(o->distribute ? o->distribute : m->distribute);
	p->markers.remove = strdup(o->delete_ ? o->delete_ : m->remove);
	if (!p->markers.insert || !p->markers.distribute || !p->markers.remove)
		return -ENOMEM;
	c->markers = &p->markers;
	/*
	 * A name that is no marker in any network, so an error can only be
	 * about the markers.
	 */
	ndn_name_append(&job, TRIB_NDN_GENERIC, "\0job", 4);
	name = ndn_name_of(&job);
	if (ndn_job_names_init(&probe, &name, c->markers))
		return trib_ps_fail(
			NULL, -EINVAL,
			"markers '%.30s', '%.30s', '%.30s': want three different words of 1 to %d bytes",
			p->markers.insert, p->markers.distribute, p->markers.remove,
			NDN_MARKER_MAX);
	return 0;
}

int trib_ps_read_options(struct trib_ps *p, struct ndn_worker_config *c, struct ndn_socket_addr *a,
			 const struct trib_ps_options *given)
{
	struct trib_ps_options o = {0};
	int rc;

	if (given && given->size < sizeof(given->size))
		return trib_ps_fail(NULL, -EINVAL,
				    "struct trib_ps_options: set @size before the call");
	if (given)
		memcpy(&o, given, given->size < sizeof(o) ? given->size : sizeof(o));
	*c = (struct ndn_worker_config){.rto = (o.rto_ms ? o.rto_ms : RTO_MS) * NDN_MS};
	if (o.rto_ms > RTO_MAX_MS)
		return trib_ps_fail(NULL, -EINVAL, "rto_ms is %u: want at most %d", o.rto_ms,
				    RTO_MAX_MS);
	if (getrandom(&c->seed, sizeof(c->seed), 0) != sizeof(c->seed))
		return trib_ps_fail(NULL, -EIO, "getrandom() gave no random numbers");
	a->forwarder = or_env(o.forwarder, "TRIB_PS_FORWARDER");
	a->bind = or_env(o.bind, "TRIB_PS_BIND");
	if (!a->forwarder)
		return trib_ps_fail(NULL, -EINVAL,
				    "no forwarder: set options.forwarder or TRIB_PS_FORWARDER");
	c->trees = true;
	p->tree.job = or_env(o.tree, "TRIB_JOB");
	if (p->tree.job && !(p->tree.job = strdup(p->tree.job)))
		return -ENOMEM;
	rc = read_name(p, c, or_env(o.name, "TRIB_PS_NAME"));
	if (!rc)
		rc = read_filter(c, or_env(o.job, "TRIB_PS_JOB"));
	if (!rc)
		rc = read_keys(c, or_env(o.key, "TRIB_PS_KEY"),
			       or_env(o.own_key, "TRIB_PS_OWN_KEY"));
	return rc ? rc : read_markers(p, c, &o);
}

void trib_ps_free_options(struct trib_ps *p)
{
	free((char *)p->tree.job);
	free((char *)p->markers.insert);
	free((char *)p->markers.distribute);
	free((char *)p->markers.remove);
}
