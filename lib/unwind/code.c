/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A module's state goes through looks: the first reads .eh_frame and its table, the second
 * .debug_frame, the others are for instructions. Each is done once, under the module's lock,
 * and published by storing its bit; what it made is constant then. The file is closed behind
 * the first two, since a report may need more files than a process may have open.
 */
#include "unwind/code.h"

#include <dwarf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "base/ctx.h"
#include "base/io.h"
#include "elf/symtab.h"

/* More than any real .eh_frame or .debug_frame. */
#define FRAMES_SIZE_MAX ((uint64_t)256 << 20)
/* Files that stay open for their instructions; those of modules beyond are not read. */
#define OPEN_MAX 64
#define PLTS_MAX 8
#define EXITS_MAX 8

/* More than that of all files together is worth reading again: see codes_are_many(). */
#define KEPT_BYTES ((size_t)64 << 20)
#define KEPT_FILES 2048
#define KEPT_OPEN (OPEN_MAX * 3 / 4)

enum look {
	LOOK_EH_FRAME = 1,
	LOOK_DEBUG_FRAME = 2,
	LOOK_TEXT = 4,
	LOOK_SYMBOLS = 8, /* after LOOK_TEXT */
};

struct range {
	uint64_t start, end;
};

struct code {
	struct codes *codes;
	const struct module *module;
	uint32_t pid;
	pthread_mutex_t lock;
	atomic_uint looks; /* what has been done */
	struct image *image;       /* its file is released; NULL: not at hand */
	struct image *debug_image; /* whose .debug_frame is used */
	struct image *text_image;  /* for instructions: its file stays open */
	uint64_t entry;
	struct image_bytes header_bytes, eh_bytes, debug_bytes;
	struct cfi_table eh, debug;
	struct range plts[PLTS_MAX];
	size_t plt_count;
	uint64_t exits[EXITS_MAX]; /* functions by which programs and threads end */
	size_t exit_count;
	VEC(uint64_t) starts; /* of all named functions, ascending */
	char *problem;
};

struct codes {
	struct sp_ctx *ctx;
	struct unwind_files files;
	uint16_t machine[2]; /* EM_* of 64-bit and 32-bit programs */
	atomic_uint open_count;
	atomic_size_t file_count, bytes;
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
	cfi_table_deinit(&code->eh);
	cfi_table_deinit(&code->debug);
	image_bytes_release(&code->header_bytes);
	image_bytes_release(&code->eh_bytes);
	image_bytes_release(&code->debug_bytes);
	image_free(code->debug_image);
	image_free(code->text_image);
	image_free(code->image);
	pthread_mutex_destroy(&code->lock);
	free(code->problem);
	free(code);
}

bool codes_are_many(const struct codes *codes)
{
	return atomic_load_explicit(&codes->bytes, memory_order_relaxed) > KEPT_BYTES ||
	       atomic_load_explicit(&codes->file_count, memory_order_relaxed) > KEPT_FILES ||
	       atomic_load_explicit(&codes->open_count, memory_order_relaxed) > KEPT_OPEN;
}

size_t codes_forget(struct codes *codes)
{
	pthread_mutex_lock(&codes->lock);
	for (size_t i = 0; i < codes->items.count; i++)
		code_free(take_ptr(codes->items.items[i]));
	size_t count = atomic_exchange(&codes->file_count, 0);
	atomic_store(&codes->bytes, 0);
	atomic_store(&codes->open_count, 0);
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

/* Bytes by vaddr: from there to the end of what their segment has in the file. */
static bool range_at(const struct image *image, uint64_t vaddr, uint64_t *offset_ret,
		     uint64_t *size_ret)
{
	for (size_t i = 0; i < image->loads.count; i++) {
		const struct image_load *load = &image->loads.items[i];
		if (vaddr < load->vaddr || vaddr - load->vaddr >= load->file_size)
			continue;
		*offset_ret = load->file_offset + (vaddr - load->vaddr);
		*size_ret = load->file_size - (vaddr - load->vaddr);
		return true;
	}
	return false;
}

static struct cfi_bytes cfi_bytes(const struct image_bytes *bytes, uint64_t vaddr)
{
	return (struct cfi_bytes){.bytes = bytes->bytes, .size = bytes->size, .vaddr = vaddr};
}

/* By its segment, which files without section headers have, too. */
static struct sp_error *read_header(struct code *code, struct cfi_bytes *ret)
{
	size_t count;
	if (elf_getphdrnum(code->image->elf, &count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(code->image->elf, (int)i, &header) ||
		    header.p_type != PT_GNU_EH_FRAME || header.p_filesz == 0)
			continue;
		struct sp_error *error = image_range_bytes(code->image, header.p_offset,
							   header.p_filesz, &code->header_bytes);
		if (!error)
			*ret = cfi_bytes(&code->header_bytes, header.p_vaddr);
		return error;
	}
	return NULL;
}

/* Where the header says that .eh_frame is; for files without section headers. */
static bool pointed_at(const struct image *image, const struct cfi_bytes *header, uint64_t *ret)
{
	struct cfi_section section = {.bytes = *header, .word = image->is_64bit ? 8 : 4};
	size_t offset = 4;
	if (header->size < 4 || header->bytes[0] != 1)
		return false;
	return cfi_read_address(&section, &offset, header->bytes[1], ret);
}

static struct sp_error *read_eh_frame(struct code *code, const struct cfi_bytes *header,
				      struct cfi_bytes *ret)
{
	GElf_Shdr section_header;
	Elf_Scn *section = image_section(code->image, ".eh_frame", &section_header);
	uint64_t vaddr, offset, size;
	struct sp_error *error = NULL;
	if (section) {
		vaddr = section_header.sh_addr;
		if (section_header.sh_type == SHT_NOBITS || section_header.sh_size == 0)
			return NULL;
		error = image_section_bytes(code->image, section, &code->eh_bytes);
	} else if (pointed_at(code->image, header, &vaddr) &&
		   range_at(code->image, vaddr, &offset, &size)) {
		error = image_range_bytes(code->image, offset, size, &code->eh_bytes);
	} else {
		return NULL;
	}
	if (!error)
		*ret = cfi_bytes(&code->eh_bytes, vaddr);
	return error;
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
	struct cfi_section section = {.word = code->image->is_64bit ? 8 : 4};
	struct cfi_bytes header = {0};
	/* A damaged table costs an index, and no more. */
	say(code, read_header(code, &header));
	struct sp_error *error = read_eh_frame(code, &header, &section.bytes);
	if (!error && section.bytes.size > FRAMES_SIZE_MAX)
		error = error_new(SP_ERROR_FORMAT, "%s: .eh_frame is absurdly large",
				  code->image->path);
	if (!error && section.bytes.size > 0)
		error = cfi_table_init(&code->eh, &section, &header);
	say(code, error);
	image_release_file(code->image);
}

static bool has_debug_frame(const struct image *image)
{
	GElf_Shdr header;
	Elf_Scn *section = image_section(image, ".debug_frame", &header);
	return section && header.sh_type != SHT_NOBITS && header.sh_size > 0;
}

/* Uncompressed where it is compressed; the bytes are the image's, then. */
static struct sp_error *read_debug_frame(struct code *code, const struct image *image,
					 struct cfi_bytes *ret)
{
	GElf_Shdr header;
	Elf_Scn *section = image_section(image, ".debug_frame", &header);
	if (section && (header.sh_flags & SHF_COMPRESSED)) {
		GElf_Chdr compressed;
		if (!gelf_getchdr(section, &compressed) ||
		    compressed.ch_size > FRAMES_SIZE_MAX || elf_compress(section, 0, 0) < 0)
			return error_new(SP_ERROR_FORMAT,
					 "%s: .debug_frame cannot be uncompressed: %s",
					 image->path, elf_errmsg(-1));
		Elf_Data *data = image_section_data(section);
		if (data)
			*ret = (struct cfi_bytes){.bytes = data->d_buf, .size = data->d_size};
		return NULL;
	}
	struct sp_error *error = image_section_bytes(image, section, &code->debug_bytes);
	if (!error)
		*ret = cfi_bytes(&code->debug_bytes, 0);
	return error;
}

static void look_for_debug_frame(struct code *code)
{
	CLEANUP(cleanup_image_free) struct image *image = code->image ? open_again(code) : NULL;
	if (!image)
		return;
	const struct unwind_files *files = &code->codes->files;
	CLEANUP(cleanup_image_free) struct image *debug = NULL;
	struct sp_error *error = NULL;
	if (has_debug_frame(image))
		debug = take_ptr(image);
	else if (files->debug)
		error = files->debug(files->arg, code->module, image, has_debug_frame, &debug);
	if (error || !debug || !is_usable(code, debug)) {
		say(code, error);
		return;
	}
	struct cfi_section section = {.word = debug->is_64bit ? 8 : 4, .is_debug = true};
	struct cfi_bytes none = {0};
	error = read_debug_frame(code, debug, &section.bytes);
	if (!error && section.bytes.size > 0 && section.bytes.size <= FRAMES_SIZE_MAX)
		error = cfi_table_init(&code->debug, &section, &none);
	say(code, error);
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
			code->plts[code->plt_count++] = (struct range){
				.start = header.sh_addr,
				.end = header.sh_addr + header.sh_size,
			};
	}
}

static void look_for_text(struct code *code)
{
	if (!code->image || atomic_fetch_add(&code->codes->open_count, 1) >= OPEN_MAX)
		return;
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

static size_t bytes_of(const struct code *code)
{
	return code->header_bytes.size + code->eh_bytes.size + code->debug_bytes.size;
}

/* What is not there yet is changed, which none can see: hence const for all who call. */
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
	const struct code *code = code_at(codes, module, pid);
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
	if (cfi_find(&code->eh, vaddr, ret))
		return true;
	look(code, LOOK_DEBUG_FRAME);
	return cfi_find(&code->debug, vaddr, ret);
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
	if (!image || !range_at(image, vaddr, &offset, &left) || left < size ||
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

const struct image *code_image(const struct code *code)
{
	return code->image;
}

const struct cfi_table *code_eh_frame(const struct code *code)
{
	return &code->eh;
}
