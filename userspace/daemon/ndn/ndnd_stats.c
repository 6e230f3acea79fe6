// SPDX-License-Identifier: BSD-2-Clause
/* The counters of the NDN forwarder: names and what they mean. */
#include <stdio.h>

#include "ndnd.h"
#include "daemon/netlink/nl.h"
#include "ndn/packet/ndn.h"

static const struct stat_text text[NDN_REFUSED] = {
	[NDN_RX_INTEREST] = {"ndn-rx-interest",
			     "Interests of faces, well-formed"},
	[NDN_RX_DATA] = {"ndn-rx-data", "Data of faces, well-formed"},
	[NDN_INSERTED] = {"ndn-inserted", "subscriptions, first or renewed"},
	[NDN_NEW] = {"ndn-new", "entries of the persistent PIT made"},
	[NDN_TURNED] = {"ndn-turned",
			"entries that have another upstream face now"},
	[NDN_CONFIRMED] = {"ndn-confirmed", "acknowledgements taken"},
	[NDN_DELETED] = {"ndn-deleted", "ends of subscriptions"},
	[NDN_GONE] = {"ndn-gone",
		      "entries taken out: no subscriber, or by command"},
	[NDN_ASKED] = {"ndn-asked",
		       "Interests that wait for Data, first or repeated"},
	[NDN_EXPIRED] = {"ndn-expired", "Interests that were never answered"},
	[NDN_KEPT] = {"ndn-kept", "Data put into the cache"},
	[NDN_HIT] = {"ndn-hit", "Interests answered from the cache"},
	[NDN_ACK] = {"ndn-ack", "Interests answered by an entry"},
	[NDN_TX_INTEREST] = {"ndn-tx-interest", "Interests passed on"},
	[NDN_TX_DATA] = {"ndn-tx-data", "Data passed on, to however many"},
	[NDN_TX_COPY] = {"ndn-tx-copy", "copies of Data to several"},
	[NDN_TX_SLOW] = {"ndn-tx-slow",
			 "copies and answers sent by the clsact program"},
	[NDN_SPARED] = {"ndn-spared",
			"copies not for the port that they came to"},
	[NDN_DROP_MISS] = {"ndn-drop-miss",
			   "unknown senders that tribd did not hear of"},
	[NDN_DROP_SHORT] = {"ndn-drop-short", "the headers are cut"},
	[NDN_DROP_OPTIONS] = {"ndn-drop-options",
			      "IP options or extension headers"},
	[NDN_DROP_FRAGMENT] = {"ndn-drop-fragment", "fragment of IP"},
	[NDN_DROP_LENGTH] = {"ndn-drop-length",
			     "IP, UDP and frame lengths disagree"},
	[NDN_DROP_SOURCE] = {"ndn-drop-source",
			     "the source MAC address is a group's"},
	[NDN_DROP_FACE] = {"ndn-drop-face", "the sender is no face"},
	[NDN_DROP_NACK] = {"ndn-drop-nack", "an Interest that comes back"},
	[NDN_DROP_NONCE] = {"ndn-drop-nonce", "Interest without a nonce"},
	[NDN_DROP_LOOP] = {"ndn-drop-loop", "name and nonce were here before"},
	[NDN_DROP_RIGHT] = {"ndn-drop-right", "the face may not"},
	[NDN_DROP_ROUTE] = {"ndn-drop-route", "no route to the name"},
	[NDN_DROP_BELOW] = {"ndn-drop-below",
			    "the route leads back to where it came from"},
	[NDN_DROP_LEAVING] = {"ndn-drop-leaving",
			      "insert while a delete is under way"},
	[NDN_DROP_WAITS] = {"ndn-drop-waits",
			    "a stock client waits for what comes unasked"},
	[NDN_DROP_PENDING] = {"ndn-drop-pending",
			      "Interests that joined one that waits"},
	[NDN_DROP_COLLISION] = {"ndn-drop-collision",
				"another name has the same key"},
	[NDN_DROP_FULL] = {"ndn-drop-full",
			   "no room for an entry or an Interest"},
	[NDN_DROP_BUSY] = {"ndn-drop-busy", "a row was in use for too long"},
	[NDN_DROP_STRAY] = {"ndn-drop-stray",
			    "Data that nobody asked for or subscribed to"},
	[NDN_DROP_UPSTREAM] = {"ndn-drop-upstream",
			       "Data not from the upstream face"},
	[NDN_DROP_SEEN] = {"ndn-drop-seen",
			   "a segment that went through before, or older"},
	[NDN_DROP_NOBODY] = {"ndn-drop-nobody",
			     "nobody but the sender wants it"},
	[NDN_DROP_MTU] = {"ndn-drop-mtu",
			  "longer than the face takes, or than we can copy"},
	[NDN_DROP_PORT] = {"ndn-drop-port", "the port is not there"},
	[NDN_DROP_HEAD] = {"ndn-drop-head", "no room for headers"},
	[NDN_DROP_ROOM] = {"ndn-drop-room",
			   "a delete too short to become its answer"},
	[NDN_DROP_FLIGHT] = {"ndn-drop-flight",
			     "a marked frame was overtaken, or forged"},
	[NDN_DROP_GONE] = {"ndn-drop-gone",
			   "an answer was gone before it was sent"},
	[NDN_DROP_OFFLOAD] = {"ndn-drop-offload",
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
	snprintf(buf, sizeof(buf), "ndn-bad-%s", name[err]);
	s.name = buf;
	s.text = ndn_err_text((enum ndn_err)err);
	return &s;
}

const struct stat_text *ndnd_stat_text(uint32_t id)
{
	if (id < NDN_REFUSED)
		return text[id].name ? &text[id] : NULL;
	return id < NDN_STAT__MAX ? refused_text(id - NDN_REFUSED) : NULL;
}
