/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decoded FILE: what the records of FILE hold, in the words of perf report -D, so
 * that tests/cli/test_corpus.sh can compare the two. A line begins with the offset
 * of its record; the details of a sample are lines of their own:
 *
 *	0x3c8 12422797765 [0x38]: PERF_RECORD_SAMPLE(IP, 0x2): 90/90: 0x3ffbd1198ae period: 1 addr: 0
 *	0x3c8 chain 0 fffffffffffffe00
 *	0x3c8 branch 0 FROM TO CYCLES M|P
 *	0x3c8 registers user|intr MASK ABI, 0x3c8 register VALUE
 *	0x3c8 stack SIZE, 0x3c8 weight N, 0x3c8 data_src HEX, 0x3c8 phys_addr HEX
 *	0x3c8 counter ID VALUE
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sprof/sprof.h>
#include "record/types.h"

struct context {
	struct sp_reader *reader;
	uint64_t combined_type; /* bits that all events have; perf uses them */
	bool has_sample_ids;
};

/* perf has all ones in what a record does not hold. */
static void put_stamp(const struct context *context, const struct sp_record *record)
{
	bool sample = record->type == PERF_RECORD_SAMPLE;
	uint64_t present = sample ? record->sample.present : record->id.present;
	uint32_t cpu = sample ? record->sample.cpu : record->id.cpu;
	uint64_t time_ns = sample ? record->sample.time_ns : record->id.time_ns;
	printf("0x%" PRIx64 " ", record->file_offset);
	if (!sample && !context->has_sample_ids) {
		printf("-1 -1 ");
	} else {
		if (context->combined_type & PERF_SAMPLE_CPU)
			printf("%u ", present & PERF_SAMPLE_CPU ? cpu : UINT32_MAX);
		if (context->combined_type & PERF_SAMPLE_TIME)
			printf("%" PRIu64 " ", present & PERF_SAMPLE_TIME ? time_ns : UINT64_MAX);
	}
	printf("[%#zx]: PERF_RECORD_%s", record->size, sp_record_type_name(record->type));
}

static void put_registers(uint64_t offset, const char *kind, const struct sp_registers *registers)
{
	if (registers->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	printf("0x%" PRIx64 " registers %s 0x%" PRIx64 " %s\n", offset, kind, registers->mask,
	       registers->abi == PERF_SAMPLE_REGS_ABI_64 ? "64-bit" : "32-bit");
	for (size_t i = 0; i < registers->count; i++)
		printf("0x%" PRIx64 " register 0x%016" PRIx64 "\n", offset, registers->values[i]);
}

static void put_stacks(uint64_t at, const struct sp_sample *sample)
{
	for (size_t i = 0; i < sample->ip_count; i++)
		printf("0x%" PRIx64 " chain %zu %016" PRIx64 "\n", at, i, sample->ips[i]);
	for (size_t i = 0; i < sample->branch_count; i++) {
		struct perf_branch_entry entry;
		memcpy(&entry, &sample->branches[i], sizeof(entry));
		printf("0x%" PRIx64 " branch %zu %016" PRIx64 " %016" PRIx64 " %u %s%s\n", at, i,
		       (uint64_t)entry.from, (uint64_t)entry.to, entry.cycles,
		       entry.mispred ? "M" : "", entry.predicted ? "P" : "");
	}
	put_registers(at, "user", &sample->user_registers);
	put_registers(at, "intr", &sample->interrupt_registers);
	if (sample->present & PERF_SAMPLE_STACK_USER)
		printf("0x%" PRIx64 " stack %" PRIu64 "\n", at, sample->stack_dyn_size);
}

static void put_sample(const struct context *context, const struct sp_record *record)
{
	const struct sp_sample *sample = &record->sample;
	const struct sp_event *event = sp_reader_event(context->reader, record->event);
	uint64_t at = record->file_offset, present = sample->present;
	bool has_tid = present & PERF_SAMPLE_TID;
	printf("(IP, 0x%x): %d/%d: %#" PRIx64 " period: %" PRIu64 " addr: %#" PRIx64 "\n",
	       record->misc, has_tid ? (int)sample->pid : -1, has_tid ? (int)sample->tid : -1,
	       sample->ip,
	       present & PERF_SAMPLE_PERIOD ? sample->period : (uint64_t)event->attr.sample_period,
	       sample->addr);
	put_stacks(at, sample);
	if (present & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		printf("0x%" PRIx64 " weight %" PRIu64 "\n", at, sample->weight);
	if (present & PERF_SAMPLE_DATA_SRC)
		printf("0x%" PRIx64 " data_src 0x%" PRIx64 "\n", at, sample->data_src);
	if (present & PERF_SAMPLE_PHYS_ADDR)
		printf("0x%" PRIx64 " phys_addr 0x%" PRIx64 "\n", at, sample->phys_addr);
	for (size_t i = 0; i < sample->counters.count; i++)
		printf("0x%" PRIx64 " counter %016" PRIx64 " %016" PRIx64 "\n", at,
		       sample->counters.values[i].id, sample->counters.values[i].value);
}

static void put_mmap(const struct sp_record *record)
{
	const struct sp_mmap *map = &record->mmap;
	printf(" %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64, (int)map->pid, (int)map->tid,
	       map->start, map->size, map->file_offset);
	if (record->type == PERF_RECORD_MMAP) {
		printf("]: %c", record->misc & PERF_RECORD_MISC_MMAP_DATA ? 'r' : 'x');
	} else {
		if (map->build_id_size) {
			printf(" <");
			for (size_t i = 0; i < map->build_id_size; i++)
				printf("%02x", map->build_id[i]);
			printf(">");
		} else {
			printf(" %02x:%02x %" PRIu64 " %" PRIu64, map->maj, map->min, map->ino,
			       map->ino_generation);
		}
		printf("]: %c%c%c%c", map->prot & 1 ? 'r' : '-', map->prot & 2 ? 'w' : '-',
		       map->prot & 4 ? 'x' : '-', map->flags & 1 ? 's' : 'p');
	}
	printf(" %s\n", map->filename);
}

static void put_switch(const struct sp_record *record)
{
	bool out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	bool preempt = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	printf(" %s", !out ? "IN" : preempt ? "OUT preempt" : "OUT");
	if (record->type == PERF_RECORD_SWITCH_CPU_WIDE)
		printf(" %s pid/tid: %u/%u", out ? "next" : "prev",
		       record->context_switch.next_prev_pid, record->context_switch.next_prev_tid);
	putchar('\n');
}

static void put_read(const struct context *context, const struct sp_record *record)
{
	const struct sp_read *read = &record->read;
	const struct sp_event *event = sp_reader_event(context->reader, record->event);
	printf(": %d %d %s %" PRIu64 "\n", (int)read->pid, (int)read->tid, event->name,
	       read->counters.values[0].value);
}

static void put_namespaces(const struct sp_record *record)
{
	printf(" %d/%d - nr_namespaces: %zu\n", (int)record->namespaces.pid,
	       (int)record->namespaces.tid, record->namespaces.count);
}

static void put_record(const struct context *context, const struct sp_record *record)
{
	put_stamp(context, record);
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return put_sample(context, record);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return put_mmap(record);
	case PERF_RECORD_COMM:
		printf("%s: %s:%d/%d\n", record->misc & PERF_RECORD_MISC_COMM_EXEC ? " exec" : "",
		       record->comm.comm, (int)record->comm.pid, (int)record->comm.tid);
		return;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		printf("(%d:%d):(%d:%d)\n", (int)record->task.pid, (int)record->task.tid,
		       (int)record->task.ppid, (int)record->task.ptid);
		return;
	case PERF_RECORD_READ:
		return put_read(context, record);
	case PERF_RECORD_KSYMBOL:
		printf(" addr %" PRIx64 " len %u type %u flags 0x%x name %s\n", record->ksymbol.start,
		       record->ksymbol.size, record->ksymbol.type, record->ksymbol.flags,
		       record->ksymbol.name);
		return;
	case PERF_RECORD_BPF_EVENT:
		printf(" type %u, flags %u, id %u\n", record->bpf_event.type,
		       record->bpf_event.flags, record->bpf_event.id);
		return;
	case PERF_RECORD_CGROUP:
		printf(" cgroup: %" PRIu64 " %s\n", record->cgroup.id, record->cgroup.path);
		return;
	case PERF_RECORD_LOST:
		printf(": id:%" PRIu64 ": lost:%" PRIu64 "\n", record->lost.id, record->lost.lost);
		return;
	case PERF_RECORD_LOST_SAMPLES:
		printf(": id:%" PRIu64 ": lost samples :%" PRIu64 "\n", record->id.id,
		       record->lost.lost);
		return;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return put_switch(record);
	case PERF_RECORD_AUX:
		printf(" offset: %#" PRIx64 " size: %#" PRIx64 " flags: %#" PRIx64 "\n",
		       record->aux.offset, record->aux.size, record->aux.flags);
		return;
	case PERF_RECORD_NAMESPACES:
		return put_namespaces(record);
	default:
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct context context = {0};
	struct sp_ctx *ctx;
	struct sp_error *error = argc == 2 ? sp_ctx_new(&ctx) : NULL;
	if (argc != 2 || error)
		return 99;
	error = sp_reader_open(ctx, argv[1], &context.reader);
	if (error) {
		fprintf(stderr, "%s\n", sp_error_message(error));
		return 1;
	}
	for (size_t i = 0; i < sp_reader_event_count(context.reader); i++) {
		const struct sp_event *event = sp_reader_event(context.reader, i);
		context.combined_type |= event->attr.sample_type;
		context.has_sample_ids = context.has_sample_ids || event->attr.sample_id_all;
	}
	for (;;) {
		const struct sp_record *record;
		error = sp_reader_next(context.reader, &record);
		if (error)
			sp_error_free(error);
		else if (!record)
			break;
		else if (record->type < RECORD_USER_TYPES)
			put_record(&context, record);
	}
	sp_reader_free(context.reader);
	sp_ctx_free(ctx);
	return 0;
}
