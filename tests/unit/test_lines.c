/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources that resolver_sources() finds, and its messages about missing ones.
 * tests/cli/test_sources.sh checks that inlined functions and lines are right.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#include "elf/debuginfod.h"
#include "resolving.h"

static void compile(const char *output, const char *flags)
{
	files_run("cat >lines.c <<'END'\n"
		  "static inline __attribute__((always_inline)) int inner(int x)\n"
		  "{\n"
		  "	int sum = 0;\n"
		  "	for (int i = 0; i < x; i++)\n"
		  "		sum += i ^ x;\n"
		  "	return sum;\n"
		  "}\n"
		  "__attribute__((noinline)) int outer(int x)\n"
		  "{\n"
		  "	return inner(x) + 1;\n"
		  "}\n"
		  "int main(int argc, char **argv)\n"
		  "{\n"
		  "	return outer(argc) * !argv;\n"
		  "}\n"
		  "END\n"
		  "$CC -O2 -g -fno-tree-vectorize -Wl,--build-id %s -o %s lines.c",
		  flags, output);
}

#define OFFSETS_MAX 4096

struct asked {
	uint64_t offsets[OFFSETS_MAX];
	const struct source_frame *frames[OFFSETS_MAX]; /* the innermost */
	size_t count;
};

/* Each byte of outer(). */
static void ask(struct resolving *r, struct asked *asked, const char *program,
		unsigned int threads)
{
	uint64_t start = resolving_function(program, "outer");
	char *text = files_output("nm -S %s | awk '$4 == \"outer\" { print $2 }'", program);
	asked->count = strtoull(text, NULL, 16);
	ck_assert(asked->count > 8 && asked->count < OFFSETS_MAX);
	for (size_t i = 0; i < asked->count; i++)
		asked->offsets[i] = start + i;
	struct source_frames found = {.items = asked->frames, .lines = true};
	ok_or_fail(resolver_sources(r->resolver, &(struct source_query){
		&r->module, 0, asked->offsets, asked->count, threads}, &found));
	for (size_t i = 0; i < asked->count; i++)
		ck_assert(!asked->frames[i] || asked->frames[i]->number < found.distinct);
}

/* All of it is in outer(), and some is inner() inlined at line 10. */
static void expect_lines(const struct asked *asked)
{
	size_t inlined = 0;
	for (size_t i = 0; i < asked->count; i++) {
		const struct source_frame *first = asked->frames[i], *last = first;
		ck_assert_msg(first, "nothing known at byte %zu", i);
		while (last->caller)
			last = last->caller;
		ck_assert_str_eq(last->name, "outer");
		ck_assert_uint_eq(last->start, asked->offsets[0]);
		ck_assert(last->file && last->file[0] == '/' && strstr(last->file, "lines.c"));
		if (first == last)
			continue;
		ck_assert_str_eq(first->name, "inner");
		ck_assert_uint_eq(last->line, 10);
		inlined++;
	}
	ck_assert(inlined > 0);
}

static void expect_none(const struct asked *asked)
{
	for (size_t i = 0; i < asked->count; i++)
		ck_assert_ptr_null(asked->frames[i]);
}

static void expect_problem(struct resolving *r, enum resolver_problem problem, const char *said,
			   const char *remedy_said)
{
	const char *text, *remedy;
	int found = resolver_sources_problem(r->resolver, &r->module, &text, &remedy);
	ck_assert_msg(found == (int)problem, "problem %d: %s", found, text);
	ck_assert_msg(!said || (text && strstr(text, said)), "'%s' not in '%s'", said, text);
	ck_assert_msg(!remedy_said || (remedy && strstr(remedy, remedy_said)), "'%s' not in '%s'",
		      remedy_said, remedy);
	ck_assert((problem == RESOLVER_OK) == !text);
}

TEST(the_program_itself)
{
	RESOLVING r = {0};
	static struct asked asked, again;
	compile("program", "");
	resolving_use(&r, "program");
	resolving_start(&r);
	ask(&r, &asked, "program", 1);
	expect_lines(&asked);
	expect_problem(&r, RESOLVER_OK, NULL, NULL);
	/* Earlier answers stay. */
	ask(&r, &again, "program", 8);
	expect_lines(&asked);
	expect_lines(&again);
}

TEST(offsets_that_nothing_is_known_of)
{
	RESOLVING r = {0};
	compile("program", "");
	resolving_use(&r, "program");
	resolving_start(&r);
	uint64_t offsets[] = {0, 1, 0x100000000, UINT64_MAX - 1, UINT64_MAX};
	const struct source_frame *found[5];
	struct source_frames frames = {.items = found};
	ok_or_fail(resolver_sources(r.resolver, &(struct source_query){&r.module, 0, offsets, 5, 2},
				    &frames));
	for (int i = 0; i < 5; i++)
		ck_assert_ptr_null(found[i]);
	ok_or_fail(resolver_sources(r.resolver, &(struct source_query){.module = &r.module, .threads = 2},
				    &frames));
	expect_problem(&r, RESOLVER_OK, NULL, NULL);
}

TEST(a_debug_file_beside_a_program_with_symbols)
{
	RESOLVING r = {0};
	static struct asked asked;
	compile("program", "");
	files_run("objcopy --only-keep-debug program lines.debug\n"
		  "objcopy --strip-debug --add-gnu-debuglink=lines.debug program stripped");
	resolving_use(&r, "stripped");
	resolving_start(&r);
	ask(&r, &asked, "program", 1);
	expect_lines(&asked);
	expect_problem(&r, RESOLVER_OK, NULL, NULL);
}

TEST(no_debug_information_is_said)
{
	RESOLVING r = {0};
	static struct asked asked;
	compile("program", "");
	files_run("objcopy --strip-debug program stripped");
	resolving_use(&r, "stripped");
	resolving_start(&r);
	ask(&r, &asked, "program", 1);
	expect_none(&asked);
	expect_problem(&r, RESOLVER_NO_SYMBOLS, "stripped has no debug information",
		       "build it with -g");
	/* Its symbols are no problem. */
	resolving_problem(&r, RESOLVER_OK, NULL);
	resolving_expect(&r, asked.offsets[0], "outer");
}

/* A server in a folder, which has all of `program`. */
static void serve(void)
{
	files_run("id=$(readelf -n program | awk '/Build ID/ { print $3 }')\n"
		  "mkdir -p server/buildid/$id\n"
		  "objcopy --only-keep-debug program server/buildid/$id/debuginfo\n"
		  "cp program server/buildid/$id/executable\n"
		  "strip -o stripped program");
	char url[4096];
	snprintf(url, sizeof(url), "file://%s/server/", files_folder());
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", files_path("cache"), 1);
}

TEST(servers_are_asked_only_when_that_is_wanted)
{
	RESOLVING r = {0};
	static struct asked asked;
	compile("program", "");
	serve();
	resolving_use(&r, "stripped");
	resolving_start(&r);
	ask(&r, &asked, "program", 1);
	expect_none(&asked);
	ck_assert_msg(access(files_path("cache"), F_OK), "a server was asked");
	resolving_stop(&r);

	sp_ctx_set_debuginfod(r.ctx, true);
	resolving_start(&r);
	ask(&r, &asked, "program", 1);
	const char *text, *remedy;
	if (resolver_sources_problem(r.resolver, &r.module, &text, &remedy) != RESOLVER_OK &&
	    (strstr(remedy, "libdebuginfod") || strstr(remedy, "--with-debuginfod")))
		skip_test("built without debuginfod");
	expect_lines(&asked);
	resolving_stop(&r);

	/* The program itself. */
	files_run("rm stripped");
	resolving_start(&r);
	ask(&r, &asked, "program", 1);
	expect_lines(&asked);
}

TEST(the_cause_of_missing_server_requests_is_the_remedy)
{
	RESOLVING r = {0};
	static struct asked asked;
	compile("program", "");
	files_run("strip -o stripped program");
	unsetenv("DEBUGINFOD_URLS");
	resolving_use(&r, "stripped");
	ok_or_fail(sp_ctx_new(&r.ctx));
	sp_ctx_set_debuginfod(r.ctx, true);
	resolving_start(&r);
	ask(&r, &asked, "program", 1);
	expect_none(&asked);
	const char *text, *remedy;
	ck_assert_int_eq(resolver_sources_problem(r.resolver, &r.module, &text, &remedy),
			 RESOLVER_NO_SYMBOLS);
	/* The case's file is in no package: no server can have it. */
	ck_assert_msg(strstr(remedy, "build it with -g") && !strstr(remedy, "debuginfod"), "%s",
		      remedy);
	remedy = resolver_debug_remedy(r.resolver);
	ck_assert_msg(strstr(remedy, "DEBUGINFOD_URLS") || strstr(remedy, "--with-debuginfod"),
		      "%s", remedy);
	if (strstr(remedy, "--with-debuginfod"))
		return;

	/* The distribution's server, its base's, and none. */
	static const char *const releases[][2] = {
		{"NAME=\"Debian\"\nID=debian\n", "=https://debuginfod.debian.net,"},
		{"ID_LIKE=\"ubuntu debian\"\nID=mint\n", "=https://debuginfod.ubuntu.com,"},
		{"ID=\"centos\"\nID_LIKE=\"rhel fedora\"\n", "=https://debuginfod.centos.org,"},
		{"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "to a debuginfod server,"},
		{"ID=\"rhel\"\nID_LIKE=\"fedora\"\n", "to a debuginfod server,"},
		{"ID=\"debian-like\"\n", "to a debuginfod server,"},
		{"ID=", "to a debuginfod server,"},
	};
	files_run("mkdir -p root/etc");
	ok_or_fail(sp_ctx_set_root(r.ctx, files_path("root")));
	for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++) {
		files_write(files_path("root/etc/os-release"), releases[i][0],
			    strlen(releases[i][0]));
		remedy = resolver_debug_remedy(r.resolver);
		ck_assert_msg(strstr(remedy, releases[i][1]), "%zu: %s", i, remedy);
	}
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:9", 1);
	remedy = resolver_debug_remedy(r.resolver);
	ck_assert_msg(strstr(remedy, "no server of DEBUGINFOD_URLS has them") ||
			      strstr(remedy, "libdebuginfod") || strstr(remedy, "CACHE_PATH"),
		      "%s", remedy);
}

TEST(no_server_is_advised_for_a_missing_program_of_its_user)
{
	RESOLVING r = {0};
	const char *text, *remedy;
	compile("program", "");
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:9", 1);
	if (!debuginfod_has_servers())
		skip_test("built without debuginfod");
	for (int packaged = 0; packaged < 2; packaged++) {
		resolving_use(&r, "program");
		r.module.path = packaged ? "/usr/bin/sprof-test-missing" :
					   files_path("missing");
		resolving_start(&r);
		resolving_find(&r, 0);
		ck_assert_int_eq(resolver_problem(r.resolver, &r.module, &text, &remedy),
				 RESOLVER_MISSING_FILE);
		ck_assert_msg(!strstr(remedy, "--debuginfod") == !packaged, "%s", remedy);
		resolving_stop(&r);
	}
}

/* A section of a 64-bit file in memory, in host order; fails the case where there is none. */
static Elf64_Shdr *find_section(uint8_t *bytes, const char *name)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + header->e_shoff);
	const char *names = (const char *)bytes + sections[header->e_shstrndx].sh_offset;
	for (int i = 0; i < header->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, name))
			return &sections[i];
	ck_abort_msg("no section %s", name);
	return NULL;
}

static uint8_t *load(const char *name, size_t *size_ret)
{
	FILE *file = fopen(files_path(name), "r");
	ck_assert(file);
	uint8_t *bytes = malloc(1 << 22);
	*size_ret = fread(bytes, 1, 1 << 21, file);
	fclose(file);
	return bytes;
}

TEST(damage_is_said_and_the_rest_used)
{
	RESOLVING r = {0};
	static struct asked asked;
	size_t size;
	compile("program", "-gdwarf-4");
	uint8_t *bytes = load("program", &size);
	Elf64_Shdr *info = find_section(bytes, ".debug_info");
	/* All but the first entry, of the unit that is ours (the only one of this compiler). */
	memset(bytes + info->sh_offset + info->sh_size / 2, 0x7f, info->sh_size / 2);
	files_write(files_path("damaged"), bytes, size);
	free(bytes);
	resolving_use(&r, "damaged");
	resolving_start(&r);
	ask(&r, &asked, "program", 1);
	expect_problem(&r, RESOLVER_DAMAGED_FILE, "damaged: .debug_info: offset 0x", NULL);
	ck_assert_ptr_nonnull(asked.frames[0]);
	ck_assert_uint_gt(asked.frames[0]->line, 0);
}

TEST(a_file_that_is_cut_short_is_said)
{
	RESOLVING r = {0};
	static struct asked asked;
	size_t size;
	compile("program", "");
	uint8_t *bytes = load("program", &size);
	find_section(bytes, ".debug_line")->sh_size = (uint64_t)1 << 40;
	files_write(files_path("cut"), bytes, size);
	free(bytes);
	resolving_use(&r, "cut");
	resolving_start(&r);
	ask(&r, &asked, "program", 1);
	expect_none(&asked);
	expect_problem(&r, RESOLVER_DAMAGED_FILE, "cut: .debug_line: offset 0x0: the section reaches",
		       NULL);
}

#ifdef HAVE_ZSTD
/* Moves a section, compressed, to the end of the file. */
static size_t compress_section(uint8_t *bytes, size_t size, const char *name)
{
	Elf64_Shdr *section = find_section(bytes, name);
	Elf64_Chdr header = {.ch_type = 2, .ch_size = section->sh_size, .ch_addralign = 1};
	size = (size + 7) / 8 * 8;
	memcpy(bytes + size, &header, sizeof(header));
	size_t packed = ZSTD_compress(bytes + size + sizeof(header), 1 << 20,
				      bytes + section->sh_offset, section->sh_size, 3);
	ck_assert(!ZSTD_isError(packed));
	section->sh_offset = size;
	section->sh_size = sizeof(header) + packed;
	section->sh_flags |= SHF_COMPRESSED;
	return size + section->sh_size;
}

TEST(sections_compressed_by_zstd)
{
	RESOLVING r = {0};
	static struct asked asked;
	size_t size;
	compile("program", "");
	uint8_t *bytes = load("program", &size);
	const char *const names[] = {".debug_info", ".debug_abbrev", ".debug_line", ".debug_str"};
	for (int i = 0; i < 4; i++)
		size = compress_section(bytes, size, names[i]);
	files_write(files_path("packed"), bytes, size);
	resolving_use(&r, "packed");
	resolving_start(&r);
	ask(&r, &asked, "program", 2);
	expect_lines(&asked);
	expect_problem(&r, RESOLVER_OK, NULL, NULL);
	resolving_stop(&r);

	/* No zstd frame any more. */
	Elf64_Shdr *section = find_section(bytes, ".debug_info");
	bytes[section->sh_offset + sizeof(Elf64_Chdr)] ^= 0xff;
	files_write(files_path("packed"), bytes, size);
	free(bytes);
	resolving_use(&r, "packed");
	resolving_start(&r);
	ask(&r, &asked, "program", 2);
	const char *text, *remedy;
	ck_assert_int_eq(resolver_sources_problem(r.resolver, &r.module, &text, &remedy),
			 RESOLVER_DAMAGED_FILE);
	ck_assert(strstr(text, "packed"));
}
#endif

TEST(a_file_replaced_meanwhile_is_said)
{
	RESOLVING r = {0};
	static struct asked asked;
	compile("program", "");
	files_run("cp program kept; cp program other; strip other");
	resolving_use(&r, "program");
	resolving_start(&r);
	resolving_find(&r, resolving_function("kept", "outer"));
	files_run("mv other program");
	ask(&r, &asked, "kept", 1);
	expect_none(&asked);
	const char *text, *remedy;
	ck_assert_int_ne(resolver_sources_problem(r.resolver, &r.module, &text, &remedy),
			 RESOLVER_OK);
	ck_assert_msg(strstr(text, "replaced"), "%s", text);
}
