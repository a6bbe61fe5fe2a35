/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/symtab.h"

#include <string.h>

/* Facts of a section, read once, that decide which of its symbols are used. */
struct section_facts {
	uint64_t start, end;
	bool loaded;       /* SHF_ALLOC */
	bool takes_labels; /* its name contains "text" or "data": labels in it are symbols */
};

static Elf_Scn *find_table(const struct image *image, enum symtab_kind kind, GElf_Shdr *header_ret)
{
	Elf_Scn *section = NULL;
	uint32_t type = kind == SYMTAB_FULL ? SHT_SYMTAB : SHT_DYNSYM;
	while ((section = elf_nextscn(image->elf, section)))
		if (gelf_getshdr(section, header_ret) && header_ret->sh_type == type)
			return section;
	return NULL;
}

bool symtab_exists(const struct image *image)
{
	GElf_Shdr header;
	return find_table(image, SYMTAB_FULL, &header) && header.sh_size > header.sh_entsize;
}

uint64_t symtab_bytes(const struct image *image)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t most = 0;
	while ((section = elf_nextscn(image->elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM &&
		     header.sh_type != SHT_STRTAB))
			continue;
		uint64_t size = header.sh_flags & SHF_COMPRESSED ? UINT64_MAX : header.sh_size;
		most = size > most ? size : most;
	}
	return most;
}

static bool is_text_or_data(const char *name)
{
	return name && (strstr(name, "text") || strstr(name, "data"));
}

static struct sp_error *read_sections(const struct image *image, struct symtab *ret)
{
	size_t names = 0, count = 0;
	elf_getshdrstrndx(image->elf, &names);
	elf_getshdrnum(image->elf, &count);
	/* st_shndx has 16 bits. Higher indexes need SHT_SYMTAB_SHNDX, which no linked file has. */
	if (count > SHN_LORESERVE)
		count = SHN_LORESERVE;
	ret->sections = calloc(count ?: 1, sizeof(*ret->sections));
	NEED(ret->sections);
	ret->section_count = count;
	for (size_t i = 0; i < count; i++) {
		GElf_Shdr header;
		if (!gelf_getshdr(elf_getscn(image->elf, i), &header))
			continue;
		ret->sections[i].start = header.sh_addr;
		if (__builtin_add_overflow(header.sh_addr, header.sh_size, &ret->sections[i].end))
			ret->sections[i].end = UINT64_MAX;
		ret->sections[i].loaded = header.sh_flags & SHF_ALLOC;
		ret->sections[i].takes_labels =
			is_text_or_data(elf_strptr(image->elf, names, header.sh_name));
	}
	return NULL;
}

/* Reads the table's string section, which must end in a NUL so that every name ends. */
static struct sp_error *read_strings(const struct image *image, const GElf_Shdr *header,
				     struct symtab *ret)
{
	struct sp_error *error =
		image_section_bytes(image, elf_getscn(image->elf, header->sh_link), &ret->strings);
	if (!error && ret->strings.bytes[ret->strings.size - 1] != '\0')
		error = error_format(image->path, header->sh_offset,
				     "the symbol table's strings do not end");
	return error;
}

struct sp_error *symtab_open(const struct image *image, const struct image *runtime,
			     enum symtab_kind kind, struct symtab *ret)
{
	GElf_Shdr header;
	Elf_Scn *section = find_table(image, kind, &header);
	struct symtab symtab = {.image = image};
	struct sp_error *error = NULL;
	if (section) {
		error = image_section_bytes(image, section, &symtab.symbols);
		if (!error)
			error = read_strings(image, &header, &symtab);
		if (!error)
			error = read_sections(runtime, &symtab);
	}
	if (error) {
		symtab_close(&symtab, NULL);
		return error;
	}
	if (section)
		symtab.cursor = cursor_make(symtab.symbols.bytes, symtab.symbols.size, image->swap,
					    image->path, header.sh_offset);
	*ret = symtab;
	return NULL;
}

void symtab_close(struct symtab *symtab, struct image_bytes *strings_ret)
{
	image_bytes_release(&symtab->symbols);
	free(symtab->sections);
	if (strings_ret)
		*strings_ret = symtab->strings;
	else
		image_bytes_release(&symtab->strings);
	*symtab = (struct symtab){0};
}

/* A symbol table entry of ELF32 or ELF64. */
struct symtab_entry {
	uint32_t name;
	uint8_t info, other;
	uint16_t section;
	uint64_t value, size;
};

static bool read_entry64(struct cursor *cursor, struct symtab_entry *ret)
{
	return cursor_u32(cursor, &ret->name) && cursor_u8(cursor, &ret->info) &&
	       cursor_u8(cursor, &ret->other) && cursor_u16(cursor, &ret->section) &&
	       cursor_u64(cursor, &ret->value) && cursor_u64(cursor, &ret->size);
}

static bool read_entry32(struct cursor *cursor, struct symtab_entry *ret)
{
	uint32_t value, size;
	if (!cursor_u32(cursor, &ret->name) || !cursor_u32(cursor, &value) ||
	    !cursor_u32(cursor, &size) || !cursor_u8(cursor, &ret->info) ||
	    !cursor_u8(cursor, &ret->other) || !cursor_u16(cursor, &ret->section))
		return false;
	ret->value = value;
	ret->size = size;
	return true;
}

static bool is_function_or_object(const struct symtab_entry *entry)
{
	int type = GELF_ST_TYPE(entry->info);
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT;
}

/* "$x", "$d.12" mark where code and data begin on ARM and RISC-V; they name nothing. */
static bool is_mapping_symbol(uint16_t machine, const char *name)
{
	if (name[0] != '$' || !name[1])
		return false;
	if (machine == EM_ARM || machine == EM_AARCH64)
		return strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
	return machine == EM_RISCV && strchr("dx", name[1]);
}

static bool names_a_place(const struct symtab *symtab, const struct symtab_entry *entry)
{
	int visibility = GELF_ST_VISIBILITY(entry->other);
	bool label = GELF_ST_TYPE(entry->info) == STT_NOTYPE && visibility != STV_HIDDEN &&
	       visibility != STV_INTERNAL;
	if ((!label && !is_function_or_object(entry)) || entry->name == 0 ||
	    entry->section == SHN_UNDEF || entry->section >= symtab->section_count ||
	    entry->name >= symtab->strings.size)
		return false;
	const struct section_facts *section = &symtab->sections[entry->section];
	return section->loaded && (!label || section->takes_labels);
}

static const char *name_of(const struct symtab *symtab, const struct symtab_entry *entry)
{
	return (const char *)symtab->strings.bytes + entry->name;
}

/* Keeps the name of a symbol that states the source file of the local symbols after it. */
static void set_object(struct symtab *symtab, const struct symtab_entry *entry)
{
	if (GELF_ST_TYPE(entry->info) != STT_FILE || entry->name >= symtab->strings.size)
		return;
	const char *name = name_of(symtab, entry);
	/* Go's linker puts all functions into a "go.go". */
	symtab->object = *name && strcmp(name, "go.go") ? name : NULL;
}

bool symtab_next(struct symtab *symtab, struct elf_symbol *ret)
{
	bool is_64bit = symtab->image->is_64bit;
	uint16_t machine = symtab->image->machine;
	bool marks = machine == EM_ARM || machine == EM_AARCH64 || machine == EM_RISCV;
	struct symtab_entry entry;
	do {
		if (!(is_64bit ? read_entry64 : read_entry32)(&symtab->cursor, &entry))
			return false;
		set_object(symtab, &entry);
	} while (!names_a_place(symtab, &entry) ||
		 (marks && is_mapping_symbol(machine, name_of(symtab, &entry))));
	const struct section_facts *section = &symtab->sections[entry.section];
	bool inside = entry.value >= section->start && entry.value <= section->end;
	*ret = (struct elf_symbol){
		.vaddr = entry.value,
		.size = entry.size,
		.section_end = inside ? section->end : UINT64_MAX,
		.name = name_of(symtab, &entry),
		.object = GELF_ST_BIND(entry.info) == STB_LOCAL ? symtab->object : NULL,
		.section = entry.section,
		.binding = GELF_ST_BIND(entry.info),
		.type = GELF_ST_TYPE(entry.info),
	};
	/* The lowest bit of a Thumb function is a flag. */
	if (machine == EM_ARM && ret->type == STT_FUNC)
		ret->vaddr &= ~(uint64_t)1;
	return true;
}

bool symtab_find(const struct symtab *symtab, const char *name, uint64_t *ret)
{
	struct cursor cursor = symtab->cursor;
	struct symtab_entry entry;
	while ((symtab->image->is_64bit ? read_entry64 : read_entry32)(&cursor, &entry)) {
		if (entry.section == SHN_UNDEF || entry.name >= symtab->strings.size ||
		    strcmp(name_of(symtab, &entry), name) != 0)
			continue;
		*ret = entry.value;
		return true;
	}
	return false;
}
