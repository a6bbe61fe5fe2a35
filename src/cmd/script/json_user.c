/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON fields of records that perf itself writes (types 64 and up). */
#include <inttypes.h>
#include <stdio.h>
#include "cmd/script/script.h"
#include "json.h"

static void put_cpus(struct json *json, const struct sp_cpu_map *map)
{
	if (map->any)
		json_bool(json, "any_cpu", true);
	json_begin(json, "cpus", '[');
	for (size_t i = 0; i < map->count; i++)
		json_unsigned(json, NULL, map->cpus[i]);
	json_end(json, ']');
}

static void put_update(struct json *json, const struct sp_event_update *update)
{
	static const char *const kinds[] = {"unit", "scale", "name", "cpus"};
	json_unsigned(json, "id", update->id);
	if (update->kind >= sizeof(kinds) / sizeof(*kinds)) {
		json_hex(json, "kind", update->kind);
		return;
	}
	json_string(json, "kind", kinds[update->kind]);
	if (update->text)
		json_string(json, "text", update->text);
	else if (update->kind == SP_EVENT_UPDATE_SCALE)
		json_double(json, "scale", update->scale);
	else
		put_cpus(json, &update->cpus);
}

static void put_trace(struct json *json, const struct sp_record *record)
{
	const struct sp_auxtrace *trace = &record->auxtrace;
	if (record->type == SP_RECORD_AUXTRACE_INFO) {
		json_unsigned(json, "trace_type", record->auxtrace_info.type);
		json_begin(json, "private", '[');
		for (size_t i = 0; i < record->auxtrace_info.count; i++)
			json_hex(json, NULL, record->auxtrace_info.priv[i]);
		json_end(json, ']');
		return;
	}
	json_unsigned(json, "size", trace->size);
	json_hex(json, "aux_offset", trace->offset);
	json_hex(json, "reference", trace->reference);
	json_unsigned(json, "idx", trace->idx);
	json_signed(json, "trace_tid", (int32_t)trace->tid);
	json_signed(json, "trace_cpu", (int32_t)trace->cpu);
}

static void put_maps(struct json *json, const struct sp_record *record)
{
	if (record->type == SP_RECORD_CPU_MAP) {
		put_cpus(json, &record->cpu_map);
		return;
	}
	json_begin(json, "threads", '[');
	for (size_t i = 0; i < record->thread_map.count; i++) {
		json_begin(json, NULL, '{');
		json_signed(json, "pid", (int64_t)record->thread_map.entries[i].pid);
		json_string(json, "comm", record->thread_map.entries[i].comm);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void put_stat(struct json *json, const struct sp_record *record)
{
	static const char *const tags[] = {"aggr_mode", "interval", "scale", "aggr_level"};
	char number[24];
	switch (record->type) {
	case SP_RECORD_STAT_CONFIG:
		for (size_t i = 0; i < record->stat_config.count; i++) {
			uint64_t tag = record->stat_config.entries[i].tag;
			snprintf(number, sizeof(number), "tag%" PRIu64, tag);
			json_unsigned(json, tag < sizeof(tags) / sizeof(*tags) ? tags[tag] : number,
				      record->stat_config.entries[i].value);
		}
		break;
	case SP_RECORD_STAT:
		json_unsigned(json, "id", record->stat.id);
		json_signed(json, "stat_cpu", (int32_t)record->stat.cpu);
		json_unsigned(json, "thread", record->stat.thread);
		json_unsigned(json, "value", record->stat.value);
		json_unsigned(json, "enabled_ns", record->stat.enabled_ns);
		json_unsigned(json, "running_ns", record->stat.running_ns);
		break;
	default:
		json_string(json, "round", record->stat_round.type ? "final" : "interval");
		json_unsigned(json, "round_ns", record->stat_round.time_ns);
	}
}

static void put_schedstat(struct json *json, const struct sp_record *record)
{
	const struct sp_schedstat_cpu *cpu = &record->schedstat_cpu;
	const struct sp_schedstat_domain *domain = &record->schedstat_domain;
	if (record->type == SP_RECORD_SCHEDSTAT_CPU) {
		json_unsigned(json, "timestamp", cpu->timestamp);
		json_unsigned(json, "version", cpu->version);
		json_unsigned(json, "stat_cpu", cpu->cpu);
		json_unsigned(json, "yld_count", cpu->yld_count);
		json_unsigned(json, "array_exp", cpu->array_exp);
		json_unsigned(json, "sched_count", cpu->sched_count);
		json_unsigned(json, "sched_goidle", cpu->sched_goidle);
		json_unsigned(json, "ttwu_count", cpu->ttwu_count);
		json_unsigned(json, "ttwu_local", cpu->ttwu_local);
		json_unsigned(json, "rq_cpu_time", cpu->rq_cpu_time);
		json_unsigned(json, "run_delay", cpu->run_delay);
		json_unsigned(json, "pcount", cpu->pcount);
		return;
	}
	json_unsigned(json, "timestamp", domain->timestamp);
	json_unsigned(json, "version", domain->version);
	json_unsigned(json, "stat_cpu", domain->cpu);
	json_unsigned(json, "domain", domain->domain);
	json_begin(json, "counts", '[');
	for (size_t i = 0; i < domain->count; i++)
		json_unsigned(json, NULL, domain->counts[i]);
	json_end(json, ']');
}

static void put_header(struct json *json, const struct sp_record *record)
{
	const char *name;
	switch (record->type) {
	case SP_RECORD_HEADER_ATTR:
		json_unsigned(json, "event_type", record->attr.attr.type);
		json_hex(json, "config", record->attr.attr.config);
		json_unsigned(json, "ids", record->attr.id_count);
		break;
	case SP_RECORD_HEADER_EVENT_TYPE:
		json_unsigned(json, "id", record->event_type.id);
		json_string(json, "name", record->event_type.name);
		break;
	case SP_RECORD_HEADER_BUILD_ID:
		json_string(json, "filename", record->build_id.filename);
		break;
	case SP_RECORD_HEADER_FEATURE:
		name = sp_feature_name((unsigned int)record->feature.feature);
		json_unsigned(json, "feature", record->feature.feature);
		json_string(json, "name", name);
		json_unsigned(json, "size", record->feature.payload.size);
		break;
	case SP_RECORD_BPF_METADATA:
		json_string(json, "program", record->bpf_metadata.prog_name);
		json_begin(json, "metadata", '{');
		for (size_t i = 0; i < record->bpf_metadata.count; i++)
			json_string(json, record->bpf_metadata.entries[i].key,
				    record->bpf_metadata.entries[i].value);
		json_end(json, '}');
		break;
	default:
		break;
	}
}

void script_put_user_fields(struct json *json, const struct sp_record *record)
{
	switch (record->type) {
	case SP_RECORD_ID_INDEX:
		json_begin(json, "ids", '[');
		for (size_t i = 0; i < record->id_index.count; i++) {
			const struct sp_id_index_entry *entry = &record->id_index.entries[i];
			json_begin(json, NULL, '{');
			json_unsigned(json, "id", entry->id);
			json_unsigned(json, "idx", entry->idx);
			json_signed(json, "cpu", (int64_t)entry->cpu);
			json_signed(json, "tid", (int64_t)entry->tid);
			if (record->id_index.machines) {
				json_unsigned(json, "machine_pid",
					      record->id_index.machines[i].machine_pid);
				json_unsigned(json, "vcpu", record->id_index.machines[i].vcpu);
			}
			json_end(json, '}');
		}
		json_end(json, ']');
		break;
	case SP_RECORD_AUXTRACE_INFO:
	case SP_RECORD_AUXTRACE:
		put_trace(json, record);
		break;
	case SP_RECORD_AUXTRACE_ERROR:
		json_unsigned(json, "trace_type", record->auxtrace_error.type);
		json_unsigned(json, "code", record->auxtrace_error.code);
		json_signed(json, "trace_cpu", (int32_t)record->auxtrace_error.cpu);
		json_signed(json, "trace_pid", (int32_t)record->auxtrace_error.pid);
		json_signed(json, "trace_tid", (int32_t)record->auxtrace_error.tid);
		json_hex(json, "ip", record->auxtrace_error.ip);
		json_unsigned(json, "trace_time_ns", record->auxtrace_error.time_ns);
		json_string(json, "message", record->auxtrace_error.msg);
		break;
	case SP_RECORD_THREAD_MAP:
	case SP_RECORD_CPU_MAP:
		put_maps(json, record);
		break;
	case SP_RECORD_STAT_CONFIG:
	case SP_RECORD_STAT:
	case SP_RECORD_STAT_ROUND:
		put_stat(json, record);
		break;
	case SP_RECORD_EVENT_UPDATE:
		put_update(json, &record->event_update);
		break;
	case SP_RECORD_TIME_CONV:
		json_unsigned(json, "shift", record->time_conv.shift);
		json_unsigned(json, "mult", record->time_conv.mult);
		json_hex(json, "zero", record->time_conv.zero);
		json_hex(json, "cycles", record->time_conv.cycles);
		json_hex(json, "mask", record->time_conv.mask);
		json_bool(json, "cap_user_time_zero", record->time_conv.cap_user_time_zero);
		json_bool(json, "cap_user_time_short", record->time_conv.cap_user_time_short);
		break;
	case SP_RECORD_SCHEDSTAT_CPU:
	case SP_RECORD_SCHEDSTAT_DOMAIN:
		put_schedstat(json, record);
		break;
	default:
		put_header(json, record);
	}
}
