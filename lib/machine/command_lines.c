/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine/command_lines.h"

#include <sprof/private/command.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"

/* Names of files in `argument`; the number of others follows. */
#define NAMES_MAX 4

/* Limit of words that are examined as files, as in the recorder. */
#define FILES_MAX 32

void command_lines_history_deinit(struct command_lines_history *history)
{
	strtab_deinit(&history->texts);
	vec_deinit(&history->items);
	timelines_deinit(&history->processes);
	timelines_deinit(&history->forks);
}

/* -- Texts ----------------------------------------------------------------- */

/* Returns whether a shell takes the word as it is. */
static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=./,:@%^";
	return *word && strspn(word, plain) == strlen(word);
}

static bool has_control(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word < ' ' || *word == 0x7f)
			return true;
	return false;
}

/* Writes a word as $'...', which shells read back to the same bytes. */
static void put_escaped(FILE *out, const char *word)
{
	fputs("$'", out);
	for (; *word; word++) {
		unsigned char byte = (unsigned char)*word;
		if (byte == '\'' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte < ' ' || byte == 0x7f)
			fprintf(out, "\\x%02x", byte);
		else
			fputc(byte, out);
	}
	fputc('\'', out);
}

static void put_quoted(FILE *out, const char *word)
{
	if (is_plain(word)) {
		fputs(word, out);
	} else if (has_control(word)) {
		put_escaped(out, word);
	} else {
		fputc('\'', out);
		for (; *word; word++)
			fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
		fputc('\'', out);
	}
}

/* Returns whether `at`, a word of the line, is among the words before it. */
static bool is_repeated(struct command_line line, const struct command_word *at)
{
	struct command_word word;
	while (command_line_next(&line, &word) && word.text < at->text)
		if (word.is_file && !strcmp(word.text, at->text))
			return true;
	return false;
}

static void put_line(FILE *out, struct command_line line)
{
	struct command_word word;
	bool was_hidden = false;
	/* Hidden words in a row are one "***", as a secret is. */
	for (const char *before = ""; command_line_next(&line, &word); before = " ") {
		bool hidden = sp_word_is_hidden(word.text);
		if (!hidden || !was_hidden)
			fputs(before, out);
		if (!hidden)
			put_quoted(out, word.text);
		else if (!was_hidden)
			put_quoted(out, "***");
		was_hidden = hidden;
	}
	if (line.flags & COMMAND_LINE_TRUNCATED)
		fputs(" ...", out);
}

/* Writes the first names of files, and the number of others. Returns the number of all. */
static size_t put_files(FILE *out, struct command_line line, size_t names_max, bool base)
{
	const struct command_line whole = line;
	struct command_word word;
	size_t names = 0, files = 0;
	while (command_line_next(&line, &word) && files < FILES_MAX) {
		files += word.is_file;
		if (!word.is_file || is_repeated(whole, &word) || names++ >= names_max)
			continue;
		const char *slash = base ? strrchr(word.text, '/') : NULL;
		fputs(names > 1 ? " " : "", out);
		put_quoted(out, slash ? slash + 1 : word.text);
	}
	if (names > names_max)
		fprintf(out, " and %zu more", names - names_max);
	return names;
}

static void put_argument(FILE *out, struct command_line line)
{
	if (!put_files(out, line, NAMES_MAX, false))
		fputc('-', out);
}

static void put_first_file(FILE *out, struct command_line line)
{
	put_files(out, line, 1, true);
}

/* Interns the text that a function writes. NULL when out of memory. */
static const char *intern(struct strtab *texts, void (*put)(FILE *out, struct command_line line),
			  const struct command_line *line)
{
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	put(out, *line);
	return fclose(out) ? NULL : strtab_add_sized(texts, text, size);
}

/* -- History --------------------------------------------------------------- */

uint32_t command_lines_history_add(struct command_lines_history *history,
				   const struct command_line *line)
{
	const struct machine_command command = {
		.line = intern(&history->texts, put_line, line),
		.argument = intern(&history->texts, put_argument, line),
		.file = intern(&history->texts, put_first_file, line),
	};
	struct machine_command *added = command.line && command.argument && command.file &&
							history->items.count < UINT32_MAX - 1
						? vec_push(&history->items)
						: NULL;
	if (!added)
		return UINT32_MAX;
	*added = command;
	return history->items.count - 1;
}

/* Begins a moment of a process; `number` 0: its command line is unknown. */
static bool begin(struct command_lines_history *history, uint32_t pid, uint64_t time_ns,
		  uint32_t number)
{
	struct moments *process = timelines_get(&history->processes, pid);
	struct moment *moment = process ? timeline_add(process, time_ns) : NULL;
	if (moment) {
		moment->view = number;
		moment->born = false;
	}
	return moment;
}

bool command_lines_history_set(struct command_lines_history *history, uint32_t pid,
			       uint64_t time_ns, uint32_t index)
{
	if (!begin(history, pid, time_ns, index + 1))
		return false;
	vec_last(timelines_find(&history->processes, pid))->born = true;
	return true;
}

/* Without a command line in the recording, there is nothing to inherit or to replace. */
bool command_lines_history_fork(struct command_lines_history *history, uint32_t pid,
				uint32_t parent, uint64_t time_ns)
{
	struct moments *forks = timelines_get(&history->forks, pid);
	struct moment *fork = forks ? timeline_add(forks, time_ns) : NULL;
	if (!fork)
		return false;
	fork->view = parent;
	const struct moments *of = timelines_find(&history->processes, parent);
	return !history->items.count ||
	       begin(history, pid, time_ns, of && of->count ? vec_last(of)->view : 0);
}

bool command_lines_history_exec(struct command_lines_history *history, uint32_t pid,
				uint64_t time_ns)
{
	const struct moments *of = timelines_find(&history->processes, pid);
	/* The record of the exec's own command line may come first. */
	if (of && of->count && vec_last(of)->from_ns == time_ns && vec_last(of)->born)
		return true;
	return !history->items.count || begin(history, pid, time_ns, 0);
}

const struct machine_command *
command_lines_history_find(const struct command_lines_history *history, uint32_t pid,
			   uint64_t time_ns)
{
	const struct moments *of = timelines_find(&history->processes, pid);
	const struct moment *moment = of ? timeline_find(of, time_ns) : NULL;
	return moment && moment->view ? &history->items.items[moment->view - 1] : NULL;
}

struct machine_process
command_lines_history_process(const struct command_lines_history *history, uint32_t pid,
			      uint64_t time_ns)
{
	const struct moments *forks = timelines_find(&history->forks, pid);
	const struct moment *fork = forks ? timeline_find(forks, time_ns) : NULL;
	return (struct machine_process){
		.pid = pid,
		.parent = fork ? fork->view : 0,
		.from_ns = fork ? fork->from_ns : 0,
		.until_ns = forks ? timeline_until(forks, fork) : UINT64_MAX,
	};
}
