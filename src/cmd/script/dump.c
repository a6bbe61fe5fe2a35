/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output of `sprof script -D`: each record as in the file, first its bytes in hex as in perf script -D,
 * then its decoded fields.
 */
#include <inttypes.h>
#include <stdio.h>
#include "cmd/script/script.h"

static void put_hex_line(struct buffer *out, const uint8_t *bytes, size_t at, size_t count)
{
	buffer_format(out, ".  %04zx: ", at);
	for (size_t i = 0; i < 16; i++) {
		if (i < count)
			buffer_format(out, " %02x", bytes[at + i]);
		else
			buffer_put(out, "   ", 3);
	}
	buffer_put(out, "  ", 2);
	for (size_t i = 0; i < 16; i++) {
		uint8_t c = i < count ? bytes[at + i] : ' ';
		buffer_char(out, c >= ' ' && c < 0x7f ? (char)c : '.');
	}
	buffer_char(out, '\n');
}

static void put_branches(struct buffer *out, const struct sp_sample *sample)
{
	char flags[SP_WORDS_SIZE];
	buffer_format(out, "... branch stack: nr:%zu\n", sample->branch_count);
	for (size_t i = 0; i < sample->branch_count; i++) {
		const struct sp_branch *branch = &sample->branches[i];
		sp_branch_flags_text(branch->flags, flags, sizeof(flags));
		buffer_format(out, "..... %2zu: %016" PRIx64 " -> %016" PRIx64 " %s", i,
			      branch->from, branch->to, flags);
		if (sample->branch_counters)
			buffer_format(out, " br_cntr: %#" PRIx64, sample->branch_counters[i]);
		buffer_char(out, '\n');
	}
}

static void put_registers(struct printer *printer, const char *whose,
			  const struct sp_registers *registers)
{
	struct buffer *out = &printer->out;
	size_t next = 0;
	if (!registers->values)
		return;
	buffer_format(out, "... %s regs: mask 0x%" PRIx64 " ABI %s\n", whose, registers->mask,
		      registers->abi == PERF_SAMPLE_REGS_ABI_32 ? "32-bit" : "64-bit");
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(registers->mask >> bit & 1))
			continue;
		const char *name = sp_register_name(printer->view->architecture, bit);
		buffer_format(out, ".... %-5s 0x%016" PRIx64 "\n", name ? name : "unknown",
			      registers->values[next++]);
	}
}

/* Prints the fields about memory and transactions, one on each line. */
static void put_words(struct buffer *out, const struct sp_sample *sample)
{
	char text[SP_WORDS_SIZE];
	struct sp_weights weights = sp_weight_parts(sample->present, sample->weight);
	if (sample->present & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) {
		buffer_format(out, "... weight: %" PRIu64,
			      sample->present & PERF_SAMPLE_WEIGHT ? sample->weight :
								     weights.latency);
		if (sample->present & PERF_SAMPLE_WEIGHT_STRUCT)
			buffer_format(out, ",0x%x,0x%x", weights.instruction_latency,
				      weights.retire_latency);
		buffer_char(out, '\n');
	}
	if (sample->present & PERF_SAMPLE_DATA_SRC) {
		sp_data_src_text(sample->data_src, text, sizeof(text));
		buffer_format(out, " . data_src: 0x%" PRIx64 " %s\n", sample->data_src, text);
	}
	if (sample->present & PERF_SAMPLE_TRANSACTION) {
		sp_transaction_text(sample->transaction, text, sizeof(text));
		buffer_format(out, " . transaction: 0x%" PRIx64 " %s\n", sample->transaction, text);
	}
	if (sample->present & PERF_SAMPLE_PHYS_ADDR)
		buffer_format(out, " .. phys_addr: 0x%" PRIx64 "\n", sample->phys_addr);
	if (sample->present & PERF_SAMPLE_DATA_PAGE_SIZE) {
		sp_page_size_text(sample->data_page_size, text, sizeof(text));
		buffer_format(out, " .. data page size: %s\n", text);
	}
	if (sample->present & PERF_SAMPLE_CODE_PAGE_SIZE) {
		sp_page_size_text(sample->code_page_size, text, sizeof(text));
		buffer_format(out, " .. code page size: %s\n", text);
	}
	if (sample->present & PERF_SAMPLE_CGROUP)
		buffer_format(out, " .. cgroup: %" PRIu64 "\n", sample->cgroup);
	if (sample->present & PERF_SAMPLE_AUX)
		buffer_format(out, ". AUX data: size %zu\n", sample->aux.size);
}

static void put_sample(struct printer *printer, const struct sp_script_item *item)
{
	struct buffer *out = &printer->out;
	const struct sp_sample *sample = &item->record->sample;
	buffer_format(out, "(IP, 0x%x): %d/%d: %#" PRIx64 " period: %" PRIu64 " addr: %#" PRIx64
		      "\n", item->record->misc, (int)item->pid, (int)item->tid, sample->ip,
		      script_period(sample, script_event_of(printer, item)), sample->addr);
	if (sample->present & PERF_SAMPLE_CALLCHAIN) {
		buffer_format(out, "... FP chain: nr:%zu\n", sample->ip_count);
		for (size_t i = 0; i < sample->ip_count; i++)
			buffer_format(out, "..... %2zu: %016" PRIx64 "\n", i, sample->ips[i]);
	}
	if (sample->present & PERF_SAMPLE_BRANCH_STACK)
		put_branches(out, sample);
	put_registers(printer, "user", &sample->user_registers);
	put_registers(printer, "intr", &sample->interrupt_registers);
	if (sample->present & PERF_SAMPLE_STACK_USER)
		buffer_format(out, "... ustack: size %" PRIu64 ", offset 0x%zx\n",
			      sample->stack_dyn_size,
			      sample->stack.bytes ? (size_t)(sample->stack.bytes -
							     item->record->bytes) : 0);
	put_words(out, sample);
	if (sample->present & PERF_SAMPLE_READ) {
		buffer_format(out, "... sample_read:\n.... group nr %zu", sample->counters.count);
		if (sample->counters.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			buffer_format(out, ", time enabled %" PRIu64,
				      sample->counters.time_enabled_ns);
		if (sample->counters.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			buffer_format(out, ", time running %" PRIu64,
				      sample->counters.time_running_ns);
		buffer_char(out, '\n');
		for (size_t i = 0; i < sample->counters.count; i++)
			buffer_format(
				out,
				"..... id %016" PRIx64 ", value %016" PRIx64 ", lost %" PRIu64 "\n",
				sample->counters.values[i].id, sample->counters.values[i].value,
				sample->counters.values[i].lost);
	}
	buffer_string(out, " ... thread: ");
	buffer_name(out, item->comm);
	buffer_format(out, ":%d\n", (int)item->tid);
	if (!item->place)
		return;
	buffer_string(out, " ...... dso: ");
	buffer_name(out, item->place->dso);
	buffer_char(out, '\n');
}

void script_put_dump(struct printer *printer, const struct sp_script_item *item)
{
	const struct sp_record *record = item->record;
	struct buffer *out = &printer->out;
	bool sample = record->type == PERF_RECORD_SAMPLE;
	uint64_t present = sample ? record->sample.present : record->id.present;
	buffer_format(out, "\n0x%" PRIx64 " [%#zx]: event: %u\n.\n. ... raw event: size %zu bytes\n",
		      record->file_offset, record->size, record->type, record->size);
	for (size_t at = 0; at < record->size; at += 16)
		put_hex_line(out, record->bytes, at,
			     record->size - at < 16 ? record->size - at : 16);
	buffer_put(out, ".\n\n", 3);
	if (present & PERF_SAMPLE_CPU)
		buffer_format(out, "%u ", sample ? record->sample.cpu : record->id.cpu);
	if (present & PERF_SAMPLE_TIME)
		buffer_format(out, "%" PRIu64 " ", item->time_ns);
	buffer_format(out, "0x%" PRIx64 " [%#zx]: ", record->file_offset, record->size);
	if (sample) {
		buffer_string(out, "PERF_RECORD_SAMPLE");
		put_sample(printer, item);
	} else {
		script_put_record(printer, record);
	}
}
