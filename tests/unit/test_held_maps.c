/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf maps that a recorder holds: which files, how they grow, and what remains of them. */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "binary/held_maps.h"
#include "root.h"

DEFINE_CLEANUP(struct held_maps *, held_maps_free)
#define HELD CLEANUP(cleanup_held_maps_free) struct held_maps *

#define MAP "/proc/5/root/tmp/perf-17.map"

static void path_of(const struct root *root, const char *path, char *ret, size_t size)
{
	ck_assert_int_lt(snprintf(ret, size, "%s%s", root->path, path), (int)size);
}

static void append(const struct root *root, const char *path, const char *text)
{
	char whole[256];
	path_of(root, path, whole, sizeof(whole));
	CLEANUP(cleanup_fclose) FILE *file = fopen(whole, "a");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
}

static void delete(const struct root *root, const char *path)
{
	char whole[256];
	path_of(root, path, whole, sizeof(whole));
	ck_assert_int_eq(unlink(whole), 0);
}

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Process 5, which is 17 in its own namespace. */
static struct held_maps *watch(struct root *root)
{
	struct held_maps *maps = NULL;
	root_put(root, "/proc/5/status", "Name:\ta\nNSpid:\t5\t17\nState:\tR\n");
	root_put(root, "/proc/5/root/tmp/other", "");
	ok_or_fail(held_maps_new(root->ctx, &maps));
	ck_assert(held_maps_watch(maps, 5, now()));
	return maps;
}

TEST(a_held_map_outlives_its_file)
{
	ROOT root;
	root_init(&root);
	HELD maps = watch(&root);
	held_maps_mark(maps, now());
	ck_assert(!held_maps_find(maps, 5)->found);
	root_put(&root, MAP, "1000 10 first\n");
	uint64_t before = now();
	held_maps_mark(maps, now() + 1000000000);
	const struct held_map *map = held_maps_find(maps, 5);
	ck_assert(map->found);
	ck_assert_uint_eq(map->number, 17);
	ck_assert_uint_eq(map->marks.count, 1);
	held_maps_mark(maps, now() + 1000000000);
	ck_assert_uint_eq(map->marks.count, 1);
	append(&root, MAP, "2000 10 second\n");
	/* An end finds what was written since. */
	held_maps_end(maps, 5, now() + 1000000000);
	delete(&root, MAP);
	ck_assert(map->ended);
	ck_assert_uint_eq(map->marks.count, 2);
	ck_assert_uint_eq(map->marks.items[1].size, 29);
	ck_assert_uint_ge(map->marks.items[1].time_ns, before);
	char text[64] = "";
	ck_assert_int_eq(pread(map->fd, text, sizeof(text), 0), 29);
	ck_assert_str_eq(text, "1000 10 first\n2000 10 second\n");
}

TEST(a_map_that_appears_at_the_end_is_held)
{
	ROOT root;
	root_init(&root);
	HELD maps = watch(&root);
	held_maps_mark(maps, now());
	root_put(&root, MAP, "1000 10 first\n");
	held_maps_end(maps, 5, now());
	ck_assert(held_maps_find(maps, 5)->found);
	/* The next process of that number has none. */
	delete(&root, MAP);
	ck_assert(held_maps_watch(maps, 5, now()));
	held_maps_mark(maps, now());
	ck_assert(!held_maps_find(maps, 5)->found);
}

TEST(a_map_that_begins_again_has_one_mark)
{
	ROOT root;
	root_init(&root);
	HELD maps = watch(&root);
	root_put(&root, MAP, "1000 10 first\n2000 10 second\n");
	held_maps_mark(maps, now());
	root_put(&root, MAP, "1000 10 other\n");
	held_maps_mark(maps, now());
	ck_assert_uint_eq(held_maps_find(maps, 5)->marks.count, 1);
	ck_assert_uint_eq(held_maps_find(maps, 5)->marks.items[0].size, 14);
}

TEST(marks_are_limited)
{
	ROOT root;
	root_init(&root);
	HELD maps = watch(&root);
	root_put(&root, MAP, "1000 10 first\n");
	held_maps_mark(maps, now());
	for (unsigned int i = 0; i < 5000; i++) {
		append(&root, MAP, "\n");
		held_maps_mark(maps, now());
	}
	const struct held_map *map = held_maps_find(maps, 5);
	ck_assert_uint_lt(map->marks.count, 4097);
	ck_assert_uint_eq(map->marks.items[0].size, 14);
	ck_assert_uint_eq(vec_last(&map->marks)->size, 5014);
	for (size_t i = 1; i < map->marks.count; i++) {
		ck_assert_uint_gt(map->marks.items[i].size, map->marks.items[i - 1].size);
		ck_assert_uint_ge(map->marks.items[i].time_ns, map->marks.items[i - 1].time_ns);
	}
}

TEST(a_child_is_watched_until_it_executes)
{
	ROOT root;
	root_init(&root);
	HELD maps = watch(&root);
	root_put(&root, "/proc/6/status", "Name:\tb\n");
	root_put(&root, "/proc/6/root/tmp/perf-6.map", "1000 10 own\n");
	ck_assert(held_maps_fork(maps, 4, 9, now()));
	ck_assert_ptr_null(held_maps_find(maps, 9));
	ck_assert(held_maps_fork(maps, 5, 6, now()));
	ck_assert(held_maps_find(maps, 6)->inherited);
	held_maps_mark(maps, now());
	ck_assert(held_maps_find(maps, 6)->found);
	held_maps_end(maps, 6, now());
	ck_assert(held_maps_watch(maps, 6, now()));
	ck_assert(!held_maps_find(maps, 6)->inherited);
}

TEST(other_kinds_of_files_are_not_opened)
{
	ROOT root;
	char path[256];
	root_init(&root);
	HELD maps = watch(&root);
	path_of(&root, MAP, path, sizeof(path));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	held_maps_mark(maps, now());
	ck_assert(!held_maps_find(maps, 5)->found);
	delete(&root, MAP);
	root_put(&root, "/proc/5/root/tmp/target", "1000 10 linked\n");
	ck_assert_int_eq(symlink("target", path), 0);
	held_maps_mark(maps, now() + 1000000000);
	ck_assert(!held_maps_find(maps, 5)->found);
	delete(&root, MAP);
	root_put(&root, MAP, "1000 10 strange\n");
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(path, 4711, 4711), 0);
		held_maps_mark(maps, now() + 2000000000);
		ck_assert(!held_maps_find(maps, 5)->found);
		ck_assert_int_eq(chown(path, 0, 0), 0);
	}
	held_maps_end(maps, 5, now() + 3000000000);
	ck_assert(held_maps_find(maps, 5)->found);
}

TEST(a_held_jitdump_outlives_its_file)
{
	static const char path[] = "/proc/5/root/home/jit-17.dump";
	ROOT root;
	char whole[256], text[64] = "";
	struct stat status;
	root_init(&root);
	HELD maps = watch(&root);
	root_put(&root, path, "first");
	path_of(&root, path, whole, sizeof(whole));
	ck_assert_int_eq(stat(whole, &status), 0);
	/* Another file is there than the mapped one. */
	ck_assert(held_maps_add_dump(maps, 5, "/home/jit-17.dump", status.st_ino + 1));
	ck_assert_int_lt(held_maps_dump(maps, 5, status.st_ino + 1), 0);
	ck_assert(held_maps_add_dump(maps, 5, "/home/jit-17.dump", status.st_ino));
	ck_assert(held_maps_add_dump(maps, 5, "/home/jit-17.dump", status.st_ino));
	append(&root, path, " second");
	held_maps_end(maps, 5, now());
	delete(&root, path);
	int fds[4];
	ck_assert_uint_le(held_maps_fds(maps, NULL), 4);
	ck_assert_uint_eq(held_maps_fds(maps, fds), 1);
	ck_assert_int_eq(held_maps_dump(maps, 5, status.st_ino), fds[0]);
	ck_assert_int_eq(pread(fds[0], text, sizeof(text), 0), 12);
	ck_assert_str_eq(text, "first second");
}
