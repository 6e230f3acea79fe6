# SPDX-License-Identifier: BSD-2-Clause
# Fuzzers. They are built by clang, whose libFuzzer drives them, whatever CC is.
# Comparisons are not traced: the corpora and dictionaries cover the same without it,
# and it costs a quarter to three quarters of the executions.
FUZZ_CFLAGS := -std=gnu11 $(WARN) -O2 -g $(CPPFLAGS_ALL) -fsanitize=fuzzer \
	-fno-sanitize-coverage=trace-cmp -fno-omit-frame-pointer

FUZZ_XDP := $(wildcard tests/fuzz/xdp/*.c tests/model/*.c)

build/fuzz-xdp: $(FUZZ_XDP) tests/fuzz/build.mk tests/fuzz/input.h \
		$(wildcard tests/fuzz/xdp/*.h tests/model/*.h kmod/uapi/*.h) \
		| $(addprefix build/bpf/,trib-352.bpf.o trib-832.bpf.o)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_CFLAGS) -DTRIB_NVAL=832 -DTRIB_BPF_DIR='"build/bpf"' \
		-o $@ $(FUZZ_XDP) -lbpf

CHECK_BINS += build/fuzz-xdp
CHECK_TESTS += tests/fuzz/xdp/xdp.t

# Parsers in user space: theirs is the code under test, so with sanitizers. Each
# source is compiled once for all of them.
FUZZ_SAN_CFLAGS := $(filter-out -Werror,$(FUZZ_CFLAGS)) -O1 \
	-fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-I/usr/include/libnl3 $(shell pkg-config --cflags jansson 2>/dev/null)
FUZZ_OBJ := build/fuzz-obj

$(FUZZ_OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_SAN_CFLAGS) -MMD -MP -c -o $@ $<

$(FUZZ_OBJ)/userspace/daemon/netlink/nl_policy.o: $(B)/gen/nl_tables.h

-include $(shell find $(FUZZ_OBJ) -name '*.d' 2>/dev/null)

# fuzz-program NAME,SOURCES,FLAGS: links a fuzzer. FLAGS may name objects of others.
fuzz-program = $(eval build/fuzz-$1: $(patsubst %.c,$(FUZZ_OBJ)/%.o,tests/fuzz/sanitize.c $2) \
	$(filter %.o,$3) ; \
	$(CLANG) $(FUZZ_SAN_CFLAGS) -o $$@ $$^ $(filter-out %.o,$3))

$(call fuzz-program,ticket,tests/fuzz/fuzz_ticket.c userspace/lib/place/ticket.c $(BASE_LIBTRIB_SRC),)

FUZZ_NETLINK := tests/fuzz/fuzz_netlink.c tests/fuzz/daemon_double.c \
	$(addprefix userspace/daemon/,$(addprefix netlink/,nl_client.c nl_queue.c \
	nl_policy.c nl_face.c nl_group.c nl_job.c nl_stats.c nl_status.c \
	nl_tree.c nl_tree_get.c stats.c nl_ndn.c nl_pit.c) wire.c \
	$(addprefix core/,hooks.c value.c) \
	attach/reflex.c attach/ticket.c attach/worker_tell.c \
	$(addprefix face/face,.c _attr.c _forward.c _kernel.c _list.c _spec.c) job/job.c $(addprefix tree/,tree.c \
	tree_list.c tree_spec.c node_spec.c dedicated.c row.c pool.c \
	pool_spec.c secret.c slots.c worker_spec.c) \
	$(addprefix ndn/,$(addprefix ndnd,.c _cs.c _face.c _pit.c _route.c \
	_rows.c _spec.c _stats.c _tables.c _walk.c))) \
	$(wildcard userspace/ndn/packet/*.c) userspace/base/name.c $(BASE_LIBTRIB_SRC)

$(call fuzz-program,netlink,$(FUZZ_NETLINK),-lnl-3 -lnl-genl-3 -lsodium -ljansson)

FUZZ_JOIN := tests/fuzz/fuzz_join.c \
	userspace/daemon/session/join.c userspace/daemon/session/join_out.c \
	userspace/daemon/tree/secret.c \
	userspace/base/session.c $(BASE_LIBTRIB_SRC)

$(call fuzz-program,join,$(FUZZ_JOIN),)

$(call fuzz-program,ways,tests/fuzz/daemon/fuzz_ways.c \
	$(addprefix userspace/daemon/ways/,link.c message.c node.c paths.c reports.c) \
	$(BASE_LIBTRIB_SRC),)

FUZZ_LIB := tests/fuzz/fuzz_lib.c \
	$(addprefix tests/,lib/relay_model.c lib/engine_world.c lib/engine_script.c \
	model/node.c model/values.c model/cells.c) \
	$(LIB_SRC) $(PEER_BOOT_SRC) $(ENGINE_SRC) $(BASE_LIBTRIB_SRC)

$(call fuzz-program,lib,$(FUZZ_LIB),$(sort $(KERNELS_OBJS) $(NM_OBJS) $(SUM_OBJS)) -Wl$(comma)--wrap=clock_gettime -lpthread -lm)

FUZZ_ATTACH := tests/fuzz/fuzz_attach.c tests/fuzz/sockets_double.c \
	$(addprefix userspace/daemon/attach/,place.c reflex.c worker_tell.c) \
	userspace/daemon/tree/secret.c \
	userspace/base/name.c $(BASE_LIBTRIB_SRC)

$(call fuzz-program,attach,$(FUZZ_ATTACH),$(addprefix -Wl$(comma)--wrap=,close poll recv sendmsg))

$(call fuzz-program,ndn,tests/fuzz/fuzz_ndn.c $(wildcard userspace/ndn/packet/*.c),-lsodium)

FUZZ_PS := tests/fuzz/fuzz_ps.c $(addprefix userspace/ndn/app/,content.c \
	endpoint.c job_names.c $(addprefix ps/,pace.c ps.c ps_collect.c \
	ps_guest.c ps_job.c ps_kept.c ps_new.c ps_packet.c ps_update.c)) \
	$(wildcard userspace/ndn/packet/*.c) userspace/base/text.c

$(call fuzz-program,ps,$(FUZZ_PS),-lsodium)

FUZZ_SUM := tests/fuzz/fuzz_sum.c $(wildcard userspace/ps/sum/*.c) $(BASE_SRC)

$(call fuzz-program,sum,$(FUZZ_SUM),$(SUM_OBJS) -ljansson)

FUZZ_PLACE := tests/fuzz/fuzz_place.c $(wildcard kmod/sock/check/*.c) $(BASE_LIBTRIB_SRC)

$(call fuzz-program,place,$(FUZZ_PLACE),)

FUZZ_REPLY := tests/fuzz/fuzz_reply.c $(addprefix userspace/cli/netlink/,client.c schema.c) \
	$(BASE_SRC)

$(FUZZ_OBJ)/userspace/cli/netlink/schema.o: build/gen/schema_tables.h

$(call fuzz-program,reply,$(FUZZ_REPLY),-lnl-genl-3 -lnl-3 -ljansson)

FUZZ_WORKER := tests/fuzz/fuzz_worker.c $(wildcard userspace/ndn/app/worker/worker*.c) \
	$(addprefix userspace/ndn/app/,content.c endpoint.c job_names.c) \
	$(wildcard userspace/ndn/packet/*.c)

$(call fuzz-program,worker,$(FUZZ_WORKER),-lsodium)

FUZZ_FORWARDER := tests/fuzz/fuzz_forwarder.c \
	$(addprefix tests/bpf/ndn/,ndn_world.c ndn_frame.c) \
	$(wildcard userspace/ndn/packet/*.c)

build/fuzz-forwarder: $(FUZZ_FORWARDER) $(wildcard userspace/ndn/*.h bpf/ndn/ndn_work.h \
		tests/bpf/ndn/ndn_world.h kmod/uapi/trib_n*.h) | build/bpf/ndn.bpf.o
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_CFLAGS) -DTRIB_BPF_DIR='"build/bpf"' -o $@ \
		$(FUZZ_FORWARDER) -lbpf -lsodium

CHECK_BINS += build/fuzz-forwarder
CHECK_TESTS += tests/fuzz/forwarder.t

CHECK_BINS += $(addprefix build/fuzz-,attach join lib ndn netlink place ps reply sum \
	ticket ways worker)
CHECK_TESTS += tests/fuzz/parsers.t

include tests/fuzz/files/build.mk

# make fuzz [TARGET=name,...] [SECONDS=n | RUNS=n] [JOBS=n] [MINIMIZE=1]
.PHONY: fuzz
fuzz:
	+@scripts/fuzz $(if $(SECONDS),--seconds $(SECONDS)) $(if $(RUNS),--runs $(RUNS)) \
		$(if $(JOBS),--jobs $(JOBS)) $(if $(filter 1,$(MINIMIZE)),--minimize) \
		$(subst $(comma), ,$(TARGET))
