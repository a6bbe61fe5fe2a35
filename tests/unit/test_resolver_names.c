/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of addresses: mangled ones, PLT entries, and many addresses compared to other tools. */
#include "test.h"

#include "elf/image.h"
#include "resolving.h"
#include "symbol/demangle.h"

static const char *shown(const char *name)
{
	static struct arena arena;
	const char *text = demangle(name, &arena);
	return text ? text : name;
}

TEST(demangle_cpp_as_perf)
{
	if (!demangle_available())
		skip_test("built without a demangler");
	ck_assert_str_eq(shown("_ZNK2ns3FooIiE3barEiRKSt6vectorIiSaIiEE"), "ns::Foo<int>::bar");
	ck_assert_str_eq(shown("_ZN3FooC1Ev"), "Foo::Foo");
	ck_assert_str_eq(shown("_ZN3FooD0Ev"), "Foo::~Foo");
	ck_assert_str_eq(shown("_ZN12_GLOBAL__N_11fEv"), "(anonymous namespace)::f");
	ck_assert_str_eq(shown("_ZlsRSoi"), "operator<<");
	ck_assert_str_eq(shown("_Z4workIdEvT_"), "work<double>");
	ck_assert_str_eq(shown("_ZTv0_n24_N3Foo3barEv"), "virtual thunk to Foo::bar()");
}

TEST(demangle_rust)
{
	if (!demangle_available())
		skip_test("built without a demangler");
	ck_assert_str_eq(shown("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
			 "core::fmt::Write::write_fmt");
	ck_assert_str_eq(
		shown("_ZN40_$LT$Foo$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE"),
		"<Foo as core::fmt::Debug>::fmt");
	ck_assert_str_eq(shown("_RNvCskwGfYPst2Cb_3foo16example_function"),
			 "foo::example_function");
	ck_assert_str_eq(shown("_RINvCskwGfYPst2Cb_3foo7exampleyE"), "foo::example::<u64>");
}

TEST(demangle_suffixes_of_llvm)
{
	if (!demangle_available())
		skip_test("built without a demangler");
	ck_assert_str_eq(shown("_ZN7mycrate4main17h0123456789abcdefE.llvm.1234"), "mycrate::main");
	ck_assert_str_eq(shown("_RNvCskwGfYPst2Cb_3foo16example_function.llvm.9F"),
			 "foo::example_function");
	ck_assert_str_eq(shown("_Z3barv.llvm.1"), "bar");
}

TEST(demangle_names_of_d)
{
	if (!demangle_available())
		skip_test("built without a demangler");
	ck_assert_str_eq(shown("_D8demangle4testFaZv"), "demangle.test(char)");
	ck_assert_str_eq(shown("_D8demangle4testFaZv.cold"), "demangle.test(char)");
	ck_assert_str_eq(shown("_D8demangle4testFaZv@plt"), "demangle.test(char)@plt");
	ck_assert_str_eq(shown("_D3std5stdio__T7writelnTAyaZQnFNfQjZv"),
			 "std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])");
	ck_assert_str_eq(shown("_Dmain"), "D main");
	ck_assert_str_eq(shown("_DYNAMIC"), "_DYNAMIC");
	ck_assert_str_eq(shown("_D"), "_D");
}

/* Makes a name of D that repeats `level`. */
static const char *hostile_d(const char *level, unsigned int count)
{
	static char name[8192];
	strcpy(name, "_D1aFi");
	while (count--)
		strcat(name, level);
	strcat(name, "Zv");
	return name;
}

/* References that double the text, and types that libiberty parses twice: 2^100 steps. */
TEST(demangle_stops_hostile_names_of_d)
{
	static const char *const levels[] = {"HQfQh", "S1aF", "S1aMxF", "HQBaQBc", "S1aFQd"};
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		const char *name = hostile_d(levels[i], 100);
		ck_assert_str_eq(shown(name), name);
	}
}

TEST(demangle_names_of_ocaml)
{
	ck_assert_str_eq(shown("camlDune__exe__Main__loop_270"), "Dune.exe.Main.loop_270");
	ck_assert_str_eq(shown("camlStdlib__List.map_345"), "Stdlib.List.map_345");
	ck_assert_str_eq(shown("camlStdlib__anon_fn$5bstdlib$2eml$3a334$2c0$2d$2d54$5d_1453"),
			 "Stdlib.anon_fn[stdlib.ml:334,0--54]_1453");
	ck_assert_str_eq(shown("camlStdlib__bytes__$2b$2b_2205"), "Stdlib.bytes.++_2205");
	ck_assert_str_eq(shown("camlA__x$00$1b$7f$2"), "A.x$00$1b$7f$2");
	ck_assert_str_eq(shown("caml_alloc"), "caml_alloc");
	ck_assert_str_eq(shown("caml"), "caml");
}

TEST(demangle_leaves_the_rest)
{
	static const char *const names[] = {
		"main", "_start", "_Z", "_ZN",    "__libc_start_main", "memcpy@plt",
		"_R",   "",       "_",  "Z3foov", "_ZNotMangled..",    "x._ZN3fooEv",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		ck_assert_str_eq(shown(names[i]), names[i]);
}

TEST(demangle_plt_entry)
{
	if (!demangle_available())
		skip_test("built without a demangler");
	ck_assert_str_eq(shown("_ZN3foo3barEv@plt"), "foo::bar@plt");
	ck_assert_str_eq(shown("_ZGTtdlPv@plt"),
			 "transaction clone for operator delete(void*)@plt");
}

/* Twenty bytes a level that double what is printed: 2^40 at the end, were it not stopped. */
TEST(demangle_stops_an_exploding_name)
{
	char name[2000] = "_Z1fI1AIiiE";
	for (int i = 0; i < 40; i++) {
		char level[32];
		snprintf(level, sizeof(level), "1AIS%c_S%c_E",
			 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36],
			 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36]);
		strcat(name, level);
	}
	strcat(name, "EvT_");
	struct arena arena = {0};
	const char *text = demangle(name, &arena);
	ck_assert(!text || strlen(text) < 1 << 16);
	arena_deinit(&arena);
}

TEST(demangle_refuses_an_endless_name)
{
	static char name[1 << 20];
	memset(name, 'P', sizeof(name) - 1);
	memcpy(name, "_Z1f", 4);
	ck_assert_str_eq(shown(name), name);
	memset(name, 'N', sizeof(name) - 1);
	memcpy(name, "_RNv", 4);
	ck_assert_str_eq(shown(name), name);
}

TEST(demangle_agrees_with_cxxfilt)
{
	if (!demangle_available() || !files_have("c++filt"))
		skip_test("needs a demangler and c++filt");
	char *names = files_output(
		"nm -D --defined-only $(ldconfig -p | "
		"awk '/libstdc\\+\\+.so.6/ { print $NF; exit }') 2>/dev/null | "
		"awk '$3 ~ /^_Z/ { sub(/@.*/, \"\", $3); print $3 }' | head -3000 || :");
	files_write(files_path("names"), names, strlen(names));
	char *expected = files_output("c++filt -p -i <names");
	size_t count = 0;
	char *save_name, *save_expected;
	char *name = strtok_r(names, "\n", &save_name);
	char *line = strtok_r(expected, "\n", &save_expected);
	for (; name && line; count++) {
		ck_assert_str_eq(shown(name), line);
		name = strtok_r(NULL, "\n", &save_name);
		line = strtok_r(NULL, "\n", &save_expected);
	}
	ck_assert(!name && !line);
}

TEST(resolver_shows_cpp_and_raw_names)
{
	if (!demangle_available())
		skip_test("built without a demangler");
	RESOLVING r = {0};
	files_run("cat >m.c <<'END'\n"
		  "int one(int x) __asm__(\"_ZN2ns3oneEi\");\n"
		  "int one(int x) { return x + 1; }\n"
		  "int main(void) { return one(-1); }\n"
		  "END\n"
		  "$CC -O0 -o prog m.c");
	resolving_use(&r, "prog");
	resolving_start(&r);
	const struct symbol *symbol =
		resolving_find(&r, resolving_function("prog", "_ZN2ns3oneEi"));
	ck_assert(symbol);
	ck_assert_str_eq(symbol->name, "ns::one");
	ck_assert_str_eq(symbol->raw_name, "_ZN2ns3oneEi");
}

/* Every entry that objdump names, whatever the layout. */
static void check_plt(const char *flags)
{
	RESOLVING r = {0};
	files_run("cat >plt.c <<'END'\n"
		  "#include <stdio.h>\n"
		  "#include <stdlib.h>\n"
		  "#include <unistd.h>\n"
		  "int main(int argc, char **argv)\n"
		  "{\n"
		  "     if (argc == 9) {\n"
		  "             puts(argv[1]); printf(\"%%d\", atoi(argv[2])); sleep(1); "
		  "getpid();\n"
		  "             fflush(stdout); free(malloc(argc)); system(argv[3]);\n"
		  "     }\n"
		  "     return 0;\n"
		  "}\n"
		  "END\n"
		  "$CC -O1 -fplt %s -o plt plt.c",
		  flags);
	char *entries = files_output(
		"objdump -d plt | sed -n 's/^0*\\([0-9a-f]*\\) <\\(.*@plt\\)>:$/\\1 \\2/p'");
	resolving_use(&r, "plt");
	resolving_start(&r);
	size_t count = 0;
	char *save;
	for (char *line = strtok_r(entries, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save), count++) {
		char *name = strchr(line, ' ') + 1, copy[128];
		snprintf(copy, sizeof(copy), "%s", name);
		uint64_t vaddr = strtoull(line, NULL, 16);
		resolving_expect(&r, resolving_offset("plt", vaddr), copy);
		resolving_expect(&r, resolving_offset("plt", vaddr) + 5, copy);
	}
	ck_assert_uint_ge(count, 6);
}

TEST(resolver_names_plt_entries)
{
	if (!files_have("objdump"))
		skip_test("needs objdump");
	check_plt("-Wl,-z,lazy");
	check_plt("-Wl,-z,now");
	check_plt("-no-pie");
#ifdef __x86_64__
	check_plt("-fcf-protection -Wl,-z,ibtplt");
	check_plt("-fcf-protection -Wl,-z,ibtplt -Wl,-z,now");
#endif
}

TEST(resolver_names_ifunc_plt_entries)
{
#ifdef __x86_64__
	RESOLVING r = {0};
	files_run("cat >i.c <<'END'\n"
		  "static int fast(int x) { return x; }\n"
		  "static int (*choose(void))(int) { return fast; }\n"
		  "int chosen(int x) __attribute__((ifunc(\"choose\")));\n"
		  "int main(int argc, char **argv) { (void)argv; return chosen(argc - 1); }\n"
		  "END\n"
		  "$CC -O1 -no-pie -static -o prog i.c");
	char *call = files_output("objdump -d --disassemble=main prog | "
				  "sed -n 's/.*call *\\([0-9a-f]*\\) .*/\\1/p' | head -1");
	if (!*call)
		skip_test("the compiler made a jump of the call");
	resolving_use(&r, "prog");
	resolving_start(&r);
	resolving_expect(&r, resolving_offset("prog", strtoull(call, NULL, 16)), "chosen@plt");
#endif
}

/*
 * The name must be one of those that nm gives to the symbol's start, and no symbol
 * of nm's may begin between that start and the address and reach over it.
 */
static void check_against_nm(const char *path)
{
	RESOLVING r = {0};
	struct image *image;
	resolving_use(&r, path);
	/* nm only reads the file itself. */
	ok_or_fail(sp_ctx_new(&r.ctx));
	ok_or_fail(sp_ctx_set_debug_path(r.ctx, ""));
	resolving_start(&r);
	ok_or_fail(image_open(path, &image));
	char *symbols = files_output("{ nm -S %s 2>/dev/null || :; nm -DS %s 2>/dev/null || :; } | "
				     "awk 'NF == 4 && $3 ~ /[TtWwi]/ { print $1, $2, $4 }'",
				     path, path);
	files_write(files_path("symbols"), symbols, strlen(symbols));
	FILE *ours = fopen(files_path("ours"), "w");
	srand(7);
	for (int i = 0; i < 2000; i++) {
		uint64_t offset = resolving_random_offset(image), vaddr;
		const struct symbol *symbol = resolving_find(&r, offset);
		ck_assert(image_vaddr(image, offset, &vaddr));
		if (symbol && !strstr(symbol->raw_name, "plt"))
			fprintf(ours, "%016llx %016llx %s\n", (unsigned long long)vaddr,
				(unsigned long long)(vaddr - (offset - symbol->start)),
				symbol->raw_name);
		else if (!symbol)
			fprintf(ours, "%016llx - -\n", (unsigned long long)vaddr);
	}
	fclose(ours);
	image_free(image);
	/* Both sorted by address, so that one pass has all symbols that may cover it. */
	char *bad = files_output(
		"sort -u symbols | awk '"
		"function hex(s,  i, n) { n = 0; s = tolower(s);"
		"       for (i = 1; i <= length(s); i++) n = n * 16 + index(\"0123456789abcdef\","
		"               substr(s, i, 1)) - 1; return n }"
		"FNR == NR { start[++n] = hex($1); end[n] = start[n] + hex($2);"
		"       sub(/@.*/, \"\", $3); name[start[n] \" \" $3] = 1; next }"
		"{ at = hex($1); raw = $3; sub(/@.*/, \"\", raw);"
		"  while (i < n && start[i + 1] <= at) i++;"
		"  best = 0; for (j = i; j > 0 && j > i - 200; j--) if (at < end[j]) { best = j; "
		"break }"
		"  if ($2 == \"-\") { if (best) print \"missed\", $0 }"
		"  else if (best && start[best] != hex($2)) print \"other\", $0, start[best];"
		"  else if (best && !((hex($2) \" \" raw) in name)) print \"name\", $0 }"
		"' - /dev/fd/3 3<<END\n$(sort ours)\nEND\n");
	ck_assert_msg(!*bad, "%s:\n%.2000s", path, bad);
}

TEST(resolver_agrees_with_nm)
{
	char *programs = files_output(
		"for p in \"$(command -v bash)\" \"$(command -v python3)\" \"$(command -v perf)\" "
		"\"$($CC -print-prog-name=cc1)\" \"$($CC -print-file-name=libc.so.6)\" "
		"\"$($CC -print-file-name=libelf.so)\"; do "
		"[ \"$(head -c 4 \"$p\" 2>/dev/null | tail -c 3)\" != ELF ] || readlink -f \"$p\"; "
		"done");
	char *save;
	for (char *path = strtok_r(programs, "\n", &save); path; path = strtok_r(NULL, "\n", &save))
		check_against_nm(path);
}
