/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "samples/sample_values.h"

#include <sprof/private/command.h>
#include <sprof/private/words.h>
#include <string.h>
#include "samples/sample_task.h"

uint32_t branch_lookup(struct counted *counted, uint32_t view, uint64_t address)
{
	struct code_address code = {address, view, PERF_RECORD_MISC_USER, false};
	uint32_t answer = address_cache_find(&counted->answers, code);
	if (answer == ANSWER_FAILED || !(answer & ANSWER_UNMAPPED))
		return answer;
	code.cpumode = PERF_RECORD_MISC_KERNEL;
	return address_cache_find(&counted->answers, code);
}

static bool find_frame(struct counted *counted, uint32_t view, uint64_t address, uint64_t *word)
{
	uint32_t answer = branch_lookup(counted, view, address);
	*word = answer_frame(answer);
	return answer != ANSWER_FAILED;
}

static uint64_t branch_word(const struct sp_branch *branch, enum sp_key key)
{
	struct sp_branch_flags flags = sp_branch_flags(branch->flags);
	switch (key) {
	case SP_KEY_ADDR_FROM:
		return branch->from;
	case SP_KEY_ADDR_TO:
		return branch->to;
	case SP_KEY_MISPREDICT:
		return flags.predicted || flags.mispredicted ? !flags.predicted : DETAIL_NONE;
	case SP_KEY_CYCLES:
		return flags.cycles ?: DETAIL_NONE;
	case SP_KEY_IN_TX:
		return flags.in_transaction;
	case SP_KEY_ABORT:
		return flags.aborted;
	case SP_KEY_BRANCH_TYPE:
		return flags.type ? flags.type << 4 | flags.new_type : DETAIL_NONE;
	default:
		return DETAIL_NONE;
	}
}

static bool branch_value(struct counted *counted, const struct sp_branch *branch, enum sp_key key,
			uint32_t view, uint64_t *word)
{
	*word = DETAIL_NONE;
	if (!branch)
		return true;
	switch (key) {
	case SP_KEY_SYMBOL_FROM:
	case SP_KEY_DSO_FROM:
	case SP_KEY_SRCLINE_FROM:
		return find_frame(counted, view, branch->from, word);
	case SP_KEY_SYMBOL_TO:
	case SP_KEY_DSO_TO:
	case SP_KEY_SRCLINE_TO:
		return find_frame(counted, view, branch->to, word);
	default:
		*word = branch_word(branch, key);
		return true;
	}
}

/* Returns the socket of the sample's CPU, from the header's CPU topology. */
static uint64_t socket_of(const struct work *work, const struct sp_sample *sample)
{
	const struct sp_cpu_topology *topology = &sp_reader_info(work->read->reader)->topology;
	if (!(sample->present & PERF_SAMPLE_CPU) || sample->cpu >= topology->place_count ||
	    topology->places[sample->cpu].package < 0)
		return DETAIL_NONE;
	return topology->places[sample->cpu].package;
}

uint64_t sample_parallelism(const struct work *work, const struct sp_sample *sample)
{
	if (!work->times->runners.count || !(sample->present & PERF_SAMPLE_TIME))
		return DETAIL_NONE;
	return runners_number(&work->times->runners, sample->pid, sample->time_ns);
}

static uint64_t if_present(const struct sp_sample *sample, uint64_t bit, uint64_t value)
{
	return sample->present & bit ? value : DETAIL_NONE;
}

/* Returns the bits of a data_src word (PERF_SAMPLE_DATA_SRC) that a key shows. */
static uint64_t data_source_mask(enum sp_key key)
{
	switch (key) {
	case SP_KEY_MEM:
		return (uint64_t)0x3fff << 5 | (uint64_t)0xf << 33 | (uint64_t)1 << 37 |
		       (uint64_t)7 << 43; /* lvl, lvl_num, remote, hops */
	case SP_KEY_SNOOP:
		return (uint64_t)0x1f << 19 | (uint64_t)3 << 38; /* snoop, snoopx */
	case SP_KEY_LOCKED:
		return (uint64_t)3 << 24;
	case SP_KEY_TLB:
		return (uint64_t)0x7f << 26;
	default:
		return (uint64_t)7 << 40; /* blk */
	}
}

static uint64_t weight_word(const struct sp_sample *sample, enum sp_key key)
{
	uint64_t bits = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
	struct sp_weights weights = sp_weight_parts(sample->present, sample->weight);
	if (!(sample->present & bits))
		return DETAIL_NONE;
	switch (key) {
	case SP_KEY_LOCAL_INS_LAT:
	case SP_KEY_INS_LAT:
		return weights.instruction_latency;
	case SP_KEY_LOCAL_P_STAGE_CYC:
	case SP_KEY_P_STAGE_CYC:
		return weights.retire_latency;
	default:
		return weights.latency;
	}
}

static uint64_t namespace_word(const struct counted *counted, const struct sp_record *record)
{
	size_t index = sideband_namespace(&counted->work->read->sideband, record->sample.tid,
					  sample_machine_ns(counted, record));
	return index == SIZE_MAX ? DETAIL_NONE : index;
}

static uint64_t sample_word(const struct counted *counted, const struct sp_record *record,
			    enum sp_key key)
{
	const struct work *work = counted->work;
	const struct sp_sample *sample = &record->sample;
	switch (key) {
	case SP_KEY_DADDR:
		return if_present(sample, PERF_SAMPLE_ADDR, sample->addr);
	case SP_KEY_DCACHELINE:
		return if_present(sample, PERF_SAMPLE_ADDR, sample->addr & ~(uint64_t)63);
	case SP_KEY_PHYS_DADDR:
		return if_present(sample, PERF_SAMPLE_PHYS_ADDR, sample->phys_addr);
	case SP_KEY_MEM:
	case SP_KEY_SNOOP:
	case SP_KEY_LOCKED:
	case SP_KEY_TLB:
	case SP_KEY_BLOCKED:
		return if_present(sample, PERF_SAMPLE_DATA_SRC,
				  sample->data_src & data_source_mask(key));
	case SP_KEY_LOCAL_WEIGHT:
	case SP_KEY_WEIGHT:
	case SP_KEY_LOCAL_INS_LAT:
	case SP_KEY_INS_LAT:
	case SP_KEY_LOCAL_P_STAGE_CYC:
	case SP_KEY_P_STAGE_CYC:
		return weight_word(sample, key);
	case SP_KEY_DATA_PAGE_SIZE:
		return if_present(sample, PERF_SAMPLE_DATA_PAGE_SIZE, sample->data_page_size);
	case SP_KEY_CODE_PAGE_SIZE:
		return if_present(sample, PERF_SAMPLE_CODE_PAGE_SIZE, sample->code_page_size);
	case SP_KEY_TRANSACTION:
		return if_present(sample, PERF_SAMPLE_TRANSACTION, sample->transaction);
	case SP_KEY_CGROUP:
		return sample->cgroup ?: DETAIL_NONE;
	case SP_KEY_CGROUP_ID:
		return namespace_word(counted, record);
	case SP_KEY_SOCKET:
		return socket_of(work, sample);
	case SP_KEY_TIME:
		return if_present(sample, PERF_SAMPLE_TIME,
				  slices_step(&work->options->rows, counted->sample.time.step_ns));
	case SP_KEY_PARALLELISM:
		return sample_parallelism(work, sample);
	default:
		return DETAIL_NONE;
	}
}

/*
 * Finds the frame of a data address, in the mappings that are valid for the sample. Kernel code may
 * access memory of the program, which is in the lower half of the addresses.
 */
static bool data_value(struct counted *counted, const struct sp_record *record, uint32_t view,
		      uint64_t *word)
{
	const char *arch = sp_reader_info(counted->work->read->reader)->arch;
	uint16_t cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	uint64_t address = record->sample.addr;
	*word = DETAIL_NONE;
	if (!(record->sample.present & PERF_SAMPLE_ADDR))
		return true;
	if (cpumode == PERF_RECORD_MISC_KERNEL && address < (uint64_t)1 << 63 && arch &&
	    (!strcmp(arch, "x86_64") || !strcmp(arch, "aarch64") || !strncmp(arch, "riscv", 5)))
		cpumode = PERF_RECORD_MISC_USER;
	uint32_t answer = address_cache_find(&counted->answers,
					     (struct code_address){address, view, cpumode, false});
	*word = answer_frame(answer);
	return answer != ANSWER_FAILED;
}

/*
 * Makes the text of a tracepoint's sample or of one of its fields. Returns false when out of
 * memory.
 */
static bool text_value(struct counted *counted, const struct sp_record *record, enum sp_key key,
		      uint64_t *word)
{
	const struct analysis_options *options = counted->work->options;
	const struct sp_event *event = sp_reader_event(counted->work->read->reader, record->event);
	const struct sp_sample *sample = &record->sample;
	size_t index = key - SP_KEY_FIELD;
	const char *text = NULL;
	if (key == SP_KEY_TRACE) {
		text = options->rows.raw_trace ? sp_trace_raw_text(counted->trace, event, sample)
					  : sp_trace_text(counted->trace, event, sample);
	} else if (index < options->rows.field_count) {
		const struct sp_field *field = &options->rows.fields[index];
		if (field->event < 0 || field->event == record->event)
			text = sp_trace_field(counted->trace, field->name,
					      field->raw || options->rows.raw_trace);
	}
	const char *kept = text ? strtab_add(&counted->texts, text) : NULL;
	*word = kept ? (uintptr_t)kept : DETAIL_NONE;
	return !text || kept;
}

/* Makes the text of the sampled address. Returns false when out of memory. */
static bool address_value(struct counted *counted, const struct sp_record *record, uint32_t view,
			  uint64_t *word)
{
	char text[NAMES_ADDRESS_SIZE];
	uint16_t cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	*word = DETAIL_NONE;
	if (!(record->sample.present & PERF_SAMPLE_IP))
		return true;
	names_write_address(counted->answers.arg,
			    &(struct code_address){record->sample.ip, view, cpumode, false}, text,
			    sizeof(text));
	const char *kept = strtab_add(&counted->texts, text);
	*word = (uintptr_t)kept;
	return kept;
}

static uint64_t waker_word(const struct counted *counted, enum sp_key key)
{
	const char *text = key == SP_KEY_WAKER ? counted->sample.waker : counted->sample.wakee;
	return text ? (uintptr_t)text : DETAIL_NONE;
}

uint64_t command_word(const struct machine *machine, enum sp_key key, uint32_t pid,
		      uint64_t time_ns)
{
	const struct machine_command *command = machine_command(machine, pid, time_ns);
	if (!command)
		return DETAIL_NONE;
	return (uintptr_t)(key == SP_KEY_CMDLINE ? command->line : command->argument);
}

/* Makes the text of the process at the sample's time. Returns false when out of memory. */
static bool process_value(struct counted *counted, const struct sp_record *record, uint64_t *word)
{
	const struct sp_sample *sample = &record->sample;
	const struct sample_time *time = &counted->sample.time;
	bool woken = time->wake.tid != 0;
	struct task *task = sample_task(counted, woken ? time->woken_pid : sample->pid,
					woken ? time->wake.tid : sample->tid,
					sample_machine_ns(counted, record));
	const char *text = task ? sample_process(counted, task) : NULL;
	*word = (uintptr_t)text;
	return text;
}

bool sample_values(struct counted *counted, const struct sp_record *record,
		    const struct sp_branch *branch, uint32_t view, uint64_t *words)
{
	const struct work *work = counted->work;
	bool done = true;
	/*
	 * Decodes the sample for the keys of fields. The key trace comes before them and decodes it
	 * itself.
	 */
	if (work->keys->has_traces && !work->keys->rows[SP_KEY_TRACE])
		(void)sp_trace_take(counted->trace,
				    sp_reader_event(work->read->reader, record->event),
				    &record->sample);
	for (size_t i = 0; done && i < work->keys->detail_count; i++) {
		enum sp_key key = work->keys->details[i];
		if (key_is_of_wakers(key))
			words[i] = waker_word(counted, key);
		else if (key_is_of_command(key))
			words[i] = command_word(work->read->machine, key,
						counted->sample.time.wake.tid
							? counted->sample.time.woken_pid
							: record->sample.pid,
						sample_machine_ns(counted, record));
		else if (key == SP_KEY_PROCESS)
			done = process_value(counted, record, &words[i]);
		else if (key_is_trace(key))
			done = text_value(counted, record, key, &words[i]);
		else if (key == SP_KEY_SYSCALL)
			words[i] = DETAIL_NONE; /* its names are in frames (row_values()) */
		else if (key == SP_KEY_ADDR)
			done = address_value(counted, record, view, &words[i]);
		else if (sp_key_is_of_branches(key))
			done = branch_value(counted, branch, key, view, &words[i]);
		else if (key == SP_KEY_SYMBOL_DADDR || key == SP_KEY_DSO_DADDR)
			done = data_value(counted, record, view, &words[i]);
		else
			words[i] = sample_word(counted, record, key);
	}
	return done;
}

/* Converts a frame to its function for keys of addresses; returns other words unchanged. */
static uint64_t row_word(const struct labels *labels, enum sp_key key, uint64_t word)
{
	if (word == DETAIL_NONE)
		return word;
	uint32_t function;
	switch (key) {
	case SP_KEY_SYMBOL_FROM:
	case SP_KEY_SYMBOL_TO:
	case SP_KEY_SYMBOL_DADDR:
		function = labels->sides.items[word].symbol;
		break;
	case SP_KEY_DSO_FROM:
	case SP_KEY_DSO_TO:
	case SP_KEY_DSO_DADDR:
		function = labels->sides.items[word].dso;
		break;
	case SP_KEY_SRCLINE_FROM:
	case SP_KEY_SRCLINE_TO:
		function = labels->sides.items[word].line;
		break;
	default:
		return word;
	}
	return function == UINT32_MAX ? DETAIL_NONE : function;
}

uint32_t row_values(const struct counted *counted, struct details *to, uint32_t detail,
		    const struct leaf_values *of)
{
	const struct work *work = counted->work;
	uint64_t words[SP_KEY_LIMIT];
	if (!work->keys->detail_count)
		return 0;
	const uint64_t *from = details_words(&counted->details, detail);
	for (size_t i = 0; i < work->keys->detail_count; i++) {
		enum sp_key key = work->keys->details[i];
		words[i] = row_word(work->labels, key, from[i]);
		if (key == SP_KEY_PARENT && of->parent != UINT32_MAX)
			words[i] = of->parent;
		else if (key == SP_KEY_STATE || key == SP_KEY_WAITS_FOR)
			words[i] = of->state;
		else if (key == SP_KEY_SYSCALL)
			words[i] = of->syscall;
	}
	return details_add(to, words);
}

/* Bits of a data source that are set for a known operation, or a known level of memory. */
#define KNOWN_ACCESS ((PERF_MEM_OP_NA ^ 0x1f) | (PERF_MEM_LVL_NA ^ 0x3fff) << PERF_MEM_LVL_SHIFT)

bool sample_has_access(const struct sp_sample *sample)
{
	uint64_t latency = weight_word(sample, SP_KEY_LOCAL_WEIGHT);
	return (sample->present & PERF_SAMPLE_ADDR && sample->addr) ||
	       (sample->present & PERF_SAMPLE_DATA_SRC && sample->data_src & KNOWN_ACCESS) ||
	       (latency && latency != DETAIL_NONE);
}
