// SPDX-License-Identifier: BSD-2-Clause
/* Owns questions about the NDN forwarder: is it on, which counters are its. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/netlink/request.h"
#include "cli/out/out.h"
#include "uapi/trib.h"
#include "uapi/trib_ndn.h"
#include "ndn.h"

#define STAT_PREFIX "ndn-"

int ndn_look(struct cli *c, json_t **out)
{
	int err = cli_fetch_one(c, TRIB_CMD_NDN_GET, TRIB_A_NDN, out);

	if (err && c->refused == -EOPNOTSUPP) {
		c->error[0] = '\0';
		return CLI_OK;
	}
	return err;
}

json_t *ndn_take_stats(json_t *stats)
{
	json_t *ndn = stats ? json_array() : NULL, *s;
	size_t i = 0;

	while (i < json_array_size(stats)) {
		s = json_array_get(stats, i);
		if (strncmp(jstr(s, "name"), STAT_PREFIX, strlen(STAT_PREFIX))) {
			i++;
			continue;
		}
		json_array_append(ndn, s);
		json_array_remove(stats, i);
	}
	return ndn;
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
		snprintf(buf, size, "%s:%u", ndn, (unsigned int)jnum(face, "ndn_port"));
	else
		snprintf(buf, size, "%s:ether", ndn);
}
