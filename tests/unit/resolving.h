/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A module and a resolver, for the tests of symbol sources. */
#ifndef UNIT_RESOLVING_H
#define UNIT_RESOLVING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "base/ctx.h"
#include "elf/image.h"
#include "files.h"
#include "symbol/resolver.h"
#include "test.h"

struct resolving {
	struct sp_ctx *ctx;
	struct resolver *resolver;
	struct resolver_options options;
	struct module module;
	uint32_t pid;
	uint64_t distance; /* distance of an ip from its offset */
};

static inline void resolving_start(struct resolving *r)
{
	if (!r->ctx)
		ok_or_fail(sp_ctx_new(&r->ctx));
	/* The user's caches must not help. */
	setenv("HOME", files_folder(), 1);
	ok_or_fail(resolver_new(r->ctx, &r->options, &r->resolver));
}

static inline void resolving_stop(struct resolving *r)
{
	resolver_free(r->resolver);
	r->resolver = NULL;
}

static inline void resolving_deinit(struct resolving *r)
{
	resolving_stop(r);
	sp_ctx_free(r->ctx);
}

#define RESOLVING CLEANUP(resolving_deinit) struct resolving

static inline const struct symbol *resolving_find(struct resolving *r, uint64_t offset)
{
	struct location location = {
		.module = &r->module,
		.offset = offset,
		.ip = offset + r->distance,
		.pid = r->pid,
	};
	return resolver_find(r->resolver, &location);
}

/* A name of NULL: none is known; its function may be. */
static inline void resolving_expect(struct resolving *r, uint64_t offset, const char *name)
{
	const struct symbol *symbol = resolving_find(r, offset);
	if (!symbol_is_named(symbol))
		symbol = NULL;
	const char *text, *remedy;
	resolver_problem(r->resolver, &r->module, &text, &remedy);
	ck_assert_msg(symbol || !name, "0x%lx: no name, %s expected: %s", (long)offset, name, text);
	ck_assert_msg(!symbol || name, "0x%lx: no name expected, but %s", (long)offset,
		      symbol ? symbol->name : "");
	if (symbol)
		ck_assert_str_eq(symbol->name, name);
}

/* The module has that problem, and `said` is in the sentence. */
static inline void resolving_problem(struct resolving *r, enum resolver_problem problem,
				     const char *said)
{
	const char *text, *remedy;
	int found = resolver_problem(r->resolver, &r->module, &text, &remedy);
	ck_assert_msg(found == (int)problem, "problem %d, not %d: %s", found, (int)problem, text);
	if (said)
		ck_assert_msg(text && strstr(text, said), "'%s' not in '%s'", said, text);
}

/* Returns the file offset of a program's vaddr, by readelf. */
static inline uint64_t resolving_offset(const char *program, uint64_t vaddr)
{
	char *text =
		files_output("readelf -lW %s | awk '$1 == \"LOAD\" { print $2, $3, $5 }'", program);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned long long offset, start, size;
		if (sscanf(line, "%llx %llx %llx", &offset, &start, &size) == 3 && vaddr >= start &&
		    vaddr < start + size)
			return vaddr - start + offset;
	}
	ck_abort_msg("0x%lx is in no segment of %s", (long)vaddr, program);
	return 0;
}

/* Returns the file offset of a function, by nm and readelf. */
static inline uint64_t resolving_function(const char *program, const char *function)
{
	char *vaddr = files_output("nm %s | awk '$3 == \"%s\" { print $1 }'", program, function);
	ck_assert_msg(*vaddr, "no %s in %s", function, program);
	return resolving_offset(program, strtoull(vaddr, NULL, 16));
}

/* A file offset in an executable segment, at random. */
static inline uint64_t resolving_random_offset(const struct image *image)
{
	uint64_t total = 0;
	for (size_t i = 0; i < image->loads.count; i++)
		total += image->loads.items[i].executable ? image->loads.items[i].file_size : 0;
	uint64_t at = ((uint64_t)rand() << 16 ^ (uint64_t)rand()) % total;
	for (size_t i = 0; i < image->loads.count; i++) {
		const struct image_load *load = &image->loads.items[i];
		if (!load->executable)
			continue;
		if (at < load->file_size)
			return load->file_offset + at;
		at -= load->file_size;
	}
	return 0;
}

/* The file as the recording would have it. */
static inline void resolving_use(struct resolving *r, const char *name)
{
	struct image *image;
	const char *path = *name == '/' ? name : files_path(name);
	ok_or_fail(image_open(path, &image));
	r->module = (struct module){
		.kind = MODULE_FILE,
		.path = path,
		.name = name,
		.is_64bit = true,
		.build_id_size = image->build_id_size,
		.ino = image->inode,
		.maj = major(image->device),
		.min = minor(image->device),
	};
	memcpy(r->module.build_id, image->build_id, image->build_id_size);
	image_free(image);
}

/* Three functions, one of them static. */
static inline void resolving_compile(const char *output, const char *flags)
{
	files_run("cat >p.c <<'END'\n"
		  "#include <unistd.h>\n"
		  "#ifdef OTHER\n"
		  "int other = 1;\n"
		  "#endif\n"
		  "__attribute__((noinline)) int work(int x) { return x * 3 + 1; }\n"
		  "__attribute__((noinline)) static int hidden(int x) { return work(x) + 2; }\n"
		  "int main(int argc, char **argv)\n"
		  "{\n"
		  "     if (argc > 1)\n"
		  "             sleep(100);\n"
		  "     return (hidden(argc) + work(argc)) * !argv;\n"
		  "}\n"
		  "END\n"
		  "$CC -O1 -fno-inline -Wl,--build-id %s -o %s p.c",
		  flags, output);
}

#endif
