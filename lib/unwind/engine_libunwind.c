/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libunwind, for recordings of this machine's architecture. It reads the stack copy as memory, and
 * the module's call frame information at the addresses of the process. It caches results by address
 * space. Each thread has one address space here, emptied when the view changes.
 *
 * A program's memory never has .debug_frame. Such an entry is rewritten as one of .eh_frame, with
 * its own table, and shown to libunwind at an address after the module's end.
 */
#include "unwind/engine.h"

#include <libunwind.h>
#include <string.h>
#include "base/vec.h"

/* Exported, and used by perf, but in no header. */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip,
					      unw_dyn_info_t *table, unw_proc_info_t *info,
					      int need_unwind_info, void *arg);
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)

#define QUOTE(x) #x
#define QUOTED(x) QUOTE(x)

struct libunwind_thread {
	const struct unwind_shared *shared;
	unw_addr_space_t space;
	uint32_t view; /* view of the address space's cache */
	VEC(uint8_t) made; /* see struct stack_walk */
};

/* The argument of the accessors. */
struct stack_walk {
	const struct unwind_shared *shared;
	const struct unwind_start *start;
	const struct code *code;       /* module of the last request; or NULL */
	const struct cfi_table *table; /* the module's table */
	uint64_t bias; /* difference between run time addresses and the file's */
	int32_t made[2]; /* table of one entry, for a module without a sorted table */
	struct libunwind_thread *thread;
	struct cfi_bytes entry; /* table, CIE and FDE that were written; size 0: none */
	bool missed;   /* this step needed a word that the copy lacks */
	uint64_t missing;
	bool switched; /* same as in struct unwind_result */
};

/* Address of `made` for libunwind; no code can be there. */
#define MADE_AT 16
/* Limit of instructions of an entry: those of real functions have some thousand bytes. */
#define MADE_MAX ((size_t)1 << 16)

/* Loads an aligned word for libunwind. It may begin before the bytes, or end after them. */
static bool in_bytes(const struct cfi_bytes *bytes, uint64_t vaddr, uint64_t *ret)
{
	uint8_t word[sizeof(*ret)] = {0};
	bool found = false;
	for (size_t i = 0; i < sizeof(word); i++) {
		uint64_t at = vaddr + i - bytes->vaddr;
		if (at >= bytes->size)
			continue;
		word[i] = bytes->bytes[at];
		found = true;
	}
	memcpy(ret, word, sizeof(*ret));
	return found;
}

static bool instructions(const struct stack_walk *walk, uint64_t address, uint64_t *ret)
{
	const struct unwind_shared *shared = walk->shared;
	struct location location =
		shared->locator.locate(shared->locator.arg, walk->start->view, address);
	if (!location.module ||
	    (location.module->kind != MODULE_FILE && location.module->kind != MODULE_VDSO))
		return false;
	const struct code *code = code_cache_get(shared->code_cache, location.module, location.pid);
	uint64_t vaddr;
	uint8_t bytes[sizeof(*ret)];
	if (!code || !code_vaddr(code, location.offset, &vaddr) ||
	    !code_read(code, vaddr, sizeof(bytes), bytes))
		return false;
	memcpy(ret, bytes, sizeof(bytes));
	return true;
}

/* Buffer for an entry. */
static bool put(struct libunwind_thread *thread, const void *bytes, size_t size)
{
	if (!vec_reserve(&thread->made, thread->made.count + size))
		return false;
	if (size > 0)
		memcpy(thread->made.items + thread->made.count, bytes, size);
	thread->made.count += size;
	return true;
}

static bool put_u32(struct libunwind_thread *thread, uint32_t value)
{
	return put(thread, &value, sizeof(value));
}

static bool put_u64(struct libunwind_thread *thread, uint64_t value)
{
	return put(thread, &value, sizeof(value));
}

/* Writes either kind of LEB128 in ten bytes, filled up with sign bits or zeros. */
static bool put_leb128(struct libunwind_thread *thread, int64_t value, bool is_signed)
{
	uint8_t bytes[10];
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (value & 0x7f) | (i + 1 < sizeof(bytes) ? 0x80 : 0);
		value = is_signed ? value >> 7 : (int64_t)((uint64_t)value >> 7);
	}
	return put(thread, bytes, sizeof(bytes));
}

/* Writes a block's length into its reserved place. */
static void end_block(struct libunwind_thread *thread, size_t begin)
{
	uint32_t size = thread->made.count - begin - sizeof(size);
	memcpy(thread->made.items + begin, &size, sizeof(size));
}

/* Writes table, CIE and FDE with run-time addresses. `at`: their address. */
static bool write_entry(struct libunwind_thread *thread, const struct cfi_entry *entry,
			uint64_t at, uint64_t bias)
{
	static const uint8_t version = 1, absolute = 0;
	const char *letters = entry->is_signal ? "zRS" : "zR";
	uint8_t column = entry->return_column;
	thread->made.count = 0;
	/* The table has one pair: the start, and the FDE's distance from the table. */
	if (!put_u64(thread, 0))
		return false;
	size_t cie = thread->made.count;
	if (!put_u32(thread, 0) || !put_u32(thread, 0) || !put(thread, &version, 1) ||
	    !put(thread, letters, strlen(letters) + 1) ||
	    !put_leb128(thread, entry->code_align, false) ||
	    !put_leb128(thread, entry->data_align, true) || !put(thread, &column, 1) ||
	    !put_leb128(thread, 1, false) || !put(thread, &absolute, 1) ||
	    !put(thread, entry->initial.bytes, entry->initial.size))
		return false;
	end_block(thread, cie);
	size_t fde = thread->made.count;
	if (!put_u32(thread, 0) || !put_u32(thread, fde + 4 - cie) ||
	    !put_u64(thread, entry->start + bias) || !put_u64(thread, entry->size) ||
	    !put_leb128(thread, 0, false) ||
	    !put(thread, entry->program.bytes, entry->program.size))
		return false;
	end_block(thread, fde);
	int32_t pair[2] = {(int32_t)(entry->start + bias - at), (int32_t)fde};
	memcpy(thread->made.items, pair, sizeof(pair));
	return true;
}

/* Makes an entry of .debug_frame available if .eh_frame has none. */
static void use_debug_frame(struct stack_walk *walk, uint64_t vaddr)
{
	struct cfi_entry entry;
	const struct unwind_arch *arch = walk->start->arch;
	walk->entry.size = 0;
	if (cfi_find(code_eh_frame(walk->code), vaddr, &entry) ||
	    !code_find_cfi(walk->code, arch, vaddr, &entry) || entry.word != sizeof(unw_word_t) ||
	    entry.return_column >= arch->columns || entry.initial.size > MADE_MAX ||
	    entry.program.size > MADE_MAX)
		return;
	uint64_t end = 0;
	const struct image *image = code_image(walk->code);
	vec_each (load, &image->loads) {
		if (load->vaddr + load->memory_size > end)
			end = load->vaddr + load->memory_size;
	}
	uint64_t at = (end + 0x1fff) & ~(uint64_t)0xfff;
	if (write_entry(walk->thread, &entry, at + walk->bias, walk->bias))
		walk->entry = (struct cfi_bytes){
			.bytes = walk->thread->made.items,
			.size = walk->thread->made.count,
			.vaddr = at,
		};
}

/* libunwind loads addresses of personality routines from a module's data, and does not use them. */
static bool in_data(const struct stack_walk *walk, uint64_t vaddr)
{
	const struct image *image = code_image(walk->code);
	vec_each (load, &image->loads) {
		if (!load->executable && vaddr >= load->vaddr &&
		    vaddr - load->vaddr < load->memory_size)
			return true;
	}
	return false;
}

static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
			 void *arg)
{
	struct stack_walk *walk = arg;
	(void)space;
	if (write)
		return -UNW_EINVAL;
	uint64_t word;
	bool found = stack_load(&walk->start->stack, address, &word) ||
		     (walk->entry.size && in_bytes(&walk->entry, address - walk->bias, &word)) ||
		     (walk->table &&
		      (in_bytes(&walk->table->header, address - walk->bias, &word) ||
		       in_bytes(&walk->table->section.bytes, address - walk->bias, &word)));
	if (address == MADE_AT) {
		memcpy(value, walk->made, sizeof(*value));
		return 0;
	}
	if (!found && walk->table && in_data(walk, address - walk->bias)) {
		*value = 0;
		return 0;
	}
	/* Loads instructions: libunwind recognizes returns from signals and PLT entries by them. */
	found = found || instructions(walk, address, &word);
	if (found) {
		*value = word;
		return 0;
	}
	if (walk->switched || stack_could_hold(&walk->start->stack, address)) {
		walk->missed = true;
		walk->missing = address;
	}
	return -UNW_EINVAL;
}

/* libunwind's numbers are DWARF's, and arm64's pc follows sp. */
static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value,
			   int write, void *arg)
{
	const struct stack_walk *walk = arg;
	(void)space;
	if (write || number < 0 || !register_known(&walk->start->registers, number))
		return -UNW_EBADREG;
	*value = walk->start->registers.values[number];
	return 0;
}

static int access_float(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write,
			void *arg)
{
	(void)space, (void)number, (void)value, (void)write, (void)arg;
	return -UNW_EBADREG;
}

/* Makes a table of the found entry, relative to the section. */
static bool make_table(struct stack_walk *walk, uint64_t vaddr, unw_dyn_info_t *ret)
{
	struct cfi_entry entry;
	if (!cfi_find(walk->table, vaddr, &entry))
		return false;
	walk->made[0] = entry.start - walk->table->section.bytes.vaddr;
	walk->made[1] = entry.offset;
	ret->u.rti.segbase = walk->table->section.bytes.vaddr + walk->bias;
	ret->u.rti.table_data = MADE_AT;
	ret->u.rti.table_len = 1;
	return true;
}

/* Selects the module at `ip` for later loads. Returns false if it has no table. */
static bool use_module(struct stack_walk *walk, uint64_t ip, uint64_t *vaddr_ret)
{
	const struct unwind_shared *shared = walk->shared;
	struct location location =
		shared->locator.locate(shared->locator.arg, walk->start->view, ip);
	walk->table = NULL;
	walk->entry.size = 0;
	if (!location.module ||
	    (location.module->kind != MODULE_FILE && location.module->kind != MODULE_VDSO))
		return false;
	walk->code = code_cache_get(shared->code_cache, location.module, location.pid);
	if (!walk->code || !code_vaddr(walk->code, location.offset, vaddr_ret))
		return false;
	walk->bias = ip - *vaddr_ret;
	use_debug_frame(walk, *vaddr_ret);
	const struct cfi_table *table = code_eh_frame(walk->code);
	if (table->section.word == sizeof(unw_word_t))
		walk->table = table;
	return walk->table || walk->entry.size;
}

/* Finds the entry that write_entry() made of one in .debug_frame. */
static int search_written(struct stack_walk *walk, unw_word_t ip, unw_proc_info_t *info, int need)
{
	unw_dyn_info_t described = {
		.format = UNW_INFO_FORMAT_REMOTE_TABLE,
		.start_ip = 0,
		.end_ip = UINT64_MAX,
		.u.rti.segbase = walk->entry.vaddr + walk->bias,
		.u.rti.table_data = walk->entry.vaddr + walk->bias,
		.u.rti.table_len = 1,
	};
	return search_unwind_table(walk->thread->space, ip, &described, info, need, walk);
}

static int find_procedure(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info, int need,
			  void *arg)
{
	struct stack_walk *walk = arg;
	uint64_t vaddr;
	if (!use_module(walk, ip, &vaddr))
		return -UNW_ENOINFO;
	if (walk->entry.size)
		return search_written(walk, ip, info, need);
	const struct cfi_table *table = walk->table;
	unw_dyn_info_t described = {
		.format = UNW_INFO_FORMAT_REMOTE_TABLE,
		.start_ip = 0,
		.end_ip = UINT64_MAX,
		.u.rti.segbase = table->header.vaddr + walk->bias,
		.u.rti.table_data = table->header.vaddr + table->sorted_at + walk->bias,
		.u.rti.table_len = table->sorted_count * 8 / sizeof(unw_word_t),
	};
	if (table->sorted_count == 0 && !make_table(walk, vaddr, &described))
		return -UNW_ENOINFO;
	return search_unwind_table(space, ip, &described, info, need, arg);
}

/* libunwind owns what it made of a procedure: there is nothing to free. */
static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
	(void)space, (void)info, (void)arg;
}

static int get_dynamic_list(unw_addr_space_t space, unw_word_t *address, void *arg)
{
	(void)space, (void)address, (void)arg;
	return -UNW_ENOINFO;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	(void)space, (void)cursor, (void)arg;
	return -UNW_EINVAL;
}

static int get_name(unw_addr_space_t space, unw_word_t address, char *name, size_t size,
		    unw_word_t *offset, void *arg)
{
	(void)space, (void)address, (void)name, (void)size, (void)offset, (void)arg;
	return -UNW_EUNSPEC;
}

static void *thread_new(const struct unwind_shared *shared)
{
	struct libunwind_thread *thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	unw_accessors_t accessors = {
		.find_proc_info = find_procedure,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dynamic_list,
		.access_mem = access_memory,
		.access_reg = access_register,
		.access_fpreg = access_float,
		.resume = resume,
		.get_proc_name = get_name,
	};
	thread->shared = shared;
	thread->view = UINT32_MAX;
	thread->space = unw_create_addr_space(&accessors, 0);
	if (!thread->space) {
		free(thread);
		return NULL;
	}
	unw_set_caching_policy(thread->space, UNW_CACHE_GLOBAL);
	return thread;
}

static void thread_free(void *arg)
{
	struct libunwind_thread *thread = arg;
	if (!thread)
		return;
	unw_destroy_addr_space(thread->space);
	vec_deinit(&thread->made);
	free(thread);
}

static void drop_code(void *arg)
{
	struct libunwind_thread *thread = arg;
	unw_flush_cache(thread->space, 0, 0);
	thread->view = UINT32_MAX;
}

/* Converts the result of the last step to the end of the stack. */
static enum unwind_end end_of(const struct stack_walk *walk, int step)
{
	if (walk->missed)
		return UNWIND_TRUNCATED;
	if (step == 0)
		return UNWIND_COMPLETE;
	return step == -UNW_EBADFRAME || step == -UNW_EINVALIDIP ? UNWIND_BAD_MEMORY
								 : UNWIND_NO_INFO;
}

static struct unwind_result walk_stack(void *arg, const struct unwind_start *start,
				       struct unwind_frame *frames, size_t limit)
{
	struct libunwind_thread *thread = arg;
	struct stack_walk walk = {.shared = thread->shared, .start = start, .thread = thread};
	if (start->arch->word != sizeof(unw_word_t)) {
		frames[0] = (struct unwind_frame){.ip = start->ip, .sp = start->sp, .exact = true};
		return (struct unwind_result){.count = 1, .end = UNWIND_NO_INFO};
	}
	if (thread->view != start->view)
		unw_flush_cache(thread->space, 0, 0);
	thread->view = start->view;
	struct unwind_result result = {.end = UNWIND_COMPLETE};
	uint64_t ip_mask = walk.start->arch->ip_mask;
	unw_cursor_t cursor;
	int step = unw_init_remote(&cursor, thread->space, &walk);
	if (step < 0) {
		frames[result.count++] = (struct unwind_frame){
			.ip = walk.start->ip, .sp = walk.start->sp, .exact = true};
		result.end = UNWIND_NO_INFO;
		return result;
	}
	bool exact = true, signal;
	uint64_t vaddr;
	do {
		unw_word_t ip = 0, sp = 0;
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		unw_get_reg(&cursor, UNW_REG_SP, &sp);
		ip &= ip_mask;
		if (ip == 0)
			return result;
		if (result.count == limit) {
			result.end = UNWIND_DEPTH_LIMIT;
			return result;
		}
		frames[result.count++] = (struct unwind_frame){.ip = ip, .sp = sp, .exact = exact};
		signal = unw_is_signal_frame(&cursor) > 0;
		result.signals += signal;
		walk.missed = false;
		/*
		 * libunwind may cache the procedure, and still load its expressions from the
		 * module.
		 */
		use_module(&walk, ip - !exact, &vaddr);
		step = unw_step(&cursor);
		exact = signal;
		if (signal && unw_get_reg(&cursor, UNW_REG_SP, &sp) == 0)
			walk.switched = stack_is_another(&walk.start->stack, sp);
	} while (step > 0);
	result.end = end_of(&walk, step);
	result.missing = result.end == UNWIND_TRUNCATED ? walk.missing : 0;
	result.switched = result.end == UNWIND_TRUNCATED && walk.switched;
	return result;
}

static const char *refuse(const char *name)
{
	const struct unwind_arch *arch = arch_find(name, PERF_SAMPLE_REGS_ABI_64);
	return arch && !strcmp(arch->name, QUOTED(UNW_TARGET))
		       ? NULL
		       : "libunwind is built for another architecture here";
}

const struct unwind_engine engine_libunwind = {
	.name = "libunwind",
	.refuse = refuse,
	.thread_new = thread_new,
	.thread_free = thread_free,
	.drop_code = drop_code,
	.walk = walk_stack,
};
