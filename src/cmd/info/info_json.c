/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON output of `sprof info`. doc/sprof-info.1 documents the names: they may be extended, but not
 * changed.
 */
#include "cmd/info/info.h"

#include <inttypes.h>
#include <sprof/private/command.h>
#include <sprof/private/words.h>
#include "json.h"
#include "out/findings_output.h"

/* Writes an event's name and counts. `attr` is NULL for the samples without a known event. */
static void json_event(struct json *json, const struct info *info, const char *name,
		       uint64_t samples, uint64_t lost, uint64_t lost_own, uint64_t lost_unknown,
		       const struct perf_event_attr *attr)
{
	struct sp_lock_in lock_in;
	json_begin(json, NULL, '{');
	json_string(json, "name", name);
	json_unsigned(json, "samples", samples);
	json_unsigned(json, "lost", lost);
	json_unsigned(json, "lost_own", lost_own);
	if (lost_unknown)
		json_unsigned(json, "lost_unknown", lost_unknown);
	if (attr && attr->sample_period)
		json_unsigned(json, attr->freq ? "freq_hz" : "period", attr->sample_period);
	if (attr && info_finds_lock_in(info, attr, &lock_in)) {
		json_begin(json, "lock_in", '{');
		json_unsigned(json, "timer_hz", lock_in.timer_hz);
		json_unsigned(json, "free_hz", lock_in.free_hz);
		json_end(json, '}');
	}
	json_end(json, '}');
}

static void build_id_text(const struct sp_build_id *build_id, char *text)
{
	for (size_t i = 0; i < build_id->build_id_size; i++)
		sprintf(text + 2 * i, "%02x", build_id->build_id[i]);
	text[2 * build_id->build_id_size] = 0;
}

static void json_build_ids(struct json *json, const struct sp_file_info *file)
{
	char text[2 * sizeof(((struct sp_build_id *)NULL)->build_id) + 1];
	if (!file->build_id_count)
		return;
	json_begin(json, "build_ids", '[');
	for (size_t i = 0; i < file->build_id_count; i++) {
		const struct sp_build_id *build_id = sp_file_build_id(file, i);
		build_id_text(build_id, text);
		json_begin(json, NULL, '{');
		json_string(json, "build_id", text);
		json_string(json, "path", build_id->filename);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void json_list(struct json *json, const char *key, const char *const *list)
{
	if (!list)
		return;
	json_begin(json, key, '[');
	for (; *list; list++)
		json_string(json, NULL, *list);
	json_end(json, ']');
}

static void json_place(struct json *json, const char *key, int32_t number)
{
	if (number >= 0)
		json_signed(json, key, number);
}

static void json_topology(struct json *json, const struct sp_cpu_topology *topology)
{
	if (!topology->packages)
		return;
	json_begin(json, "topology", '{');
	json_list(json, "packages", topology->packages);
	json_list(json, "dies", topology->dies);
	json_list(json, "cores", topology->cores);
	if (topology->place_count) {
		json_begin(json, "cpus", '[');
		for (size_t i = 0; i < topology->place_count; i++) {
			json_begin(json, NULL, '{');
			json_place(json, "package", topology->places[i].package);
			json_place(json, "die", topology->places[i].die);
			json_place(json, "core", topology->places[i].core);
			json_end(json, '}');
		}
		json_end(json, ']');
	}
	json_end(json, '}');
}

static void json_nodes(struct json *json, const struct sp_file_info *file)
{
	if (!file->numa_node_count)
		return;
	json_begin(json, "numa", '[');
	for (size_t i = 0; i < file->numa_node_count; i++) {
		const struct sp_numa_node *node = sp_file_numa_node(file, i);
		json_begin(json, NULL, '{');
		json_unsigned(json, "node", node->node);
		json_unsigned(json, "total_kb", node->total_kb);
		json_unsigned(json, "free_kb", node->free_kb);
		json_string(json, "cpus", node->cpus);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void json_features(struct json *json, const struct info *info)
{
	const struct sp_file_info *file = info->file;
	char buffer[16];
	json_begin_lines(json, "features", '{');
	json_string(json, "hostname", file->hostname);
	json_string(json, "osrelease", file->osrelease);
	json_string(json, "version", file->version);
	json_string(json, "arch", file->arch);
	json_string(json, "cpudesc", file->cpudesc);
	json_string(json, "cpuid", file->cpuid);
	if (file->cpus_available) {
		json_unsigned(json, "cpus_available", file->cpus_available);
		json_unsigned(json, "cpus_online", file->cpus_online);
	}
	if (file->total_memory_kb)
		json_unsigned(json, "total_memory_kb", file->total_memory_kb);
	json_topology(json, &file->topology);
	json_nodes(json, file);
	json_list(json, "cmdline", file->cmdline);
	if (file->has_clock) {
		json_begin(json, "clock", '{');
		json_unsigned(json, "id", file->clock_id);
		json_unsigned(json, "wall_ns", file->clock_wall_ns);
		json_unsigned(json, "clock_ns", file->clock_ns);
		json_end(json, '}');
	}
	json_build_ids(json, file);
	json_begin(json, "present", '[');
	for (unsigned int bit = 0; bit < INFO_FEATURE_BITS; bit++)
		if (sp_reader_has_feature(info->reader, bit))
			json_string(json, NULL, info_feature(bit, buffer, sizeof(buffer)));
	json_end(json, ']');
	json_end_lines(json, '}');
}

static void json_note(struct json *json, const struct info_note *note)
{
	json_begin(json, NULL, '{');
	json_string(json, "text", note->text);
	if (note->note.time_ns)
		json_unsigned(json, "time_ns", note->note.time_ns);
	if (note->note.kind) {
		json_unsigned(json, "kind", note->note.kind);
		json_begin(json, "values", '[');
		for (size_t i = 0; i < note->note.value_count; i++)
			json_unsigned(json, NULL, note->note.values[i]);
		json_end(json, ']');
	}
	json_end(json, '}');
}

static void put_stored(const struct sp_archive_summary *stored, struct json *json)
{
	json_begin(json, "stored", '{');
	json_unsigned(json, "files", stored->modules);
	json_unsigned(json, "addresses", stored->addresses);
	json_unsigned(json, "binaries", stored->files);
	json_unsigned(json, "bytes", stored->bytes);
	if (stored->left_out) {
		json_unsigned(json, "left_out", stored->left_out);
		json_unsigned(json, "left_out_bytes", stored->left_out_bytes);
	}
	json_end(json, '}');
}

void info_write_json(const struct info *info, FILE *out)
{
	struct json json = {.out = out};
	json_begin_lines(&json, NULL, '{');
	json_unsigned(&json, "sprof", 1);
	json_string(&json, "path", info->file->path);
	json_string(&json, "byte_order", info->file->big_endian ? "big" : "little");
	json_string(&json, "mode", info_mode(info));
	json_bool(&json, "compressed", info->file->compressed);
	json_bool(&json, "unfinished", info->file->unfinished);
	char name[32];
	json_begin_lines(&json, "records", '{');
	for (uint32_t type = 0; type < INFO_PLAIN_TYPES; type++)
		if (info->plain[type])
			json_unsigned(&json, sp_record_type_name(type), info->plain[type]);
	for (size_t i = 0; i < info->other_count; i++) {
		snprintf(name, sizeof(name), "TYPE_%" PRIu32, info->others[i].type);
		json_unsigned(&json, name, info->others[i].count);
	}
	if (info->rest)
		json_unsigned(&json, "OTHERS", info->rest);
	json_end_lines(&json, '}');
	json_begin_lines(&json, "events", '[');
	for (size_t i = 0; i < info->event_count; i++) {
		const struct sp_event *event = sp_reader_event(info->reader, i);
		json_event(&json, info, event->name, info->samples[i],
			   sp_losses_count(info->losses, i), sp_losses_own(info->losses, i),
			   sp_losses_unknown(info->losses, i), &event->attr);
	}
	if (info->unknown)
		json_event(&json, info, "unknown", info->unknown, 0, 0, 0, NULL);
	json_end_lines(&json, ']');
	json_features(&json, info);
	json_begin(&json, "time", '{');
	json_unsigned(&json, "first_ns", info->first_ns);
	json_unsigned(&json, "last_ns", info->last_ns);
	json_end(&json, '}');
	if (info->stored.modules || info->stored.left_out)
		put_stored(&info->stored, &json);
	json_unsigned(&json, "throttled", info->throttled);
	if (info->verbose)
		info_json_details(info, &json);
	if (info->slices)
		info_json_losses(info, &json);
	if (info->findings)
		findings_write_json(info->findings, info->finding_count, &json);
	json_begin_lines(&json, "notes", '[');
	for (size_t i = 0; i < info->notes.count; i++) {
		json_note(&json, &info->notes.items[i]);
	}
	json_end_lines(&json, ']');
	json_begin_lines(&json, "damage", '[');
	for (size_t i = 0; i < sp_reader_damage_count(info->reader); i++) {
		const struct sp_damage *damage = sp_reader_damage(info->reader, i);
		json_begin(&json, NULL, '{');
		json_unsigned(&json, "offset", damage->offset);
		json_string(&json, "what", damage->what);

		/*
		 * Writes the times before and after the records that are missing there; omits
		 * unknown times.
		 */
		uint64_t from_ns, to_ns;
		sp_reader_damage_time(info->reader, i, &from_ns, &to_ns);
		if (from_ns)
			json_unsigned(&json, "after_ns", from_ns);
		if (to_ns)
			json_unsigned(&json, "before_ns", to_ns);
		json_end(&json, '}');
	}
	json_end_lines(&json, ']');
	json_end_lines(&json, '}');
}
