// SPDX-License-Identifier: BSD-2-Clause
/*
 * What commands share about the NDN forwarder: whether it is on, and which
 * counters are its.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "uapi/trib_ndn.h"
#include "cli.h"

#define STAT_PREFIX "ndn-"

int ndn_look(struct cli *c, json_t **out)
{
	struct nl_msg *msg = cli_message(c, TRIB_CMD_NDN_GET, 0);
	json_t *list;
	int err;

	*out = NULL;
	err = msg ? cli_fetch(c, msg, TRIB_A_NDN, &list) : CLI_ERROR;
	if (err && c->refused == -EOPNOTSUPP) {
		c->error[0] = '\0';
		return CLI_OK;
	}
	if (err)
		return err;
	*out = json_incref(json_array_get(list, 0));
	json_decref(list);
	return CLI_OK;
}

json_t *ndn_take_stats(json_t *stats)
{
	json_t *names = stats ? json_array() : NULL, *s;
	size_t i = 0;

	while (i < json_array_size(stats)) {
		s = json_array_get(stats, i);
		if (strncmp(jstr(s, "name"), STAT_PREFIX,
			    strlen(STAT_PREFIX))) {
			i++;
			continue;
		}
		json_array_append(names, s);
		json_array_remove(stats, i);
	}
	return names;
}

bool ndn_is_face(const json_t *face)
{
	const char *ndn = jstr(face, "ndn");

	return *ndn && strcmp(ndn, "none");
}

void ndn_face_text(const json_t *face, char *buf, size_t size)
{
	const json_t *port = json_object_get(face, "ndn_port");
	const char *ndn = jstr(face, "ndn");

	if (!ndn_is_face(face))
		snprintf(buf, size, "-");
	else if (!port || jnum(face, "ndn_port") == TRIB_NDN_UDP_PORT)
		snprintf(buf, size, "%s", ndn);
	else if (jnum(face, "ndn_port"))
		snprintf(buf, size, "%s:%u", ndn,
			 (unsigned int)jnum(face, "ndn_port"));
	else
		snprintf(buf, size, "%s:ether", ndn);
}
