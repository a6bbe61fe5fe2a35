/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads as text of 80 columns, two lines for each thread:
 *
 *	thread           tid    on CPU  runnable   blocked   unknown     waits   longest
 *	CPU use over time                                            preempted  migrated
 *	worker          4712    1.20 s   12.3 ms    744 ms         -       823    3.1 ms
 *	▁▂▃█···▁▂▃▅▆▇█▁▁▂▂▂▂     61.3%      0.6%     38.0%         -        17         3
 */
#include "out/threads.h"

#include <inttypes.h>
#include "out/format.h"

#define COMM_WIDTH 12
#define TID_WIDTH 8
#define TIME_WIDTH 10
#define COUNT_WIDTH 10

/* Least part of a thread's life for which unknown time is a defect of the recording. */
#define UNKNOWN_SHARE 0.001

/* Text folds threads that were blocked all the time if there are more than these. */
#define BLOCKED_SHOWN 5

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

static void put_slices(const struct term *term, const struct sp_thread *thread, FILE *out)
{
	for (size_t i = 0; i < SP_THREAD_SLICES; i++) {
		const struct sp_thread_times *slice = &thread->slices[i];
		enum term_style style = slice->runnable_ns > life_of(slice) / 2 ? TERM_HOT : TERM_PLAIN;
		term_begin(term, style, out);
		fputs(slice_sign(term, slice), out);
		term_end(term, style, out);
	}
	term_pad(COMM_WIDTH + TID_WIDTH - SP_THREAD_SLICES, out);
}

static void write_thread(const struct term *term, const struct sp_thread *thread, FILE *out)
{
	const struct sp_thread_times *times = &thread->times;
	uint64_t life_ns = life_of(times);
	term_pad(COMM_WIDTH - term_put(term, thread->comm, COMM_WIDTH, out), out);
	fprintf(out, "%*" PRIu32, TID_WIDTH, thread->tid);
	put_time(term, times->running_ns, out);
	put_time(term, times->runnable_ns, out);
	put_time(term, times->blocked_ns, out);
	put_time(term, times->unknown_ns, out);
	put_count(term, thread->waits, out);
	put_time(term, thread->longest_wait_ns, out);
	putc('\n', out);
	put_slices(term, thread, out);
	put_percent(term, times->running_ns, life_ns, out);
	put_percent(term, times->runnable_ns, life_ns, out);
	put_percent(term, times->blocked_ns, life_ns, out);
	put_percent(term, times->unknown_ns, life_ns, out);
	put_count(term, thread->preemptions, out);
	put_count(term, thread->migrations, out);
	putc('\n', out);
}

static void write_titles(const struct term *term, FILE *out)
{
	term_begin(term, TERM_TITLE, out);
	fprintf(out, "%-*s%*s%*s%*s%*s%*s%*s%*s\n", COMM_WIDTH, "thread", TID_WIDTH, "tid", TIME_WIDTH,
		"on CPU", TIME_WIDTH, "runnable", TIME_WIDTH, "blocked", TIME_WIDTH, "unknown", COUNT_WIDTH,
		"waits", TIME_WIDTH, "longest");
	fprintf(out, "%-*s%*s%*s\n", COMM_WIDTH + TID_WIDTH + 4 * TIME_WIDTH, "CPU use over time",
		COUNT_WIDTH, "preempted", TIME_WIDTH, "migrated");
	term_end(term, TERM_TITLE, out);
}

static bool is_blocked(const struct sp_thread *thread)
{
	return thread->times.blocked_ns && thread->times.blocked_ns == life_of(&thread->times);
}

/* Writes how much time is unknown, if it matters for some thread. */
static void write_unknown(const struct term *term, const struct sp_threads *threads, FILE *out)
{
	char duration[FORMAT_SIZE], percent[FORMAT_SIZE];
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
	term_begin(term, TERM_WARNING, out);
	fprintf(out, "  ! %s of %zu thread%s unknown (%s of %s life): switch records are missing, "
		     "or events were disabled\n",
		format_duration(term, unknown_ns, duration), count, count == 1 ? " is" : "s are",
		format_percent((double)unknown_ns / (double)life_ns, percent), count == 1 ? "its" : "their");
	term_end(term, TERM_WARNING, out);
	fprintf(out,
		"    %s if 'sprof info' shows losses: larger ring buffers (-m); if it shows too "
		"many switches: --switch-events; perf's sched_switch needs -a\n",
		term_glyph(term, "→", "->"));
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
	for (size_t i = 0; i < count; i++) {
		const struct sp_thread *thread = sp_threads_at(threads, i);
		unsplit += thread->split == SP_THREAD_SPLIT_NONE && thread->times.blocked_ns;
		uncounted += !thread->counted && thread->times.running_ns;
	}
	fprintf(out, "\nCPU use of 20 equal parts of the time: %s below 1/8 ... %s all; %s none; ? unknown\n",
		term_glyph(term, "▁", "1"), term_glyph(term, "█", "8"), term_glyph(term, "·", "."));
	if (uncounted)
		fprintf(out,
			"on CPU excludes the switches of %zu of %zu thread%s: the kernel's counts "
			"were not recorded\n", uncounted, count, count == 1 ? "" : "s");
	if (unsplit)
		fputs("blocked includes the time from wake-up to running: wake-ups were not recorded\n", out);
}

static void write_threads(const struct threads_report *report, const struct sp_threads *threads,
			  FILE *out)
{
	size_t count = sp_threads_count(threads), blocked = 0;
	char number[FORMAT_SIZE];
	for (size_t i = 0; i < count; i++)
		blocked += is_blocked(sp_threads_at(threads, i));
	bool folds = !report->all && blocked > BLOCKED_SHOWN;
	write_titles(&report->term, out);
	for (size_t i = 0; i < count; i++)
		if (!folds || !is_blocked(sp_threads_at(threads, i)))
			write_thread(&report->term, sp_threads_at(threads, i), out);
	if (folds)
		fprintf(out, "%s threads were blocked all the time (--percent-limit 0 shows them)\n",
			format_count(blocked, number));
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
