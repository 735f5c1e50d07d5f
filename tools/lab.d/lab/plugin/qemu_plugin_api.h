/* SPDX-License-Identifier: MIT */
/*
 * The dozen declarations of QEMU's plugin interface that count.c uses; Debian
 * ships none. HMK_PLUGIN_API is chosen by the build from QEMU's version:
 * 1 for QEMU up to 9.0, 4 from 9.2 on (instruction bytes are copied out there).
 */
#ifndef HMK_LAB_QEMU_PLUGIN_API_H
#define HMK_LAB_QEMU_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

enum { QEMU_PLUGIN_CB_NO_REGS };
enum { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*hmk_tb_trans_cb)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*hmk_exec_cb)(unsigned int vcpu, void *data);
typedef void (*hmk_mem_cb)(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data);
typedef void (*hmk_exit_cb)(qemu_plugin_id_t, void *data);
typedef void (*hmk_reset_cb)(qemu_plugin_id_t);

void qemu_plugin_reset(qemu_plugin_id_t id, hmk_reset_cb cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, hmk_tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, hmk_exec_cb cb, int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, hmk_exec_cb cb, int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, hmk_mem_cb cb, int flags, int rw, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, hmk_exit_cb cb, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
#if HMK_PLUGIN_API >= 3
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len);
#else
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
#endif

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *haddr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *haddr);

#endif
