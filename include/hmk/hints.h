/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * libhmk: say what you know of your own memory, and hmkd places it ahead of its use.
 *
 *   hmk_object next = hmk_register(weights, bytes, "layer 12", 0);
 *   hmk_will_read(next);     before it is needed: it rises while you do something else
 *   ...
 *   hmk_archive(next);       not needed for a while: it makes room first
 *
 * Nothing here needs root or the module, and nothing needs hmkd to run: without it what is said is
 * kept, a store, and counts when hmkd comes. A program that says what is not so harms itself: what
 * is said ranks within what was measured of its own memory, and after a while is no longer believed
 * (`hmkctl labels` tells). After fork() a child has no objects; those of its parent do nothing in it.
 *
 * Calls on one object from several threads at a time are safe, and the last one counts. An object
 * that was unregistered must not be used again.
 */
#ifndef HMK_HINTS_H
#define HMK_HINTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned int hmk_object;	/* 0: none; every call on it does nothing */

#define HMK_OBJECT_ANON	(1u << 0)	/* private anonymous memory: hmk_retire() may give it back */

/**
 * hmk_hints_open() - connect to hmkd now, and learn whether it listens.
 *
 * Not needed: hmk_register() connects, and what is said later tries again once a second. The socket
 * is HMK_HINTS_SOCKET of <hmk/hints_abi.h>, or what the environment variable of that name says.
 *
 * Return: 0; -ENOENT or -ECONNREFUSED no hmkd; -EACCES not allowed; -ENOTCONN hmkd does not manage
 * this process, or takes no hints (`hints: no`); -ETIMEDOUT it is too busy to answer, and what is said
 * counts later; -ENOMEM; another errno of the kernel.
 */
int hmk_hints_open(void);

/**
 * hmk_register() - name a piece of memory.
 * @start: address, @bytes: length. What counts is the whole pages inside: below 64 KiB an object
 *         is hardly worth a move.
 * @label: shown by `hmkctl labels`; up to 31 bytes of it are kept. Objects of one label are shown
 *         as one. NULL: none.
 * @flags: HMK_OBJECT_ANON or 0.
 *
 * Return: the object; 0 with errno EINVAL (no bytes, beyond the address space, unknown flags, or
 * not all of it is private anonymous memory as HMK_OBJECT_ANON says), ENOSPC (16383 objects are
 * registered), ENOMEM.
 */
hmk_object hmk_register(void *start, size_t bytes, const char *label, unsigned int flags);
/** hmk_move_object() - it lies elsewhere now: after realloc() or mremap(). Same label, same word. */
void hmk_move_object(hmk_object object, void *start, size_t bytes);
/** hmk_unregister() - forget the object; its memory stays as it is. */
void hmk_unregister(hmk_object object);

/** hmk_will_read(), _write(), _use() - each page is about to be gone through once; _use() does both. */
void hmk_will_read(hmk_object object);
void hmk_will_write(hmk_object object);
void hmk_will_use(hmk_object object);

enum hmk_access { HMK_READ = 1, HMK_WRITE = 2, HMK_READ_WRITE = 3 };
/**
 * hmk_will() - the same, and how often.
 * @passes: how often each page is gone through from end to end, above 0, up to 4095. One pass over
 *          what lies in a slow tier may cost less than the copy; then it stays there.
 */
void hmk_will(hmk_object object, enum hmk_access access, double passes);

/** hmk_archive() - not for a while: it leaves first when room is needed, and not before. */
void hmk_archive(hmk_object object);
/**
 * hmk_retire() - its contents are dead: they need not be kept, nor moved.
 *
 * With HMK_OBJECT_ANON whole pages inside are given back to the kernel at once where they are 64 KiB
 * or more; read again they are zeros. Without it, as hmk_archive().
 */
void hmk_retire(hmk_object object);

#ifdef __cplusplus
}
#endif

#endif /* HMK_HINTS_H */
