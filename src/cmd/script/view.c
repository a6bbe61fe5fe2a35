/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads facts that must be known before the first record is printed, mostly names for ids. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <sprof/private/describe.h>
#include "cmd/script/script.h"
#include "diag.h"
#include "memory.h"
#include "text.h"

/* perf's header features about PMUs' capabilities. */
#define CPU_PMU_CAPS 28
#define PMU_CAPS 31

bool script_has_field(const struct script_arguments *arguments, uint64_t field)
{
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (arguments->fields.kinds[i].fields & field)
			return true;
	return false;
}

static int compare_machines(const void *a, const void *b)
{
	const struct script_machine *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_cgroups(const void *a, const void *b)
{
	const struct script_cgroup *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

const char *view_cgroup(const struct script_view *view, uint64_t id)
{
	const struct script_cgroup key = {.id = id};
	const struct script_cgroup *found =
		view->cgroups.count ? bsearch(&key, view->cgroups.items, view->cgroups.count,
					      sizeof(key), compare_cgroups) : NULL;
	return found ? found->path : NULL;
}

/* Returns whether the samples of any event contain a cgroup id. */
static bool has_cgroups(const struct sp_reader *reader)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++)
		if (sp_reader_event(reader, i)->attr.sample_type & PERF_SAMPLE_CGROUP)
			return true;
	return false;
}

const struct script_machine *view_machine(const struct script_view *view, uint64_t id)
{
	const struct script_machine key = {.id = id};
	return view->machines.count ? bsearch(&key, view->machines.items, view->machines.count,
					      sizeof(key), compare_machines) : NULL;
}

/* Adds the virtual machine of each sample id that belongs to a guest. */
static void add_machines(struct script_view *view, const struct sp_id_index *index)
{
	for (size_t i = 0; index->machines && i < index->count; i++)
		if (index->machines[i].machine_pid)
			*list_push(&view->machines) = (struct script_machine){
				index->entries[i].id, index->machines[i].machine_pid,
				index->machines[i].vcpu};
}

/* Reads all records to find the names of cgroups and the virtual machines. */
static void read_others(struct script_view *view, struct sp_reader *reader)
{
	for (;;) {
		const struct sp_record *record = NULL;
		struct sp_error *error = sp_reader_next(reader, &record);
		bool damaged = error && sp_error_code(error) == SP_ERROR_FORMAT;
		sp_error_free(error); /* damage is printed at the end */
		if (!record && !damaged)
			break;
		if (record && record->type == PERF_RECORD_CGROUP)
			*list_push(&view->cgroups) = (struct script_cgroup){
				record->cgroup.id, xstrdup(record->cgroup.path)};
		if (record && record->type == SP_RECORD_ID_INDEX)
			add_machines(view, &record->id_index);
	}
	sp_reader_rewind(reader);
	if (view->cgroups.count)
		qsort(view->cgroups.items, view->cgroups.count, sizeof(struct script_cgroup),
		      compare_cgroups);
	if (view->machines.count)
		qsort(view->machines.items, view->machines.count, sizeof(struct script_machine),
		      compare_machines);
}

/* Returns whether tracepoint formats are needed and available. */
static bool has_traces(const struct script_view *view)
{
	bool wanted = false;
	struct sp_trace *trace;
	if (view->arguments->format == SCRIPT_TEXT && !script_has_field(view->arguments, FIELD(TRACE)))
		return false;
	for (size_t i = 0; i < sp_reader_event_count(view->reader); i++)
		wanted |= sp_reader_event(view->reader, i)->attr.type == PERF_TYPE_TRACEPOINT;
	if (!wanted || view->arguments->format == SCRIPT_DUMP)
		return false;
	struct sp_error *error = sp_trace_new(view->ctx, view->reader, &trace);
	/* Damage is printed at the end, with all other damage. */
	if (error && sp_error_code(error) == SP_ERROR_FORMAT) {
		sp_error_free(error);
		return false;
	}
	if (error) {
		diag_error(error);
		return false;
	}
	sp_trace_free(trace);
	return true;
}

/*
 * Returns the width in bits of a branch counter. If no header feature has it: 2, as on current Intel
 * CPUs.
 */
static unsigned int counter_width(const struct sp_reader *reader)
{
	static const unsigned int features[] = {CPU_PMU_CAPS, PMU_CAPS};
	unsigned int width = 2;
	for (size_t i = 0; i < 2; i++) {
		struct sp_description *caps = NULL;
		sp_error_free(sp_description_new(reader, features[i], &caps));
		for (size_t j = 0; caps && j < sp_description_count(caps); j++) {
			const struct sp_description_row *row = sp_description_row(caps, j);
			uint64_t value;
			if (!strcmp(text_base_name(row->name), "branch_counter_width") &&
			    option_text_number(row->value, 1, 32, &value))
				width = (unsigned int)value;
		}
		sp_description_free(caps);
	}
	return width;
}

void view_init(struct script_view *view, struct sp_ctx *ctx,
	       const struct script_arguments *arguments, const struct recordings *recordings)
{
	struct utsname here;
	struct sp_reader *reader = recordings->items[0].reader;
	const struct sp_file_info *info = sp_reader_info(reader);
	*view = (struct script_view){.arguments = arguments, .ctx = ctx,
				     .recordings = recordings, .reader = reader, .info = info,
				     .form = text_form_of(STDOUT_FILENO)};
	view->traces = has_traces(view);
	/* A recording without an architecture is assumed to be from this machine, as in perf. */
	const char *machine = info->arch ? info->arch : uname(&here) ? NULL : here.machine;
	view->architecture = sp_architecture_parse(machine);
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		int width = (int)strlen(event->name);
		if (width > view->name_width)
			view->name_width = width;
		view->chains |= !arguments->no_chains &&
				event->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
	}
	view->counters = script_has_counters(arguments, reader);
	if (script_has_field(arguments, FIELD(BRCNTR)))
		view->branch_counter_width = counter_width(reader);
	bool machines = script_has_field(arguments, FIELD(MACHINE_PID) | FIELD(VCPU));
	if (machines || has_cgroups(reader))
		read_others(view, reader);
}

void view_deinit(struct script_view *view)
{
	for (size_t i = 0; i < view->cgroups.count; i++)
		free(view->cgroups.items[i].path);
	free(view->cgroups.items);
	free(view->machines.items);
}
