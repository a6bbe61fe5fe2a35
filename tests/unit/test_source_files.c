/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that may, and files that must not be read for --source. */
#include "source_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include "test.h"

static char top[] = "/tmp/sprof-source-XXXXXX";

static void write_file(const char *name, const char *text, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, size), (ssize_t)size);
	close(fd);
}

/* Makes in/a.c, in/deep/b.c, out/secret, and what must not be read. The process then is in `top`. */
static void make_files(void)
{
	ck_assert_ptr_nonnull(mkdtemp(top));
	ck_assert_int_eq(chdir(top), 0);
	ck_assert_int_eq(mkdir("in", 0755) | mkdir("in/deep", 0755) | mkdir("out", 0755), 0);
	write_file("in/a.c", "one\ntwo\n", 8);
	write_file("in/deep/b.c", "b\n", 2);
	write_file("in/binary", "a\0b", 3);
	write_file("out/secret", "secret\n", 7);
	ck_assert_int_eq(symlink("../out/secret", "in/link.c"), 0);
	ck_assert_int_eq(symlink("../out", "in/way"), 0);
	ck_assert_int_eq(mkfifo("in/pipe", 0644), 0);
	write_file("in/large", "x\n", 2);
	ck_assert_int_eq(truncate("in/large", SOURCE_FILE_SIZE + 1), 0);
}

static void remove_files(void)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -r %s", top);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(command), 0);
	strcpy(top, "/tmp/sprof-source-XXXXXX");
}

static void expect(struct source_roots *roots, const char *name, const char *wanted)
{
	char path[200];
	snprintf(path, sizeof(path), *name == '/' ? "%s%s" : "%s/%s", *name == '/' ? "" : top, name);
	char *text = source_read(roots, path);
	if (wanted)
		ck_assert_str_eq(text, wanted);
	else
		ck_assert_msg(!text, "%s was read", path);
	free(text);
}

TEST(files_below_the_directories_are_read)
{
	make_files();
	const char *directories[] = {"in"};
	struct source_roots roots;
	ck_assert(source_roots_open(&roots, directories, 1));
	expect(&roots, "in/a.c", "one\ntwo\n");
	expect(&roots, "in/deep/b.c", "b\n");
	expect(&roots, "in/./deep//../a.c", "one\ntwo\n");
	source_roots_deinit(&roots);
	remove_files();
}

TEST(other_files_are_not_read)
{
	make_files();
	const char *directories[] = {"in"};
	struct source_roots roots;
	ck_assert(source_roots_open(&roots, directories, 1));
	expect(&roots, "out/secret", NULL);
	expect(&roots, "in/../out/secret", NULL);
	expect(&roots, "in/link.c", NULL);
	expect(&roots, "in/way/secret", NULL);
	expect(&roots, "in/pipe", NULL);
	expect(&roots, "in/deep", NULL);
	expect(&roots, "in/binary", NULL);
	expect(&roots, "in/large", NULL);
	expect(&roots, "in/missing", NULL);
	expect(&roots, "in", NULL);
	expect(&roots, "/../../etc/passwd", NULL);
	ck_assert_ptr_null(source_read(&roots, "in/a.c"));
	ck_assert_ptr_null(source_read(&roots, ""));
	source_roots_deinit(&roots);
	remove_files();
}

/* Opening a device can act on it. */
TEST(other_files_are_not_opened)
{
	make_files();
	const char *directories[] = {"in"};
	struct source_roots roots;
	char events[4096];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	ck_assert_int_ge(watch, 0);
	ck_assert(source_roots_open(&roots, directories, 1));
	ck_assert_int_ge(inotify_add_watch(watch, "in/pipe", IN_OPEN), 0);
	expect(&roots, "in/pipe", NULL);
	ck_assert_int_eq(read(watch, events, sizeof(events)), -1);
	ck_assert_int_ge(inotify_add_watch(watch, "in/a.c", IN_OPEN), 0);
	expect(&roots, "in/a.c", "one\ntwo\n");
	ck_assert_int_gt(read(watch, events, sizeof(events)), 0);
	close(watch);
	source_roots_deinit(&roots);
	remove_files();
}

/* A hostile program's debug information may name .ssh/id_rsa. */
TEST(private_files_are_read_only_of_named_directories)
{
	make_files();
	const char *directories[] = {"."};
	struct source_roots roots;
	ck_assert_int_eq(mkdir("in/.ssh", 0755), 0);
	write_file("in/.ssh/key", "key\n", 4);
	write_file("in/.hidden", "hidden\n", 7);
	write_file("in/private.c", "private\n", 8);
	ck_assert_int_eq(chmod("in/private.c", 0640), 0);
	ck_assert(source_roots_open(&roots, NULL, 0));
	expect(&roots, "in/.ssh/key", NULL);
	expect(&roots, "in/.hidden", NULL);
	expect(&roots, "in/private.c", NULL);
	expect(&roots, "in/.missing", NULL);
	ck_assert_uint_eq(roots.private_count, 3);
	expect(&roots, "in/./deep/../a.c", "one\ntwo\n");
	source_roots_deinit(&roots);
	ck_assert(source_roots_open(&roots, directories, 1));
	expect(&roots, "in/.ssh/key", "key\n");
	expect(&roots, "in/.hidden", "hidden\n");
	expect(&roots, "in/private.c", "private\n");
	ck_assert_uint_eq(roots.private_count, 0);
	source_roots_deinit(&roots);
	remove_files();
}

TEST(the_root_directory_contains_all)
{
	make_files();
	const char *directories[] = {"/"};
	struct source_roots roots;
	ck_assert(source_roots_open(&roots, directories, 1));
	expect(&roots, "in/a.c", "one\ntwo\n");
	expect(&roots, "in/link.c", NULL);
	source_roots_deinit(&roots);
	remove_files();
}
