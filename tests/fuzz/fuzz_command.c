/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole commands, as main() runs them: the first byte says with which words, and whether the
 * recording, which is the rest, comes as a file or through a pipe. They end with a status of the
 * manual's, and what is meant as JSON is JSON, however damaged the recording. Nothing of this
 * machine is read: its root is empty, and so is where binaries are looked for.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "command.h"
#include "fuzz.h"
#include "rfc8259.h"

#define WORDS 16
#define NOWHERE "/nonexistent"

enum form { FORM_TEXT, FORM_JSON, FORM_JSON_LINES };

/* A command line; the recording's path is put behind the first word. */
struct line {
	const struct command *command;
	enum form form;
	const char *words[WORDS];
};

#define REPORT(...) {"report", "--symfs", NOWHERE, "-j", "1", __VA_ARGS__}
#define SCRIPT(...) {"script", "--symfs", NOWHERE, "-j", "1", __VA_ARGS__}

static const struct line lines[] = {
	{&command_info, FORM_TEXT, {"info", "-v"}},
	{&command_info, FORM_TEXT, {"info", "--losses"}},
	{&command_info, FORM_JSON, {"info", "-v", "--format", "json"}},
	{&command_report, FORM_TEXT, REPORT("--stdio", "-n", "-v", "-g")},
	{&command_report, FORM_TEXT, REPORT("--header", "-s", "comm,pid,tid,dso,symbol,cpu,time")},
	{&command_report, FORM_TEXT, REPORT("--format", "folded")},
	{&command_report, FORM_TEXT, REPORT("--format", "csv", "--group")},
	{&command_report, FORM_TEXT, REPORT("-b", "-n")},
	{&command_report, FORM_TEXT, REPORT("--mem-mode")},
	{&command_report, FORM_TEXT, REPORT("-s", "trace", "--raw-trace")},
	{&command_report, FORM_JSON, REPORT("--format", "json", "-g", "caller,srcline")},
	{&command_script, FORM_TEXT, SCRIPT("--header", "--show-task-events", "--show-mmap-events")},
	{&command_script, FORM_TEXT,
	 SCRIPT("--ns", "--show-switch-events", "--show-namespace-events", "--show-lost-events",
		"--show-bpf-events", "--show-cgroup-events", "--show-text-poke-events",
		"--show-round-events")},
	{&command_script, FORM_TEXT,
	 SCRIPT("-F", "comm,tid,time,event,ip,sym,symoff,dso,addr,period,iregs,uregs,weight,phys_addr,"
		"data_src,brstack,brstacksym,flags,cgroup,code_page_size")},
	{&command_script, FORM_TEXT, SCRIPT("-D")},
	{&command_script, FORM_JSON_LINES, SCRIPT("--format", "json")},
};

static void check_output(const struct line *line, int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	assert(size >= 0);
	if (line->form == FORM_TEXT || !size)
		return;
	char *text = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert(text != MAP_FAILED);
	if (line->form == FORM_JSON)
		assert(json_is_valid(text, (size_t)size));
	for (char *at = text, *end = text + size; line->form == FORM_JSON_LINES && at < end;) {
		char *newline = memchr(at, '\n', (size_t)(end - at));
		assert(newline && json_is_valid(at, (size_t)(newline - at)));
		at = newline + 1;
	}
	munmap(text, (size_t)size);
}

static int run(const struct line *line, const char *path)
{
	static char copies[WORDS + 2][192];
	char *argv[WORDS + 3] = {NULL};
	int argc = 0;
	for (; argc < WORDS && line->words[argc]; argc++)
		argv[argc] = strcpy(copies[argc], line->words[argc]);
	argv[argc] = strcpy(copies[argc], "-i");
	argc++;
	argv[argc] = strcpy(copies[argc], path);
	argc++;
	struct sp_ctx *ctx;
	struct sp_error *error = sp_ctx_new(&ctx);
	assert(!error);
	error = sp_ctx_set_root(ctx, NOWHERE) ?: sp_ctx_set_cache_path(ctx, NULL);
	error = error ?: sp_ctx_set_debug_path(ctx, NOWHERE);
	assert(!error);
	int status = line->command->run(ctx, argc, argv);
	sp_ctx_free(ctx);
	return status;
}

/* Redirects the command's output to files of its own: the command closes its output descriptor. */
static void run_apart(const struct line *line, const char *path, FILE *errors)
{
	FILE *const own_out = stdout, *const own_errors = stderr;
	int out = memfd_create("output", MFD_CLOEXEC), own = dup(STDOUT_FILENO);
	assert(out >= 0 && own >= 0 && dup2(out, STDOUT_FILENO) >= 0);
	FILE *stream = fdopen(dup(out), "w");
	assert(stream);
	stdout = stream;
	stderr = errors;
	int status = run(line, path);
	fclose(stream);
	stdout = own_out;
	stderr = own_errors;
	dup2(own, STDOUT_FILENO);
	close(own);
	assert(status == 0 || status == 1 || status == EXIT_USAGE);
	check_output(line, out);
	close(out);
}

/* False where it does not fit into a pipe. */
static bool put_into_pipe(const uint8_t *bytes, size_t size)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return false;
	bool whole = write(ends[1], bytes, size) == (ssize_t)size;
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static FILE *errors;
	if (!errors) {
		errors = fopen("/dev/null", "w");
		setenv("SPROF_PAGER", "cat", 1);
		setenv("HOME", NOWHERE, 1);
		setenv("TZ", "UTC", 1);
	}
	if (!errors || size < 2)
		return 0;
	const struct line *line = &lines[(bytes[0] & 0x7f) % (sizeof(lines) / sizeof(*lines))];
	bool piped = bytes[0] & 0x80;
	bytes++, size--;
	char path[64] = "-";
	int fd = piped ? -1 : fuzz_file(bytes, size, path);
	if (!piped || put_into_pipe(bytes, size))
		run_apart(line, path, errors);
	if (fd >= 0)
		close(fd);
	return 0;
}
