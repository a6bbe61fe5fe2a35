/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/file_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "diag.h"

#define NS_PER_SECOND 1000000000.0
#define SECONDS_MAX (365.0 * 24 * 3600)

struct size_unit {
	char letter;
	double value;
};

static const struct size_unit sizes[] = {
	{'B', 1}, {'K', 1 << 10}, {'M', 1 << 20}, {'G', 1 << 30}, {0, 0}};
static const struct size_unit times[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {0, 0}};

/* Parses a whole number with one of the units, as in perf: '100M', '30s'. */
static bool parse_with_unit(const char *text, const struct size_unit *units, double most,
			    double *ret)
{
	size_t digits = strspn(text, "0123456789");
	char *end;
	if (!digits || !text[digits] || text[digits + 1])
		return false;
	for (const struct size_unit *unit = units; unit->letter; unit++) {
		if (unit->letter != text[digits])
			continue;
		*ret = strtod(text, &end) * unit->value;
		return *ret > 0 && *ret <= most;
	}
	return false;
}

bool record_parse_max_size(const struct option *option, const char *text)
{
	double size;
	uint64_t bytes;
	if (option_text_number(text, 1, INT64_MAX, &bytes))
		*(uint64_t *)option->value = bytes;
	else if (parse_with_unit(text, sizes, 0x1p62, &size))
		*(uint64_t *)option->value = (uint64_t)size;
	else
		return option_reject(option, text, "a size such as 500M or 2G");
	return true;
}

bool record_parse_switch_output(const struct option *option, const char *text)
{
	struct record_options *options = option->value;
	double value;
	options->output.switch_on_demand = false;
	options->output.switch_bytes = options->output.switch_ns = 0;
	if (!text || !strcmp(text, "signal"))
		options->output.switch_on_demand = true;
	else if (parse_with_unit(text, sizes, 0x1p62, &value))
		options->output.switch_bytes = (uint64_t)value;
	else if (parse_with_unit(text, times, SECONDS_MAX, &value))
		options->output.switch_ns = (uint64_t)(value * NS_PER_SECOND);
	else
		return option_reject(option, text, "signal, a size (B, K, M or G) or a time (s, m, h or d), "
						   "such as 100M or 30s");
	return true;
}

bool record_parse_switch_event(const struct option *option, const char *text)
{
	struct record_options *options = option->value;
	options->output.switch_event = text;
	options->output.switch_on_demand |= !options->output.switch_bytes && !options->output.switch_ns;
	return true;
}

bool record_parse_overwrite(const struct option *option, const char *text)
{
	struct record_options *options = option->value;
	char *end = NULL;
	double seconds = text && *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
	options->buffers.overwrite = true;
	options->buffers.overwrite_ns = 0;
	if (text && (!(seconds > 0) || *end || seconds > SECONDS_MAX))
		return option_reject(option, text, "a number of seconds above 0");
	options->buffers.overwrite_ns = (uint64_t)(seconds * NS_PER_SECOND);
	return true;
}

void record_print_file(const struct sp_capture_file *file)
{
	diag_print("%s: %llu samples, %.1f MB", file->path, (unsigned long long)file->samples,
		   (double)file->bytes / 1e6);
}

void record_print_dump_size(struct sp_capture *capture)
{
	double bytes = (double)sp_capture_stats(capture)->dump_bytes;
	if (bytes > 0)
		diag_print("flight recorder: a dump has up to %.1f MB of samples (-m sets the size "
			   "of the ring buffers)", bytes / 1e6);
}

void record_print_size_limit(const struct sp_capture *capture, const struct record_options *options)
{
	uint64_t most = sp_capture_file_limit(capture);
	const char *path = options->output.path ? options->output.path : "sprof.data";
	if (!most)
		diag_print("%s has no size limit; --max-size sets one", path);
	else if (options->output.keep_files)
		diag_print("each file: at most %llu bytes; all files: at most %llu bytes",
			   (unsigned long long)most,
			   (unsigned long long)most * (options->output.keep_files + 1));
	else
		diag_print("%s: at most %llu bytes", path, (unsigned long long)most);
}
