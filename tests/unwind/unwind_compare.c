/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_compare FILE [LIMIT]: unwinds a recording's dumps by our engine, by libunwind and by
 * libdw, frame by frame, and prints where they differ, by class:
 *
 *	ENGINE samples N equal N
 *	ENGINE CLASS COUNT at MODULE+OFFSET SECTION ours END theirs END sample INDEX
 *
 * where MODULE+OFFSET is the last frame that they agree on
 * and CLASS: further (ours has more frames), shorter, other (another caller). Code of .text that
 * libdw has no CFI for is called .text-bare.
 */
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/hash.h"
#include "dumps.h"
#include "unwind/arch.h"

#define FRAMES 4096
#define CLASSES_MAX 4096

struct chain {
	struct unwind_frame frames[FRAMES];
	struct unwind_result result;
};

enum class { CLASS_FURTHER, CLASS_SHORTER, CLASS_OTHER };
static const char *const class_names[] = {"further", "shorter", "other"};
static const char *const end_names[] = {"complete", "truncated", "no_info", "bad_memory",
					"depth_limit"};

struct difference {
	enum class class;
	const struct module *module;
	uint64_t offset;
	enum unwind_end our_end, their_end;
	size_t count, example;
};

struct oracle {
	const char *name;
	struct unwind_thread *thread; /* NULL: libdw */
	struct unwinder *unwinder;
	VEC(struct difference) differences;
	size_t samples, equal;
};

/* libdw: a Dwfl for each view, with all that was mapped in it. */
struct mapping_start {
	uint64_t start, offset;
};

struct dwfl_state {
	struct dumps *dumps;
	const struct unwind_arch *arch;
	VEC(struct mapping_start) starts; /* start of all processes' mappings */
	VEC(Dwfl *) by_view;
	const struct dump *dump; /* at work */
	uint64_t sp;
	uint64_t columns[ARCH_COLUMNS];
	struct chain *chain;
};

static void must(struct sp_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "unwind_compare: %s\n", sp_error_message(error));
	exit(1);
}

static void read_starts(struct dwfl_state *state)
{
	const struct sp_record *record;
	sp_reader_rewind(state->dumps->reader);
	for (;;) {
		must(sp_reader_next(state->dumps->reader, &record));
		if (!record)
			break;
		if (record->type != PERF_RECORD_MMAP && record->type != PERF_RECORD_MMAP2)
			continue;
		struct mapping_start *start = vec_push(&state->starts);
		*start = (struct mapping_start){record->mmap.start, record->mmap.file_offset};
	}
}

/* libdw wants files: what is in memory becomes one. */
static int file_of(const struct image *image)
{
	if (!image->memory)
		return open(image->path, O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("image", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, image->memory, image->size) != (ssize_t)image->size)
		abort();
	return fd;
}

static void report_module(struct dwfl_state *state, Dwfl *dwfl, uint32_t view,
			  const struct mapping_start *start)
{
	struct dumps *dumps = state->dumps;
	struct location location = machine_locate(dumps->machine, view, PERF_RECORD_MISC_USER,
						  start->start);
	if (!location.module || location.offset != start->offset ||
	    (location.module->kind != MODULE_FILE && location.module->kind != MODULE_VDSO))
		return;
	struct image *image = NULL;
	CLEANUP(diagnosis_clear) struct diagnosis diagnosis = {0};
	must(binary_open(&dumps->binary, location.module, location.pid, &diagnosis, &image));
	if (!image)
		return;
	uint64_t vaddr;
	int fd = -1;
	/* libdw forgets a module that is reported twice. */
	if (image_vaddr(image, location.offset, &vaddr) &&
	    !dwfl_addrmodule(dwfl, start->start) && (fd = file_of(image)) >= 0 &&
	    !dwfl_report_elf(dwfl, location.module->name, image->path, fd, start->start - vaddr,
			     true)) {
		fprintf(stderr, "unwind_compare: libdw: %s: %s\n", image->path, dwfl_errmsg(-1));
		close(fd);
	}
	image_free(image);
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl, (void)tid;
	*thread_arg = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *arg)
{
	const struct dwfl_state *state = arg;
	const struct sp_bytes *stack = &state->dump->sample.stack;
	(void)dwfl;
	uint64_t at = address - state->sp;
	if (stack->size < 8 || at > stack->size - 8)
		return false;
	memcpy(ret, stack->bytes + at, 8);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	struct dwfl_state *state = arg;
	unsigned int count = state->arch->ra_is_ip ? state->arch->columns : 32;
	if (!state->arch->ra_is_ip)
		dwfl_thread_state_register_pc(thread, state->columns[32]);
	return dwfl_thread_state_registers(thread, 0, count, state->columns);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **ret)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
	*ret = NULL;
	return -1;
}

static const Dwfl_Callbacks dwfl_callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debuginfo,
};

static Dwfl *dwfl_of(struct dwfl_state *state, uint32_t view)
{
	while (state->by_view.count <= view)
		*vec_push(&state->by_view) = NULL;
	Dwfl **slot = &state->by_view.items[view];
	if (*slot)
		return *slot;
	Dwfl *dwfl = dwfl_begin(&dwfl_callbacks);
	dwfl_report_begin(dwfl);
	for (size_t i = 0; i < state->starts.count; i++)
		report_module(state, dwfl, view, &state->starts.items[i]);
	dwfl_report_end(dwfl, NULL, NULL);
	/* libdw asks the first module for its architecture. */
	if (!dwfl_attach_state(dwfl, NULL, 1, &thread_callbacks, state))
		fprintf(stderr, "unwind_compare: libdw: %s\n", dwfl_errmsg(-1));
	return *slot = dwfl;
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct chain *chain = ((struct dwfl_state *)arg)->chain;
	Dwarf_Addr ip;
	bool activation;
	if (!dwfl_frame_pc(frame, &ip, &activation) || ip == 0)
		return DWARF_CB_ABORT;
	if (chain->result.count == FRAMES)
		return DWARF_CB_ABORT;
	chain->frames[chain->result.count++] =
		(struct unwind_frame){.ip = ip, .exact = activation};
	return DWARF_CB_OK;
}

static void unwind_by_libdw(struct dwfl_state *state, const struct dump *dump, struct chain *chain)
{
	const struct sp_registers *registers = &dump->sample.registers;
	state->dump = dump;
	state->chain = chain;
	chain->result = (struct unwind_result){0};
	uint64_t mask = registers->mask;
	for (size_t i = 0; i < registers->count && mask; i++, mask &= mask - 1) {
		unsigned int number = (unsigned int)__builtin_ctzll(mask);
		uint8_t column = number < ARCH_PERF_COUNT ? state->arch->column_of[number]
							  : ARCH_NONE;
		if (column != ARCH_NONE)
			state->columns[column] = registers->values[i];
	}
	state->sp = state->columns[state->arch->sp];
	Dwfl *dwfl = dwfl_of(state, dump->sample.view);
	int failed = dwfl_getthread_frames(dwfl, 1, take_frame, state);
	if (failed && getenv("DEBUG"))
		fprintf(stderr, "libdw: %s\n", dwfl_errmsg(-1));
	chain->result.end = failed ? UNWIND_NO_INFO : UNWIND_COMPLETE;
}

static struct difference *difference_at(struct oracle *oracle, const struct difference *like)
{
	for (size_t i = 0; i < oracle->differences.count; i++) {
		struct difference *known = &oracle->differences.items[i];
		if (known->class == like->class && known->module == like->module &&
		    known->offset == like->offset && known->our_end == like->our_end &&
		    known->their_end == like->their_end)
			return known;
	}
	struct difference *added = vec_push(&oracle->differences);
	*added = *like;
	return added;
}

static void compare(const struct dumps *dumps, struct oracle *oracle, const struct dump *dump,
		    size_t index, const struct chain *ours, const struct chain *theirs)
{
	size_t same = 0, n = ours->result.count, m = theirs->result.count;
	while (same < n && same < m && ours->frames[same].ip == theirs->frames[same].ip)
		same++;
	oracle->samples++;
	if (same == n && same == m) {
		oracle->equal++;
		return;
	}
	struct difference difference = {
		.class = same == m ? CLASS_FURTHER : same == n ? CLASS_SHORTER : CLASS_OTHER,
		.our_end = ours->result.end,
		.their_end = theirs->result.end,
		.example = index,
	};
	if (same > 0) {
		const struct unwind_frame *last = &ours->frames[same - 1];
		struct location location =
			machine_locate(dumps->machine, dump->sample.view, PERF_RECORD_MISC_USER,
				       last->ip - !last->exact);
		difference.module = location.module;
		difference.offset = location.offset;
	}
	difference_at(oracle, &difference)->count++;
}

static int by_count(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;
	return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

static bool has_frame(Dwarf_CFI *cfi, uint64_t vaddr)
{
	Dwarf_Frame *frame = NULL;
	bool found = cfi && !dwarf_cfi_addrframe(cfi, vaddr, &frame);
	free(frame);
	return found;
}

static bool has_cfi(Elf *elf, uint64_t vaddr)
{
	Dwarf_CFI *exceptions = dwarf_getcfi_elf(elf);
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	bool found = has_frame(exceptions, vaddr) || (dwarf && has_frame(dwarf_getcfi(dwarf), vaddr));
	dwarf_end(dwarf);
	dwarf_cfi_end(exceptions);
	return found;
}

/* The name of the section that it differs in, "-" where there is none. */
static const char *section_at(const struct dumps *dumps, const struct difference *item,
			      char *buffer, size_t size)
{
	CLEANUP(diagnosis_clear) struct diagnosis diagnosis = {0};
	struct image *image = NULL;
	snprintf(buffer, size, "-");
	if (!item->module || item->module->kind != MODULE_FILE)
		return buffer;
	must(binary_open(&dumps->binary, item->module, 0, &diagnosis, &image));
	size_t names;
	if (image && !elf_getshdrstrndx(image->elf, &names)) {
		for (Elf_Scn *section = NULL; (section = elf_nextscn(image->elf, section));) {
			GElf_Shdr header;
			if (gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS &&
			    item->offset >= header.sh_offset &&
			    item->offset - header.sh_offset < header.sh_size) {
				const char *name = elf_strptr(image->elf, names, header.sh_name);
				uint64_t vaddr = header.sh_addr + item->offset - header.sh_offset;
				bool bare = !strcmp(name, ".text") && !has_cfi(image->elf, vaddr);
				snprintf(buffer, size, "%s%s", name, bare ? "-bare" : "");
			}
		}
	}
	image_free(image);
	return buffer;
}

static void print(const struct dumps *dumps, struct oracle *oracle)
{
	char section[64];
	printf("%s samples %zu equal %zu\n", oracle->name, oracle->samples, oracle->equal);
	if (oracle->differences.count > 1)
		qsort(oracle->differences.items, oracle->differences.count,
		      sizeof(*oracle->differences.items), by_count);
	for (size_t i = 0; i < oracle->differences.count; i++) {
		const struct difference *item = &oracle->differences.items[i];
		printf("%s %s %zu at %s+0x%" PRIx64 " %s ours %s theirs %s sample %zu\n",
		       oracle->name, class_names[item->class], item->count,
		       item->module ? item->module->path : "?", item->offset,
		       section_at(dumps, item, section, sizeof(section)),
		       end_names[item->our_end], end_names[item->their_end], item->example);
	}
}

static void oracle_unwind(struct oracle *oracle, struct dwfl_state *state, const struct dump *dump,
			  struct chain *ret)
{
	if (!oracle->thread)
		unwind_by_libdw(state, dump, ret);
	else
		ret->result = unwind_stack(oracle->thread, &dump->sample, ret->frames, FRAMES);
}

static void print_chain(const char *name, const struct chain *chain)
{
	printf("%s %s\n", name, end_names[chain->result.end]);
	for (size_t i = 0; i < chain->result.count; i++)
		printf("\t%" PRIx64 "%s sp %" PRIx64 "\n", chain->frames[i].ip,
		       chain->frames[i].exact ? " exact" : "", chain->frames[i].sp);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	size_t limit = argc > 2 ? strtoul(argv[2], NULL, 0) : SIZE_MAX;
	size_t shown = argc > 3 ? strtoul(argv[3], NULL, 0) : SIZE_MAX;
	struct dumps dumps;
	struct dump_list list = {0};
	must(dumps_open(&dumps, argv[1]));
	must(dumps_read(&dumps, limit, 1, &list));
	struct unwinder *unwinder;
	must(dumps_unwinder(&dumps, "cfi", &unwinder));
	struct unwind_thread *thread = unwind_thread_new(unwinder);
	struct oracle oracles[2] = {{.name = "libunwind"}, {.name = "libdw"}};
	size_t first = 0;
	struct sp_error *error = dumps_unwinder(&dumps, "libunwind", &oracles[0].unwinder);
	if (error)
		first = 1;
	else
		oracles[0].thread = unwind_thread_new(oracles[0].unwinder);
	sp_error_free(error);
	struct dwfl_state state = {
		.dumps = &dumps,
		.arch = arch_find(dumps.arch, PERF_SAMPLE_REGS_ABI_64),
	};
	read_starts(&state);
	static struct chain ours, theirs;
	for (size_t i = 0; i < list.count; i++) {
		const struct dump *dump = &list.items[i];
		if (dump->sample.registers.abi != PERF_SAMPLE_REGS_ABI_64)
			continue;
		ours.result = unwind_stack(thread, &dump->sample, ours.frames, FRAMES);
		if (i == shown)
			print_chain("ours", &ours);
		for (size_t j = first; j < 2; j++) {
			oracle_unwind(&oracles[j], &state, dump, &theirs);
			if (i == shown)
				print_chain(oracles[j].name, &theirs);
			compare(&dumps, &oracles[j], dump, i, &ours, &theirs);
		}
	}
	for (size_t j = first; j < 2; j++)
		print(&dumps, &oracles[j]);
	for (size_t i = 0; i < state.by_view.count; i++)
		dwfl_end(state.by_view.items[i]);
	vec_deinit(&state.by_view);
	vec_deinit(&state.starts);
	for (size_t j = 0; j < 2; j++) {
		vec_deinit(&oracles[j].differences);
		unwind_thread_free(oracles[j].thread);
		unwinder_free(oracles[j].unwinder);
	}
	unwind_thread_free(thread);
	unwinder_free(unwinder);
	dump_list_free(&list);
	dumps_close(&dumps);
	return 0;
}
