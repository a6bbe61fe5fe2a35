/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a recording from standard input. Prints one field of each tracepoint sample, or all fields,
 * and then the hottest functions. Ctrl-C ends the report early.
 *
 *	cc -o example-read example-read.c $(pkg-config --cflags --libs libsprof)
 *	./example-read [FIELD [ROOT]] <sprof.data
 *
 * ROOT is a folder with another machine's files: /proc, /sys and /usr/lib/debug.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sprof/sprof.h>

static struct sp_ctx *ctx;

static int fail(struct sp_error *error)
{
	/* The message has the cause; a program may need its number. */
	int number = sp_error_errno(error);
	fprintf(stderr, "%s\n", sp_error_message(error));
	sp_error_free(error);
	return number ? number : 1;
}

static void on_interrupt(int number)
{
	(void)number;
	sp_ctx_cancel(ctx);
}

/* Uses the files of another machine, and caches none of its symbols. */
static struct sp_error *set_root(const char *root)
{
	char debug[4096];
	snprintf(debug, sizeof(debug), "%s/usr/lib/debug", root);
	struct sp_error *error = sp_ctx_set_root(ctx, root);
	if (!error)
		error = sp_ctx_set_debug_path(ctx, debug);
	return error ? error : sp_ctx_set_cache_path(ctx, NULL);
}

/* A file is in memory as soon as it is mapped; a pipe must be read. */
static struct sp_error *open_input(struct sp_reader **ret)
{
	struct stat status;
	void *bytes = MAP_FAILED;
	if (!fstat(0, &status) && S_ISREG(status.st_mode) && status.st_size)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, 0, 0);
	if (bytes == MAP_FAILED)
		return sp_reader_open_fd(ctx, 0, "standard input", ret);
	struct sp_error *error = sp_reader_open_memory(ctx, bytes, (size_t)status.st_size,
						       "standard input", ret);
	munmap(bytes, (size_t)status.st_size);
	return error;
}

static void print_sample(struct sp_trace *trace, const struct sp_event *event,
			 const struct sp_sample *sample, const char *field)
{
	const char *text = NULL;
	if (!field)
		text = sp_trace_raw_text(trace, event, sample);
	else if (sp_trace_take(trace, event, sample))
		text = sp_trace_field(trace, field, false);
	if (text)
		printf("%s: %s\n", event->name, text);
}

static struct sp_error *print_samples(struct sp_reader *reader, const char *field)
{
	const struct sp_record *record;
	struct sp_trace *trace;
	struct sp_error *error = sp_trace_new(ctx, reader, &trace);
	if (error)
		return error;
	while (!(error = sp_reader_next(reader, &record)) && record)
		if (record->type == PERF_RECORD_SAMPLE && record->event != SP_EVENT_NONE)
			print_sample(trace, sp_reader_event(reader, record->event),
				     &record->sample, field);
	sp_trace_free(trace);
	return error;
}

static struct sp_error *print_functions(struct sp_reader *reader)
{
	const enum sp_key keys[] = {SP_KEY_DSO, SP_KEY_SYMBOL};
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .keys = keys, .key_count = 2};
	const struct sp_analysis_options options = {.size = sizeof(options), .rows = &rows};
	struct sp_analysis *analysis;
	struct sp_error *error = sp_analysis_run(ctx, reader, &options, &analysis);
	if (error && sp_error_code(error) == SP_ERROR_CANCELLED) {
		/* The context can be used again. */
		sp_ctx_uncancel(ctx);
		sp_error_free(error);
		printf("interrupted\n");
		return NULL;
	}
	if (error)
		return error;
	const struct sp_profile *profile = sp_analysis_profile(analysis, 0);
	for (size_t i = 0; i < profile->row_count && i < 10; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		printf("%5.1f%% %s\n", row->self.share.value * 100, row->symbol);
	}
	sp_analysis_free(analysis);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sp_reader *reader;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (error || (argc > 2 && (error = set_root(argv[2]))) || (error = open_input(&reader)))
		return fail(error);
	signal(SIGINT, on_interrupt);
	if ((error = print_samples(reader, argc > 1 && *argv[1] ? argv[1] : NULL)) ||
	    (error = print_functions(reader)))
		return fail(error);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
	return 0;
}
