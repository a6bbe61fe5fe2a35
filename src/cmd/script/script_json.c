/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON output: an object on a line for each record, with every field by name. Addresses and flags are
 * hex strings, because many JSON readers would round such numbers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "cmd/script/script.h"
#include "json.h"
#include "memory.h"

static void put_bytes(struct json *json, const char *key, const uint8_t *bytes, size_t size)
{
	char *text = xcalloc(2 * size + 1, 1);
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	json_string(json, key, text);
	free(text);
}

static void put_words(struct json *json, const char *key, const uint64_t *words, size_t count)
{
	json_begin(json, key, '[');
	for (size_t i = 0; i < count; i++)
		json_hex(json, NULL, words[i]);
	json_end(json, ']');
}

static void put_place(struct json *json, const char *key, const struct sp_place *place)
{
	json_begin(json, key, '{');
	json_hex(json, "ip", place->ip);
	json_string(json, "dso", place->dso);
	if (place->is_mapped)
		json_hex(json, "file_offset", place->file_offset);
	if (place->has_elf_address)
		json_hex(json, "elf_address", place->elf_address);
	json_begin(json, "functions", '[');
	for (size_t i = 0; i < place->frame_count; i++) {
		const struct sp_place_frame *frame = sp_place_frame(place, i);
		if (!frame->name)
			continue;
		json_begin(json, NULL, '{');
		json_string(json, "name", frame->name);
		if (frame->from_cfi)
			json_string(json, "name_source", "cfi");
		json_hex(json, "offset", frame->offset);
		if (frame->inlined)
			json_bool(json, "inlined", true);
		json_string(json, "file", frame->file);
		if (frame->line)
			json_unsigned(json, "line", frame->line);
		json_end(json, '}');
	}
	json_end(json, ']');
	json_end(json, '}');
}

static void put_registers(struct printer *printer, struct json *json, const char *key,
			  const struct sp_registers *registers)
{
	size_t next = 0;
	char number[16];
	if (!registers->values)
		return;
	json_begin(json, key, '{');
	json_unsigned(json, "abi", registers->abi);
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(registers->mask >> bit & 1))
			continue;
		const char *name = sp_register_name(printer->view->architecture, bit);
		snprintf(number, sizeof(number), "bit%u%s", bit, name ? name : "");
		/*
		 * On x86, the two halves of a vector register have the same name, so the bit number is
		 * put before it.
		 */
		bool wide = printer->view->architecture == SP_ARCHITECTURE_X86 && bit >= 32;
		json_hex(json, name && !wide ? name : number, registers->values[next++]);
	}
	json_end(json, '}');
}

static void put_branches(struct printer *printer, struct json *json, const struct sp_sample *sample)
{
	char flags[SP_WORDS_SIZE];
	json_begin(json, "branches", '[');
	for (size_t i = 0; i < sample->branch_count; i++) {
		const struct sp_branch *branch = &sample->branches[i];
		struct sp_branch_flags parts = sp_branch_flags(branch->flags);
		const struct sp_place *from = sp_teller_place(printer->teller, branch->from);
		const struct sp_place *to = sp_teller_place(printer->teller, branch->to);
		const char *type = sp_branch_type_name(branch->flags);
		const char *spec = sp_branch_spec_name(branch->flags);
		const char *priv = sp_branch_priv_name(branch->flags);
		json_begin(json, NULL, '{');
		if (from && to) {
			put_place(json, "from", from);
			put_place(json, "to", to);
		}
		sp_branch_flags_text(branch->flags, flags, sizeof(flags));
		json_string(json, "flags", flags);
		json_bool(json, "mispredicted", parts.mispredicted);
		json_bool(json, "predicted", parts.predicted);
		json_unsigned(json, "cycles", parts.cycles);
		json_string(json, "type", type);
		json_string(json, "spec", spec);
		json_string(json, "priv", priv);
		if (sample->branch_counters)
			json_hex(json, "counters", sample->branch_counters[i]);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void put_counters(struct json *json, const struct sp_counters *counters)
{
	json_begin(json, "counters", '{');
	if (counters->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		json_unsigned(json, "time_enabled_ns", counters->time_enabled_ns);
	if (counters->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		json_unsigned(json, "time_running_ns", counters->time_running_ns);
	json_begin(json, "values", '[');
	for (size_t i = 0; i < counters->count; i++) {
		json_begin(json, NULL, '{');
		json_unsigned(json, "value", counters->values[i].value);
		if (counters->read_format & PERF_FORMAT_ID)
			json_unsigned(json, "id", counters->values[i].id);
		json_unsigned(json, "lost", counters->values[i].lost);
		json_end(json, '}');
	}
	json_end(json, ']');
	json_end(json, '}');
}

static void put_data_source(struct json *json, uint64_t data_src)
{
	char text[SP_WORDS_SIZE];
	json_begin(json, "data_src", '{');
	json_hex(json, "value", data_src);
	json_string(json, "op", sp_data_src_op_name(data_src));
	sp_data_src_level_text(data_src, text, sizeof(text));
	json_string(json, "level", text);
	sp_data_src_snoop_text(data_src, text, sizeof(text));
	json_string(json, "snoop", text);
	sp_data_src_tlb_text(data_src, text, sizeof(text));
	json_string(json, "tlb", text);
	json_string(json, "lock", sp_data_src_lock_name(data_src));
	sp_data_src_blocked_text(data_src, text, sizeof(text));
	json_string(json, "blocked", text);
	json_end(json, '}');
}

/* Writes the fields of memory accesses, transactions and similar samples. */
static void put_memory(struct printer *printer, struct json *json, const struct sp_sample *sample)
{
	char text[SP_WORDS_SIZE];
	uint64_t present = sample->present;
	struct sp_weights weights = sp_weight_parts(present, sample->weight);
	if (present & PERF_SAMPLE_WEIGHT)
		json_unsigned(json, "weight", sample->weight);
	if (present & PERF_SAMPLE_WEIGHT_STRUCT) {
		json_unsigned(json, "weight", weights.latency);
		json_unsigned(json, "ins_lat", weights.instruction_latency);
		json_unsigned(json, "retire_lat", weights.retire_latency);
	}
	if (present & PERF_SAMPLE_DATA_SRC)
		put_data_source(json, sample->data_src);
	if (present & PERF_SAMPLE_TRANSACTION) {
		sp_transaction_text(sample->transaction, text, sizeof(text));
		json_string(json, "transaction", text);
	}
	if (present & PERF_SAMPLE_PHYS_ADDR)
		json_hex(json, "phys_addr", sample->phys_addr);
	if (present & PERF_SAMPLE_CGROUP) {
		const char *path = view_cgroup(printer->view, sample->cgroup);
		json_unsigned(json, "cgroup_id", sample->cgroup);
		json_string(json, "cgroup", path);
	}
	if (present & PERF_SAMPLE_DATA_PAGE_SIZE)
		json_unsigned(json, "data_page_size", sample->data_page_size);
	if (present & PERF_SAMPLE_CODE_PAGE_SIZE)
		json_unsigned(json, "code_page_size", sample->code_page_size);
	if (present & PERF_SAMPLE_AUX)
		json_unsigned(json, "aux_size", sample->aux.size);
}

static void put_sample(struct printer *printer, struct json *json,
		       const struct sp_script_item *item)
{
	const struct sp_sample *sample = &item->record->sample;
	uint64_t present = sample->present;
	if (present & PERF_SAMPLE_STREAM_ID)
		json_unsigned(json, "stream_id", sample->stream_id);
	if (present & PERF_SAMPLE_PERIOD)
		json_unsigned(json, "period", sample->period);
	if (present & PERF_SAMPLE_ADDR)
		json_hex(json, "addr", sample->addr);
	if (item->place)
		put_place(json, "place", item->place);
	if (item->has_chain) {
		json_begin(json, "callchain", '[');
		for (size_t i = 0; i < item->chain_count; i++)
			put_place(json, NULL, item->chain[i]);
		json_end(json, ']');
	}
	if (present & PERF_SAMPLE_READ)
		put_counters(json, &sample->counters);
	if (present & PERF_SAMPLE_RAW) {
		const struct sp_event *event = item->record->event == SP_EVENT_NONE ? NULL :
			sp_reader_event(printer->view->reader, item->record->event);
		const char *text = event && printer->trace ?
					   sp_trace_text(printer->trace, event, sample) : NULL;
		put_bytes(json, "raw", sample->raw.bytes, sample->raw.size);
		json_string(json, "trace", text);
	}
	if (present & PERF_SAMPLE_BRANCH_STACK)
		put_branches(printer, json, sample);
	put_registers(printer, json, "user_registers", &sample->user_registers);
	put_registers(printer, json, "interrupt_registers", &sample->interrupt_registers);
	if (present & PERF_SAMPLE_STACK_USER)
		json_unsigned(json, "stack_size", sample->stack_dyn_size);
	put_memory(printer, json, sample);
}

static void put_mapping(struct json *json, const struct sp_record *record)
{
	const struct sp_mmap *mmap = &record->mmap;
	json_hex(json, "start", mmap->start);
	json_hex(json, "size", mmap->size);
	json_hex(json, "file_offset", mmap->file_offset);
	json_string(json, "filename", mmap->filename);
	if (record->type == PERF_RECORD_MMAP)
		return;
	json_unsigned(json, "prot", mmap->prot);
	json_unsigned(json, "flags", mmap->flags);
	if (mmap->build_id_size) {
		put_bytes(json, "build_id", mmap->build_id, mmap->build_id_size);
		return;
	}
	json_unsigned(json, "major", mmap->maj);
	json_unsigned(json, "minor", mmap->min);
	json_unsigned(json, "inode", mmap->ino);
	json_unsigned(json, "inode_generation", mmap->ino_generation);
}

static void put_namespaces(struct json *json, const struct sp_namespaces *namespaces)
{
	char number[24];
	json_begin(json, "namespaces", '{');
	for (size_t i = 0; i < namespaces->count; i++) {
		const char *name = sp_namespace_name(i);
		snprintf(number, sizeof(number), "%zu", i);
		json_begin(json, name ? name : number, '{');
		json_unsigned(json, "dev", namespaces->namespaces[i].dev);
		json_unsigned(json, "inode", namespaces->namespaces[i].ino);
		json_end(json, '}');
	}
	json_end(json, '}');
}

static void put_code_records(struct json *json, const struct sp_record *record)
{
	switch (record->type) {
	case PERF_RECORD_KSYMBOL:
		json_hex(json, "start", record->ksymbol.start);
		json_unsigned(json, "size", record->ksymbol.size);
		json_string(json, "kind", sp_ksymbol_type_name(record->ksymbol.type));
		json_unsigned(json, "flags", record->ksymbol.flags);
		json_string(json, "name", record->ksymbol.name);
		break;
	case PERF_RECORD_BPF_EVENT:
		json_string(json, "kind", sp_bpf_event_type_name(record->bpf_event.type));
		json_unsigned(json, "flags", record->bpf_event.flags);
		json_unsigned(json, "id", record->bpf_event.id);
		put_bytes(json, "tag", record->bpf_event.tag, sizeof(record->bpf_event.tag));
		break;
	case PERF_RECORD_TEXT_POKE:
		json_hex(json, "ip", record->text_poke.ip);
		put_bytes(json, "before", record->text_poke.before.bytes,
			  record->text_poke.before.size);
		put_bytes(json, "after", record->text_poke.after.bytes,
			  record->text_poke.after.size);
		break;
	case PERF_RECORD_ITRACE_START:
		json_signed(json, "trace_pid", (int32_t)record->itrace_start.pid);
		json_signed(json, "trace_tid", (int32_t)record->itrace_start.tid);
		break;
	case 21: /* AUX_OUTPUT_HW_ID, Linux 5.16 */
		json_hex(json, "hw_id", record->aux_output_hw_id.hw_id);
		break;
	case 22: /* CALLCHAIN_DEFERRED, Linux 6.19 */
		json_hex(json, "cookie", record->deferred.cookie);
		put_words(json, "ips", record->deferred.ips, record->deferred.count);
		break;
	default:
		break;
	}
}

static void put_aux(struct json *json, const struct sp_aux *aux)
{
	char flags[SP_WORDS_SIZE];
	json_hex(json, "offset", aux->offset);
	json_unsigned(json, "size", aux->size);
	sp_aux_flags_text(aux->flags, flags, sizeof(flags));
	json_string(json, "flags", flags);
}

static void put_switch(struct json *json, const struct sp_record *record)
{
	json_bool(json, "out", record->misc & PERF_RECORD_MISC_SWITCH_OUT);
	json_bool(json, "preempted", record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	if (record->type == PERF_RECORD_SWITCH)
		return;
	json_signed(json, "next_prev_pid", (int32_t)record->context_switch.next_prev_pid);
	json_signed(json, "next_prev_tid", (int32_t)record->context_switch.next_prev_tid);
}

static void put_kernel_record(struct json *json, const struct sp_record *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		put_mapping(json, record);
		break;
	case PERF_RECORD_COMM:
		json_string(json, "name", record->comm.comm);
		json_bool(json, "exec", record->misc & PERF_RECORD_MISC_COMM_EXEC);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		json_signed(json, "ppid", (int32_t)record->task.ppid);
		json_signed(json, "ptid", (int32_t)record->task.ptid);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		json_unsigned(json, "lost", record->lost.lost);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		json_unsigned(json, "id", record->throttle.id);
		json_unsigned(json, "stream_id", record->throttle.stream_id);
		break;
	case PERF_RECORD_READ:
		put_counters(json, &record->read.counters);
		break;
	case PERF_RECORD_AUX:
		put_aux(json, &record->aux);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		put_switch(json, record);
		break;
	case PERF_RECORD_NAMESPACES:
		put_namespaces(json, &record->namespaces);
		break;
	case PERF_RECORD_CGROUP:
		json_unsigned(json, "cgroup_id", record->cgroup.id);
		json_string(json, "cgroup", record->cgroup.path);
		break;
	default:
		put_code_records(json, record);
	}
}

/* Writes the fields of a record other than a sample. */
static void put_fields(struct json *json, const struct sp_record *record)
{
	if (record->type < 64)
		put_kernel_record(json, record);
	else
		script_put_user_fields(json, record);
}

static void put_head(struct printer *printer, struct json *json, const struct sp_script_item *item)
{
	const struct sp_record *record = item->record;
	bool sample = record->type == PERF_RECORD_SAMPLE;
	uint64_t present = sample ? record->sample.present : record->id.present;
	const char *name = sp_record_type_name(record->type);
	char number[16], mode[2] = {sp_cpumode_letter(record->misc), '\0'};
	snprintf(number, sizeof(number), "%u", record->type);
	json_string(json, "type", name ? name : number);
	json_hex(json, "offset", record->file_offset);
	json_unsigned(json, "misc", record->misc);
	if (sample)
		json_string(json, "cpumode", mode);
	if (record->event != SP_EVENT_NONE)
		json_string(json, "event",
			    sp_reader_event(printer->view->reader, record->event)->name);
	if (present & PERF_SAMPLE_TIME)
		json_unsigned(json, "time_ns", item->time_ns);
	if (item->tid != UINT32_MAX) {
		json_string(json, "comm", item->comm);
		json_signed(json, "pid", (int32_t)item->pid);
		json_signed(json, "tid", (int32_t)item->tid);
	}
	if (present & PERF_SAMPLE_CPU)
		json_unsigned(json, "cpu", sample ? record->sample.cpu : record->id.cpu);
	if (present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		json_unsigned(json, "sample_id", sample ? record->sample.id : record->id.id);
}

void script_put_json(struct printer *printer, const struct sp_script_item *item)
{
	char *text;
	size_t size;
	FILE *stream = text_stream_open(&text, &size);
	struct json json = {.out = stream};
	json_begin(&json, NULL, '{');
	put_head(printer, &json, item);
	if (item->record->type == PERF_RECORD_SAMPLE)
		put_sample(printer, &json, item);
	else
		put_fields(&json, item->record);
	json_end(&json, '}');
	text_stream_close(stream, &text);
	buffer_put(&printer->out, text, size);
	buffer_char(&printer->out, '\n');
	free(text);
}
