/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * History of mappings, threads and names. Side-band records are added in any order, then the
 * machine is sealed (sorted by time and replayed). After that any (pid, time, ip) resolves in any
 * order, from several threads at once. Processes: a fork shares its parent's history up to the
 * fork; exec starts a new address space; a reused pid is a new process.
 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include <sprof/record.h>
#include "machine/module.h"

struct machine;

struct sp_error *machine_new(struct machine **ret) SP_MUST_CHECK;
void machine_free(struct machine *machine);

/* The recording's architecture ("x86_64"; feature ARCH): for what is 32-bit, and the kernel's half. */
struct sp_error *machine_set_arch(struct machine *machine, const char *arch) SP_MUST_CHECK;

/*
 * MMAP, MMAP2, COMM, FORK, KSYMBOL, HEADER_BUILD_ID, kept files; others are ignored. Copied.
 * Records of one time (synthesised ones have time 0) are replayed as they came.
 */
struct sp_error *machine_add(struct machine *machine, const struct sp_record *record) SP_MUST_CHECK;

/*
 * A jitdump that a process mapped as a mark, which the records say; what is in it must be found
 * and added by who has files, before the machine is sealed.
 */
struct machine_jitdump {
	const struct module *module; /* MODULE_JIT; its code's */
	uint32_t pid;                /* pid of the process */
	uint64_t time_ns;            /* when it was mapped; 0: before the recording */
};

size_t machine_jitdump_count(const struct machine *machine);
struct machine_jitdump machine_jitdump(const struct machine *machine, size_t index);

/*
 * The process has code of that jitdump at [start, start + size) from `time_ns` on (not before the
 * dump was mapped), whose bytes are at file_offset of it.
 */
struct sp_error *machine_add_jit(struct machine *machine, const struct machine_jitdump *dump,
				 uint64_t time_ns, uint64_t start, uint64_t size,
				 uint64_t file_offset) SP_MUST_CHECK;

/* Once it is sealed: how often code replaced other code at a time that was not kept apart. */
uint64_t machine_jit_unparted(const struct machine *machine);

/* No more records; replays them. */
struct sp_error *machine_seal(struct machine *machine) SP_MUST_CHECK;

/*
 * A view is one address space, and the kernel, while nothing in them changed its
 * meaning: within one view an ip always means the same code. Views are numbered
 * from 0 to machine_view_count() - 1. View 0 is that of unknown processes: the
 * kernel alone. Processes share a view from a fork until one of them changes.
 */
uint32_t machine_view(const struct machine *machine, uint32_t pid, uint64_t time_ns);
size_t machine_view_count(const struct machine *machine);

/*
 * The lowest view in which all ips of that cpumode mean what they mean in `view`:
 * kernel code is the same in all processes. For caches of what ips mean.
 */
uint32_t machine_view_of_mode(const struct machine *machine, uint32_t view, uint16_t cpumode);

/* The thread's name at that time, interned by the machine; ":TID" where it is not known. */
const char *machine_comm(const struct machine *machine, uint32_t pid, uint32_t tid,
			 uint64_t time_ns);

/* State of a thread from `from_ns` until before `until_ns` (UINT64_MAX: for ever). */
struct machine_span {
	uint64_t from_ns, until_ns;
	uint32_t view;
	const char *comm; /* same as machine_comm() */
	const char *name; /* the same; of a thread not yet named, its first name: as perf report */
	/* If an exec began the view: time when the new program was mapped, and the view before; else 0. */
	uint64_t exec_until_ns;
	uint32_t replaced_view;
};

/* The span that holds `time_ns`: many samples share one, and need not ask again. */
struct machine_span machine_span(const struct machine *machine, uint32_t pid, uint32_t tid,
				 uint64_t time_ns);

/*
 * The view for a sample that was taken in the kernel. Within execve(2) the process already has its new
 * name, but its user address, `user_ip`, is still the old program's.
 */
uint32_t machine_sample_view(const struct machine *machine, const struct machine_span *span,
			     uint64_t time_ns, uint64_t user_ip);

/* Place of an ip. */
struct location {
	const struct module *module; /* NULL: nothing is known to be mapped there */
	uint64_t offset;             /* user files: in the file; kernel, JIT: the ip itself */
	uint64_t mapped_offset;      /* user files: where the mapping starts; else 0 */
	uint64_t ip;                 /* the ip that was looked up */
	uint32_t pid;                /* owner of the address space; for perf-PID.map and /proc/PID/root */
};

/*
 * `cpumode` is PERF_RECORD_MISC_{USER,KERNEL,…} of the sample or of the
 * PERF_CONTEXT_* mark before the ip.
 */
struct location machine_locate(const struct machine *machine, uint32_t view, uint16_t cpumode,
			       uint64_t ip);

/* To be called if records of mappings may be missing: no address space is then completely known. */
void machine_set_partial(struct machine *machine);

/*
 * Whether user code may run at an ip. False if the address space is completely known (since an exec, or
 * from /proc when the recording began) and nothing executable is mapped there.
 */
bool machine_may_run(const struct machine *machine, uint32_t view, uint64_t ip);

/* The kernel as the recording knows it, or NULL. */
const struct module *machine_kernel(const struct machine *machine);

size_t machine_module_count(const struct machine *machine);
const struct module *machine_module(const struct machine *machine, size_t index);

#endif
