/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's symbols: /proc/kallsyms, or a copy of it. For 122,000 symbols the
 * kernel takes 45 ms to write the live file, and we a tenth of that to read it: it is
 * for when it is needed, not for start-up. Immutable once read: any number of
 * threads may look up at once.
 */
#ifndef PROC_KALLSYMS_H
#define PROC_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/ctx.h"

struct kallsyms;

/*
 * A symbol of type T, W, D or B (either case), as perf takes them: code, and
 * the data that bounds it. Strings belong to the kallsyms.
 */
struct kallsyms_symbol {
	uint64_t address;
	uint64_t end;       /* exclusive; the next symbol, or the end of the last one's page */
	const char *name;
	const char *module; /* NULL: the kernel itself; "bpf" for BPF programs; a module's name */
	char type;          /* 'T', 't', 'W', … */
};

/* Reads PATH; NULL: ROOT/proc/kallsyms. Lines that are not symbols fail with SP_ERROR_FORMAT. */
struct sp_error *kallsyms_read(const struct sp_ctx *ctx, const char *path,
			       struct kallsyms **ret) SP_MUST_CHECK;

/* The same of what `fd` is open for. `path` is for messages. */
struct sp_error *kallsyms_read_fd(int fd, const char *path, struct kallsyms **ret) SP_MUST_CHECK;

/* The same from memory, which is copied. `path` is for messages; may be NULL. */
struct sp_error *kallsyms_parse(const void *text, size_t size, const char *path,
				struct kallsyms **ret) SP_MUST_CHECK;
void kallsyms_free(struct kallsyms *kallsyms);

/* All addresses are 0: kptr_restrict hides them. True also when there is no symbol at all. */
bool kallsyms_hidden(const struct kallsyms *kallsyms);

/* Symbols by address, those of one address in the file's order. */
size_t kallsyms_count(const struct kallsyms *kallsyms);
struct kallsyms_symbol kallsyms_symbol(const struct kallsyms *kallsyms, size_t index);

/*
 * The symbol that covers an address; of several at one address the file's last,
 * as perf has it. False if none does, or all are hidden.
 */
bool kallsyms_find(const struct kallsyms *kallsyms, uint64_t address, struct kallsyms_symbol *ret);

/* The kernel's own symbol of that name (modules are not searched); false if there is none. */
bool kallsyms_find_name(const struct kallsyms *kallsyms, const char *name,
			struct kallsyms_symbol *ret);

/*
 * Begin of the kernel's code: _text or _stext, found in microseconds in the first lines of
 * ROOT/proc/kallsyms. kallsyms_reference() returns false if it is hidden or cannot be read.
 */
struct kernel_reference {
	uint64_t address;
	const char *name; /* "_text" or "_stext"; static */
	uint64_t stext;   /* address of _stext; 0: not near _text */
};
bool kallsyms_reference(const struct sp_ctx *ctx, struct kernel_reference *ret);

#endif
