/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/symtab.h"

#include <string.h>

/* What of a section matters for the symbols in it; read once, not for each symbol. */
struct section_facts {
	bool loaded;      /* SHF_ALLOC */
	bool takes_labels; /* text and data, by their names */
};

struct sections {
	VEC(struct section_facts);
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

bool symtab_exists(const struct image *image, enum symtab_kind kind)
{
	GElf_Shdr header;
	return find_table(image, kind, &header) && header.sh_size > header.sh_entsize;
}

static bool is_text_or_data(const char *name)
{
	return name && (strstr(name, "text") || strstr(name, "data"));
}

static struct sp_error *read_sections(const struct image *image, struct sections *ret)
{
	size_t names = 0, count = 0;
	elf_getshdrstrndx(image->elf, &names);
	elf_getshdrnum(image->elf, &count);
	/* st_shndx has 16 bits; what lies beyond needs SHT_SYMTAB_SHNDX, which no binary has. */
	for (size_t i = 0; i < count && i < SHN_LORESERVE; i++) {
		struct section_facts *facts = vec_push(ret);
		if (!facts)
			return error_no_memory();
		*facts = (struct section_facts){0};
		GElf_Shdr header;
		if (!gelf_getshdr(elf_getscn(image->elf, i), &header))
			continue;
		facts->loaded = header.sh_flags & SHF_ALLOC;
		facts->takes_labels = is_text_or_data(elf_strptr(image->elf, names, header.sh_name));
	}
	return NULL;
}

static bool is_function_or_object(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT;
}

static bool is_label(const GElf_Sym *symbol)
{
	int visibility = GELF_ST_VISIBILITY(symbol->st_other);
	return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE && visibility != STV_HIDDEN &&
	       visibility != STV_INTERNAL;
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

/* Whether it names a place; *name_ret with it. */
static bool accept(const struct image *image, const struct sections *sections,
		   const Elf_Data *strings, const GElf_Sym *symbol, const char **name_ret)
{
	bool label = is_label(symbol);
	if ((!label && !is_function_or_object(symbol)) || symbol->st_name == 0 ||
	    symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= sections->count ||
	    symbol->st_name >= strings->d_size)
		return false;
	const struct section_facts *section = &sections->items[symbol->st_shndx];
	if (!section->loaded || (label && !section->takes_labels))
		return false;
	const char *name = (const char *)strings->d_buf + symbol->st_name;
	if (!*name || is_mapping_symbol(image->machine, name))
		return false;
	*name_ret = name;
	return true;
}

/* The table's string section, which must end in a NUL, so that every name in it ends. */
static Elf_Data *string_data(const struct image *image, const GElf_Shdr *header)
{
	Elf_Data *strings = image_section_data(elf_getscn(image->elf, header->sh_link));
	if (!strings || ((const char *)strings->d_buf)[strings->d_size - 1] != '\0')
		return NULL;
	return strings;
}

struct sp_error *symtab_read(const struct image *image, const struct image *runtime,
			     enum symtab_kind kind, struct elf_symbols *ret)
{
	GElf_Shdr header;
	Elf_Scn *section = find_table(image, kind, &header);
	if (!section)
		return NULL;
	Elf_Data *symbols = image_section_data(section);
	Elf_Data *strings = symbols ? string_data(image, &header) : NULL;
	if (!symbols || !strings)
		return error_format(image->path, header.sh_offset,
				    "the symbol table or its strings cannot be read");
	CLEANUP_FREE struct section_facts *items = NULL;
	struct sections sections = {0};
	struct sp_error *error = read_sections(runtime, &sections);
	items = sections.items;
	if (error)
		return error;
	size_t entry = gelf_fsize(image->elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t count = entry ? header.sh_size / entry : 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;
		const char *name;
		if (!gelf_getsym(symbols, (int)i, &symbol))
			break;
		if (!accept(image, &sections, strings, &symbol, &name))
			continue;
		struct elf_symbol *added = vec_push(ret);
		if (!added)
			return error_no_memory();
		*added = (struct elf_symbol){
			.vaddr = symbol.st_value, .size = symbol.st_size, .name = name,
			.binding = GELF_ST_BIND(symbol.st_info),
			.type = GELF_ST_TYPE(symbol.st_info),
		};
		/* The lowest bit of a Thumb function is a flag. */
		if (image->machine == EM_ARM && added->type == STT_FUNC)
			added->vaddr &= ~(uint64_t)1;
	}
	return NULL;
}
