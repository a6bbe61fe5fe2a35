/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/fixed_fields.h"

#include <stddef.h>
#include "record/types.h"

#define N(member) {8 * sizeof(((struct sp_record *)0)->member), offsetof(struct sp_record, member)}
#define TEXT(member) {FIELD_TEXT, offsetof(struct sp_record, member)}, END
#define PADDING(size) {FIELD_PADDING, size}
#define END {FIELD_END, 0}
#define MORE {FIELD_MORE, 0}
#define FIELDS(...) (const struct fixed_field[]){__VA_ARGS__}

#define MMAP_FIELDS                                                                                \
	N(mmap.pid), N(mmap.tid), N(mmap.start), N(mmap.size), N(mmap.file_offset)
#define TASK_FIELDS                                                                                \
	N(task.pid), N(task.ppid), N(task.tid), N(task.ptid), N(task.time_ns), END
#define THROTTLE_FIELDS N(throttle.time_ns), N(throttle.id), N(throttle.stream_id), END

/* Records of the kernel come first, then those of perf (struct perf_record_* of its event.h). */
static const struct fixed_field *const tables[] = {
	[PERF_RECORD_MMAP] = FIELDS(MMAP_FIELDS, TEXT(mmap.filename)),
	[PERF_RECORD_LOST] = FIELDS(N(lost.id), N(lost.lost), END),
	[PERF_RECORD_COMM] = FIELDS(N(comm.pid), N(comm.tid), TEXT(comm.comm)),
	[PERF_RECORD_EXIT] = FIELDS(TASK_FIELDS),
	[PERF_RECORD_THROTTLE] = FIELDS(THROTTLE_FIELDS),
	[PERF_RECORD_UNTHROTTLE] = FIELDS(THROTTLE_FIELDS),
	[PERF_RECORD_FORK] = FIELDS(TASK_FIELDS),
	[PERF_RECORD_READ] = FIELDS(N(read.pid), N(read.tid), MORE),
	[PERF_RECORD_MMAP2] = FIELDS(MMAP_FIELDS, MORE),
	[PERF_RECORD_AUX] = FIELDS(N(aux.offset), N(aux.size), N(aux.flags), END),
	[PERF_RECORD_ITRACE_START] = FIELDS(N(itrace_start.pid), N(itrace_start.tid), END),
	[PERF_RECORD_LOST_SAMPLES] = FIELDS(N(lost.lost), END),
	[PERF_RECORD_SWITCH] = FIELDS(END),
	[PERF_RECORD_SWITCH_CPU_WIDE] = FIELDS(N(context_switch.next_prev_pid),
					       N(context_switch.next_prev_tid), END),
	[PERF_RECORD_NAMESPACES] = FIELDS(N(namespaces.pid), N(namespaces.tid), MORE),
	[PERF_RECORD_KSYMBOL] = FIELDS(N(ksymbol.start), N(ksymbol.size), N(ksymbol.type),
				       N(ksymbol.flags), TEXT(ksymbol.name)),
	[PERF_RECORD_BPF_EVENT] = FIELDS(N(bpf_event.type), N(bpf_event.flags), N(bpf_event.id),
					 MORE),
	[PERF_RECORD_CGROUP] = FIELDS(N(cgroup.id), TEXT(cgroup.path)),
	[PERF_RECORD_TEXT_POKE] = FIELDS(N(text_poke.ip), MORE),
	[RECORD_AUX_OUTPUT_HW_ID] = FIELDS(N(aux_output_hw_id.hw_id), END),
	[RECORD_CALLCHAIN_DEFERRED] = FIELDS(N(deferred.cookie), MORE),
	[SP_RECORD_HEADER_EVENT_TYPE] = FIELDS(N(event_type.id), MORE),
	[SP_RECORD_HEADER_BUILD_ID] = FIELDS(N(build_id.pid), MORE),
	[SP_RECORD_FINISHED_ROUND] = FIELDS(END),
	[SP_RECORD_AUXTRACE_INFO] = FIELDS(N(auxtrace_info.type), PADDING(4), MORE),
	[SP_RECORD_AUXTRACE] = FIELDS(N(auxtrace.size), N(auxtrace.offset), N(auxtrace.reference),
				      N(auxtrace.idx), N(auxtrace.tid), N(auxtrace.cpu), END),
	[SP_RECORD_AUXTRACE_ERROR] = FIELDS(N(auxtrace_error.type), N(auxtrace_error.code),
					    N(auxtrace_error.cpu), N(auxtrace_error.pid),
					    N(auxtrace_error.tid), N(auxtrace_error.fmt),
					    N(auxtrace_error.ip), MORE),
	[SP_RECORD_STAT] = FIELDS(N(stat.id), N(stat.cpu), N(stat.thread), N(stat.value),
				  N(stat.enabled_ns), N(stat.running_ns), END),
	[SP_RECORD_STAT_ROUND] = FIELDS(N(stat_round.type), N(stat_round.time_ns), END),
	[SP_RECORD_EVENT_UPDATE] = FIELDS(N(event_update.kind), N(event_update.id), MORE),
	[SP_RECORD_TIME_CONV] = FIELDS(N(time_conv.shift), N(time_conv.mult), N(time_conv.zero),
				       MORE),
	[SP_RECORD_HEADER_FEATURE] = FIELDS(N(feature.feature), MORE),
	[SP_RECORD_FINISHED_INIT] = FIELDS(END),
	[SP_RECORD_SCHEDSTAT_CPU] =
		FIELDS(N(schedstat_cpu.timestamp), N(schedstat_cpu.cpu), N(schedstat_cpu.version),
		       PADDING(2), N(schedstat_cpu.yld_count), N(schedstat_cpu.array_exp),
		       N(schedstat_cpu.sched_count), N(schedstat_cpu.sched_goidle),
		       N(schedstat_cpu.ttwu_count), N(schedstat_cpu.ttwu_local),
		       N(schedstat_cpu.rq_cpu_time), N(schedstat_cpu.run_delay),
		       N(schedstat_cpu.pcount), END),
	[SP_RECORD_SCHEDSTAT_DOMAIN] =
		FIELDS(N(schedstat_domain.timestamp), N(schedstat_domain.cpu),
		       N(schedstat_domain.version), N(schedstat_domain.domain), MORE),
};

const struct fixed_field *fixed_fields(uint32_t type)
{
	return type < sizeof(tables) / sizeof(*tables) ? tables[type] : NULL;
}

bool decode_fixed_fields(struct cursor *cursor, struct sp_record *record)
{
	bool good = true;
	const struct fixed_field *field = fixed_fields(record->type);
	for (; good && field && field->kind > FIELD_MORE; field++) {
		void *member = (uint8_t *)record + field->at;
		switch (field->kind) {
		case FIELD_U16:
			good = cursor_u16(cursor, member);
			break;
		case FIELD_U32:
			good = cursor_u32(cursor, member);
			break;
		case FIELD_U64:
			good = cursor_u64(cursor, member);
			break;
		case FIELD_TEXT:
			good = cursor_text(cursor, member);
			break;
		default:
			good = cursor_skip(cursor, field->at);
		}
	}
	return good;
}
