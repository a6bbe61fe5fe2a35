/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of call frame information, held to what libdw makes of the same files. */
#include "test.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "elf/image.h"
#include "files.h"
#include "unwind/cfi_row.h"
#include "unwind/row.h"

struct subject {
	const struct unwind_arch *arch;
	Elf *elf;
	Dwarf *dwarf; /* for .debug_frame; else NULL */
	Dwarf_CFI *oracle;
	struct image *image;
	struct image_bytes bytes, header_bytes;
	struct cfi_table table;
	size_t entries, rows, packed, expressions;
	size_t framed; /* entries, by their frame pointer in a row */
	bool by_fp;    /* the entry at hand is one */
};

static bool section_bytes(struct subject *subject, const char *name, struct image_bytes *ret,
			  struct cfi_bytes *cfi_ret)
{
	GElf_Shdr header;
	Elf_Scn *section = image_section(subject->image, name, &header);
	if (!section)
		return false;
	ok_or_fail(image_section_bytes(subject->image, section, ret));
	*cfi_ret = (struct cfi_bytes){ret->bytes, ret->size, header.sh_addr};
	return true;
}

static struct subject subject_open(const char *path, const char *arch, uint64_t abi, bool debug,
				   bool sorted)
{
	struct subject subject = {.arch = arch_find(arch, abi)};
	elf_version(EV_CURRENT);
	int fd = open(path, O_RDONLY);
	ck_assert_msg(fd >= 0, "%s", path);
	subject.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (debug)
		subject.dwarf = dwarf_begin_elf(subject.elf, DWARF_C_READ, NULL);
	subject.oracle = debug ? dwarf_getcfi(subject.dwarf) : dwarf_getcfi_elf(subject.elf);
	ck_assert_msg(subject.oracle != NULL, "%s: %s", path, dwarf_errmsg(-1));
	ok_or_fail(image_open(path, &subject.image));
	struct cfi_section section = {
		.word = subject.image->is_64bit ? 8 : 4,
		.is_debug = debug,
	};
	struct cfi_bytes header = {0};
	ck_assert(section_bytes(&subject, debug ? ".debug_frame" : ".eh_frame", &subject.bytes,
				&section.bytes));
	if (sorted)
		ck_assert(section_bytes(&subject, ".eh_frame_hdr", &subject.header_bytes, &header));
	ok_or_fail(cfi_table_init(&subject.table, &section, &header,
				  &subject.image->code));
	ck_assert_int_eq(subject.table.sorted_count > 0, sorted);
	close(fd);
	return subject;
}

static void subject_close(struct subject *subject)
{
	cfi_table_deinit(&subject->table);
	image_bytes_release(&subject->bytes);
	image_bytes_release(&subject->header_bytes);
	image_free(subject->image);
	if (!subject->dwarf)
		dwarf_cfi_end(subject->oracle);
	dwarf_end(subject->dwarf);
	elf_end(subject->elf);
}

/* libdw's operations and the bytes of ours: the same first operation, and as many. */
static void expect_expression(const struct cfi_rule *rule, const Dwarf_Op *ops, size_t count,
			      uint64_t at)
{
	ck_assert_msg(count > 0 && rule->size > 0, "0x%lx: no expression", (long)at);
	ck_assert_msg(rule->expression[0] == ops[0].atom, "0x%lx: begins with 0x%x, not 0x%x",
		      (long)at, rule->expression[0], ops[0].atom);
}

static void expect_cfa(struct subject *subject, Dwarf_Frame *frame, const struct cfi_row *row,
		       uint64_t at)
{
	Dwarf_Op *ops;
	size_t count;
	ck_assert_int_eq(dwarf_frame_cfa(frame, &ops, &count), 0);
	if (row->cfa.kind == RULE_EXPRESSION_IS) {
		subject->expressions++;
		expect_expression(&row->cfa, ops, count, at);
		return;
	}
	ck_assert_msg(count == 1 && ops[0].atom == DW_OP_bregx, "0x%lx: CFA by 0x%x", (long)at,
		      ops[0].atom);
	ck_assert_msg(ops[0].number == row->cfa.column &&
			      (int64_t)ops[0].number2 == row->cfa.offset,
		      "0x%lx: CFA = r%u%+ld, not r%lu%+ld", (long)at, row->cfa.column,
		      (long)row->cfa.offset, (long)ops[0].number, (long)ops[0].number2);
}

static void expect_register(struct subject *subject, Dwarf_Frame *frame, unsigned int column,
			    const struct cfi_rule *rule, uint64_t at)
{
	Dwarf_Op memory[3], *ops;
	size_t count;
	ck_assert_int_eq(dwarf_frame_register(frame, (int)column, memory, &ops, &count), 0);
	bool is_undefined = count == 0 && ops == memory, is_same = count == 0 && !ops;
	bool at_cfa = count > 0 && ops[0].atom == DW_OP_call_frame_cfa;
	int64_t offset = at_cfa && count > 1 && ops[1].atom == DW_OP_plus_uconst
				 ? (int64_t)ops[1].number
				 : 0;
	bool is_value = at_cfa && ops[count - 1].atom == DW_OP_stack_value;
	bool good = true;
	switch (rule->kind) {
	case RULE_NONE: /* the ABI's rule, which is libdw's own business: or the CFA, for sp */
		good = count == 0 || column == subject->arch->sp;
		break;
	case RULE_UNDEFINED:
		good = is_undefined;
		break;
	case RULE_SAME:
		good = is_same;
		break;
	case RULE_AT:
		good = at_cfa && !is_value && offset == rule->offset;
		break;
	case RULE_IS:
		good = is_value && offset == rule->offset;
		break;
	case RULE_REGISTER:
		good = count == 1 && ops[0].atom == DW_OP_regx && ops[0].number == rule->column;
		break;
	default:
		subject->expressions++;
		/* libdw puts the CFA before it. */
		good = count > 1 && at_cfa && ops[1].atom == rule->expression[0];
	}
	ck_assert_msg(good, "0x%lx: r%u: our rule %u (%ld), libdw has %zu operations from 0x%x",
		      (long)at, column, rule->kind, (long)rule->offset, count,
		      count ? ops[0].atom : 0);
}

/* One row; returns where the next begins. */
static uint64_t check_row(struct subject *subject, const struct cfi_entry *entry, uint64_t at)
{
	struct cfi_entry found;
	struct cfi_row row;
	Dwarf_Frame *frame;
	Dwarf_Addr start, end;
	bool is_signal;
	if (dwarf_cfi_addrframe(subject->oracle, at, &frame))
		ck_abort_msg("0x%lx: libdw: %s", (long)at, dwarf_errmsg(-1));
	ck_assert_msg(cfi_find(&subject->table, at, &found), "0x%lx is not found", (long)at);
	ck_assert_uint_eq(found.start, entry->start);
	ck_assert_msg(cfi_row_make(subject->arch, &found, at, &row), "0x%lx has no row", (long)at);
	int return_column = dwarf_frame_info(frame, &start, &end, &is_signal);
	ck_assert_int_eq(return_column, row.return_column);
	ck_assert_int_eq(is_signal, row.is_signal);
	expect_cfa(subject, frame, &row, at);
	for (unsigned int column = 0; column < subject->arch->columns; column++)
		expect_register(subject, frame, column, &row.rules[column], at);
	struct row packed = {0};
	subject->rows++;
	subject->packed += row_pack(subject->arch, &row, &packed);
	subject->by_fp |= subject->arch->calls_push
				  ? row.cfa.kind == RULE_IS && row.cfa.column == subject->arch->fp
				  : row.rules[subject->arch->fp].kind == RULE_AT;
	free(frame);
	return end;
}

/* All rows of every `step`th entry. */
static void check_entries(struct subject *subject, size_t step)
{
	struct cfi_entry entry;
	size_t seen = 0;
	for (uint64_t at = 0; cfi_next(&subject->table.section, &at, &entry);) {
		struct cfi_entry found;
		if (entry.size == 0 || seen++ % step != 0)
			continue;
		/* Functions that the linker removed are in no table. */
		if (!cfi_find(&subject->table, entry.start, &found) ||
		    found.offset != entry.offset)
			continue;
		subject->entries++;
		subject->by_fp = false;
		uint64_t vaddr = entry.start;
		while (vaddr < entry.start + entry.size) {
			uint64_t next = check_row(subject, &entry, vaddr);
			check_row(subject, &entry,
				  (next < entry.start + entry.size ? next
								   : entry.start + entry.size) -
					  1);
			ck_assert_uint_gt(next, vaddr);
			vaddr = next;
		}
		ck_assert_msg(cfi_sets_frame_pointer(subject->arch, &entry) == subject->by_fp,
			      "0x%lx: %s frame pointer", (long)entry.start,
			      subject->by_fp ? "has a" : "has no");
		subject->framed += subject->by_fp;
	}
}

static const char *libc_path(void)
{
	static char path[4096];
	const struct link_map *map = NULL;
	for (map = _r_debug.r_map; map; map = map->l_next)
		if (strstr(map->l_name, "/libc.so") || strstr(map->l_name, "/libc-"))
			snprintf(path, sizeof(path), "%s", map->l_name);
	return *path ? path : NULL;
}

static const char *host_arch(void)
{
	return sizeof(void *) == 8 && strstr(files_output("uname -m"), "aarch64") ? "aarch64"
										   : "x86_64";
}

TEST(cfi_rows_of_the_c_library)
{
	if (!libc_path())
		skip_test("needs libc");
	struct subject subject =
		subject_open(libc_path(), host_arch(), PERF_SAMPLE_REGS_ABI_64, false, true);
	check_entries(&subject, 3);
	ck_assert_uint_gt(subject.entries, 500);
	ck_assert_uint_gt(subject.rows, 5 * subject.entries);
	/* Nearly all rows are simple: that is what makes them cheap. */
	ck_assert_uint_gt(subject.packed, subject.rows * 99 / 100);
	subject_close(&subject);
}

/* The linker counted them, too. */
TEST(cfi_entries_one_by_one_are_all)
{
	if (!libc_path())
		skip_test("needs libc");
	struct subject subject =
		subject_open(libc_path(), host_arch(), PERF_SAMPLE_REGS_ABI_64, false, true);
	struct cfi_entry entry;
	size_t count = 0;
	for (uint64_t at = 0; cfi_next(&subject.table.section, &at, &entry); count++)
		ck_assert_uint_lt(entry.offset, at);
	ck_assert_uint_eq(count, subject.table.sorted_count);
	subject_close(&subject);
}

/* The same without the sorted table. */
TEST(cfi_index_where_there_is_no_table)
{
	if (!libc_path())
		skip_test("needs libc");
	struct subject subject =
		subject_open(libc_path(), host_arch(), PERF_SAMPLE_REGS_ABI_64, false, false);
	ck_assert_uint_gt(subject.table.index.count, 1500);
	check_entries(&subject, 50);
	ck_assert_uint_gt(subject.entries, 20);
	subject_close(&subject);
}

TEST(cfi_rows_of_arm64)
{
	char path[4096];
	const char *source = getenv("top_srcdir");
	snprintf(path, sizeof(path), "%s/tests/data/arm64", source ? source : ".");
	struct subject subject =
		subject_open(path, "aarch64", PERF_SAMPLE_REGS_ABI_64, false, true);
	check_entries(&subject, 1);
	ck_assert_uint_eq(subject.entries, 4);
	ck_assert_uint_eq(subject.framed, 1);
	subject_close(&subject);
}

static const char source[] =
	"int f(int); __attribute__((noinline)) int leaf(int a) { return a * 3; }\n"
	"__attribute__((noinline)) int grown(int a) { char v[a]; __asm__ volatile(\"\" : : "
	"\"r\"(v) : \"memory\"); return leaf(a) + v[0]; }\n"
	"int main(int c, char **v) { (void)v; return grown(c) + leaf(c); }\n";

TEST(cfi_rows_of_debug_frame)
{
	files_write(files_path("prog.c"), source, strlen(source));
	files_run("$CC -O2 -g -fno-asynchronous-unwind-tables -o prog prog.c");
	struct subject subject = subject_open(files_path("prog"), host_arch(),
					      PERF_SAMPLE_REGS_ABI_64, true, false);
	check_entries(&subject, 1);
	ck_assert_uint_ge(subject.entries, 3);
	subject_close(&subject);
}

/* Each instruction that compilers seldom use, by the assembler; libdw says what it means. */
static const char assembler[] =
	"	.globl f, g\n"
	"f:	.cfi_startproc\n"
	"	.cfi_escape 0x05, 3, 4\n"          /* offset_extended rbx */
	"	nop\n"
	"	.cfi_escape 0x11, 12, 0x7c\n"      /* offset_extended_sf r12 */
	"	.cfi_remember_state\n"
	"	nop\n"
	"	.cfi_escape 0x06, 3\n"             /* restore_extended */
	"	.cfi_escape 0x14, 13, 2\n"         /* val_offset */
	"	nop\n"
	"	.cfi_escape 0x15, 14, 0x7e\n"      /* val_offset_sf */
	"	.cfi_register %r15, %rax\n"
	"	nop\n"
	"	.cfi_escape 0x12, 6, 0x7c\n"       /* def_cfa_sf */
	"	nop\n"
	"	.cfi_escape 0x13, 0x7a\n"          /* def_cfa_offset_sf */
	"	nop\n"
	"	.cfi_escape 0x2e, 0x10\n"          /* GNU_args_size */
	"	.cfi_escape 0x2f, 12, 3\n"         /* GNU_negative_offset_extended */
	"	.skip 300\n"
	"	.cfi_restore_state\n"
	"	.cfi_same_value %rbp\n"
	"	.skip 70000\n"
	"	.cfi_undefined %rbx\n"
	"	.cfi_escape 0x10, 3, 2, 0x77, 8\n"  /* expression */
	"	.cfi_escape 0x16, 12, 2, 0x77, 16\n" /* val_expression */
	"	nop\n"
	"	.cfi_escape 0x0f, 3, 0x76, 8, 6\n" /* def_cfa_expression */
	"	nop\n"
	"	.cfi_endproc\n"
	"g:	.cfi_startproc simple\n"
	"	.cfi_signal_frame\n"
	"	.cfi_def_cfa %rsp, 160\n"
	"	.cfi_offset %rip, -8\n"
	"	nop\n"
	"	.cfi_endproc\n";

TEST(cfi_rows_of_rare_instructions)
{
	if (strcmp(host_arch(), "x86_64") != 0)
		skip_test("needs x86-64");
	files_write(files_path("prog.s"), assembler, strlen(assembler));
	files_run("$CC -nostdlib -shared -o prog prog.s 2>/dev/null");
	struct subject subject = subject_open(files_path("prog"), "x86_64",
					      PERF_SAMPLE_REGS_ABI_64, false, true);
	check_entries(&subject, 1);
	ck_assert_uint_eq(subject.entries, 2);
	ck_assert_uint_ge(subject.rows, 20);
	ck_assert_uint_ge(subject.expressions, 4);
	subject_close(&subject);
}

TEST(cfi_rows_of_32_bit_programs)
{
	if (strcmp(host_arch(), "x86_64") != 0 ||
	    !strstr(files_output("echo 'int g(int); int f(int a){char v[a]; return g(v[0])+1;} "
				 "int g(int a){return a+1;}' >p.c; "
				 "$CC -m32 -O2 -fno-pic -no-pie -nostdlib -Wl,-e,f -o prog p.c "
				 "2>/dev/null && echo made"),
		    "made"))
		skip_test("needs x86-64 and 32-bit headers");
	struct subject subject = subject_open(files_path("prog"), "x86_64",
					      PERF_SAMPLE_REGS_ABI_32, false, true);
	check_entries(&subject, 1);
	ck_assert_uint_eq(subject.entries, 2);
	subject_close(&subject);
}

/* Damage is as if nothing were there; never is more read than there is. */
TEST(cfi_damage_is_nothing)
{
	static const struct code_map everywhere = {.largest = {0, UINT64_MAX}};
	static const uint8_t cie[] = {
		0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c, 7, 8,
		0x90, 1, 0, 0,
		/* FDE of 16 bytes at 0x100 */
		0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0xe0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0x41, 0x0e, 0x10,
		0x42, 0x0e, 0x18, 0,
	};
	const struct unwind_arch *arch = arch_find("x86_64", PERF_SAMPLE_REGS_ABI_64);
	for (size_t size = 0; size <= sizeof(cie); size++) {
		uint8_t *copy = malloc(size ? size : 1);
		memcpy(copy, cie, size);
		struct cfi_section section = {.bytes = {copy, size, 0}, .word = 8};
		struct cfi_bytes none = {0};
		struct cfi_table table;
		struct cfi_entry entry;
		struct cfi_row row;
		ok_or_fail(cfi_table_init(&table, &section, &none, &everywhere));
		bool found = cfi_find(&table, 0x102, &entry);
		ck_assert_int_eq(found, size == sizeof(cie));
		if (found) {
			ck_assert_uint_eq(entry.start, 0x100);
			ck_assert(cfi_row_make(arch, &entry, 0x102, &row));
			ck_assert_int_eq(row.cfa.offset, 16);
			ck_assert(cfi_row_make(arch, &entry, 0x100, &row));
			ck_assert_int_eq(row.cfa.offset, 8);
			ck_assert(!cfi_find(&table, 0x110, &entry));
			ck_assert(!cfi_find(&table, 0xff, &entry));
		}
		cfi_table_deinit(&table);
		free(copy);
	}
}
