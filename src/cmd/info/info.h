/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Content of `sprof info`'s output. */
#ifndef CMD_INFO_INFO_H
#define CMD_INFO_INFO_H

#include <stdio.h>
#include <sprof/sprof.h>
#include <sprof/private/losses.h>
#include <sprof/private/words.h>
#include "list.h"
#include "term.h"

/*
 * Record types with names are below this number. Up to a limit, other types get a row each; the rest
 * are added up.
 */
#define INFO_PLAIN_TYPES 128
#define INFO_OTHER_TYPES 64

#define INFO_FEATURE_BITS 256

/* Kind of the note that clocks are dithered, as in doc/FILE.md. */
#define INFO_DITHERED_NOTE 74

struct cpu_time_bins;

struct type_count {
	uint32_t type;
	uint64_t count;
};

struct info_note {
	char *text;
	struct sp_note note; /* its strings are no longer valid; use `text` */
};

struct info {
	struct sp_reader *reader;
	const struct sp_file_info *file;
	bool verbose;
	size_t event_count;
	uint64_t *samples; /* number of samples of each event */
	uint64_t unknown;  /* number of samples of no known event */
	struct sp_losses *losses;
	struct cpu_time_bins *slices; /* NULL unless --losses is given */
	const struct sp_finding *const *findings; /* NULL unless --findings is given */
	size_t finding_count;
	LIST(struct info_note) notes;
	uint64_t plain[INFO_PLAIN_TYPES];
	struct type_count others[INFO_OTHER_TYPES]; /* other record types and their counts, ordered by type
						     * number */
	size_t other_count;
	uint64_t rest;
	uint64_t throttled;
	struct sp_archive_summary stored; /* names and files that the recording stores */
	bool timed; /* at least one sample has a time */
	uint64_t first_ns, last_ns;
};

/* Returns whether the rates of clocks vary at random. */
static inline bool info_is_dithered(const struct info *info)
{
	for (size_t i = 0; i < info->notes.count; i++)
		if (info->notes.items[i].note.kind == INFO_DITHERED_NOTE)
			return true;
	return false;
}

/* Finds an event that samples in step with timers. A rate that varies is not in step. */
static inline bool info_finds_lock_in(const struct info *info, const struct perf_event_attr *attr,
				      struct sp_lock_in *ret)
{
	return !(attr->freq && info_is_dithered(info)) && sp_lock_in_find(attr, 0, ret);
}

/* Returns the form of the recording: "file", "pipe" or "directory". */
const char *info_mode(const struct info *info);

/* Returns perf's name of a feature, or its number written to the buffer. */
const char *info_feature(unsigned int bit, char *buffer, size_t size);

struct json;

/* Print all attrs and features: as text, and as members of a JSON object. */
void info_print_details(const struct info *info, const struct term *term, FILE *out);
void info_json_details(const struct info *info, struct json *json);

/* Print losses by CPU, time and thread: as text, and as JSON. */
void info_print_losses(const struct info *info, const struct term *term, FILE *out);
void info_json_losses(const struct info *info, struct json *json);

/*
 * Prints the header in lines that begin with #, as perf script --header does. Prints the readable part
 * of damaged features.
 */
void info_print_header(const struct sp_reader *reader, FILE *out);

void info_write_json(const struct info *info, FILE *out);
void info_write_text(const struct info *info, FILE *out);

#endif
