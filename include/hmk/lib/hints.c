// SPDX-License-Identifier: GPL-2.0-only OR MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <hmk/hints.h>
#include <hmk/hints_abi.h>

#define PAGE_BYTES		4096ull
#define ADDRESSES_END	(1ull << 56)
#define WORTH_GIVING	(64ull << 10)
#define INDEX_BITS	16		/* of an object; above: the epoch */
#define TABLE_BYTES	(HMK_HINTS_HEADER + (HMK_HINTS_SLOTS + 1ull) * sizeof(struct hmk_hint_slot))
#define PATIENCE_MS	2000		/* of hmk_hints_open(): hmkd answers from its loop, which may be busy */

_Static_assert(sizeof(struct hmk_hint_slot) == 64, "a cache line");
_Static_assert(sizeof(struct hmk_hints_header) == 128, "two cache lines");
_Static_assert(HMK_HINTS_SLOTS < 1u << INDEX_BITS, "an object is a number");

/*
 * 1. `table` is set once, under `lock`, and stays mapped until the process ends: whoever has seen
 *    it may use it without the lock.
 * 2. The members of a slot, but for `said`, and all below change under `lock` only.
 * 3. A child of fork() has no table: its mapping is not inherited, and the epoch of its objects is
 *    another one.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hmk_hints_header *table;
static unsigned int epoch;
static int table_fd = -1;
static int hmkd = -1;			/* socket; -1: not connected */
static bool is_answered;		/* hmkd reads the table */
static uint32_t first_free;		/* index + 1 of a slot whose `start` is the next one; 0: none */
static unsigned char gives_back[HMK_HINTS_SLOTS];	/* HMK_OBJECT_ANON, by index */
static int64_t last_look;		/* seconds; when the connection was looked at */
static pthread_once_t fork_handlers = PTHREAD_ONCE_INIT;

static struct hmk_hint_slot *slots(struct hmk_hints_header *of)
{
	return (struct hmk_hint_slot *)((char *)of + HMK_HINTS_HEADER);
}

static uint32_t index_of(hmk_object object)
{
	return (object & ((1u << INDEX_BITS) - 1)) - 1;
}

/* Null for 0, for what was never given out, and for what is a parent's. */
static struct hmk_hint_slot *slot_of(hmk_object object)
{
	struct hmk_hints_header *here = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	const uint32_t index = index_of(object);

	if (!object || !here || object >> INDEX_BITS != __atomic_load_n(&epoch, __ATOMIC_RELAXED) ||
	    index >= __atomic_load_n(&here->slots_used, __ATOMIC_RELAXED))
		return NULL;
	return &slots(here)[index];
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
	if (table_fd >= 0)
		close(table_fd);
	if (hmkd >= 0)
		close(hmkd);
	table_fd = hmkd = -1;
	table = NULL;			/* rule 3 */
	first_free = 0;
	last_look = 0;
	epoch = (epoch + 1) & ((1u << (32 - INDEX_BITS)) - 1);
	pthread_mutex_unlock(&lock);
}

static void handle_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

/* Sealed so that whoever maps it cannot be made to fault. Under the lock. */
static int make_table(void)
{
	struct hmk_hints_header *made;
	int fd;

	pthread_once(&fork_handlers, handle_forks);
	if (table)
		return 0;
	fd = memfd_create("hmk-hints", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	made = MAP_FAILED;
	if (!ftruncate(fd, TABLE_BYTES) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		made = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (made == MAP_FAILED || madvise(made, TABLE_BYTES, MADV_DONTFORK)) {
		const int err = -errno;

		if (made != MAP_FAILED)
			munmap(made, TABLE_BYTES);
		close(fd);
		return err;
	}
	made->magic = HMK_HINTS_MAGIC;
	made->layout = HMK_HINTS_LAYOUT;
	made->slot_size = sizeof(struct hmk_hint_slot);
	made->nr_slots = HMK_HINTS_SLOTS;
	table_fd = fd;
	__atomic_store_n(&table, made, __ATOMIC_RELEASE);
	return 0;
}

static int64_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec + 1;	/* 0: never looked */
}

static void hang_up(void)
{
	if (hmkd >= 0)
		close(hmkd);
	hmkd = -1;
}

static int send_table(int fd)
{
	char byte = 'h', space[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec one = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &one, .msg_iovlen = 1,
		.msg_control = space, .msg_controllen = sizeof(space),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &table_fd, sizeof(int));
	return sendmsg(fd, &message, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

/* Never waits: of a hmkd that is too busy to listen nothing is lost. Under the lock. */
static int begin_to_connect(void)
{
	const char *path = secure_getenv("HMK_HINTS_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int err = make_table();

	if (err || hmkd >= 0)
		return err;
	if (!path)
		path = HMK_HINTS_SOCKET;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	hmkd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (hmkd < 0)
		return -errno;
	is_answered = false;
	err = connect(hmkd, (struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	/* Who is not managed is answered before it has sent anything. */
	if (!err)
		send_table(hmkd);
	else
		hang_up();
	return err;
}

/* Under the lock. 0: hmkd reads the table; -EAGAIN: it has not answered yet. */
static int read_answer(void)
{
	int answer = 0;
	const ssize_t got = recv(hmkd, &answer, sizeof(answer), MSG_DONTWAIT);

	if (got < 0 && errno == EAGAIN)
		return -EAGAIN;
	if (got != sizeof(answer))
		answer = -ECONNRESET;
	is_answered = !answer;
	if (answer)
		hang_up();
	return answer;
}

/* Under the lock. */
static void notice_its_end(void)
{
	char byte;

	if (hmkd >= 0 && is_answered && recv(hmkd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		hang_up();
}

/* Once a second at most: whether hmkd is still there, and if not whether it has come. */
static void look_at_connection(void)
{
	const int64_t now = seconds();

	if (__atomic_exchange_n(&last_look, now, __ATOMIC_RELAXED) == now || pthread_mutex_trylock(&lock))
		return;
	if (hmkd >= 0 && !is_answered)
		read_answer();
	notice_its_end();
	if (hmkd < 0)
		begin_to_connect();
	pthread_mutex_unlock(&lock);
}

/*
 * Who sets `asleep` to 0 rings; all others know that hmkd will read. An hmkd that has ended left it
 * at 1: whoever comes after it is told at once.
 */
static void ring(struct hmk_hints_header *here)
{
	if (!__atomic_load_n(&here->asleep, __ATOMIC_SEQ_CST) ||
	    !__atomic_exchange_n(&here->asleep, 0, __ATOMIC_SEQ_CST))
		return;
	pthread_mutex_lock(&lock);	/* which nobody holds while he waits */
	if (hmkd >= 0 && send(hmkd, "r", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN)
		hang_up();
	if (hmkd < 0)
		begin_to_connect();
	pthread_mutex_unlock(&lock);
}

static void say(hmk_object object, enum hmk_says what, double passes)
{
	struct hmk_hint_slot *const slot = slot_of(object);
	const double units = passes * HMK_SAID_PASSES_UNIT;
	uint64_t said;

	if (!slot)
		return;
	said = __atomic_load_n(&slot->said, __ATOMIC_RELAXED) >> HMK_SAID_NUMBER_SHIFT;
	said = (said + 1) << HMK_SAID_NUMBER_SHIFT | what;
	said |= (uint64_t)(!(units > 1) ? 1 : units > 65535 ? 65535 : units) << HMK_SAID_PASSES_SHIFT;
	/* Before `asleep` is looked at: hmkd sets that before it reads for the last time. */
	__atomic_store_n(&slot->said, said, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&last_look, __ATOMIC_RELAXED) != seconds())
		look_at_connection();
	if (what != HMK_SAYS_ARCHIVE && what != HMK_SAYS_RETIRED)
		ring(__atomic_load_n(&table, __ATOMIC_RELAXED));
}

/* A writer at a time. Rule 2. */
static void place(struct hmk_hint_slot *slot, const void *start, size_t bytes)
{
	const uint32_t seq = slot->seq;

	__atomic_store_n(&slot->seq, seq + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->start, (uint64_t)start, __ATOMIC_RELEASE);	/* after seq + 1 */
	__atomic_store_n(&slot->bytes, bytes, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->seq, seq + 2, __ATOMIC_RELEASE);
}

static void name(struct hmk_hint_slot *slot, const char *label)
{
	union {
		char text[HMK_HINTS_LABEL];
		uint64_t words[HMK_HINTS_LABEL / sizeof(uint64_t)];
	} to = { { 0 } };

	if (label)
		memcpy(to.text, label, strnlen(label, HMK_HINTS_LABEL - 1));
	for (size_t i = 0; i < HMK_HINTS_LABEL / sizeof(uint64_t); i++)
		__atomic_store_n((uint64_t *)slot->label + i, to.words[i], __ATOMIC_RELAXED);
}

static bool is_range(const void *start, size_t bytes)
{
	return bytes && bytes <= ADDRESSES_END && (uint64_t)start <= ADDRESSES_END - bytes;
}

/* As the kernel has it now: private, and of no file. */
static bool is_anonymous(uint64_t start, uint64_t end)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && start < end && fgets(line, sizeof(line), maps)) {
		uint64_t from, to, inode;
		char rights[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %" SCNu64, &from, &to, rights,
			   &inode) == 4 &&
		    from <= start && start < to) {
			if (rights[3] != 'p' || inode)
				break;
			start = to;
		}
		while (!strchr(line, '\n') && fgets(line, sizeof(line), maps))
			;
	}
	if (maps)
		fclose(maps);
	return start >= end;
}

/* Under the lock. 0: none is left. */
static uint32_t take_slot(void)
{
	const uint32_t taken = first_free;

	if (taken) {
		first_free = (uint32_t)slots(table)[taken - 1].start;
		return taken;
	}
	if (table->slots_used == HMK_HINTS_SLOTS)
		return 0;
	return table->slots_used + 1;
}

static hmk_object add(void *start, size_t bytes, const char *label, unsigned int flags)
{
	const int err = make_table();
	struct hmk_hint_slot *slot;
	uint32_t taken;

	if (err) {
		errno = -err;
		return 0;
	}
	taken = take_slot();
	if (!taken) {
		errno = ENOSPC;
		return 0;
	}
	slot = &slots(table)[taken - 1];
	gives_back[taken - 1] = !!(flags & HMK_OBJECT_ANON);
	__atomic_store_n(&slot->said, (slot->said >> HMK_SAID_NUMBER_SHIFT) << HMK_SAID_NUMBER_SHIFT,
			 __ATOMIC_RELAXED);
	/* Nobody reads a label but of what is placed, and no slot that was used before lacks its seq. */
	place(slot, NULL, 0);
	name(slot, label);
	place(slot, start, bytes);
	if (table->slots_used < taken)
		__atomic_store_n(&table->slots_used, taken, __ATOMIC_RELEASE);
	return epoch << INDEX_BITS | taken;
}

hmk_object hmk_register(void *start, size_t bytes, const char *label, unsigned int flags)
{
	hmk_object object;
	int err;

	if (!is_range(start, bytes) || flags & ~HMK_OBJECT_ANON ||
	    (flags & HMK_OBJECT_ANON && !is_anonymous((uint64_t)start, (uint64_t)start + bytes))) {
		errno = EINVAL;
		return 0;
	}
	pthread_mutex_lock(&lock);
	object = add(start, bytes, label, flags);
	pthread_mutex_unlock(&lock);
	err = errno;
	if (object && __atomic_load_n(&last_look, __ATOMIC_RELAXED) != seconds())
		look_at_connection();
	errno = err;
	return object;
}

void hmk_move_object(hmk_object object, void *start, size_t bytes)
{
	struct hmk_hint_slot *slot;

	if (!is_range(start, bytes))
		return hmk_unregister(object);
	pthread_mutex_lock(&lock);
	slot = slot_of(object);
	if (slot) {
		place(slot, start, bytes);
		if (gives_back[index_of(object)])
			gives_back[index_of(object)] =
				is_anonymous((uint64_t)start, (uint64_t)start + bytes);
	}
	pthread_mutex_unlock(&lock);
}

void hmk_unregister(hmk_object object)
{
	struct hmk_hint_slot *slot;

	pthread_mutex_lock(&lock);
	slot = slot_of(object);
	if (slot && slot->bytes) {
		place(slot, (void *)(uintptr_t)first_free, 0);
		first_free = index_of(object) + 1;
	}
	pthread_mutex_unlock(&lock);
}

/* -EAGAIN: hmkd has not answered yet, and *waits_on is what to wait on. */
static int ask_for_answer(int *waits_on)
{
	int err;

	pthread_mutex_lock(&lock);
	notice_its_end();
	err = begin_to_connect();
	if (!err && !is_answered)
		err = read_answer();
	if (err == -EAGAIN)
		*waits_on = fcntl(hmkd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&lock);
	return err;
}

int hmk_hints_open(void)
{
	struct pollfd answer = { .fd = -1, .events = POLLIN };
	int err = ask_for_answer(&answer.fd);

	if (err != -EAGAIN || answer.fd < 0)
		return err;
	poll(&answer, 1, PATIENCE_MS);
	close(answer.fd);
	pthread_mutex_lock(&lock);
	/* Another thread may have read it. */
	err = hmkd < 0 ? -ECONNRESET : is_answered ? 0 : read_answer();
	pthread_mutex_unlock(&lock);
	return err == -EAGAIN ? -ETIMEDOUT : err;
}

void hmk_will_read(hmk_object object)
{
	say(object, HMK_SAYS_READ, 1);
}

void hmk_will_write(hmk_object object)
{
	say(object, HMK_SAYS_WRITE, 1);
}

void hmk_will_use(hmk_object object)
{
	say(object, HMK_SAYS_USE, 1);
}

void hmk_will(hmk_object object, enum hmk_access access, double passes)
{
	static const enum hmk_says what[] = {
		[HMK_READ] = HMK_SAYS_READ, [HMK_WRITE] = HMK_SAYS_WRITE, [HMK_READ_WRITE] = HMK_SAYS_USE,
	};

	if (access >= HMK_READ && access <= HMK_READ_WRITE && passes > 0)
		say(object, what[access], passes);
}

void hmk_archive(hmk_object object)
{
	say(object, HMK_SAYS_ARCHIVE, 0);
}

void hmk_retire(hmk_object object)
{
	struct hmk_hint_slot *slot;

	pthread_mutex_lock(&lock);
	slot = slot_of(object);
	if (slot && gives_back[index_of(object)]) {
		const uint64_t start = (slot->start + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
		const uint64_t end = (slot->start + slot->bytes) & ~(PAGE_BYTES - 1);

		if (start + WORTH_GIVING <= end)
			madvise((void *)start, end - start, MADV_DONTNEED);
	}
	pthread_mutex_unlock(&lock);
	say(object, HMK_SAYS_RETIRED, 0);
}
