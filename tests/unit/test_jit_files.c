/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf maps and jitdumps are read once, and take a bounded amount of memory together. */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "files.h"
#include "symbol/jit_files.h"
#include "symbol/resolver.h"

DEFINE_CLEANUP(struct jit_files *, jit_files_free)

static const struct perfmap *map_of(struct jit_files *files, const char *name, unsigned int problem)
{
	CLEANUP(diagnosis_clear) struct diagnosis why = {0};
	CLEANUP_CLOSE int fd = open(files_path(name), O_RDONLY | O_CLOEXEC);
	const struct perfmap *map;
	ck_assert_int_ge(fd, 0);
	ok_or_fail(jit_files_perfmap(files, &(struct jit_file_place){.fd = fd, .path = name}, &why,
				     &map));
	ck_assert_uint_eq(why.problem, problem);
	ck_assert_int_eq(!map, problem != 0);
	return map;
}

static const struct jitdump *dump_of(struct jit_files *files, const char *name,
				     unsigned int problem)
{
	CLEANUP(diagnosis_clear) struct diagnosis why = {0};
	CLEANUP_CLOSE int fd = open(files_path(name), O_RDONLY | O_CLOEXEC);
	const struct jitdump *dump;
	ck_assert_int_ge(fd, 0);
	ok_or_fail(jit_files_jitdump(files, &(struct jit_file_place){.fd = fd, .path = name}, &why,
				     &dump));
	ck_assert_uint_eq(why.problem, problem);
	ck_assert_int_eq(!dump, problem != 0);
	return dump;
}

TEST(links_to_one_file_are_read_once)
{
	CLEANUP(cleanup_jit_files_free) struct jit_files *files = NULL;
	files_run("echo '1000 10 first' >one && ln one two && cp one other");
	ok_or_fail(jit_files_new(0, NULL, &files));
	const struct perfmap *map = map_of(files, "one", 0);
	ck_assert_ptr_eq(map_of(files, "two", 0), map);
	ck_assert_ptr_ne(map_of(files, "other", 0), map);
	/* A runtime has written more. */
	files_run("echo '2000 10 second' >>two");
	ck_assert_uint_eq(perfmap_count(map_of(files, "one", 0)), 2);
	ck_assert_uint_eq(perfmap_count(map), 1);
}

TEST(perf_maps_share_a_limit)
{
	CLEANUP(cleanup_jit_files_free) struct jit_files *files = NULL;
	files_run("seq -f '%%.0f0 10 name' 1000 1999 >one && cp one two && cp one three && "
		  "echo >small");
	ok_or_fail(jit_files_new(170000, NULL, &files));
	const struct perfmap *map = map_of(files, "one", 0);
	ck_assert_uint_ge(perfmap_memory(map), 1000 * 28);
	map_of(files, "two", 0);
	ck_assert_uint_lt(2 * perfmap_memory(map), 170000);
	map_of(files, "three", RESOLVER_TOO_LARGE);
	/* A refused file stays refused, one that was read is still there, and small ones fit. */
	map_of(files, "three", RESOLVER_TOO_LARGE);
	ck_assert_ptr_eq(map_of(files, "one", 0), map);
	map_of(files, "small", 0);
}

/* Appends a jitdump of functions "fN". */
static void put_dump(const char *name, unsigned int functions)
{
	FILE *file = fopen(files_path(name), "w");
	const struct {
		uint32_t magic, version, size, machine, pad, pid;
		uint64_t time, flags;
	} header = {0x4a695444, 1, 40, 62, 0, 1, 0, 0};
	ck_assert_ptr_nonnull(file);
	fwrite(&header, 40, 1, file);
	for (unsigned int i = 0; i < functions; i++) {
		struct {
			uint32_t id, record_size;
			uint64_t time;
			uint32_t pid, tid;
			uint64_t vma, address, size, index;
			char name[8], code[8];
		} load = {0, sizeof(load), i + 1, 1, 1, 0x1000 + 8 * i, 0x1000 + 8 * i, 8, i,
			  "", ""};
		snprintf(load.name, sizeof(load.name), "f%u", i);
		fwrite(&load, sizeof(load), 1, file);
	}
	fclose(file);
}

TEST(jitdumps_share_the_limit_with_perf_maps)
{
	CLEANUP(cleanup_jit_files_free) struct jit_files *files = NULL;
	put_dump("one", 100);
	put_dump("two", 100);
	files_run("seq -f '%%.0f0 10 name' 1000 1099 >map");
	ok_or_fail(jit_files_new(30000, NULL, &files));
	const struct jitdump *dump = dump_of(files, "one", 0);
	ck_assert_uint_eq(dump->codes.count, 100);
	ck_assert_uint_lt(jitdump_memory(dump), 30000);
	ck_assert_uint_ge(jitdump_memory(dump), 100 * sizeof(*dump->codes.items));
	ck_assert_ptr_eq(dump_of(files, "one", 0), dump);
	dump_of(files, "two", RESOLVER_TOO_LARGE);
	map_of(files, "map", RESOLVER_TOO_LARGE);
}

TEST(a_damaged_jitdump_has_its_own_reason_each_time)
{
	CLEANUP(cleanup_jit_files_free) struct jit_files *files = NULL;
	files_run("echo not a jitdump >bad");
	ok_or_fail(jit_files_new(0, NULL, &files));
	dump_of(files, "bad", RESOLVER_DAMAGED_FILE);
	dump_of(files, "bad", RESOLVER_DAMAGED_FILE);
}

static const struct perfmap *held_map_of(struct jit_files *files, const char *name,
					 const struct held_map *held)
{
	CLEANUP(diagnosis_clear) struct diagnosis why = {0};
	CLEANUP_CLOSE int fd = open(files_path(name), O_RDONLY | O_CLOEXEC);
	const struct perfmap *map;
	ok_or_fail(jit_files_perfmap(files, &(struct jit_file_place){.fd = fd, .path = name,
								     .held = held}, &why, &map));
	ck_assert_int_eq(!map, why.problem == RESOLVER_TOO_LARGE);
	return map;
}

/* Links to one file: the times of its lines are those of a process, and a map is no jitdump. */
TEST(a_file_is_read_for_each_use)
{
	CLEANUP(cleanup_jit_files_free) struct jit_files *files = NULL;
	struct map_mark marks[] = {{5, 14}, {9, 28}};
	const struct held_map known = {.marks = {.items = marks, .count = 2}};
	const struct held_map later = {.marks = {.items = marks, .count = 1}};
	files_run("printf '1000 10 first\\n1000 10 after\\n' >one && yes x | head -c 100000 >junk");
	ok_or_fail(jit_files_new(200000, NULL, &files));
	dump_of(files, "one", RESOLVER_DAMAGED_FILE);
	map_of(files, "one", 0);
	ck_assert_uint_eq(perfmap_timed_count(held_map_of(files, "one", &known)), 2);
	ck_assert_uint_eq(perfmap_timed_count(held_map_of(files, "one", &later)), 0);
	/* Text without functions takes part of the limit. */
	struct held_map processes[20] = {0};
	const struct perfmap *map = held_map_of(files, "junk", NULL);
	for (size_t i = 0; i < 20 && map; i++)
		map = held_map_of(files, "junk", &processes[i]);
	ck_assert_ptr_null(map);
}

TEST(an_unreadable_file_has_its_reason_each_time)
{
	CLEANUP(cleanup_jit_files_free) struct jit_files *files = NULL;
	const struct jitdump *dump;
	const struct perfmap *map;
	files_run("echo '1000 10 name' >one");
	CLEANUP_CLOSE int fd = open(files_path("one"), O_WRONLY | O_CLOEXEC);
	ok_or_fail(jit_files_new(0, NULL, &files));
	for (int i = 0; i < 4; i++) {
		CLEANUP(diagnosis_clear) struct diagnosis why = {0};
		const struct jit_file_place place = {.fd = i < 2 ? fd : -1, .path = "one"};
		ok_or_fail(jit_files_perfmap(files, &place, &why, &map));
		ck_assert_ptr_null(map);
		ck_assert_uint_eq(why.problem, RESOLVER_DAMAGED_FILE);
		diagnosis_clear(&why);
		why = (struct diagnosis){0};
		ok_or_fail(jit_files_jitdump(files, &place, &why, &dump));
		ck_assert_ptr_null(dump);
		ck_assert_uint_eq(why.problem, RESOLVER_DAMAGED_FILE);
	}
}
