/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output of `sprof info --losses`: lost samples and throttling by CPU and time, and lost samples by
 * thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include "cmd/info/info.h"
#include "cmd/info/cpu_time_bins.h"
#include "json.h"

/*
 * Returns how many lost samples of the events have no LOST record, so that their time and CPU are
 * unknown. Negative if LOST records also count records that are no samples of these events.
 */
static int64_t untold(const struct info *info)
{
	uint64_t lost = 0;
	for (size_t i = 0; i < info->event_count; i++)
		lost += sp_losses_count(info->losses, i);
	return (int64_t)(lost - info->slices->sum.all.lost);
}

/* Returns the character that shows a time slice's share of lost samples; sprof-info(1) lists them. */
static char sign_of(const struct bin_counts *slice)
{
	uint64_t all = slice->samples + slice->lost;
	if (!all)
		return slice->throttled_ns ? 't' : ' ';
	if (!slice->lost)
		return '.';
	if (!slice->samples)
		return '!';
	unsigned int tenths = (unsigned int)((double)slice->lost * 10 / (double)all);
	return (char)('0' + (tenths ? tenths : 1));
}

static void put_numbers(const struct bin_counts *slice, FILE *out)
{
	uint64_t all = slice->samples + slice->lost;
	fprintf(out, "  %12" PRIu64 "  %10" PRIu64 "  %6.2f%%  %8.3f ms", slice->samples, slice->lost,
		all ? 100 * (double)slice->lost / (double)all : 0.0, (double)slice->throttled_ns / 1e6);
}

static void put_row(const struct slice_row *row, const char *name, size_t used, FILE *out)
{
	fprintf(out, "  %5s", name);
	put_numbers(&row->all, out);
	fputs("  |", out);
	for (size_t i = 0; i < used; i++)
		putc(sign_of(&row->slices[i]), out);
	fputs("|\n", out);
}

/*
 * Returns the number of decimals for times in seconds: 6 if slices are shorter than about 1 ms, else 3.
 */
static int decimals(const struct cpu_time_bins *slices)
{
	return slices->shift < 20 ? 6 : 3;
}

/* used: number of slices up to the last one with a sign. */
static void put_times(const struct info *info, size_t used, FILE *out)
{
	const struct cpu_time_bins *slices = info->slices;
	fprintf(out, "\n  %12s  %12s  %10s  %7s  %11s\n", "time", "samples", "lost", "share",
		"throttled");
	for (size_t i = 0; i < used; i++) {
		uint64_t at_ns = (slices->first + i) << slices->shift;
		double after = info->timed ? ((double)at_ns - (double)info->first_ns) / 1e9 : 0;
		fprintf(out, "  %+10.*f s", decimals(slices), after > 0 ? after : 0.0);
		put_numbers(&slices->sum.slices[i], out);
		putc('\n', out);
	}
}

void info_print_losses(const struct info *info, const struct term *term, FILE *out)
{
	const struct cpu_time_bins *slices = info->slices;
	size_t used = SLICES;
	while (used && sign_of(&slices->sum.slices[used - 1]) == ' ')
		used--;
	int64_t more = untold(info);
	char name[16];
	putc('\n', out);
	term_begin(term, TERM_TITLE, out);
	fputs("Losses", out);
	term_end(term, TERM_TITLE, out);
	fprintf(out, "\n  %5s  %12s  %10s  %7s  %11s  each column %.*f s\n", "CPU", "samples", "lost",
		"share", "throttled", decimals(slices),
		(double)(UINT64_C(1) << slices->shift) / 1e9);
	for (size_t i = 0; i < slices->rows.count; i++) {
		const struct slice_row *row = &slices->rows.items[i];
		snprintf(name, sizeof(name), "%" PRIu32, row->cpu);
		put_row(row, row->cpu == UINT32_MAX ? "?" : name, used, out);
	}
	put_row(&slices->sum, "all", used, out);
	if (more > 0)
		fprintf(out, "  %" PRId64 " more were lost at unknown times\n", more);
	if (more < 0)
		fprintf(out, "  %" PRId64 " of these were not samples of the events above\n",
			-more);
	put_times(info, used, out);
	size_t count = sp_losses_thread_count(info->losses);
	if (count)
		fprintf(out, "\n  %10s  %10s  %10s\n", "pid", "tid", "lost");
	for (size_t i = 0; i < count; i++) {
		const struct sp_thread_loss *thread = sp_losses_thread(info->losses, i);
		fprintf(out, "  %10" PRIu32 "  %10" PRIu32 "  %10" PRIu64 "\n", thread->pid,
			thread->tid, thread->lost);
	}
}

static void json_numbers(struct json *json, const struct bin_counts *slice)
{
	json_unsigned(json, "samples", slice->samples);
	json_unsigned(json, "lost", slice->lost);
}

static void json_slices(struct json *json, const struct cpu_time_bins *slices,
			const struct slice_row *row)
{
	json_begin(json, "slices", '[');
	for (size_t i = 0; i < SLICES; i++) {
		if (sign_of(&row->slices[i]) == ' ')
			continue;
		json_begin(json, NULL, '{');
		json_unsigned(json, "at_ns", (slices->first + i) << slices->shift);
		json_numbers(json, &row->slices[i]);
		json_unsigned(json, "throttled_ns", row->slices[i].throttled_ns);
		json_end(json, '}');
	}
	json_end(json, ']');
}

void info_json_losses(const struct info *info, struct json *json)
{
	const struct cpu_time_bins *slices = info->slices;
	json_begin_lines(json, "losses", '{');
	json_unsigned(json, "begin_ns", slices->first << slices->shift);
	json_unsigned(json, "slice_ns", UINT64_C(1) << slices->shift);
	json_begin_lines(json, "cpus", '[');
	for (size_t i = 0; i < slices->rows.count; i++) {
		const struct slice_row *row = &slices->rows.items[i];
		json_begin(json, NULL, '{');
		json_signed(json, "cpu", row->cpu == UINT32_MAX ? -1 : (int64_t)row->cpu);
		json_numbers(json, &row->all);
		json_begin(json, "throttled", '{');
		json_unsigned(json, "count", row->throttled);
		json_unsigned(json, "ns", row->all.throttled_ns);
		json_end(json, '}');
		json_slices(json, slices, row);
		json_end(json, '}');
	}
	json_end_lines(json, ']');
	json_slices(json, slices, &slices->sum);
	json_begin_lines(json, "threads", '[');
	for (size_t i = 0; i < sp_losses_thread_count(info->losses); i++) {
		const struct sp_thread_loss *thread = sp_losses_thread(info->losses, i);
		json_begin(json, NULL, '{');
		json_unsigned(json, "pid", thread->pid);
		json_unsigned(json, "tid", thread->tid);
		json_unsigned(json, "lost", thread->lost);
		json_end(json, '}');
	}
	json_end_lines(json, ']');
	json_signed(json, "untold", untold(info));
	json_end_lines(json, '}');
}
