/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Summary line after a recording: "hottest: compress 48% (46-50), parse 24%, blend 15%; sprof report
 * shows all". It is only a convenience: errors are not printed, and a child makes the analysis,
 * which is killed after a time limit. Its own context has default settings: no log, no debuginfod
 * servers.
 */
#include "cmd/record/record.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sprof/private/command.h>
#include <sprof/sprof.h>
#include "cmd/common/session.h"
#include "input.h"
#include "out/format_value.h"
#include "out/report.h"
#include "out/thread_times.h"
#include "term.h"
#include "text.h"

#define ANSWER_MS 300
#define POLL_MS 1
#define LINE_WIDTH 80
#define ROWS_MAX 3
/* Fewer samples have no hottest function: intervals would be wider than 20 points. */
#define SAMPLES_MIN 30
#define SHARE_MIN 0.01 /* least share for which a second or third function is named */
#define NAME_MAX_WIDTH 60
#define NAME_MIN_WIDTH 20

/* Default input of `sprof report`. */
static const char default_path[] = "sprof.data";

/* Content of the summary line. */
struct answer {
	const char *path;
	const struct sp_profile *profile;
	bool names_event; /* several events have samples, so the line names the event */
	size_t rows;
};

/* Returns the quote that a path needs in a shell: "" or "'"; NULL if the line cannot show the path. */
static const char *quote_of(const char *path)
{
	if (*path == '-' || path[text_plain_size(path)] || strchr(path, '\''))
		return NULL;
	return text_is_bare(path) ? "" : "'";
}

/* Writes a share, "48%" or "4.8%"; the first row's has the report's interval: "48% (46-50)". */
static void put_share(const struct sp_row *row, bool first, FILE *out)
{
	const struct report report = {.recording_count = 1};
	char mark;
	const struct sp_share share =
		report_interval(&report, &row->self.share, row->self_between, &mark);
	double value = 100 * share.value, low = 100 * share.low, high = 100 * share.high;
	int decimals = value < 9.95 || (first && high - low < 2) ? 1 : 0;
	double most = decimals ? 99.9 : 99;
	if (share.value < 1 && value >= most + (decimals ? 0.05 : 0.5))
		fprintf(out, " >%.*f%%", decimals, most);
	else
		fprintf(out, " %.*f%%", decimals, value);
	if (first)
		fprintf(out, " (%.*s%.*f-%.*f)", mark != '\0', &mark, decimals, low, decimals,
			high);
}

static bool same_function(const struct sp_row *a, const struct sp_row *b)
{
	return a != b && !strcmp(a->function, b->function);
}

/*
 * Returns the comm or file that distinguishes a row from another row of the same function; else NULL.
 */
static const char *distinction(const struct answer *answer, const struct sp_row *row)
{
	for (size_t i = 0; i < answer->rows; i++) {
		const struct sp_row *other = sp_profile_row(answer->profile, i);
		if (same_function(row, other))
			return strcmp(row->dso, other->dso) ? row->dso : row->comm;
	}
	return NULL;
}

static bool put_row(const struct answer *answer, const struct term *term, size_t i, int width,
		    FILE *out)
{
	const struct sp_row *row = sp_profile_row(answer->profile, i);
	const char *of = distinction(answer, row);
	char *made;
	const char *name = name_shorten(term, row->function, width, &made);
	if (!name)
		return false;
	fputs(i ? ", " : " ", out);
	term_put(term, name, width, out);
	free(made);
	if (of) {
		fputs(" (", out);
		term_put(term, of, width, out);
		putc(')', out);
	}
	put_share(row, i == 0, out);
	return true;
}

/* End of the line: "; sprof report shows all", only the command, or nothing. */
enum tail { TAIL_SENTENCE, TAIL_COMMAND, TAIL_NONE };

static void put_tail(const char *path, enum tail tail, FILE *out)
{
	const char *quote = quote_of(path);
	if (tail == TAIL_NONE || !quote)
		return;
	fputs("; sprof report", out);
	if (strcmp(path, default_path) != 0)
		fprintf(out, " %s%s%s", quote, path, quote);
	if (tail == TAIL_SENTENCE)
		fputs(" shows all", out);
}

/*
 * Returns the summary line, in which names have up to `width` columns. The caller frees it. NULL when
 * out of memory.
 */
static char *make_line(const struct answer *answer, const struct term *term, int width,
		       enum tail tail)
{
	char *line = NULL;
	size_t size;
	bool done = true;
	FILE *out = open_memstream(&line, &size);
	if (!out)
		return NULL;
	fputs("hottest", out);
	if (answer->names_event) {
		fputs(" by ", out);
		term_put(term, answer->profile->event, width, out);
	}
	putc(':', out);
	for (size_t i = 0; done && i < answer->rows; i++)
		done = put_row(answer, term, i, width, out);
	put_tail(answer->path, tail, out);
	if (fclose(out) || !done) {
		free(line);
		return NULL;
	}
	return line;
}

/*
 * Prints the longest variant that fits the width: first cuts names, then drops the command, then the
 * last functions.
 */
static void print_answer(struct answer answer)
{
	const struct term term = {.utf8 = text_form_shown() == TEXT_SHOWN};
	for (; answer.rows; answer.rows--)
		for (enum tail tail = TAIL_SENTENCE; tail <= TAIL_NONE; tail++)
			for (int width = NAME_MAX_WIDTH; width >= NAME_MIN_WIDTH; width--) {
				char *line = make_line(&answer, &term, width, tail);
				bool fits = line && term_text_width(&term, line) <= LINE_WIDTH;
				if (fits)
					fprintf(stderr, "%s\n", line);
				free(line);
				if (fits || !line)
					return;
			}
}

/* Returns whether `sprof report` shows functions; recordings with branches show branches. */
static bool shows_functions(const struct sp_reader *reader)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct perf_event_attr *attr = &sp_reader_event(reader, i)->attr;
		if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
		    !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
			return false;
	}
	return true;
}

/* Prints threads' time by state: "5.27 s of 4 threads: 121 ms on CPU, 4.84 s blocked". */
static void print_times(const struct sp_profile *profile)
{
	const struct term term = {.utf8 = text_form_shown() == TEXT_SHOWN};
	char times[320];
	times_describe(&term, profile, times, sizeof(times));
	/* The report has the waits' number, in parentheses. */
	char *waits = strstr(times, " (");
	if (waits)
		*waits = '\0';
	fprintf(stderr, "%s\n", times);
}

static void answer_by(const char *path, const struct sp_analysis *analysis)
{
	struct answer answer = {.path = path};
	for (size_t i = 0; i < sp_analysis_profile_count(analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		answer.names_event |= answer.profile && profile->samples;
		if (!answer.profile && profile->samples)
			answer.profile = profile;
	}
	if (!answer.profile)
		return;
	if (answer.profile->mode != SP_MODE_CPU) {
		print_times(answer.profile);
		return;
	}
	while (answer.rows < ROWS_MAX && answer.rows < answer.profile->row_count &&
	       (!answer.rows ||
		sp_profile_row(answer.profile, answer.rows)->self.share.value >= SHARE_MIN))
		answer.rows++;
	if (answer.profile->samples >= SAMPLES_MIN && answer.rows &&
	    sp_profile_row(answer.profile, 0)->self.samples)
		print_answer(answer);
}

static void analyse(struct sp_ctx *ctx, const char *path)
{
	/* Default options. They count self time only, so no call chain is unwound or resolved. */
	const struct sp_analysis_stacks stacks = {.size = sizeof(stacks), .fold_python = true};
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .between = SP_BETWEEN_SELF};
	struct sp_analysis_samples samples = {.size = sizeof(samples)};
	const struct sp_analysis_options options = {.size = sizeof(options), .rows = &rows,
						    .stacks = &stacks, .samples = &samples};
	struct sp_analysis *analysis = NULL;
	struct sp_reader *reader = NULL;
	struct sp_error *error = sp_reader_open(ctx, path, &reader);
	if (!error)
		error = sp_reader_add_up_pmus(reader, (struct sp_string_list){0});
	if (!error && recordings_have_waits(&(struct sp_recording){.reader = reader}, 1))
		samples.mode = SP_MODE_WALL;
	if (!error && shows_functions(reader))
		error = sp_analysis_run(ctx, reader, &options, &analysis);
	if (!error && analysis)
		answer_by(path, analysis);
	sp_error_free(error);
	sp_analysis_free(analysis);
	sp_reader_free(reader);
}

/*
 * Kills the child after the time limit, or when a signal can be read. A file system that does not
 * answer may keep it alive, so it is not waited for then.
 */
static void wait_for_child(pid_t child, int signal_fd)
{
	struct pollfd fd = {.fd = signal_fd, .events = POLLIN};
	uint64_t deadline_ns = session_now_ns() + ANSWER_MS * NS_PER_MS;
	while (waitpid(child, NULL, WNOHANG) == 0) {
		if (poll(&fd, 1, POLL_MS) == 0 && session_now_ns() < deadline_ns)
			continue;
		kill(child, SIGKILL);
		return;
	}
}

void record_print_hottest(const struct sp_capture *capture, const char *path, int signal_fd)
{
	struct stat st;
	struct sp_ctx *ctx = NULL;
	if (!path)
		path = default_path;
	if (!isatty(STDERR_FILENO) || !strcmp(path, "-") || stat(path, &st) ||
	    !S_ISREG(st.st_mode))
		return;
	pid_t child = fork();
	if (child > 0)
		wait_for_child(child, signal_fd);
	if (child)
		return;
	sp_capture_after_fork(capture, NULL, 0);
	struct sp_error *error = sp_ctx_new(&ctx);
	if (!error)
		analyse(ctx, path);
	fflush(stderr);
	_exit(0);
}
