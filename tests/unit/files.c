/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "files.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "test.h"

static char folder[64];
static pid_t owner;

/* Memory that is valid for the case, freed when its process ends. */
static struct kept {
	struct kept *next;
	void *memory;
} *kept;

static void free_kept(void)
{
	while (kept) {
		struct kept *next = kept->next;
		free(kept->memory);
		free(kept);
		kept = next;
	}
}

static void *keep(void *memory)
{
	struct kept *one = malloc(sizeof(*one));
	ck_assert(one != NULL);
	if (!kept)
		atexit(free_kept);
	*one = (struct kept){.next = kept, .memory = memory};
	kept = one;
	return memory;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status, (void)type, (void)ftw;
	return remove(path);
}

static void remove_folder(void)
{
	if (*folder && owner == getpid())
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *files_folder(void)
{
	if (!*folder || owner != getpid()) {
		snprintf(folder, sizeof(folder), "/tmp/sprof-unit.XXXXXX");
		ck_assert(mkdtemp(folder) != NULL);
		owner = getpid();
		atexit(remove_folder);
	}
	return folder;
}

const char *files_path(const char *name)
{
	char *path;
	ck_assert(asprintf(&path, "%s/%s", files_folder(), name) > 0);
	return keep(path);
}

void files_write(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");
	ck_assert_msg(file != NULL, "cannot write %s", path);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
}

static __attribute__((format(printf, 1, 0))) char *format_command(const char *format,
								  va_list args)
{
	char *command, *whole;
	ck_assert(vasprintf(&command, format, args) >= 0);
	ck_assert(asprintf(&whole, "cd %s && : ${CC:=cc} && { %s\n}", files_folder(), command) >= 0);
	free(command);
	return whole;
}

void files_run(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *command = format_command(format, args);
	va_end(args);
	int status = system(command);
	ck_assert_msg(status == 0, "status %d: %s", status, command);
	free(command);
}

char *files_output(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *command = format_command(format, args);
	va_end(args);
	FILE *pipe = popen(command, "r");
	ck_assert(pipe != NULL);
	size_t capacity = 1 << 16, used = 0, got;
	char *text = malloc(capacity);
	while (ck_assert(text != NULL), (got = fread(text + used, 1, capacity - used - 1, pipe)) > 0) {
		used += got;
		if (used + 1 == capacity)
			text = realloc(text, capacity *= 2);
	}
	text[used] = '\0';
	ck_assert_msg(pclose(pipe) == 0, "failed: %s", command);
	free(command);
	return keep(text);
}

bool files_have(const char *command)
{
	char *line;
	ck_assert(asprintf(&line, "command -v %s >/dev/null 2>&1", command) > 0);
	bool have = system(line) == 0;
	free(line);
	return have;
}

void files_sample_alone(void)
{
	const char *build = getenv("top_builddir");
	CLEANUP_FREE char *path = NULL;
	ck_assert(asprintf(&path, "%s/tests/sampling.lock", build ? build : ".") > 0);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	ck_assert_msg(fd >= 0, "cannot open %s", path);
	for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) && tries < 600; tries++)
		usleep(100000);
}
