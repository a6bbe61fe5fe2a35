/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/topology.h"

#include <stdlib.h>
#include "files.h"
#include "root.h"

static void put_cpu(struct root *root, int cpu, int core, int package, const char *cores,
		    const char *packages)
{
	const struct {
		const char *file, *text;
		int number;
	} files[] = {
		{"core_id", NULL, core},         {"physical_package_id", NULL, package},
		{"die_id", NULL, 0},             {"core_cpus_list", cores, 0},
		{"package_cpus_list", packages, 0}, {"die_cpus_list", packages, 0},
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char path[128], text[32];
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu,
			 files[i].file);
		snprintf(text, sizeof(text), "%d\n", files[i].number);
		if (files[i].text)
			snprintf(text, sizeof(text), "%s\n", files[i].text);
		root_put(root, path, text);
	}
}

TEST(topology_of_two_packages_with_two_threads_a_core)
{
	ROOT root;
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct sp_cpu_topology topology;
	root_init(&root);
	root_put(&root, "/sys/devices/system/cpu/present", "0-7,9\n");
	/* CPU 6 is offline; 8 is not there. */
	for (int cpu = 0; cpu < 8; cpu++) {
		static const char *const cores[] = {"0,4", "1,5", "2", "3,7"};
		if (cpu != 6)
			put_cpu(&root, cpu, cpu & 1, (cpu & 2) / 2, cores[cpu & 3],
				cpu & 2 ? "2-3,7" : "0-1,4-5");
	}
	put_cpu(&root, 9, 7, 1, "9", "2-3,7");
	ck_assert_uint_eq(topology_cpu_limit(root.ctx), 10);
	ok_or_fail(topology_read_cpus(root.ctx, 10, &arena, &topology));
	ck_assert_uint_eq(topology.place_count, 10);
	for (int cpu = 0; cpu < 10; cpu++) {
		const struct sp_cpu_place *place = &topology.places[cpu];
		bool there = cpu != 6 && cpu != 8;
		ck_assert_int_eq(place->core, cpu == 9 ? 7 : there ? cpu & 1 : -1);
		ck_assert_int_eq(place->package, cpu == 9 ? 1 : there ? (cpu & 2) / 2 : -1);
		ck_assert_int_eq(place->die, there ? 0 : -1);
	}
	const char *const packages[] = {"0-1,4-5", "2-3,7", NULL};
	const char *const cores[] = {"0,4", "1,5", "2", "3,7", "9", NULL};
	for (size_t i = 0; i < 3; i++)
		ck_assert_pstr_eq(topology.packages[i], packages[i]);
	for (size_t i = 0; i < 6; i++)
		ck_assert_pstr_eq(topology.cores[i], cores[i]);
	for (size_t i = 0; i < 3; i++)
		ck_assert_pstr_eq(topology.dies[i], packages[i]);
}

TEST(topology_of_an_old_kernel)
{
	ROOT root;
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct sp_cpu_topology topology;
	root_init(&root);
	root_put(&root, "/sys/devices/system/cpu/cpu0/topology/core_id", "0\n");
	root_put(&root, "/sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1\n");
	root_put(&root, "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
	root_put(&root, "/sys/devices/system/cpu/cpu0/topology/core_siblings_list", "0\n");
	ok_or_fail(topology_read_cpus(root.ctx, 1, &arena, &topology));
	ck_assert_pstr_eq(topology.cores[0], "0");
	ck_assert_pstr_eq(topology.packages[0], "0");
	ck_assert_ptr_null(topology.dies);
	ck_assert_int_eq(topology.places[0].package, -1);
	ck_assert_int_eq(topology.places[0].die, -1);
}

TEST(unknown_topology)
{
	ROOT root;
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct sp_cpu_topology topology;
	struct sp_numa_node *nodes;
	size_t count;
	root_init(&root);
	root_put(&root, "/sys/devices/system/cpu/present", "nonsense\n");
	root_put(&root, "/sys/devices/system/node/online", "3-1\n");
	ck_assert_uint_eq(topology_cpu_limit(root.ctx), 0);
	ok_or_fail(topology_read_cpus(root.ctx, 4, &arena, &topology));
	ck_assert_ptr_null(topology.packages);
	ck_assert_uint_eq(topology.place_count, 0);
	ok_or_fail(topology_read_nodes(root.ctx, &arena, &nodes, &count));
	ck_assert_uint_eq(count, 0);
}

TEST(nodes_of_memory)
{
	ROOT root;
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct sp_numa_node *nodes;
	size_t count;
	root_init(&root);
	root_put(&root, "/sys/devices/system/node/online", "0,2\n");
	root_put(&root, "/sys/devices/system/node/node0/cpulist", "0-3,8\n");
	root_put(&root, "/sys/devices/system/node/node0/meminfo",
		 "Node 0 MemTotal:        8143240 kB\nNode 0 MemFree:         1234567 kB\n");
	root_put(&root, "/sys/devices/system/node/node2/cpulist", "\n");
	ok_or_fail(topology_read_nodes(root.ctx, &arena, &nodes, &count));
	ck_assert_uint_eq(count, 2);
	ck_assert(nodes[0].node == 0 && nodes[1].node == 2);
	ck_assert_str_eq(nodes[0].cpus, "0-3,8");
	ck_assert_uint_eq(nodes[0].total_kb, 8143240);
	ck_assert_uint_eq(nodes[0].free_kb, 1234567);
	ck_assert_str_eq(nodes[1].cpus, "");
	ck_assert_uint_eq(nodes[1].total_kb, 0);
}
