/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types shared by the parts of sprof script. */
#ifndef CMD_SCRIPT_SCRIPT_H
#define CMD_SCRIPT_SCRIPT_H

#include <stdio.h>
#include <sprof/sprof.h>
#include <sprof/private/words.h>
#include "disassembly.h"
#include "buffer.h"
#include "cmd/common/recordings.h"
#include "cmd/script/line_fields.h"
#include "list.h"
#include "options.h"

enum script_format { SCRIPT_TEXT, SCRIPT_JSON, SCRIPT_DUMP };

struct script_arguments {
	struct selection selection;
	enum script_format format;
	struct script_fields fields;
	bool show_tasks, show_mmaps, show_switches, show_namespaces, show_losses, show_bpf,
		show_cgroups, show_text_pokes, show_rounds;
	bool ns, delta_time, relative_time;
	bool header, header_only, no_chains;
	struct option_strings stops; /* --stop-bt: functions that end a call chain */
	uint64_t max_stack, max_blocks; /* 0: no limit */
};

/* Parses the command line, with the contract of report_arguments_parse(). */
int script_arguments_parse(struct script_arguments *arguments, int argc, char **argv);
void script_arguments_deinit(struct script_arguments *arguments);

/* Name of a cgroup by its id. */
struct script_cgroup {
	uint64_t id;
	char *path;
};

/* Virtual machine; the events with a sample id count its execution. */
struct script_machine {
	uint64_t id, pid, vcpu;
};

/* Facts about the recording. All threads read them; none changes them. */
struct script_view {
	const struct script_arguments *arguments;
	struct sp_ctx *ctx;
	const struct recordings *recordings; /* one recording; borrowed */
	const struct sp_reader *reader;
	const struct sp_file_info *info;
	enum sp_architecture architecture;
	enum text_form form;              /* form in which names are written */
	int name_width;                   /* width of the longest event name */
	bool traces;                      /* tracepoint fields can be printed */
	bool chains;                      /* call chains are shown, if samples have them */
	bool counters;                    /* each counter value in a sample is printed as a sample of that
					   * counter's event */
	LIST(struct script_cgroup) cgroups;   /* ordered by id */
	LIST(struct script_machine) machines; /* ordered by sample id; filled if a field needs them */
	unsigned int branch_counter_width; /* width in bits of each counter in a branch entry */
};

/* Constant of Linux 6.8, in case the build's header is older. */
#define SCRIPT_BRANCH_COUNTERS (UINT64_C(1) << 19)

/* Returns whether any kind of events prints one of these fields. */
bool script_has_field(const struct script_arguments *arguments, uint64_t fields);

/*
 * Initializes the view, which view_deinit() frees. Reads the whole recording if a field needs that.
 */
void view_init(struct script_view *view, struct sp_ctx *ctx,
	       const struct script_arguments *arguments,
	       const struct recordings *recordings);
void view_deinit(struct script_view *view);

/* Returns the virtual machine of events with that sample id; NULL: none. */
const struct script_machine *view_machine(const struct script_view *view, uint64_t id);

const char *view_cgroup(const struct script_view *view, uint64_t id);

/* Text of a place, cached after its first use. */
struct place_text {
	char *text;
	uint32_t size;
	uint32_t fields; /* fields that the text contains: FIELD_IP, SYM, … */
};

/* Last value of each counter in samples. Zeroed: none yet. */
struct script_counters {
	struct script_counter *slots;
	size_t capacity, count;
};

/* State of one thread that formats records as text. */
struct printer {
	const struct script_view *view;
	struct sp_teller *teller;
	struct sp_trace *trace; /* tracepoint formats; NULL: not needed or unknown */
	struct buffer out;
	struct buffer scratch;
	struct place_text *places; /* cached texts, by place number */
	size_t place_count;
	uint64_t previous_ns;      /* time of the previous line; 0: first line */
	uint64_t first_ns;
	size_t widest_source;      /* width of the longest data_src text printed so far */
	struct script_counters counters;
	struct disassembly disassembly;
};

void printer_deinit(struct printer *printer);

/*
 * Returns whether each sample is printed once for each of its counter values. Then a single thread
 * prints all records in file order.
 */
bool script_has_counters(const struct script_arguments *arguments, const struct sp_reader *reader);

/*
 * Returns the event of counter `index` in a sample of `event`; *period_ret is the counter's increase
 * since its last sample. Returns NULL if the counter did not change or has no event.
 */
const struct sp_event *script_counter_increase(struct printer *printer, const struct sp_event *event,
					       const struct sp_sample *sample, size_t index,
					       uint64_t *period_ret);
void script_counters_deinit(struct script_counters *counters);

/* Appends an item's text to printer->out. */
void script_put_text(struct printer *printer, const struct sp_script_item *item);
void script_put_json(struct printer *printer, const struct sp_script_item *item);
void script_put_dump(struct printer *printer, const struct sp_script_item *item);

/*
 * Returns the event that gives an item its name and fields; NULL if it is unknown. As in perf,
 * records with id 0 have the first event: the recorder synthesized them. If the first event has no
 * sample_id_all, all records except samples have the first event, too.
 */
const struct sp_event *script_event_of(const struct printer *printer,
				       const struct sp_script_item *item);

/* Returns a sample's period; its event's, if samples do not state theirs. */
static inline uint64_t script_period(const struct sp_sample *sample, const struct sp_event *event)
{
	return sample->present & PERF_SAMPLE_PERIOD || !event ? sample->period
							      : event->attr.sample_period;
}

/* Appends the instruction at the sampled address: INSN, INSNLEN, DISASM of `fields`. */
void script_put_instruction(struct printer *printer, const struct sp_sample *sample,
			    uint64_t fields);

/* Prints the instructions between the sample's branches, on lines of their own. */
void script_put_blocks(struct printer *printer, const struct sp_event *event,
		       const struct sp_sample *sample, uint64_t fields);

/* Prints a record other than a sample as perf does, from "PERF_RECORD_…" to the end of the line. */
void script_put_record(struct printer *printer, const struct sp_record *record);

struct json;

/* Writes the JSON fields of a record that perf itself writes (types 64 and up). */
void script_put_user_fields(struct json *json, const struct sp_record *record);

#endif
