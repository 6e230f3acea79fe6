// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib topo: GPUs and NICs of a machine, and the leader for each NIC
 * (userspace/peer/topo). Needs no tribd.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "peer/topo/topo.h"
#include "cmd.h"

#define RANKS_MAX 256

/**
 * struct words - the command line
 * @conf: whose list is @gpus.
 * @procs: of the local ranks, @nproc of them; none: 0.
 */
struct words {
	struct peer_topo_conf conf;
	unsigned int gpus[PEER_TOPO_MAX];
	const char *nic;
	struct peer_topo_proc procs[RANKS_MAX];
	unsigned int nproc;
};

static const struct {
	const char *word;
	enum peer_topo_near near;
} reaches[] = {
	{"switch", PEER_TOPO_SWITCH},  {"bridge", PEER_TOPO_BRIDGE},   {"node", PEER_TOPO_NODE},
	{"socket", PEER_TOPO_PACKAGE}, {"machine", PEER_TOPO_UNKNOWN},
};

#define NREACHES (sizeof(reaches) / sizeof(reaches[0]))

static int read_reach(struct cli *c, struct words *w, const char *value)
{
	size_t i;

	for (i = 0; i < NREACHES; i++)
		if (!strcmp(reaches[i].word, value)) {
			w->conf.reach = reaches[i].near;
			return CLI_OK;
		}
	return cli_usage(c, "reach \"%s\": want switch, bridge, node, socket or machine", value);
}

/* Copy the word at *@at, up to a comma, and pass it. Return: false if it is too long. */
static bool next_word(const char **at, char word[16])
{
	const char *end = strchrnul(*at, ',');
	size_t len = (size_t)(end - *at);

	if (len >= 16)
		return false;
	memcpy(word, *at, len);
	word[len] = '\0';
	*at = *end ? end + 1 : NULL;
	return true;
}

static int read_direct(struct cli *c, struct words *w, const char *value)
{
	const char *at = value;
	char word[16];
	uint64_t n;

	w->conf.direct = !strcmp(value, "rule")	  ? PEER_TOPO_RULE
			 : !strcmp(value, "none") ? PEER_TOPO_NONE
			 : !strcmp(value, "all")  ? PEER_TOPO_ALL
						  : PEER_TOPO_LIST;
	w->conf.list = w->gpus;
	w->conf.nlist = 0;
	while (w->conf.direct == PEER_TOPO_LIST && at) {
		if (w->conf.nlist == PEER_TOPO_MAX || !next_word(&at, word) ||
		    text_number(word, 0, PEER_TOPO_MAX - 1, &n))
			return cli_usage(c,
					 "direct \"%s\": want rule, none, all, or GPUs such as 0,3",
					 value);
		w->gpus[w->conf.nlist++] = (unsigned int)n;
	}
	return CLI_OK;
}

/* Read what a local rank uses: a GPU, as 3, a NUMA node, as node1, or neither, as -. */
static bool read_rank(const char *word, struct peer_topo_proc *p)
{
	bool node = !strncmp(word, "node", 4);
	uint64_t n;

	*p = (struct peer_topo_proc){-1, -1};
	if (!strcmp(word, "-"))
		return true;
	if (text_number(node ? word + 4 : word, 0, 4095, &n))
		return false;
	*(node ? &p->node : &p->gpu) = (int)n;
	return true;
}

static int read_ranks(struct cli *c, struct words *w, const char *value)
{
	const char *at = value;
	char word[16];

	for (w->nproc = 0; at; w->nproc++) {
		if (w->nproc == RANKS_MAX)
			return cli_usage(c, "ranks: more than %u", RANKS_MAX);
		if (!next_word(&at, word) || !read_rank(word, &w->procs[w->nproc]))
			return cli_usage(c,
					 "ranks \"%s\": want the GPU of each local rank, its NUMA"
					 " node, or -, such as 0,1,node0,-",
					 value);
	}
	return CLI_OK;
}

static int parse_words(struct cli *c, int argc, char **argv, struct words *w)
{
	int i, err = CLI_OK;

	for (i = 0; !err && i < argc; i += 2) {
		const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(word, "xml") && strcmp(word, "nic") && strcmp(word, "reach") &&
		    strcmp(word, "direct") && strcmp(word, "ranks"))
			return cli_usage(c, "\"%s\" is not expected here", word);
		if (!value || !*value)
			return cli_usage(c, "%s needs a value", word);
		if (!strcmp(word, "xml"))
			w->conf.xml = value;
		else if (!strcmp(word, "nic"))
			w->nic = value;
		else if (!strcmp(word, "reach"))
			err = read_reach(c, w, value);
		else if (!strcmp(word, "direct"))
			err = read_direct(c, w, value);
		else
			err = read_ranks(c, w, value);
	}
	return err;
}

static void put_place(json_t *j, int node, int package)
{
	if (node >= 0)
		json_object_set_new(j, "node", json_integer(node));
	if (package >= 0)
		json_object_set_new(j, "socket", json_integer(package));
}

static json_t *gpus_json(const struct peer_topo *t)
{
	json_t *list = json_array(), *j;
	unsigned int i;

	for (i = 0; i < peer_topo_ngpu(t); i++) {
		const struct peer_topo_gpu *g = peer_topo_gpu(t, i);

		j = json_pack("{s:i, s:s, s:s, s:s, s:b}", "gpu", (int)i, "pci", g->pci, "model",
			      g->name, "device", g->device, "exports", g->exports);
		if (*g->why)
			json_object_set_new(j, "why", json_string(g->why));
		put_place(j, g->node, g->package);
		json_array_append_new(list, j);
	}
	return list;
}

/* The GPUs as one NIC sees them. */
static json_t *pairs_json(const struct peer_topo *t, unsigned int nic)
{
	json_t *list = json_array(), *j;
	unsigned int i;

	for (i = 0; i < peer_topo_ngpu(t); i++) {
		const struct peer_topo_pair *p = peer_topo_pair(t, nic, i);

		j = json_pack("{s:i, s:s, s:s, s:i, s:b}", "gpu", (int)i, "pci",
			      peer_topo_gpu(t, i)->pci, "distance", peer_topo_near_text(p->near),
			      "hops", (int)p->hops, "direct", p->direct);
		if (p->latency)
			json_object_set_new(j, "latency", json_integer((json_int_t)p->latency));
		if (*p->why)
			json_object_set_new(j, "why", json_string(p->why));
		json_array_append_new(list, j);
	}
	return list;
}

static json_t *leader_json(const struct peer_topo_leader *l, const struct words *w)
{
	json_t *j = json_object();

	if (l->gpu >= 0) {
		json_object_set_new(j, "gpu", json_integer(l->gpu));
		json_object_set_new(j, "direct", json_boolean(l->direct));
	}
	if (w->nproc)
		json_object_set_new(j, "rank", json_integer(l->proc));
	if (l->gpu >= 0 || w->nproc)
		json_object_set_new(j, "distance", json_string(peer_topo_near_text(l->near)));
	json_object_set_new(j, "reason", json_string(l->reason));
	return j;
}

static int add_nic(struct cli *c, json_t *list, const struct peer_topo *t, unsigned int nic,
		   const struct words *w)
{
	const struct peer_topo_nic *n = peer_topo_nic(t, nic);
	struct peer_topo_leader l;
	json_t *j;

	if (peer_topo_leader(t, nic, w->nproc ? w->procs : NULL, w->nproc, &l))
		return cli_error(c,
				 "ranks: a GPU that is not there: this machine has %u, numbered"
				 " from 0",
				 peer_topo_ngpu(t));
	j = json_pack("{s:s, s:s, s:s, s:b}", "nic", n->name, "rdma", n->rdma, "pci", n->pci,
		      "can_rdma", n->can_rdma);
	put_place(j, n->node, n->package);
	json_object_set_new(j, "leader", leader_json(&l, w));
	json_object_set_new(j, "gpus", pairs_json(t, nic));
	return json_array_append_new(list, j) ? cli_error(c, "out of memory") : CLI_OK;
}

static int describe(struct cli *c, const struct peer_topo *t, const struct words *w, json_t **out)
{
	int only = w->nic ? peer_topo_find_nic(t, w->nic) : -1, err = CLI_OK;
	json_t *nics = json_array();
	unsigned int i;

	if (w->nic && only < 0)
		err = cli_error(c, "no NIC \"%s\": see \"trib topo show\"", w->nic);
	for (i = 0; !err && i < peer_topo_nnic(t); i++)
		if (!w->nic || (int)i == only)
			err = add_nic(c, nics, t, i, w);
	if (err) {
		json_decref(nics);
		return err;
	}
	*out = json_pack("{s:s, s:i, s:i, s:o, s:o}", "machine", peer_topo_machine(t), "sockets",
			 (int)peer_topo_packages(t), "nodes", (int)peer_topo_nodes(t), "gpus",
			 gpus_json(t), "nics", nics);
	return *out ? CLI_OK : cli_error(c, "out of memory");
}

static void leader_text(const json_t *row, char *buf, size_t size)
{
	const json_t *l = json_object_get(row, "leader"), *gpu = json_object_get(l, "gpu"),
		     *rank = json_object_get(l, "rank");
	int n;

	if (gpu)
		n = snprintf(buf, size, "GPU %d", (int)json_integer_value(gpu));
	else
		n = snprintf(buf, size, rank ? "" : "-");
	if (rank && n >= 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, "%srank %d", gpu ? ", " : "",
			 (int)json_integer_value(rank));
}

static void direct_text(const json_t *row, char *buf, size_t size)
{
	out_text(json_object_get(row, "leader"), "direct", buf, size);
}

static void reason_text(const json_t *row, char *buf, size_t size)
{
	out_text(json_object_get(row, "leader"), "reason", buf, size);
}

/* The picture, the leaders, and for one NIC all GPUs. */
static int print(struct cli *c, const struct peer_topo *t, const struct words *w, const json_t *j)
{
	static const struct out_col leaders[] = {
		{.key = "nic"},
		{.title = "LEADER", .text = leader_text},
		{.title = "DIRECT", .text = direct_text},
		{.title = "WHY", .text = reason_text},
	};
	static const struct out_col pairs[] = {
		{.key = "gpu", .right = true},
		{.key = "pci"},
		{.key = "distance"},
		{.key = "latency", .right = true},
		{.key = "hops", .right = true},
		{.key = "direct"},
		{.key = "why"},
	};
	const json_t *nics = json_object_get(j, "nics"), *gpus;
	char *text = peer_topo_draw(t);

	if (!text)
		return cli_error(c, "out of memory");
	printf("%s\n", text);
	free(text);
	out_print_table(stdout, "", nics, leaders, sizeof(leaders) / sizeof(leaders[0]));
	if (!w->nic)
		return CLI_OK;
	gpus = json_object_get(json_array_get(nics, 0), "gpus");
	putchar('\n');
	out_print_table(stdout, "", gpus, pairs, sizeof(pairs) / sizeof(pairs[0]));
	return CLI_OK;
}

static int topo_show(struct cli *c, int argc, char **argv)
{
	struct words w = {0};
	struct peer_topo *t;
	json_t *j = NULL;
	char why[512];
	int err = parse_words(c, argc, argv, &w);

	if (err)
		return err;
	if (peer_topo_open(&t, &w.conf, why, sizeof(why)))
		return cli_error(c, "%s", why);
	err = describe(c, t, &w, &j);
	if (!err && c->json)
		err = out_value(c, json_incref(j), "");
	else if (!err)
		err = print(c, t, &w, j);
	json_decref(j);
	peer_topo_close(t);
	return err;
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("show",
		"[xml FILE] [nic NAME] [reach switch|bridge|node|socket|machine]"
		" [direct rule|none|all|GPU,...] [ranks GPU|nodeN|-,...]",
		"Draw a machine's GPUs and NICs; say which GPU leads for each NIC, and why.",
		topo_show),
};

CLI_OBJECT(topo, "GPUs and NICs of a machine, and the leader of its exchange");
