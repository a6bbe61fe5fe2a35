/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/command_line_reader.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/io.h"
#include "capture/config/config.h"
#include "record/command_line.h"
#include "record/secrets.h"

/* Delay: an exec is reported before /proc has the new command line. */
#define TRIES 3

/* Limit of words of a process that are examined as paths of files. */
#define FILES_MAX 32

/* Limit of processes that wait to be written in a round; others are left out. */
#define PENDING_MAX 4096

static void line_deinit(struct process_line *line)
{
	vec_deinit(&line->words);
}

void command_lines_deinit(struct command_lines *lines)
{
	vec_each (item, &lines->pending)
		line_deinit(item);
	vec_each (item, &lines->live)
		line_deinit(item);
	vec_deinit(&lines->pending);
	vec_deinit(&lines->live);
	u64map_deinit(&lines->live_of);
}

/* -- Reading a process ----------------------------------------------------- */

/*
 * Returns whether the value of an option is no input of the program: a file that it writes, a name,
 * or a part of the tool chain.
 */
static bool is_output_option(const char *word)
{
	static const char *const options[] = {"-o",	   "--output",
					      "-MD",	   "-MMD",
					      "-MF",	   "-MT",
					      "-MQ",	   "-dumpdir",
					      "-dumpbase", "-dumpbase-ext",
					      "-auxbase",  "-auxbase-strip",
					      "-plugin",   "-dynamic-linker"};
	for (size_t i = 0; i < count_of(options); i++)
		if (!strcmp(word, options[i]))
			return true;
	return false;
}

/* Words before the current one that matter for it. */
struct seen_words {
	unsigned int count, looked;
	bool written; /* the last one is an output option */
};

/* Returns whether a word may be the path of an input file, and adds it to the seen words. */
static bool may_be_file(struct seen_words *seen, const char *word)
{
	bool candidate = seen->count && !seen->written && *word && *word != '-' &&
			 seen->looked < FILES_MAX;
	seen->count++;
	seen->looked += candidate;
	seen->written = is_output_option(word);
	return candidate;
}

/* Request to a proxy, and its result: the process's lock or a folder may not answer. */
struct line_job {
	char process[PATH_MAX]; /* its directory in /proc */
	char text[COMMAND_LINE_MAX + 1];
	size_t size;
	uint32_t files; /* one bit for each word that may be a file */
};
_Static_assert(FILES_MAX <= 32, "a bit for each file");

static int open_in(const struct line_job *job, const char *name, int flags)
{
	char path[PATH_MAX + 16];
	snprintf(path, sizeof(path), "%s/%s", job->process, name);
	return open(path, flags | O_CLOEXEC);
}

static bool is_file(int root, int current, const char *word)
{
	struct stat status;
	int folder = *word == '/' ? root : current;
	word += strspn(word, "/");
	return folder >= 0 && *word &&
	       !fstatat(folder, word, &status, AT_NO_AUTOMOUNT) && S_ISREG(status.st_mode);
}

static int read_words(void *bytes)
{
	struct line_job *job = bytes;
	struct seen_words seen = {0};
	CLEANUP_CLOSE int fd = open_in(job, "cmdline", O_RDONLY);
	if (fd < 0 || io_read(fd, job->text, sizeof(job->text), &job->size))
		job->size = 0;
	size_t size = job->size < COMMAND_LINE_MAX ? job->size : COMMAND_LINE_MAX;
	job->text[size] = '\0';
	CLEANUP_CLOSE int root = size ? open_in(job, "root", O_PATH | O_DIRECTORY) : -1;
	CLEANUP_CLOSE int current = size ? open_in(job, "cwd", O_PATH | O_DIRECTORY) : -1;
	for (const char *at = job->text; at < job->text + size; at += strlen(at) + 1)
		if (may_be_file(&seen, at) && is_file(root, current, at))
			job->files |= 1U << (seen.looked - 1);
	return -1;
}

static void free_word(struct record_buffer *word)
{
	vec_deinit(word);
}

/* Encodes the words of a command line without secrets. Returns false when out of memory. */
static bool put_words(struct process_line *line, const struct line_job *job)
{
	CLEANUP(free_word) struct record_buffer word = {0};
	struct secrets secrets = {0};
	struct seen_words seen = {0};
	for (const char *at = job->text; at < job->text + job->size; at += strlen(at) + 1) {
		bool file = may_be_file(&seen, at) && job->files >> (seen.looked - 1) & 1;
		word.count = 0;
		if (!secrets_cut(&secrets, at, file, &word) ||
		    !command_line_put(&line->words, (const char *)word.items, file))
			return false;
		line->count++;
	}
	return true;
}

/* Reads a process's command line. Without one, `count` stays 0. */
static struct sp_error *read_line(struct process_line *line, const struct sp_ctx *ctx)
{
	struct line_job job = {.size = 0};
	snprintf(job.process, sizeof(job.process), "%s/proc/%u", ctx_root(ctx), line->pid);
	line->tries++;
	if (!proxy_run(ctx_proxies(ctx), line->pid, read_words, &job, sizeof(job), NULL))
		return NULL;
	if (job.size > COMMAND_LINE_MAX) {
		line->flags |= COMMAND_LINE_TRUNCATED;
		job.size = COMMAND_LINE_MAX;
	}
	NEED(put_words(line, &job));
	return NULL;
}

/* -- Living processes ------------------------------------------------------ */

static struct process_line *find_live(const struct command_lines *lines, uint32_t pid)
{
	const uint32_t *index = u64map_find(&lines->live_of, pid);
	return index ? &lines->live.items[*index] : NULL;
}

static void remove_live(struct command_lines *lines, uint32_t pid)
{
	struct process_line *line = find_live(lines, pid);
	if (!line)
		return;
	u64map_remove(&lines->live_of, pid);
	lines->live_bytes -= line->words.count;
	line_deinit(line);
	*line = *vec_last(&lines->live);
	lines->live.count--;
	uint32_t *moved = u64map_find(&lines->live_of, line->pid);
	if (moved)
		*moved = line - lines->live.items;
}

/* Copies the words. Returns false when out of memory. */
static bool add_live(struct command_lines *lines, const struct process_line *of, uint32_t pid,
		     uint64_t from_ns)
{
	struct process_line copy = *of;
	remove_live(lines, pid);
	if (!lines->keeps_live || lines->live_bytes + of->words.count > COMMAND_LINES_LIVE_BYTES)
		return true;
	copy.pid = pid;
	copy.from_ns = from_ns;
	copy.words = (struct record_buffer){0};
	if (!record_buffer_append(&copy.words, of->words.items, of->words.count) ||
	    !vec_reserve(&lines->live, lines->live.count + 1) ||
	    !u64map_put(&lines->live_of, pid, lines->live.count, NULL)) {
		line_deinit(&copy);
		return false;
	}
	lines->live_bytes += copy.words.count;
	*vec_push(&lines->live) = copy;
	return true;
}

void command_lines_expire(struct command_lines *lines, uint64_t before_ns)
{
	for (size_t i = lines->live.count; i-- > 0;) {
		const struct process_line *line = &lines->live.items[i];
		if (line->ended_ns && line->ended_ns < before_ns)
			remove_live(lines, line->pid);
	}
}

/* -- Records --------------------------------------------------------------- */

static void remove_pending(struct command_lines *lines, size_t index)
{
	line_deinit(&lines->pending.items[index]);
	lines->pending.items[index] = *vec_last(&lines->pending);
	lines->pending.count--;
}

/* This pid has a new program or process: earlier readings were of the old one. */
static void withdraw(struct command_lines *lines, uint32_t pid, uint64_t time_ns)
{
	for (size_t i = lines->pending.count; i-- > 0;) {
		const struct process_line *line = &lines->pending.items[i];
		if (line->pid != pid || (line->read_ns && line->read_ns < time_ns))
			continue;
		lines->gone += !line->runs;
		remove_pending(lines, i);
	}
}

static bool add_pending(struct command_lines *lines, uint32_t pid, uint64_t time_ns, bool runs)
{
	if (lines->pending.count >= PENDING_MAX) {
		lines->left_out++;
		return true;
	}
	return vec_append(&lines->pending,
			  (struct process_line){.pid = pid, .from_ns = time_ns, .runs = runs});
}

static bool on_fork(struct command_lines *lines, const struct task_change *change)
{
	const struct process_line *line =
		lines->keeps_live ? find_live(lines, change->parent_pid) : NULL;
	withdraw(lines, change->pid, change->time_ns);
	if (!line) {
		remove_live(lines, change->pid);
		return true;
	}
	const struct process_line copy = *line; /* `live` may move */
	return add_live(lines, &copy, change->pid, change->time_ns);
}

static bool on_change(struct command_lines *lines, const struct task_change *change,
		      bool synthesised)
{
	struct process_line *line;
	switch (change->kind) {
	case TASK_EXECED:
		withdraw(lines, change->pid, change->time_ns);
		remove_live(lines, change->pid);
		return add_pending(lines, change->pid, change->time_ns, false);
	case TASK_RENAMED:
		return !synthesised || !change->is_process ||
		       add_pending(lines, change->pid, change->time_ns, true);
	case TASK_FORKED:
		return !change->is_process || synthesised || on_fork(lines, change);
	case TASK_ENDED:
		line = change->is_process ? find_live(lines, change->pid) : NULL;
		if (line)
			line->ended_ns = change->time_ns;
		return true;
	default:
		return true;
	}
}

struct sp_error *command_lines_on_change(struct command_lines *lines,
					 const struct task_change *change, bool synthesised)
{
	NEED(!lines->on || on_change(lines, change, synthesised));
	return NULL;
}

struct sp_error *command_lines_read(struct command_lines *lines)
{
	for (size_t i = lines->pending.count; i-- > 0;) {
		struct process_line *line = &lines->pending.items[i];
		if (line->read_ns)
			continue;
		TRY(read_line(line, lines->tasks->parts.ctx));
		if (line->count) {
			/* The kernel's clock cannot be read: its time is that of an earlier record.
			 */
			bool known =
				lines->tasks->parts.config->plan->clock_id != EVENT_CLOCK_KERNEL;
			line->read_ns = known ? tasks_now_ns(lines->tasks) : UINT64_MAX;
			continue;
		}
		if (!line->runs && line->tries < TRIES)
			continue;
		lines->gone += !line->runs;
		remove_pending(lines, i);
	}
	return NULL;
}

static struct sp_error *write_line(struct command_lines *lines, const struct process_line *line,
				   struct record_buffer *to)
{
	const struct command_line encoded = {
		.time_ns = line->from_ns,
		.pid = line->pid,
		.flags = line->flags,
		.count = line->count,
	};
	if (!to)
		return NULL;
	if (lines->file_bytes + line->words.count > COMMAND_LINES_FILE_BYTES) {
		lines->left_out++;
		return NULL;
	}
	lines->file_bytes += line->words.count;
	return record_encode_command_line(to, &encoded, &line->words);
}

struct sp_error *command_lines_write(struct command_lines *lines, bool all,
				     struct record_buffer *to)
{
	for (size_t i = lines->pending.count; i-- > 0;) {
		struct process_line *line = &lines->pending.items[i];
		bool is_proven = line->is_proven || all;
		line->is_proven = line->read_ns;
		if (!line->read_ns || !is_proven)
			continue;
		lines->read++;
		lines->truncated += line->flags & COMMAND_LINE_TRUNCATED;
		TRY(write_line(lines, line, to));
		NEED(add_live(lines, line, line->pid, line->from_ns));
		remove_pending(lines, i);
	}
	for (; all && lines->pending.count; remove_pending(lines, 0))
		lines->gone += !lines->pending.items[0].runs;
	return NULL;
}

struct sp_error *command_lines_write_live(struct command_lines *lines, struct record_buffer *to)
{
	lines->file_bytes = 0;
	vec_each (item, &lines->live)
		TRY(write_line(lines, item, to));
	return NULL;
}
