/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "time: 5.02 s from 2971.669 s  ▁▂▅██▇▃▁": samples over time, in columns of equal time, the
 * largest one being full height. Columns outside --time are shown as dots.
 */
#include "out/time_line.h"

#include <math.h>
#include <time.h>
#include "out/format_value.h"
#include "out/report.h"

#define COLUMNS_MAX 60
#define COLUMNS_MIN 8

/* Least average of samples per column: with fewer, random variation would look like change. */
#define SAMPLES_PER_COLUMN 5

#define DURATION_MIN_NS 10000000

/* Number of --time spans that are printed; further ones are only counted. */
#define SHOWN_TIMES 2

struct curve {
	double columns[COLUMNS_MAX]; /* samples in each column */
	size_t count;
	double peak;
	double width_ns; /* time that a column spans */
};

/*
 * Distributes the samples of a time bin over the curve's columns, in proportion to the overlap of their
 * times. Times are in ns after the first sample; a double is exact to the ns for 100 days.
 */
static void add_bin(struct curve *curve, double begin_ns, double end_ns, uint64_t samples)
{
	double last_ns = curve->width_ns * (double)curve->count;
	double from = begin_ns > 0 ? begin_ns : 0, until = end_ns < last_ns ? end_ns : last_ns;
	if (until <= from)
		return;
	for (size_t i = (size_t)(from / curve->width_ns); i < curve->count; i++) {
		double left = (double)i * curve->width_ns, right = left + curve->width_ns;
		double low = left > from ? left : from, high = right < until ? right : until;
		if (left >= until)
			break;
		if (high > low)
			curve->columns[i] += (double)samples * (high - low) / (until - from);
	}
}

static void make_curve(const struct timeline *timeline, struct curve *curve)
{
	double span_ns = (double)(timeline->last_ns - timeline->first_ns) + 1;
	curve->width_ns = span_ns / (double)curve->count;
	for (size_t i = 0; i < timeline->bins_count; i++) {
		const struct sp_time_bins *bins = timeline->bins[i];
		double width_ns = (double)bins->width_ns;
		double begin_ns = bins->begin_ns >= timeline->first_ns ?
					  (double)(bins->begin_ns - timeline->first_ns) :
					  -(double)(timeline->first_ns - bins->begin_ns);
		for (size_t j = 0; j < bins->count; j++)
			if (bins->samples[j])
				add_bin(curve, begin_ns + (double)j * width_ns,
					begin_ns + (double)(j + 1) * width_ns, bins->samples[j]);
	}
	for (size_t i = 0; i < curve->count; i++)
		if (curve->columns[i] > curve->peak)
			curve->peak = curve->columns[i];
}

/* Returns whether the middle of the column is within --time. */
static bool is_shown(const struct timeline *timeline, const struct curve *curve, size_t column)
{
	uint64_t middle_ns = timeline->first_ns +
			     (uint64_t)(((double)column + 0.5) * curve->width_ns);
	for (size_t i = 0; i < timeline->time_count; i++) {
		const struct sp_time_span *time = &timeline->times[i];
		if (middle_ns >= time->begin_ns && (!time->end_ns || middle_ns < time->end_ns))
			return true;
	}
	return !timeline->time_count;
}

static void write_curve(const struct report *report, const struct curve *curve, FILE *out)
{
	/*
	 * Without UTF-8, marks both ends of the curve, because its first and last column may be blank.
	 */
	fputs(report->term.utf8 ? "" : "|", out);
	for (size_t i = 0; i < curve->count; i++) {
		double part = curve->peak > 0 ? curve->columns[i] / curve->peak : 0;
		/*
		 * Values below 0.01 samples are rounding errors, shown as 0. The tolerance of a quarter
		 * level hides differences of a part of a bin, which occur even at a constant rate.
		 */
		double level = curve->columns[i] < 0.01 ? 0 : fmax(1, ceil(part * 8 - 0.25));
		bool shown = is_shown(report->timeline, curve, i);
		fputs(shown ? term_bar(&report->term, level) : term_glyph(&report->term, "·", " "),
		      out);
	}
	fputs(report->term.utf8 ? "" : "|", out);
}

/* Writes the spans of --time within the recording: ", shown +1.500 s to +3.000 s". */
static int write_times(const struct timeline *timeline, FILE *out)
{
	uint64_t first_ns = timeline->first_ns, last_ns = timeline->last_ns;
	size_t within = 0;
	int used = 0;
	for (size_t i = 0; i < timeline->time_count; i++) {
		const struct sp_time_span *time = &timeline->times[i];
		uint64_t begin_ns = time->begin_ns > first_ns ? time->begin_ns : first_ns;
		/* The span's end is exclusive; the printed one is inclusive. */
		uint64_t end_ns = time->end_ns && time->end_ns <= last_ns ? time->end_ns - 1 : last_ns;
		if (begin_ns > end_ns || within++ >= SHOWN_TIMES)
			continue;
		used += fprintf(out, "%s+%.3f s to +%.3f s", within == 1 ? ", shown " : ", ",
				(double)(begin_ns - first_ns) / 1e9, (double)(end_ns - first_ns) / 1e9);
	}
	if (within > SHOWN_TIMES)
		used += fprintf(out, ", %zu more", within - SHOWN_TIMES);
	if (timeline->time_count && !within)
		used += fprintf(out, ", none of it shown");
	return used;
}

static uint64_t count_samples(const struct timeline *timeline)
{
	uint64_t samples = 0;
	for (size_t i = 0; i < timeline->bins_count; i++)
		for (size_t j = 0; j < timeline->bins[i]->count; j++)
			samples += timeline->bins[i]->samples[j];
	return samples;
}

/*
 * Returns the number of columns for the curve after `used` columns of text: as many as fit and have
 * enough samples. 0: no curve.
 */
static size_t column_count(const struct report *report, int used)
{
	size_t count = count_samples(report->timeline) / SAMPLES_PER_COLUMN;
	int room = report->term.width ? report->term.width - used : COLUMNS_MAX;
	if (count > COLUMNS_MAX)
		count = COLUMNS_MAX;
	if (room < COLUMNS_MIN)
		return 0;
	if (count > (size_t)room)
		count = (size_t)room;
	return count < COLUMNS_MIN ? 0 : count;
}

/* Writes the begin by the recording's clock, and its time of day, as --time takes them. */
static int write_begin(const struct sp_file_info *info, uint64_t first_ns, FILE *out)
{
	time_t seconds = (time_t)((info->clock_wall_ns + first_ns - info->clock_ns) / 1000000000);
	struct tm local;
	char text[16];
	if (!info->has_clock || !localtime_r(&seconds, &local) ||
	    !strftime(text, sizeof(text), "%H:%M:%S", &local))
		return fprintf(out, "%.3f s", (double)first_ns / 1e9);
	return fprintf(out, "%s (%.3f s)", text, (double)first_ns / 1e9);
}

void timeline_write(const struct report *report, FILE *out)
{
	const struct timeline *timeline = report->timeline;
	char text[FORMAT_SIZE];
	struct curve curve = {0};
	if (!timeline || timeline->last_ns < timeline->first_ns ||
	    timeline->last_ns - timeline->first_ns < DURATION_MIN_NS)
		return;
	const char *duration = format_duration(&report->term,
					       timeline->last_ns - timeline->first_ns, text);
	int used = fprintf(out, "  time: %s from ", duration);
	used += write_begin(report->info, timeline->first_ns, out);
	used += write_times(timeline, out);
	/* 4 columns: two blanks, and the curve's two end marks. */
	curve.count = column_count(report, used + 4);
	if (curve.count) {
		make_curve(timeline, &curve);
		fputs("  ", out);
		write_curve(report, &curve, out);
	}
	putc('\n', out);
}
