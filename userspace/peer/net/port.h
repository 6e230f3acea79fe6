/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports: the way chunks move between two ranks. run/ uses nothing else, so that it
 * runs over libfabric (ofi.c), over TCP sockets (stream.c), over memory that processes
 * share (shm.c), and, in tests, over a network that exists only in memory.
 *
 *	lane thread (run/)
 *	   | send, write, next, done, poll
 *	struct peer_port  one per NIC of the thread; never used by two threads
 *	   | links: one per peer
 *	one-sided writes with completion data  ---->  staging slots, or the peer's
 *						      announced memory
 *
 * Each link carries a sequence of chunks each way. A chunk goes to the receiver's
 * next staging slot (send) or straight to its place in memory that the receiver
 * announced (write). The receiver sees the chunks of a link in the order in which
 * they were issued, whatever the network does, by next(), and gives each one's slot
 * back by done(). Slots are credits: send() returns -EAGAIN when the receiver's are
 * all in use.
 *
 * A link fails as a whole: poll() returns the error, and fault() has link and text.
 */
#ifndef PEER_PORT_H
#define PEER_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct peer_port;

/* The largest address blob of a port. */
#define PEER_BLOB_MAX 65536

/**
 * struct peer_port_conf - for opening a port
 * @rank, @world: of this process.
 * @nic:   name or address of the NIC: device name, IPv4 or IPv6 address, or verbs
 *         domain; NULL: the provider's first. Unused by shm.
 * @provider: ofi: name as fi_getinfo() has it: "verbs;ofi_rxm", "tcp;ofi_rxm", or with
 *         a connection a link, only if asked for, "verbs" and "tcp"; NULL: the best
 *         that it finds.
 * @peers: ranks at the other ends of the links, ascending; link i is to peers[i].
 * @npeer: number of links.
 * @chunk: bytes of a staging slot, a multiple of 64.
 * @slots: staging slots of a link, 2 to 64.
 * @name:  shm: the job's name for shared memory, the same on all of its ranks on the
 *         machine, unguessable.
 */
struct peer_port_conf {
	uint32_t rank, world;
	const char *nic;
	const char *provider;
	const uint32_t *peers;
	uint32_t npeer;
	size_t chunk;
	unsigned int slots;
	const char *name;
};

/**
 * struct peer_mem - memory that a port may read from or be written to
 * A registration; it lives until mem_put() and the end of all that uses it.
 */
struct peer_mem;

/**
 * struct peer_chunk - a chunk that arrived
 * @data: its bytes in the staging slot, or NULL: it was written to its place.
 * @len:  bytes.
 */
struct peer_chunk {
	const void *data;
	size_t len;
};

/**
 * struct peer_fault - the reason why a port failed
 * @peer: rank to blame, or -1.
 */
struct peer_fault {
	int err;
	int peer;
	char text[192];
};

/**
 * struct peer_port_ops - a kind of port
 * @name: "ofi", "shm", "stream".
 * @open: make the endpoint and the staging slots of all links. Nothing is connected.
 *        On failure fill in @fault.
 * @blob: write what the peers must know of this port. Return: bytes, at most
 *        PEER_BLOB_MAX.
 * @connect: the other end of link @link has the port with this blob, which came over
 *        the network: check it. May return before the link is up: it comes up while
 *        both ends poll(). Return: 0, or -errno: the port has failed.
 * @mem_get: register memory, or find a registration in use that covers it. It stays
 *        valid for reading and for writes of peers. NULL: no memory. Cheap for tcp and
 *        shm; for verbs hold it as long as the buffer is in use.
 * @mem_put: release one mem_get(). Peers may not write there any longer. To be called
 *        before the memory is freed, when nothing is unsent. close() releases what is
 *        left.
 * @announce: tell the peer of @link that it may write() to @mem from @dst on. One
 *        announcement a link is in force: the next one may be made when all chunks
 *        that the peer writes by the former have come. Return: 0; -EAGAIN: poll();
 *        or another -errno.
 * @ready: whether the peer's announcement number @nth of this link, from 0, came.
 * @send: send @len bytes (0 to the chunk) from @src, in @mem, to the next staging
 *        slot. Return: 0; -EAGAIN: no slot is free, the queue is full, the link is not
 *        up or the port has failed: poll(); -EINVAL: more than a chunk.
 * @write: write @len bytes (0 to the chunk) from @src to @off of the memory that the
 *        peer announced last. Return: likewise; -EAGAIN also before ready().
 * @next: the oldest chunk of @link that came and was not given back, or false. Those
 *        that came before a fault can still be had.
 * @done: give that chunk back, written ones, too; its slot is the sender's again.
 * @unsent: sends and writes whose source the port still may read.
 * @poll: make progress. Return: number of events, or -errno: the port has failed.
 * @fault: why. A peer that dies while nothing is on its way to it may go unnoticed by
 *        some ports: boot/ sees it.
 * @fd:   a descriptor that becomes readable when poll() has work, or -1: none, poll.
 * @rest: prepare to wait for fd, for 100 ms at most. Return: false: do not wait,
 *        poll().
 * @close: end all. The peers see a fault unless they have closed, too: ranks that leave
 *        in order meet (boot/) when all chunks have come, and close then.
 */
struct peer_port_ops {
	const char *name;
	int (*open)(struct peer_port **out, const struct peer_port_conf *conf,
		    struct peer_fault *fault);
	size_t (*blob)(struct peer_port *p, void *buf, size_t room);
	int (*connect)(struct peer_port *p, uint32_t link, const void *blob, size_t len);

	struct peer_mem *(*mem_get)(struct peer_port *p, void *mem, size_t len);
	void (*mem_put)(struct peer_port *p, struct peer_mem *m);

	int (*announce)(struct peer_port *p, uint32_t link, struct peer_mem *m, void *dst,
			size_t len);
	bool (*ready)(struct peer_port *p, uint32_t link, uint32_t nth);
	int (*send)(struct peer_port *p, uint32_t link, struct peer_mem *m, const void *src,
		    size_t len);
	int (*write)(struct peer_port *p, uint32_t link, struct peer_mem *m, const void *src,
		     size_t len, uint64_t off);
	bool (*next)(struct peer_port *p, uint32_t link, struct peer_chunk *c);
	void (*done)(struct peer_port *p, uint32_t link);
	unsigned int (*unsent)(const struct peer_port *p);

	int (*poll)(struct peer_port *p);
	void (*fault)(const struct peer_port *p, struct peer_fault *f);
	int (*fd)(const struct peer_port *p);
	bool (*rest)(struct peer_port *p);
	void (*close)(struct peer_port *p);
};

/** struct peer_port - the part that all kinds have in common, at their beginning */
struct peer_port {
	const struct peer_port_ops *ops;
};

/* Provider of peer_port_stream: TCP sockets of the kernel. All others are libfabric's. */
#define PEER_PROVIDER_STREAM "stream"

extern const struct peer_port_ops peer_port_ofi;
extern const struct peer_port_ops peer_port_shm;
extern const struct peer_port_ops peer_port_stream;

/**
 * struct peer_nic - a NIC that libfabric found
 * @address: printable.
 * @direct:  the provider is verbs: RDMA.
 */
struct peer_nic {
	char provider[64];
	char domain[64];
	char device[32];
	char address[64];
	bool direct;
	uint64_t bits_per_second;
};

/** peer_nic_device() - the network device of an address; @nic itself if it is none of this host */
void peer_nic_device(const char *nic, char *out, size_t room);

/** peer_nic_hmem() - whether fi_getinfo() offers @provider with FI_HMEM, memory of devices */
bool peer_nic_hmem(const char *provider);

/**
 * peer_nics_find() - ask fi_getinfo() for NICs, best provider first
 * @provider: only this one, or NULL.
 * Return: number, at most @max, or -errno.
 */
int peer_nics_find(const char *provider, struct peer_nic *out, unsigned int max);

#endif /* PEER_PORT_H */
