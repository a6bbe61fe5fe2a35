/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unwind information of modules, read once and shared by all threads, and the search for calls in
 * their code. A module's state goes through looks: the first reads .eh_frame and its table, the
 * second .debug_frame, the others are for instructions. Each is done once, under the module's lock,
 * and published by storing its bit; what it made is constant then. But for the first OPEN_EARLY,
 * files are closed after the first two, since a report may need more files than a process may open.
 */
#include "unwind/unwind_info.h"

#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "base/ctx.h"
#include "base/io.h"
#include "elf/symtab.h"
#include "go/frame_sizes.h"

/* Files that stay open for their instructions; those of modules beyond are not read. */
#define OPEN_MAX 64
/* The first files stay open when they were read, so that instructions need no second opening. */
#define OPEN_EARLY 16
#define PLTS_MAX 8
#define EXITS_MAX 8

/*
 * Unused files are dropped when all are twice as many, or as large, as those in use at the last drop,
 * within these limits: see codes_are_many(). If those in use exceed half of the upper limits, all are
 * dropped, and read again.
 */
#define KEPT_BYTES_MIN ((size_t)16 << 20)
#define KEPT_BYTES ((size_t)64 << 20)
#define KEPT_FILES_MIN ((size_t)256)
#define KEPT_FILES ((size_t)2048)
#define KEPT_OPEN ((size_t)OPEN_MAX * 3 / 4)

enum look {
	LOOK_EH_FRAME = 1,
	LOOK_DEBUG_FRAME = 2,
	LOOK_TEXT = 4,
	LOOK_SYMBOLS = 8, /* after LOOK_TEXT */
};

struct plt_range {
	uint64_t start, end;
};

/* Return addresses of calls to a function. */
struct calls {
	uint64_t target, found[CODE_CALLS_MAX];
	size_t count; /* above CODE_CALLS_MAX: there are more */
};

struct code {
	struct codes *codes;
	const struct module *module;
	uint32_t pid;
	bool used; /* since files were last dropped; under the lock of `codes` */
	pthread_mutex_t lock;
	atomic_uint looks; /* finished looks */
	struct image *image;       /* its file is released; NULL: not at hand */
	struct image *debug_image; /* image with the .debug_frame in use */
	struct image *text_image;  /* for instructions: its file stays open; maybe `image` */
	uint64_t entry;
	struct call_frames frames;
	struct frame_sizes go;
	struct plt_range plts[PLTS_MAX];
	size_t plt_count;
	uint64_t exits[EXITS_MAX]; /* functions by which programs and threads end */
	size_t exit_count;
	VEC(uint64_t) starts; /* addresses of all named functions, ascending */
	VEC(struct calls) calls; /* under the lock */
	char *problem;
};

struct codes {
	struct sp_ctx *ctx;
	struct unwind_files files;
	uint16_t machine[2]; /* EM_* of 64-bit and 32-bit programs */
	atomic_size_t open_count, file_count, bytes;
	atomic_size_t files_most, bytes_most; /* above which files are dropped */
	pthread_mutex_t lock;
	VEC(struct code *) items; /* by module->index; NULL: never asked for */
};

struct codes *codes_new(struct sp_ctx *ctx, const char *arch, const struct unwind_files *files)
{
	struct codes *codes = calloc(1, sizeof(*codes));
	if (!codes)
		return NULL;
	codes->ctx = ctx;
	codes->files = *files;
	codes->files_most = KEPT_FILES_MIN;
	codes->bytes_most = KEPT_BYTES_MIN;
	for (uint64_t abi = PERF_SAMPLE_REGS_ABI_32; abi <= PERF_SAMPLE_REGS_ABI_64; abi++) {
		const struct unwind_arch *found = arch_find(arch, abi);
		codes->machine[abi - PERF_SAMPLE_REGS_ABI_32] = found ? found->machine : EM_NONE;
	}
	pthread_mutex_init(&codes->lock, NULL);
	return codes;
}

static void code_free(struct code *code)
{
	if (!code)
		return;
	vec_deinit(&code->starts);
	vec_deinit(&code->calls);
	call_frames_deinit(&code->frames);
	frame_sizes_deinit(&code->go);
	image_free(code->debug_image);
	if (code->text_image != code->image)
		image_free(code->text_image);
	image_free(code->image);
	pthread_mutex_destroy(&code->lock);
	free(code->problem);
	free(code);
}

bool codes_are_many(const struct codes *codes)
{
	return atomic_load_explicit(&codes->bytes, memory_order_relaxed) > codes->bytes_most ||
	       atomic_load_explicit(&codes->file_count, memory_order_relaxed) > codes->files_most ||
	       atomic_load_explicit(&codes->open_count, memory_order_relaxed) > KEPT_OPEN;
}

static size_t bytes_of(const struct code *code)
{
	return call_frames_size(&code->frames) + frame_sizes_bytes(&code->go) +
	       code->starts.capacity * sizeof(*code->starts.items);
}

/* Drops files, all or those that were not used since the last time; how many. */
static size_t drop(struct codes *codes, bool all)
{
	size_t bytes = 0, files = 0, open = 0, dropped = 0;
	for (size_t i = 0; i < codes->items.count; i++) {
		struct code *code = codes->items.items[i];
		if (!code)
			continue;
		if (all || !code->used) {
			code_free(take_ptr(codes->items.items[i]));
			dropped++;
			continue;
		}
		code->used = false;
		bytes += bytes_of(code);
		open += code->text_image != NULL;
		files++;
	}
	atomic_store(&codes->bytes, bytes);
	atomic_store(&codes->file_count, files);
	atomic_store(&codes->open_count, open);
	return dropped;
}

static size_t limit(size_t in_use, size_t least, size_t most)
{
	return 2 * in_use < least ? least : 2 * in_use > most ? most : 2 * in_use;
}

size_t codes_forget(struct codes *codes, bool all)
{
	pthread_mutex_lock(&codes->lock);
	size_t count = drop(codes, all);
	if (atomic_load(&codes->bytes) > KEPT_BYTES / 2 ||
	    atomic_load(&codes->file_count) > KEPT_FILES / 2 ||
	    atomic_load(&codes->open_count) > KEPT_OPEN / 2)
		count += drop(codes, true);
	codes->bytes_most = limit(atomic_load(&codes->bytes), KEPT_BYTES_MIN, KEPT_BYTES);
	codes->files_most = limit(atomic_load(&codes->file_count), KEPT_FILES_MIN, KEPT_FILES);
	if (all)
		vec_deinit(&codes->items);
	pthread_mutex_unlock(&codes->lock);
	return count;
}

void codes_free(struct codes *codes)
{
	if (!codes)
		return;
	for (size_t i = 0; i < codes->items.count; i++)
		code_free(codes->items.items[i]);
	vec_deinit(&codes->items);
	pthread_mutex_destroy(&codes->lock);
	free(codes);
}

static void say(struct code *code, struct sp_error *error)
{
	if (!error)
		return;
	ctx_log(code->codes->ctx, SP_LOG_DEBUG, "unwind: %s", sp_error_message(error));
	if (!code->problem)
		code->problem = strdup(sp_error_message(error));
	sp_error_free(error);
}

static bool is_usable(const struct code *code, const struct image *image)
{
	return !image->swap && (image->machine == code->codes->machine[0] ||
				image->machine == code->codes->machine[1]);
}

/* The module's file, opened anew. NULL: not at hand, and why is said. */
static struct image *open_again(struct code *code)
{
	struct image *image = NULL;
	struct codes *codes = code->codes;
	if (code->module->kind != MODULE_FILE && code->module->kind != MODULE_VDSO)
		return NULL;
	struct sp_error *error =
		codes->files.open(codes->files.arg, code->module, code->pid, &image);
	if (error) {
		say(code, error);
		return NULL;
	}
	if (!image)
		say(code, error_new(SP_ERROR_NOT_FOUND, "%s is not at hand", code->module->path));
	else if (!is_usable(code, image))
		say(code, error_new(SP_ERROR_UNSUPPORTED,
				    "%s is for another machine than the recording's",
				    image->path));
	else
		return image;
	image_free(image);
	return NULL;
}

static void look_for_eh_frame(struct code *code)
{
	code->image = open_again(code);
	if (!code->image)
		return;
	GElf_Ehdr elf_header;
	code->entry = gelf_getehdr(code->image->elf, &elf_header) ? elf_header.e_entry : 0;
	say(code, call_frames_read_eh(&code->frames, code->image));
	struct pclntab table;
	struct sp_error *error = pclntab_read(code->image, &table);
	say(code, error ?: frame_sizes_make(&table, &code->go));
	pclntab_deinit(&table);
	if (atomic_load(&code->codes->open_count) >= OPEN_EARLY) {
		image_release_file(code->image);
		return;
	}
	atomic_fetch_add(&code->codes->open_count, 1);
	code->text_image = code->image;
}

static void look_for_debug_frame(struct code *code)
{
	CLEANUP(cleanup_image_free) struct image *image = code->image ? open_again(code) : NULL;
	if (!image)
		return;
	const struct unwind_files *files = &code->codes->files;
	CLEANUP(cleanup_image_free) struct image *debug = NULL;
	struct sp_error *error = NULL;
	if (call_frames_has_debug(image))
		debug = take_ptr(image);
	else if (files->debug)
		error = files->debug(files->arg, code->module, image, call_frames_has_debug,
				     &debug);
	if (error || !debug || !is_usable(code, debug)) {
		say(code, error);
		return;
	}
	say(code, call_frames_read_debug(&code->frames, debug));
	image_release_file(debug);
	code->debug_image = take_ptr(debug);
}

static void note_plts(struct code *code, const struct image *image)
{
	static const char *const names[] = {".plt", ".plt.got", ".plt.sec", ".plt.bnd", ".iplt"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		GElf_Shdr header;
		if (image_section(image, names[i], &header) && code->plt_count < PLTS_MAX &&
		    header.sh_size <= UINT64_MAX - header.sh_addr)
			code->plts[code->plt_count++] = (struct plt_range){
				.start = header.sh_addr,
				.end = header.sh_addr + header.sh_size,
			};
	}
}

static void look_for_text(struct code *code)
{
	if (!code->image)
		return;
	if (!code->text_image && atomic_fetch_add(&code->codes->open_count, 1) < OPEN_MAX)
		code->text_image = open_again(code);
	if (code->text_image)
		note_plts(code, code->text_image);
}

bool code_is_exit_name(const char *name)
{
	static const char *const names[] = {"exit", "__GI_exit", "pthread_exit", "__pthread_exit",
					    "thrd_exit"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* False when out of memory. */
static bool take_symbol(struct code *code, const struct elf_symbol *symbol)
{
	if (symbol->type != STT_FUNC && symbol->type != STT_GNU_IFUNC)
		return true;
	if (code->exit_count < EXITS_MAX && code_is_exit_name(symbol->name))
		code->exits[code->exit_count++] = symbol->vaddr;
	uint64_t *start = vec_push(&code->starts);
	if (start)
		*start = symbol->vaddr;
	return start;
}

static void look_for_symbols(struct code *code)
{
	static const enum symtab_kind kinds[] = {SYMTAB_FULL, SYMTAB_DYNAMIC};
	const struct image *image = code->text_image;
	for (size_t i = 0; image && i < 2 && code->starts.count == 0; i++) {
		CLEANUP(image_bytes_release) struct image_bytes strings = {0};
		struct symtab symtab;
		struct elf_symbol symbol;
		struct sp_error *error = symtab_open(image, image, kinds[i], &symtab);
		if (error) {
			say(code, error);
			continue;
		}
		while (symtab_next(&symtab, &symbol) && take_symbol(code, &symbol))
			;
		symtab_close(&symtab, &strings);
	}
	if (code->starts.count > 1)
		qsort(code->starts.items, code->starts.count, sizeof(uint64_t),
		      u64_compare);
}

static void (*const look_functions[])(struct code *) = {
	[LOOK_EH_FRAME] = look_for_eh_frame,
	[LOOK_DEBUG_FRAME] = look_for_debug_frame,
	[LOOK_TEXT] = look_for_text,
	[LOOK_SYMBOLS] = look_for_symbols,
};

/* Reads a part on demand. No caller can see the change, hence const. */
static void look(const struct code *constant, enum look wanted)
{
	struct code *code = (struct code *)(uintptr_t)constant;
	if (atomic_load_explicit(&code->looks, memory_order_acquire) & wanted)
		return;
	pthread_mutex_lock(&code->lock);
	unsigned int done = atomic_load_explicit(&code->looks, memory_order_relaxed);
	if (!(done & wanted)) {
		size_t before = bytes_of(code);
		look_functions[wanted](code);
		atomic_fetch_add_explicit(&code->codes->bytes, bytes_of(code) - before,
					  memory_order_relaxed);
		atomic_store_explicit(&code->looks, done | wanted, memory_order_release);
	}
	pthread_mutex_unlock(&code->lock);
}

static struct code *code_at(struct codes *codes, const struct module *module, uint32_t pid)
{
	while (codes->items.count <= module->index) {
		struct code **slot = vec_push(&codes->items);
		if (!slot)
			return NULL;
		*slot = NULL;
	}
	struct code **slot = &codes->items.items[module->index];
	if (*slot)
		return *slot;
	struct code *code = calloc(1, sizeof(*code));
	if (!code)
		return NULL;
	code->codes = codes;
	code->module = module;
	code->pid = pid;
	pthread_mutex_init(&code->lock, NULL);
	atomic_fetch_add_explicit(&codes->file_count, 1, memory_order_relaxed);
	return *slot = code;
}

const struct code *codes_get(struct codes *codes, const struct module *module, uint32_t pid)
{
	pthread_mutex_lock(&codes->lock);
	struct code *code = code_at(codes, module, pid);
	if (code)
		code->used = true;
	pthread_mutex_unlock(&codes->lock);
	if (code)
		look(code, LOOK_EH_FRAME);
	return code;
}

const char *codes_problem(struct codes *codes, const struct module *module)
{
	pthread_mutex_lock(&codes->lock);
	struct code *code = module->index < codes->items.count
				    ? codes->items.items[module->index]
				    : NULL;
	pthread_mutex_unlock(&codes->lock);
	if (!code)
		return NULL;
	pthread_mutex_lock(&code->lock);
	const char *problem = code->problem;
	pthread_mutex_unlock(&code->lock);
	return problem;
}

bool code_is_blind(const struct code *code)
{
	return !code->image;
}

bool code_vaddr(const struct code *code, uint64_t file_offset, uint64_t *ret)
{
	if (!code->image || !image_vaddr(code->image, file_offset, ret))
		return false;
	for (size_t i = 0; i < code->image->loads.count; i++) {
		const struct image_load *load = &code->image->loads.items[i];
		if (load->executable && *ret >= load->vaddr &&
		    *ret - load->vaddr < load->memory_size)
			return true;
	}
	return false;
}

bool code_find(const struct code *code, const struct unwind_arch *arch, uint64_t vaddr,
	       struct cfi_entry *ret)
{
	if (!code->image || code->image->machine != arch->machine)
		return false;
	if (cfi_find(&code->frames.eh, vaddr, ret))
		return true;
	look(code, LOOK_DEBUG_FRAME);
	return cfi_find(&code->frames.debug, vaddr, ret);
}

const struct frame_sizes *code_go(const struct code *code)
{
	return code->go.functions.count ? &code->go : NULL;
}

uint64_t code_entry(const struct code *code)
{
	return code->entry;
}

bool code_text(const struct code *code, uint64_t vaddr, size_t size, uint8_t *ret)
{
	look(code, LOOK_TEXT);
	const struct image *image = code->text_image;
	uint64_t offset, left;
	if (!image || !image_range_at(image, vaddr, &offset, &left) || left < size ||
	    offset > image->size || size > image->size - offset)
		return false;
	if (image->memory) {
		memcpy(ret, (const uint8_t *)image->memory + offset, size);
		return true;
	}
	size_t done;
	return io_pread(image->fd, ret, size, (off_t)offset, &done) == 0 && done == size;
}

bool code_is_exit(const struct code *code, uint64_t vaddr)
{
	look(code, LOOK_TEXT);
	look(code, LOOK_SYMBOLS);
	for (size_t i = 0; i < code->exit_count; i++)
		if (code->exits[i] == vaddr)
			return true;
	return false;
}

bool code_function(const struct code *code, uint64_t vaddr, uint64_t *start_ret)
{
	look(code, LOOK_TEXT);
	look(code, LOOK_SYMBOLS);
	size_t count = sorted_up_to(code->starts.items, code->starts.count, , vaddr);
	if (count)
		*start_ret = code->starts.items[count - 1];
	return count;
}

bool code_plt(const struct code *code, uint64_t vaddr, uint64_t *start_ret)
{
	look(code, LOOK_TEXT);
	for (size_t i = 0; i < code->plt_count; i++) {
		if (vaddr < code->plts[i].start || vaddr >= code->plts[i].end)
			continue;
		*start_ret = code->plts[i].start;
		return true;
	}
	return false;
}

/* Adds calls that begin in the first `size` bytes; 4 more bytes can be read. */
static void search_calls(struct calls *calls, uint16_t machine, const uint8_t *bytes, size_t size,
			 uint64_t vaddr)
{
	bool is_arm = machine == EM_AARCH64;
	for (size_t i = 0; i < size; i += is_arm ? 4 : 1) {
		uint32_t word;
		memcpy(&word, bytes + i + !is_arm, sizeof(word));
		word = le32toh(word);
		int64_t distance = is_arm ? (int64_t)((uint64_t)word << 38) >> 36
					  : (int64_t)(int32_t)word + 5;
		if ((is_arm ? word >> 26 != 0x25 : bytes[i] != 0xe8) ||
		    vaddr + i + (uint64_t)distance != calls->target)
			continue;
		if (calls->count < CODE_CALLS_MAX)
			calls->found[calls->count] = vaddr + i + (is_arm ? 4 : 5);
		calls->count++;
	}
}

/* Searches all code for calls. With code->lock held: LOOK_TEXT is done, so no look takes it. */
static void search_text(const struct code *code, struct calls *calls)
{
	uint8_t bytes[16384 + 4];
	for (size_t i = 0; i < code->image->loads.count; i++) {
		const struct image_load *load = &code->image->loads.items[i];
		uint64_t at = load->executable ? 0 : load->file_size;
		while (load->file_size - at > 4 && calls->count <= CODE_CALLS_MAX) {
			uint64_t left = load->file_size - at - 4;
			size_t size = left < sizeof(bytes) - 4 ? (size_t)left : sizeof(bytes) - 4;
			if (!code_text(code, load->vaddr + at, size + 4, bytes))
				break;
			search_calls(calls, code->image->machine, bytes, size, load->vaddr + at);
			at += size;
		}
	}
}

size_t code_calls(const struct code *constant, uint64_t target, uint64_t ret[CODE_CALLS_MAX])
{
	struct code *code = (struct code *)(uintptr_t)constant;
	uint16_t machine = code->image ? code->image->machine : EM_NONE;
	size_t i = 0, count = 0;
	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return 0;
	look(code, LOOK_TEXT);
	pthread_mutex_lock(&code->lock);
	while (i < code->calls.count && code->calls.items[i].target != target)
		i++;
	struct calls *added = i == code->calls.count ? vec_push(&code->calls) : NULL;
	if (added) {
		*added = (struct calls){.target = target};
		search_text(code, added);
	}
	if (i < code->calls.count && code->calls.items[i].count <= CODE_CALLS_MAX) {
		count = code->calls.items[i].count;
		memcpy(ret, code->calls.items[i].found, count * sizeof(*ret));
	}
	pthread_mutex_unlock(&code->lock);
	return count;
}

const struct image *code_image(const struct code *code)
{
	return code->image;
}

const struct cfi_table *code_eh_frame(const struct code *code)
{
	return &code->frames.eh;
}
