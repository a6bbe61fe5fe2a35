/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The progress line on a terminal: it comes after a while, and is removed. */
#include "progress.h"

#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "test.h"

/* Makes standard error a terminal. Returns its other end. */
static int open_terminal(void)
{
	int master, slave;
	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	ck_assert_int_eq(dup2(slave, STDERR_FILENO), STDERR_FILENO);
	close(slave);
	setenv("TERM", "xterm", 1);
	return master;
}

/* Reads until `text` has been written. Writes what came before it to `before`. */
static void read_until(int master, const char *text, char *before, size_t size)
{
	size_t used = 0;
	char *found;
	before[0] = '\0';
	while (!(found = strstr(before, text))) {
		ck_assert_uint_lt(used + 1, size);
		ssize_t got = read(master, before + used, size - used - 1);
		ck_assert_int_gt(got, 0);
		used += (size_t)got;
		before[used] = '\0';
	}
	*found = '\0';
}

static void expect_lines(void (*begin)(struct progress *progress, bool wanted), const char *before,
			 const char *name)
{
	char seen[4096];
	struct progress progress;
	int master = open_terminal();
	begin(&progress, true);
	read_until(master, name, seen, sizeof(seen));
	ck_assert_str_eq(seen, before);
	progress_end(&progress);
	fputs("end", stderr);
	read_until(master, "end", seen, sizeof(seen));
	size_t length = strlen(seen);
	ck_assert_uint_ge(length, 4);
	ck_assert_str_eq(seen + length - 4, "\r\033[K");
	close(master);
}

TEST(a_file_is_written)
{
	expect_lines(progress_begin_writing, "\r\033[K", "writing the file");
}

/* The last line may be of the recorded command. */
TEST(a_recording_is_finished_below_the_output)
{
	expect_lines(progress_begin_finishing, "\r\n\r\033[K", "finishing the recording");
}

TEST(no_line_is_written_if_none_is_wanted)
{
	char seen[64];
	struct progress progress;
	int master = open_terminal();
	progress_begin_writing(&progress, false);
	progress_end(&progress);
	fputs("end", stderr);
	read_until(master, "end", seen, sizeof(seen));
	ck_assert_str_eq(seen, "");
	close(master);
}
