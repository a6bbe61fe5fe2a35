/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS 64
#define FUNCTION_BYTES 256
#define TEXT 0x2000
#define FRAMES 0x1000  /* .eh_frame */
#define HEADER 0x800   /* .eh_frame_hdr */
#define NOTE 0x400
#define SYMBOLS (TEXT + FUNCTIONS * FUNCTION_BYTES)
#define KERNEL_TEXT UINT64_C(0xffffffff81000000)

struct sim_image sim_images[2] = {{.path = "/usr/bin/worker"}, {.path = "/usr/lib/libwork.so"}};

/* Locals of a function's frame. */
static uint32_t frame_bytes(unsigned int function)
{
	return 16 + 8 * (function * 7 % 23);
}

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static size_t put_uleb(uint8_t *at, uint32_t value)
{
	size_t size = 0;
	do {
		at[size] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
		size++;
	} while (value);
	return size;
}

/* Pads an entry that begins at `begin` to a multiple of 8, and sets its length. */
static size_t end_entry(uint8_t *bytes, size_t begin, size_t at)
{
	while ((at - begin) % 8)
		bytes[at++] = 0; /* DW_CFA_nop */
	put32(bytes + begin, (uint32_t)(at - begin - 4));
	return at;
}

static size_t put_cie(uint8_t *bytes, size_t begin)
{
	static const uint8_t cie[] = {
		0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
		0x0c, 7, 8, /* DW_CFA_def_cfa: rsp + 8 */
		0x90, 1,    /* DW_CFA_offset: rip at CFA - 8 */
	};
	memcpy(bytes + begin + 4, cie, sizeof(cie));
	return end_entry(bytes, begin, begin + 4 + sizeof(cie));
}

static size_t put_fde(uint8_t *bytes, size_t begin, unsigned int function)
{
	uint32_t text = TEXT + function * FUNCTION_BYTES;
	size_t at = begin + 4;
	put32(bytes + at, (uint32_t)(at - FRAMES));
	put32(bytes + at + 4, text - (uint32_t)(at + 4));
	put32(bytes + at + 8, FUNCTION_BYTES);
	at += 12;
	bytes[at++] = 0; /* no augmentation data */
	bytes[at++] = 0x0e; /* DW_CFA_def_cfa_offset */
	at += put_uleb(bytes + at, frame_bytes(function) + 8);
	if (!function) { /* the outermost */
		bytes[at++] = 0x07; /* DW_CFA_undefined */
		bytes[at++] = 16;
	}
	return end_entry(bytes, begin, at);
}

/* Returns the size of .eh_frame. */
static size_t put_frames(uint8_t *bytes)
{
	static const uint8_t header[] = {1, 0x1b, 0x03, 0x3b};
	size_t at = put_cie(bytes, FRAMES);
	memcpy(bytes + HEADER, header, sizeof(header));
	put32(bytes + HEADER + 4, FRAMES - (HEADER + 4));
	put32(bytes + HEADER + 8, FUNCTIONS);
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		put32(bytes + HEADER + 12 + 8 * i, TEXT + i * FUNCTION_BYTES - HEADER);
		put32(bytes + HEADER + 16 + 8 * i, (uint32_t)at - HEADER);
		at = put_fde(bytes, at, i);
	}
	memset(bytes + at, 0, 4);
	return at + 4 - FRAMES;
}

static void put_text(uint8_t *bytes)
{
	/* Calls all over: any multiple of 5 is a return address. */
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		for (unsigned int k = 0; k + 5 <= FUNCTION_BYTES; k += 5)
			bytes[TEXT + i * FUNCTION_BYTES + k] = 0xe8;
}

/* Returns the end of .strtab, and with it of what is in the file but the section headers. */
static size_t put_symbols(uint8_t *bytes, size_t *strings_ret)
{
	size_t strings = SYMBOLS + (FUNCTIONS + 1) * sizeof(Elf64_Sym), at = strings + 1;
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		const Elf64_Sym symbol = {
			.st_name = (uint32_t)(at - strings), .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 4, .st_value = TEXT + i * FUNCTION_BYTES, .st_size = FUNCTION_BYTES,
		};
		memcpy(bytes + SYMBOLS + (i + 1) * sizeof(symbol), &symbol, sizeof(symbol));
		at += (size_t)sprintf((char *)bytes + at, "f%02u", i) + 1;
	}
	*strings_ret = strings;
	return at;
}

static void put_headers(uint8_t *bytes, size_t size, size_t frames, size_t strings, size_t names,
			size_t sections)
{
	const Elf64_Phdr segments[] = {
		{PT_LOAD, PF_R | PF_X, 0, 0, 0, size, size, 4096},
		{PT_NOTE, PF_R, NOTE, NOTE, NOTE, 36, 36, 4},
		{PT_GNU_EH_FRAME, PF_R, HEADER, HEADER, HEADER, 12 + 8 * FUNCTIONS, 12 + 8 * FUNCTIONS, 4},
	};
	const Elf64_Shdr headers[] = {
		{0},
		{1, SHT_NOTE, SHF_ALLOC, NOTE, NOTE, 36, 0, 0, 4, 0},
		{20, SHT_PROGBITS, SHF_ALLOC, HEADER, HEADER, 12 + 8 * FUNCTIONS, 0, 0, 4, 0},
		{34, SHT_PROGBITS, SHF_ALLOC, FRAMES, FRAMES, frames, 0, 0, 8, 0},
		{44, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, TEXT, FUNCTIONS * FUNCTION_BYTES,
		 0, 0, 16, 0},
		{50, SHT_SYMTAB, 0, 0, SYMBOLS, strings - SYMBOLS, 6, 1, 8, sizeof(Elf64_Sym)},
		{58, SHT_STRTAB, 0, 0, strings, names - strings, 0, 0, 1, 0},
		{66, SHT_STRTAB, 0, 0, names, 77, 0, 0, 1, 0},
	};
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_entry = TEXT,
		.e_phoff = sizeof(header), .e_shoff = sections, .e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3, .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 8, .e_shstrndx = 7,
	};
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), segments, sizeof(segments));
	memcpy(bytes + sections, headers, sizeof(headers));
}

static void make_image(struct sim_image *image, uint8_t kind)
{
	static const char names[] = "\0.note.gnu.build-id\0.eh_frame_hdr\0.eh_frame\0.text\0.symtab\0"
				    ".strtab\0.shstrtab";
	static const uint32_t note[] = {4, 20, 3, 0x554e47};
	uint8_t *bytes = calloc(1, (size_t)64 << 10);
	size_t strings;
	if (!bytes)
		abort();
	for (unsigned int i = 0; i < sizeof(image->build_id); i++)
		image->build_id[i] = (uint8_t)(kind * 16 + i);
	memcpy(bytes + NOTE, note, sizeof(note));
	memcpy(bytes + NOTE + sizeof(note), image->build_id, sizeof(image->build_id));
	put_text(bytes);
	size_t frames = put_frames(bytes), end = put_symbols(bytes, &strings);
	memcpy(bytes + end, names, sizeof(names));
	size_t sections = (end + sizeof(names) + 7) / 8 * 8;
	image->size = sections + 8 * sizeof(Elf64_Shdr);
	put_headers(bytes, image->size, frames, strings, end, sections);
	image->bytes = bytes;
}

void sim_images_begin(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct sim_image *image = &sim_images[i];
		make_image(image, (uint8_t)(i + 1));
		struct sim_inode *inode = sim_file_new(image->path, false);
		sim_file_write(inode, image->bytes, image->size, 0);
		image->ino = inode->ino;
	}
}

static uint64_t address_in(const struct sim_process *process, unsigned int maps, unsigned int function,
			   enum sim_stream stream)
{
	uint64_t map = sim_random(stream, maps);
	return process->maps[map].start + TEXT + function * FUNCTION_BYTES + 5 * (1 + sim_random(stream, 50));
}

static void make_kernel(struct sim_stack *stack)
{
	stack->kernel_depth = 1 + (unsigned int)sim_random(SIM_WORLD, 4);
	for (unsigned int i = 0; i < stack->kernel_depth; i++)
		stack->kernel_chain[i] = KERNEL_TEXT + sim_random(SIM_WORLD, 0x10000);
	stack->ip = stack->kernel_chain[0];
}

/* Frames from the outermost to the innermost, and their bytes from the stack's end down. */
void sim_stack_make_user(const struct sim_process *process, unsigned int maps, uint64_t top,
			 enum sim_stream stream, struct sim_stack *stack)
{
	unsigned int depth = 1 + (unsigned int)sim_random(stream, SIM_DEPTH_MAX - 1);
	unsigned int functions[SIM_DEPTH_MAX];
	size_t size = 64;
	for (unsigned int i = 0; i < depth; i++) {
		functions[i] = i + 1 == depth ? 0 : 1 + (unsigned int)sim_random(stream, FUNCTIONS - 1);
		stack->chain[i] = address_in(process, maps, functions[i], stream);
		size += frame_bytes(functions[i]) + 8;
	}
	size_t at = 0;
	memset(stack->bytes, 0x5a, size);
	for (unsigned int i = 0; i < depth; i++) {
		at += frame_bytes(functions[i]);
		uint64_t back = i + 1 < depth ? stack->chain[i + 1] : 0;
		memcpy(stack->bytes + at, &back, sizeof(back));
		at += sizeof(back);
	}
	stack->depth = depth;
	stack->size = size;
	stack->sp = top - size;
	stack->bp = 0;
}

uint64_t sim_stack_hash(const struct sim_stack *stack)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (unsigned int i = 0; i < stack->depth; i++)
		hash = (hash ^ stack->chain[i]) * UINT64_C(0x100000001b3);
	return hash;
}

void sim_stack_make(const struct sim_task *task, struct sim_stack *stack)
{
	stack->depth = stack->kernel_depth = 0;
	stack->size = 0;
	stack->idle = !task;
	stack->kernel = !task || !task->process->map_count ||
			sim_chance(SIM_WORLD, sim_machine.workload.kernel);
	if (task && task->process->map_count) {
		sim_stack_make_user(task->process, task->process->map_count, SIM_STACK_TOP, SIM_WORLD, stack);
		stack->ip = stack->chain[0];
	}
	if (stack->kernel)
		make_kernel(stack);
}
