// SPDX-License-Identifier: BSD-2-Clause
/* userspace/peer/topo: files that are not hwloc's, or lie, are refused with an error. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer/topo/topo.h"
#include "tests/lib/tap.h"

#define FOLDER "tests/unit/peer/topo/"

static char why[512];

/* Write @text to a file for hwloc, and expect an error with @code and @part. */
static void refused(const char *text, size_t len, int code, const char *part)
{
	char path[] = "/tmp/topo.XXXXXX";
	struct peer_topo_conf conf = {.xml = path};
	struct peer_topo *t = (void *)path;
	int fd = mkstemp(path), err;

	if (!expect(fd >= 0))
		return;
	expect(write(fd, text, len) == (ssize_t)len);
	close(fd);
	why[0] = '\0';
	err = peer_topo_open(&t, &conf, why, sizeof(why));
	expect_eq(err, code);
	expect(!t);
	if (!expect(strstr(why, part)))
		printf("# %s\n", why);
	unlink(path);
}

/* A text without a NUL. */
#define refused_text(text, part) refused(text, strlen(text), -EINVAL, part)

/* Write the file of machine @name, with the first @from replaced by @to, to @out. */
static bool change(const char *name, const char *from, const char *to, char *out, size_t size)
{
	static char text[1 << 16];
	char path[256], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), FOLDER "%s.xml", name);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (!expect(n > 0))
		return false;
	text[n] = '\0';
	at = strstr(text, from);
	if (!expect(at))
		return false;
	n = snprintf(out, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	return expect((size_t)n < size);
}

static void refused_with(const char *name, const char *from, const char *to, const char *part)
{
	static char changed[1 << 16];

	if (change(name, from, to, changed, sizeof(changed)))
		refused_text(changed, part);
}

static void hostile__no_file_of_hwloc(void)
{
	static char huge[(16 << 20) + 1];
	struct peer_topo_conf conf = {.xml = "/nonexistent/x.xml"};
	struct peer_topo *t;

	refused_text("", "no file of hwloc 2");
	refused_text("garbage\n", "run: lstopo machine.xml");
	refused_text("<topology>\n</topology>\n", "no file of hwloc 2");
	refused_text("<?xml version=\"1.0\"?>", "no file of hwloc 2");
	refused("<topology version=\"2.0\">\n</topology>\n\0\n", 39, -EINVAL, "no text");
	memset(huge, ' ', sizeof(huge));
	refused(huge, sizeof(huge), -EFBIG, "more than 16 MiB");
	expect_eq(peer_topo_open(&t, &conf, why, sizeof(why)), -ENOENT);
	expect(!strcmp(why, "/nonexistent/x.xml: No such file or directory"));
	refused_text("<topology version=\"2.0\">\n</topology>\n", "without NUMA nodes");
	refused_text("<topology version=\"2.0\">\n<object type=\"NUMANode\" os_index=\"0\"/>\n"
		     "</topology>\n",
		     "without CPUs");
}

static void hostile__missing_attributes(void)
{
	refused_with("dual", " pci_busid=\"0000:01:00.0\"", "", "lacks pci_busid");
	refused_with("dual", " pci_type=\"0300 ", " typ=\"0300 ", "lacks pci_type");
	refused_with("dual", " bridge_type=\"0-1\"", "", "lacks bridge_type");
	refused_with("dual", " bridge_type=\"0-1\"", " bridge_type=\"0-0\"", "neither 0-1 nor 1-1");
	refused_with("dual", " bridge_pci=\"0000:[00-0f]\"", "", "lacks bridge_pci");
	refused_with("dual", " osdev_type=\"1\"", "", "lacks osdev_type");
	refused_with("dual", " name=\"card0\"", "", "line 13: an object lacks name");
	refused_with("dual", " type=\"PU\"", "", "lacks type");
	refused_with("dual", " cpuset=\"0x00000003\"", "", "hwloc cannot read it");
	refused_with("dual", "pci_busid=\"0000:04:00.0\"", "pci_busid=\"0000:03:00.0\"",
		     "two GPUs at PCI address 0000:03:00.0");
	refused_with("no-gpu", " version=\"2.0\"", " version=\"1.0\"", "no file of hwloc 2");
}

/* hwloc 2.9 does not survive the first two, and writes to standard error of the third. */
static void hostile__hwloc_fails(void)
{
	refused_with("no-gpu", " complete_cpuset=\"0x00000003\"", "", "hwloc cannot read it");
	refused_with("no-gpu", " complete_nodeset=\"0x00000003\"", "", "hwloc cannot read it");
	refused_with("no-gpu", " complete_cpuset=\"0x00000001\"", " complete_cpuset=\"\"",
		     "hwloc cannot read it");
}

static void hostile__wrong_structure(void)
{
	char deep[200 * 20 + 100] = "<topology version=\"2.0\">", *at;
	int i;

	for (i = 0, at = deep + strlen(deep); i < 200; i++)
		at = stpcpy(at, "<object type=\"Misc\">");
	refused_text(deep, "nested too deeply");
	refused_with("dual", "</topology>", "", "ends before its objects do");
	refused_with("dual", "</topology>", "</topology></x>", "an end without a beginning");
	refused_with("dual", "</topology>", "<!-- x --></topology>", "comments and declarations");
	refused_with("dual", "<topology version=\"2.0\">",
		     "<topology version=\"2.0\">\n<!ENTITY a \"b\">", "comments and declarations");
	refused_with("dual", "</topology>", "<object type=\"PU", "a tag does not end");
	refused_with("dual", "type=\"PU\" ", "type=\"PU\" < ", "< within a tag");
}

#define TAGS 200001
#define LONG 66000

static void hostile__more_than_any_machine_has(void)
{
	static const char root[] = "<topology version=\"2.0\">\n";
	static char text[TAGS * 4 + 100], more[1 << 16], *at;
	int i;

	at = stpcpy(text, root);
	for (i = 0; i < TAGS; i++)
		at = stpcpy(at, "<a/>");
	refused_text(text, "too many objects");
	at = stpcpy(stpcpy(text, root), "<object type=\"");
	memset(at, 'x', LONG);
	strcpy(at + LONG, "\"/></topology>");
	refused_text(text, "a value is too long");
	for (i = 0, at = more; i < 257; i++)
		at += sprintf(
			at,
			"<object type=\"PCIDev\" gp_index=\"%d\" pci_busid=\"0001:%02x:%02x.0\""
			" pci_type=\"0302 [10de:20b0] [10de:0001] a1\"/>\n",
			1000 + i, i / 32, i % 32);
	strcpy(at, "<object type=\"PCIDev\" ");
	if (change("one-gpu", "<object type=\"PCIDev\" ", more, text, sizeof(text)))
		refused(text, strlen(text), -E2BIG, "more than 256 GPUs");
	for (i = 0, at = more; i < 257; i++)
		at += sprintf(
			at,
			"<object type=\"OSDev\" gp_index=\"%d\" name=\"e%d\" osdev_type=\"2\"/>\n",
			1000 + i, i);
	strcpy(at, "<object type=\"OSDev\" ");
	if (change("one-gpu", "<object type=\"OSDev\" ", more, text, sizeof(text)))
		refused(text, strlen(text), -E2BIG, "more than 256 NICs");
}

int main(void)
{
	run(hostile__no_file_of_hwloc);
	run(hostile__missing_attributes);
	run(hostile__wrong_structure);
	run(hostile__hwloc_fails);
	run(hostile__more_than_any_machine_has);
	return tap_done();
}
