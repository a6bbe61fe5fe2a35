/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines: their records, reading in a made-up /proc, and history. */
#include "capture/tasks/command_line_reader.h"

#include <stdlib.h>
#include <unistd.h>
#include "base/ctx.h"
#include "base/format.h"
#include "machine/command_lines.h"
#include "made_tasks.h"
#include "record/command_line.h"
#include "record/decode.h"

/* -- Records --------------------------------------------------------------- */

/* Decodes one record of the buffer. */
static struct sp_record decode(const struct record_buffer *buffer, size_t at, size_t *size_ret)
{
	const size_t head = 24; /* header, kind, id */
	struct sp_record record = {.type = record_header_of(buffer->items + at).type};
	*size_ret = record_header_of(buffer->items + at).size;
	memcpy(&record.event_update.kind, buffer->items + at + 8, sizeof(uint64_t));
	record.event_update.data = (struct sp_bytes){buffer->items + at + head, *size_ret - head};
	return record;
}

TEST(a_record_keeps_pid_time_flags_and_words)
{
	struct record_buffer words = {0}, buffer = {0};
	struct command_line line = {
		.time_ns = 7, .pid = 8, .flags = COMMAND_LINE_TRUNCATED, .count = 3};
	struct command_line read;
	struct command_word word;
	size_t size;
	ck_assert(command_line_put(&words, "cc1", false) && command_line_put(&words, "a.c", true) &&
		  command_line_put(&words, "", false));
	ok_or_fail(record_encode_command_line(&buffer, &line, &words));
	struct sp_record record = decode(&buffer, 0, &size);
	ck_assert_uint_eq(size, buffer.count);
	ck_assert_uint_eq(size % 8, 0);
	ck_assert(record_command_line(&record, &read));
	ck_assert_uint_eq(read.time_ns, 7);
	ck_assert_uint_eq(read.pid, 8);
	ck_assert_uint_eq(read.flags, COMMAND_LINE_TRUNCATED);
	ck_assert(command_line_next(&read, &word) && !strcmp(word.text, "cc1") && !word.is_file);
	ck_assert(command_line_next(&read, &word) && !strcmp(word.text, "a.c") && word.is_file);
	ck_assert(command_line_next(&read, &word) && !*word.text);
	ck_assert(!command_line_next(&read, &word));
	/* Cut short anywhere, it has fewer words, or is none. */
	for (size_t cut = 0; cut < record.event_update.data.size; cut++) {
		uint8_t *copy = malloc(cut ?: 1);
		memcpy(copy, record.event_update.data.bytes, cut);
		struct sp_record damaged = record;
		damaged.event_update.data = (struct sp_bytes){copy, cut};
		bool known = record_command_line(&damaged, &read);
		ck_assert_int_eq(known, cut >= 20);
		while (known && command_line_next(&read, &word))
			ck_assert_uint_lt(strlen(word.text), 4);
		free(copy);
	}
	vec_deinit(&words);
	vec_deinit(&buffer);
}

/* -- Recorder -------------------------------------------------------------- */

static struct made_tasks made;
static struct command_lines lines;
static struct record_buffer records, written;

static void begin(void)
{
	made_tasks_init(&made, CAPTURE_PROCESSES);
	tasks_connect(&made.tasks);
	lines = (struct command_lines){.on = true, .keeps_live = true, .tasks = &made.tasks};
}

static void end(void)
{
	command_lines_deinit(&lines);
	vec_deinit(&records);
	vec_deinit(&written);
	made_tasks_deinit(&made);
}

static void put(uint32_t pid, const char *text, size_t size)
{
	CLEANUP_FREE char *path = format_text("/proc/%u/cmdline", pid);
	root_put_sized(&made.root, path, text, size);
}

static void add(uint64_t time_ns, struct sp_record record)
{
	record.id.time_ns = time_ns;
	ok_or_fail(record_encode(&records, &record, &made_attr));
}

static void pass(bool synthesised)
{
	struct metadata_record record;
	for (size_t at = 0; metadata_next(records.items, records.count, &at,
					  &made.tasks.tracker.fields, &record);)
		ok_or_fail(command_lines_on_change(&lines, &record.change, synthesised));
	ok_or_fail(command_lines_read(&lines));
}

/* Passes the records of a round, and writes. */
static void next_round(bool all)
{
	pass(false);
	ok_or_fail(command_lines_write(&lines, all, &written));
	records.count = 0;
}

/* Returns the pid and the words, separated by |, of the records that were written; and forgets
 * them. */
static const char *take_written(void)
{
	static char text[8192];
	size_t size, used = 0;
	*text = '\0';
	for (size_t at = 0; at < written.count; at += size) {
		struct command_line line;
		struct command_word word;
		struct sp_record record = decode(&written, at, &size);
		ck_assert(record_command_line(&record, &line));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%u@%u", line.pid,
					 (unsigned int)line.time_ns);
		while (command_line_next(&line, &word) && strlen(word.text) < 100)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "|%s%s",
						 word.text, word.is_file ? "*" : "");
		used += (size_t)snprintf(text + used, sizeof(text) - used, ";");
	}
	written.count = 0;
	return text;
}

#define PUT(pid, text) put(pid, text, sizeof(text))

TEST(an_exec_is_read_and_written_a_round_later)
{
	begin();
	PUT(5, "cc1\0-quiet\0src/a.c\0-o\0out.s\0gone.c\0/etc/b\0a.c\0--password\0X");
	root_put(&made.root, "/proc/5/cwd/src/a.c", "");
	root_put(&made.root, "/proc/5/cwd/out.s", "");
	root_put(&made.root, "/proc/5/cwd/a.c", "");
	root_put(&made.root, "/proc/5/root/etc/b", "");
	add(10, made_comm(5, true));
	next_round(false);
	ck_assert_str_eq(take_written(), "");
	next_round(false);
	ck_assert_str_eq(take_written(),
			 "5@10|cc1|-quiet|src/a.c*|-o|out.s|gone.c|/etc/b*|a.c*|--password|***;");
	next_round(true);
	ck_assert_str_eq(take_written(), "");
	ck_assert_uint_eq(lines.read, 1);
	ck_assert_uint_eq(lines.gone, 0);
	end();
}

TEST(what_was_read_after_a_later_exec_is_no_earlier_command_line)
{
	begin();
	PUT(5, "second");
	add(10, made_comm(5, true)); /* was "first" until it was read */
	next_round(false);
	add(20, made_comm(5, true));
	next_round(false);
	next_round(false);
	ck_assert_str_eq(take_written(), "5@20|second;");
	ck_assert_uint_eq(lines.gone, 1);
	/* Two in one round, and a new process with the number. */
	add(30, made_comm(5, true));
	add(40, made_comm(5, true));
	next_round(false);
	add(50, made_fork(1, 1, 5, 5));
	next_round(true);
	ck_assert_str_eq(take_written(), "");
	ck_assert_uint_eq(lines.gone, 3);
	end();
}

TEST(a_process_that_ended_is_counted)
{
	begin();
	PUT(6, ""); /* a zombie has an empty file, or the kernel has not yet set it */
	root_put_sized(&made.root, "/proc/6/cmdline", "", 0);
	add(10, made_comm(5, true));
	add(11, made_comm(6, true));
	next_round(false);
	ck_assert_uint_eq(lines.gone, 0);
	PUT(6, "late");
	for (int i = 0; i < 3; i++)
		next_round(false);
	ck_assert_str_eq(take_written(), "6@11|late;");
	ck_assert_uint_eq(lines.gone, 1);
	add(20, made_comm(7, true));
	next_round(true);
	ck_assert_uint_eq(lines.gone, 2);
	ck_assert_uint_eq(lines.pending.count, 0);
	end();
}

static bool hangs(void *arg, uint64_t pid)
{
	(void)arg;
	return pid == 5;
}

TEST(a_process_that_does_not_answer_is_counted)
{
	begin();
	struct proxies *proxies = ctx_proxies(made.root.ctx);
	proxies_simulate(proxies, hangs, NULL);
	ok_or_fail(proxies_begin(proxies));
	PUT(5, "cat\0/mnt/a");
	PUT(6, "cc1\0a.c");
	root_put(&made.root, "/proc/6/cwd/a.c", "");
	add(10, made_comm(5, true));
	add(11, made_comm(6, true));
	next_round(false);
	next_round(true);
	ck_assert_str_eq(take_written(), "6@11|cc1|a.c*;");
	ck_assert_uint_eq(lines.gone, 1);
	ck_assert_uint_eq(proxies_counts(proxies).left, 1);
	proxies_end(proxies);
	end();
}

TEST(running_processes_are_read_if_synthesised)
{
	begin();
	PUT(5, "daemon");
	root_put_sized(&made.root, "/proc/6/cmdline", "", 0); /* a thread of the kernel */
	add(0, made_comm(5, false));
	add(0, made_comm(6, false));
	pass(true);
	records.count = 0;
	next_round(false);
	next_round(false);
	ck_assert_str_eq(take_written(), "5@0|daemon;");
	ck_assert_uint_eq(lines.gone, 0);
	/* A new name is no exec. */
	add(10, made_comm(5, false));
	next_round(true);
	ck_assert_str_eq(take_written(), "");
	end();
}

TEST(a_new_file_begins_with_living_processes)
{
	begin();
	PUT(5, "server");
	add(10, made_comm(5, true));
	next_round(false);
	next_round(false);
	take_written();
	add(20, made_fork(5, 5, 6, 6));
	add(21, made_fork(5, 5, 7, 7));
	add(30, made_exit(7, 7));
	next_round(false);
	command_lines_expire(&lines, 31);
	ok_or_fail(command_lines_write_live(&lines, &written));
	ck_assert_str_eq(take_written(), "5@10|server;6@20|server;");
	add(40, made_exit(5, 5));
	next_round(false);
	command_lines_expire(&lines, 40); /* samples of that time may come */
	ck_assert_uint_eq(lines.live.count, 2);
	command_lines_expire(&lines, 41);
	ck_assert_uint_eq(lines.live.count, 1);
	ck_assert_uint_eq(lines.live_of.count, 1);
	end();
}

TEST(limits_hold_and_are_counted)
{
	static char text[COMMAND_LINE_MAX + 10];
	begin();
	memset(text, 'x', sizeof(text));
	memcpy(text, "cc1", 4);
	uint32_t count = COMMAND_LINES_FILE_BYTES / COMMAND_LINE_MAX + 20;
	for (uint32_t pid = 2; pid < 2 + count; pid++) {
		put(pid, text, sizeof(text));
		add(pid, made_comm(pid, true));
	}
	next_round(false);
	next_round(true);
	ck_assert_uint_eq(lines.read, count);
	ck_assert_uint_eq(lines.truncated, count);
	ck_assert_uint_ge(lines.left_out, 20);
	ck_assert_uint_lt(lines.left_out, 40);
	ck_assert_uint_le(lines.file_bytes, COMMAND_LINES_FILE_BYTES);
	ck_assert_uint_le(lines.live_bytes, COMMAND_LINES_LIVE_BYTES);
	end();
}

/* -- History --------------------------------------------------------------- */

static uint32_t add_line(struct command_lines_history *history, const char *const *list,
			 size_t count, uint32_t flags)
{
	struct record_buffer words = {0}, buffer = {0};
	struct command_line line = {.count = (uint32_t)count, .flags = flags};
	size_t size;
	for (size_t i = 0; i < count; i++)
		ck_assert(command_line_put(&words, list[i] + (*list[i] == '*'), *list[i] == '*'));
	ok_or_fail(record_encode_command_line(&buffer, &line, &words));
	struct sp_record record = decode(&buffer, 0, &size);
	ck_assert(record_command_line(&record, &line));
	uint32_t index = command_lines_history_add(history, &line);
	vec_deinit(&words);
	vec_deinit(&buffer);
	return index;
}

#define LINE(history, flags, ...)                                                                  \
	add_line(history, (const char *const[]){__VA_ARGS__},                                      \
		 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), flags)

TEST(texts_are_quoted_for_a_shell)
{
	struct command_lines_history history = {0};
	LINE(&history, 0, "a", "b c", "it's", "", "x\n\033\\'", "$HOME", "-O2");
	LINE(&history, COMMAND_LINE_TRUNCATED, "ld", "*1.o", "*2.o", "*1.o", "*3.o", "*4 b.o",
	     "*5.o", "*6.o");
	LINE(&history, 0, "ld");
	ck_assert_str_eq(history.items.items[0].line,
			 "a 'b c' 'it'\\''s' '' $'x\\x0a\\x1b\\\\\\'' '$HOME' -O2");
	ck_assert_str_eq(history.items.items[0].argument, "-");
	ck_assert_str_eq(history.items.items[1].line, "ld 1.o 2.o 1.o 3.o '4 b.o' 5.o 6.o ...");
	ck_assert_str_eq(history.items.items[1].argument, "1.o 2.o 3.o '4 b.o' and 2 more");
	ck_assert_ptr_eq(history.items.items[2].argument, history.items.items[0].argument);
	command_lines_history_deinit(&history);
}

static const char *line_at(const struct command_lines_history *history, uint32_t pid,
			   uint64_t time_ns)
{
	const struct machine_command *command = command_lines_history_find(history, pid, time_ns);
	return command ? command->line : "?";
}

TEST(a_fork_inherits_and_an_exec_replaces)
{
	struct command_lines_history history = {0};
	uint32_t make = LINE(&history, 0, "make"), cc = LINE(&history, 0, "cc");
	ck_assert(command_lines_history_set(&history, 1, 0, make));
	ck_assert(command_lines_history_fork(&history, 2, 1, 10));
	ck_assert(command_lines_history_exec(&history, 2, 20)); /* its record comes later */
	ck_assert(command_lines_history_set(&history, 2, 20, cc));
	ck_assert(command_lines_history_fork(&history, 3, 2, 25));
	ck_assert(command_lines_history_exec(&history, 2, 30)); /* no record */
	ck_assert(command_lines_history_set(&history, 2, 40, make));
	ck_assert(command_lines_history_exec(&history, 2, 40)); /* its record came first */
	ck_assert_str_eq(line_at(&history, 1, 5), "make");
	ck_assert_str_eq(line_at(&history, 2, 9), "?");
	ck_assert_str_eq(line_at(&history, 2, 19), "make");
	ck_assert_str_eq(line_at(&history, 2, 20), "cc");
	ck_assert_str_eq(line_at(&history, 2, 35), "?");
	ck_assert_str_eq(line_at(&history, 2, 40), "make");
	ck_assert_str_eq(line_at(&history, 3, 100), "cc");
	ck_assert_str_eq(line_at(&history, 4, 100), "?");
	command_lines_history_deinit(&history);
}
