/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/rows.h"

#include <string.h>
#include "unwind/go_row.h"
#include "unwind/heuristics.h"
#include "unwind/prologue.h"

#define VSYSCALL 0xffffffffff600000

void rows_deinit(struct rows *rows)
{
	row_cache_deinit(&rows->by_ip);
	row_cache_deinit(&rows->by_module);
	vec_deinit(&rows->full.items);
	vec_deinit(&rows->codes);
	row_store_deinit(&rows->store);
}

const struct code *rows_code(struct rows *rows, const struct location *location)
{
	while (rows->codes.count <= location->module->index) {
		const struct code **slot = vec_push(&rows->codes);
		if (!slot)
			return NULL;
		*slot = NULL;
	}
	const struct code **slot = &rows->codes.items[location->module->index];
	if (!*slot)
		*slot = codes_get(rows->shared->codes, location->module, location->pid);
	return *slot;
}

struct location rows_locate(const struct rows *rows, uint32_t view, uint64_t ip)
{
	const struct unwind_locator *locator = &rows->shared->locator;
	return locator->locate(locator->arg, view, ip);
}

static void clear_rows(struct rows *rows)
{
	row_store_clear(&rows->store);
	row_cache_clear(&rows->by_ip);
	row_cache_clear(&rows->by_module);
}

void rows_forget(struct rows *rows)
{
	clear_rows(rows);
	memset(rows->calls, 0, sizeof(rows->calls));
	memset(rows->go_calls, 0, sizeof(rows->go_calls));
	rows->full.items.count = 0;
	rows->codes.count = 0;
}

/* Keeps a row that does not fit; where there are too many, all rows are forgotten. */
static void keep_full(struct rows *rows, const struct cfi_row *full, struct row *ret)
{
	uint32_t index = full_rows_add(&rows->full, full);
	if (index == UINT32_MAX) {
		rows->full.items.count = 0;
		clear_rows(rows);
		index = full_rows_add(&rows->full, full);
	}
	ret->kind = index == UINT32_MAX ? ROW_FRAME_POINTER : ROW_FULL;
	ret->full = index;
}

static void set_full(struct rows *rows, const struct unwind_arch *arch,
		     const struct cfi_row *full, struct row *ret)
{
	if (full->rules[full->return_column].kind == RULE_UNDEFINED)
		ret->kind = ROW_OUTERMOST;
	else if (!row_pack(arch, full, ret))
		keep_full(rows, full, ret);
}

/*
 * Returns true for the return address of a signal handler with an entry that begins at it, not
 * before.
 */
static bool is_trampoline(const struct code_place *place, struct cfi_row *ret)
{
	struct cfi_entry entry;
	return place->ip != place->vaddr &&
	       code_find(place->code, place->arch, place->ip, &entry) && entry.is_signal &&
	       cfi_row_make(place->arch, &entry, place->ip, ret);
}

static void make_unknown(struct rows *rows, const struct code_place *place,
			 struct row *ret)
{
	struct cfi_row full;
	if (guess_is_start(place) || guess_starts_threads(place))
		ret->kind = ROW_OUTERMOST;
	else if (is_trampoline(place, &full) || guess_sigreturn(place, &full) ||
		 guess_plt(place, &full))
		set_full(rows, place->arch, &full, ret);
	else if (guess_is_put_there(place))
		ret->kind = ROW_OUTERMOST;
	else
		ret->kind = guess_keeps_frame_pointer(place) ? ROW_FRAME_POINTER : ROW_UNKNOWN;
}

/* How the code is left by its entry, but where what runs is seen to be ahead of that, or behind. */
static bool row_of_entry(const struct code_place *place, const struct cfi_entry *entry, bool exact,
			 struct cfi_row *ret)
{
	struct cfi_row edge;
	if (!cfi_row_make(place->arch, entry, place->vaddr, ret))
		return false;
	if (exact && !ret->is_signal && ret->rules[ret->return_column].kind != RULE_UNDEFINED &&
	    prologue_row(place, entry, &edge))
		*ret = edge;
	return true;
}

/* Returns whether the code is a Go function with a known frame size. */
static bool make_go_row(struct rows *rows, const struct code_place *place, struct row *ret)
{
	struct cfi_row full;
	switch (go_row_make(place, &full)) {
	case GO_ROW_FRAME:
		set_full(rows, place->arch, &full, ret);
		return true;
	case GO_ROW_TOP:
		ret->kind = ROW_OUTERMOST;
		return true;
	case GO_ROW_SWITCH:
		ret->kind = ROW_SWITCH;
		return true;
	default:
		return false;
	}
}

static void make_row(struct rows *rows, const struct code *code,
		     const struct unwind_arch *arch, const struct location *location, bool exact,
		     struct row *ret)
{
	struct code_place place = {.arch = arch, .code = code};
	struct cfi_entry entry;
	struct cfi_row full;
	rows->made++;
	if (code_is_blind(code)) {
		ret->kind = ROW_FRAME_POINTER;
		return;
	}
	if (!code_vaddr(code, location->offset, &place.vaddr)) {
		ret->kind = ROW_NO_CODE;
		return;
	}
	place.ip = place.vaddr + !exact;
	if (make_go_row(rows, &place, ret))
		return;
	/* arm64's vdso says of its sigreturn what holds in some kernels only. */
	bool trampoline = location->module->kind == MODULE_VDSO && !arch->calls_push &&
			  guess_sigreturn(&place, &full);
	bool found = !trampoline && code_find(code, arch, place.vaddr, &entry);
	/* A program's first function may not say that nothing called it, where it is in C. */
	if (found && entry.start != 0 && entry.start == code_entry(code))
		ret->kind = ROW_OUTERMOST;
	else if (trampoline || (found && row_of_entry(&place, &entry, exact, &full)))
		set_full(rows, arch, &full, ret);
	else
		make_unknown(rows, &place, ret);
}

/* Most entries that are searched for one function of generated code. Runtimes write one. */
#define GENERATED_ENTRIES_MAX 64

/* Finds the row of generated code with call frame information; else frame pointers are used. */
static void make_generated(struct rows *rows, const struct unwind_arch *arch,
			   const struct location *location, struct row *ret)
{
	const struct unwind_files *files = &rows->shared->files;
	struct unwind_generated found;
	struct cfi_entry entry;
	struct cfi_row full;
	uint64_t offset = 0;
	rows->made++;
	ret->kind = ROW_FRAME_POINTER;
	if (!files->generated(files->generated_arg, location->module, location->pid, location->offset,
			      &found) ||
	    (found.machine != EM_NONE && found.machine != arch->machine))
		return;
	const struct cfi_section section = {
		.bytes = {found.eh_frame.bytes, found.eh_frame.size, found.eh_frame_vaddr},
		.word = arch->word,
	};
	for (int i = 0; i < GENERATED_ENTRIES_MAX && cfi_next(&section, &offset, &entry); i++)
		if (found.vaddr >= entry.start && found.vaddr - entry.start < entry.size) {
			if (cfi_row_make(arch, &entry, found.vaddr, &full))
				set_full(rows, arch, &full, ret);
			return;
		}
}

/* For what has no file. */
static enum row_kind kind_without_file(const struct location *location)
{
	if (!location->module)
		return ROW_UNMAPPED;
	switch (location->module->kind) {
	case MODULE_ANONYMOUS:
	case MODULE_JIT:
		return ROW_FRAME_POINTER;
	case MODULE_FILE:
	case MODULE_VDSO:
		return ROW_NONE;
	default:
		return ROW_NO_CODE;
	}
}

bool rows_has_file(const struct location *location)
{
	return kind_without_file(location) == ROW_NONE;
}

/* Its index in the store; UINT32_MAX when out of memory. */
static uint32_t keep_row(struct rows *rows, const struct row *row)
{
	uint32_t index = row_store_add(&rows->store, row);
	if (index != UINT32_MAX || rows->store.items.count < ROWS_MAX)
		return index;
	clear_rows(rows);
	return row_store_add(&rows->store, row);
}

/* Calls that have been the kernel's since before there was a vdso: they push nothing. */
static bool is_vsyscall(const struct location *location, uint64_t pc)
{
	return !location->module && (pc & ~(uint64_t)0xfff) == VSYSCALL;
}

static bool has_generated(const struct rows *rows, const struct location *location)
{
	return location->module && location->module->kind == MODULE_JIT && rows->shared->files.generated;
}

/* The content of the row of an address: from another process, or made. */
static struct row content_of(struct rows *rows, const struct rows_address *address)
{
	struct location location = rows_locate(rows, address->view, address->pc);
	struct row content = {.kind = kind_without_file(&location)};
	if (is_vsyscall(&location, address->pc))
		return (struct row){.kind = ROW_SIMPLE, .cfa_column = address->arch->sp,
				    .cfa_offset = 8, .saved = 1, .at = {-1}};
	bool generated = has_generated(rows, &location);
	if (content.kind != ROW_NONE && !generated)
		return content;
	if (rows_has_key_bits(location.offset)) {
		content.kind = ROW_NO_CODE;
		return content;
	}
	const struct code *code = generated ? NULL : rows_code(rows, &location);
	if (!code && !generated) {
		content.kind = ROW_FRAME_POINTER;
		return content;
	}
	uint64_t key = location.offset | address->flags;
	uint32_t index = row_cache_find(&rows->by_module, location.module->index, key);
	if (index != UINT32_MAX)
		return rows->store.items.items[index];
	if (generated)
		make_generated(rows, address->arch, &location, &content);
	else
		make_row(rows, code, address->arch, &location, address->flags & KEY_EXACT, &content);
	index = keep_row(rows, &content);
	if (index != UINT32_MAX)
		row_cache_add(&rows->by_module, location.module->index, key, index);
	return content;
}

const struct row *rows_find_slow(struct rows *rows, const struct rows_address *address)
{
	rows->misses++;
	rows->spare = content_of(rows, address);
	/* Its key would be another address's. */
	if (rows_has_key_bits(address->pc))
		return &rows->spare;
	uint32_t index = keep_row(rows, &rows->spare);
	if (index == UINT32_MAX)
		return &rows->spare;
	row_cache_add(&rows->by_ip, address->view, address->pc | address->flags, index);
	return &rows->store.items.items[index];
}
