/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/plt.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include "base/cursor.h"
#include "base/diagnosis.h"
#include "base/vec.h"

/* A GOT slot that PLT entries jump through, from the relocation that fills it. */
struct got_slot {
	uint64_t vaddr;
	const char *name; /* name of the function; NULL: IFUNC with its resolver at `target` */
	uint64_t target;
};

struct slots {
	VEC(struct got_slot);
};

/* Decodes the code at `vaddr`: the slot that it jumps through; false if it is not a PLT entry. */
typedef bool decode_fn(const uint8_t *bytes, size_t size, uint64_t vaddr, uint64_t got,
		       uint64_t *slot_ret);

struct machine_plt {
	uint16_t machine;
	uint32_t jump_slot, glob_dat, irelative; /* relocation types */
	size_t step;                             /* alignment of entries */
	size_t entry_size;                       /* default for sections without an entry size */
	decode_fn *decode;
};

static uint32_t read_u32(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

/* Decodes "[endbr] [bnd] jmp *slot". Returns the number of bytes before the operand, or 0. */
static size_t x86_jump(const uint8_t *bytes, size_t size, uint8_t *modrm_ret)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t endbr32[] = {0xf3, 0x0f, 0x1e, 0xfb};
	size_t at = 0;
	if (size >= 4 && (!memcmp(bytes, endbr64, 4) || !memcmp(bytes, endbr32, 4)))
		at += 4;
	if (size > at && bytes[at] == 0xf2)
		at++;
	if (size < at + 6 || bytes[at] != 0xff)
		return 0;
	*modrm_ret = bytes[at + 1];
	return at + 2;
}

static bool decode_x86_64(const uint8_t *bytes, size_t size, uint64_t vaddr, uint64_t got,
			  uint64_t *slot_ret)
{
	(void)got;
	uint8_t modrm;
	size_t at = x86_jump(bytes, size, &modrm);
	if (at == 0 || modrm != 0x25) /* disp32(%rip) */
		return false;
	*slot_ret = vaddr + at + 4 + (uint64_t)(int64_t)(int32_t)read_u32(bytes + at);
	return true;
}

static bool decode_i386(const uint8_t *bytes, size_t size, uint64_t vaddr, uint64_t got,
			uint64_t *slot_ret)
{
	(void)vaddr;
	uint8_t modrm;
	size_t at = x86_jump(bytes, size, &modrm);
	if (at == 0 || (modrm != 0x25 && modrm != 0xa3)) /* disp32; disp32(%ebx) */
		return false;
	*slot_ret = (uint32_t)((modrm == 0xa3 ? got : 0) + read_u32(bytes + at));
	return true;
}

/* [bti c] adrp x16, PAGE; ldr x17, [x16, #OFFSET] */
static bool decode_aarch64(const uint8_t *bytes, size_t size, uint64_t vaddr, uint64_t got,
			   uint64_t *slot_ret)
{
	(void)got;
	size_t at = size >= 4 && read_u32(bytes) == 0xd503245f ? 4 : 0;
	if (size < at + 8)
		return false;
	uint32_t adrp = read_u32(bytes + at), load = read_u32(bytes + at + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return false;
	uint64_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	if (pages & (1 << 20))
		pages |= ~(uint64_t)0 << 21;
	*slot_ret = ((vaddr + at) & ~(uint64_t)0xfff) + (pages << 12) + (load >> 10 & 0xfff) * 8;
	return true;
}

/* auipc t3, HIGH; ld t3, LOW(t3) */
static bool decode_riscv(const uint8_t *bytes, size_t size, uint64_t vaddr, uint64_t got,
			 uint64_t *slot_ret)
{
	(void)got;
	if (size < 8)
		return false;
	uint32_t auipc = read_u32(bytes), load = read_u32(bytes + 4);
	if ((auipc & 0xfff) != 0xe17 || (load & 0xfffff) != 0xe3e03)
		return false;
	*slot_ret = vaddr + (uint64_t)(int64_t)(int32_t)(auipc & 0xfffff000) +
		    (uint64_t)(int64_t)((int32_t)load >> 20);
	return true;
}

static const struct machine_plt machines[] = {
	{EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, 8, 16,
	 decode_x86_64},
	{EM_386, R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_IRELATIVE, 8, 16, decode_i386},
	{EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE, 4, 16,
	 decode_aarch64},
	{EM_RISCV, R_RISCV_JUMP_SLOT, R_RISCV_64, R_RISCV_IRELATIVE, 4, 16, decode_riscv},
};

static const struct machine_plt *machine_of(const struct image *image)
{
	for (size_t i = 0; i < count_of(machines); i++)
		if (machines[i].machine == image->machine)
			return &machines[i];
	return NULL;
}

/* Symbol table (with its strings) that a relocation section refers to. */
struct relocation_names {
	Elf_Data *symbols, *strings;
};

static struct relocation_names find_names(const struct image *image, size_t section)
{
	GElf_Shdr header;
	Elf_Scn *symbols = section ? elf_getscn(image->elf, section) : NULL;
	if (!symbols || !gelf_getshdr(symbols, &header))
		return (struct relocation_names){0};
	return (struct relocation_names){
		.symbols = image_section_data(symbols),
		.strings = image_section_data(elf_getscn(image->elf, header.sh_link)),
	};
}

static const char *name_at(const struct relocation_names *names, uint64_t index)
{
	GElf_Sym symbol;
	if (!names->symbols || !names->strings || index > INT32_MAX ||
	    !gelf_getsym(names->symbols, index, &symbol) ||
	    symbol.st_name >= names->strings->d_size)
		return NULL;
	const char *name = (const char *)names->strings->d_buf + symbol.st_name;
	size_t left = names->strings->d_size - symbol.st_name;
	return *name && strnlen(name, left) < left ? name : NULL;
}

/* A relocation of ELF32 or ELF64, from SHT_REL or SHT_RELA. */
struct plt_relocation {
	uint64_t vaddr, addend;
	uint32_t type, symbol;
};

static bool read_relocation(struct cursor *cursor, bool is_64bit, bool has_addend,
			    struct plt_relocation *ret)
{
	size_t word = is_64bit ? 8 : 4;
	uint64_t info;
	ret->addend = 0;
	if (!cursor_word(cursor, word, &ret->vaddr) || !cursor_word(cursor, word, &info) ||
	    (has_addend && !cursor_word(cursor, word, &ret->addend)))
		return false;
	ret->type = is_64bit ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info);
	ret->symbol = is_64bit ? ELF64_R_SYM(info) : ELF32_R_SYM(info);
	return true;
}

/* Adds the relocations that fill PLT slots. Most of a large table does not, and is skipped early. */
static bool read_relocations(const struct image *image, const struct machine_plt *machine,
			     struct cursor *cursor, const GElf_Shdr *header, struct slots *ret)
{
	bool has_addend = header->sh_type == SHT_RELA;
	struct relocation_names names = find_names(image, header->sh_link);
	struct plt_relocation entry;
	while (read_relocation(cursor, image->is_64bit, has_addend, &entry)) {
		bool indirect = entry.type == machine->irelative;
		if (entry.type != machine->jump_slot && entry.type != machine->glob_dat &&
		    !indirect)
			continue;
		const char *name = indirect ? NULL : name_at(&names, entry.symbol);
		if (!name && !indirect)
			continue;
		if (!vec_append(ret, (struct got_slot){.vaddr = entry.vaddr,
						       .name = name,
						       .target = entry.addend}))
			return false;
	}
	return true;
}

static struct sp_error *read_section(const struct image *image, const struct machine_plt *machine,
				     Elf_Scn *section, const GElf_Shdr *header, struct slots *ret)
{
	CLEANUP(image_bytes_release) struct image_bytes bytes = {0};
	struct sp_error *error = image_section_bytes(image, section, &bytes);
	if (error)
		return error_if_no_memory(error);
	struct cursor cursor =
		cursor_make(bytes.bytes, bytes.size, image->swap, image->path, header->sh_offset);
	return read_relocations(image, machine, &cursor, header, ret) ? NULL : error_no_memory();
}

DEFINE_ORDER(compare_slots, struct got_slot, vaddr)

static bool has_section(const struct image *image, const char *name)
{
	GElf_Shdr header;
	return image_section(image, name, &header) != NULL;
}

/*
 * Whether .rela.dyn must be read, too: .plt.got and .iplt use slots outside .got.plt, and the
 * relocations of these are there. It may be large.
 */
static bool needs_dynamic(const struct image *image)
{
	return has_section(image, ".plt.got") || has_section(image, ".iplt");
}

static struct sp_error *read_slots(const struct image *image, const struct machine_plt *machine,
				   struct slots *ret)
{
	bool dynamic = needs_dynamic(image);
	size_t names = 0;
	elf_getshdrstrndx(image->elf, &names);
	Elf_Scn *section = NULL;
	struct sp_error *error = NULL;
	while (!error && (section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
		    (header.sh_type != SHT_RELA && header.sh_type != SHT_REL))
			continue;
		const char *name = elf_strptr(image->elf, names, header.sh_name);
		if (dynamic || !name || !strstr(name, ".dyn"))
			error = read_section(image, machine, section, &header, ret);
	}
	if (!error)
		vec_sort(ret, compare_slots);
	return error;
}

/* State of the walk through one PLT section. */
struct plt_walk {
	const struct image *image;
	const struct machine_plt *machine;
	const struct slots *slots;
	plt_name_fn *name_of;
	void *arg;
	struct arena *arena;
	struct elf_symbols *ret;
	GElf_Shdr section;
	const uint8_t *bytes;
	uint64_t got; /* value of %ebx on i386 */
};

static struct sp_error *add(struct plt_walk *walk, size_t at, size_t size, const char *name)
{
	struct elf_symbol *symbol = vec_push(walk->ret);
	NEED(symbol && name);
	*symbol = (struct elf_symbol){
		.vaddr = walk->section.sh_addr + at,
		.size = size,
		.name = name,
		.binding = STB_GLOBAL,
		.type = STT_FUNC,
	};
	return NULL;
}

static struct sp_error *add_entry(struct plt_walk *walk, size_t at, size_t size,
				  const struct got_slot *slot)
{
	const char *name = slot->name ?: walk->name_of(walk->arg, slot->target);
	char unknown[48];
	if (!name) {
		snprintf(unknown, sizeof(unknown), "offset_0x%llx",
			 (unsigned long long)(walk->section.sh_offset + at));
		name = unknown;
	}
	size_t length = strlen(name);
	char *whole = arena_alloc(walk->arena, length + sizeof("@plt"));
	NEED(whole);
	memcpy(whole, name, length);
	strcpy(whole + length, "@plt");
	return add(walk, at, size, whole);
}

static const struct got_slot *slot_of(const struct plt_walk *walk, size_t at)
{
	struct got_slot key;
	if (!walk->machine->decode(walk->bytes + at, walk->section.sh_size - at,
				   walk->section.sh_addr + at, walk->got, &key.vaddr))
		return NULL;
	return bsearch(&key, walk->slots->items, walk->slots->count, sizeof(key), compare_slots);
}

/* Distance to the next PLT entry: the section's entry size, unless another entry begins earlier. */
static size_t entry_size(const struct plt_walk *walk, size_t at, const struct got_slot *slot)
{
	size_t size = walk->section.sh_entsize, step = walk->machine->step;
	size_t left = walk->section.sh_size - at;
	if (size < 8 || size > 64)
		size = walk->machine->entry_size;
	for (size_t next = step; next < size && next < left; next += step) {
		const struct got_slot *other = slot_of(walk, at + next);
		if (other && other != slot)
			return next;
	}
	return size < left ? size : left;
}

static struct sp_error *walk_section(struct plt_walk *walk)
{
	size_t size = walk->section.sh_size;
	struct sp_error *error = NULL;
	size_t shared = 0; /* begin of the code since the last entry, such as the lazy binding stub */
	for (size_t at = 0; !error && at < size;) {
		const struct got_slot *slot = slot_of(walk, at);
		if (!slot) {
			at += walk->machine->step;
			continue;
		}
		if (at > shared)
			error = add(walk, shared, at - shared, ".plt");
		size_t length = entry_size(walk, at, slot);
		if (!error)
			error = add_entry(walk, at, length, slot);
		at = shared = at + length;
	}
	if (!error && shared < size)
		error = add(walk, shared, size - shared, ".plt");
	return error;
}

static bool is_plt(const char *name)
{
	return name &&
	       (!strcmp(name, ".plt") || !strcmp(name, ".plt.sec") || !strcmp(name, ".plt.got") ||
		!strcmp(name, ".iplt") || !strcmp(name, ".plt.bnd"));
}

static struct sp_error *walk_sections(struct plt_walk *walk)
{
	size_t names = 0;
	elf_getshdrstrndx(walk->image->elf, &names);
	Elf_Scn *section = NULL;
	struct sp_error *error = NULL;
	while (!error && (section = elf_nextscn(walk->image->elf, section))) {
		if (!gelf_getshdr(section, &walk->section) ||
		    !is_plt(elf_strptr(walk->image->elf, names, walk->section.sh_name)))
			continue;
		Elf_Data *data = image_section_data(section);
		if (!data || data->d_size < walk->section.sh_size)
			continue;
		walk->bytes = data->d_buf;
		error = walk_section(walk);
	}
	return error;
}

struct sp_error *plt_read(const struct image *image, plt_name_fn *name_of, void *arg,
			  struct arena *arena, struct elf_symbols *ret)
{
	const struct machine_plt *machine = machine_of(image);
	GElf_Shdr header;
	if (!machine || (!has_section(image, ".plt") && !needs_dynamic(image)))
		return NULL;
	struct slots slots = {0};
	struct sp_error *error = read_slots(image, machine, &slots);
	CLEANUP_FREE struct got_slot *items = slots.items;
	if (error || !items)
		return error;
	struct plt_walk walk = {
		.image = image,
		.machine = machine,
		.slots = &slots,
		.name_of = name_of,
		.arg = arg,
		.arena = arena,
		.ret = ret,
	};
	if (image_section(image, ".got.plt", &header) || image_section(image, ".got", &header))
		walk.got = header.sh_addr;
	return walk_sections(&walk);
}
