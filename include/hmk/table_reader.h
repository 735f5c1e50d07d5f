/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The one reader of the table that hmk.ko publishes (uapi/linux/hmk.h), for
 * C and C++, nothing to link:
 *
 *   rc = hmk_table_read(base, len, &iv, records, cap, &nr);
 *   if (rc == -ENOSPC)
 *           grow records to nr and read again;
 *
 * It believes nothing: every offset, size and count of the table is checked
 * against the mapped length before it is used, so a damaged table is -EPROTO
 * and never a read out of bounds.
 *
 * Ordering. The protocol of the uapi ends with an acquire fence before the
 * second load of the sequence. Here each word of a buffer is itself loaded with
 * acquire, which orders the same things, costs nothing on x86 and can be
 * followed by ThreadSanitizer, which does not know fences. The writer must
 * order its store of the sequence before its first store to the other buffer.
 */
#ifndef HMK_TABLE_READER_H
#define HMK_TABLE_READER_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/hmk.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HMK_TABLE_TRIES	16	/* an interval lasts 50 ms at least: one is the rule */

/* Copies @bytes, a multiple of 8, from shared memory; both 8-byte aligned. */
static inline void hmk_table_copy_(void *to, const unsigned char *from, size_t bytes)
{
	unsigned char *out = (unsigned char *)to;
	size_t at;

	for (at = 0; at < bytes; at += sizeof(uint64_t)) {
		uint64_t word = __atomic_load_n((const uint64_t *)(const void *)(from + at),
						__ATOMIC_ACQUIRE);

		memcpy(out + at, &word, sizeof(word));
	}
}

static inline uint64_t hmk_table_seq_(const void *base)
{
	return __atomic_load_n((const uint64_t *)(const void *)
			       ((const unsigned char *)base +
				offsetof(struct hmk_table_header, seq)), __ATOMIC_ACQUIRE);
}

/* Whether buffer @i, with all the records it may hold, lies inside the mapping. */
static inline int hmk_table_buffer_fits_(const struct hmk_table_header *h, int i, size_t len)
{
	uint64_t off = h->buffer_offset[i];

	if (off % 8 || off < h->header_size || off > len || len - off < h->interval_size)
		return 0;
	return h->capacity <= (len - off - h->interval_size) / h->record_size;
}

/**
 * hmk_table_check() - copy and check the header of a mapped table.
 * @base: start of the mapping, 8-byte aligned (mmap gives pages).
 * @len:  its length in bytes.
 * @h:    receives the header, also on -ESTALE.
 *
 * Return: 0; -ESTALE when the table has grown and must be mapped again;
 * -EPROTO when it is no table, of another layout, or its sizes and offsets do
 * not fit into @len.
 */
static inline int hmk_table_check(const void *base, size_t len, struct hmk_table_header *h)
{
	if (!base || (uintptr_t)base % 8 || len < sizeof(*h))
		return -EPROTO;
	hmk_table_copy_(h, (const unsigned char *)base, sizeof(*h));
	if (h->magic != HMK_TABLE_MAGIC || h->layout != HMK_TABLE_LAYOUT)
		return -EPROTO;
	if (h->flags & HMK_TABLE_MOVED)
		return -ESTALE;
	/* Longer structs are of a newer module: their head is what we know. */
	if (h->header_size < sizeof(*h) || h->header_size > len ||
	    h->interval_size < sizeof(struct hmk_interval) || h->interval_size % 8 ||
	    h->record_size < sizeof(struct hmk_record) || h->record_size % 8)
		return -EPROTO;
	if (!hmk_table_buffer_fits_(h, 0, len) || !hmk_table_buffer_fits_(h, 1, len))
		return -EPROTO;
	return 0;
}

/**
 * hmk_table_seq() - number of the last published interval.
 * @base: start of the mapping, 8-byte aligned.
 * @len:  its length in bytes.
 *
 * Cheap: asks whether something new is there. Checks nothing but @len.
 *
 * Return: the sequence number, 0 when nothing is published or @len is too short.
 */
static inline uint64_t hmk_table_seq(const void *base, size_t len)
{
	if (!base || len < sizeof(struct hmk_table_header))
		return 0;
	return hmk_table_seq_(base);
}

/**
 * hmk_table_read() - copy the last published interval and its records.
 * @base: start of the mapping, 8-byte aligned.
 * @len:  its length in bytes.
 * @iv:   receives the interval, on 0 and on -ENOSPC.
 * @out:  receives the records; may be NULL when @cap is 0. Owned by the caller.
 * @cap:  how many records @out holds.
 * @nr:   receives the number of records, on 0 and on -ENOSPC; 0 otherwise.
 *
 * What it copies is one whole interval: when the module publishes meanwhile,
 * it starts again, at most HMK_TABLE_TRIES times. On failure @out may hold
 * leftovers of an attempt.
 *
 * Return: 0; -EAGAIN when nothing is published yet; -ENOSPC when @cap is less
 * than @nr; -ESTALE when the table must be mapped again; -EBUSY when the module
 * overtook every try; -EPROTO when the table is damaged.
 */
static inline int hmk_table_read(const void *base, size_t len, struct hmk_interval *iv,
				 struct hmk_record *out, size_t cap, size_t *nr)
{
	struct hmk_table_header h;
	int rc, tries;

	*nr = 0;
	for (tries = 0; tries < HMK_TABLE_TRIES; tries++) {
		const unsigned char *buffer;
		uint64_t seq;
		size_t i, copied = 0;

		rc = hmk_table_check(base, len, &h);
		if (rc)
			return rc;
		seq = hmk_table_seq_(base);
		if (!seq)
			return -EAGAIN;
		buffer = (const unsigned char *)base + h.buffer_offset[seq & 1];
		hmk_table_copy_(iv, buffer, sizeof(*iv));
		/* Perhaps torn: bound it now, judge it when it proved whole. */
		if (iv->nr_regions <= h.capacity && iv->nr_regions <= cap)
			copied = iv->nr_regions;
		for (i = 0; i < copied; i++)
			hmk_table_copy_(&out[i], buffer + h.interval_size + i * h.record_size,
					sizeof(*out));
		if (hmk_table_seq_(base) != seq)
			continue;
		if (iv->seq != seq || iv->nr_regions > h.capacity)
			return -EPROTO;
		*nr = iv->nr_regions;
		return *nr > cap ? -ENOSPC : 0;
	}
	return -EBUSY;
}

#ifdef __cplusplus
}
#endif

#endif /* HMK_TABLE_READER_H */
