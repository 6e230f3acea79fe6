// SPDX-License-Identifier: BSD-2-Clause
/* Values in the state file: see value.h. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "value.h"

const char *value_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

bool value_name(char out[TRIB_NAME_MAX], const char *text)
{
	return (size_t)snprintf(out, TRIB_NAME_MAX, "%s", text) < TRIB_NAME_MAX;
}

uint64_t value_clamp(const json_t *number, uint64_t max)
{
	json_int_t v = json_integer_value(number);

	return v < 0 || (uint64_t)v > max ? max : (uint64_t)v;
}

uint64_t value_int(const json_t *o, const char *key, uint64_t max)
{
	return value_clamp(json_object_get(o, key), max);
}

uint64_t value_hex(const json_t *o, const char *key)
{
	uint64_t v = 0;

	text_hex(value_text(o, key), &v);
	return v;
}

json_t *value_hex_pack(uint64_t v)
{
	char text[20];

	snprintf(text, sizeof(text), "%016" PRIx64, v);
	return json_string(text);
}

json_t *value_key_pack(const struct trib_key *key)
{
	char text[TRIB_KEY_HEX + 1];

	return json_string(text_key_put(key, text));
}

bool value_mac(const char *text, uint8_t mac[6])
{
	unsigned int m[6], i;

	if (sscanf(text, "%x:%x:%x:%x:%x:%x", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5]) != 6)
		return false;
	for (i = 0; i < 6; i++)
		mac[i] = (uint8_t)m[i];
	return true;
}

json_t *value_mac_pack(const uint8_t m[6])
{
	char text[20];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
		 m[5]);
	return json_string(text);
}
