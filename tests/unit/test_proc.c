/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "proc/maps.h"
#include "proc/loaded_modules.h"
#include "proc/process_tree.h"
#include "proc/sysfs.h"
#include "proc/proc_tasks.h"
#include "root.h"

#define MANY 12000

#define MAPS CLEANUP(cleanup_maps_free) struct maps

static void list_deinit(struct task_list *list)
{
	vec_deinit(list);
}
#define TASKS CLEANUP(list_deinit) struct task_list

static void cpus_deinit(struct cpu_list *list)
{
	vec_deinit(list);
}
#define CPUS CLEANUP(cpus_deinit) struct cpu_list

static struct maps *parse(const char *text, enum maps_filter filter)
{
	struct maps *maps;
	ok_or_fail(maps_parse(text, strlen(text), "maps", filter, &maps));
	return maps;
}

static const struct maps_entry *next(struct maps *maps)
{
	const struct maps_entry *entry;
	ok_or_fail(maps_next(maps, &entry));
	return entry;
}

TEST(maps_fields)
{
	MAPS *maps = parse("7f0000001000-7f0000003000 r-xs 00002000 fe:1f 247134"
			   "                     /usr/bin/a b\n",
			   MAPS_ALL);
	const struct maps_entry *entry = next(maps);
	ck_assert_uint_eq(entry->start, 0x7f0000001000);
	ck_assert_uint_eq(entry->end, 0x7f0000003000);
	ck_assert_uint_eq(entry->file_offset, 0x2000);
	ck_assert_uint_eq(entry->prot, PROT_READ | PROT_EXEC);
	ck_assert_uint_eq(entry->flags, MAP_SHARED);
	ck_assert_uint_eq(entry->maj, 0xfe);
	ck_assert_uint_eq(entry->min, 0x1f);
	ck_assert_uint_eq(entry->ino, 247134);
	ck_assert_str_eq(entry->path, "/usr/bin/a b");
	ck_assert(!entry->deleted);
	ck_assert_ptr_null(next(maps));
	ck_assert_ptr_null(next(maps));
}

TEST(maps_paths)
{
	MAPS *maps = parse(
		"1000-2000 rwxp 00000000 00:00 0 \n"
		"2000-3000 r-xp 00000000 00:00 0                          [vdso]\n"
		"3000-4000 r-xp 00000000 08:01 7                          /a\\012b (deleted)\n"
		"4000-5000 r-xp 00000000 08:01 7                          /memfd:x (deleted)\n"
		"5000-6000 r-xp 00000000 08:01 7                          [x (deleted)",
		MAPS_ALL);
	ck_assert_str_eq(next(maps)->path, "");
	ck_assert_str_eq(next(maps)->path, "[vdso]");
	const struct maps_entry *entry = next(maps);
	ck_assert_str_eq(entry->path, "/a\nb");
	ck_assert(entry->deleted);
	ck_assert_str_eq(next(maps)->path, "/memfd:x");
	entry = next(maps);
	ck_assert_str_eq(entry->path, "[x (deleted)");
	ck_assert(!entry->deleted);
	ck_assert_ptr_null(next(maps));
}

DEFINE_CLEANUP(struct sp_ctx *, sp_ctx_free)

TEST(maps_long_paths)
{
	char text[8192];
	int size = sprintf(text, "1000-2000 r-xp 00000000 08:01 7 /");
	memset(text + size, 'x', 6000);
	strcpy(text + size + 6000, "\n");
	MAPS *maps = parse(text, MAPS_ALL);
	const struct maps_entry *entry = next(maps);
	ck_assert_uint_eq(strlen(entry->path), 6001);
	struct sp_mmap mmap;
	char *room;
	ok_or_fail(maps_entry_mmap(entry, 1, &mmap, &room));
	ck_assert_str_eq(mmap.filename, "//toolong");
	ck_assert_ptr_null(room);
}

/* Maps code of a file with a path above PATH_MAX, and removes the file. Returns its address. */
static void *map_long_path(void)
{
	char top[] = "/tmp/sprof-test-XXXXXX", name[251];
	enum { DEPTH = 20 };
	int folders[DEPTH + 1];
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_ptr_nonnull(mkdtemp(top));
	folders[0] = open(top, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < DEPTH; i++) {
		ck_assert_int_eq(mkdirat(folders[i], name, 0700), 0);
		folders[i + 1] = openat(folders[i], name, O_RDONLY | O_DIRECTORY);
	}
	int fd = openat(folders[DEPTH], "code", O_RDWR | O_CREAT | O_EXCL, 0700);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ck_assert(code != MAP_FAILED);
	close(fd);
	unlinkat(folders[DEPTH], "code", 0);
	for (int i = DEPTH; i-- > 0;) {
		close(folders[i + 1]);
		unlinkat(folders[i], name, AT_REMOVEDIR);
	}
	close(folders[0]);
	rmdir(top);
	return code;
}

TEST(maps_beyond_a_long_path_are_read)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	uint64_t code = (uintptr_t)map_long_path();
	MAPS *maps = NULL;
	bool found = false;
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(maps_open(ctx, getpid(), 0, MAPS_EXECUTABLE, &maps));
	for (const struct maps_entry *entry; (entry = next(maps));) {
		CLEANUP_FREE char *room = NULL;
		struct sp_mmap mmap;
		ok_or_fail(maps_entry_mmap(entry, getpid(), &mmap, &room));
		found |= entry->start == code && !strcmp(mmap.filename, "//toolong");
	}
	ck_assert(found);
}

TEST(maps_filter_takes_executable_ones)
{
	MAPS *maps = parse("1000-2000 r--p 00000000 08:01 7 /a\n"
			   "2000-3000 --xp 00001000 08:01 7 /a\n"
			   "3000-4000 rw-p 00002000 08:01 7 /a\n",
			   MAPS_EXECUTABLE);
	const struct maps_entry *entry = next(maps);
	ck_assert_uint_eq(entry->start, 0x2000);
	ck_assert_uint_eq(entry->prot, PROT_EXEC);
	ck_assert_ptr_null(next(maps));
}

TEST(maps_go_on_behind_a_bad_line)
{
	static const char *const bad[] = {
		"x",
		"1000-1000 r-xp 00000000 08:01 7 /a",
		"1000 r-xp 00000000 08:01 7 /a",
		"1000-2000 r-x",
		"1000-2000 r-xp 00000000 0801 7 /a",
		"1000-2000 r-xp 00000000 100000000:01 7 /a",
		"1000-2000 r-xp 00000000 08:01 x",
		"10000000000000000-2000 r-xp 00000000 08:01 7",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char text[256];
		snprintf(text, sizeof(text), "%s\n2000-3000 r-xp 00000000 08:01 7 /b\n", bad[i]);
		MAPS *maps = parse(text, MAPS_ALL);
		const struct maps_entry *entry;
		fails_with(SP_ERROR_FORMAT, maps_next(maps, &entry));
		ck_assert_str_eq(next(maps)->path, "/b");
		ck_assert_ptr_null(next(maps));
	}
}

TEST(maps_of_no_process)
{
	ROOT root;
	root_init(&root);
	struct maps *maps;
	fails_with(SP_ERROR_NOT_FOUND, maps_open(root.ctx, 7, 0, MAPS_ALL, &maps));
	fails_with(SP_ERROR_NOT_FOUND, maps_open(root.ctx, 7, 8, MAPS_EXECUTABLE, &maps));
	root_put(&root, "/proc/7/task/8/maps", "2000-3000 r-xp 00000000 08:01 7 /b\n");
	MAPS *made_up = NULL;
	ok_or_fail(maps_open(root.ctx, 7, 8, MAPS_EXECUTABLE, &made_up));
	ck_assert_str_eq(next(made_up)->path, "/b");
}

/* A child that waits until it is killed. */
static pid_t waiting_child(void)
{
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (!child)
		for (;;)
			pause();
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* The kernel's answers one by one are what its text says. */
TEST(maps_queries_agree_with_the_text)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	ok_or_fail(sp_ctx_new(&ctx));
	/* Something of each kind: a strange name that is gone, shared; anonymous. */
	CLEANUP_CLOSE int fd = open("/tmp/sprof-test\n(deleted)", O_RDWR | O_CREAT | O_EXCL, 0700);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 8192), 0);
	unlink("/tmp/sprof-test\n(deleted)");
	ck_assert(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 4096) != MAP_FAILED);
	ck_assert(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		  MAP_FAILED);
	pid_t child = waiting_child();
	MAPS *queried = NULL, *read = NULL;
	ok_or_fail(maps_open(ctx, (uint32_t)child, 0, MAPS_EXECUTABLE, &queried));
	ok_or_fail(maps_open(ctx, (uint32_t)child, 0, MAPS_ALL, &read));
	size_t compared = 0;
	for (const struct maps_entry *b; (b = next(read)) != NULL;) {
		/* The one of all processes at a fixed place is not in the queries. */
		if (!(b->prot & PROT_EXEC) || strcmp(b->path, "[vsyscall]") == 0)
			continue;
		const struct maps_entry *a = next(queried);
		ck_assert_ptr_nonnull(a);
		ck_assert_uint_eq(a->start, b->start);
		ck_assert_uint_eq(a->end, b->end);
		ck_assert_uint_eq(a->file_offset, b->file_offset);
		ck_assert_uint_eq(a->prot, b->prot);
		ck_assert_uint_eq(a->flags, b->flags);
		ck_assert(a->maj == b->maj && a->min == b->min && a->ino == b->ino);
		ck_assert_str_eq(a->path, b->path);
		ck_assert_int_eq(a->deleted, b->deleted);
		compared++;
	}
	const struct maps_entry *rest = next(queried);
	ck_assert(!rest || strcmp(rest->path, "[vsyscall]") == 0);
	ck_assert_uint_gt(compared, 5);
	end_child(child);
}

/* More mappings than a proxy sends at a time: neighbours differ, so they are not merged. */
static void map_many(void)
{
	uint8_t *memory = mmap(NULL, MANY * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(memory != MAP_FAILED);
	for (size_t i = 0; i < MANY; i += 2)
		ck_assert_int_eq(mprotect(memory + i * 4096, 4096, PROT_READ | PROT_EXEC), 0);
}

TEST(maps_by_a_proxy_agree_with_those_read_here)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL, *by = NULL;
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(sp_ctx_new(&by));
	map_many();
	pid_t child = waiting_child();
	ok_or_fail(proxies_begin(ctx_proxies(by)));
	for (enum maps_filter filter = MAPS_ALL; filter <= MAPS_EXECUTABLE; filter++) {
		MAPS *here = NULL, *there = NULL;
		const struct maps_entry *a, *b;
		size_t compared = 0;
		ok_or_fail(maps_open(ctx, (uint32_t)child, 0, filter, &here));
		ok_or_fail(maps_open(by, (uint32_t)child, 0, filter, &there));
		while ((a = next(here)) && (b = next(there))) {
			ck_assert(a->start == b->start && a->end == b->end);
			ck_assert(a->prot == b->prot && a->flags == b->flags);
			ck_assert(a->maj == b->maj && a->min == b->min && a->ino == b->ino);
			ck_assert_uint_eq(a->file_offset, b->file_offset);
			ck_assert_str_eq(a->path, b->path);
			ck_assert_uint_eq(a->build_id_size, b->build_id_size);
			ck_assert_mem_eq(a->build_id, b->build_id, sizeof(a->build_id));
			compared++;
		}
		ck_assert_ptr_null(a);
		ck_assert_ptr_null(next(there));
		ck_assert_uint_gt(compared, MANY / 2);
	}
	end_child(child);
	MAPS *gone = NULL;
	fails_with(SP_ERROR_NOT_FOUND,
		   maps_open(by, (uint32_t)child, 0, MAPS_EXECUTABLE, &gone));
	ck_assert_uint_eq(proxies_counts(ctx_proxies(by)).calls, 3);
	proxies_end(ctx_proxies(by));
}

static bool hangs(void *arg, uint64_t key)
{
	(void)arg;
	return key == (uint64_t)getpid();
}

TEST(maps_that_cannot_be_read_in_time_are_refused)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	uint32_t pid = (uint32_t)getpid();
	MAPS *maps = NULL;
	ok_or_fail(sp_ctx_new(&ctx));
	proxies_simulate(ctx_proxies(ctx), hangs, NULL);
	ok_or_fail(proxies_begin(ctx_proxies(ctx)));
	ck_assert(!tasks_has_other_root(ctx, pid));
	fails_with(SP_ERROR_PERMISSION, maps_open(ctx, pid, 0, MAPS_EXECUTABLE, &maps));
	ck_assert_uint_eq(proxies_counts(ctx_proxies(ctx)).left, 1);
	proxies_end(ctx_proxies(ctx));
}

TEST(maps_of_a_kernel_thread_and_a_zombie_are_empty)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	ok_or_fail(sp_ctx_new(&ctx));
	pid_t child = fork();
	if (!child)
		_exit(0);
	siginfo_t info;
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	for (enum maps_filter filter = MAPS_ALL; filter <= MAPS_EXECUTABLE; filter++) {
		MAPS *zombie = NULL;
		ok_or_fail(maps_open(ctx, (uint32_t)child, 0, filter, &zombie));
		ck_assert_ptr_null(next(zombie));
	}
	waitpid(child, NULL, 0);
}

TEST(cpu_lists)
{
	CPUS list = {0};
	ok_or_fail(cpu_list_parse(&list, "4,0-2,1\n"));
	ok_or_fail(cpu_list_parse(&list, "7"));
	const uint32_t wanted[] = {0, 1, 2, 4, 7};
	ck_assert_uint_eq(list.count, 5);
	ck_assert_mem_eq(list.items, wanted, sizeof(wanted));
	static const char *const bad[] = {"",	"\n", "a",   "1-", "3-1",	   "1,,2",
					  ",1", "1,", "1 2", "-1", "0-4294967295", "1\n2"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		fails_with(SP_ERROR_INVALID, cpu_list_parse(&list, bad[i]));
	ck_assert_uint_eq(list.count, 5);
}

TEST(sysfs_numbers)
{
	ROOT root;
	root_init(&root);
	int64_t number;
	root_put(&root, "/proc/sys/kernel/a", "-3\n");
	root_put(&root, "/proc/sys/kernel/b", "nothing\n");
	ok_or_fail(sysfs_read_i64(root.ctx, "/proc/sys/kernel/a", &number));
	ck_assert_int_eq(number, -3);
	fails_with(SP_ERROR_FORMAT, sysfs_read_i64(root.ctx, "/proc/sys/kernel/b", &number));
	fails_with(SP_ERROR_NOT_FOUND, sysfs_read_i64(root.ctx, "/proc/sys/kernel/c", &number));
}

/* Notes "Xen" 1, then "GNU" 3 with a build-id, its padding cut off. */
static const uint8_t notes[] = {
	4, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0,   'X', 'e', 'n', 0, 1, 2, 0, 0, 4,
	0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,   9, 8, 7, 6, 5,
};

TEST(notes_hold_a_build_id)
{
	uint8_t build_id[20];
	ck_assert_uint_eq(notes_build_id(notes, sizeof(notes), build_id), 5);
	ck_assert_mem_eq(build_id, "\x09\x08\x07\x06\x05", 5);
	for (size_t size = 0; size < sizeof(notes); size++)
		ck_assert_uint_eq(notes_build_id(notes, size, build_id), 0);
	static const uint8_t huge[] = {255, 255, 255, 255, 255, 255, 255, 255, 3, 0, 0, 0, 'G'};
	ck_assert_uint_eq(notes_build_id(huge, sizeof(huge), build_id), 0);
}

TEST(kernel_build_id)
{
	ROOT root;
	root_init(&root);
	uint8_t build_id[20];
	size_t size = 1;
	ok_or_fail(sysfs_kernel_build_id(root.ctx, build_id, &size));
	ck_assert_uint_eq(size, 0);
	root_put_sized(&root, "/sys/kernel/notes", notes, sizeof(notes));
	ok_or_fail(sysfs_kernel_build_id(root.ctx, build_id, &size));
	ck_assert_uint_eq(size, 5);
}

TEST(modules_with_files_and_build_ids)
{
	ROOT root;
	CLEANUP(kernel_modules_deinit) struct kernel_modules modules = {0};
	root_init(&root);
	root_put(&root, "/proc/sys/kernel/osrelease", "6.1.0-9-amd64\n");
	root_put(&root, "/proc/modules",
		 "snd_hda_intel 57344 2 - Live 0xffffffffc0a00000\n"
		 "own 4096 0 - Live 0xffffffffc0b00000 (OE)\n"
		 "usbcore 1048576 2 xhci_hcd,ehci_hcd, Live 0xffffffffc0900000 (E)\n"
		 "outside 8192 0 [permanent], Live 0xffffffffc0c00000\n");
	root_put(&root, "/lib/modules/6.1.0-9-amd64/modules.dep",
		 "kernel/sound/snd-hda-intel.ko.xz: kernel/sound/snd.ko.xz\n"
		 "kernel/drivers/usb/usbcore.ko:\n"
		 "kernel/x/notusbcore.ko:\n"
		 "/opt/outside.ko.zst:\n\nnonsense\n");
	root_put_sized(&root, "/sys/module/usbcore/notes/.note.gnu.build-id", notes, sizeof(notes));
	ok_or_fail(kernel_modules_read(root.ctx, NULL, &modules));
	ck_assert_uint_eq(modules.count, 4);
	const struct kernel_module *module = modules.items;
	ck_assert_str_eq(module->name, "usbcore");
	ck_assert_str_eq(module->path, "/lib/modules/6.1.0-9-amd64/kernel/drivers/usb/usbcore.ko");
	ck_assert_uint_eq(module->start, 0xffffffffc0900000);
	ck_assert_uint_eq(module->size, 1048576);
	ck_assert_uint_eq(module->build_id_size, 5);
	module++;
	ck_assert_str_eq(module->path,
			 "/lib/modules/6.1.0-9-amd64/kernel/sound/snd-hda-intel.ko.xz");
	ck_assert_uint_eq(module->build_id_size, 0);
	module++;
	ck_assert_str_eq(module->path, "[own]");
	module++;
	ck_assert_str_eq(module->path, "/opt/outside.ko.zst");
}

TEST(modules_do_not_overlap)
{
	ROOT root;
	CLEANUP(kernel_modules_deinit) struct kernel_modules modules = {0};
	root_init(&root);
	root_put(&root, "/proc/modules",
		 "b 16384 0 - Live 0xffffffffc0a01000\na 65536 0 - Live 0xffffffffc0a00000\n");
	ok_or_fail(kernel_modules_read(root.ctx, "1.2", &modules));
	ck_assert_uint_eq(modules.items[0].size, 4096);
	ck_assert_uint_eq(modules.items[1].size, 16384);
}

TEST(modules_hidden_absent_damaged)
{
	ROOT root;
	CLEANUP(kernel_modules_deinit) struct kernel_modules modules = {0};
	root_init(&root);
	ok_or_fail(kernel_modules_read(root.ctx, NULL, &modules));
	ck_assert_uint_eq(modules.count, 0);
	root_put(&root, "/proc/modules", "a 1 0 - Live 0x0000000000000000\nb 1 0 - Live 0x0\n");
	ok_or_fail(kernel_modules_read(root.ctx, NULL, &modules));
	ck_assert_uint_eq(modules.count, 2);
	ck_assert_uint_eq(modules.items[0].start, 0);
	ck_assert_uint_eq(modules.items[0].size, 1);
	root_put(&root, "/proc/modules", "a 1 0 - Live\n");
	fails_with(SP_ERROR_FORMAT, kernel_modules_read(root.ctx, NULL, &modules));
}

#define STAT_TAIL                                                                                  \
	" S 3 1 1 0 -1 4194560 1 2 3 4 50 60 7 8 20 0 1 0 777 0 0 0 1 2 3 4 5 0 0 0 0 1 0 0 17 9 " \
	"0 0 0 0 0\n"

static struct task_stat parse_stat(const char *text)
{
	struct task_stat stat;
	ok_or_fail(task_stat_parse(text, strlen(text), "stat", &stat));
	return stat;
}

TEST(stat_fields)
{
	struct task_stat stat = parse_stat("12 (a) b) (c"
					   ")" STAT_TAIL);
	ck_assert_uint_eq(stat.tid, 12);
	ck_assert_str_eq(stat.comm, "a) b) (c");
	ck_assert_int_eq(stat.state, 'S');
	ck_assert_uint_eq(stat.ppid, 3);
	ck_assert_uint_eq(stat.flags, 4194560);
	ck_assert_uint_eq(stat.start_ticks, 777);
	ck_assert_int_eq(stat.last_cpu, 9);
	ck_assert_str_eq(parse_stat("1 ()" STAT_TAIL).comm, "");
	ck_assert_str_eq(parse_stat("1 (\\n\\\\n\\x)" STAT_TAIL).comm, "\n\\n\\x");
}

/* A process of one thread: its stat file, and its list of children unless that is NULL. */
static void put_process(struct root *root, uint32_t pid, uint32_t ppid, const char *children)
{
	char path[64], stat[128];
	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	snprintf(stat, sizeof(stat),
		 "%u (p) S %u 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 777 1 1 0 0 0 0 0 0 "
		 "0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n",
		 pid, ppid);
	root_put(root, path, stat);
	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, pid);
	root_put(root, path, stat);
	snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, pid);
	if (children)
		root_put(root, path, children);
}

TEST(process_tree_reads_descendants_alone)
{
	ROOT root;
	root_init(&root);
	TASKS roots = {0};
	struct process_tree tree = {0};
	*vec_push(&roots) = 10;
	*vec_push(&roots) = 12;
	put_process(&root, 9, 1, "");
	put_process(&root, 10, 1, "12 30 ");
	put_process(&root, 12, 10, "");
	put_process(&root, 30, 10, "7 ");
	put_process(&root, 7, 30, "");
	ok_or_fail(process_tree_read_below(root.ctx, &roots, &tree));
	ck_assert_uint_eq(tree.count, 4);
	ck_assert(!process_tree_find(&tree, 9));
	ck_assert_uint_eq(process_tree_ancestor(&tree, 7, &roots), 10);
	ck_assert_uint_eq(process_tree_ancestor(&tree, 12, &roots), 10);
	/* Without lists of children, all processes are read. */
	put_process(&root, 31, 30, NULL);
	put_process(&root, 30, 10, "31 ");
	ok_or_fail(process_tree_read_below(root.ctx, &roots, &tree));
	ck_assert_uint_eq(tree.count, 6);
	ck_assert_uint_eq(process_tree_ancestor(&tree, 31, &roots), 10);
	process_tree_deinit(&tree);
}

TEST(stat_refuses_what_is_none)
{
	static const char *const bad[] = {
		"",
		"x",
		"1",
		"1 )(",
		"1 (a",
		"1 (a) ",
		"1 (a) S x",
		"1 (a) S 1 2 3\n",
		"99999999999 (a) S 1 2 3",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct task_stat stat;
		fails_with(SP_ERROR_FORMAT, task_stat_parse(bad[i], strlen(bad[i]), "stat", &stat));
	}
}

TEST(tasks_below_a_root)
{
	ROOT root;
	root_init(&root);
	root_put(&root, "/proc/70/task/70/stat", "70 (main)" STAT_TAIL);
	root_put(&root, "/proc/70/task/712/stat", "712 (worker)" STAT_TAIL);
	root_put(&root, "/proc/70/task/71/x", "");
	root_put(&root, "/proc/70/task/notes/x", "");
	root_put(&root, "/proc/9/status", "Name:\tx\nTgid:\t7\nPid:\t9\n");
	TASKS list = {0}, processes = {0}, known = {0}, fresh = {0};
	ok_or_fail(tasks_list(root.ctx, 70, &list));
	ck_assert_uint_eq(list.count, 3);
	ck_assert(task_list_has(&list, 712) && !task_list_has(&list, 7));
	ok_or_fail(tasks_list_processes(root.ctx, &processes));
	ck_assert_uint_eq(processes.count, 2);
	ck_assert_uint_eq(processes.items[0], 9);
	fails_with(SP_ERROR_NOT_FOUND, tasks_list(root.ctx, 71, &list));
	ok_or_fail(tasks_relist(root.ctx, 70, &known, &fresh));
	ck_assert_uint_eq(fresh.count, 3);
	root_put(&root, "/proc/70/task/5/stat", "");
	ok_or_fail(tasks_relist(root.ctx, 70, &known, &fresh));
	ck_assert_uint_eq(fresh.count, 1);
	ck_assert_uint_eq(fresh.items[0], 5);
	ck_assert_uint_eq(known.count, 4);
	ok_or_fail(tasks_relist(root.ctx, 70, &known, &fresh));
	ck_assert_uint_eq(fresh.count, 0);
	uint32_t pid;
	ok_or_fail(tasks_process_of(root.ctx, 9, &pid));
	ck_assert_uint_eq(pid, 7);
	fails_with(SP_ERROR_NOT_FOUND, tasks_process_of(root.ctx, 10, &pid));
}

TEST(tasks_that_are_gone_are_left_out)
{
	ROOT root;
	root_init(&root);
	root_put(&root, "/proc/70/task/70/stat", "70 (main)" STAT_TAIL);
	root_put(&root, "/proc/70/task/72/stat", "72 (worker)" STAT_TAIL);
	TASKS list = {0};
	ok_or_fail(tasks_list(root.ctx, 70, &list));
	*vec_push(&list) = 73;
	CLEANUP_FREE struct task_stat *stats = NULL;
	size_t count;
	ok_or_fail(tasks_stat_all(root.ctx, 70, &list, &stats, &count));
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(stats[1].comm, "worker");
	struct task_stat stat;
	fails_with(SP_ERROR_NOT_FOUND, tasks_stat(root.ctx, 70, 73, &stat));
}

static void *wait_forever(void *tid)
{
	__atomic_store_n((uint32_t *)tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

TEST(tasks_of_this_process)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	ok_or_fail(sp_ctx_new(&ctx));
	uint32_t tids[50] = {0};
	char comm[16];
	prctl(PR_GET_NAME, comm);
	for (size_t i = 0; i < 50; i++) {
		pthread_t thread;
		ck_assert_int_eq(pthread_create(&thread, NULL, wait_forever, &tids[i]), 0);
		while (!__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE))
			sched_yield();
	}
	TASKS list = {0};
	ok_or_fail(tasks_list(ctx, (uint32_t)getpid(), &list));
	ck_assert_uint_eq(list.count, 51);
	for (size_t i = 0; i < 50; i++)
		ck_assert(task_list_has(&list, tids[i]));
	CLEANUP_FREE struct task_stat *stats = NULL;
	size_t count;
	ok_or_fail(tasks_stat_all(ctx, (uint32_t)getpid(), &list, &stats, &count));
	ck_assert_uint_eq(count, 51);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(stats[i].tid, list.items[i]);
		ck_assert_str_eq(stats[i].comm, comm);
		ck_assert_int_ge(stats[i].last_cpu, 0);
		ck_assert_uint_eq(stats[i].ppid, (uint32_t)getppid());
		ck_assert(!(stats[i].flags & TASK_STAT_KTHREAD));
	}
	uint32_t pid;
	ok_or_fail(tasks_process_of(ctx, tids[7], &pid));
	ck_assert_uint_eq(pid, (uint32_t)getpid());
}
