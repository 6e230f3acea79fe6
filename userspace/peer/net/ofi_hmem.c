// SPDX-License-Identifier: BSD-2-Clause
/* Whether a provider could take memory of GPUs by itself (FI_HMEM). */
#include <stdlib.h>
#include <string.h>

#include "peer/net/ofi.h"
#include "peer/net/port.h"

bool peer_nic_hmem(const char *provider)
{
	struct fi_info *hints = provider ? fi_allocinfo() : NULL, *info = NULL;
	bool offers;

	if (!hints)
		return false;
	hints->caps = FI_MSG | FI_RMA | FI_HMEM;
	hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY | FI_MR_ENDPOINT | FI_MR_HMEM;
	hints->fabric_attr->prov_name = strdup(provider);
	offers = hints->fabric_attr->prov_name &&
		 !fi_getinfo(OFI_VERSION, NULL, NULL, 0, hints, &info);
	if (info)
		fi_freeinfo(info);
	fi_freeinfo(hints);
	return offers;
}
