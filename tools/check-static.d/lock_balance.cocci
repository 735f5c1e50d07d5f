// SPDX-License-Identifier: GPL-2.0-only
// A lock taken here is given back on every way out, and not taken twice. A function that hands a lock on to its
// caller has a name that says so, *_lock; one that lets go of its caller's lock for a while is known by that.
virtual report

@lent@
expression L;
position p;
@@
\(mutex_unlock\|spin_unlock\|mmap_read_unlock\|up_read\)(L)
...
\(mutex_lock@p\|spin_lock@p\|mmap_read_lock@p\|down_read@p\)(L)

@taken exists@
identifier F !~ "_lock$";
expression L;
position p != lent.p;
@@
F(...)
{
<...
\(mutex_lock@p\|spin_lock@p\|mmap_read_lock@p\|down_read@p\)(L)
...>
}

@kept exists@
expression taken.L, R;
position taken.p, r;
@@
\(mutex_lock@p\|spin_lock@p\|mmap_read_lock@p\|down_read@p\)(L)
... when != \(mutex_unlock\|spin_unlock\|mmap_read_unlock\|up_read\)(L)
\(return@r R;\|return@r;\)

@script:python depends on report@
p << taken.p;
r << kept.r;
@@
print("%s:%s: warning: lock of line %s is still held on return" % (r[0].file, r[0].line, p[0].line))

@again exists@
expression L;
position p, q;
@@
\(mutex_lock@p\|spin_lock@p\)(L)
... when != \(mutex_unlock\|spin_unlock\)(L)
\(mutex_lock@q\|spin_lock@q\)(L)

@script:python depends on report@
p << again.p;
q << again.q;
@@
print("%s:%s: warning: lock of line %s is taken again" % (q[0].file, q[0].line, p[0].line))
