/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines like those of perf script 6.1, blanks and widths included, because programs parse them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cmd/script/script.h"
#include "memory.h"

static void put_offset(struct buffer *out, uint64_t offset)
{
	buffer_put(out, "+0x", 3);
	buffer_hex(out, offset, 0);
}

/*
 * Text of places of code (address, function, file), as in perf script. The text goes to
 * printer->out.
 */

/* Appends "(DSO)" or, with DSOFF, "(DSO+0xOFFSET)". */
static void place_put_dso(struct buffer *out, const struct sp_place *place, uint64_t fields)
{
	buffer_char(out, '(');
	buffer_name(out, place->dso);
	if (fields & FIELD(DSOFF) && place->is_mapped)
		put_offset(out, place->file_offset);
	buffer_char(out, ')');
}

/* Appends "NAME" or "NAME+0xOFFSET"; "[unknown]" without a name. */
static void place_put_symbol(struct buffer *out, const struct sp_place_frame *frame, bool offset)
{
	buffer_name(out, frame->name ? frame->name : "[unknown]");
	if (offset && frame->name)
		put_offset(out, frame->offset);
}

static void put_line(struct printer *printer, struct buffer *out, const struct sp_place *place,
		     const struct sp_place_frame *frame)
{
	if (!place->is_mapped)
		return;
	buffer_put(out, "\n  ", 3);
	if (!frame->file || !frame->line) {
		buffer_name(out, place->dso_name);
		buffer_format(out, "[%llx]", (unsigned long long)place->file_offset);
		return;
	}
	bool whole = printer->view->arguments->selection.whole_paths;
	buffer_name(out, whole ? frame->file : text_base_name(frame->file));
	buffer_format(out, ":%u", frame->line);
}

#define PLACE_FIELDS                                                                        \
	(FIELD(IP) | FIELD(SYM) | FIELD(SYMOFF) | FIELD(DSO) | FIELD(DSOFF) | FIELD(SRCLINE))

/* Returns the lines for a place in a call chain. They are made once and then reused. */
static const struct place_text *text_of(struct printer *printer, const struct sp_place *place,
					uint64_t fields)
{
	uint32_t wanted = (uint32_t)(fields & PLACE_FIELDS);
	if (place->number >= printer->place_count) {
		size_t count = (place->number + 1024) * 2;
		printer->places = xrealloc(printer->places, count * sizeof(*printer->places));
		memset(printer->places + printer->place_count, 0,
		       (count - printer->place_count) * sizeof(*printer->places));
		printer->place_count = count;
	}
	struct place_text *text = &printer->places[place->number];
	if (text->text && text->fields == wanted)
		return text;
	printer->scratch.count = 0;

	/* Writes a line for each function at a place of code, inlined functions first. */
	for (size_t i = 0; i < place->frame_count; i++) {
		const struct sp_place_frame *frame = sp_place_frame(place, i);
		if (fields & FIELD(IP)) {
			buffer_char(&printer->scratch, '\t');
			buffer_hex(&printer->scratch, place->ip, 16);
		}
		if (fields & FIELD(SYM)) {
			buffer_char(&printer->scratch, ' ');
			place_put_symbol(&printer->scratch, frame, fields & FIELD(SYMOFF));
		}
		if (fields & FIELD(DSO) && !frame->inlined) {
			buffer_char(&printer->scratch, ' ');
			place_put_dso(&printer->scratch, place, fields);
		}
		if (fields & FIELD(SRCLINE))
			put_line(printer, &printer->scratch, place, frame);
		if (frame->inlined)
			buffer_string(&printer->scratch, " (inlined)");
		buffer_char(&printer->scratch, '\n');
	}
	free(text->text);
	*text = (struct place_text){xmalloc(printer->scratch.count + 1),
				    (uint32_t)printer->scratch.count, wanted};
	memcpy(text->text, printer->scratch.text, printer->scratch.count);
	return text;
}

/* Returns true if --stop-bt names a function of the place: the call chain ends there. */
static bool stops_at(const struct printer *printer, const struct sp_place *place)
{
	const struct option_strings *stops = &printer->view->arguments->stops;
	for (size_t i = 0; i < stops->count; i++)
		for (size_t j = 0; j < place->frame_count; j++) {
			const char *name = sp_place_frame(place, j)->name;
			if (name && !strcmp(name, stops->items[i]))
				return true;
		}
	return false;
}

/*
 * Appends the call chain, a line for each function, up to the first function that --stop-bt names.
 */
static void place_put_chain(struct printer *printer, const struct sp_script_item *item,
			    uint64_t fields)
{
	buffer_char(&printer->out, '\n');
	for (size_t i = 0; i < item->chain_count; i++) {
		const struct place_text *text = text_of(printer, item->chain[i], fields);
		buffer_put(&printer->out, text->text, text->size);
		if (stops_at(printer, item->chain[i]))
			break;
	}
}

/*
 * Appends the sampled place after the other fields of its sample: the ip, and the symbol and dso if
 * `fields` has them. The symbol is the function that is not inlined. The source line is on a line
 * of its own, and is that of the innermost inlined function.
 */
static void place_put(struct printer *printer, const struct sp_place *place, uint64_t fields)
{
	struct buffer *out = &printer->out;
	const struct sp_place_frame *frame = sp_place_frame(place, place->frame_count - 1);
	buffer_char(out, ' ');
	buffer_hex(out, place->ip, 16);
	if (fields & FIELD(SYM)) {
		buffer_char(out, ' ');
		place_put_symbol(out, frame, fields & FIELD(SYMOFF));
	}
	if (fields & FIELD(DSO)) {
		buffer_char(out, ' ');
		place_put_dso(out, place, fields);
	}
	if (fields & FIELD(SRCLINE))
		put_line(printer, out, place, sp_place_frame(place, 0));
}

#define NS_PER_SECOND UINT64_C(1000000000)

void printer_deinit(struct printer *printer)
{
	script_counters_deinit(&printer->counters);
	for (size_t i = 0; i < printer->place_count; i++)
		free(printer->places[i].text);
	free(printer->places);
	buffer_deinit(&printer->out);
	buffer_deinit(&printer->scratch);
	sp_trace_free(printer->trace);
	disassembly_deinit(&printer->disassembly);
	sp_teller_free(printer->teller);
}

const struct sp_event *script_event_of(const struct printer *printer,
				       const struct sp_script_item *item)
{
	const struct sp_record *record = item->record;
	const struct sp_reader *reader = printer->view->reader;
	size_t count = sp_reader_event_count(reader);
	bool sample = record->type == PERF_RECORD_SAMPLE;
	uint64_t present = sample ? record->sample.present : record->id.present;
	uint64_t id = sample ? record->sample.id : record->id.id;
	if (record->event != SP_EVENT_NONE)
		return sp_reader_event(reader, record->event);
	bool none = present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) && !id;
	if (!sample && count && !sp_reader_event(reader, 0)->attr.sample_id_all)
		none = true;
	return count == 1 || (count && none) ? sp_reader_event(reader, 0) : NULL;
}

static uint64_t fields_of(const struct printer *printer, const struct sp_event *event)
{
	return printer->view->arguments->fields.kinds[kind_of(&event->attr)].fields;
}

static void put_time(struct printer *printer, uint64_t time_ns)
{
	const struct script_arguments *arguments = printer->view->arguments;
	uint64_t shown = time_ns;
	if (arguments->relative_time) {
		if (!printer->first_ns)
			printer->first_ns = time_ns;
		shown = time_ns - printer->first_ns;
	} else if (arguments->delta_time) {
		shown = printer->previous_ns ? time_ns - printer->previous_ns : 0;
		printer->previous_ns = time_ns;
	}
	if (arguments->ns) {
		buffer_decimal(&printer->out, shown / NS_PER_SECOND, 5, ' ');
		buffer_char(&printer->out, '.');
		buffer_decimal(&printer->out, shown % NS_PER_SECOND, 9, '0');
	} else {
		/* At least 12 columns: five of seconds, a point, and six digits. */
		buffer_decimal(&printer->out, shown / NS_PER_SECOND, 5, ' ');
		buffer_char(&printer->out, '.');
		buffer_decimal(&printer->out, shown % NS_PER_SECOND / 1000, 6, '0');
	}
	buffer_put(&printer->out, ": ", 2);
}

static void put_time_of_day(struct printer *printer, uint64_t time_ns)
{
	const struct sp_file_info *info = printer->view->info;
	char date[64];
	struct tm local;
	uint64_t wall_ns = info->clock_wall_ns + (time_ns - info->clock_ns);
	time_t seconds = (time_t)(wall_ns / NS_PER_SECOND);
	if (!localtime_r(&seconds, &local) ||
	    !strftime(date, sizeof(date), "%F %H:%M:%S", &local))
		return;
	buffer_string(&printer->out, date);
	if (printer->view->arguments->ns)
		buffer_format(&printer->out, ".%09u ", (unsigned int)(wall_ns % NS_PER_SECOND));
	else
		buffer_format(&printer->out, ".%06u ",
			      (unsigned int)(wall_ns % NS_PER_SECOND / 1000));
}

/* Thread, CPU and time of samples and other records. */
struct stamp {
	uint32_t pid, tid, cpu;
	uint64_t time_ns;
};

static struct stamp stamp_of(const struct sp_script_item *item, const struct sp_event *event)
{
	const struct sp_record *record = item->record;
	bool sample = record->type == PERF_RECORD_SAMPLE;
	uint64_t present = sample ? record->sample.present : record->id.present;
	/* perf prints a missing value as -1. */
	struct stamp stamp = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX};
	if (!sample && !event->attr.sample_id_all) {
		bool task = record->type == PERF_RECORD_FORK || record->type == PERF_RECORD_EXIT;
		return (struct stamp){item->pid, item->tid, 0, task ? record->task.time_ns : 0};
	}
	if (present & PERF_SAMPLE_TID) {
		stamp.pid = sample ? record->sample.pid : record->id.pid;
		stamp.tid = sample ? record->sample.tid : record->id.tid;
	}
	if (present & PERF_SAMPLE_CPU)
		stamp.cpu = sample ? record->sample.cpu : record->id.cpu;
	if (present & PERF_SAMPLE_TIME)
		stamp.time_ns = item->time_ns;
	return stamp;
}

/* Prints a number in at least 5 columns, as perf's %5d. */
static void put_number(struct printer *printer, uint32_t number)
{
	buffer_signed(&printer->out, (int32_t)number, 5);
}

static void put_tasks(struct printer *printer, uint64_t fields, const struct stamp *stamp)
{
	struct buffer *out = &printer->out;
	if (fields & FIELD(PID) && fields & FIELD(TID)) {
		put_number(printer, stamp->pid);
		buffer_char(out, '/');
		size_t begin = out->count;
		buffer_signed(out, (int32_t)stamp->tid, 0);
		buffer_pad(out, begin, 5);
		buffer_char(out, ' ');
	} else if (fields & (FIELD(PID) | FIELD(TID))) {
		put_number(printer, fields & FIELD(PID) ? stamp->pid : stamp->tid);
		buffer_char(out, ' ');
	}
}

/* Prints the virtual machine that a sample belongs to. */
static void put_machine(struct printer *printer, const struct sp_record *record, uint64_t fields)
{
	bool sample = record->type == PERF_RECORD_SAMPLE;
	const struct script_machine *machine =
		view_machine(printer->view, sample ? record->sample.id : record->id.id);
	if (!machine || !machine->pid)
		return;
	if (fields & FIELD(MACHINE_PID))
		buffer_format(&printer->out, "VM:%5d ", (int)machine->pid);
	if (fields & FIELD(VCPU))
		buffer_format(&printer->out, "VCPU:%03d ", (int)machine->vcpu);
}

static void put_start(struct printer *printer, const struct sp_script_item *item,
		      const struct sp_event *event, uint64_t fields)
{
	struct buffer *out = &printer->out;
	const struct stamp stamp = stamp_of(item, event);
	if (fields & (FIELD(MACHINE_PID) | FIELD(VCPU)))
		put_machine(printer, item->record, fields);
	if (fields & FIELD(COMM)) {
		bool chains = fields & FIELD(IP) && printer->view->chains &&
			      event->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
		if (chains)
			buffer_name(out, item->comm);
		else
			buffer_right(out, item->comm, 16);
		buffer_char(out, ' ');
	}
	put_tasks(printer, fields, &stamp);
	if (fields & FIELD(CPU)) {
		buffer_char(out, '[');
		if (stamp.cpu == UINT32_MAX)
			buffer_put(out, "-01", 3);
		else
			buffer_decimal(out, stamp.cpu, 3, '0');
		buffer_put(out, "] ", 2);
	}
	if (fields & FIELD(MISC)) {
		char misc[32];
		size_t begin = out->count;
		sp_misc_text(item->record->type, item->record->misc, misc, sizeof(misc));
		buffer_string(out, misc);
		buffer_char(out, ' ');
		buffer_pad(out, begin, 6);
	}
	if (fields & FIELD(TOD))
		put_time_of_day(printer, stamp.time_ns);
	if (fields & FIELD(TIME))
		put_time(printer, stamp.time_ns);
}

/* Returns true for events with sampled data addresses that may have a symbol. */
static bool address_has_name(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
		attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static void put_address(struct printer *printer, const struct sp_sample *sample,
			const struct perf_event_attr *attr, uint64_t fields)
{
	struct buffer *out = &printer->out;
	buffer_hex(out, sample->addr, 16);
	if (!address_has_name(attr))
		return;
	const struct sp_place *place = sp_teller_place(printer->teller, sample->addr);
	if (!place)
		memory_end();
	if (fields & FIELD(SYM)) {
		buffer_char(out, ' ');
		place_put_symbol(out, sp_place_frame(place, place->frame_count - 1),
				 fields & FIELD(SYMOFF));
	}
	if (fields & FIELD(DSO)) {
		buffer_char(out, ' ');
		place_put_dso(out, place, fields);
	}
}

/* Prints the data source, padded to the widest text so far. */
static void put_source(struct printer *printer, uint64_t data_src)
{
	char text[SP_WORDS_SIZE];
	struct buffer *out = &printer->out;
	size_t begin = out->count;
	sp_data_src_text(data_src, text, sizeof(text));
	buffer_hex(out, data_src, 16);
	buffer_char(out, ' ');
	buffer_string(out, text);
	if (out->count - begin > printer->widest_source)
		printer->widest_source = out->count - begin;
	buffer_pad(out, begin, printer->widest_source);
}

static void put_registers(struct printer *printer, const struct sp_registers *registers)
{
	size_t next = 0;
	if (!registers->values)
		return;
	buffer_format(&printer->out, " ABI:%llu ", (unsigned long long)registers->abi);
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(registers->mask >> bit & 1))
			continue;
		const char *name = sp_register_name(printer->view->architecture, bit);
		buffer_format(&printer->out, "%5s:0x%llx ", name ? name : "unknown",
			      (unsigned long long)registers->values[next++]);
	}
}

static void put_branch_end(struct printer *printer, uint64_t ip, uint64_t fields)
{
	struct buffer *out = &printer->out;
	const struct sp_place *place = NULL;
	if (fields & (FIELD(DSO) | FIELD(BRSTACKSYM) | FIELD(BRSTACKOFF)))
		place = sp_teller_place(printer->teller, ip);
	if (!(fields & FIELD(BRSTACK)) && fields & FIELD(BRSTACKSYM)) {
		if (place)
			place_put_symbol(out, sp_place_frame(place, place->frame_count - 1), true);
	} else {
		bool offset = !(fields & FIELD(BRSTACK)) && place && place->is_mapped &&
			      place->cpumode == PERF_RECORD_MISC_USER;
		buffer_put(out, "0x", 2);
		buffer_hex(out, offset ? place->file_offset : ip, 0);
	}
	if (fields & FIELD(DSO) && place)
		place_put_dso(out, place, fields);
}

static void put_branches(struct printer *printer, const struct sp_sample *sample, uint64_t fields)
{
	char flags[SP_WORDS_SIZE];
	for (size_t i = 0; i < sample->branch_count; i++) {
		/* perf 6.1 prints blanks before addresses, but not before names. */
		if (fields & (FIELD(BRSTACK) | FIELD(BRSTACKOFF)))
			buffer_char(&printer->out, ' ');
		put_branch_end(printer, sample->branches[i].from, fields);
		buffer_char(&printer->out, '/');
		put_branch_end(printer, sample->branches[i].to, fields);
		sp_branch_flags_text(sample->branches[i].flags, flags, sizeof(flags));
		buffer_string(&printer->out, flags);
		buffer_char(&printer->out, ' ');
	}
}

/* Prints the output of a BPF program: eight bytes a line, and as a string if it is one. */
static void put_bpf_output(struct buffer *out, const struct sp_bytes *raw)
{
	bool printable = true, ended = false;
	buffer_char(out, '\n');
	for (size_t line = 0; line < raw->size; line += 8) {
		size_t count = raw->size - line < 8 ? raw->size - line : 8;
		buffer_format(out, "%17s %04zx:", line ? "           " : "BPF output:", line);
		for (size_t i = 0; i < 8; i++) {
			if (i < count)
				buffer_format(out, " %02x", raw->bytes[line + i]);
			else
				buffer_put(out, "   ", 3);
		}
		buffer_put(out, "  ", 2);
		for (size_t i = 0; i < 8; i++) {
			unsigned char c = i < count ? raw->bytes[line + i] : ' ';
			bool shown = c >= ' ' && c < 0x7f;
			buffer_char(out, shown ? (char)c : '.');
			if (i >= count)
				continue;
			printable &= !(ended && c) && (shown || !c);
			ended |= !c;
		}
		buffer_char(out, '\n');
	}
	if (printable && ended)
		buffer_format(out, "%17s \"%s\"\n", "BPF string:", (const char *)raw->bytes);
}

/* Prints the fields before the sampled place. */
static void put_values(struct printer *printer, const struct sp_script_item *item,
		       const struct sp_event *event, uint64_t fields)
{
	const struct sp_sample *sample = &item->record->sample;
	struct sp_weights weights = sp_weight_parts(sample->present, sample->weight);
	struct buffer *out = &printer->out;
	if (fields & FIELD(TRACE) && printer->trace) {
		const char *text = sp_trace_text(printer->trace, event, sample);
		buffer_name(out, text ? text : "");
	}
	if (fields & FIELD(ADDR))
		put_address(printer, sample, &event->attr, fields);
	if (fields & FIELD(DATA_SRC))
		put_source(printer, sample->data_src);
	if (fields & FIELD(WEIGHT))
		buffer_decimal(out, sample->present & PERF_SAMPLE_WEIGHT ? sample->weight :
				    weights.latency, 16, ' ');
	if (fields & FIELD(INS_LAT))
		buffer_decimal(out, weights.instruction_latency, 16, ' ');
	if (fields & FIELD(RETIRE_LAT))
		buffer_decimal(out, weights.retire_latency, 16, ' ');
	if (fields & FIELD(TRANSACTION)) {
		char text[SP_WORDS_SIZE];
		sp_transaction_text(sample->transaction, text, sizeof(text));
		buffer_format(out, " %s", text);
	}
	if (fields & FIELD(CGROUP)) {
		const char *path = view_cgroup(printer->view, sample->cgroup);
		buffer_char(out, ' ');
		buffer_name(out, path ? path : "unknown");
	}
}

/* Prints the fields after the sampled place. */
static void put_more(struct printer *printer, const struct sp_script_item *item,
		     const struct sp_event *event, uint64_t fields)
{
	const struct sp_sample *sample = &item->record->sample;
	struct buffer *out = &printer->out;
	char text[SP_WORDS_SIZE];
	if (fields & FIELD(IREGS))
		put_registers(printer, &sample->interrupt_registers);
	if (fields & FIELD(UREGS))
		put_registers(printer, &sample->user_registers);
	if (fields & (FIELD(BRSTACK) | FIELD(BRSTACKSYM) | FIELD(BRSTACKOFF)))
		put_branches(printer, sample, fields);
	if (fields & FIELD(BPF_OUTPUT) && event->attr.type == PERF_TYPE_SOFTWARE &&
	    event->attr.config == PERF_COUNT_SW_BPF_OUTPUT)
		put_bpf_output(out, &sample->raw);
	if (fields & FIELDS_INSTRUCTION)
		script_put_instruction(printer, sample, fields);
	if (fields & FIELDS_BLOCKS)
		script_put_blocks(printer, event, sample, fields);
	if (fields & FIELD(PHYS_ADDR))
		buffer_hex(out, sample->phys_addr, 16);
	if (fields & FIELD(DATA_PAGE_SIZE)) {
		sp_page_size_text(sample->data_page_size, text, sizeof(text));
		buffer_format(out, " %s", text);
	}
	if (fields & FIELD(CODE_PAGE_SIZE)) {
		sp_page_size_text(sample->code_page_size, text, sizeof(text));
		buffer_format(out, " %s", text);
	}
}

/*
 * Prints the line of one event for a sample. `own` is the event that took the sample; `event` may
 * be another event with a counter value in the sample.
 */
static void sample_print(struct printer *printer, const struct sp_script_item *item,
			 const struct sp_event *own, const struct sp_event *event, uint64_t period)
{
	struct buffer *out = &printer->out;
	uint64_t fields = fields_of(printer, event);
	if (!fields)
		return;
	/* Raw data belong only to the event that took the sample. */
	if (event != own)
		fields &= ~(uint64_t)(FIELD(TRACE) | FIELD(BPF_OUTPUT));
	put_start(printer, item, event, fields);
	if (fields & FIELD(PERIOD)) {
		buffer_decimal(out, period, 10, ' ');
		buffer_char(out, ' ');
	}
	if (fields & FIELD(EVENT)) {
		buffer_right(out, event->name, (size_t)printer->view->name_width);
		buffer_put(out, ": ", 2);
	}
	put_values(printer, item, event, fields);
	if (fields & FIELD(IP)) {
		if (item->has_chain && printer->view->chains)
			place_put_chain(printer, item, fields);
		else if (item->place)
			place_put(printer, item->place, fields);
		else
			buffer_char(out, ' ');
	}
	put_more(printer, item, event, fields);
	buffer_char(out, '\n');
}

/*
 * Returns whether -e and the other filters show the item. Hidden samples are iterated too if samples
 * have counter values.
 */
static bool is_shown(const struct printer *printer, const struct sp_script_item *item,
		     const struct sp_event *event)
{
	const struct option_strings *events = &printer->view->arguments->selection.events;
	bool of_event = !events->count;
	for (size_t i = 0; i < events->count; i++)
		of_event |= !strcmp(events->items[i], event->name);
	return of_event && !item->hidden;
}

static void put_sample(struct printer *printer, const struct sp_script_item *item)
{
	const struct sp_event *own = script_event_of(printer, item);
	const struct sp_sample *sample = &item->record->sample;
	if (!own)
		return;
	if (!printer->view->counters || !(sample->present & PERF_SAMPLE_READ)) {
		if (is_shown(printer, item, own))
			sample_print(printer, item, own, own, script_period(sample, own));
		return;
	}
	for (size_t i = 0; i < sample->counters.count; i++) {
		uint64_t period;
		const struct sp_event *event;
		event = script_counter_increase(printer, own, sample, i, &period);
		if (event && is_shown(printer, item, event))
			sample_print(printer, item, own, event, period);
	}
}

void script_put_text(struct printer *printer, const struct sp_script_item *item)
{
	if (item->record->type == PERF_RECORD_SAMPLE) {
		put_sample(printer, item);
		return;
	}
	const struct sp_event *event = script_event_of(printer, item);
	if (event)
		put_start(printer, item, event, fields_of(printer, event));
	script_put_record(printer, item->record);
}
