/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's small files, in a root of their own: modules, notes, topology, PMUs with formats and
 * events, tracepoints. The input is pieces of {u8 which file, u16 size, bytes}; what is not in it
 * is not there.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "event/parse.h"
#include "fuzz.h"
#include "proc/cgroup.h"
#include "proc/loaded_modules.h"
#include "proc/sysfs.h"
#include "proc/topology.h"
#include "proc/tracefs.h"

DEFINE_CLEANUP(struct sp_ctx *, sp_ctx_free)

#define CPU "sys/devices/system/cpu/"
#define PMU "sys/bus/event_source/devices/p/"

static const char *const files[] = {
	"proc/modules", "proc/self/mounts", "sys/kernel/notes", CPU "online", CPU "possible",
	CPU "cpu0/topology/core_id", CPU "cpu0/topology/physical_package_id",
	CPU "cpu0/topology/die_id", CPU "cpu0/topology/core_cpus_list",
	CPU "cpu0/topology/package_cpus_list", "sys/devices/system/node/online",
	"sys/devices/system/node/node0/meminfo", "sys/devices/system/node/node0/cpulist",
	"lib/modules/1/modules.dep", "sys/module/m/notes/.note.gnu.build-id",
	"sys/module/m/sections/.text", PMU "type", PMU "cpumask", PMU "format/f", PMU "format/g",
	PMU "events/e", PMU "events/e.scale", PMU "events/e.unit", PMU "caps/c",
	"sys/kernel/tracing/events/s/t/id",
};

#define FILES (sizeof(files) / sizeof(*files))

/* Made once, and left to be removed when the process ends. */
static char root[64];

static void in_root(const char *path, char full[256])
{
	snprintf(full, 256, "%s/%s", root, path);
}

static void clear(void)
{
	char path[256];
	for (size_t i = 0; i < FILES; i++) {
		in_root(files[i], path);
		unlink(path);
	}
}

/* All folders, too, from the innermost on. */
static void remove_root(void)
{
	char path[256];
	clear();
	for (size_t i = 0; i < FILES; i++) {
		in_root(files[i], path);
		for (char *slash; (slash = strrchr(path, '/')) && slash > path + strlen(root);) {
			*slash = 0;
			rmdir(path);
		}
	}
	rmdir(root);
}

static void make_root(void)
{
	char path[256];
	snprintf(root, sizeof(root), "%s", access("/dev/shm", W_OK) ? "/tmp/sprof-fuzz.XXXXXX" :
								      "/dev/shm/sprof-fuzz.XXXXXX");
	assert(mkdtemp(root));
	atexit(remove_root);
	for (size_t i = 0; i < FILES; i++) {
		in_root(files[i], path);
		for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
			*slash = 0;
			mkdir(path, 0700);
			*slash = '/';
		}
	}
}

static void write_files(struct cursor *cursor)
{
	uint8_t which;
	uint16_t size;
	while (cursor_u8(cursor, &which) && cursor_u16(cursor, &size)) {
		const uint8_t *bytes = NULL;
		size_t there = size < cursor_left(cursor) ? size : cursor_left(cursor);
		char path[256];
		if (!cursor_bytes(cursor, there, &bytes))
			break;
		in_root(files[which % FILES], path);
		CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		assert(fd >= 0);
		assert(!there || write(fd, bytes, there) == (ssize_t)there);
	}
}

static size_t read_machine(const struct sp_ctx *ctx)
{
	struct arena arena = {0};
	struct sp_cpu_topology topology = {0};
	struct sp_numa_node *nodes = NULL;
	size_t node_count = 0, sum = topology_cpu_limit(ctx);
	struct sp_error *error = topology_read_cpus(ctx, 2, &arena, &topology);
	assert(!error && topology.place_count <= 2);
	for (const char *const *text = topology.packages; text && *text; text++)
		sum += strlen(*text);
	error = topology_read_nodes(ctx, &arena, &nodes, &node_count);
	assert(!error);
	for (size_t i = 0; i < node_count; i++)
		sum += strlen(nodes[i].cpus);
	struct cpu_list list = {0};
	sp_error_free(sysfs_cpus_online(ctx, &list));
	vec_deinit(&list);
	uint8_t build_id[20];
	size_t size = 0;
	sp_error_free(sysfs_kernel_build_id(ctx, build_id, &size));
	assert(size <= sizeof(build_id));
	arena_deinit(&arena);
	return sum;
}

static size_t read_modules(const struct sp_ctx *ctx)
{
	struct kernel_modules modules = {0};
	size_t sum = 0;
	struct sp_error *error = kernel_modules_read(ctx, "1", &modules);
	for (size_t i = 0; i < modules.count; i++) {
		const struct kernel_module *module = &modules.items[i];
		assert(module->build_id_size <= sizeof(module->build_id));
		assert(error || !i || modules.items[i - 1].start <= module->start);
		sum += strlen(module->name) + strlen(module->path);
	}
	sp_error_free(error);
	kernel_modules_deinit(&modules);
	return sum;
}

static void parse_events(const struct sp_ctx *ctx)
{
	static const char *const texts[] = {"p/f=1,g=0x7/", "p/e/", "e", "p/config=3,e/u", "s:t",
					    "s:*", "p/f=0xffffffffffffffff/"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct event_specs specs = {0};
		struct sp_error *error = event_specs_parse(&specs, ctx, texts[i]);
		assert(error ? !specs.count && sp_error_message(error)[0] : specs.count > 0);
		sp_error_free(error);
		event_specs_deinit(&specs);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	struct cursor cursor = cursor_make(bytes, size, false, "input", 0);
	struct cgroup_hierarchy hierarchy = {0};
	if (!*root)
		make_root();
	write_files(&cursor);
	assert(!sp_ctx_new(&ctx) && !sp_ctx_set_root(ctx, root));
	size_t sum = read_machine(ctx) + read_modules(ctx);
	__asm__ volatile("" : : "r"(sum)); /* keeps the reads */
	sp_error_free(cgroup_hierarchy_find(ctx, &hierarchy));
	cgroup_hierarchy_deinit(&hierarchy);
	parse_events(ctx);
	clear();
	return 0;
}
