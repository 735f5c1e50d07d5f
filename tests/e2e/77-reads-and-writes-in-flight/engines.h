/* SPDX-License-Identifier: MIT */
/*
 * Ways in which the kernel reads or writes a program's memory by the page, not by its address: all of them hold
 * references to pages for as long as they take. Each returns when it is over; none checks what it has done.
 */
#ifndef ENGINES_H
#define ENGINES_H

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct io {
	int fd;			/* of a block device, O_DIRECT */
	char *buffer;
	size_t length;
	off_t at;
	int is_write;
};

static void must(int holds, const char *what)
{
	if (!holds) {
		perror(what);
		exit(3);
	}
}

static void by_pread(struct io *io, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		ssize_t done = io[i].is_write ? pwrite(io[i].fd, io[i].buffer, io[i].length, io[i].at)
					      : pread(io[i].fd, io[i].buffer, io[i].length, io[i].at);

		must(done == (ssize_t)io[i].length, "pread or pwrite");
	}
}

/* ---- libaio ---- */

static void by_aio(struct io *io, unsigned nr)
{
	static aio_context_t context;
	struct iocb blocks[nr], *list[nr];
	struct io_event events[nr];

	if (!context)
		must(!syscall(SYS_io_setup, 64, &context), "io_setup");
	memset(blocks, 0, sizeof(blocks));
	for (unsigned i = 0; i < nr; i++) {
		blocks[i].aio_lio_opcode = io[i].is_write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
		blocks[i].aio_fildes = (uint32_t)io[i].fd;
		blocks[i].aio_buf = (uintptr_t)io[i].buffer;
		blocks[i].aio_nbytes = io[i].length;
		blocks[i].aio_offset = io[i].at;
		list[i] = &blocks[i];
	}
	/* The call may take fewer than it is given. */
	for (long taken = 0, more; taken < (long)nr; taken += more) {
		more = syscall(SYS_io_submit, context, nr - taken, list + taken);
		must(more > 0, "io_submit");
	}
	must(syscall(SYS_io_getevents, context, nr, nr, events, NULL) == (long)nr, "io_getevents");
	for (unsigned i = 0; i < nr; i++)
		must(events[i].res == (int64_t)((struct iocb *)(uintptr_t)events[i].obj)->aio_nbytes, "aio");
}

/* ---- io_uring: buffers named by address, or registered, which pins them for long ---- */

#define RING 64u

static struct {
	int fd;
	unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
} ring;

static void open_ring(void)
{
	struct io_uring_params p = { 0 };
	char *sq, *cq;

	ring.fd = (int)syscall(SYS_io_uring_setup, RING, &p);
	must(ring.fd >= 0, "io_uring_setup");
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_CQ_RING);
	ring.sqes = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQES);
	must(sq != MAP_FAILED && cq != MAP_FAILED && ring.sqes != MAP_FAILED, "mmap of the ring");
	ring.sq_tail = (unsigned *)(sq + p.sq_off.tail);
	ring.sq_mask = (unsigned *)(sq + p.sq_off.ring_mask);
	ring.sq_array = (unsigned *)(sq + p.sq_off.array);
	ring.cq_head = (unsigned *)(cq + p.cq_off.head);
	ring.cq_tail = (unsigned *)(cq + p.cq_off.tail);
	ring.cq_mask = (unsigned *)(cq + p.cq_off.ring_mask);
	ring.cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
}

static void through_ring(struct io *io, unsigned nr, int is_registered)
{
	unsigned tail = *ring.sq_tail, head;

	for (unsigned i = 0; i < nr; i++) {
		unsigned slot = (tail + i) & *ring.sq_mask;
		struct io_uring_sqe *sqe = &ring.sqes[slot];

		memset(sqe, 0, sizeof(*sqe));
		if (is_registered)
			sqe->opcode = io[i].is_write ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED;
		else
			sqe->opcode = io[i].is_write ? IORING_OP_WRITE : IORING_OP_READ;
		sqe->fd = io[i].fd;
		sqe->addr = (uintptr_t)io[i].buffer;
		sqe->len = (uint32_t)io[i].length;
		sqe->off = (uint64_t)io[i].at;
		sqe->buf_index = (uint16_t)i;
		sqe->user_data = io[i].length;
		ring.sq_array[slot] = slot;
	}
	__atomic_store_n(ring.sq_tail, tail + nr, __ATOMIC_RELEASE);
	must(syscall(SYS_io_uring_enter, ring.fd, nr, nr, IORING_ENTER_GETEVENTS, NULL, 0) == (long)nr, "io_uring_enter");
	head = *ring.cq_head;
	for (unsigned i = 0; i < nr; i++, head++) {
		must(head != __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE), "completion");
		must(ring.cqes[head & *ring.cq_mask].res == (int)ring.cqes[head & *ring.cq_mask].user_data, "io_uring");
	}
	__atomic_store_n(ring.cq_head, head, __ATOMIC_RELEASE);
}

static void by_uring(struct io *io, unsigned nr)
{
	through_ring(io, nr, 0);
}

static void by_registered(struct io *io, unsigned nr)
{
	struct iovec buffers[nr];

	for (unsigned i = 0; i < nr; i++)
		buffers[i] = (struct iovec){ io[i].buffer, io[i].length };
	must(!syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS, buffers, nr), "register buffers");
	through_ring(io, nr, 1);
	must(!syscall(SYS_io_uring_register, ring.fd, IORING_UNREGISTER_BUFFERS, NULL, 0), "unregister buffers");
}

/* ---- from or to other memory of this process: @other is never moved ---- */

static void by_vmsplice(char *buffer, char *other, size_t length)
{
	static int ends[2];
	size_t done = 0;

	if (!ends[1]) {
		must(!pipe(ends), "pipe");
		must(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) >= 1 << 20, "F_SETPIPE_SZ");
	}
	must(vmsplice(ends[1], &(struct iovec){ buffer, length }, 1, 0) == (ssize_t)length, "vmsplice");
	while (done < length) {
		ssize_t part = read(ends[0], other + done, length - done);

		must(part > 0, "read of the pipe");
		done += (size_t)part;
	}
}

static void by_process_vm(char *buffer, char *other, size_t length, int into)
{
	struct iovec mine = { other, length }, moving = { buffer, length };
	ssize_t done = into ? process_vm_writev(getpid(), &mine, 1, &moving, 1, 0)
			    : process_vm_readv(getpid(), &mine, 1, &moving, 1, 0);

	must(done == (ssize_t)length, "process_vm_readv or _writev");
}

/* As ptrace does it: FOLL_FORCE, one page at a time. */
static void by_proc_mem(char *buffer, char *other, size_t length, int into)
{
	static int fd;
	size_t done = 0;

	if (!fd)
		fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	must(fd > 0, "/proc/self/mem");
	while (done < length) {
		off_t at = (off_t)((uintptr_t)buffer + done);
		ssize_t part = into ? pwrite(fd, other + done, length - done, at) : pread(fd, other + done, length - done, at);

		must(part > 0, "/proc/self/mem");
		done += (size_t)part;
	}
}

/* The area is empty before. */
static void by_userfaultfd(char *buffer, char *other, size_t length)
{
	static int fd;
	struct uffdio_copy copy = { .dst = (uintptr_t)buffer, .src = (uintptr_t)other, .len = length };
	struct uffdio_register area = { .range = { (uintptr_t)buffer, length }, .mode = UFFDIO_REGISTER_MODE_MISSING };

	if (!fd) {
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
		must(fd >= 0, "userfaultfd");
		must(!ioctl(fd, UFFDIO_API, &(struct uffdio_api){ .api = UFFD_API }), "UFFDIO_API");
	}
	must(!ioctl(fd, UFFDIO_REGISTER, &area), "UFFDIO_REGISTER");
	while (ioctl(fd, UFFDIO_COPY, &copy)) {	/* stops early where mappings change */
		must(copy.copy > 0, "UFFDIO_COPY");
		copy.dst += (uint64_t)copy.copy;
		copy.src += (uint64_t)copy.copy;
		copy.len -= (uint64_t)copy.copy;
		copy.copy = 0;
	}
	must(!ioctl(fd, UFFDIO_UNREGISTER, &area.range), "UFFDIO_UNREGISTER");
}

#endif
