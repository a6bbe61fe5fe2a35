/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Python functions: numbered by the recorder, in the file, and found again by addresses of their lines. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "capture/python/functions.h"
#include "capture/python/processes.h"
#include "capture/python/shots.h"
#include "machine/machine.h"
#include "record/record_length.h"
#include "stored/chunks.h"
#include "stored/stored.h"
#include "symbol/resolver.h"
#include "test.h"

static const struct python_function outer = {.name = "outer.<locals>.f", .file = "/a.py", .first_line = 3};
static const struct python_function other = {.name = "outer.<locals>.f", .file = "/a.py", .first_line = 9};

/* Decodes the record at `at`; its data follows header, kind and id. */
static struct sp_record record_at(const struct record_buffer *buffer, size_t at, size_t *size_ret)
{
	struct perf_event_header header;
	memcpy(&header, buffer->items + at, sizeof(header));
	struct sp_record record = {.type = header.type};
	memcpy(&record.event_update.kind, buffer->items + at + 8, 8);
	record.event_update.data.bytes = buffer->items + at + 24;
	record.event_update.data.size = header.size - 24u;
	*size_ret = header.size;
	return record;
}

TEST(functions_have_a_number_and_are_written_once_for_each_file)
{
	struct python_functions functions;
	struct record_buffer buffer = {0};
	uint64_t first, second, again;
	python_functions_init(&functions);
	ck_assert(python_functions_add(&functions, &outer, &first));
	ck_assert(python_functions_add(&functions, &other, &second));
	ck_assert(python_functions_add(&functions, &outer, &again));
	ck_assert_uint_eq(first, again);
	ck_assert_uint_ne(first, second);
	ok_or_fail(python_functions_encode(&functions, &buffer));
	size_t written = buffer.count;
	ok_or_fail(python_functions_encode(&functions, &buffer));
	ck_assert_uint_eq(buffer.count, written);
	python_functions_restart(&functions);
	ok_or_fail(python_functions_encode(&functions, &buffer));
	ck_assert_uint_eq(buffer.count, 2 * written);
	vec_deinit(&buffer);
	python_functions_deinit(&functions);
}

TEST(an_address_has_function_and_line)
{
	uint64_t start = python_start(5), ip = python_address(start, 70000);
	ck_assert(python_has_address(ip));
	ck_assert_uint_eq(python_function_of(ip), start);
	ck_assert_uint_eq(python_line_of(ip), 70000);
	/* Readers subtract 1 from return addresses. */
	ck_assert_uint_eq(python_line_of(ip - 1), 70000);
	ck_assert_uint_eq(python_function_of(python_address(start, PYTHON_LINE_MAX)), start);
	ck_assert_uint_eq(python_line_of(python_address(start, PYTHON_LINE_MAX + 1)), 0);
	ck_assert(python_has_address(python_address(python_start(PYTHON_FUNCTIONS_MAX - 1), 1)));
}

/* Stores one address of Python code without a name, as archives had them. */
static struct stored *store_nameless(uint64_t offset)
{
	const struct stored_key key = {.kind = MODULE_PYTHON, .path = PYTHON_DSO};
	struct stored_names names = {0};
	struct record_buffer data = {0}, records = {0};
	struct stored *stored;
	struct stored_module *module = stored_names_add(&names, &key);
	ck_assert(module && vec_append(&module->points, (struct stored_point){.offset = offset}));
	ok_or_fail(stored_names_encode(&names, &data));
	ok_or_fail(chunk_encode(&records, CHUNK_NAMES, data.items, data.count));
	ok_or_fail(chunks_encode_end(&records));
	int fd = memfd_create("stored", MFD_CLOEXEC);
	ck_assert_int_eq(write(fd, records.items, records.count), (ssize_t)records.count);
	ok_or_fail(stored_open(fd, records.count, "stored", &stored));
	ck_assert_ptr_nonnull(stored);
	close(fd);
	vec_deinit(&data);
	vec_deinit(&records);
	stored_names_deinit(&names);
	return stored;
}

TEST(functions_and_lines_are_found_again)
{
	struct python_functions functions;
	struct record_buffer buffer = {0};
	struct machine *machine;
	struct sp_ctx *ctx;
	struct resolver *resolver;
	uint64_t start;
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(machine_new(&machine));
	python_functions_init(&functions);
	ck_assert(python_functions_add(&functions, &other, &start));
	ck_assert(python_functions_add(&functions, &outer, &start));
	ok_or_fail(python_functions_encode(&functions, &buffer));
	for (size_t at = 0, size; at < buffer.count; at += size) {
		const struct sp_record record = record_at(&buffer, at, &size);
		ok_or_fail(machine_add(machine, &record));
	}
	ok_or_fail(machine_seal(machine));
	const struct code_address address = {.ip = python_address(start, 4),
					     .cpumode = PERF_RECORD_MISC_USER, .caller = true};
	/* The records have all functions; stored names lack some addresses. */
	struct stored *stored = store_nameless(address.ip);
	const struct resolver_options options = {.stored = stored};
	ok_or_fail(resolver_new(ctx, &options, &resolver));
	struct location location = resolver_locate(resolver, machine, &address);
	ck_assert(location.module && !strcmp(location.module->name, "[python]"));
	ck_assert(machine_may_run(machine, 0, address.ip));
	const struct symbol *symbol = resolver_find(resolver, &location);
	ck_assert(symbol && !strcmp(symbol->name, "outer.<locals>.f"));
	ck_assert_uint_eq(symbol->start, start);
	const struct source_frame *frame = NULL;
	struct source_frames frames = {.items = &frame, .lines = true};
	const struct source_query query = {.module = location.module, .offsets = &location.offset,
					   .count = 1, .threads = 1};
	ok_or_fail(resolver_sources(resolver, &query, &frames));
	ck_assert(frame && !strcmp(frame->file, "/a.py"));
	ck_assert_uint_eq(frame->line, 4);
	location.offset = python_start(2);
	ck_assert(!resolver_find(resolver, &location));
	resolver_free(resolver);
	stored_free(stored);
	machine_free(machine);
	vec_deinit(&buffer);
	python_functions_deinit(&functions);
	sp_ctx_free(ctx);
}

TEST(damaged_records_are_no_functions)
{
	struct record_buffer buffer = {0};
	struct python_function function = other, found;
	size_t size;
	function.start = python_start(1);
	ok_or_fail(record_encode_python(&buffer, &function));
	struct sp_record record = record_at(&buffer, 0, &size);
	ck_assert(record_python(&record, &found));
	ck_assert_str_eq(found.name, other.name);
	ck_assert_uint_eq(found.first_line, 9);
	/* No end of the file's name, no name, another range. The file may be unknown. */
	for (record.event_update.data.size = 0; record.event_update.data.size < 34;
	     record.event_update.data.size++)
		ck_assert(!record_python(&record, &found));
	buffer.items[24] = 1;
	record = record_at(&buffer, 0, &size);
	ck_assert(!record_python(&record, &found));
	buffer.count = 0;
	function.file = "";
	ok_or_fail(record_encode_python(&buffer, &function));
	record = record_at(&buffer, 0, &size);
	ck_assert(record_python(&record, &found));
	ck_assert_str_eq(found.file, "");
	buffer.count = 0;
	function.name = "";
	ok_or_fail(record_encode_python(&buffer, &function));
	record = record_at(&buffer, 0, &size);
	ck_assert(!record_python(&record, &found));
	vec_deinit(&buffer);
}

static struct sp_record mapping(uint32_t pid, const char *file)
{
	return (struct sp_record){.type = PERF_RECORD_MMAP2,
				  .mmap = {.pid = (pid_t)pid, .start = 0x1000, .size = 0x1000,
					   .prot = PROT_EXEC, .filename = file}};
}

TEST(processes_with_an_interpreter_are_known_until_exec_or_exit)
{
	struct python_processes processes;
	struct python_process process, child;
	python_processes_init(&processes);
	const struct sp_record library = mapping(1, "/usr/lib/libc.so.6");
	const struct sp_record python = mapping(1, "/usr/bin/python3.11");
	ck_assert(python_processes_on_record(&processes, &library));
	ck_assert(!python_processes_find(&processes, 1, &process));
	ck_assert(python_processes_on_record(&processes, &python));
	ck_assert(python_processes_find(&processes, 1, &process));
	ck_assert_uint_eq(process.code_start, 0x1000);
	const struct sp_record fork = {.type = PERF_RECORD_FORK,
				       .task = {.pid = 2, .tid = 2, .ppid = 1, .ptid = 1}};
	ck_assert(python_processes_on_record(&processes, &fork));
	process.state = PYTHON_USABLE;
	python_processes_set(&processes, &process);
	ck_assert(python_processes_find(&processes, 2, &child));
	ck_assert_uint_eq(child.generation, process.generation);
	const struct sp_record exec = {.type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_COMM_EXEC,
				       .comm = {.pid = 2, .tid = 2, .comm = "true"}};
	ck_assert(python_processes_on_record(&processes, &exec));
	ck_assert(!python_processes_find(&processes, 2, &child));
	/* An ended process is known until others have ended. */
	for (uint32_t pid = 100; pid < 100 + PYTHON_ENDED_MAX + 1; pid++) {
		const struct sp_record begin = mapping(pid, "/usr/lib/libpython3.12.so.1.0");
		const struct sp_record end = {.type = PERF_RECORD_EXIT,
					      .task = {.pid = pid, .tid = pid}};
		ck_assert(python_processes_on_record(&processes, &begin));
		ck_assert(python_processes_on_record(&processes, &end));
		ck_assert(python_processes_find(&processes, pid, &child));
	}
	ck_assert(!python_processes_find(&processes, 100, &child));
	ck_assert(python_processes_find(&processes, 1, &process));
	ck_assert_int_eq(process.state, PYTHON_USABLE);
	python_processes_deinit(&processes);
}

TEST(files_of_interpreters_are_known_by_name)
{
	static const char *const interpreters[] = {
		"/usr/bin/python3.11", "/venv/bin/python", "/venv/bin/python3", "python3.14t",
		"/usr/lib/libpython3.11.so.1.0", "/opt/lib/libpython3.9d.so.1.0",
	};
	static const char *const others[] = {
		"/usr/lib/libpython3.so", "/usr/lib/libpython.so", "/usr/lib/libpython3",
		"/usr/bin/python2",
		"/usr/bin/python2.7", "/usr/bin/python3-config",
		"/usr/lib/python3.11/lib-dynload/_json.so",
		"/usr/bin/ipython3.11", "lib", "",
	};
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(*interpreters); i++)
		ck_assert_msg(python_is_interpreter(interpreters[i]), "%s", interpreters[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		ck_assert_msg(!python_is_interpreter(others[i]), "%s", others[i]);
}

TEST(interpreters_are_searched_for_once)
{
	struct python_processes processes;
	struct python_process process;
	size_t at = 0;
	python_processes_init(&processes);
	for (uint32_t pid = 1; pid <= 3; pid++) {
		const struct sp_record python = mapping(pid, "/usr/bin/python3.11");
		ck_assert(python_processes_on_record(&processes, &python));
	}
	for (uint32_t pid = 1; pid <= 3; pid++) {
		ck_assert(python_processes_next_unknown(&processes, &at, &process));
		ck_assert_uint_eq(process.pid, pid);
		process.state = pid == 1 ? PYTHON_USABLE
				: pid == 2 ? PYTHON_UNUSABLE : PYTHON_UNKNOWN;
		python_processes_set(&processes, &process);
	}
	ck_assert(!python_processes_next_unknown(&processes, &at, &process));
	at = 0;
	ck_assert(python_processes_next_unknown(&processes, &at, &process));
	ck_assert_uint_eq(process.pid, 3);
	/* A fork of it is unknown, too; exec and exit of both leave none. */
	const struct sp_record fork = {.type = PERF_RECORD_FORK,
				       .task = {.pid = 4, .tid = 4, .ppid = 3, .ptid = 3}};
	ck_assert(python_processes_on_record(&processes, &fork));
	ck_assert_uint_eq(processes.unknown, 2);
	for (uint32_t pid = 3; pid <= 4; pid++) {
		const struct sp_record exec = {
			.type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_COMM_EXEC,
			.comm = {.pid = (pid_t)pid, .tid = (pid_t)pid, .comm = "true"},
		};
		ck_assert(python_processes_on_record(&processes, &exec));
	}
	at = 0;
	ck_assert_uint_eq(processes.unknown, 0);
	ck_assert(!python_processes_next_unknown(&processes, &at, &process));
	python_processes_deinit(&processes);
}

TEST(a_process_is_paused_after_failures_in_a_row)
{
	struct python_processes processes;
	struct python_process process;
	python_processes_init(&processes);
	const struct sp_record python = mapping(1, "/usr/bin/python3.11");
	ck_assert(python_processes_on_record(&processes, &python));
	for (unsigned int i = 0; i + 1 < 2 * PYTHON_FAILURES_MAX; i++) {
		ck_assert(python_processes_find(&processes, 1, &process));
		ck_assert_uint_eq(process.resume_ns, 0);
		python_processes_on_read(&processes, &process, 1000, i == PYTHON_FAILURES_MAX - 1);
	}
	ck_assert(python_processes_find(&processes, 1, &process));
	ck_assert_uint_eq(process.resume_ns, 0);
	python_processes_on_read(&processes, &process, 1000, false);
	ck_assert(python_processes_find(&processes, 1, &process));
	ck_assert_uint_eq(process.resume_ns, 1000 + PYTHON_PAUSE_NS);
	/* The next failure pauses it at once, and a good reading ends that. */
	python_processes_on_read(&processes, &process, 5 * PYTHON_PAUSE_NS, false);
	ck_assert(python_processes_find(&processes, 1, &process));
	ck_assert_uint_eq(process.resume_ns, 6 * PYTHON_PAUSE_NS);
	python_processes_on_read(&processes, &process, 6 * PYTHON_PAUSE_NS, true);
	ck_assert(python_processes_find(&processes, 1, &process));
	ck_assert_uint_eq(process.resume_ns, 0);
	/* A program that replaced it is not paused. */
	for (unsigned int i = 0; i < PYTHON_FAILURES_MAX; i++)
		python_processes_on_read(&processes, &process, 1000, false);
	ck_assert(python_processes_on_record(&processes, &python));
	python_processes_on_read(&processes, &process, 1000, false);
	ck_assert(python_processes_find(&processes, 1, &process));
	ck_assert_uint_eq(process.resume_ns, 0);
	python_processes_deinit(&processes);
}

TEST(a_stack_is_taken_once_by_its_sample)
{
	static struct python_shots shots;
	static struct python_stack stack, found;
	bool exact;
	python_shots_init(&shots);
	stack.frame_count = 2;
	stack.group_count = 1;
	stack.frames[1].code = 77;
	stack.groups[0].count = 2;
	python_shots_add(&shots, 5, 1000, &stack, true, 70);
	ck_assert(!python_shots_take(&shots, 5, 1001, &found, &exact));
	ck_assert(!python_shots_take(&shots, 6, 1000, &found, &exact));
	ck_assert_uint_eq(python_shots_reader_ns(&shots, 5, 1000), 70);
	ck_assert_uint_eq(python_shots_reader_ns(&shots, 5, 1001), 0);
	ck_assert(python_shots_take(&shots, 5, 1000, &found, &exact));
	ck_assert(exact);
	ck_assert_uint_eq(found.frame_count, 2);
	ck_assert_uint_eq(found.frames[1].code, 77);
	ck_assert_uint_eq(found.groups[0].count, 2);
	ck_assert(!python_shots_take(&shots, 5, 1000, &found, &exact));
	python_shots_deinit(&shots);
}

TEST(stacks_wait_for_late_workers)
{
	static struct python_shots shots;
	static struct python_stack stack, found;
	unsigned int taken = 0;
	bool exact;
	python_shots_init(&shots);
	for (uint64_t i = 0; i < 8000; i++) {
		python_shots_add(&shots, 5, i * 1003009, &stack, true, 0);
		if (i >= 3000)
			taken += python_shots_take(&shots, 5, (i - 3000) * 1003009, &found, &exact);
	}
	ck_assert_uint_ge(taken, 4900);
	/* Deep stacks without a worker have a limit of bytes. */
	stack.frame_count = PYTHON_FRAMES_MAX;
	for (uint64_t i = 0; i < 3000; i++) {
		python_shots_add(&shots, 6, i * 1003009, &stack, true, 0);
		ck_assert_uint_le(shots.bytes, PYTHON_SHOTS_BYTES);
	}
	ck_assert(python_shots_take(&shots, 6, UINT64_C(2999) * 1003009, &found, &exact));
	ck_assert_uint_eq(found.frame_count, PYTHON_FRAMES_MAX);
	python_shots_deinit(&shots);
}
