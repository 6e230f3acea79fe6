/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One value of a JSON object of the state file. A reader returns an empty value
 * for a missing or wrong one; the checks of the object made from it then refuse
 * it.
 */
#ifndef TRIBD_VALUE_H
#define TRIBD_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "uapi/trib.h"
#include "uapi/trib_auth.h"

/* Never NULL; lives as long as @o. */
const char *value_text(const json_t *o, const char *key);
/* Copy @text; false if it is too long. */
bool value_name(char out[TRIB_NAME_MAX], const char *text);
/* Read an integer. Missing: 0; negative or above @max: @max. */
uint64_t value_int(const json_t *o, const char *key, uint64_t max);
uint64_t value_clamp(const json_t *number, uint64_t max);
/* Read 64 bits, kept as 16 hexadecimal digits: JSON numbers hold fewer. */
uint64_t value_hex(const json_t *o, const char *key);
json_t *value_hex_pack(uint64_t v);
json_t *value_key_pack(const struct trib_key *key);
bool value_mac(const char *text, uint8_t mac[6]);
json_t *value_mac_pack(const uint8_t mac[6]);

#endif /* TRIBD_VALUE_H */
