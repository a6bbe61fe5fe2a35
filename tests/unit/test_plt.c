/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PLT entries of machines that this one is not: instructions as their linkers write
 * them, in a file made for the case.
 */
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include "elf/plt.h"
#include "files.h"

struct file {
	uint16_t machine;
	int class;
	uint32_t type;         /* type of both relocations */
	const uint8_t *code;
	size_t size, entry_size;
	uint64_t vaddr, slots[2], got;
};

static const char names[] = "\0puts\0exit";
static const char sections[] = "\0.dynsym\0.dynstr\0.rela.plt\0.plt\0.got.plt\0.shstrtab";

static Elf_Scn *add_section(Elf *elf, const char *name, GElf_Shdr header, void *bytes, size_t size,
			    Elf_Type type)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = elf_newdata(section);
	data->d_buf = bytes;
	data->d_size = size;
	data->d_type = type;
	data->d_align = 8;
	/* The name's place in the string of all of them. */
	const char *at = sections + 1;
	while (strcmp(at, name))
		at += strlen(at) + 1;
	header.sh_name = (GElf_Word)(at - sections);
	header.sh_flags |= SHF_ALLOC;
	ck_assert(gelf_update_shdr(section, &header));
	return section;
}

static void add_symbols(Elf *elf)
{
	static Elf64_Sym bytes[3];
	size_t size = gelf_fsize(elf, ELF_T_SYM, 3, EV_CURRENT);
	Elf_Scn *section = add_section(elf, ".dynsym",
				       (GElf_Shdr){.sh_type = SHT_DYNSYM, .sh_link = 2,
						   .sh_entsize = size / 3},
				       bytes, size, ELF_T_SYM);
	Elf_Data *data = elf_getdata(section, NULL);
	for (int i = 1; i < 3; i++) {
		GElf_Sym symbol = {.st_name = i == 1 ? 1 : 6,
				   .st_info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC)};
		ck_assert(gelf_update_sym(data, i, &symbol));
	}
}

static void add_relocations(Elf *elf, const struct file *file)
{
	static Elf64_Rela bytes[2];
	bool has_addend = file->machine != EM_386;
	size_t size = gelf_fsize(elf, has_addend ? ELF_T_RELA : ELF_T_REL, 2, EV_CURRENT);
	Elf_Scn *section = add_section(elf, ".rela.plt",
				       (GElf_Shdr){.sh_type = has_addend ? SHT_RELA : SHT_REL,
						   .sh_link = 1, .sh_entsize = size / 2},
				       bytes, size, has_addend ? ELF_T_RELA : ELF_T_REL);
	Elf_Data *data = elf_getdata(section, NULL);
	for (int i = 0; i < 2; i++) {
		/* The second slot first: order is not what counts. */
		GElf_Xword info = GELF_R_INFO((GElf_Xword)(2 - i), file->type);
		if (has_addend) {
			GElf_Rela rela = {.r_offset = file->slots[1 - i], .r_info = info};
			ck_assert(gelf_update_rela(data, i, &rela));
		} else {
			GElf_Rel rel = {.r_offset = file->slots[1 - i], .r_info = info};
			ck_assert(gelf_update_rel(data, i, &rel));
		}
	}
}

static struct image *make(const struct file *file)
{
	static uint64_t slots[2];
	elf_version(EV_CURRENT);
	int fd = open(files_path("plt"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
	ck_assert(elf && gelf_newehdr(elf, file->class));
	GElf_Ehdr header;
	gelf_getehdr(elf, &header);
	header.e_machine = file->machine;
	header.e_type = ET_DYN;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_version = EV_CURRENT;
	header.e_shstrndx = 6;
	ck_assert(gelf_update_ehdr(elf, &header));
	add_symbols(elf);
	add_section(elf, ".dynstr", (GElf_Shdr){.sh_type = SHT_STRTAB}, (void *)(uintptr_t)names,
		    sizeof(names), ELF_T_BYTE);
	add_relocations(elf, file);
	add_section(elf, ".plt",
		    (GElf_Shdr){.sh_type = SHT_PROGBITS, .sh_flags = SHF_EXECINSTR,
				.sh_addr = file->vaddr, .sh_entsize = file->entry_size},
		    (void *)(uintptr_t)file->code, file->size, ELF_T_BYTE);
	add_section(elf, ".got.plt", (GElf_Shdr){.sh_type = SHT_PROGBITS, .sh_addr = file->got},
		    slots, sizeof(slots), ELF_T_BYTE);
	add_section(elf, ".shstrtab", (GElf_Shdr){.sh_type = SHT_STRTAB}, (void *)(uintptr_t)sections,
		    sizeof(sections), ELF_T_BYTE);
	ck_assert_msg(elf_update(elf, ELF_C_WRITE) > 0, "%s", elf_errmsg(-1));
	elf_end(elf);
	close(fd);
	struct image *image;
	ok_or_fail(image_open(files_path("plt"), &image));
	return image;
}

static const char *no_name(void *arg, uint64_t vaddr)
{
	(void)arg, (void)vaddr;
	return NULL;
}

/* Expects the table's names: ".plt 20 puts@plt 10 …", sizes in hexadecimal. */
static void expect(const struct file *file, const char *expected)
{
	struct image *image = make(file);
	struct elf_symbols symbols = {0};
	struct arena arena = {0};
	char text[256] = "";
	uint64_t vaddr = file->vaddr;
	ok_or_fail(plt_read(image, no_name, NULL, &arena, &symbols));
	for (size_t i = 0; i < symbols.count; i++) {
		const struct elf_symbol *symbol = &symbols.items[i];
		ck_assert_uint_eq(symbol->vaddr, vaddr);
		vaddr += symbol->size;
		sprintf(text + strlen(text), "%s%s %x", i ? " " : "", symbol->name,
			(unsigned int)symbol->size);
	}
	ck_assert_str_eq(text, expected);
	vec_deinit(&symbols);
	arena_deinit(&arena);
	image_free(image);
}

TEST(plt_of_arm64)
{
	static const uint8_t code[] = {
		0xf0, 0x7b, 0xbf, 0xa9, 0x90, 0x00, 0x00, 0x90, /* stp x16, x30; adrp x16 */
		0x11, 0xc6, 0x47, 0xf9, 0x10, 0x32, 0x3e, 0x91, /* ldr x17; add x16 */
		0x20, 0x02, 0x1f, 0xd6, 0x1f, 0x20, 0x03, 0xd5, /* br x17; nop */
		0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5, /* nop; nop */
		0x90, 0x00, 0x00, 0x90, 0x11, 0xca, 0x47, 0xf9, /* adrp x16; ldr x17, [x16, 0xf90] */
		0x10, 0x42, 0x3e, 0x91, 0x20, 0x02, 0x1f, 0xd6, /* add x16; br x17 */
		0x90, 0x00, 0x00, 0x90, 0x11, 0xce, 0x47, 0xf9, /* adrp x16; ldr x17, [x16, 0xf98] */
		0x10, 0x62, 0x3e, 0x91, 0x20, 0x02, 0x1f, 0xd6, /* add x16; br x17 */
	};
	const struct file file = {
		.machine = EM_AARCH64, .class = ELFCLASS64, .type = R_AARCH64_JUMP_SLOT,
		.code = code, .size = sizeof(code), .entry_size = 16, .vaddr = 0x630,
		.slots = {0x10f90, 0x10f98},
	};
	expect(&file, ".plt 20 puts@plt 10 exit@plt 10");
}

TEST(plt_of_arm64_with_branch_targets)
{
	static const uint8_t code[] = {
		0x5f, 0x24, 0x03, 0xd5, 0xf0, 0xff, 0xff, 0xf0, /* bti c; adrp x16, one page back */
		0x11, 0x0a, 0x40, 0xf9, 0x10, 0x42, 0x00, 0x91, /* ldr x17, [x16, 0x10]; add */
		0x20, 0x02, 0x1f, 0xd6, 0x1f, 0x20, 0x03, 0xd5, /* br x17; nop */
		0x5f, 0x24, 0x03, 0xd5, 0xf0, 0xff, 0xff, 0xf0, /* bti c; adrp */
		0x11, 0x0e, 0x40, 0xf9, 0x10, 0x62, 0x00, 0x91, /* ldr x17, [x16, 0x18]; add */
		0x20, 0x02, 0x1f, 0xd6, 0x1f, 0x20, 0x03, 0xd5, /* br x17; nop */
	};
	const struct file file = {
		.machine = EM_AARCH64, .class = ELFCLASS64, .type = R_AARCH64_JUMP_SLOT,
		.code = code, .size = sizeof(code), .entry_size = 24, .vaddr = 0x20100,
		.slots = {0x1f010, 0x1f018},
	};
	expect(&file, "puts@plt 18 exit@plt 18");
}

TEST(plt_of_riscv)
{
	static const uint8_t code[] = {
		0x17, 0x2e, 0x00, 0x00, 0x03, 0x3e, 0x8e, 0xcb, /* auipc t3, 2; ld t3, -840(t3) */
		0x67, 0x03, 0x0e, 0x00, 0x13, 0x00, 0x00, 0x00, /* jalr t1, t3; nop */
		0x17, 0x2e, 0x00, 0x00, 0x03, 0x3e, 0x0e, 0xcb, /* auipc t3, 2; ld t3, -848(t3) */
		0x67, 0x03, 0x0e, 0x00, 0x13, 0x00, 0x00, 0x00, /* jalr t1, t3; nop */
	};
	const struct file file = {
		.machine = EM_RISCV, .class = ELFCLASS64, .type = R_RISCV_JUMP_SLOT,
		.code = code, .size = sizeof(code), .entry_size = 16, .vaddr = 0x10350,
		.slots = {0x12008, 0x12010},
	};
	expect(&file, "puts@plt 10 exit@plt 10");
}

TEST(plt_of_i386)
{
	static const uint8_t code[] = {
		0xff, 0x35, 0x04, 0xa0, 0x04, 0x08, 0xff, 0x25, /* push; jmp *0x804a008 */
		0x08, 0xa0, 0x04, 0x08, 0x00, 0x00, 0x00, 0x00,
		0xff, 0x25, 0x0c, 0xa0, 0x04, 0x08, 0x68, 0x00, /* jmp *0x804a00c; push 0 */
		0x00, 0x00, 0x00, 0xe9, 0xe0, 0xff, 0xff, 0xff,
		0xff, 0xa3, 0x10, 0x00, 0x00, 0x00, 0x68, 0x08, /* jmp *0x10(%ebx); push 8 */
		0x00, 0x00, 0x00, 0xe9, 0xd0, 0xff, 0xff, 0xff,
	};
	const struct file file = {
		.machine = EM_386, .class = ELFCLASS32, .type = R_386_JMP_SLOT, .code = code,
		.size = sizeof(code), .entry_size = 4, .vaddr = 0x8048300, .got = 0x804a000,
		.slots = {0x804a00c, 0x804a010},
	};
	expect(&file, ".plt 10 puts@plt 10 exit@plt 10");
}

TEST(plt_of_an_unknown_machine)
{
	static const uint8_t code[32];
	const struct file file = {
		.machine = EM_S390, .class = ELFCLASS64, .type = R_390_JMP_SLOT, .code = code,
		.size = sizeof(code), .entry_size = 32, .vaddr = 0x1000,
		.slots = {0x2000, 0x2008},
	};
	expect(&file, "");
}
