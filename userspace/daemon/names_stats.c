// SPDX-License-Identifier: BSD-2-Clause
/* The counters of the names forwarder: names and what they mean. */
#include <stdio.h>

#include "names.h"
#include "nl.h"
#include "userspace/ndn/ndn.h"

static const struct stat_text text[NAMES_REFUSED] = {
	[NAMES_RX_INTEREST] = {"names-rx-interest",
			       "Interests of faces, well-formed"},
	[NAMES_RX_DATA] = {"names-rx-data", "Data of faces, well-formed"},
	[NAMES_INSERTED] = {"names-inserted",
			    "subscriptions, first or renewed"},
	[NAMES_NEW] = {"names-new", "entries of the persistent PIT made"},
	[NAMES_TURNED] = {"names-turned",
			  "entries that have another upstream face now"},
	[NAMES_CONFIRMED] = {"names-confirmed", "acknowledgements taken"},
	[NAMES_DELETED] = {"names-deleted", "ends of subscriptions"},
	[NAMES_GONE] = {"names-gone",
			"entries taken out: no subscriber, or by command"},
	[NAMES_ASKED] = {"names-asked",
			 "Interests that wait for Data, first or repeated"},
	[NAMES_EXPIRED] = {"names-expired",
			   "Interests that were never answered"},
	[NAMES_KEPT] = {"names-kept", "Data put into the cache"},
	[NAMES_HIT] = {"names-hit", "Interests answered from the cache"},
	[NAMES_ACK] = {"names-ack", "Interests answered by an entry"},
	[NAMES_TX_INTEREST] = {"names-tx-interest", "Interests passed on"},
	[NAMES_TX_DATA] = {"names-tx-data", "Data passed on, to however many"},
	[NAMES_TX_COPY] = {"names-tx-copy", "copies of Data to several"},
	[NAMES_TX_SLOW] = {"names-tx-slow",
			   "copies and answers sent by the clsact program"},
	[NAMES_SPARED] = {"names-spared",
			  "copies not for the port that they came to"},
	[NAMES_DROP_MISS] = {"names-drop-miss",
			     "unknown senders that tribd did not hear of"},
	[NAMES_DROP_SHORT] = {"names-drop-short", "the headers are cut"},
	[NAMES_DROP_OPTIONS] = {"names-drop-options",
				"IP options or extension headers"},
	[NAMES_DROP_FRAGMENT] = {"names-drop-fragment", "fragment of IP"},
	[NAMES_DROP_LENGTH] = {"names-drop-length",
			       "IP, UDP and frame lengths disagree"},
	[NAMES_DROP_SOURCE] = {"names-drop-source",
			       "the source MAC address is a group's"},
	[NAMES_DROP_FACE] = {"names-drop-face", "the sender is no face"},
	[NAMES_DROP_NACK] = {"names-drop-nack", "an Interest that comes back"},
	[NAMES_DROP_NONCE] = {"names-drop-nonce", "Interest without a nonce"},
	[NAMES_DROP_LOOP] = {"names-drop-loop",
			     "name and nonce were here before"},
	[NAMES_DROP_RIGHT] = {"names-drop-right", "the face may not"},
	[NAMES_DROP_ROUTE] = {"names-drop-route", "no route to the name"},
	[NAMES_DROP_BELOW] = {"names-drop-below",
			      "the route leads back to where it came from"},
	[NAMES_DROP_LEAVING] = {"names-drop-leaving",
				"insert while a delete is under way"},
	[NAMES_DROP_WAITS] = {"names-drop-waits",
			      "a stock client waits for what comes unasked"},
	[NAMES_DROP_PENDING] = {"names-drop-pending",
				"Interests that joined one that waits"},
	[NAMES_DROP_COLLISION] = {"names-drop-collision",
				  "another name has the same key"},
	[NAMES_DROP_FULL] = {"names-drop-full",
			     "no room for an entry or an Interest"},
	[NAMES_DROP_BUSY] = {"names-drop-busy",
			     "a row was in use for too long"},
	[NAMES_DROP_STRAY] = {"names-drop-stray",
			      "Data that nobody asked for or subscribed to"},
	[NAMES_DROP_UPSTREAM] = {"names-drop-upstream",
				 "Data not from the upstream face"},
	[NAMES_DROP_SEEN] = {"names-drop-seen",
			     "a segment that went through before, or older"},
	[NAMES_DROP_NOBODY] = {"names-drop-nobody",
			       "nobody but the sender wants it"},
	[NAMES_DROP_MTU] = {"names-drop-mtu",
			    "longer than the face takes, or than we can copy"},
	[NAMES_DROP_PORT] = {"names-drop-port", "the port is not there"},
	[NAMES_DROP_HEAD] = {"names-drop-head", "no room for headers"},
	[NAMES_DROP_ROOM] = {"names-drop-room",
			     "a delete too short to become its answer"},
	[NAMES_DROP_FLIGHT] = {"names-drop-flight",
			       "a marked frame was overtaken, or forged"},
	[NAMES_DROP_GONE] = {"names-drop-gone",
			     "an answer was gone before it was sent"},
	[NAMES_DROP_OFFLOAD] = {"names-drop-offload",
				"checksum left to a device, headers change"},
};

/* Of what the parser refuses, the reasons are libndn's. */
static const struct stat_text *refused_text(uint32_t err)
{
	static const char *const name[NDN_E__MAX] = {
		[NDN_E_CUT] = "cut",
		[NDN_E_VARNUM] = "varnum",
		[NDN_E_TYPE_ZERO] = "type-zero",
		[NDN_E_TYPE_BIG] = "type-big",
		[NDN_E_BEYOND] = "beyond",
		[NDN_E_TRAILING] = "trailing",
		[NDN_E_LONG] = "long",
		[NDN_E_ELEMENTS] = "elements",
		[NDN_E_CRITICAL] = "critical",
		[NDN_E_ORDER] = "order",
		[NDN_E_NUMBER] = "number",
		[NDN_E_SIZE] = "size",
		[NDN_E_KIND] = "kind",
		[NDN_E_NO_NAME] = "no-name",
		[NDN_E_NAME_EMPTY] = "name-empty",
		[NDN_E_NAME_LONG] = "name-long",
		[NDN_E_NAME_DEEP] = "name-deep",
		[NDN_E_COMPONENT] = "component",
		[NDN_E_DIGEST_PLACE] = "digest-place",
		[NDN_E_PARAMS] = "params",
		[NDN_E_HINT] = "hint",
		[NDN_E_FINAL_BLOCK] = "final-block",
		[NDN_E_UNSIGNED] = "unsigned",
		[NDN_E_KEY_LOCATOR] = "key-locator",
		[NDN_E_LP_FIELD] = "lp-field",
		[NDN_E_LP_ORDER] = "lp-order",
		[NDN_E_LP_FRAGMENTED] = "lp-fragmented",
		[NDN_E_LP_EMPTY] = "lp-empty",
		[NDN_E_LP_NACK] = "lp-nack",
		[NDN_E_HOPS] = "hops",
		[NDN_E_SPACE] = "space",
	};
	static char buf[32];
	static struct stat_text s;

	if (!name[err])
		return NULL; /* never of a packet that is forwarded */
	snprintf(buf, sizeof(buf), "names-bad-%s", name[err]);
	s.name = buf;
	s.text = ndn_err_text((enum ndn_err)err);
	return &s;
}

const struct stat_text *names_stat_text(uint32_t id)
{
	if (id < NAMES_REFUSED)
		return text[id].name ? &text[id] : NULL;
	return id < NAMES_STAT__MAX ? refused_text(id - NAMES_REFUSED) : NULL;
}
