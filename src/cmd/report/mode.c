/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options about the meaning of weights: --mode, and its default. */
#include <string.h>
#include "cmd/report/report_arguments.h"
#include "command.h"
#include "diag.h"
#include "input.h"

bool report_mode_parse(const struct option *option, const char *text)
{
	return option_store_mode(option, text, SP_MODE_WAKERS);
}

bool report_latency_parse(const struct option *option, const char *text)
{
	(void)text;
	*(int *)option->value = SP_MODE_LATENCY;
	return true;
}

bool report_wakers_parse(const struct option *option, const char *text)
{
	(void)text;
	*(int *)option->value = SP_MODE_WAKERS;
	return true;
}

/* Returns the first key that the mode does not have; SP_KEY_LIMIT: none. */
static enum sp_key missing_key(const struct report_arguments *arguments)
{
	for (size_t i = 0; i < arguments->key_count; i++) {
		enum sp_key key = arguments->keys[i];
		bool of_wakers = key == SP_KEY_WAKER || key == SP_KEY_WAKEE;
		if (of_wakers ? arguments->mode == SP_MODE_CPU :
		    (key == SP_KEY_STATE || key == SP_KEY_WAITS_FOR) &&
		    (arguments->mode == SP_MODE_CPU || arguments->mode == SP_MODE_WAKERS))
			return key;
	}
	return SP_KEY_LIMIT;
}

/* Returns whether a column of --fields shows time by state. */
static bool has_time_column(const struct report_arguments *arguments)
{
	for (size_t i = 0; i < arguments->column_count; i++)
		if (arguments->columns[i] >= REPORT_COLUMN_ON)
			return true;
	return false;
}

/* Returns false after printing that -e does not fit the mode. */
static bool check_events(const struct report_arguments *arguments)
{
	if (arguments->mode == SP_MODE_WAKERS && arguments->selection.events.count)
		diag_print(
			"-e and mode wakers do not go together: its event is sched:sched_waking");
	else if (arguments->selection.events.count > 1)
		diag_print("-e: mode %s has one on-CPU event: name one",
			   sp_mode_name((enum sp_mode)arguments->mode));
	else
		return true;
	return false;
}

bool report_mode_resolve(struct report_arguments *arguments, const struct recordings *recordings)
{
	bool others = arguments->branches == 1 || arguments->memory;
	if (arguments->mode < 0) {
		bool waits = recordings_have_waits(recordings->items, recordings->count);
		arguments->mode = waits && !others && !arguments->selection.events.count ?
				  SP_MODE_WALL : SP_MODE_CPU;
	}
	enum sp_key key = missing_key(arguments);
	if (key != SP_KEY_LIMIT || (arguments->mode == SP_MODE_CPU && has_time_column(arguments))) {
		diag_print("%s needs --mode wall, off-cpu or %s",
			   key == SP_KEY_LIMIT ? "a column of -F" : sp_key_name(key),
			   key == SP_KEY_WAKER || key == SP_KEY_WAKEE ? "wakers" : "latency");
		return false;
	}
	if (arguments->mode == SP_MODE_CPU)
		return true;
	if (others) {
		diag_print("--mode and %s do not go together",
			   arguments->memory ? "--mem-mode" : "-b");
		return false;
	}
	if (!check_events(arguments))
		return false;
	arguments->branches = 0;
	return true;
}
