/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hierarchy of control groups that events use, and its groups. */
#include "proc/cgroup.h"

#include "root.h"

#define V1 "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n" \
	   "cgroup /sys/fs/cgroup/perf\\040event cgroup rw,net_cls,perf_event 0 0\n"
#define V2 "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n"

static void finds(const char *mounts, const char *path, int version)
{
	ROOT root;
	struct cgroup_hierarchy hierarchy;
	root_init(&root);
	root_put(&root, "/proc/self/mounts", mounts);
	ok_or_fail(cgroup_hierarchy_find(root.ctx, &hierarchy));
	ck_assert_str_eq(hierarchy.path, path);
	ck_assert_int_eq(hierarchy.version, version);
	cgroup_hierarchy_deinit(&hierarchy);
}

TEST(the_hierarchy_is_v1s_where_it_has_perf_event)
{
	finds("proc /proc proc rw 0 0\n" V2 V1, "/sys/fs/cgroup/perf event", 1);
	finds(V1 V2, "/sys/fs/cgroup/perf event", 1);
	finds(V2, "/sys/fs/cgroup/unified", 2);
	/* A name that only begins so is another controller. */
	finds("cgroup /a cgroup rw,perf_events 0 0\nshort\n" V2, "/sys/fs/cgroup/unified", 2);
}

TEST(without_a_hierarchy_the_remedy_is_to_mount_one)
{
	ROOT root;
	struct cgroup_hierarchy hierarchy;
	root_init(&root);
	root_put(&root, "/proc/self/mounts", "cgroup /a cgroup rw,memory 0 0\n");
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = cgroup_hierarchy_find(root.ctx, &hierarchy);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(sp_error_remedy(error), "mount -t cgroup2"));
}

static const struct cgroup *find_path(const struct cgroup_list *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].path, path))
			return &list->items[i];
	return NULL;
}

TEST(groups_are_listed_from_the_top_and_opened_by_name)
{
	ROOT root;
	const struct cgroup_hierarchy hierarchy = {.path = "/cg", .version = 2};
	CLEANUP(cgroup_list_deinit) struct cgroup_list list = {0};
	root_init(&root);
	root_put(&root, "/cg/cgroup.procs", "1\n");
	root_put(&root, "/cg/a/b/cgroup.procs", "");
	root_put(&root, "/cg/c/cgroup.procs", "");
	ok_or_fail(cgroup_list_all(root.ctx, &hierarchy, &list));
	ck_assert_uint_eq(list.count, 4);
	ck_assert_str_eq(list.items[0].path, "/");
	const struct cgroup *a = find_path(&list, "/a"), *b = find_path(&list, "/a/b");
	ck_assert(a && b && a < b && find_path(&list, "/c"));
	static const char *const names[] = {"a/b", "/a/b"};
	for (size_t i = 0; i < 2; i++) {
		int fd;
		uint64_t id;
		ok_or_fail(cgroup_open(root.ctx, &hierarchy, names[i], &fd));
		ck_assert_int_eq(cgroup_id(fd, &id), 0);
		ck_assert_uint_eq(id, b->id);
		close(fd);
	}
}

static void refuses(const char *name, enum sp_error_code code)
{
	ROOT root;
	int fd = -1;
	const struct cgroup_hierarchy hierarchy = {.path = "/cg", .version = 2};
	root_init(&root);
	root_put(&root, "/cg/a/cgroup.procs", "");
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = cgroup_open(root.ctx, &hierarchy, name, &fd);
	ck_assert_int_eq(sp_error_code(error), code);
	ck_assert_int_eq(fd, -1);
}

TEST(groups_that_are_not_there_or_elsewhere_are_refused)
{
	refuses("x", SP_ERROR_NOT_FOUND);
	refuses("..", SP_ERROR_INVALID);
	refuses("a/../../proc", SP_ERROR_INVALID);
	refuses("a/..x", SP_ERROR_NOT_FOUND);
}
