/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf maps and jitdumps: found where the process put them, and believed only if they may be its own. */
#include "test.h"

#include <sys/sysmacros.h>
#include <unistd.h>
#include "resolving.h"
#include "root.h"
#include "symbol/jit_files.h"

/* In the made-up root there is this process, and a file for it. */
struct jit {
	struct root root;
	struct resolving r;
};

#define PID 4711

static void jit_init(struct jit *j)
{
	root_init(&j->root);
	j->r = (struct resolving){
		.ctx = j->root.ctx,
		.pid = PID,
		.module =
			{
				.kind = MODULE_ANONYMOUS,
				.path = "//anon",
				.name = "[JIT] tid 4711",
				.pid = PID,
				.is_generated = true,
			},
	};
	resolving_start(&j->r);
}

static void jit_deinit(struct jit *j)
{
	resolving_stop(&j->r);
	root_deinit(&j->root);
}

#define JIT CLEANUP(jit_deinit) struct jit

static void give_to(struct jit *j, const char *path, uid_t owner)
{
	char whole[256];
	snprintf(whole, sizeof(whole), "%s%s", j->root.path, path);
	ck_assert_int_eq(lchown(whole, owner, (gid_t)-1), 0);
}

TEST(jit_map_in_tmp)
{
	JIT j;
	jit_init(&j);
	root_put(&j.root, "/tmp/perf-4711.map", "7000 100 fib /tmp/a.js:1\n7100 10 _ZN3fooEv\n");
	resolving_expect(&j.r, 0x7080, "fib /tmp/a.js:1");
	ck_assert_uint_eq(resolving_find(&j.r, 0x7080)->start, 0x7000);
	ck_assert_uint_eq(resolving_find(&j.r, 0x7080)->size, 0x100);
	/* The runtime's name is not a symbol table's name. */
	resolving_expect(&j.r, 0x7101, "_ZN3fooEv");
	resolving_expect(&j.r, 0x7110, NULL);
	resolving_problem(&j.r, RESOLVER_OK, NULL);
}

TEST(jit_map_beyond_the_limit)
{
	struct jit_files *files;
	JIT j;
	jit_init(&j);
	root_put(&j.root, "/tmp/perf-4711.map", "7000 100 fib /tmp/a.js:1\n");
	ok_or_fail(jit_files_new(16, NULL, &files));
	j.r.options.jit = files;
	resolving_stop(&j.r);
	resolving_start(&j.r);
	resolving_expect(&j.r, 0x7080, NULL);
	resolving_problem(&j.r, RESOLVER_TOO_LARGE, "perf maps and jitdumps may take");
	resolving_stop(&j.r);
	jit_files_free(files);
	j.r.options.jit = NULL;
	resolving_start(&j.r);
}

TEST(jit_map_of_another_host)
{
	JIT j;
	jit_init(&j);
	root_put(&j.root, "/tmp/perf-4711.map", "7000 100 fib /tmp/a.js:1\n");
	root_put(&j.root, "/proc/sys/kernel/hostname", "here\n");
	j.r.options.hostname = "elsewhere";
	resolving_stop(&j.r);
	resolving_start(&j.r);
	resolving_expect(&j.r, 0x7080, NULL);
	resolving_problem(&j.r, RESOLVER_NO_PERF_MAP, "is on this host, but was recorded on another");
	j.r.options.hostname = "here";
	resolving_stop(&j.r);
	resolving_start(&j.r);
	resolving_expect(&j.r, 0x7080, "fib /tmp/a.js:1");
}

TEST(jit_without_a_map)
{
	JIT j;
	jit_init(&j);
	root_put(&j.root, "/tmp/perf-4712.map", "7000 100 another\n");
	resolving_expect(&j.r, 0x7080, NULL);
	resolving_problem(&j.r, RESOLVER_NO_PERF_MAP, "perf-4711.map");
}

TEST(jit_map_with_lines_that_are_none)
{
	JIT j;
	jit_init(&j);
	root_put(&j.root, "/tmp/perf-4711.map", "7000 100 fib\nseven 10 lost\n7200 10 end\n");
	resolving_expect(&j.r, 0x7080, "fib");
	resolving_expect(&j.r, 0x7180, NULL);
	resolving_problem(&j.r, RESOLVER_NO_PERF_MAP, "perf-4711.map: 1 line ignored");
	resolving_expect(&j.r, 0x7200, "end");
}

TEST(jit_map_of_a_container)
{
	JIT j;
	jit_init(&j);
	root_put(&j.root, "/tmp/perf-4711.map", "7000 100 outside\n");
	root_put(&j.root, "/proc/4711/status", "Name:\tnode\nNSpid:\t4711\t12\nUid:\t0\n");
	root_put(&j.root, "/proc/4711/root/tmp/perf-12.map", "7000 100 inside\n");
	resolving_expect(&j.r, 0x7080, "inside");
}

TEST(jit_map_of_another_user_is_not_believed)
{
	if (geteuid() != 0)
		skip_test("needs root");
	JIT j;
	jit_init(&j);
	root_put(&j.root, "/tmp/perf-4711.map", "7000 100 planted\n");
	give_to(&j, "/tmp/perf-4711.map", 12345);
	resolving_expect(&j.r, 0x7080, NULL);
	resolving_problem(&j.r, RESOLVER_NO_PERF_MAP, "12345");
	/* The process lives, and is that user's. */
	root_put(&j.root, "/proc/4711/status", "Name:\tnode\n");
	give_to(&j, "/proc/4711", 12345);
	resolving_stop(&j.r);
	resolving_start(&j.r);
	resolving_expect(&j.r, 0x7080, "planted");
	/* Or another's. */
	give_to(&j, "/proc/4711", 12346);
	resolving_stop(&j.r);
	resolving_start(&j.r);
	resolving_expect(&j.r, 0x7080, NULL);
}

TEST(jit_map_that_is_a_link_is_not_followed)
{
	JIT j;
	char link[256];
	jit_init(&j);
	root_put(&j.root, "/tmp/real", "7000 100 linked\n");
	snprintf(link, sizeof(link), "%s/tmp/perf-4711.map", j.root.path);
	ck_assert_int_eq(symlink("real", link), 0);
	resolving_expect(&j.r, 0x7080, NULL);
	resolving_problem(&j.r, RESOLVER_NO_PERF_MAP, NULL);
}

TEST(jit_map_that_is_a_folder)
{
	JIT j;
	jit_init(&j);
	root_put(&j.root, "/tmp/perf-4711.map/file", "");
	resolving_expect(&j.r, 0x7080, NULL);
	resolving_problem(&j.r, RESOLVER_NO_PERF_MAP, NULL);
}

TEST(jit_map_below_symfs)
{
	JIT j;
	jit_init(&j);
	root_put(&j.root, "/tmp/perf-4711.map", "7000 100 here\n");
	files_run("mkdir -p symfs/tmp && echo '7000 100 there' >symfs/tmp/perf-4711.map");
	j.r.options.symfs = files_path("symfs");
	resolving_stop(&j.r);
	resolving_start(&j.r);
	resolving_expect(&j.r, 0x7080, "there");
}

TEST(jit_in_a_memfd)
{
	JIT j;
	jit_init(&j);
	root_put(&j.root, "/tmp/perf-4711.map", "7000 100 System.Main\n");
	j.r.module.kind = MODULE_FILE;
	j.r.module.path = "/memfd:doublemapper (deleted)";
	j.r.distance = 0x6000;
	resolving_expect(&j.r, 0x1080, "System.Main");
	ck_assert_uint_eq(resolving_find(&j.r, 0x1080)->start, 0x1000);
	resolving_expect(&j.r, 0x1100, NULL);
	resolving_problem(&j.r, RESOLVER_OK, NULL);
	j.r.pid = 4712;
	resolving_stop(&j.r);
	resolving_start(&j.r);
	resolving_expect(&j.r, 0x1080, NULL);
	resolving_problem(&j.r, RESOLVER_NO_PERF_MAP, "perf-4712.map");
}

/* A jitdump: "fib" at 104, of 32 bytes, with a line for its second half. */
#define DUMP_PID 4711

struct dump {
	uint32_t magic, version, size, machine, padding, pid;
	uint64_t time, flags;
	struct {
		uint32_t id, size;
		uint64_t time, start, count, address;
		uint32_t line, discriminator;
		char file[8];
	} lines;
	struct {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, start, size_of_code, index;
		char name[8];
		uint8_t code[32];
	} load;
};

#define CODE_OFFSET offsetof(struct dump, load.code)

static struct dump dump_make(void)
{
	struct dump dump = {
		.magic = 0x4a695444,
		.version = 1,
		.size = 40,
		.machine = 62,
		.pid = DUMP_PID,
		.lines = {.id = 2, .size = sizeof(dump.lines), .start = 0x7000, .count = 1,
			  .address = 0x7010, .line = 12, .file = "/a/b.js"},
		.load = {.size = sizeof(dump.load), .start = 0x7000,
			 .size_of_code = sizeof(dump.load.code), .name = "fib 7ff"},
	};
	for (size_t i = 0; i < sizeof(dump.load.code); i++)
		dump.load.code[i] = (uint8_t)i;
	return dump;
}

#define DUMP "/home/u/jit-4711.dump"

static void dump_put(struct jit *j, const char *path)
{
	const struct dump dump = dump_make();
	root_put_sized(&j->root, path, &dump, sizeof(dump));
}

static void dump_init(struct jit *j)
{
	jit_init(j);
	j->r.module.kind = MODULE_JIT;
	j->r.module.path = DUMP;
	dump_put(j, DUMP);
}

static void dump_again(struct jit *j)
{
	resolving_stop(&j->r);
	resolving_start(&j->r);
}

TEST(jitdump_names_lines_and_code)
{
	JIT j;
	dump_init(&j);
	resolving_expect(&j.r, CODE_OFFSET, "fib 7ff");
	resolving_expect(&j.r, CODE_OFFSET + 31, "fib 7ff");
	ck_assert_uint_eq(resolving_find(&j.r, CODE_OFFSET + 31)->start, CODE_OFFSET);
	ck_assert_uint_eq(resolving_find(&j.r, CODE_OFFSET + 31)->size, 32);
	resolving_expect(&j.r, CODE_OFFSET + 32, NULL);
	resolving_problem(&j.r, RESOLVER_OK, NULL);
	ck_assert(resolver_has_sources(j.r.resolver, &j.r.module, PID));
	const uint64_t offsets[] = {CODE_OFFSET, CODE_OFFSET + 16, CODE_OFFSET + 20};
	const struct source_frame *items[3];
	struct source_frames frames = {.items = items, .lines = true};
	ok_or_fail(resolver_sources(j.r.resolver, &(struct source_query){&j.r.module, PID, offsets, 3, 1},
				    &frames));
	ck_assert_ptr_null(items[0]);
	ck_assert_ptr_eq(items[1], items[2]);
	ck_assert_uint_eq(frames.distinct, 1);
	ck_assert_str_eq(items[1]->name, "fib 7ff");
	ck_assert_str_eq(items[1]->file, "/a/b.js");
	ck_assert_uint_eq(items[1]->line, 12);
	uint8_t code[4];
	uint16_t machine;
	struct location location = {.module = &j.r.module, .offset = CODE_OFFSET + 30, .pid = PID};
	ck_assert(resolver_read_code(j.r.resolver, &location, -2, 4, code, &machine));
	ck_assert(!memcmp(code, "\x1c\x1d\x1e\x1f", 4));
	ck_assert_uint_eq(machine, 62);
	ck_assert(resolver_read_code(j.r.resolver, &location, 0, 4, code, &machine));
	ck_assert(!memcmp(code, "\x1e\x1f\0\0", 4));
	ck_assert(!resolver_read_code(j.r.resolver, &location, 2, 1, code, &machine));
	ck_assert(!resolver_read_code(j.r.resolver, &location, -31, 4, code, &machine));
}

/* Absolute links stay below it, for names and for code. */
TEST(jitdump_below_symfs)
{
	JIT j;
	uint8_t bytes[8];
	uint16_t machine;
	const struct dump dump = dump_make();
	dump_init(&j);
	files_run("mkdir -p symfs/real/u && ln -s /real symfs/home");
	files_write(files_path("symfs/real/u/jit-4711.dump"), (const char *)&dump, sizeof(dump));
	j.r.options.symfs = files_path("symfs");
	dump_again(&j);
	resolving_expect(&j.r, CODE_OFFSET + 4, "fib 7ff");
	struct location location = {.module = &j.r.module, .offset = CODE_OFFSET + 4, .pid = PID};
	ck_assert(resolver_read_code(j.r.resolver, &location, 0, sizeof(bytes), bytes, &machine));
	ck_assert_uint_eq(bytes[0], 4);
}

TEST(jitdump_of_another_user_is_not_believed)
{
	if (geteuid() != 0)
		skip_test("needs root");
	JIT j;
	dump_init(&j);
	give_to(&j, DUMP, 12345);
	resolving_expect(&j.r, CODE_OFFSET, NULL);
	resolving_problem(&j.r, RESOLVER_NO_PERF_MAP, "12345");
	/* The process lives, and is that user's. */
	root_put(&j.root, "/proc/4711/status", "Name:\tnode\n");
	give_to(&j, "/proc/4711", 12345);
	dump_again(&j);
	resolving_expect(&j.r, CODE_OFFSET, "fib 7ff");
	/* Or another's. */
	give_to(&j, "/proc/4711", 12346);
	dump_again(&j);
	resolving_expect(&j.r, CODE_OFFSET, NULL);
}

TEST(jitdump_that_is_a_link_or_a_folder_or_a_pipe)
{
	JIT j;
	char path[256];
	jit_init(&j);
	j.r.module.kind = MODULE_JIT;
	j.r.module.path = "/d/jit-4711.dump";
	dump_put(&j, "/d/real");
	snprintf(path, sizeof(path), "%s/d/jit-4711.dump", j.root.path);
	ck_assert_int_eq(symlink("real", path), 0);
	resolving_expect(&j.r, CODE_OFFSET, NULL);
	resolving_problem(&j.r, RESOLVER_MISSING_FILE, "jit-4711.dump");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	dump_again(&j);
	resolving_expect(&j.r, CODE_OFFSET, NULL);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	dump_again(&j);
	resolving_expect(&j.r, CODE_OFFSET, NULL);
	ck_assert_int_eq(unlink(path), 0);
	dump_put(&j, "/d/jit-4711.dump");
	dump_again(&j);
	resolving_expect(&j.r, CODE_OFFSET, "fib 7ff");
}

TEST(jitdump_of_another_process)
{
	JIT j;
	dump_init(&j);
	dump_put(&j, "/home/u/jit-4712.dump");
	j.r.module.path = "/home/u/jit-4712.dump";
	resolving_expect(&j.r, CODE_OFFSET, NULL);
	resolving_problem(&j.r, RESOLVER_NO_PERF_MAP, "4711");
	root_put(&j.root, "/home/u/jit-4713.dump", "none");
	j.r.module.path = "/home/u/jit-4713.dump";
	dump_again(&j);
	resolving_expect(&j.r, CODE_OFFSET, NULL);
	resolving_problem(&j.r, RESOLVER_DAMAGED_FILE, "not a jitdump");
}

/* Its own number is 4711, and it lives as 99. */
TEST(jitdump_of_a_container)
{
	JIT j;
	dump_init(&j);
	root_put(&j.root, DUMP, "outside");
	dump_put(&j, "/proc/99/root" DUMP);
	j.r.pid = 99;
	resolving_expect(&j.r, CODE_OFFSET, "fib 7ff");
}

TEST(jitdump_that_was_replaced)
{
	JIT j;
	char path[256];
	struct stat status;
	dump_init(&j);
	snprintf(path, sizeof(path), "%s" DUMP, j.root.path);
	ck_assert_int_eq(stat(path, &status), 0);
	j.r.module.ino = status.st_ino;
	dump_again(&j);
	resolving_expect(&j.r, CODE_OFFSET, "fib 7ff");
	j.r.module.ino++;
	dump_again(&j);
	resolving_expect(&j.r, CODE_OFFSET, NULL);
	resolving_problem(&j.r, RESOLVER_NO_PERF_MAP, "is not the recorded file: inode");
}
