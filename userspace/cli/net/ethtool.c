// SPDX-License-Identifier: BSD-2-Clause
/* Owns ethtool requests: offloads and queues of a device. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "link.h"

static int ethtool(int sock, const char *ifname, void *cmd)
{
	struct ifreq ifr = {0};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	ifr.ifr_data = cmd;
	return ioctl(sock, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
}

static int count_features(int sock, const char *ifname, uint32_t *n)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t count;
	} q = {
		.info.cmd = ETHTOOL_GSSET_INFO,
		.info.sset_mask = 1ULL << ETH_SS_FEATURES,
	};
	int err;

	err = ethtool(sock, ifname, &q);
	if (err)
		return err;
	if (!q.info.sset_mask || !q.count || q.count > 1024)
		return -EOPNOTSUPP;
	*n = q.count;
	return 0;
}

/* Find the number of the bit with the name @feature. */
static int find_feature(int sock, const char *ifname, uint32_t n, const char *feature)
{
	struct ethtool_gstrings *names;
	uint32_t i;
	int err;

	names = calloc(1, sizeof(*names) + n * ETH_GSTRING_LEN);
	if (!names)
		return -ENOMEM;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = n;
	err = ethtool(sock, ifname, names);
	for (i = 0; !err && i < n; i++)
		if (!strncmp((char *)names->data + i * ETH_GSTRING_LEN, feature, ETH_GSTRING_LEN))
			break;
	if (!err)
		err = i < n ? (int)i : -EOPNOTSUPP;
	free(names);
	return err;
}

int ethtool_feature(int sock, const char *ifname, const char *feature)
{
	struct ethtool_gfeatures *f;
	uint32_t n, blocks;
	int bit, err;

	err = count_features(sock, ifname, &n);
	if (err)
		return err;
	bit = find_feature(sock, ifname, n, feature);
	if (bit < 0)
		return bit;
	blocks = (n + 31) / 32;
	f = calloc(1, sizeof(*f) + blocks * sizeof(f->features[0]));
	if (!f)
		return -ENOMEM;
	f->cmd = ETHTOOL_GFEATURES;
	f->size = blocks;
	err = ethtool(sock, ifname, f);
	if (!err)
		err = f->features[bit / 32].active >> (bit % 32) & 1;
	free(f);
	return err;
}

int ethtool_channels(int sock, const char *ifname, uint32_t *now, uint32_t *max)
{
	struct ethtool_channels ch = {.cmd = ETHTOOL_GCHANNELS};
	int err;

	err = ethtool(sock, ifname, &ch);
	if (err)
		return err;
	*now = ch.combined_count + ch.rx_count;
	*max = ch.max_combined ? ch.max_combined : ch.max_rx;
	return 0;
}
