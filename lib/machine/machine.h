/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * History of mappings, threads and names. Side-band records are added in any order, then the
 * machine is sealed (sorted by time and replayed). After that any (pid, time, ip) resolves in any
 * order, from several threads at once. Processes: a fork shares its parent's history up to the
 * fork; exec starts a new address space; a reused pid is a new process.
 */
#pragma once

#include <sprof/record.h>
#include "machine/module.h"

struct machine;

struct sp_error *machine_new(struct machine **ret) SP_MUST_CHECK;
void machine_free(struct machine *machine);

/*
 * Sets the recording's architecture ("x86_64"; feature ARCH). It decides what is 32-bit, and which
 * addresses are the kernel's.
 */
void machine_set_arch(struct machine *machine, const char *arch);

/*
 * Adds a copy of a MMAP, MMAP2, COMM, FORK, KSYMBOL, HEADER_BUILD_ID or embedded-file record; ignores
 * others. Records of equal time (synthesized ones have time 0) are replayed in the order of their
 * addition.
 */
struct sp_error *machine_add(struct machine *machine, const struct sp_record *record) SP_MUST_CHECK;

/*
 * A jitdump file that a process mapped. The caller must read the file and add its code by
 * machine_add_jit() before machine_seal().
 */
struct machine_jitdump {
	const struct module *module; /* module of its code, of kind MODULE_JIT */
	uint32_t pid;                /* process that mapped the file */
	uint64_t time_ns;            /* time of the mapping; 0: before the recording */
};

size_t machine_jitdump_count(const struct machine *machine);
struct machine_jitdump machine_jitdump(const struct machine *machine, size_t index);

/*
 * Adds code of a jitdump: the process has it at [start, start + size) from `time_ns` on, but not before
 * the dump was mapped. The code's bytes are at file_offset of the dump.
 */
struct sp_error *machine_add_jit(struct machine *machine, const struct machine_jitdump *dump,
				 uint64_t time_ns, uint64_t start, uint64_t size,
				 uint64_t file_offset) SP_MUST_CHECK;

/*
 * Returns the mark of code in a process's perf map, to be added in the same way; its module is NULL
 * when out of memory.
 */
struct machine_jitdump machine_mark_perf_map(struct machine *machine, uint32_t pid);

/*
 * Returns how often JIT code replaced other code without a new view, because too many views existed.
 * Earlier samples there get the later name. Valid after machine_seal().
 */
uint64_t machine_jit_unparted(const struct machine *machine);

/* Ends the adding of records and replays them in the order of time. */
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
 * Returns the lowest view in which all ips of that CPU mode mean the same as in `view`: kernel code is
 * the same in all processes. Use it as key of caches.
 */
uint32_t machine_view_of_mode(const struct machine *machine, uint32_t view, uint16_t cpumode);

/*
 * Returns the pool of threads that a thread's name belongs to, "worker-* (16 threads)"
 * (machine/pools.h); NULL: none. The machine owns the text. Not thread-safe.
 */
const char *machine_pool(struct machine *machine, const char *comm);

/* State of a thread from `from_ns` until before `until_ns` (UINT64_MAX: for ever). */
struct machine_span {
	uint64_t from_ns, until_ns;
	uint32_t view;
	const char *comm; /* the thread's name, interned by the machine; ":TID": unknown */
	const char *name; /* the name that perf report shows: if the thread has no name yet, its first later
			   * one */
	/*
	 * If an exec began the view: the time when the new program was mapped, and the view before it;
	 * else 0.
	 */
	uint64_t exec_until_ns;
	uint32_t replaced_view;
};

/* Returns the span that contains `time_ns`. Many samples share a span, so callers should keep it. */
struct machine_span machine_span(const struct machine *machine, uint32_t pid, uint32_t tid,
				 uint64_t time_ns);

/*
 * Returns the view for a sample taken in the kernel. During execve(2), the process already has its new
 * name, while its user address, `user_ip`, may still be the old program's.
 */
uint32_t machine_sample_view(const struct machine *machine, const struct machine_span *span,
			     uint64_t time_ns, uint64_t user_ip);

/* Place of an instruction pointer (ip). */
struct location {
	const struct module *module; /* NULL: no known mapping has it */
	uint64_t offset;             /* user files: offset in the file; kernel and JIT code: the ip itself */
	uint64_t mapped_offset;      /* user files: file offset of the mapping's begin; else 0 */
	uint64_t ip;                 /* the ip that was searched */
	uint32_t pid;                /* process of the address space, for perf-PID.map and /proc/PID/root */
};

/*
 * Finds the place of an ip. `cpumode` is PERF_RECORD_MISC_{USER,KERNEL,…} of the sample, or of the
 * PERF_CONTEXT_* mark before the ip.
 */
struct location machine_locate(const struct machine *machine, uint32_t view, uint16_t cpumode,
			       uint64_t ip);

/*
 * Treats all address spaces as incomplete, because mapping records may be missing: machine_may_run()
 * then accepts unmapped addresses, too.
 */
void machine_set_partial(struct machine *machine);

/*
 * Returns whether user code may run at an ip. False only if all mappings of the address space are known
 * (since an exec, or from /proc when the recording began) and none that is executable has the ip.
 */
bool machine_may_run(const struct machine *machine, uint32_t view, uint64_t ip);

/*
 * Returns whether there are records of processes outside the recorder's PID namespace. All of them
 * have pid 0, so that they have no name, and their addresses no mapping.
 */
bool machine_has_outside(const struct machine *machine);

/* Returns the recorded kernel's module, or NULL. */
const struct module *machine_kernel(const struct machine *machine);

/*
 * Returns the language runtime that the process mapped last, or NULL. Children have their parent's until
 * they execute a program.
 */
const struct runtime *machine_runtime(const struct machine *machine, uint32_t pid);

/* Returns whether the recording has functions of Python code (record/python_record.h). */
bool machine_has_python(const struct machine *machine);

/* Command line of a process. Its texts belong to the machine; equal texts have one address. */
struct machine_command {
	const char *line;     /* words, quoted for a shell, without control characters */
	const char *argument; /* names of files among the words, or "-": none */
	const char *file;     /* base name of the first file, and the number of others; "": none */
};

/* Returns the command line of a process at a time; NULL: unknown. */
const struct machine_command *machine_command(const struct machine *machine, uint32_t pid,
					      uint64_t time_ns);

/* A process, from its fork until the next fork that gets its pid. */
struct machine_process {
	uint32_t pid;
	uint32_t parent;            /* the process that forked it; 0: unknown, or without records */
	uint64_t from_ns, until_ns; /* from_ns 0: it was forked before the recording */
};

/* Returns the process that has a pid at a time. */
struct machine_process machine_process(const struct machine *machine, uint32_t pid,
				       uint64_t time_ns);

/*
 * Returns a process as text, "cc1 file.c (PID)": the name of its last program, and the first file
 * among the arguments, or the whole command line. The caller frees it; NULL when out of memory.
 */
char *machine_process_text(const struct machine *machine, uint32_t pid, uint64_t time_ns,
			   bool command_line);

size_t machine_module_count(const struct machine *machine);
const struct module *machine_module(const struct machine *machine, size_t index);
