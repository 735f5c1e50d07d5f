// SPDX-License-Identifier: GPL-2.0-only
// What a function took hold of is given back, kept in something that outlives it, or returned.
virtual report

@got exists@
expression x;
position p;
@@
x = \(get_task_mm@p\|find_get_pid@p\|get_pid_task@p\|fget@p\)(...)

@lost exists@
expression got.x, E, R;
position got.p, r;
@@
x = \(get_task_mm@p\|find_get_pid@p\|get_pid_task@p\|fget@p\)(...)
... when != \(mmput\|mmput_async\|put_pid\|put_task_struct\|fput\)(x)
    when != E = x
    when != x == NULL
    when != !x
    when != if (x) \(mmput\|mmput_async\|put_pid\|put_task_struct\|fput\)(x);
(
return x;
|
return@r R;
|
return@r;
)

@script:python depends on report@
p << got.p;
r << lost.r;
@@
print("%s:%s: warning: what line %s got is not put on this way out" % (r[0].file, r[0].line, p[0].line))
