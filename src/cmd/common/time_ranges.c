/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/time_ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "diag.h"
#include "input.h"
#include "memory.h"
#include "options.h"

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_DAY (24 * 3600 * NS_PER_S)

/* Parses "10%" as 0.1; *end is at the '%'. Returns false if it is no percentage. */
static bool text_percent(const char *text, char **end, double *ret)
{
	return option_text_percent(text, end, ret) && **end == '%';
}

/* Parses "10%-20%", perf's "10%/2" (the second tenth), or "10%" (the first). */
static bool parse_percent(const char *text, struct time_range *range)
{
	char *end;
	uint64_t number;
	range->percent = true;
	if (!text_percent(text, &end, &range->from))
		return false;
	if (end[1] == '/') {
		double part = range->from;
		if (!option_text_number(end + 2, 1, UINT32_MAX, &number) || part <= 0)
			return false;
		range->from = part * (double)(number - 1);
		range->to = part * (double)number;
		return range->to <= 1 + 1e-9;
	}
	if (end[1] == '\0') {
		range->to = range->from;
		range->from = 0;
		return range->to > 0;
	}
	return end[1] == '-' && text_percent(end + 2, &end, &range->to) && !end[1] &&
	       range->from < range->to;
}

/* Whether ns since 1970 can state the date. */
static bool is_date(const struct range_time *moment)
{
	return moment->year >= 1970 && moment->year < 2262 && moment->month >= 1 &&
	       moment->month <= 12 && moment->day >= 1 && moment->day <= 31;
}

/* Parses "[YYYY-MM-DDT]HH:MM[:SECONDS]". */
static bool parse_wall(const char *text, const char *end, struct range_time *ret)
{
	unsigned int hour, minute;
	int used = 0;
	bool dated =
		sscanf(text, "%4d-%2d-%2dT%n", &ret->year, &ret->month, &ret->day, &used) == 3;
	if (dated && used)
		text += used;
	else
		ret->year = ret->month = ret->day = 0;
	if (dated && !is_date(ret))
		return false;
	if (sscanf(text, "%2u:%2u%n", &hour, &minute, &used) != 2 || hour > 23 || minute > 59)
		return false;
	text += used;
	ret->ns = 0;
	if (text < end && (*text != ':' || !option_text_seconds(text + 1, end, &ret->ns)))
		return false;
	ret->ns += (hour * 60 + minute) * 60 * NS_PER_S;
	ret->kind = MOMENT_WALL;
	return text <= end && ret->ns < NS_PER_DAY;
}

/* Parses a number with a unit of time. */
static bool parse_length(const char *text, const char *end, uint64_t *ret)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", NS_PER_S}, {"m", 60 * NS_PER_S},
		{"min", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S},
	};
	size_t digits = strspn(text, "0123456789.");
	char number[64], *rest;
	if (text + digits >= end || !digits || digits >= sizeof(number))
		return false;
	memcpy(number, text, digits);
	number[digits] = '\0';
	double value = strtod(number, &rest);
	if (*rest)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strlen(units[i].name) != (size_t)(end - text) - digits ||
		    strncmp(units[i].name, text + digits, strlen(units[i].name)) != 0)
			continue;
		double ns = value * (double)units[i].ns;
		if (ns >= 0x1p63)
			return false;
		*ret = (uint64_t)(ns + 0.5);
		return true;
	}
	return false;
}

static bool parse_moment(const char *text, const char *end, struct range_time *ret)
{
	if (memchr(text, ':', (size_t)(end - text)))
		return parse_wall(text, end, ret);
	ret->kind = *text == '+' ? MOMENT_OFFSET : MOMENT_CLOCK;
	return option_text_seconds(text + (*text == '+'), end, &ret->ns);
}

/* Parses an end: after a time of day, "+SECONDS" counts from there, too. */
static bool parse_end(const char *text, const char *end, const struct range_time *begin,
		      struct range_time *ret)
{
	if (*text == '+' && parse_length(text + 1, end, &ret->ns)) {
		ret->kind = MOMENT_LENGTH;
		return ret->ns > 0;
	}
	if (!parse_moment(text, end, ret))
		return false;
	if (begin->kind == MOMENT_WALL && ret->kind == MOMENT_OFFSET)
		ret->kind = MOMENT_LENGTH;
	return ret->ns || ret->kind == MOMENT_OFFSET || ret->kind == MOMENT_WALL;
}

/* Parses a range "START,END"; one of both may be omitted. */
static bool parse_range(const char *text, struct time_range *range)
{
	const char *comma = strchr(text, ','), *end = text + strlen(text);
	if (!comma || end == text + 1)
		return false;
	if (comma > text && !parse_moment(text, comma, &range->begin))
		return false;
	range->has_end = comma + 1 < end;
	if (!range->has_end)
		return true;
	if (!parse_end(comma + 1, end, &range->begin, &range->end))
		return false;
	bool comparable = range->begin.kind == range->end.kind && range->begin.kind != MOMENT_WALL;
	return !comparable || comma == text || range->begin.ns <= range->end.ns;
}

bool time_ranges_parse(struct time_ranges *ranges, const char *text)
{
	bool parts = strchr(text, '%'), fine = true;
	char *copy = xstrdup(text), *rest = copy, *word;
	ranges->count = 0;
	while (fine && (word = strsep(&rest, parts ? ", " : " "))) {
		if (!*word)
			continue;
		fine = ranges->count < TIME_RANGES;
		if (!fine)
			break;
		struct time_range *range = &ranges->items[ranges->count++];
		*range = (struct time_range){0};
		fine = parts ? parse_percent(word, range) : parse_range(word, range);
	}
	fine = fine && ranges->count;
	free(copy);
	return fine;
}

/* Times of one recording. */
struct recorded {
	uint64_t first_ns, last_ns; /* first and last sample */
	const struct sp_file_info *info;
};

static uint64_t add_clamped(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Converts a time of the recording's clock to a time of day, in ns since 1970. */
static uint64_t wall_of(const struct recorded *of, uint64_t ns)
{
	return of->info->clock_wall_ns + (ns - of->info->clock_ns);
}

/*
 * Converts a time of day: without a date, of the day on which the recording began. It is of the
 * next day if that is within the recording, or if it were before `from_ns`, the range's begin.
 */
static uint64_t resolve_wall(const struct range_time *moment, const struct recorded *of,
			    uint64_t from_ns)
{
	time_t began = (time_t)(wall_of(of, of->first_ns) / NS_PER_S);
	struct tm local;
	localtime_r(&began, &local);
	if (moment->year) {
		local.tm_year = moment->year - 1900;
		local.tm_mon = moment->month - 1;
		local.tm_mday = moment->day;
	}
	for (int later = 0;; later++) {
		struct tm day = local;
		uint64_t seconds = moment->ns / NS_PER_S;
		day.tm_mday += later;
		day.tm_hour = (int)(seconds / 3600);
		day.tm_min = (int)(seconds / 60 % 60);
		day.tm_sec = (int)(seconds % 60);
		day.tm_isdst = -1;
		int64_t wall_ns = (int64_t)mktime(&day) * (int64_t)NS_PER_S +
				  (int64_t)(moment->ns % NS_PER_S);
		int64_t ns = (int64_t)((uint64_t)wall_ns - of->info->clock_wall_ns +
				       of->info->clock_ns);
		bool early = (double)ns < (double)(from_ns ?: of->first_ns);
		double next = (double)ns + (double)NS_PER_DAY;
		if (moment->year || later || !early ||
		    (!from_ns && next > (double)of->last_ns))
			return ns > 0 ? (uint64_t)ns : 0;
	}
}

static uint64_t resolve_moment(const struct range_time *moment, const struct recorded *of,
			       uint64_t from_ns)
{
	switch (moment->kind) {
	case MOMENT_OFFSET:
		return add_clamped(of->first_ns, moment->ns);
	case MOMENT_WALL:
		return resolve_wall(moment, of, from_ns);
	case MOMENT_LENGTH:
		return add_clamped(from_ns, moment->ns);
	default:
		return moment->ns;
	}
}

static struct sp_time_span resolve_range(const struct time_range *range, const struct recorded *of)
{
	double length = (double)(of->last_ns - of->first_ns);
	/* The end is exclusive: parts such as 0%-10% and 10%-20% share no sample. */
	if (range->percent)
		return (struct sp_time_span){
			of->first_ns + (uint64_t)(length * range->from),
			range->to >= 1 ? 0 : of->first_ns + (uint64_t)(length * range->to)};
	uint64_t begin_ns = resolve_moment(&range->begin, of, 0);
	if (!range->has_end)
		return (struct sp_time_span){begin_ns, 0};
	/* Converts an inclusive end to an exclusive one; 0 stands for no end. */
	bool inclusive = range->end.kind != MOMENT_LENGTH;
	return (struct sp_time_span){
		begin_ns, add_clamped(resolve_moment(&range->end, of, begin_ns), inclusive)};
}

bool time_ranges_resolve(const struct time_ranges *ranges, struct sp_reader *reader,
			struct sp_time_span *ret)
{
	struct recorded of = {.info = sp_reader_info(reader)};
	bool relative = false, wall = false;
	for (size_t i = 0; i < ranges->count; i++) {
		const struct time_range *range = &ranges->items[i];
		enum moment_kind begin = range->begin.kind, end = range->end.kind;
		wall |= begin == MOMENT_WALL || end == MOMENT_WALL;
		relative |= range->percent || begin == MOMENT_OFFSET || end == MOMENT_OFFSET;
	}
	if (wall && !of.info->has_clock) {
		diag_print("%s has no time of day for --time; give seconds after its first sample, "
			   "as in --time +1.5,+3", of.info->path);
		return false;
	}
	struct sp_error *error =
		relative || wall ? input_time(reader, &of.first_ns, &of.last_ns) : NULL;
	if (error) {
		diag_error(error);
		return false;
	}
	for (size_t i = 0; i < ranges->count; i++)
		ret[i] = resolve_range(&ranges->items[i], &of);
	return true;
}
