/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/control.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "diag.h"
#include "text.h"

static void print_fields(const struct perf_event_attr *attr)
{
	printf(": type: %u, config: 0x%llx, { sample_period, sample_freq }: %llu, "
	       "sample_type: 0x%llx, read_format: 0x%llx, freq: %u, exclude_user: %u, "
	       "exclude_kernel: %u, precise_ip: %u, inherit: %u",
	       attr->type, (unsigned long long)attr->config,
	       (unsigned long long)attr->sample_period, (unsigned long long)attr->sample_type,
	       (unsigned long long)attr->read_format, attr->freq, attr->exclude_user,
	       attr->exclude_kernel, attr->precise_ip, attr->inherit);
}

/* Prints the events like perf's evlist: names; with -v also fields, with -F frequencies. */
static void list_events(const struct sp_capture *capture, const char *how)
{
	if (how && strcmp(how, "-v") && strcmp(how, "-F") && strcmp(how, "-g")) {
		diag_say("--control: evlist takes -v, -F or -g, not '%s'", how);
		return;
	}
	enum text_form form = text_form_of(STDOUT_FILENO);
	for (size_t i = 0; i < sp_capture_event_count(capture); i++) {
		const struct perf_event_attr *attr = sp_capture_event_attr(capture, i);
		text_write(sp_capture_event_name(capture, i), form, stdout);
		if (how && !strcmp(how, "-v"))
			print_fields(attr);
		if (how && !strcmp(how, "-F"))
			printf(": sample_%s=%llu", attr->freq ? "freq" : "period",
			       (unsigned long long)attr->sample_period);
		putchar('\n');
	}
	fflush(stdout);
}

void record_control_run(struct control *control, struct sp_capture *capture, bool *stop_ret)
{
	enum control_command command;
	while ((command = control_next(control)) != CONTROL_NONE && command != CONTROL_END) {
		struct sp_error *error = NULL;
		if (command == CONTROL_ENABLE)
			error = sp_capture_enable(capture, control->argument);
		else if (command == CONTROL_DISABLE)
			error = sp_capture_disable(capture, control->argument);
		else if (command == CONTROL_EVLIST)
			list_events(capture, control->argument);
		else if (command == CONTROL_SNAPSHOT)
			error = sp_capture_snapshot(capture);
		*stop_ret |= command == CONTROL_STOP;
		diag_error(error);
		/*
		 * Acknowledges even failed commands, as perf does, because the sender waits for the
		 * answer.
		 */
		control_ack(control);
	}
}
