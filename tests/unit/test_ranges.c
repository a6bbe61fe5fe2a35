/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of code without a symbol, held to readelf's entries and to nm before stripping. */
#include "test.h"

#include "resolving.h"

/* The program that is stripped: static functions, one of them with a cold part. */
static void compile(const char *flags)
{
	files_run("cat >p.c <<'END'\n"
		  "#include <stdio.h>\n"
		  "#include <stdlib.h>\n"
		  "static volatile int sink;\n"
		  "__attribute__((cold, noinline)) static void never(int x) { sink = x; abort(); }\n"
		  "__attribute__((noinline)) static int leaf(int x) { return x * sink + 1; }\n"
		  "__attribute__((noinline)) static int parts(int x)\n"
		  "{\n"
		  "     if (__builtin_expect(x < 0, 0)) {\n"
		  "             never(x);\n"
		  "             puts(\"cold\");\n"
		  "     }\n"
		  "     return leaf(x) + leaf(x + 1);\n"
		  "}\n"
		  "__attribute__((noinline)) static int again(int n)\n"
		  "{\n"
		  "     return n ? again(n - 1) + parts(n) : leaf(n);\n"
		  "}\n"
		  "int main(int argc, char **argv)\n"
		  "{\n"
		  "     (void)argv;\n"
		  "     return again(argc);\n"
		  "}\n"
		  "END\n"
		  "$CC -O2 -fno-inline -fno-optimize-sibling-calls %s -Wl,--build-id -o prog p.c",
		  flags);
}

static void start(struct resolving *r, const char *path, const char *debug_path)
{
	resolving_use(r, path);
	ok_or_fail(sp_ctx_new(&r->ctx));
	ok_or_fail(sp_ctx_set_debug_path(r->ctx, debug_path));
	resolving_start(r);
}

static bool is_range(const struct symbol *symbol, uint64_t vaddr, uint64_t offset, uint64_t size)
{
	char name[32];
	snprintf(name, sizeof(name), "fn@0x%llx", (unsigned long long)vaddr);
	return symbol && symbol->from_cfi && !strcmp(symbol->name, name) &&
	       symbol->start == offset && symbol->size == size;
}

struct entries {
	size_t count;
	struct {
		uint64_t begin, end;
	} items[20000];
};

static struct entries *entries_of(const char *path)
{
	static struct entries entries;
	char *text = files_output("readelf -wf '%s' 2>/dev/null | grep -o 'pc=[0-9a-f.]*'", path);
	char *save;
	entries.count = 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned long long begin, end;
		if (sscanf(line, "pc=%llx..%llx", &begin, &end) != 2 || begin == end)
			continue;
		ck_assert_uint_lt(entries.count, 20000);
		entries.items[entries.count].begin = begin;
		entries.items[entries.count++].end = end;
	}
	ck_assert_uint_gt(entries.count, 2);
	return &entries;
}

/* Each place of each entry is of a symbol or of that entry; returns how many entries are ranges. */
static size_t check_entries(struct resolving *r, const char *path)
{
	const struct entries *entries = entries_of(path);
	struct image *image;
	size_t ranges = 0;
	ok_or_fail(image_open(r->module.path, &image));
	for (size_t i = 0; i < entries->count; i++) {
		uint64_t begin = entries->items[i].begin, end = entries->items[i].end, offset;
		uint64_t places[] = {begin, begin + (end - begin) / 2, end - 1};
		ck_assert(image_file_offset(image, begin, &offset));
		for (size_t j = 0; j < 3; j++) {
			const struct symbol *symbol =
				resolving_find(r, offset + (places[j] - begin));
			ck_assert_msg(symbol, "0x%lx: nothing", (long)places[j]);
			ck_assert_msg(!symbol->from_cfi ||
					      is_range(symbol, begin, offset, end - begin),
				      "0x%lx: %s, not fn@0x%lx", (long)places[j], symbol->name,
				      (long)begin);
			ranges += symbol->from_cfi && j == 0;
		}
	}
	image_free(image);
	return ranges;
}

/* Checks the functions that the compiler made, and their cold parts. */
static size_t check_symbols(struct resolving *r, char *symbols)
{
	size_t count = 0;
	char *save;
	for (char *line = strtok_r(symbols, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save), count++) {
		unsigned long long vaddr, size;
		ck_assert_int_eq(sscanf(line, "%llx %llx", &vaddr, &size), 2);
		uint64_t offset = resolving_offset("prog", vaddr), elf;
		struct location last = {.module = &r->module, .offset = offset + size - 1};
		const struct symbol *symbol = resolving_find(r, offset);
		ck_assert_msg(is_range(symbol, vaddr, offset, size), "%s: %s", line,
			      symbol ? symbol->name : "nothing");
		ck_assert_ptr_eq(resolving_find(r, last.offset), symbol);
		ck_assert(resolver_vaddr(r->resolver, &last, &elf));
		ck_assert_uint_eq(elf, vaddr + size - 1);
	}
	return count;
}

static void check_program(const char *flags, const char *after)
{
	RESOLVING r = {0};
	compile(flags);
	char *symbols = files_output("nm -S prog | grep -E ' (leaf|parts|again|main|never)"
				     "(\\.cold)?(\\.[a-z]*\\.[0-9]*)?$' | sort -u -k 1,1");
	files_run("cp prog whole && strip prog && %s", after);
	start(&r, "prog", "");
	ck_assert_uint_ge(check_symbols(&r, symbols), 5);
	ck_assert_uint_ge(check_entries(&r, files_path("whole")), 5);
	/* They are functions without a name: why is said as before. */
	resolving_problem(&r, RESOLVER_NO_SYMBOLS, "prog is stripped");
}

TEST(ranges_of_stripped_programs_are_its_functions)
{
	check_program("", ":");
	check_program("-no-pie", ":");
	check_program("-no-pie -static", ":");
	/* Without .eh_frame_hdr; without section headers. */
	check_program("-Wl,--no-eh-frame-hdr", ":");
	check_program("", "dd if=/dev/zero of=prog bs=1 seek=40 count=8 conv=notrunc status=none &&"
			  "dd if=/dev/zero of=prog bs=1 seek=60 count=4 conv=notrunc status=none");
}

TEST(ranges_of_debug_frame)
{
	RESOLVING r = {0};
	compile("-g -fno-asynchronous-unwind-tables -fno-unwind-tables");
	uint64_t vaddr = strtoull(files_output("nm prog | sed -n 's/ t leaf$//p'"), NULL, 16);
	uint64_t offset = resolving_offset("prog", vaddr);
	files_run("cp prog whole && objcopy --strip-all --keep-section=.debug_frame whole prog");
	start(&r, "prog", "");
	const struct symbol *symbol = resolving_find(&r, offset + 1);
	ck_assert(symbol);
	ck_assert(is_range(symbol, vaddr, offset, symbol->size));
	check_entries(&r, files_path("whole"));
}

TEST(ranges_of_the_debug_file)
{
	RESOLVING r = {0};
	compile("-g -fno-asynchronous-unwind-tables -fno-unwind-tables");
	files_run("cp prog whole && strip prog && objcopy --only-keep-debug whole prog.debug &&"
		  "objcopy --strip-all --keep-section=.debug_frame prog.debug &&"
		  "objcopy --add-gnu-debuglink=prog.debug prog");
	start(&r, "prog", "");
	check_entries(&r, files_path("whole"));
}

/* Exported symbols alone: the code between them is of functions of its own. */
TEST(ranges_between_exported_symbols)
{
	RESOLVING r = {0};
	char *path = files_output("readlink -f \"$($CC -print-file-name=libc.so.6)\" | tr -d '\\n'");
	start(&r, path, "");
	ck_assert_uint_gt(check_entries(&r, path), 100);
}

static void assemble(const char *text)
{
	files_write(files_path("a.S"), text, strlen(text));
	files_run("$CC -shared -nostdlib -Wl,--build-id -Wl,-soname,a -o lib a.S && nm lib >names &&"
		  "strip lib");
}

static uint64_t at(const char *name)
{
	char *vaddr = files_output("sed -n 's/ [tT] %s$//p' names", name);
	ck_assert_msg(*vaddr, "no %s", name);
	return resolving_offset("lib", strtoull(vaddr, NULL, 16));
}

/* `first` has no size: what follows it, and was stripped, is not of it. */
TEST(a_symbol_without_size_ends_where_other_code_may_begin)
{
	RESOLVING r = {0};
	assemble(".text\n"
		 ".globl first, second, third, short\n"
		 ".p2align 6\n"
		 "first: .skip 32, 0x90\n"
		 ".p2align 6\n"
		 "hidden: .cfi_startproc\n .skip 40, 0x90\n .cfi_endproc\n"
		 ".p2align 6\n"
		 "second: .skip 16, 0x90\n"
		 ".p2align 6\n"
		 "bare: .skip 16, 0x90\n"
		 ".p2align 6\n"
		 /* Its entry has its end, whatever the symbol's size. */
		 "third: .cfi_startproc\n .skip 200, 0x90\n .cfi_endproc\n"
		 ".p2align 6\n"
		 ".type short, @function\n"
		 "short: .cfi_startproc\n .skip 100, 0x90\n .cfi_endproc\n"
		 ".size short, 8\n");
	uint64_t hidden = at("hidden"), vaddr;
	start(&r, "lib", "");
	struct location location = {.module = &r.module, .offset = hidden};
	ck_assert(resolver_vaddr(r.resolver, &location, &vaddr));
	resolving_expect(&r, at("first"), "first");
	resolving_expect(&r, at("first") + 31, "first");
	ck_assert(is_range(resolving_find(&r, hidden), vaddr, hidden, 40));
	ck_assert(is_range(resolving_find(&r, hidden + 39), vaddr, hidden, 40));
	resolving_expect(&r, at("second") + 15, "second");
	ck_assert_ptr_eq(resolving_find(&r, at("bare")), NULL);
	resolving_expect(&r, at("third") + 199, "third");
	resolving_expect(&r, at("short") + 99, "short");
	ck_assert_ptr_eq(resolving_find(&r, at("short")), resolving_find(&r, at("short") + 99));
}

/* Damage costs names, or the table that is only for speed. */
TEST(ranges_of_damaged_sections)
{
	RESOLVING r = {0}, s = {0};
	compile("");
	uint64_t leaf = resolving_function("prog", "leaf");
	files_run("strip prog && cp prog other && eh() { readelf -SW prog | sed 's/^ *\\[ *[0-9]*\\] *//' |"
		  " awk -v n=$1 '$1 == n { print $4, $5 }'; } &&"
		  "set -- $(eh .eh_frame_hdr) && dd if=/dev/urandom of=prog bs=1 conv=notrunc "
		  "seek=$((0x$1)) count=4 status=none &&"
		  "set -- $(eh .eh_frame) && dd if=/dev/zero of=other bs=1 conv=notrunc "
		  "seek=$((0x$1)) count=$((0x$2)) status=none");
	start(&r, "prog", "");
	ck_assert(resolving_find(&r, leaf) && resolving_find(&r, leaf)->from_cfi);
	start(&s, "other", "");
	ck_assert_ptr_eq(resolving_find(&s, leaf), NULL);
}
