/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file (or what stands for one) that was mapped: the unit of symbolization. */
#ifndef MACHINE_MODULE_H
#define MACHINE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum module_kind {
	MODULE_FILE,          /* an ELF file of user space; memfd, too, which may hold JIT code */
	MODULE_VDSO,
	MODULE_ANONYMOUS,     /* //anon, [heap], [stack]: JIT code */
	MODULE_KERNEL,        /* [kernel.kallsyms], vmlinux */
	MODULE_KERNEL_MODULE, /* a .ko, or [name] */
	MODULE_JIT,           /* a jitdump's code: an offset is a byte's place in that file */
	MODULE_KERNEL_CODE,   /* KSYMBOL: a BPF program or trampoline, `path` is its name */
};

/* One for each distinct (kind, path, build-id, device, inode). Immutable once sealed. */
struct module {
	uint32_t index;       /* machine_module(index) */
	enum module_kind kind;
	const char *path;     /* recorded path */
	const char *name;     /* perf's text: base name, "[kernel.kallsyms]", "[vdso]", … */
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: not recorded */
	uint32_t maj, min;
	uint64_t ino;
	uint64_t start, end;   /* kernel kinds: where it lies in memory; else 0 */
	uint64_t reference;    /* MODULE_KERNEL: run time address of `reference_symbol`; 0 unknown */
	const char *reference_symbol; /* "_text" or "_stext": what KASLR is measured by; or NULL */
	uint32_t pid;          /* first process that mapped it */
	bool is_64bit;
	uint64_t content_size; /* size of a file without a build-id; 0: not recorded */
	uint64_t content_hash; /* hash by record/content.h */
	bool is_code;          /* user kinds: it was mapped executable, somewhere, some time */
	const uint8_t *kept;   /* the file itself, where the recording has it; untrusted */
	size_t kept_size;      /* 0: it has not */
};

#endif
