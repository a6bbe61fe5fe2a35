/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads as text, two lines for each thread:
 *
 *	thread           tid    on CPU  runnable   blocked   unknown     waits   longest
 *	CPU use over time                                            preempted  migrated
 *	worker          4712    1.20 s   12.3 ms    744 ms         -       823    3.1 ms
 *	▁▂▃█···▁▂▃▅▆▇█▁▁▂▂▂▂     61.3%      0.6%     38.0%         -        17         3
 */
#include "out/threads.h"

#include <inttypes.h>
#include "out/format.h"

#define COMM_WIDTH 12 /* least width; a wide terminal and a file have room for whole names */
#define TID_WIDTH 8
#define TIME_WIDTH 10
#define COUNT_WIDTH 10

/* Least part of a thread's life for which unknown time is a defect of the recording. */
#define UNKNOWN_SHARE 0.001

/* Text folds threads that were blocked all the time if there are more than these. */
#define BLOCKED_SHOWN 5

/* Columns that depend on the terminal's width and on the threads. */
struct layout {
	const struct term *term;
	int comm;     /* width of threads' names */
	bool unknown; /* has the column of unknown time */
	bool longest; /* has the column of the longest wait and of migrations */
};

static uint64_t life_of(const struct sp_thread_times *times)
{
	return times->running_ns + times->runnable_ns + times->blocked_ns + times->unknown_ns;
}

static void put_right(const struct term *term, const char *text, int width, FILE *out)
{
	term_pad(width - term_text_width(term, text), out);
	fputs(text, out);
}

static void put_time(const struct term *term, uint64_t ns, FILE *out)
{
	char buffer[FORMAT_SIZE];
	put_right(term, ns ? format_duration(term, ns, buffer) : "-", TIME_WIDTH, out);
}

static void put_count(const struct term *term, uint64_t count, FILE *out)
{
	char buffer[FORMAT_SIZE];
	put_right(term, format_count(count, buffer), COUNT_WIDTH, out);
}

static void put_percent(const struct term *term, uint64_t ns, uint64_t life_ns, FILE *out)
{
	char buffer[FORMAT_SIZE];
	double share = life_ns ? (double)ns / (double)life_ns : 0;
	put_right(term, ns ? format_percent(share, buffer) : "-", TIME_WIDTH, out);
}

/* Returns the sign for a slice: its part on a CPU, in eighths. */
static const char *slice_sign(const struct term *term, const struct sp_thread_times *slice)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
	uint64_t life_ns = life_of(slice);
	if (!life_ns)
		return " ";
	if (slice->unknown_ns > life_ns / 2)
		return "?";
	if (!slice->running_ns)
		return term_glyph(term, "·", ".");
	size_t level = (size_t)((double)slice->running_ns / (double)life_ns * 7.999);
	return (term->utf8 ? blocks : plain)[level < 8 ? level : 7];
}

static void put_slices(const struct layout *layout, const struct sp_thread *thread, FILE *out)
{
	const struct term *term = layout->term;
	for (size_t i = 0; i < SP_THREAD_SLICES; i++) {
		const struct sp_thread_times *slice = &thread->slices[i];
		enum term_style style = slice->runnable_ns > life_of(slice) / 2 ? TERM_HOT : TERM_PLAIN;
		term_begin(term, style, out);
		fputs(slice_sign(term, slice), out);
		term_end(term, style, out);
	}
	term_pad(layout->comm + TID_WIDTH - SP_THREAD_SLICES, out);
}

static void write_thread(const struct layout *layout, const struct sp_thread *thread, FILE *out)
{
	const struct term *term = layout->term;
	const struct sp_thread_times *times = &thread->times;
	uint64_t life_ns = life_of(times);
	term_pad(layout->comm - term_put(term, thread->comm, layout->comm, out), out);
	fprintf(out, "%*" PRIu32, TID_WIDTH, thread->tid);
	put_time(term, times->running_ns, out);
	put_time(term, times->runnable_ns, out);
	put_time(term, times->blocked_ns, out);
	if (layout->unknown)
		put_time(term, times->unknown_ns, out);
	put_count(term, thread->waits, out);
	if (layout->longest)
		put_time(term, thread->longest_wait_ns, out);
	putc('\n', out);
	put_slices(layout, thread, out);
	put_percent(term, times->running_ns, life_ns, out);
	put_percent(term, times->runnable_ns, life_ns, out);
	put_percent(term, times->blocked_ns, life_ns, out);
	if (layout->unknown)
		put_percent(term, times->unknown_ns, life_ns, out);
	put_count(term, thread->preemptions, out);
	if (layout->longest)
		put_count(term, thread->migrations, out);
	putc('\n', out);
}

static void write_titles(const struct layout *layout, FILE *out)
{
	int times = (layout->unknown ? 4 : 3) * TIME_WIDTH;
	term_begin(layout->term, TERM_TITLE, out);
	fprintf(out, "%-*s%*s%*s%*s%*s", layout->comm, "thread", TID_WIDTH, "tid", TIME_WIDTH,
		"on CPU", TIME_WIDTH, "runnable", TIME_WIDTH, "blocked");
	fprintf(out, "%*s%*s%*s\n", layout->unknown ? TIME_WIDTH : 0,
		layout->unknown ? "unknown" : "", COUNT_WIDTH, "waits",
		layout->longest ? TIME_WIDTH : 0, layout->longest ? "longest" : "");
	fprintf(out, "%-*s%*s%*s\n", layout->comm + TID_WIDTH + times, "CPU use over time",
		COUNT_WIDTH, "preempted", layout->longest ? TIME_WIDTH : 0,
		layout->longest ? "migrated" : "");
	term_end(layout->term, TERM_TITLE, out);
}

/*
 * Chooses the columns. A terminal has no column of unknown time without such time, and the last
 * column only if it fits.
 */
static struct layout layout_of(const struct term *term, const struct sp_threads *threads)
{
	struct layout layout = {
		.term = term, .comm = COMM_WIDTH, .unknown = !term->width, .longest = true};
	int widest = 0;
	for (size_t i = 0; i < sp_threads_count(threads); i++) {
		const struct sp_thread *thread = sp_threads_at(threads, i);
		int width = term_text_width(term, thread->comm);
		widest = width > widest ? width : widest;
		layout.unknown |= thread->times.unknown_ns > 0;
	}
	int rest = TID_WIDTH + COUNT_WIDTH + (layout.unknown ? 5 : 4) * TIME_WIDTH;
	if (term->width && term->width < COMM_WIDTH + rest) {
		layout.longest = false;
		rest -= TIME_WIDTH;
	}
	if (term->width && widest > term->width - rest)
		widest = term->width - rest;
	layout.comm = widest > COMM_WIDTH ? widest : COMM_WIDTH;
	return layout;
}

static bool is_blocked(const struct sp_thread *thread)
{
	return thread->times.blocked_ns && thread->times.blocked_ns == life_of(&thread->times);
}

/* Writes how much time is unknown, if it matters for some thread. */
static void write_unknown(const struct term *term, const struct sp_threads *threads, FILE *out)
{
	char duration[FORMAT_SIZE], percent[FORMAT_SIZE], text[256];
	uint64_t unknown_ns = 0, life_ns = 0;
	size_t count = 0;
	for (size_t i = 0; i < sp_threads_count(threads); i++) {
		const struct sp_thread_times *times = &sp_threads_at(threads, i)->times;
		if ((double)times->unknown_ns <= UNKNOWN_SHARE * (double)life_of(times))
			continue;
		unknown_ns += times->unknown_ns;
		life_ns += life_of(times);
		count++;
	}
	if (!count)
		return;
	snprintf(text, sizeof(text),
		 "%s of %zu thread%s unknown (%s of %s life): switch records are missing, "
		 "or events were disabled",
		 format_duration(term, unknown_ns, duration), count, count == 1 ? " is" : "s are",
		 format_percent((double)unknown_ns / (double)life_ns, percent),
		 count == 1 ? "its" : "their");
	term_begin(term, TERM_WARNING, out);
	fputs("  ! ", out);
	term_wrap(term, text, 4, 4, 0, out);
	term_end(term, TERM_WARNING, out);
	fprintf(out, "    %s ", term_glyph(term, "→", "->"));
	term_wrap(term,
		  "if 'sprof info' shows losses: larger ring buffers (-m); if it shows too many "
		  "switches: --switch-events; perf's sched_switch needs -a",
		  7 - term->utf8, 7 - term->utf8, 0, out);
}

static void write_head(const struct term *term, const struct threads_view *view, FILE *out)
{
	char duration[FORMAT_SIZE], number[FORMAT_SIZE];
	const struct sp_threads *threads = view->threads;
	size_t count = sp_threads_count(threads);
	term_begin(term, TERM_TITLE, out);
	term_put(term, view->path, 0, out);
	term_end(term, TERM_TITLE, out);
	fprintf(out, "  %s  %s thread%s\n",
		format_duration(term, sp_threads_last_ns(threads) - sp_threads_first_ns(threads), duration),
		format_count(count, number), count == 1 ? "" : "s");
	write_unknown(term, threads, out);
}

/* Writes the meaning of signs, and the limits of blocked time. */
static void write_legend(const struct term *term, const struct sp_threads *threads, FILE *out)
{
	size_t unsplit = 0, uncounted = 0, count = sp_threads_count(threads);
	char text[160];
	for (size_t i = 0; i < count; i++) {
		const struct sp_thread *thread = sp_threads_at(threads, i);
		unsplit += thread->split == SP_THREAD_SPLIT_NONE && thread->times.blocked_ns;
		uncounted += !thread->counted && thread->times.running_ns;
	}
	snprintf(text, sizeof(text),
		 "CPU use of 20 equal parts of the time: %s below 1/8 ... %s all; %s none; "
		 "? unknown",
		 term_glyph(term, "▁", "1"), term_glyph(term, "█", "8"),
		 term_glyph(term, "·", "."));
	putc('\n', out);
	term_wrap(term, text, 0, 0, 0, out);
	snprintf(text, sizeof(text),
		 "on CPU excludes the switches of %zu of %zu thread%s: the kernel's counts "
		 "were not recorded",
		 uncounted, count, count == 1 ? "" : "s");
	if (uncounted)
		term_wrap(term, text, 0, 0, 0, out);
	if (unsplit)
		term_wrap(term,
			  "blocked includes the time from wake-up to running: wake-ups were not "
			  "recorded",
			  0, 0, 0, out);
}

static void write_threads(const struct threads_report *report, const struct sp_threads *threads,
			  FILE *out)
{
	size_t count = sp_threads_count(threads), blocked = 0;
	char number[FORMAT_SIZE], text[2 * FORMAT_SIZE];
	for (size_t i = 0; i < count; i++)
		blocked += is_blocked(sp_threads_at(threads, i));
	bool folds = !report->all && blocked > BLOCKED_SHOWN;
	const struct layout layout = layout_of(&report->term, threads);
	write_titles(&layout, out);
	for (size_t i = 0; i < count; i++)
		if (!folds || !is_blocked(sp_threads_at(threads, i)))
			write_thread(&layout, sp_threads_at(threads, i), out);
	if (!folds)
		return;
	snprintf(text, sizeof(text),
		 "%s threads were blocked all the time (--percent-limit 0 shows them)",
		 format_count(blocked, number));
	term_wrap(&report->term, text, 0, 0, 0, out);
}

void threads_write_text(const struct threads_report *report, FILE *out)
{
	for (size_t i = 0; i < report->view_count; i++) {
		if (i)
			putc('\n', out);
		if (!report->quiet || report->view_count > 1)
			write_head(&report->term, &report->views[i], out);
		putc('\n', out);
		write_threads(report, report->views[i].threads, out);
		if (!report->quiet)
			write_legend(&report->term, report->views[i].threads, out);
	}
}
