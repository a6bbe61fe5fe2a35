/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's symbols: /proc/kallsyms, or a copy of it. With 122,000 symbols, the kernel needs
 * 45 ms to generate the file and the parser a tenth of that: read it when it is needed, not at
 * start-up. Immutable after reading: any number of threads may look up at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/disk_cache.h"

struct kallsyms;

/*
 * A symbol of type T, W, D or B (either case), the types that perf uses: code, and data, because it
 * ends the code before it. The struct kallsyms owns the strings.
 */
struct kallsyms_symbol {
	uint64_t address;
	uint64_t end;       /* exclusive; the next symbol, or, for a module's last, the next page's end */
	const char *name;
	const char *module; /* NULL: the kernel itself; "bpf" for BPF programs; a module's name */
	char type;          /* 'T', 't', 'W', … */
};

/* Reads `path`, or ROOT/proc/kallsyms if it is NULL. A line that is no symbol: SP_ERROR_FORMAT. */
struct sp_error *kallsyms_read(const struct sp_ctx *ctx, const char *path,
			       struct kallsyms **ret) SP_MUST_CHECK;

/* Reads an open file likewise. `path` is for messages. */
struct sp_error *kallsyms_read_fd(int fd, const char *path, struct kallsyms **ret) SP_MUST_CHECK;

/* Parses text from memory, which is copied. `path` is for messages; may be NULL. */
struct sp_error *kallsyms_parse(const void *text, size_t size, const char *path,
				struct kallsyms **ret) SP_MUST_CHECK;
/* Symbols to encode: those of the kernel itself (module NULL), or of a module. */
struct kallsyms_part {
	const char *module;
	uint64_t start, size; /* addresses in [start, start + size) */
	uint64_t base;	      /* encoded address of `start` */
};

/* Encodes symbols for kallsyms_open(). The caller frees *ret. */
struct sp_error *kallsyms_encode(const struct kallsyms *kallsyms, const struct kallsyms_part *part,
				 uint8_t **ret, size_t *size_ret) SP_MUST_CHECK;

/*
 * Opens encoded symbols, and owns the entry, even if it fails. Only those that are looked up are
 * read. In damaged blocks no symbols are found. *ret is NULL if the entry is damaged.
 */
struct sp_error *kallsyms_open(struct disk_entry *entry, struct kallsyms **ret) SP_MUST_CHECK;

void kallsyms_free(struct kallsyms *kallsyms);
DEFINE_CLEANUP(struct kallsyms *, kallsyms_free)

/*
 * Returns whether all addresses are 0, because kptr_restrict hides them. Also true without any
 * symbol.
 */
bool kallsyms_hidden(const struct kallsyms *kallsyms);

/* Number of symbols. Their indexes are by address, and in the file's order if addresses are equal. */
size_t kallsyms_count(const struct kallsyms *kallsyms);
struct kallsyms_symbol kallsyms_symbol(const struct kallsyms *kallsyms, size_t index);

/*
 * Finds the symbol that covers an address; of several at one address the file's last, like perf.
 * False if there is none, or if all addresses are hidden.
 */
bool kallsyms_find(const struct kallsyms *kallsyms, uint64_t address, struct kallsyms_symbol *ret);

/* Finds a symbol of the kernel itself by name, not of modules; false if there is none. */
bool kallsyms_find_name(const struct kallsyms *kallsyms, const char *name,
			struct kallsyms_symbol *ret);

/*
 * Begin of the kernel's code: _text or _stext. kallsyms_reference() reads only the first lines of
 * ROOT/proc/kallsyms (microseconds), and returns false if addresses are hidden or it is unreadable.
 */
struct kernel_reference {
	uint64_t address;
	const char *name; /* "_text" or "_stext"; static */
	uint64_t stext;   /* address of _stext; 0: not near _text */
};
bool kallsyms_reference(const struct sp_ctx *ctx, struct kernel_reference *ret);
