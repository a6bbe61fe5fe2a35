/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf maps: found where the process put them, and believed only if they may be its own. */
#include "test.h"

#include <unistd.h>
#include "resolving.h"
#include "root.h"

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
	/* What the runtime wrote is not a symbol table's name. */
	resolving_expect(&j.r, 0x7101, "_ZN3fooEv");
	resolving_expect(&j.r, 0x7110, NULL);
	resolving_problem(&j.r, RESOLVER_OK, NULL);
}

TEST(jit_without_a_map)
{
	JIT j;
	jit_init(&j);
	root_put(&j.root, "/tmp/perf-4712.map", "7000 100 another\n");
	resolving_expect(&j.r, 0x7080, NULL);
	resolving_problem(&j.r, RESOLVER_NO_PERF_MAP, "perf-4711.map");
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
		return;
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
