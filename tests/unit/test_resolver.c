/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include "elf/image.h"
#include "files.h"
#include "symbol/demangle.h"
#include "symbol/resolver.h"

struct fixture {
	struct sp_ctx *ctx;
	struct resolver *resolver;
	struct resolver_options options;
	struct module module;
};

static void start(struct fixture *f)
{
	if (!f->ctx)
		ok_or_fail(sp_ctx_new(&f->ctx));
	ok_or_fail(resolver_new(f->ctx, &f->options, &f->resolver));
}

static void stop(struct fixture *f)
{
	resolver_free(f->resolver);
	sp_ctx_free(f->ctx);
}

static const struct symbol *find(struct fixture *f, uint64_t offset)
{
	struct location location = {.module = &f->module, .offset = offset};
	return resolver_find(f->resolver, &location);
}

static void expect_problem(struct fixture *f, enum resolver_problem problem, const char *said)
{
	const char *text, *remedy;
	ck_assert_int_eq(resolver_problem(f->resolver, &f->module, &text, &remedy), problem);
	if (said)
		ck_assert_msg(text && strstr(text, said), "'%s' not in '%s'", said, text);
}

/* Where the function begins in its file, by nm and readelf. */
static uint64_t file_offset(const char *program, const char *function)
{
	char *vaddr = files_output("nm %s | awk '$3 == \"%s\" { print $1 }'", program, function);
	ck_assert_msg(*vaddr, "no %s in %s", function, program);
	uint64_t wanted = strtoull(vaddr, NULL, 16);
	char *text = files_output(
		"readelf -lW %s | awk '$1 == \"LOAD\" { print $2, $3, $5 }'", program);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned long long offset, start, size;
		if (sscanf(line, "%llx %llx %llx", &offset, &start, &size) == 3 &&
		    wanted >= start && wanted < start + size)
			return wanted - start + offset;
	}
	ck_abort_msg("%s is in no segment", function);
	return 0;
}

static void compile(const char *output, const char *flags)
{
	files_run("cat >p.c <<'END'\n"
		  "__attribute__((noinline)) int work(int x) { return x * 3 + 1; }\n"
		  "__attribute__((noinline)) static int hidden(int x) { return work(x) + 2; }\n"
		  "int main(int argc, char **argv) { (void)argv; return hidden(argc) + work(argc); }\n"
		  "END\n"
		  "$CC -O1 -fno-inline -Wl,--build-id %s -o %s p.c", flags, output);
}

static void use(struct fixture *f, const char *name)
{
	struct image *image;
	ok_or_fail(image_open(files_path(name), &image));
	f->module = (struct module){
		.kind = MODULE_FILE, .path = files_path(name), .name = name, .is_64bit = true,
		.build_id_size = image->build_id_size, .ino = image->inode,
		.maj = major(image->device), .min = minor(image->device),
	};
	memcpy(f->module.build_id, image->build_id, image->build_id_size);
	image_free(image);
}

TEST(resolver_names_functions_of_a_program)
{
	struct fixture f = {0};
	compile("prog", "");
	use(&f, "prog");
	start(&f);
	uint64_t at = file_offset("prog", "hidden");
	const struct symbol *symbol = find(&f, at);
	ck_assert(symbol);
	ck_assert_str_eq(symbol->name, "hidden");
	ck_assert_uint_eq(symbol->start, at);
	ck_assert_uint_gt(symbol->size, 0);
	ck_assert_ptr_eq(symbol, find(&f, at + 1));
	ck_assert_str_eq(find(&f, file_offset("prog", "work"))->name, "work");
	expect_problem(&f, RESOLVER_OK, NULL);
	ck_assert(!find(&f, 1 << 30));
	stop(&f);
}

TEST(resolver_reads_the_running_kernel)
{
	struct utsname name;
	ck_assert_int_eq(uname(&name), 0);
	char *first = files_output("awk '/ [Tt] _text$/ { print $1 }' /proc/kallsyms");
	uint64_t text = strtoull(first, NULL, 16);
	if (!text)
		return; /* hidden */
	struct fixture f = {.options.osrelease = name.release};
	f.module = (struct module){
		.kind = MODULE_KERNEL, .path = "[kernel.kallsyms]", .name = "[kernel.kallsyms]",
		.start = text, .end = text + (1 << 24), .reference = text,
		.reference_symbol = "_text",
	};
	start(&f);
	char *line = files_output("grep -m1 ' T vfs_read$' /proc/kallsyms");
	uint64_t ip = strtoull(line, NULL, 16);
	const struct symbol *symbol = find(&f, ip + 4);
	ck_assert(symbol);
	ck_assert_str_eq(symbol->name, "vfs_read");
	ck_assert_uint_eq(symbol->start, ip);
	stop(&f);
}
