/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shares from which a row is hot and warm; perf's own limits. */
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

/* What is a percentage, as "%.*f" has it; a table's time is in these. Decimals: 1 or 2. */
static char *format_fixed(double value, int decimals, char *buffer, size_t size)
{
	double scaled = value * (decimals == 2 ? 100 : 10);
	uint32_t number = scaled >= 0 && scaled < 1e6 ? (uint32_t)scaled : UINT32_MAX;
	double rest = scaled - number;
	/* `scaled` is rounded itself: near the middle, only printf knows to which side. */
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
	/* Only nothing is 0, and only all is 100. */
	if (share > 0 && share < 0.00005)
		return "<0.01%";
	if (share < 1 && share >= 0.99995)
		return ">99.99%";
	return strcat(format_fixed(share * 100, 2, buffer, FORMAT_SIZE - 1), "%");
}

static const char *format_bound(double bound, int decimals, char *buffer, size_t size)
{
	char *text = format_fixed((bound < 1 ? bound : 1) * 100, decimals, buffer, size);
	if (!strncmp(text, "100.", 4))
		text[3] = '\0';
	return text;
}

/* A tenth of a percent is enough for what is neither small nor known better. */
const char *format_range(const struct term *term, const struct sp_share *share,
			 char buffer[FORMAT_SIZE])
{
	char low[16], high[16];
	int decimals = share->high < 0.1 || share->high - share->low < 0.01 ? 2 : 1;
	char *end = stpcpy(buffer, format_bound(share->low, decimals, low, sizeof(low)));
	end = stpcpy(end, term_glyph(term, "–", "-"));
	stpcpy(end, format_bound(share->high, decimals, high, sizeof(high)));
	return buffer;
}

const char *format_ratio(double ratio, bool percent, char buffer[FORMAT_SIZE])
{
	if (percent && ratio <= 1)
		return format_share(ratio, buffer);
	/* Three digits that count. */
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

/* The bracket that closes the one at `open`, or NULL. "->" closes nothing. */
static const char *closing(const char *open, char begin, char end)
{
	int depth = 0;
	for (const char *at = open; *at; at++) {
		if (*at == begin)
			depth++;
		else if (*at == end && !(end == '>' && at[-1] == '-') && --depth == 0)
			return at;
	}
	return NULL;
}

/* True where '<' at `at` is part of an operator's name. */
static bool is_operator(const char *name, const char *at)
{
	static const char word[] = "operator";
	size_t before = (size_t)(at - name), size = sizeof(word) - 1;
	while (before && name[before - 1] == '<')
		before--;
	return before >= size && !memcmp(name + before - size, word, size);
}

/* A copy with what is in the outermost brackets replaced by `dots`. */
static char *empty_brackets(const char *text, char begin, char end, const char *dots)
{
	size_t size = strlen(dots);
	char *copy = malloc(strlen(text) + 1), *to = copy; /* it never gets longer */
	for (const char *at = text; copy && *at;) {
		const char *close = NULL;
		if (*at == begin && !(begin == '<' && is_operator(text, at)))
			close = closing(at, begin, end);
		/* "(anonymous namespace)" and "()" say something, and dots need their room. */
		if (!close || (size_t)(close - at) <= size + 1 ||
		    !strncmp(at, "(anonymous namespace)", 21)) {
			*to++ = *at++;
			continue;
		}
		*to++ = begin;
		memcpy(to, dots, size);
		to += size;
		*to++ = end;
		at = close + 1;
	}
	if (copy)
		*to = '\0';
	return copy;
}

const char *name_shorten(const struct term *term, const char *name, int width, char **made)
{
	*made = NULL;
	if (!width || term_text_width(term, name) <= width)
		return name;
	const char *dots = term_glyph(term, "…", "~");
	char *plain = empty_brackets(name, '(', ')', dots);
	if (!plain || term_text_width(term, plain) <= width)
		return *made = plain;
	*made = empty_brackets(plain, '<', '>', dots);
	free(plain);
	return *made;
}

void format_bounds(const struct sp_weight *weight, uint64_t missing, uint64_t own,
		   double *low_ret, double *high_ret)
{
	double share = weight->share.value, part = (double)weight->weight;
	/* Of what it is a share: of all, or of what filters let pass. */
	double all = share > 0 ? part / share : 0;
	*low_ret = share > 0 ? part / (all + (double)missing) : 0;
	*high_ret = share > 0 ? (part + (double)own) / (all + (double)own) : 1;
}
