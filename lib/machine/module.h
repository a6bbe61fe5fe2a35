/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A mapped file, or other code such as the kernel: the unit of symbolization. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum module_kind {
	MODULE_FILE,          /* an ELF file of user space, or a memfd, which may contain JIT code */
	MODULE_VDSO,
	MODULE_ANONYMOUS,     /* memory without a file: //anon, [heap], [stack]; may contain JIT code */
	MODULE_KERNEL,        /* [kernel.kallsyms] or vmlinux */
	MODULE_KERNEL_MODULE, /* a .ko file, or [name] */
	MODULE_JIT,           /* code of a jitdump: an offset is a place in that file; or code of a
			       * perf map (its path), timed by the noted sizes of that file */
	MODULE_PYTHON,        /* Python code (record/python_record.h): an offset is the ip */
	MODULE_KERNEL_CODE,   /* a BPF program or trampoline by a KSYMBOL record; `path` is its name */
};

/* One for each distinct (kind, path, build-id, device, inode). Constant after machine_seal(). */
struct module {
	uint32_t index;       /* argument of machine_module() */
	enum module_kind kind;
	const char *path;     /* path in the recording */
	const char *name;     /* name as perf prints it: base name, "[kernel.kallsyms]", "[vdso]", … */
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: no build-id was recorded */
	uint32_t maj, min;
	uint64_t ino;
	uint64_t start, end;   /* kernel kinds: range in memory; else 0 */
	uint64_t reference;    /* MODULE_KERNEL: address of `reference_symbol` in memory; 0: unknown */
	const char *reference_symbol; /* symbol that measures the kernel's random offset (KASLR): "_text" or
				       * "_stext"; or NULL */
	uint32_t pid;          /* first process that mapped it */
	uint8_t runtime;       /* number of the file's language runtime */
	bool is_64bit;
	uint64_t content_size; /* size of a file without a build-id; 0: not recorded */
	uint64_t content_hash; /* hash of the file's content (record/content.h) */
	bool is_generated;     /* code made at run time; of memfds, those that a runtime
				* names so (.NET, QEMU): others may contain ELF files */
	bool is_moved;         /* a process replaced its code by memory without a file, and no
				* record proves that the bytes are the file's */
	bool is_code;          /* user kinds: some process mapped it executable */
	bool is_guest;         /* kernel kinds: it is of a virtual machine's kernel */
	const uint8_t *kept;   /* the file's bytes, if the recording contains the file; untrusted */
	size_t kept_size;      /* 0: the recording does not contain the file */
	const struct python_function *functions; /* MODULE_PYTHON: by address, distinct; else NULL */
	size_t function_count;
};

/* Returns the Python function of an address of record/python_record.h; NULL: there is none. */
const struct python_function *module_python_function(const struct module *module, uint64_t ip);

/* Returns its file; "": unknown. */
const char *module_python_file(const struct module *module, uint64_t ip);

/* Language runtimes that generate code, and the options that make it visible to profilers. */

struct runtime {
	const char *dso;     /* base name of its executable or library, up to the version */
	const char *name;
	const char *symbols; /* remedy for code without symbols; NULL: none */
	const char *stacks;  /* remedy for stacks that end in its code; NULL: none, or not needed */
	const char *callees; /* remedy for callees that its compilers inline; its last word is an
			      * option; NULL: unknown */
	unsigned int minor;  /* first minor version that this is about; 0: any */
};

/* Returns the runtime of a number from runtime_number(); NULL for 0. */
const struct runtime *runtime_get(uint32_t number);

/* Returns whether the file is a distribution's: its users do not compile it. */
static inline bool module_is_distributed(const struct module *module)
{
	return !strncmp(module->path, "/usr/", 5) && strncmp(module->path, "/usr/local/", 11) != 0;
}
