/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A module's file is read in parts, each on the first demand (`enum part`): .eh_frame,
 * .debug_frame, instructions, symbols. A part is read once, under the module's lock, and is
 * constant when its bit is in `parts`. Except for the first OPEN_EARLY modules, files are closed
 * after their call frame information was read: a report may need more files than a process may
 * open.
 */
#include "unwind/code.h"

#include <endian.h>
#include <pthread.h>
#include <string.h>
#include "base/ctx.h"
#include "base/io.h"
#include "elf/symtab.h"
#include "go/frame_sizes.h"

/* The first files stay open; later ones are opened again for their instructions. */
#define OPEN_EARLY 16
#define PLTS_MAX 8
#define EXITS_MAX 8

/* Limit of the bytes that all searches for calls read: about 2 s. */
#define SEARCHED_MAX ((uint64_t)1 << 31)

enum part {
	PART_EH_FRAME = 1,
	PART_DEBUG_FRAME = 2,
	PART_TEXT = 4,
	PART_SYMBOLS = 8, /* after PART_TEXT */
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
	struct code_shared *shared;
	const struct module *module;
	uint32_t pid;
	pthread_mutex_t lock;
	atomic_uint parts;         /* parts that were read */
	struct image *image;       /* its file is closed; NULL: missing, or of another machine */
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
	uint64_t searched;       /* bytes read for these */
	char *problem; /* first error; under the lock */
};

struct code *code_new(struct code_shared *shared, const struct module *module, uint32_t pid)
{
	struct code *code = calloc(1, sizeof(*code));
	if (!code)
		return NULL;
	code->shared = shared;
	code->module = module;
	code->pid = pid;
	pthread_mutex_init(&code->lock, NULL);
	atomic_fetch_add_explicit(&shared->file_count, 1, memory_order_relaxed);
	return code;
}

void code_free(struct code *code)
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

size_t code_bytes(const struct code *code)
{
	return call_frames_size(&code->frames) + frame_sizes_bytes(&code->go) +
	       code->starts.capacity * sizeof(*code->starts.items);
}

bool code_is_open(const struct code *code)
{
	return code->text_image;
}

/* Keeps the first error for code_problem(). */
static void add_error(struct code *code, struct sp_error *error)
{
	if (!error)
		return;
	ctx_log(code->shared->ctx, SP_LOG_DEBUG, "unwind: %s", sp_error_message(error));
	if (!code->problem)
		code->problem = strdup(sp_error_message(error));
	sp_error_free(error);
}

static bool is_usable(const struct code *code, const struct image *image)
{
	return !image->swap && (image->machine == code->shared->machine[0] ||
				image->machine == code->shared->machine[1]);
}

/*
 * Opens the module's file, which the caller frees. NULL: modules of this kind have no file, or the
 * error is noted.
 */
static struct image *open_file(struct code *code)
{
	struct image *image = NULL;
	struct code_shared *shared = code->shared;
	if (code->module->kind != MODULE_FILE && code->module->kind != MODULE_VDSO)
		return NULL;
	struct sp_error *error =
		shared->files.open(shared->files.arg, code->module, code->pid, &image);
	if (error) {
		add_error(code, error);
		return NULL;
	}
	if (!image)
		add_error(code,
			  error_new(SP_ERROR_NOT_FOUND, "%s is not at hand", code->module->path));
	else if (!is_usable(code, image))
		add_error(code,
			  error_new(SP_ERROR_UNSUPPORTED,
				    "%s is for another machine than the recording's", image->path));
	else
		return image;
	image_free(image);
	return NULL;
}

/* Limit of .dynamic; real ones have less than 1 KB. */
#define DYNAMIC_MAX 65536

/*
 * Returns the entry point of a program or dynamic linker; 0: none. Linkers before binutils 2.38
 * state the start of .text in each shared library.
 */
static uint64_t entry_of(const struct image *image)
{
	GElf_Ehdr file;
	GElf_Shdr text, section = {0};
	GElf_Dyn item;
	if (!gelf_getehdr(image->elf, &file))
		return 0;
	bool is_program = image->type == ET_EXEC || image_section(image, ".interp", &section) ||
			  !image_section(image, ".text", &text) || text.sh_addr != file.e_entry;
	Elf_Scn *dynamic = is_program ? NULL : image_section(image, ".dynamic", &section);
	if (section.sh_size > DYNAMIC_MAX)
		dynamic = NULL;
	Elf_Data *data = dynamic ? image_section_data(dynamic) : NULL;
	for (int i = 0; data && !is_program && gelf_getdyn(data, i, &item); i++)
		is_program = item.d_tag == DT_FLAGS_1 && item.d_un.d_val & DF_1_PIE;
	return is_program ? file.e_entry : 0;
}

static void read_eh_frame(struct code *code)
{
	code->image = open_file(code);
	if (!code->image)
		return;
	code->entry = entry_of(code->image);
	add_error(code, call_frames_read_eh(&code->frames, code->image));
	struct pclntab table;
	struct sp_error *error = pclntab_read(code->image, &table);
	add_error(code, error ?: frame_sizes_make(&table, &code->go));
	pclntab_deinit(&table);
	if (atomic_load(&code->shared->open_count) >= OPEN_EARLY) {
		image_release_file(code->image);
		return;
	}
	atomic_fetch_add(&code->shared->open_count, 1);
	code->text_image = code->image;
}

static void read_debug_frame(struct code *code)
{
	CLEANUP(cleanup_image_free) struct image *image = code->image ? open_file(code) : NULL;
	if (!image)
		return;
	const struct unwind_files *files = &code->shared->files;
	CLEANUP(cleanup_image_free) struct image *debug = NULL;
	struct sp_error *error = NULL;
	if (call_frames_has_debug(image))
		debug = take_ptr(image);
	else if (files->debug)
		error = files->debug(files->arg, code->module, image, call_frames_has_debug,
				     &debug);
	if (error || !debug || !is_usable(code, debug)) {
		add_error(code, error);
		return;
	}
	add_error(code, call_frames_read_debug(&code->frames, debug));
	image_release_file(debug);
	code->debug_image = take_ptr(debug);
}

static void find_plts(struct code *code, const struct image *image)
{
	static const char *const names[] = {".plt", ".plt.got", ".plt.sec", ".plt.bnd", ".iplt"};
	for (size_t i = 0; i < count_of(names); i++) {
		GElf_Shdr header;
		if (image_section(image, names[i], &header) && code->plt_count < PLTS_MAX &&
		    header.sh_size <= UINT64_MAX - header.sh_addr)
			code->plts[code->plt_count++] = (struct plt_range){
				.start = header.sh_addr,
				.end = header.sh_addr + header.sh_size,
			};
	}
}

static void open_text(struct code *code)
{
	if (!code->image)
		return;
	if (!code->text_image && atomic_fetch_add(&code->shared->open_count, 1) < CODE_OPEN_MAX)
		code->text_image = open_file(code);
	if (code->text_image)
		find_plts(code, code->text_image);
}

bool code_is_exit_name(const char *name)
{
	static const char *const names[] = {"exit", "__GI_exit", "pthread_exit", "__pthread_exit",
					    "thrd_exit"};
	for (size_t i = 0; i < count_of(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Adds a function. Returns false when out of memory. */
static bool add_symbol(struct code *code, const struct elf_symbol *symbol)
{
	if (symbol->type != STT_FUNC && symbol->type != STT_GNU_IFUNC)
		return true;
	if (code->exit_count < EXITS_MAX && code_is_exit_name(symbol->name))
		code->exits[code->exit_count++] = symbol->vaddr;
	return vec_append(&code->starts, symbol->vaddr);
}

static void read_symbols(struct code *code)
{
	static const enum symtab_kind kinds[] = {SYMTAB_FULL, SYMTAB_DYNAMIC};
	const struct image *image = code->text_image;
	for (size_t i = 0; image && i < 2 && code->starts.count == 0; i++) {
		CLEANUP(image_bytes_release) struct image_bytes strings = {0};
		struct symtab symtab;
		struct elf_symbol symbol;
		struct sp_error *error = symtab_open(image, image, kinds[i], &symtab);
		if (error) {
			add_error(code, error);
			continue;
		}
		while (symtab_next(&symtab, &symbol) && add_symbol(code, &symbol))
			;
		symtab_close(&symtab, &strings);
	}
	vec_sort(&code->starts, u64_compare);
}

static void (*const read_functions[])(struct code *) = {
	[PART_EH_FRAME] = read_eh_frame,
	[PART_DEBUG_FRAME] = read_debug_frame,
	[PART_TEXT] = open_text,
	[PART_SYMBOLS] = read_symbols,
};

/* Reads a part on demand. Callers see no difference, hence const. */
static void need(const struct code *constant, enum part wanted)
{
	struct code *code = (struct code *)(uintptr_t)constant;
	if (atomic_load_explicit(&code->parts, memory_order_acquire) & wanted)
		return;
	pthread_mutex_lock(&code->lock);
	unsigned int done = atomic_load_explicit(&code->parts, memory_order_relaxed);
	if (!(done & wanted)) {
		size_t before = code_bytes(code);
		if (!code_shared_is_full(code->shared))
			read_functions[wanted](code);
		atomic_fetch_add_explicit(&code->shared->bytes, code_bytes(code) - before,
					  memory_order_relaxed);
		atomic_store_explicit(&code->parts, done | wanted, memory_order_release);
	}
	pthread_mutex_unlock(&code->lock);
}

void code_need_eh_frame(const struct code *code)
{
	need(code, PART_EH_FRAME);
}

const char *code_problem(struct code *code)
{
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
	vec_each (load, &code->image->loads) {
		if (load->executable && *ret >= load->vaddr &&
		    *ret - load->vaddr < load->memory_size)
			return true;
	}
	return false;
}

bool code_find_cfi(const struct code *code, const struct unwind_arch *arch, uint64_t vaddr,
	       struct cfi_entry *ret)
{
	if (!code->image || code->image->machine != arch->machine)
		return false;
	if (cfi_find(&code->frames.eh, vaddr, ret))
		return true;
	need(code, PART_DEBUG_FRAME);
	return cfi_find(&code->frames.debug, vaddr, ret);
}

const struct frame_sizes *code_go_frames(const struct code *code)
{
	return code->go.functions.count ? &code->go : NULL;
}

uint64_t code_entry(const struct code *code)
{
	return code->entry;
}

bool code_read(const struct code *code, uint64_t vaddr, size_t size, uint8_t *ret)
{
	need(code, PART_TEXT);
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
	return io_pread(image->fd, ret, size, offset, &done) == 0 && done == size;
}

bool code_is_exit(const struct code *code, uint64_t vaddr)
{
	need(code, PART_TEXT);
	need(code, PART_SYMBOLS);
	for (size_t i = 0; i < code->exit_count; i++)
		if (code->exits[i] == vaddr)
			return true;
	return false;
}

bool code_function_start(const struct code *code, uint64_t vaddr, uint64_t *start_ret)
{
	need(code, PART_TEXT);
	need(code, PART_SYMBOLS);
	size_t count = sorted_up_to(code->starts.items, code->starts.count, , vaddr);
	if (count)
		*start_ret = code->starts.items[count - 1];
	return count;
}

bool code_plt_start(const struct code *code, uint64_t vaddr, uint64_t *start_ret)
{
	need(code, PART_TEXT);
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

/* Searches all code for calls. The caller holds code->lock and has read PART_TEXT. */
static void search_text(struct code *code, struct calls *calls)
{
	uint8_t bytes[16384 + 4];
	vec_each (load, &code->image->loads) {
		uint64_t at = load->executable ? 0 : load->file_size;
		while (load->file_size - at > 4 && calls->count <= CODE_CALLS_MAX) {
			uint64_t left = load->file_size - at - 4;
			size_t size = left < sizeof(bytes) - 4 ? (size_t)left : sizeof(bytes) - 4;
			if (!code_read(code, load->vaddr + at, size + 4, bytes))
				break;
			search_calls(calls, code->image->machine, bytes, size, load->vaddr + at);
			at += size;
			code->searched += size;
			if (code->searched > SEARCHED_MAX)
				calls->count = CODE_CALLS_MAX + 1;
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
	need(code, PART_TEXT);
	pthread_mutex_lock(&code->lock);
	while (i < code->calls.count && code->calls.items[i].target != target)
		i++;
	bool searches = i == code->calls.count && code->searched <= SEARCHED_MAX;
	struct calls *added = searches ? vec_push(&code->calls) : NULL;
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
