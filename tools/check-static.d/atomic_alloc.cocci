// SPDX-License-Identifier: GPL-2.0-only
// Nothing sleeps under a spinlock or within RCU: no GFP_KERNEL, no copy from or to user memory, no mutex.
virtual report

@sleeps exists@
expression L;
position p, q;
@@
(
spin_lock@p(L)
|
rcu_read_lock@p()
)
... when != spin_unlock(L)
    when != rcu_read_unlock()
(
kmalloc@q(..., GFP_KERNEL)
|
kzalloc@q(..., GFP_KERNEL)
|
kvmalloc_array@q(...)
|
kvcalloc@q(...)
|
copy_to_user@q(...)
|
copy_from_user@q(...)
|
mutex_lock@q(...)
|
mmap_read_lock@q(...)
|
cond_resched@q(...)
)

@script:python depends on report@
p << sleeps.p;
q << sleeps.q;
@@
print("%s:%s: warning: may sleep under what line %s took" % (q[0].file, q[0].line, p[0].line))
