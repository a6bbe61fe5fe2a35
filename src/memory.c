/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"

/* Most functions of memory_at_end(): the message, the pager, a file, and the screen. */
#define ACTS_MAX 4

static void (*acts[ACTS_MAX])(void);
static size_t act_count;

void memory_at_end(void (*act)(void))
{
	for (size_t i = 0; i < act_count; i++)
		if (acts[i] == act)
			return;
	assert(act_count < ACTS_MAX);
	acts[act_count++] = act;
}

void memory_end(void)
{
	static atomic_flag ends = ATOMIC_FLAG_INIT;
	/* Another thread ends the process already. */
	while (atomic_flag_test_and_set(&ends))
		pause();
	while (act_count)
		acts[--act_count]();
	_exit(EXIT_RECORDER);
}

static void *need(void *memory)
{
	if (!memory)
		memory_end();
	return memory;
}

void *xcalloc(size_t count, size_t size)
{
	return need(calloc(count ?: 1, size));
}

void *xmalloc(size_t size)
{
	return need(malloc(size ?: 1));
}

void *xrealloc(void *memory, size_t size)
{
	return need(realloc(memory, size ?: 1));
}

char *xstrdup(const char *text)
{
	return need(strdup(text));
}

char *xstrndup(const char *text, size_t size)
{
	return need(strndup(text, size));
}

char *xvasprintf(const char *format, va_list args)
{
	char *text;
	if (vasprintf(&text, format, args) < 0)
		memory_end();
	return text;
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	return text;
}

FILE *text_stream_open(char **text, size_t *size)
{
	return need(open_memstream(text, size));
}

void text_stream_close(FILE *stream, char *const *text)
{
	bool failed = ferror(stream);
	if (fclose(stream) || failed || !*text)
		memory_end();
}
