// SPDX-License-Identifier: BSD-2-Clause
/* Texts of errors. */
#include "ndn.h"

static const char *const text[NDN_E__MAX] = {
	[NDN_OK] = "all is well",
	[NDN_E_CUT] = "ends within a type or a length",
	[NDN_E_VARNUM] = "a type or length is not in its shortest form",
	[NDN_E_TYPE_ZERO] = "an element has type 0",
	[NDN_E_TYPE_BIG] = "a type has more than 32 bits",
	[NDN_E_BEYOND] = "an element ends beyond what it is in",
	[NDN_E_TRAILING] = "something follows the packet",
	[NDN_E_LONG] = "the packet is longer than 8800 bytes",
	[NDN_E_ELEMENTS] = "more than 24 elements in an element",
	[NDN_E_CRITICAL] = "a critical element is not known here",
	[NDN_E_ORDER] = "a critical element is repeated or out of order",
	[NDN_E_NUMBER] = "a number does not have 1, 2, 4 or 8 bytes",
	[NDN_E_SIZE] = "an element has the wrong size",
	[NDN_E_KIND] = "neither an Interest, nor a Data, nor a link packet",
	[NDN_E_NO_NAME] = "the first element is not the name",
	[NDN_E_NAME_EMPTY] = "the name is empty",
	[NDN_E_NAME_LONG] = "the name is longer than 255 bytes",
	[NDN_E_NAME_DEEP] = "the name has more than 16 components",
	[NDN_E_COMPONENT] = "a component's type is above 65535",
	[NDN_E_DIGEST_PLACE] = "a digest component where none may be",
	[NDN_E_TEXT] = "this is not the text of a name",
	[NDN_E_PARAMS] =
		"parameters without their digest in the name, or a digest without parameters",
	[NDN_E_HINT] = "a ForwardingHint without a name",
	[NDN_E_FINAL_BLOCK] = "FinalBlockId is not one component",
	[NDN_E_UNSIGNED] = "there is no complete signature",
	[NDN_E_KEY_LOCATOR] = "KeyLocator is not one name or digest",
	[NDN_E_LP_FIELD] = "a link header field is not known here",
	[NDN_E_LP_ORDER] = "a link header field is repeated or out of order",
	[NDN_E_LP_FRAGMENTED] = "a fragment of a larger packet",
	[NDN_E_LP_EMPTY] = "a link packet without a packet",
	[NDN_E_LP_NACK] = "a Nack that is not about an Interest",
	[NDN_E_HOPS] = "HopLimit is 0",
	[NDN_E_DIGEST] = "the parameters do not match their digest in the name",
	[NDN_E_SIG_TYPE] = "signed in another way than is asked for",
	[NDN_E_SIG_KEY] = "signed with a key of another name",
	[NDN_E_SIG] = "the signature is wrong",
	[NDN_E_KEY_FILE] = "the key file cannot be read",
	[NDN_E_KEY_MODE] = "others may read the secret in the key file",
	[NDN_E_KEY_TEXT] = "not one line of key type, name and 64 hexadecimal digits",
	[NDN_E_KEY_PUBLIC] = "a public key cannot sign",
	[NDN_E_SPACE] = "it does not fit",
};

const char *ndn_err_text(enum ndn_err err)
{
	if ((unsigned int)err >= NDN_E__MAX || !text[err])
		return "unknown reason";
	return text[err];
}
