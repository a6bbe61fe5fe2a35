/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <sprof/private/command.h>
#include "out/stat_internal.h"

/* Formats of derived metrics, equal to those of perf 6.1. */
static const struct {
	const char *format, *unit;
} figures[] = {
	[SP_STAT_CPUS_UTILIZED] = {"%8.3f", "CPUs utilized"},
	[SP_STAT_GHZ] = {"%8.3f", "GHz"},
	[SP_STAT_INSN_PER_CYCLE] = {"%7.2f ", "insn per cycle"},
	[SP_STAT_STALLED_PER_INSN] = {"%7.2f ", "stalled cycles per insn"},
	[SP_STAT_FRONTEND_IDLE] = {"%7.2f%%", "frontend cycles idle"},
	[SP_STAT_BACKEND_IDLE] = {"%7.2f%%", "backend cycles idle"},
	[SP_STAT_BRANCH_MISSES] = {"%7.2f%%", "of all branches"},
	[SP_STAT_CACHE_MISSES] = {"%8.3f %%", "of all cache refs"},
	[SP_STAT_L1D_MISSES] = {"%7.2f%%", "of all L1-dcache accesses"},
	[SP_STAT_L1I_MISSES] = {"%7.2f%%", "of all L1-icache accesses"},
	[SP_STAT_DTLB_MISSES] = {"%7.2f%%", "of all dTLB cache accesses"},
	[SP_STAT_ITLB_MISSES] = {"%7.2f%%", "of all iTLB cache accesses"},
	[SP_STAT_LLC_MISSES] = {"%7.2f%%", "of all LL-cache accesses"},
	[SP_STAT_RATE] = {"%8.3f", "/sec"},
};

/* Scales a rate by thousands to K, M or G, as perf does. */
static double scale_rate(double rate, char *letter)
{
	static const char letters[] = " KMG";
	unsigned int i = 0;
	for (; rate > 1000 && i < 3; i++)
		rate /= 1000;
	*letter = letters[i];
	return rate;
}

/* Copies a formatted number without blanks and percent sign. */
static void strip(char *text, const char *from)
{
	from += strspn(from, " ");
	size_t size = strspn(from, "0123456789.-");
	memcpy(text, from, size);
	text[size] = '\0';
}

struct stat_figure stat_figure_of(const struct sp_stat_derived *derived)
{
	struct stat_figure figure = {.value = derived->value};
	char letter = ' ';
	if (derived->kind == SP_STAT_RATE)
		figure.value = scale_rate(figure.value, &letter);
	snprintf(figure.unit, sizeof(figure.unit), "%.*s%s", letter != ' ', &letter,
		 figures[derived->kind].unit);
	if (!derived->known)
		return figure;
	/* The format is no literal, but comes from the constant table `figures`. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(figure.number, sizeof(figure.number), figures[derived->kind].format, figure.value);
#pragma GCC diagnostic pop
	strip(figure.text, figure.number);
	return figure;
}

const char *stat_missing_reason(const struct stat_line *line)
{
	return line->event->supported ? "<not counted>" : "<not supported>";
}

double stat_noise_percent(const struct sp_stat_mean *mean)
{
	return mean->mean ? 100 * sp_stat_mean_error(mean) / mean->mean : 0;
}

double stat_running_percent(const struct sp_stat_row *row)
{
	return row->enabled_ns ? 100.0 * (double)row->running_ns / (double)row->enabled_ns : 100;
}

bool stat_interval_of(const struct stat_line *line, double *low_ret, double *high_ret)
{
	double scale = line->event->scale;
	if (line->mean && line->mean->count > 1) {
		double half = sp_stat_mean_interval(line->mean);
		double low = line->mean->mean - half;
		*low_ret = scale * (low > 0 ? low : 0);
		*high_ret = scale * (line->mean->mean + half);
		return half > 0;
	}
	*low_ret = scale * line->row->low;
	*high_ret = scale * line->row->high;
	return !line->mean && line->row->interval_known;
}
