/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/machine.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "record/content.h"
#include "record/kept.h"
#include "record/types.h"
#include "test.h"

/* Builders: a case says what matters to it, in the order of a real recording. */
static struct machine *machine_or_fail(void)
{
	struct machine *machine = NULL;
	ok_or_fail(machine_new(&machine));
	return machine;
}

static struct sp_record at(uint32_t type, uint64_t time_ns)
{
	return (struct sp_record){.type = type, .event = SP_EVENT_NONE,
				  .id = {.present = PERF_SAMPLE_TIME, .time_ns = time_ns}};
}

static void map_offset(struct machine *machine, uint64_t time_ns, uint32_t pid, uint64_t start,
		       uint64_t size, uint64_t file_offset, const char *filename)
{
	struct sp_record record = at(PERF_RECORD_MMAP2, time_ns);
	record.misc = PERF_RECORD_MISC_USER;
	record.mmap = (struct sp_mmap){.pid = pid, .tid = pid, .start = start, .size = size,
				       .file_offset = file_offset, .filename = filename,
				       .prot = PROT_READ | PROT_EXEC, .flags = MAP_PRIVATE};
	ok_or_fail(machine_add(machine, &record));
}

static void map(struct machine *machine, uint64_t time_ns, uint32_t pid, uint64_t start,
		uint64_t size, const char *filename)
{
	map_offset(machine, time_ns, pid, start, size, 0, filename);
}

static void map_kernel(struct machine *machine, uint64_t start, uint64_t size,
		       uint64_t file_offset, const char *filename)
{
	struct sp_record record = at(PERF_RECORD_MMAP, 0);
	record.misc = PERF_RECORD_MISC_KERNEL;
	record.mmap = (struct sp_mmap){.pid = UINT32_MAX, .start = start, .size = size,
				       .file_offset = file_offset, .filename = filename};
	ok_or_fail(machine_add(machine, &record));
}

static void ksymbol(struct machine *machine, uint64_t time_ns, uint64_t start, const char *name,
		    bool gone)
{
	struct sp_record record = at(PERF_RECORD_KSYMBOL, time_ns);
	record.ksymbol = (struct sp_ksymbol){.start = start, .size = 0x80, .name = name,
					     .type = PERF_RECORD_KSYMBOL_TYPE_BPF};
	record.ksymbol.flags = gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0;
	ok_or_fail(machine_add(machine, &record));
}

static void comm(struct machine *machine, uint64_t time_ns, uint32_t pid, uint32_t tid,
		 const char *name, bool exec)
{
	struct sp_record record = at(PERF_RECORD_COMM, time_ns);
	record.misc = exec ? PERF_RECORD_MISC_COMM_EXEC : 0;
	record.comm = (struct sp_comm){.pid = pid, .tid = tid, .comm = name};
	ok_or_fail(machine_add(machine, &record));
}

static void fork_task(struct machine *machine, uint64_t time_ns, uint32_t ppid, uint32_t pid,
		      uint32_t tid)
{
	struct sp_record record = at(PERF_RECORD_FORK, time_ns);
	record.task = (struct sp_task){.pid = pid, .tid = tid, .ppid = ppid, .ptid = ppid,
				       .time_ns = time_ns};
	ok_or_fail(machine_add(machine, &record));
}

static struct location find(const struct machine *machine, uint32_t pid, uint64_t time_ns,
			    uint64_t ip)
{
	return machine_locate(machine, machine_view(machine, pid, time_ns),
			      PERF_RECORD_MISC_USER, ip);
}

static void leads_to(const struct machine *machine, uint32_t pid, uint64_t time_ns, uint64_t ip,
		     const char *name, uint64_t offset)
{
	struct location location = find(machine, pid, time_ns, ip);
	ck_assert_msg(location.module != NULL, "%d at %d: nothing", (int)pid, (int)time_ns);
	ck_assert_str_eq(location.module->name, name);
	ck_assert_uint_eq(location.offset, offset);
}

static void leads_nowhere(const struct machine *machine, uint32_t pid, uint64_t time_ns,
			  uint64_t ip)
{
	ck_assert_ptr_null(find(machine, pid, time_ns, ip).module);
	ck_assert_uint_eq(find(machine, pid, time_ns, ip).offset, ip);
}

TEST(records_may_come_in_any_order)
{
	struct machine *machine = machine_or_fail();
	map(machine, 30, 7, 0x1000, 0x1000, "/lib/new.so");
	map(machine, 10, 7, 0x1000, 0x1000, "/lib/old.so");
	comm(machine, 20, 7, 7, "later", false);
	comm(machine, 0, 7, 7, "first", false);
	ok_or_fail(machine_seal(machine));
	leads_nowhere(machine, 7, 9, 0x1234);
	leads_to(machine, 7, 10, 0x1234, "old.so", 0x234);
	leads_to(machine, 7, 29, 0x1234, "old.so", 0x234);
	leads_to(machine, 7, 30, 0x1234, "new.so", 0x234);
	leads_to(machine, 7, UINT64_MAX, 0x1234, "new.so", 0x234);
	ck_assert_str_eq(machine_span(machine, 7, 7, 19).comm, "first");
	ck_assert_str_eq(machine_span(machine, 7, 7, 20).comm, "later");
	machine_free(machine);
}

TEST(a_fork_has_its_parents_past_and_no_more)
{
	struct machine *machine = machine_or_fail();
	comm(machine, 0, 1, 1, "parent", false);
	map(machine, 0, 1, 0x1000, 0x1000, "/bin/parent");
	fork_task(machine, 10, 1, 2, 2);
	map(machine, 20, 1, 0x5000, 0x1000, "/lib/of-parent.so");
	map(machine, 20, 2, 0x6000, 0x1000, "/lib/of-child.so");
	map(machine, 30, 1, 0x1000, 0x1000, "/lib/replaced.so");
	ok_or_fail(machine_seal(machine));
	leads_nowhere(machine, 2, 9, 0x1000);
	leads_to(machine, 2, 10, 0x1000, "parent", 0);
	leads_to(machine, 2, 40, 0x1000, "parent", 0);
	leads_to(machine, 1, 40, 0x1000, "replaced.so", 0);
	leads_nowhere(machine, 2, 40, 0x5000);
	leads_nowhere(machine, 1, 40, 0x6000);
	leads_to(machine, 1, 40, 0x5000, "of-parent.so", 0);
	leads_to(machine, 2, 40, 0x6000, "of-child.so", 0);
	ck_assert_str_eq(machine_span(machine, 2, 2, 10).comm, "parent");
	ck_assert_str_eq(machine_span(machine, 2, 2, 9).comm, ":2");
	machine_free(machine);
}

static void is_named(struct machine *machine, uint32_t tid, uint64_t time_ns, const char *comm,
		     const char *name)
{
	struct machine_span span = machine_span(machine, tid, tid, time_ns);
	ck_assert_str_eq(span.comm, comm);
	ck_assert_str_eq(span.name, name);
}

TEST(a_thread_not_yet_named_has_its_first_name_in_tables)
{
	struct machine *machine = machine_or_fail();
	comm(machine, 10, 2, 2, "first", true);
	comm(machine, 20, 2, 2, "second", true);
	fork_task(machine, 30, 1, 2, 2);
	fork_task(machine, 40, 1, 3, 3);
	comm(machine, 50, 3, 3, "third", true);
	ok_or_fail(machine_seal(machine));
	is_named(machine, 2, 9, ":2", "first");
	is_named(machine, 2, 10, "first", "first");
	is_named(machine, 2, 30, ":2", ":2");
	is_named(machine, 3, 39, ":3", ":3");
	is_named(machine, 3, 45, ":3", "third");
	is_named(machine, 4, 45, ":4", ":4");
	machine_free(machine);
}

/* perf inject -B leaves such records. */
TEST(a_mapping_with_a_guests_mode_is_the_processs)
{
	struct machine *machine = machine_or_fail();
	struct sp_record record = at(PERF_RECORD_MMAP2, 10);
	record.misc = PERF_RECORD_MISC_GUEST_USER;
	record.mmap = (struct sp_mmap){.pid = 2, .tid = 2, .start = 0x1000, .size = 0x1000,
				       .filename = "/lib/of-host.so", .prot = PROT_READ | PROT_EXEC};
	ok_or_fail(machine_add(machine, &record));
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 2, 10, 0x1000, "of-host.so", 0);
	machine_free(machine);
}

TEST(a_guests_kernel_is_another_module)
{
	struct machine *machine = machine_or_fail();
	const uint16_t modes[] = {PERF_RECORD_MISC_KERNEL, PERF_RECORD_MISC_GUEST_KERNEL};
	struct sp_record record = at(PERF_RECORD_MMAP, 0);
	record.mmap = (struct sp_mmap){.pid = UINT32_MAX, .start = 0xffffffffc0000000,
				       .size = 0x1000, .filename = "[nf_tables]"};
	for (size_t i = 0; i < 2; i++) {
		record.misc = modes[i];
		ok_or_fail(machine_add(machine, &record));
	}
	ok_or_fail(machine_seal(machine));
	for (size_t i = 0; i < 2; i++)
		ck_assert(machine_locate(machine, 0, modes[i], 0xffffffffc0000000)
				  .module->is_guest == (i == 1));
	machine_free(machine);
}

TEST(a_fork_that_changes_nothing_shares_its_parents_view)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x1000, 0x1000, "/bin/server");
	for (uint32_t pid = 2; pid < 100; pid++)
		fork_task(machine, pid, 1, pid, pid);
	ok_or_fail(machine_seal(machine));
	ck_assert_uint_eq(machine_view(machine, 50, 60), machine_view(machine, 1, 0));
	ck_assert_uint_eq(machine_view_count(machine), 2);
	machine_free(machine);
}

TEST(a_thread_is_of_its_processs_address_space)
{
	struct machine *machine = machine_or_fail();
	comm(machine, 0, 1, 1, "main", false);
	map(machine, 0, 1, 0x1000, 0x1000, "/bin/program");
	fork_task(machine, 10, 1, 1, 11);
	comm(machine, 15, 1, 11, "worker", false);
	map(machine, 20, 1, 0x5000, 0x1000, "/lib/late.so");
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 1, 30, 0x1000, "program", 0);
	leads_to(machine, 1, 30, 0x5000, "late.so", 0);
	ck_assert_str_eq(machine_span(machine, 1, 11, 12).comm, "main");
	ck_assert_str_eq(machine_span(machine, 1, 11, 15).comm, "worker");
	ck_assert_str_eq(machine_span(machine, 1, 1, 15).comm, "main");
	machine_free(machine);
}

TEST(exec_leaves_nothing_of_the_old_program)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x1000, 0x1000, "/bin/shell");
	map(machine, 0, 1, 0x9000, 0x1000, "/lib/only-in-shell.so");
	fork_task(machine, 10, 1, 2, 2);
	comm(machine, 20, 2, 2, "program", true);
	map(machine, 21, 2, 0x1000, 0x1000, "/bin/program");
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 2, 19, 0x1000, "shell", 0);
	leads_nowhere(machine, 2, 20, 0x9000);
	leads_to(machine, 2, 21, 0x1000, "program", 0);
	leads_to(machine, 1, 99, 0x9000, "only-in-shell.so", 0);
	ck_assert_str_eq(machine_span(machine, 2, 2, 20).comm, "program");
	machine_free(machine);
}

TEST(a_name_without_exec_keeps_the_address_space)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x1000, 0x1000, "/bin/program");
	comm(machine, 10, 1, 1, "renamed", false);
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 1, 20, 0x1000, "program", 0);
	machine_free(machine);
}

TEST(a_reused_pid_is_a_new_process)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x1000, 0x1000, "/bin/parent");
	fork_task(machine, 10, 1, 2, 2);
	comm(machine, 11, 2, 2, "one", true);
	map(machine, 12, 2, 0x8000, 0x1000, "/bin/one");
	fork_task(machine, 50, 1, 2, 2);
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 2, 49, 0x8000, "one", 0);
	leads_nowhere(machine, 2, 50, 0x8000);
	leads_to(machine, 2, 50, 0x1000, "parent", 0);
	ck_assert_str_eq(machine_span(machine, 2, 2, 49).comm, "one");
	ck_assert_str_eq(machine_span(machine, 2, 2, 50).comm, ":2");
	machine_free(machine);
}

/* Records of perf before Linux 4.20: the fork is not marked as older than the recording. */
TEST(a_fork_before_the_recording_has_no_later_mappings_of_its_parent)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x4000, 0x1000, "/bin/parent");
	fork_task(machine, 0, 1, 2, 2);
	map(machine, 10, 1, 0x8000, 0x1000, "/lib/above.so");
	map(machine, 20, 1, 0x1000, 0x1000, "/lib/below.so");
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 2, 30, 0x4000, "parent", 0);
	leads_nowhere(machine, 2, 30, 0x8000);
	leads_nowhere(machine, 2, 30, 0x1000);
	leads_to(machine, 1, 30, 0x1000, "below.so", 0);
	machine_free(machine);
}

TEST(a_synthesised_fork_brings_no_mappings)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x1000, 0x1000, "/bin/parent");
	struct sp_record record = at(PERF_RECORD_FORK, 0);
	record.misc = PERF_RECORD_MISC_FORK_EXEC;
	record.task = (struct sp_task){.pid = 2, .tid = 2, .ppid = 1, .ptid = 1};
	ok_or_fail(machine_add(machine, &record));
	map(machine, 0, 2, 0x5000, 0x1000, "/bin/child");
	ok_or_fail(machine_seal(machine));
	leads_nowhere(machine, 2, 5, 0x1000);
	leads_to(machine, 2, 5, 0x5000, "child", 0);
	machine_free(machine);
}

TEST(a_mapping_takes_the_place_of_what_it_overlaps)
{
	struct machine *machine = machine_or_fail();
	map_offset(machine, 0, 1, 0x1000, 0x4000, 0x10000, "/lib/big.so");
	map_offset(machine, 5, 1, 0x2000, 0x1000, 0, "/lib/small.so");
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 1, 4, 0x2800, "big.so", 0x11800);
	leads_to(machine, 1, 5, 0x1fff, "big.so", 0x10fff);
	leads_to(machine, 1, 5, 0x2800, "small.so", 0x800);
	leads_to(machine, 1, 5, 0x3001, "big.so", 0x12001);
	leads_nowhere(machine, 1, 5, 0x5000);
	machine_free(machine);
}

TEST(dlclose_and_dlopen_at_the_same_place)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x1000, 0x1000, "/bin/program");
	for (uint64_t i = 1; i <= 200; i++)
		map(machine, i, 1, 0x5000, 0x1000, i % 2 ? "/lib/a.so" : "/lib/b.so");
	ok_or_fail(machine_seal(machine));
	for (uint64_t i = 1; i <= 200; i++) {
		leads_to(machine, 1, i, 0x5010, i % 2 ? "a.so" : "b.so", 0x10);
		leads_to(machine, 1, i, 0x1010, "program", 0x10);
	}
	ck_assert_uint_ne(machine_view(machine, 1, 1), machine_view(machine, 1, 2));
	machine_free(machine);
}

TEST(a_view_ends_only_where_a_meaning_changes)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x1000, 0x1000, "/bin/program");
	map(machine, 10, 1, 0x5000, 0x1000, "/lib/added.so");
	map(machine, 20, 1, 0x5000, 0x1000, "/lib/added.so"); /* the same once more */
	map_offset(machine, 30, 1, 0x5800, 0x1000, 0x800, "/lib/added.so"); /* longer */
	map_offset(machine, 40, 1, 0x5000, 0x1000, 0x4000, "/lib/added.so"); /* elsewhere in it */
	ok_or_fail(machine_seal(machine));
	ck_assert_uint_eq(machine_view(machine, 1, 0), machine_view(machine, 1, 39));
	ck_assert_uint_ne(machine_view(machine, 1, 39), machine_view(machine, 1, 40));
	leads_to(machine, 1, 39, 0x6700, "added.so", 0x1700);
	leads_to(machine, 1, 40, 0x5001, "added.so", 0x4001);
	machine_free(machine);
}

TEST(jit_code_that_is_mapped_again_keeps_the_view)
{
	struct machine *machine = machine_or_fail();
	for (uint64_t i = 0; i < 50; i++)
		map(machine, i, 1, 0x7000, 0x1000 + i % 5 * 0x1000, "//anon");
	ok_or_fail(machine_seal(machine));
	ck_assert_uint_eq(machine_view(machine, 1, 0), machine_view(machine, 1, 60));
	leads_to(machine, 1, 60, 0x7123, "[JIT] tid 1", 0x7123);
	ck_assert_uint_eq(find(machine, 1, 60, 0x7123).pid, 1);
	machine_free(machine);
}

TEST(the_runtime_of_a_process_is_what_it_mapped_last)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x7000, 0x1000, "/usr/bin/python3.11");
	map(machine, 1, 1, 0x9000, 0x1000, "/usr/lib/jvm/lib/server/libjvm.so");
	map(machine, 0, 4, 0x7000, 0x1000, "/usr/bin/node-gyp");
	map(machine, 0, 6, 0x7000, 0x1000, "/usr/bin/luajit-2.1.0-beta3");
	map(machine, 0, 7, 0x7000, 0x1000, "/opt/ruby/lib/libruby.so.3.3");
	fork_task(machine, 10, 1, 2, 2);
	fork_task(machine, 10, 1, 3, 3);
	comm(machine, 20, 3, 3, "sh", true);
	ok_or_fail(machine_seal(machine));
	ck_assert_str_eq(machine_runtime(machine, 1)->name, "Java");
	ck_assert_str_eq(machine_runtime(machine, 2)->name, "Java");
	ck_assert_ptr_null(machine_runtime(machine, 3));
	ck_assert_ptr_null(machine_runtime(machine, 4));
	ck_assert_ptr_null(machine_runtime(machine, 5));
	ck_assert_str_eq(machine_runtime(machine, 6)->name, "Lua");
	ck_assert_str_eq(machine_runtime(machine, 7)->name, "Ruby");
	machine_free(machine);
}

TEST(jit_code_of_a_forks_parent_stays_the_parents)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x7000, 0x1000, "//anon");
	map(machine, 0, 3, 0x7000, 0x1000, "//anon");
	fork_task(machine, 10, 1, 2, 2);
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 2, 20, 0x7123, "[JIT] tid 1", 0x7123);
	leads_to(machine, 3, 20, 0x7123, "[JIT] tid 3", 0x7123);
	ck_assert_uint_eq(find(machine, 2, 20, 0x7123).pid, 1);
	machine_free(machine);
}

TEST(the_kernel_is_everywhere_and_modules_lie_over_its_image)
{
	struct machine *machine = machine_or_fail();
	map_kernel(machine, 0xffffffffc0000000, 0x2000, 0,
		   "/lib/modules/6.1/kernel/net/nf-tables.ko.xz");
	map_kernel(machine, 0xffffffff81000000, UINT64_MAX - 0xffffffff81000000,
		   0xffffffff81000000, "[kernel.kallsyms]_text");
	map_kernel(machine, 0xffffffffc0010000, 0x2000, 0, "[bpfilter]");
	ok_or_fail(machine_seal(machine));
	const uint16_t kernel = PERF_RECORD_MISC_KERNEL;
	struct location at = machine_locate(machine, 0, kernel, 0xffffffff81000123);
	ck_assert_str_eq(at.module->name, "[kernel.kallsyms]");
	ck_assert_int_eq(at.module->kind, MODULE_KERNEL);
	ck_assert_uint_eq(at.offset, 0xffffffff81000123);
	ck_assert_str_eq(at.module->reference_symbol, "_text");
	ck_assert_uint_eq(at.module->reference, 0xffffffff81000000);
	ck_assert_ptr_eq(at.module, machine_kernel(machine));
	at = machine_locate(machine, machine_view(machine, 4, 9), kernel, 0xffffffffc0000010);
	ck_assert_str_eq(at.module->name, "[nf_tables]");
	ck_assert_int_eq(at.module->kind, MODULE_KERNEL_MODULE);
	at = machine_locate(machine, 0, kernel, 0xffffffffc0010010);
	ck_assert_str_eq(at.module->name, "[bpfilter]");
	ck_assert_ptr_null(machine_locate(machine, 0, kernel, 0x1000).module);
	ck_assert_ptr_null(machine_locate(machine, 0, PERF_RECORD_MISC_USER,
					  0xffffffff81000123).module);
	machine_free(machine);
}

TEST(kernel_code_may_be_replaced)
{
	struct machine *machine = machine_or_fail();
	const uint64_t ip = 0xffffffffc0101010;
	map(machine, 0, 5, 0x1000, 0x1000, "/bin/program");
	map_kernel(machine, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
		   "[kernel.kallsyms]_text");
	ksymbol(machine, 10, ip & ~0xfffull, "bpf_prog_one", false);
	ksymbol(machine, 20, ip & ~0xfffull, "bpf_prog_one", true);
	ksymbol(machine, 30, ip & ~0xfffull, "bpf_prog_two", false);
	ksymbol(machine, 30, 0xffffffff81000100, "inside_the_image", false);
	ok_or_fail(machine_seal(machine));
	uint32_t before = machine_view(machine, 5, 29), after = machine_view(machine, 5, 30);
	const uint16_t kernel = PERF_RECORD_MISC_KERNEL;
	ck_assert_uint_ne(before, after);
	ck_assert_uint_lt(after, machine_view_count(machine));
	ck_assert_str_eq(machine_locate(machine, before, kernel, ip & ~0xfffull).module->name,
			 "bpf_prog_one");
	ck_assert_str_eq(machine_locate(machine, after, kernel, ip & ~0xfffull).module->name,
			 "bpf_prog_two");
	ck_assert_uint_eq(machine_view_of_mode(machine, before, PERF_RECORD_MISC_USER),
			  machine_view_of_mode(machine, after, PERF_RECORD_MISC_USER));
	ck_assert_uint_eq(machine_view_of_mode(machine, after, kernel),
			  machine_view_of_mode(machine, machine_view(machine, 9, 30), kernel));
	leads_to(machine, 5, 30, 0x1010, "program", 0x10);
	/* perf gives what lies in the image the image's name. */
	const struct module *inside =
		machine_locate(machine, after, kernel, 0xffffffff81000110).module;
	ck_assert_str_eq(inside->name, "[kernel.kallsyms]");
	ck_assert_str_eq(inside->path, "inside_the_image");
	machine_free(machine);
}

TEST(spans_say_how_long_they_hold)
{
	struct machine *machine = machine_or_fail();
	comm(machine, 0, 1, 1, "first", false);
	map(machine, 5, 1, 0x1000, 0x1000, "/lib/a.so");
	comm(machine, 10, 1, 1, "second", false);
	map(machine, 20, 1, 0x1000, 0x1000, "/lib/b.so");
	ok_or_fail(machine_seal(machine));
	const uint64_t bounds[] = {0, 5, 10, 20, UINT64_MAX};
	for (int i = 0; i < 4; i++)
		for (uint64_t time = bounds[i]; time < bounds[i] + 5; time++) {
			struct machine_span span = machine_span(machine, 1, 1, time);
			ck_assert_uint_eq(span.from_ns, bounds[i]);
			ck_assert_uint_eq(span.until_ns, bounds[i + 1]);
			ck_assert_uint_eq(span.view, machine_view(machine, 1, time));
			ck_assert_str_eq(span.comm, machine_span(machine, 1, 1, time).comm);
		}
	machine_free(machine);
}

TEST(names_are_those_that_perf_shows)
{
	static const struct {
		const char *filename, *name;
		enum module_kind kind;
	} cases[] = {
		{"/usr/bin/python3.11", "python3.11", MODULE_FILE},
		{"/tmp/a.out (deleted)", "a.out (deleted)", MODULE_FILE},
		{"relative", "relative", MODULE_FILE},
		{"[vdso]", "[vdso]", MODULE_VDSO},
		{"[vsyscall]", "[vsyscall]", MODULE_ANONYMOUS},
		{"[heap]", "[heap]", MODULE_ANONYMOUS},
		{"[stack]", "[stack]", MODULE_ANONYMOUS},
		{"[anon:name]", "[anon:name]", MODULE_ANONYMOUS},
		{"/SYSV00000000 (deleted)", "/SYSV00000000 (deleted)", MODULE_ANONYMOUS},
		{"/anon_hugepage (deleted)", "[JIT] tid 9", MODULE_ANONYMOUS},
		{"/tmp/perf-9.map", "[JIT] tid 9", MODULE_ANONYMOUS},
		{"/tmp/perf-.map", "perf-.map", MODULE_FILE},
		{"//anon", "[JIT] tid 9", MODULE_ANONYMOUS},
		{"/dev/zero (deleted)", "/dev/zero (deleted)", MODULE_ANONYMOUS},
		{"/memfd:jit (deleted)", "memfd:jit (deleted)", MODULE_FILE},
	};
	const uint64_t base = 0x7fff00000000;
	struct machine *machine = machine_or_fail();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		map(machine, 0, 9, base + i * 0x1000, 0x1000, cases[i].filename);
	ok_or_fail(machine_seal(machine));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct module *module = find(machine, 9, 0, base + i * 0x1000).module;
		ck_assert_str_eq(module->name, cases[i].name);
		ck_assert_str_eq(module->path, cases[i].filename);
		ck_assert_int_eq(module->kind, cases[i].kind);
	}
	machine_free(machine);
}

/* A process executes a program, and maps memory without a file over its code. */
static struct machine *replaced_or_fail(uint64_t start, uint64_t size)
{
	struct machine *machine = machine_or_fail();
	comm(machine, 10, 9, 9, "program", true);
	map_offset(machine, 11, 9, 0x402000, 0x4000, 0x2000, "/bin/program");
	map(machine, 11, 9, 0x7f0000, 0x1000, "/lib/ld.so");
	map(machine, 12, 9, 0x800000, 0x3000, "/lib/library.so");
	map(machine, 20, 9, start, size, "//anon");
	return machine;
}

static bool is_moved(const struct machine *machine, uint64_t ip)
{
	return find(machine, 9, 20, ip).module->is_moved;
}

TEST(code_of_the_program_keeps_its_file_where_memory_replaces_it)
{
	static const struct {
		uint64_t start, size;
	} cases[] = {{0x402000, 0x4000}, {0x403000, 0x1000}, {0x401000, 0x6000}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct machine *machine = replaced_or_fail(cases[i].start, cases[i].size);
		ok_or_fail(machine_seal(machine));
		for (uint64_t offset = 0; offset < 0x4000; offset += 0x800)
			leads_to(machine, 9, 20, 0x402000 + offset, "program", 0x2000 + offset);
		ck_assert(is_moved(machine, 0x403000));
		ck_assert(!is_moved(machine, 0x800000));
		machine_free(machine);
	}
	struct machine *machine = replaced_or_fail(0x401000, 0x6000);
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 9, 20, 0x401800, "[JIT] tid 9", 0x401800);
	leads_to(machine, 9, 20, 0x406800, "[JIT] tid 9", 0x406800);
	machine_free(machine);
}

TEST(code_that_the_recorder_compared_is_proven)
{
	struct machine *machine = replaced_or_fail(0x402000, 0x4000);
	map_offset(machine, 21, 9, 0x402000, 0x4000, 0x2000, "/bin/program");
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 9, 20, 0x403000, "program", 0x3000);
	ck_assert(!is_moved(machine, 0x403000));
	machine_free(machine);
}

/* Another part may be a JIT's memory in the place of a library that was closed. */
TEST(code_of_a_library_keeps_its_file_in_exactly_its_place)
{
	struct machine *machine = replaced_or_fail(0x800000, 0x3000);
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 9, 20, 0x801000, "library.so", 0x1000);
	ck_assert(is_moved(machine, 0x801000));
	machine_free(machine);
	machine = replaced_or_fail(0x801000, 0x2000);
	map(machine, 30, 9, 0x801000, 0x2000, "/lib/again.so");
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 9, 20, 0x800800, "library.so", 0x800);
	leads_to(machine, 9, 20, 0x801000, "[JIT] tid 9", 0x801000);
	leads_to(machine, 9, 30, 0x801000, "again.so", 0);
	ck_assert(!is_moved(machine, 0x800800));
	machine_free(machine);
}

TEST(memory_of_a_runtime_is_its_jits)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 8, 0x1000, 0x1000, "/usr/bin/php8.2");
	for (uint32_t pid = 8; pid <= 9; pid++) {
		map(machine, 0, pid, 0x2000, 0x1000, "/dev/zero (deleted)");
		map(machine, 0, pid, 0x3000, 0x1000, "[anon:code]");
		map(machine, 0, pid, 0x4000, 0x1000, "[stack]");
	}
	ok_or_fail(machine_seal(machine));
	for (uint64_t ip = 0x2000; ip <= 0x4000; ip += 0x1000) {
		ck_assert_int_eq(find(machine, 8, 0, ip).module->is_generated, ip < 0x4000);
		ck_assert(!find(machine, 9, 0, ip).module->is_generated);
	}
	machine_free(machine);
}

TEST(processes_of_other_pid_namespaces_are_not_told_apart)
{
	struct machine *machine = machine_or_fail();
	map_kernel(machine, 0xffffffff81000000, 0x1000000, 0, "[kernel.kallsyms]_text");
	fork_task(machine, 5, 0, 0, 0);
	comm(machine, 10, 0, 0, "first", true);
	map(machine, 11, 0, 0x1000, 0x1000, "/bin/first");
	fork_task(machine, 12, 0, 4, 4);
	map(machine, 12, 4, 0x5000, 0x1000, "/bin/inside");
	comm(machine, 20, 0, 0, "second", true);
	map(machine, 21, UINT32_MAX, 0x1000, 0x1000, "/bin/ended");
	ok_or_fail(machine_seal(machine));
	ck_assert(machine_has_outside(machine));
	leads_nowhere(machine, 0, 15, 0x1000);
	leads_nowhere(machine, UINT32_MAX, 25, 0x1000);
	leads_to(machine, 4, 15, 0x5800, "inside", 0x800);
	leads_nowhere(machine, 4, 15, 0x1000);
	ck_assert_str_eq(machine_span(machine, 0, 0, 15).comm, ":0");
	ck_assert_str_eq(machine_span(machine, 0, 0, 25).comm, ":0");
	const struct module *kernel =
		machine_locate(machine, machine_view(machine, 0, 15), PERF_RECORD_MISC_KERNEL,
			       0xffffffff81000010).module;
	ck_assert(kernel && kernel == machine_kernel(machine));
	machine_free(machine);
}

TEST(an_ip_stands_for_itself_only_where_there_is_no_file)
{
	static const struct {
		const char *filename;
		uint64_t offset;
	} cases[] = {
		{"/bin/file", 0x5010}, {"/memfd:jit (deleted)", 0x5010}, {"[vsyscall]", 0x5010},
		{"[vdso]", 0x10},      {"//anon", 0x7010},               {"[heap]", 0x7010},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct machine *machine = machine_or_fail();
		map_offset(machine, 0, 1, 0x7000, 0x1000, 0x5000, cases[i].filename);
		ok_or_fail(machine_seal(machine));
		ck_assert_uint_eq(find(machine, 1, 0, 0x7010).offset, cases[i].offset);
		ck_assert_uint_eq(find(machine, 1, 0, 0x7010).ip, 0x7010);
		machine_free(machine);
	}
}

static void vdso_is(const char *arch, uint64_t start, uint64_t size, const char *name)
{
	struct machine *machine = machine_or_fail();
	machine_set_arch(machine, arch);
	map(machine, 0, 1, start, size, "[vdso]");
	ok_or_fail(machine_seal(machine));
	ck_assert_str_eq(find(machine, 1, 0, start).module->path, name);
	machine_free(machine);
}

TEST(the_vdso_of_32_bit_programs_is_another)
{
	vdso_is("x86_64", 0xf7fc8000, 0x2000, "[vdso32]");
	vdso_is("x86_64", 0x7ffe12345000, 0x2000, "[vdso]");
	vdso_is("x86_64", 0xfffff000, 0x2000, "[vdso]");
	vdso_is("armv7l", 0xf7fc8000, 0x1000, "[vdso]");
}

TEST(kept_files_go_to_their_modules)
{
	struct machine *machine = machine_or_fail();
	struct record_buffer buffer = {0};
	static uint8_t bytes[5000];
	memset(bytes, 0x5a, sizeof(bytes));
	ok_or_fail(record_encode_kept(&buffer, "[vdso]", bytes, sizeof(bytes)));
	struct sp_record record = at(SP_RECORD_EVENT_UPDATE, 0);
	memcpy(&record.event_update.kind, buffer.items + 8, 8);
	record.event_update.data = (struct sp_bytes){buffer.items + 24, buffer.count - 24};
	ok_or_fail(machine_add(machine, &record));
	memset(buffer.items + 24 + 24, 1, 100); /* said again: the first holds; and it was copied */
	ok_or_fail(machine_add(machine, &record));
	map(machine, 0, 1, 0x7fff00000000, 0x2000, "[vdso]");
	map(machine, 0, 1, 0x7ffe00000000, 0x2000, "/bin/program");
	map(machine, 0, 1, 0xf7fc8000, 0x2000, "[vdso]");
	ok_or_fail(machine_seal(machine));
	vec_deinit(&buffer);
	const struct module *module = find(machine, 1, 0, 0x7fff00000000).module;
	ck_assert_uint_eq(module->kept_size, sizeof(bytes));
	ck_assert_mem_eq(module->kept, bytes, sizeof(bytes));
	ck_assert_uint_eq(find(machine, 1, 0, 0x7ffe00000000).module->kept_size, 0);
	ck_assert_uint_eq(find(machine, 1, 0, 0xf7fc8000).module->kept_size, 0);
	machine_free(machine);
}

static void build_id(struct machine *machine, uint16_t cpumode, const char *filename, int value)
{
	struct sp_record record = at(SP_RECORD_HEADER_BUILD_ID, 0);
	record.misc = cpumode;
	record.build_id = (struct sp_build_id){.pid = UINT32_MAX, .filename = filename,
					       .build_id_size = 20};
	memset(record.build_id.build_id, value, 20);
	ok_or_fail(machine_add(machine, &record));
}

TEST(build_ids_of_the_header_go_to_their_modules)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x1000, 0x1000, "/lib/a.so");
	map(machine, 0, 1, 0x2000, 0x1000, "/lib/twice.so");
	map_kernel(machine, 0xffffffff81000000, 0x1000, 0, "[kernel.kallsyms]_stext");
	map_kernel(machine, 0xffffffffc0000000, 0x1000, 0, "/lib/modules/6.1/e1000-x.ko");
	build_id(machine, PERF_RECORD_MISC_USER, "/lib/a.so", 1);
	build_id(machine, PERF_RECORD_MISC_USER, "/lib/twice.so", 2);
	build_id(machine, PERF_RECORD_MISC_USER, "/lib/twice.so", 3);
	build_id(machine, PERF_RECORD_MISC_KERNEL, "/usr/lib/debug/boot/vmlinux-6.1", 4);
	build_id(machine, PERF_RECORD_MISC_KERNEL, "[e1000_x]", 5);
	ok_or_fail(machine_seal(machine));
	const uint16_t kernel = PERF_RECORD_MISC_KERNEL;
	ck_assert_uint_eq(find(machine, 1, 0, 0x1000).module->build_id[19], 1);
	ck_assert_uint_eq(find(machine, 1, 0, 0x2000).module->build_id_size, 0);
	ck_assert_uint_eq(machine_kernel(machine)->build_id[0], 4);
	ck_assert_uint_eq(machine_locate(machine, 0, kernel, 0xffffffffc0000000)
				  .module->build_id[0], 5);
	machine_free(machine);
}

/* perf before Linux 5.12 fills build-ids of lld, which have 8 bytes, with zeros. */
TEST(build_ids_of_the_header_may_be_filled_with_zeros)
{
	static const uint8_t sizes[] = {8, 16, 20};
	struct machine *machine = machine_or_fail();
	for (size_t i = 0; i < 3; i++) {
		char name[] = "/lib/0.so";
		name[5] += i;
		struct sp_record record = at(SP_RECORD_HEADER_BUILD_ID, 0);
		record.misc = PERF_RECORD_MISC_USER;
		record.build_id = (struct sp_build_id){.filename = name, .build_id_size = 20};
		memset(record.build_id.build_id, 7, sizes[i]);
		ok_or_fail(machine_add(machine, &record));
		map(machine, 0, 1, 0x1000 * (i + 1), 0x1000, name);
	}
	ok_or_fail(machine_seal(machine));
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(find(machine, 1, 0, 0x1000 * (i + 1)).module->build_id_size,
				  sizes[i]);
	machine_free(machine);
}

/* The build-id is that of the file that has the path now. */
TEST(a_replaced_file_has_no_build_id_by_its_path)
{
	struct machine *machine = machine_or_fail();
	const struct file_content replaced = {.path = "/lib/a.so", .ino = 41};
	struct record_buffer buffer = {0};
	ok_or_fail(record_encode_content(&buffer, &replaced));
	struct sp_record note = at(SP_RECORD_EVENT_UPDATE, 0);
	note.event_update.kind = CONTENT_KIND;
	note.event_update.data = (struct sp_bytes){buffer.items + 24, buffer.count - 24};
	ok_or_fail(machine_add(machine, &note));
	for (uint64_t ino = 41; ino < 43; ino++) {
		struct sp_record record = at(PERF_RECORD_MMAP2, 0);
		record.mmap = (struct sp_mmap){.pid = 1, .tid = 1, .start = 0x1000 * ino,
					       .size = 0x1000, .ino = ino,
					       .filename = "/lib/a.so",
					       .prot = PROT_READ | PROT_EXEC};
		ok_or_fail(machine_add(machine, &record));
	}
	build_id(machine, PERF_RECORD_MISC_USER, "/lib/a.so", 1);
	ok_or_fail(machine_seal(machine));
	vec_deinit(&buffer);
	ck_assert_uint_eq(find(machine, 1, 0, 41 * 0x1000).module->build_id_size, 0);
	ck_assert_uint_eq(find(machine, 1, 0, 42 * 0x1000).module->build_id_size, 20);
	machine_free(machine);
}

TEST(a_module_is_one_object_for_all_its_mappings)
{
	struct machine *machine = machine_or_fail();
	for (uint32_t pid = 1; pid < 500; pid++) {
		map(machine, 0, pid, 0x1000 * pid, 0x1000, "/lib/libc.so.6");
		map(machine, 0, pid, 0x1000000, 0x1000, "//anon");
	}
	ok_or_fail(machine_seal(machine));
	ck_assert_uint_eq(machine_module_count(machine), 500);
	for (size_t i = 0; i < machine_module_count(machine); i++)
		ck_assert_uint_eq(machine_module(machine, i)->index, i);
	ck_assert_ptr_eq(find(machine, 3, 0, 0x3000).module, find(machine, 4, 0, 0x4000).module);
	machine_free(machine);
}

TEST(architectures_are_32_or_64_bit)
{
	static const struct { const char *arch; bool is_64bit; } cases[] = {
		{"x86_64", true}, {"aarch64", true}, {"s390x", true}, {"ppc64le", true},
		{NULL, true}, {"i686", false}, {"armv7l", false}, {"riscv32", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct machine *machine = machine_or_fail();
		machine_set_arch(machine, cases[i].arch);
		map(machine, 0, 1, 0x1000, 0x1000, "/bin/program");
		ok_or_fail(machine_seal(machine));
		ck_assert(machine_module(machine, 0)->is_64bit == cases[i].is_64bit);
		machine_free(machine);
	}
}

TEST(contradicting_records_do_no_harm)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 1, 0x1000, 0, "/empty");
	map(machine, 0, 1, UINT64_MAX - 0xfff, UINT64_MAX, "/wraps");
	fork_task(machine, 0, 77, 78, 78);
	fork_task(machine, 0, 78, 77, 77);
	fork_task(machine, 1, 78, 78, 78);
	comm(machine, 2, UINT32_MAX, UINT32_MAX, "", true);
	ok_or_fail(machine_seal(machine));
	leads_nowhere(machine, 1, 0, 0x1000);
	leads_to(machine, 1, 0, UINT64_MAX - 1, "wraps", 0xffe);
	ck_assert_str_eq(machine_span(machine, 5, UINT32_MAX - 1, 0).comm, ":-2");
	ck_assert_str_eq(machine_span(machine, 0, 0, 0).comm, "swapper");
	struct sp_record late = at(PERF_RECORD_COMM, 0);
	late.comm.comm = "late";
	fails_with(SP_ERROR_INVALID, machine_add(machine, &late));
	machine_free(machine);
}

static void *ask(void *arg)
{
	const struct machine *machine = arg;
	uintptr_t wrong = 0;
	char name[16];
	for (uint32_t tid = 1000; tid < 3000; tid++) {
		snprintf(name, sizeof(name), ":%d", (int)tid);
		wrong += strcmp(machine_span(machine, 1, tid, 0).comm, name) != 0;
		wrong += !find(machine, 1, tid, 0x1000).module;
	}
	return (void *)wrong;
}

TEST(a_sealed_machine_answers_several_threads)
{
	struct machine *machine = machine_or_fail();
	pthread_t threads[4];
	map(machine, 0, 1, 0x1000, 0x1000, "/bin/program");
	ok_or_fail(machine_seal(machine));
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, machine), 0);
	for (int i = 0; i < 4; i++) {
		void *wrong;
		pthread_join(threads[i], &wrong);
		ck_assert_ptr_null(wrong);
	}
	machine_free(machine);
}

/* The only jitdump of a machine. */
static struct machine_jitdump jitdump_or_fail(const struct machine *machine)
{
	ck_assert_uint_eq(machine_jitdump_count(machine), 1);
	return machine_jitdump(machine, 0);
}

static void jit(struct machine *machine, uint64_t time_ns, uint64_t start, uint64_t size,
		uint64_t file_offset)
{
	const struct machine_jitdump dump = jitdump_or_fail(machine);
	ok_or_fail(machine_add_jit(machine, &dump, time_ns, start, size, file_offset));
}

TEST(jitdump_is_known_by_its_name)
{
	struct machine *machine = machine_or_fail();
	map(machine, 5, 7, 0x900000, 0x1000, "/tmp/jit-7.dump.so");
	map(machine, 5, 7, 0x901000, 0x1000, "/tmp/jit-.dump");
	map(machine, 5, 7, 0x902000, 0x1000, "/tmp/xjit-7.dump");
	ck_assert_uint_eq(machine_jitdump_count(machine), 0);
	map(machine, 10, 7, 0x903000, 0x1000, "/home/u/.debug/jit/jit-12.dump");
	map(machine, 20, 7, 0x904000, 0x1000, "/home/u/.debug/jit/jit-12.dump");
	struct machine_jitdump dump = jitdump_or_fail(machine);
	ck_assert_uint_eq(dump.pid, 7);
	ck_assert_uint_eq(dump.time_ns, 10);
	ck_assert_int_eq(dump.module->kind, MODULE_JIT);
	ck_assert_str_eq(dump.module->name, "[JIT] tid 7");
	machine_free(machine);
}

/* Code of different times at one address is identified by its time. */
TEST(jit_code_by_its_time)
{
	struct machine *machine = machine_or_fail();
	map(machine, 10, 7, 0x900000, 0x1000, "/tmp/jit-7.dump");
	map(machine, 11, 7, 0x1000, 0x8000, "//anon");
	jit(machine, 20, 0x2000, 0x100, 100);
	jit(machine, 40, 0x2000, 0x80, 500);
	jit(machine, 30, 0x3000, 0x100, 300);
	/* A page's rights change: the kernel tells of all the memory anew. */
	map(machine, 50, 7, 0x1000, 0x8000, "//anon");
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 7, 25, 0x2010, "[JIT] tid 7", 116);
	leads_to(machine, 7, 39, 0x2010, "[JIT] tid 7", 116);
	leads_to(machine, 7, 40, 0x2010, "[JIT] tid 7", 516);
	leads_to(machine, 7, 60, 0x2010, "[JIT] tid 7", 516);
	leads_to(machine, 7, 60, 0x2090, "[JIT] tid 7", 0x90 + 100);
	leads_to(machine, 7, 60, 0x3000, "[JIT] tid 7", 300);
	ck_assert_int_eq(find(machine, 7, 60, 0x3000).module->kind, MODULE_JIT);
	/* Addresses before the first code, and outside of it, are unknown. */
	leads_to(machine, 7, 12, 0x2010, "[JIT] tid 7", 116);
	ck_assert_int_eq(find(machine, 7, 60, 0x2100).module->kind, MODULE_ANONYMOUS);
	ck_assert_uint_eq(machine_jit_unparted(machine), 0);
	machine_free(machine);
}

TEST(jit_code_gives_way_to_files)
{
	struct machine *machine = machine_or_fail();
	map(machine, 10, 7, 0x900000, 0x1000, "/tmp/jit-7.dump");
	map(machine, 10, 7, 0x1000, 0x1000, "/lib/a.so");
	map(machine, 10, 7, 0x3000, 0x1000, "/memfd:doublemapper (deleted)");
	jit(machine, 20, 0x1800, 0x1000, 0x100); /* half of it over the file */
	jit(machine, 20, 0x3000, 0x100, 0x5000);
	map(machine, 30, 7, 0x2000, 0x1000, "/lib/b.so");
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 7, 25, 0x1800, "a.so", 0x800);
	leads_to(machine, 7, 25, 0x3010, "[JIT] tid 7", 0x5010);
	leads_to(machine, 7, 40, 0x2000, "b.so", 0);
	machine_free(machine);
}

TEST(jit_code_of_forks_and_execs)
{
	struct machine *machine = machine_or_fail();
	map(machine, 0, 7, 0x100000, 0x1000, "/bin/first");
	map(machine, 10, 7, 0x900000, 0x1000, "/tmp/jit-7.dump");
	jit(machine, 20, 0x2000, 0x100, 100);
	fork_task(machine, 30, 7, 8, 8);
	jit(machine, 40, 0x2000, 0x100, 500);
	comm(machine, 50, 7, 7, "other", true);
	/* Told of before the file was mapped: of another program it cannot be. */
	comm(machine, 5, 7, 7, "before", true);
	jit(machine, 1, 0x4000, 0x100, 900);
	ok_or_fail(machine_seal(machine));
	leads_to(machine, 8, 60, 0x2000, "[JIT] tid 7", 100);
	leads_to(machine, 7, 45, 0x2000, "[JIT] tid 7", 500);
	leads_nowhere(machine, 7, 60, 0x2000);
	leads_nowhere(machine, 7, 4, 0x4000);
	leads_to(machine, 7, 11, 0x4000, "[JIT] tid 7", 900);
	machine_free(machine);
}

/* More than is kept apart changes the last view, and is counted. */
TEST(jit_code_that_is_replaced_too_often)
{
	struct machine *machine = machine_or_fail();
	map(machine, 10, 7, 0x900000, 0x1000, "/tmp/jit-7.dump");
	for (uint64_t i = 0; i < 200010; i++)
		jit(machine, 100 + i, 0x2000, 0x100, 1000 + i);
	ok_or_fail(machine_seal(machine));
	ck_assert_uint_eq(machine_jit_unparted(machine), 9);
	leads_to(machine, 7, 150, 0x2000, "[JIT] tid 7", 1050);
	leads_to(machine, 7, UINT64_MAX, 0x2000, "[JIT] tid 7", 1000 + 200009);
	machine_free(machine);
}
