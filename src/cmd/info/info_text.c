/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/info/info.h"

#include <inttypes.h>
#include <sprof/private/command.h>
#include <sprof/private/words.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "input.h"
#include "memory.h"
#include "out/findings_output.h"
#include "term.h"

static void put_title(const struct term *term, const char *title, FILE *out)
{
	term_begin(term, TERM_TITLE, out);
	fputs(title, out);
	term_end(term, TERM_TITLE, out);
}

/* Writes the rest of a line from column `indent` on, wrapped on a terminal. */
static void put_rest(const struct term *term, const char *text, int indent, FILE *out)
{
	if (term->width) {
		term_wrap(term, text, indent, indent, 0, out);
		return;
	}
	term_put(term, text, 0, out);
	putc('\n', out);
}

/* Prints "  KEY  TEXT"; prints nothing if the recording has no such text. */
static void put_line(const struct term *term, const char *key, const char *text, FILE *out)
{
	if (text && *text)
		put_rest(term, text, fprintf(out, "  %-10s ", key), out);
}

static void put_command(const struct term *term, const char *const *cmdline, FILE *out)
{
	char *text;
	size_t size;
	FILE *words = text_stream_open(&text, &size);
	for (const char *const *word = cmdline; word && *word; word++)
		fprintf(words, "%s%s", word == cmdline ? "" : " ",
			sp_word_is_hidden(*word) ? "***" : *word);
	text_stream_close(words, &text);
	put_line(term, "command", text, out);
	free(text);
}

static void put_count(const char *const *list, const char *what, FILE *out)
{
	size_t count = 0;
	while (list && list[count])
		count++;
	if (count)
		fprintf(out, ", %zu %s%s", count, what, count == 1 ? "" : "s");
}

static void put_moment(uint64_t wall_ns, FILE *out)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	char text[64];
	struct tm local;
	if (localtime_r(&seconds, &local) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local))
		fprintf(out, "  %-10s %s\n", "started", text);
}

static void put_time(const struct info *info, const struct term *term, FILE *out)
{
	char text[128];
	const struct sp_file_info *file = info->file;
	if (!info->timed)
		return;
	/* The header has one moment as a time of both clocks, so that any time can be converted. */
	if (file->has_clock)
		put_moment(file->clock_wall_ns + (info->first_ns - file->clock_ns), out);
	snprintf(text, sizeof(text), "%.6f s, from %.6f s to %.6f s of the recording's clock",
		 (double)(info->last_ns - info->first_ns) / 1e9, (double)info->first_ns / 1e9,
		 (double)info->last_ns / 1e9);
	put_line(term, "time", text, out);
}

static void put_stored(const struct sp_archive_summary *stored, FILE *out)
{
	char size[32] = "";
	if (stored->left_out_bytes)
		snprintf(size, sizeof(size), " (%.1f MB)", (double)stored->left_out_bytes / 1e6);
	if (stored->left_out)
		fprintf(out, "  %-10s %zu file%s%s, too large; to store more, while they exist: "
			"sprof archive FILE\n", "left out", stored->left_out,
			stored->left_out == 1 ? "" : "s", size);
	if (!stored->modules)
		return;
	fprintf(out, "  %-10s names of %zu addresses in %zu files", "stored", stored->addresses,
		stored->modules);
	if (stored->files)
		fprintf(out, ", and %zu of the files", stored->files);
	fprintf(out, stored->bytes < 100000 ? " (%.1f KB)\n" : " (%.1f MB)\n",
		(double)stored->bytes / (stored->bytes < 100000 ? 1e3 : 1e6));
}

/* Writes after an event's name how often it samples; nothing if it samples each time, or never. */
static void put_rate(const struct info *info, const struct perf_event_attr *attr, FILE *out)
{
	uint64_t period = attr->sample_period;
	bool is_clock = attr->type == PERF_TYPE_SOFTWARE &&
			(attr->config == PERF_COUNT_SW_CPU_CLOCK ||
			 attr->config == PERF_COUNT_SW_TASK_CLOCK);
	if (period < 2)
		return;
	if (attr->freq)
		fprintf(out, ", %" PRIu64 " Hz%s", period,
			is_clock && info_is_dithered(info) ? " on average" : "");
	else if (is_clock)
		fprintf(out, ", every %g ms (%" PRIu64 " Hz)", (double)period / 1e6,
			1000000000 / period);
	else
		fprintf(out, ", every %" PRIu64, period);
}

/* `attr`: NULL for the samples without a known event. */
static void put_event(const struct info *info, const struct term *term, const char *name,
		      const struct perf_event_attr *attr, uint64_t samples, uint64_t lost,
		      FILE *out)
{
	fprintf(out, "  %12" PRIu64 "  ", samples);
	if (lost)
		term_begin(term, TERM_WARNING, out);
	fprintf(out, "%10" PRIu64, lost);
	if (lost)
		term_end(term, TERM_WARNING, out);
	fputs("  ", out);
	term_put(term, name, 0, out);
	if (attr)
		put_rate(info, attr, out);
	putc('\n', out);
}

/* Prints a warning below an event with a sampling frequency in step with the kernel's timers. */
static void put_lock_in(const struct info *info, const struct perf_event_attr *attr, FILE *out)
{
	struct sp_lock_in lock_in;
	char text[SP_WORDS_SIZE];
	if (!info_finds_lock_in(info, attr, &lock_in))
		return;
	sp_lock_in_text(&lock_in, text, sizeof(text));
	fprintf(out, "%28s%s: use -F %" PRIu64 "\n", "", text, lock_in.free_hz);
}

static void put_events(const struct info *info, const struct term *term, FILE *out)
{
	put_title(term, "Events", out);
	fprintf(out, "\n  %12s  %10s\n", "samples", "lost");
	uint64_t others = 0, unknown = 0;
	for (size_t i = 0; i < info->event_count; i++) {
		const struct sp_event *event = sp_reader_event(info->reader, i);
		uint64_t own = sp_losses_own(info->losses, i);
		put_event(info, term, event->name, &event->attr, info->samples[i], own, out);
		put_lock_in(info, &event->attr, out);
		uint64_t either = sp_losses_unknown(info->losses, i);
		others += sp_losses_count(info->losses, i) - own - either;
		unknown += either;
	}
	if (info->unknown)
		put_event(info, term, "(of events that are not in the header)", NULL, info->unknown,
			  0, out);
	if (others)
		fprintf(out, "  About %" PRIu64 " samples of other processes on these CPUs were "
			"lost.\n", others);
	if (unknown)
		fprintf(out, "  %" PRIu64 " samples of the target or of other processes on these "
			"CPUs were lost.\n", unknown);
	if (info->throttled)
		fprintf(out, "  The kernel throttled events %" PRIu64 " time%s.\n", info->throttled,
			info->throttled == 1 ? "" : "s");
	putc('\n', out);
}

static void put_records(const struct info *info, const struct term *term, FILE *out)
{
	put_title(term, "Records", out);
	putc('\n', out);
	for (uint32_t type = 0; type < INFO_PLAIN_TYPES; type++)
		if (info->plain[type])
			fprintf(out, "  %12" PRIu64 "  %s\n", info->plain[type],
				sp_record_type_name(type));
	for (size_t i = 0; i < info->other_count; i++)
		fprintf(out, "  %12" PRIu64 "  (type %" PRIu32 ")\n", info->others[i].count,
			info->others[i].type);
	if (info->rest)
		fprintf(out, "  %12" PRIu64 "  (other types)\n", info->rest);
}

static void put_damage(const struct info *info, const struct term *term, FILE *out)
{
	size_t count = sp_reader_damage_count(info->reader);
	char missing[INPUT_TEXT];
	if (!count)
		return;
	putc('\n', out);
	put_title(term, "Damage", out);
	putc('\n', out);
	for (size_t i = 0; i < count; i++) {
		const struct sp_damage *damage = sp_reader_damage(info->reader, i);
		fprintf(out, "  offset 0x%" PRIx64 ": ", damage->offset);
		term_put(term, damage->what, 0, out);
		fprintf(out, "%s\n", input_missing_time_text(info->reader, i, missing));
	}
}

/* Prints the recorder's notes, each with its time after the first sample. */
static void put_notes(const struct info *info, const struct term *term, FILE *out)
{
	if (!info->notes.count)
		return;
	putc('\n', out);
	put_title(term, "Recorder notes", out);
	putc('\n', out);
	for (size_t i = 0; i < info->notes.count; i++) {
		const struct info_note *note = &info->notes.items[i];
		double after = ((double)note->note.time_ns - (double)info->first_ns) / 1e9;
		char time[40] = "";
		if (info->timed && note->note.time_ns >= info->first_ns)
			snprintf(time, sizeof(time), " (at +%.3f s)", after);
		fputs("  ", out);
		char *text = xasprintf("%s%s", note->text, time);
		put_rest(term, text, 2, out);
		free(text);
	}
}

static void put_findings(const struct info *info, const struct term *term, FILE *out)
{
	put_title(term, "Findings", out);
	putc('\n', out);
	if (!findings_write_all(term, info->findings, info->finding_count, out))
		fputs(info->notes.count ? "  none; the recorder's notes are below\n"
					: "  Nothing limits the data.\n", out);
	put_notes(info, term, out);
}

void info_write_text(const struct info *info, FILE *out)
{
	struct term term = term_of_output(NULL, TERM_COLOUR_AUTO);
	if (info->findings) {
		put_findings(info, &term, out);
		return;
	}
	term_put(&term, info->file->path, 0, out);
	fprintf(out, ": %s, %s-endian%s\n", info_mode(info),
		info->file->big_endian ? "big" : "little",
		info->file->compressed ? ", compressed" : "");
	const struct sp_file_info *file = info->file;
	put_line(&term, "host", file->hostname, out);
	put_line(&term, "kernel", file->osrelease, out);
	put_line(&term, "arch", file->arch, out);
	put_line(&term, "cpu", file->cpudesc, out);
	put_line(&term, "cpuid", file->cpuid, out);
	if (file->cpus_available)
		fprintf(out, "  %-10s %" PRIu32 " of %" PRIu32 " online\n", "cpus",
			file->cpus_online, file->cpus_available);
	if (file->total_memory_kb)
		fprintf(out, "  %-10s %.1f GiB\n", "memory",
			(double)file->total_memory_kb / (1 << 20));
	const struct sp_cpu_topology *topology = &file->topology;
	if (topology->packages && topology->cores) {
		fprintf(out, "  %-10s %" PRIu32 " CPUs", "topology", file->cpus_available);
		put_count(topology->cores, "core", out);
		put_count(topology->dies, "die", out);
		put_count(topology->packages, "package", out);
		putc('\n', out);
	}
	for (size_t i = 0; i < file->numa_node_count; i++) {
		const struct sp_numa_node *node = sp_file_numa_node(file, i);
		fprintf(out, "  %-10s node %" PRIu32 ": %.1f GiB", i ? "" : "numa", node->node,
			(double)node->total_kb / (1 << 20));
		if (*node->cpus)
			fputs(", CPUs ", out);
		term_put(&term, node->cpus, 0, out);
		putc('\n', out);
	}
	put_line(&term, "version", file->version, out);
	put_command(&term, file->cmdline, out);
	put_time(info, &term, out);
	char buffer[16];
	bool first = true;
	int column = 0, most = term.width && term.width < 78 ? term.width : 78;
	for (unsigned int bit = 0; bit < INFO_FEATURE_BITS; bit++) {
		if (!sp_reader_has_feature(info->reader, bit))
			continue;
		const char *name = info_feature(bit, buffer, sizeof(buffer));
		if (first)
			column = fprintf(out, "  %-10s", "features");
		else if (column + 1 + (int)strlen(name) > most)
			column = fprintf(out, "\n%12s", "") - 1;
		column += fprintf(out, " %s", name);
		first = false;
	}
	if (!first)
		putc('\n', out);
	put_stored(&info->stored, out);
	putc('\n', out);
	put_events(info, &term, out);
	put_records(info, &term, out);
	if (info->verbose)
		info_print_details(info, &term, out);
	if (info->slices)
		info_print_losses(info, &term, out);
	char text[INPUT_TEXT];
	if (input_unfinished(info->reader, text))
		fprintf(out, "\n%c%s.\n", text[0] - 'a' + 'A', text + 1);
	put_notes(info, &term, out);
	put_damage(info, &term, out);
}
