/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostile KIND FILE [COUNT]: writes a file that costs its reader as much as possible.
 *
 *	zeros     .debug_info of COUNT MiB of zeros, which are units of length 0, packed by zstd
 *	units     COUNT units of debug information that all use one line table of COUNT files
 *	info, symtab, strings, names
 *	          a hole of COUNT MiB as .debug_info, .symtab, its strings, or the section names
 *	headers   a hole of COUNT MiB as the table of section headers
 *	relocations, notes
 *	          COUNT sections that share the same megabyte
 *	debuglink a link to the debug file "hole", which `hole` writes: COUNT MiB
 *	code      nothing more
 *	symbol    all code is a function of the name COUNT
 *	perfmap   COUNT lines of a perf map, as short as they can be
 *
 * Every ELF file has code at 0x1000 of the file, which is at 0x401000.
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE_OFFSET 0x1000
#define CODE_ADDRESS 0x401000
#define CODE_SIZE 0x1000
#define MIB ((uint64_t)1 << 20)
#define SECTIONS_MAX 5000
#define NAMES_SIZE 4096

#if defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

struct made {
	FILE *out;
	Elf64_Shdr sections[SECTIONS_MAX];
	size_t count;
	char names[NAMES_SIZE];
	uint32_t names_size;
};

static void die(const char *why)
{
	perror(why);
	exit(1);
}

static void put(struct made *made, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, made->out) != size)
		die("write");
}

static void put_number(struct made *made, uint64_t number, size_t size)
{
	uint8_t bytes[8];
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
	put(made, bytes, size);
}

static uint64_t here(const struct made *made)
{
	return (uint64_t)ftello(made->out);
}

/* The section begins here; its size is what is written until the next begins, or set by hand. */
static Elf64_Shdr *begin(struct made *made, const char *name, uint32_t type)
{
	Elf64_Shdr *section = &made->sections[made->count++];
	*section = (Elf64_Shdr){.sh_name = made->names_size, .sh_type = type, .sh_addralign = 1,
				.sh_offset = here(made)};
	strcpy(made->names + made->names_size, name);
	made->names_size += (uint32_t)strlen(name) + 1;
	return section;
}

static void end(struct made *made, Elf64_Shdr *section)
{
	section->sh_size = here(made) - section->sh_offset;
}

static Elf64_Shdr *add(struct made *made, const char *name, uint32_t type, const void *bytes,
		       size_t size)
{
	Elf64_Shdr *section = begin(made, name, type);
	put(made, bytes, size);
	end(made, section);
	return section;
}

static void seek(struct made *made, uint64_t offset, int whence)
{
	if (fseeko(made->out, (off_t)offset, whence))
		die("seek");
}

/* Bytes that take no room on the disk. */
static void skip(struct made *made, uint64_t size)
{
	seek(made, size, SEEK_CUR);
}

static void begin_file(struct made *made)
{
	static const uint8_t code[CODE_SIZE];
	seek(made, CODE_OFFSET, SEEK_SET);
	begin(made, "", SHT_NULL)->sh_offset = 0;
	Elf64_Shdr *text = add(made, ".text", SHT_PROGBITS, code, sizeof(code));
	text->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	text->sh_addr = CODE_ADDRESS;
}

/* `hole` bytes follow the sections' names. */
static void end_file(struct made *made, uint64_t hole)
{
	Elf64_Shdr *names = begin(made, ".shstrtab", SHT_STRTAB);
	put(made, made->names, made->names_size);
	skip(made, hole);
	put_number(made, 0, 1);
	end(made, names);
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC, .e_machine = MACHINE, .e_version = EV_CURRENT,
		.e_entry = CODE_ADDRESS, .e_phoff = sizeof(header), .e_shoff = here(made),
		.e_ehsize = sizeof(header), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = (uint16_t)made->count,
		.e_shstrndx = (uint16_t)(names - made->sections),
	};
	const Elf64_Phdr load = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = CODE_OFFSET,
		.p_vaddr = CODE_ADDRESS, .p_filesz = CODE_SIZE, .p_memsz = CODE_SIZE,
		.p_align = 0x1000,
	};
	put(made, made->sections, made->count * sizeof(*made->sections));
	rewind(made->out);
	put(made, &header, sizeof(header));
	put(made, &load, sizeof(load));
}

/* Blocks of 4 bytes, each for 128 KiB of zeros. */
static void put_zeros(struct made *made, uint64_t count)
{
	const uint64_t block = 128 << 10, size = count * MIB;
	Elf64_Shdr *info = begin(made, ".debug_info", SHT_PROGBITS);
	info->sh_flags = SHF_COMPRESSED;
	const Elf64_Chdr packed = {.ch_type = 2 /* ELFCOMPRESS_ZSTD */, .ch_size = size,
				   .ch_addralign = 1};
	put(made, &packed, sizeof(packed));
	put_number(made, 0xfd2fb528, 4);
	put_number(made, 0xe0, 1); /* one segment, with a size of 8 bytes */
	put_number(made, size, 8);
	for (uint64_t at = 0; at < size; at += block)
		put_number(made, (at + block == size) | 1 << 1 | block << 3, 4);
	end(made, info);
	static const uint8_t abbrevs[1];
	add(made, ".debug_abbrev", SHT_PROGBITS, abbrevs, sizeof(abbrevs));
}

/* Version 4: no unit says which code is its own, so that each one's lines are asked. */
static void put_units(struct made *made, uint64_t count)
{
	static const uint8_t abbrevs[] = {1, 0x11, 0, 0x10, 0x17, 0, 0, 0}; /* stmt_list, sec_offset */
	add(made, ".debug_abbrev", SHT_PROGBITS, abbrevs, sizeof(abbrevs));
	Elf64_Shdr *section = begin(made, ".debug_info", SHT_PROGBITS);
	for (uint64_t i = 0; i < count; i++) {
		put_number(made, 12, 4);
		put_number(made, 4, 2);
		put_number(made, 0, 4); /* offset of the abbreviations */
		put_number(made, 8, 1);
		put_number(made, 1, 1);
		put_number(made, 0, 4); /* offset of the line table */
	}
	end(made, section);
	static const uint8_t lengths[12] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	const uint64_t header = 6 + sizeof(lengths) + 1 + count * 5 + 1, program = 3;
	section = begin(made, ".debug_line", SHT_PROGBITS);
	put_number(made, 2 + 4 + header + program, 4);
	put_number(made, 4, 2);
	put_number(made, header, 4);
	put_number(made, 0x0d0efb010101, 6); /* range 14, base -5 */
	put(made, lengths, sizeof(lengths));
	put_number(made, 0, 1); /* no directories */
	for (uint64_t i = 0; i < count; i++)
		put_number(made, 'a', 5);
	put_number(made, 0, 1);
	put_number(made, 0x010100, 3); /* the end of a sequence */
	end(made, section);
}

static void put_hole(struct made *made, const char *name, uint32_t type, uint64_t size)
{
	Elf64_Shdr *section = begin(made, name, type);
	skip(made, size);
	put_number(made, 0, 1);
	end(made, section);
}

static void put_symbols(struct made *made, uint64_t symbols, uint64_t strings)
{
	put_hole(made, ".symtab", SHT_SYMTAB, symbols);
	Elf64_Shdr *table = &made->sections[made->count - 1];
	table->sh_size--;
	table->sh_entsize = sizeof(Elf64_Sym);
	table->sh_link = (uint32_t)made->count;
	put_hole(made, ".strtab", SHT_STRTAB, strings);
}

static void put_symbol(struct made *made, const char *name)
{
	const Elf64_Sym symbols[] = {{0}, {
		.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1,
		.st_value = CODE_ADDRESS, .st_size = CODE_SIZE,
	}};
	Elf64_Shdr *table = add(made, ".symtab", SHT_SYMTAB, symbols, sizeof(symbols));
	table->sh_entsize = sizeof(*symbols);
	table->sh_link = (uint32_t)made->count;
	Elf64_Shdr *strings = begin(made, ".strtab", SHT_STRTAB);
	put_number(made, 0, 1);
	put(made, name, strlen(name) + 1);
	end(made, strings);
}

static void put_shared(struct made *made, const char *name, uint32_t type, uint64_t count)
{
	static uint8_t megabyte[MIB];
	Elf64_Shdr *plt = add(made, ".plt", SHT_PROGBITS, megabyte, 64);
	plt->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	/* R_X86_64_JUMP_SLOT, with symbol 0, in all relocations. */
	for (size_t i = 8; type == SHT_RELA && i < sizeof(megabyte); i += sizeof(Elf64_Rela))
		megabyte[i] = 8;
	Elf64_Shdr *section = add(made, name, type, megabyte, sizeof(megabyte));
	section->sh_flags = SHF_ALLOC;
	section->sh_entsize = type == SHT_RELA ? sizeof(Elf64_Rela) : 0;
	for (; count > 1 && made->count < SECTIONS_MAX - 1; count--)
		made->sections[made->count++] = *section;
}

/* A second table after the file; the first section's header has its count. */
static void put_headers(struct made *made, uint64_t size)
{
	Elf64_Shdr first = made->sections[0];
	first.sh_size = size / sizeof(first);
	first.sh_link = 1;
	seek(made, offsetof(Elf64_Ehdr, e_shnum), SEEK_SET);
	put_number(made, 0, 2);
	put_number(made, SHN_XINDEX, 2);
	seek(made, 0, SEEK_END);
	uint64_t at = here(made);
	seek(made, offsetof(Elf64_Ehdr, e_shoff), SEEK_SET);
	put_number(made, at, 8);
	seek(made, at, SEEK_SET);
	put(made, &first, sizeof(first));
	skip(made, size);
	put_number(made, 0, 1);
}

static void put_perfmap(struct made *made, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		fprintf(made->out, "%x 1 a\n", (unsigned int)(i % 0xfff * 16));
}

int main(int argc, char **argv)
{
	static struct made made;
	const char *kind = argc > 2 ? argv[1] : "";
	uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	made.out = argc > 2 ? fopen(argv[2], "we") : NULL;
	if (!made.out)
		die("usage: hostile KIND FILE [COUNT]");
	if (!strcmp(kind, "perfmap")) {
		put_perfmap(&made, count);
		return fclose(made.out) != 0;
	}
	begin_file(&made);
	if (!strcmp(kind, "zeros"))
		put_zeros(&made, count);
	else if (!strcmp(kind, "units"))
		put_units(&made, count);
	else if (!strcmp(kind, "info"))
		put_hole(&made, ".debug_info", SHT_PROGBITS, count * MIB);
	else if (!strcmp(kind, "symtab"))
		put_symbols(&made, count * MIB, 1);
	else if (!strcmp(kind, "strings"))
		put_symbols(&made, 24, count * MIB);
	else if (!strcmp(kind, "symbol"))
		put_symbol(&made, argc > 3 ? argv[3] : "");
	else if (!strcmp(kind, "hole"))
		put_symbols(&made, 48, 16);
	else if (!strcmp(kind, "relocations"))
		put_shared(&made, ".rela.plt", SHT_RELA, count);
	else if (!strcmp(kind, "notes"))
		put_shared(&made, ".note", SHT_NOTE, count);
	else if (!strcmp(kind, "debuglink"))
		add(&made, ".gnu_debuglink", SHT_PROGBITS, "hole\0\0\0\0\1\2\3\4", 12);
	end_file(&made, !strcmp(kind, "names") ? count * MIB : 0);
	if (!strcmp(kind, "hole")) {
		seek(&made, count * MIB, SEEK_END);
		put_number(&made, 0, 1);
	}
	if (!strcmp(kind, "headers"))
		put_headers(&made, count * MIB);
	return fclose(made.out) != 0;
}
