/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "count/stat.h"

#include "root.h"

static void places_deinit(struct stat_places *places)
{
	vec_deinit(places);
}
#define PLACES CLEANUP(places_deinit) struct stat_places

/* Four CPUs, two threads a core, two cores a die; CPU 3's files are missing. */
static void put_machine(struct root *root)
{
	static const struct {
		const char *path, *text;
	} files[] = {
		{"cpu0/topology/physical_package_id", "0\n"}, {"cpu0/topology/die_id", "0\n"},
		{"cpu0/topology/core_id", "4\n"},	      {"cpu0/topology/cluster_id", "7\n"},
		{"cpu1/topology/physical_package_id", "0\n"}, {"cpu1/topology/die_id", "0\n"},
		{"cpu1/topology/core_id", "5\n"},	      {"cpu1/topology/cluster_id", "7\n"},
		{"cpu2/topology/physical_package_id", "1\n"}, {"cpu2/topology/die_id", "1\n"},
		{"cpu2/topology/core_id", "4\n"},	      {"cpu2/topology/cluster_id", "8\n"},
		{"cpu0/cache/index0/level", "1\n"},	      {"cpu0/cache/index0/shared_cpu_list", "0\n"},
		{"cpu0/cache/index1/level", "2\n"},	      {"cpu0/cache/index1/shared_cpu_list", "0-1\n"},
		{"cpu1/cache/index0/level", "1\n"},	      {"cpu1/cache/index0/shared_cpu_list", "1\n"},
		{"cpu1/cache/index1/level", "2\n"},	      {"cpu1/cache/index1/shared_cpu_list", "0-1\n"},
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char path[128];
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", files[i].path);
		root_put(root, path, files[i].text);
	}
	root_put(root, "/sys/devices/system/node/online", "0,2\n");
	root_put(root, "/sys/devices/system/node/node0/cpulist", "0-1\n");
	root_put(root, "/sys/devices/system/node/node2/cpulist", "2-3\n");
}

static const uint32_t cpus[] = {0, 1, 2, 3};

static void make(struct stat_places *places, enum sp_stat_aggregate aggregate, uint32_t level,
		 uint32_t place_of[4])
{
	ROOT root;
	root_init(&root);
	put_machine(&root);
	ok_or_fail(stat_places_of_cpus(places, root.ctx, aggregate, level, cpus, 4, place_of));
}

TEST(all_are_one_place)
{
	PLACES places = {0};
	uint32_t of[4];
	make(&places, SP_STAT_GLOBAL, 0, of);
	ck_assert_uint_eq(places.count, 1);
	ck_assert(!of[0] && !of[3]);
}

TEST(cpus_are_places)
{
	PLACES places = {0};
	uint32_t of[4];
	make(&places, SP_STAT_CPU, 0, of);
	ck_assert_uint_eq(places.count, 4);
	ck_assert_int_eq(places.items[of[3]].cpu, 3);
	ck_assert_int_eq(places.items[of[3]].core, -1);
}

TEST(cores_of_two_sockets_are_not_one)
{
	PLACES places = {0};
	uint32_t of[4];
	make(&places, SP_STAT_CORE, 0, of);
	ck_assert_uint_eq(places.count, 4);
	ck_assert_int_eq(places.items[of[0]].core, 4);
	ck_assert_int_eq(places.items[of[2]].core, 4);
	ck_assert_int_eq(places.items[of[2]].socket, 1);
	/* An unknown CPU: on the first socket, with its own core. */
	ck_assert_int_eq(places.items[of[3]].socket, 0);
	ck_assert_int_eq(places.items[of[3]].core, 3);
}

TEST(sockets_dies_and_clusters_are_places)
{
	PLACES sockets = {0}, dies = {0}, clusters = {0};
	uint32_t of[4];
	make(&sockets, SP_STAT_SOCKET, 0, of);
	ck_assert_uint_eq(sockets.count, 2);
	ck_assert(of[0] == 0 && of[1] == 0 && of[2] == 1);
	make(&dies, SP_STAT_DIE, 0, of);
	ck_assert_uint_eq(dies.count, 2);
	ck_assert_int_eq(dies.items[1].die, 1);
	make(&clusters, SP_STAT_CLUSTER, 0, of);
	ck_assert(of[0] == of[1] && of[0] != of[2]);
	ck_assert_int_eq(clusters.items[of[2]].cluster, 8);
}

TEST(caches_are_those_of_the_level)
{
	PLACES last = {0}, first = {0};
	uint32_t of[4];
	make(&last, SP_STAT_CACHE, 0, of);
	ck_assert(of[0] == of[1] && of[0] != of[2]);
	ck_assert_int_eq(last.items[of[1]].cache_level, 2);
	ck_assert_int_eq(last.items[of[1]].cache, 0);
	make(&first, SP_STAT_CACHE, 1, of);
	ck_assert(of[0] != of[1]);
	ck_assert_int_eq(first.items[of[1]].cache, 1);
}

TEST(nodes_are_places)
{
	PLACES places = {0};
	uint32_t of[4];
	make(&places, SP_STAT_NODE, 0, of);
	ck_assert_uint_eq(places.count, 2);
	ck_assert_int_eq(places.items[of[3]].node, 2);
}
