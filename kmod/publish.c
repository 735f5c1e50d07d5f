// SPDX-License-Identifier: GPL-2.0-only
/* The result table: regions to shared memory, double-buffered (HK-57, HK-58). */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat/mm.h"
#include "session.h"
#include "windows.h"

struct hmk_table {
	struct hmk_table_header *header;	/* vmalloc_user(): zeroed, mappable */
	u64 bytes;
	u32 capacity;
};

static u64 table_buffer_bytes(u32 capacity)
{
	return PAGE_ALIGN(sizeof(struct hmk_interval) +
			  (u64)capacity * sizeof(struct hmk_record));
}

/**
 * hmk_table_size() - what a table takes, in bytes to map.
 * @capacity: records of each of its two buffers.
 *
 * Return: bytes, whole pages.
 */
u64 hmk_table_size(u32 capacity)
{
	return PAGE_SIZE + 2 * table_buffer_bytes(capacity);
}

static struct hmk_table *table_alloc(u32 capacity)
{
	struct hmk_table *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	t->bytes = hmk_table_size(capacity);
	t->capacity = capacity;
	t->header = vmalloc_user(t->bytes);
	if (!t->header) {
		kfree(t);
		return NULL;
	}
	*t->header = (struct hmk_table_header){
		.magic = HMK_TABLE_MAGIC,
		.layout = HMK_TABLE_LAYOUT,
		.header_size = sizeof(struct hmk_table_header),
		.interval_size = sizeof(struct hmk_interval),
		.record_size = sizeof(struct hmk_record),
		.capacity = capacity,
		.table_bytes = t->bytes,
		.buffer_offset = { PAGE_SIZE, PAGE_SIZE + table_buffer_bytes(capacity) },
	};
	return t;
}

/* Pages a reader has mapped stay with the reader. */
static void table_free(struct hmk_table *t)
{
	if (!t)
		return;
	vfree(t->header);
	kfree(t);
}

static int table_ensure_locked(struct hmk_session *s)
{
	lockdep_assert_held(&s->table_lock);
	if (!s->table)
		s->table = table_alloc(s->table_capacity);
	return s->table ? 0 : -ENOMEM;
}

/* A session that only moves never needs one. Return: 0 or -ENOMEM. */
int hmk_table_ensure(struct hmk_session *s)
{
	int err;

	mutex_lock(&s->table_lock);
	err = table_ensure_locked(s);
	mutex_unlock(&s->table_lock);
	return err;
}

void hmk_table_destroy(struct hmk_session *s)
{
	table_free(s->table);
	s->table = NULL;
}

u64 hmk_table_bytes(struct hmk_session *s)
{
	u64 bytes;

	mutex_lock(&s->table_lock);
	bytes = s->table ? s->table->bytes : hmk_table_size(s->table_capacity);
	mutex_unlock(&s->table_lock);
	return bytes;
}

/**
 * hmk_table_mmap() - map the table into its reader, read-only.
 * @s:   attached session.
 * @vma: of the reader.
 *
 * Return: 0, -ENOTCONN before ATTACH, -EACCES when it asks for writing,
 * -EINVAL when offset or length do not fit, -ENOMEM.
 */
int hmk_table_mmap(struct hmk_session *s, struct vm_area_struct *vma)
{
	int err;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	if (!smp_load_acquire(&s->mm))	/* pairs with ATTACH: the capacity is set */
		return -ENOTCONN;
	mutex_lock(&s->table_lock);
	err = table_ensure_locked(s);
	if (!err && (vma->vm_pgoff || vma->vm_end - vma->vm_start > s->table->bytes))
		err = -EINVAL;
	if (!err) {
		hmk_vm_flags_mod(vma, VM_DONTCOPY | VM_DONTDUMP | VM_DONTEXPAND,
				 VM_MAYWRITE | VM_MAYEXEC);
		err = remap_vmalloc_range(vma, s->table->header, 0);
	}
	mutex_unlock(&s->table_lock);
	return err;
}

static void table_write_record(struct hmk_record *rec, const struct hmk_region *r,
			       const struct hmk_profile *p)
{
	*rec = (struct hmk_record){
		.start = r->start,
		.length = r->end - r->start,
		.resident_pages = r->resident_pages,
		.away_pages = r->away_pages,
		.node = r->node,
		.away_node = r->away_pages ? r->away_node : -1,
		.generation = r->generation,
		.samples = r->flags & HMK_REGION_STALE ? 0 : r->quota,
		.writes = r->writes,
		.leaf_shift = r->leaf_shift,
		.kind = r->kind,
		.flags = r->flags & HMK_REGION_STALE ? HMK_RECORD_STALE : 0,
	};
	hmk_windows_tell(p, r, rec);
}

/* What its pages of a class are like, and that they are on one node. */
static void table_write_class(struct hmk_record *rec, const struct hmk_profile *p, u32 class,
			      u32 pages, int node)
{
	const struct hmk_tally *t = p->dense.tally;

	rec->flags |= (class + 1) << HMK_RECORD_CLASS_SHIFT;
	rec->resident_pages = pages;
	rec->away_pages = 0;
	rec->node = node;
	rec->away_node = -1;
	hmk_windows_tell_class(p, div_u64(t->heat[class] * (HMK_CORE_Q16_ONE / HMK_DENSE_STEP),
					  t->of_class[class]), rec);
}

/* Where records go; what is beyond the table is only counted. */
struct writer {
	struct hmk_record *rec;
	u32 nr, room;
	u64 resident;
};

static void table_add(struct writer *w, const struct hmk_record *rec)
{
	w->resident += rec->resident_pages;
	if (w->nr < w->room)
		w->rec[w->nr] = *rec;
	w->nr++;
}

static void table_add_classes(struct writer *w, const struct hmk_record *all,
			      const struct hmk_profile *p)
{
	const struct hmk_tally *t = p->dense.tally;
	u32 class, node;

	for (class = HMK_CLASSES; class-- > 0;) {
		for (node = 0; t->of_class[class] && node < HMK_MAX_NODES; node++) {
			struct hmk_record rec = *all;

			if (!(t->nodes >> node & 1) || !t->pages[class][node])
				continue;
			table_write_class(&rec, p, class, t->pages[class][node], node);
			table_add(w, &rec);
		}
	}
}

/* One record of a region, or several. */
static void table_add_region(struct writer *w, struct hmk_profile *p, const struct hmk_region *r)
{
	struct hmk_record rec;

	table_write_record(&rec, r, p);
	if (hmk_tally(p, r))
		table_add_classes(w, &rec, p);
	else
		table_add(w, &rec);
}

/*
 * The old table stays mapped with the flag set: its readers map the new one,
 * which says "nothing published" until this interval is in it.
 */
static void table_grow(struct hmk_session *s, u32 records)
{
	struct hmk_table *bigger = table_alloc(records + records / 2);
	struct hmk_table *old;

	if (!bigger)
		return;		/* the interval will say "truncated" */
	mutex_lock(&s->table_lock);
	old = s->table;
	s->table = bigger;
	mutex_unlock(&s->table_lock);
	WRITE_ONCE(old->header->flags, HMK_TABLE_MOVED);
	table_free(old);
}

static struct hmk_interval *table_buffer(const struct hmk_table *t, u64 seq)
{
	return (void *)t->header + t->header->buffer_offset[seq & 1];
}

/* All records, as far as there is room. Where there is not, all are gone over for their number. */
static struct writer table_write(struct hmk_session *s, u64 seq)
{
	struct hmk_profile *p = &s->prof;
	struct writer w = {
		.rec = (struct hmk_record *)(table_buffer(s->table, seq) + 1),
		.room = s->table->capacity,
	};
	u32 i;

	for (i = 0; i < p->now.nr; i++) {
		table_add_region(&w, p, &p->now.at[i]);
		hmk_pause(i);
	}
	return w;
}

/**
 * hmk_publish() - show the regions of the interval that has ended.
 * @s:  runs in its interval thread, which alone writes the table.
 * @iv: all but @nr_regions and @resident_pages is filled in.
 */
void hmk_publish(struct hmk_session *s, const struct hmk_interval *iv)
{
	struct writer w = table_write(s, iv->seq);
	struct hmk_table_header *header;
	struct hmk_interval *buffer;

	if (w.nr > w.room) {
		table_grow(s, w.nr);
		w = table_write(s, iv->seq);
	}
	header = s->table->header;
	buffer = table_buffer(s->table, iv->seq);
	*buffer = *iv;
	buffer->nr_regions = min(w.nr, w.room);
	buffer->resident_pages = w.resident;
	if (w.nr > w.room)
		buffer->flags |= HMK_INTERVAL_TRUNCATED;
	smp_store_release(&header->seq, iv->seq);	/* pairs with the reader's acquire */
	smp_wmb();	/* before the next interval overwrites the older buffer */
}
