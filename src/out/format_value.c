/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/format_value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Least shares for the colours of hot and warm rows, as in perf. */
#define HOT_SHARE 0.05
#define WARM_SHARE 0.005

const char *format_count(uint64_t count, char buffer[FORMAT_SIZE])
{
	char *at = buffer + FORMAT_SIZE;
	*--at = '\0';
	for (int digits = 0; count || !digits; digits++, count /= 10) {
		if (digits && digits % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + count % 10);
	}
	return at;
}

/*
 * Formats a number with 1 or 2 decimals. printf("%.*f") would take most of the time of writing a table.
 */
static char *format_fixed(double value, int decimals, char *buffer, size_t size)
{
	double scaled = value * (decimals == 2 ? 100 : 10);
	uint32_t number = scaled >= 0 && scaled < 1e6 ? (uint32_t)scaled : UINT32_MAX;
	double rest = scaled - number;
	/*
	 * The multiplication rounded `scaled`. Near one half this may be wrong, so printf rounds the
	 * value.
	 */
	if (number == UINT32_MAX || fabs(rest - 0.5) < 1e-6) {
		snprintf(buffer, size, "%.*f", decimals, value);
		return buffer;
	}
	number += rest > 0.5;
	char *at = buffer + size;
	*--at = '\0';
	for (int digits = 0; number || digits <= decimals; digits++, number /= 10) {
		if (digits == decimals)
			*--at = '.';
		*--at = (char)('0' + number % 10);
	}
	return at;
}

const char *format_share(double share, char buffer[FORMAT_SIZE])
{
	/* "0.00%" is shown only for a share of 0, and "100.00%" only for 1. */
	if (share > 0 && share < 0.00005)
		return "<0.01%";
	if (share < 1 && share >= 0.99995)
		return ">99.99%";
	return strcat(format_fixed(share * 100, 2, buffer, FORMAT_SIZE - 1), "%");
}

const char *format_share_short(double share, char buffer[FORMAT_SIZE])
{
	if (share > 0 && share < 0.0005)
		return "<0.1%";
	if (share < 1 && share >= 0.9995)
		return ">99.9%";
	if (share >= 1)
		return "100%";
	return strcat(format_fixed(share * 100, 1, buffer, FORMAT_SIZE - 1), "%");
}

static const char *format_bound(double bound, int decimals, char *buffer, size_t size)
{
	char *text = format_fixed((bound < 1 ? bound : 1) * 100, decimals, buffer, size);
	if (!strncmp(text, "100.", 4))
		text[3] = '\0';
	return text;
}

/* Both bounds have a fixed width, which aligns the decimal points of a column. */
const char *format_range(const struct term *term, const struct sp_share *share, int decimals,
			 char buffer[FORMAT_SIZE])
{
	char low[16], high[16];
	snprintf(buffer, FORMAT_SIZE, "%*s%s%*s", decimals + 3,
		 format_bound(share->low, decimals, low, sizeof(low)),
		 term_glyph(term, "–", "-"), decimals + 3,
		 format_bound(share->high, decimals, high, sizeof(high)));
	return buffer;
}

char *remove_padding(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++)
		if (*from != ' ')
			*to++ = *from;
	*to = '\0';
	return text;
}

int range_decimals(uint64_t samples)
{
	return samples < 40000 ? 1 : 2;
}

const char *format_ratio(double ratio, bool percent, char buffer[FORMAT_SIZE])
{
	if (percent && ratio <= 1)
		return format_share(ratio, buffer);
	/* Chooses the number of decimals that gives three significant digits. */
	double shown = percent ? ratio * 100 : ratio;
	int decimals = shown >= 100 ? 0 : shown >= 10 ? 1 : shown >= 0.1 ? 2 : 3;
	snprintf(buffer, FORMAT_SIZE, "%.*f%s", decimals, shown, percent ? "%" : "");
	return buffer;
}

const char *format_ratio_range(const struct term *term, const struct sp_ratio *ratio, bool percent,
			       char buffer[FORMAT_SIZE])
{
	double unit = percent ? 100 : 1;
	double low = ratio->low * unit, high = ratio->high * unit;
	int decimals = high >= 100 ? 0 : high >= 10 ? 1 : high >= 0.1 ? 2 : 3;
	snprintf(buffer, FORMAT_SIZE, "%.*f%s%.*f", decimals, low, term_glyph(term, "–", "-"),
		 decimals, high);
	return buffer;
}

const char *format_duration(const struct term *term, uint64_t ns, char buffer[FORMAT_SIZE])
{
	double seconds = (double)ns / 1e9;
	uint64_t whole = ns / 1000000000 + (ns % 1000000000 >= 500000000);
	if (ns < 1000)
		snprintf(buffer, FORMAT_SIZE, "%" PRIu64 " ns", ns);
	else if (ns < 999500)
		snprintf(buffer, FORMAT_SIZE, "%.3g %s", seconds * 1e6,
			 term_glyph(term, "µs", "us"));
	else if (ns < 999500000)
		snprintf(buffer, FORMAT_SIZE, "%.3g ms", seconds * 1e3);
	else if (whole < 100)
		snprintf(buffer, FORMAT_SIZE, "%.2f s", seconds);
	else if (whole < 3600)
		snprintf(buffer, FORMAT_SIZE, "%" PRIu64 " min %02" PRIu64 " s", whole / 60,
			 whole % 60);
	else
		snprintf(buffer, FORMAT_SIZE, "%" PRIu64 " h %02" PRIu64 " min", whole / 3600,
			 whole / 60 % 60);
	return buffer;
}

const char *format_ms(uint64_t ns, char buffer[FORMAT_SIZE])
{
	double ms = (double)ns / 1e6;
	if (ms >= 99.95)
		return format_count((uint64_t)(ms + 0.5), buffer);
	snprintf(buffer, FORMAT_SIZE, "%.*f", ms >= 0.995 ? 1 : 2, ms);
	return buffer;
}

const char *format_level(enum sp_level level)
{
	static const char *const marks[] = {
		[SP_LEVEL_USER] = "[.]",       [SP_LEVEL_KERNEL] = "[k]",
		[SP_LEVEL_HYPERVISOR] = "[H]", [SP_LEVEL_GUEST_USER] = "[u]",
		[SP_LEVEL_GUEST_KERNEL] = "[g]",
	};
	return marks[level];
}

enum term_style share_style(double share)
{
	return share >= HOT_SHARE ? TERM_HOT : share >= WARM_SHARE ? TERM_WARM : TERM_PLAIN;
}

void share_bounds(const struct sp_weight *weight, uint64_t missing, uint64_t own, double *low_ret,
		  double *high_ret)
{
	double share = weight->share.value, part = (double)weight->weight;
	/* Whole of the shares: weight of all samples, or of all that pass the filters. */
	double all = share > 0 ? part / share : 0;
	*low_ret = share > 0 ? part / (all + (double)missing) : 0;
	*high_ret = share > 0 ? (part + (double)own) / (all + (double)own) : 1;
}
