/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts that `sprof info` prints. */
#ifndef CMD_INFO_INFO_H
#define CMD_INFO_INFO_H

#include <stdio.h>
#include <sprof/sprof.h>
#include <sprof/private/losses.h>
#include "list.h"
#include "term.h"

/* Types that have names are below; others are listed up to so many, then summed. */
#define INFO_PLAIN_TYPES 128
#define INFO_OTHER_TYPES 64

#define INFO_FEATURE_BITS 256

struct slices;

struct type_count {
	uint32_t type;
	uint64_t count;
};

struct info_note {
	char *text;
	struct sp_note note; /* its strings are invalid */
};

struct info {
	struct sp_reader *reader;
	const struct sp_file_info *file;
	bool verbose;
	size_t event_count;
	uint64_t *samples; /* one for each event */
	uint64_t unknown;  /* samples without an event */
	struct sp_losses *losses;
	struct slices *slices; /* NULL: not wanted */
	const struct sp_finding *const *findings; /* NULL: not wanted */
	size_t finding_count;
	LIST(struct info_note) notes;
	uint64_t plain[INFO_PLAIN_TYPES];
	struct type_count others[INFO_OTHER_TYPES]; /* by type */
	size_t other_count;
	uint64_t rest;
	uint64_t throttled;
	bool timed; /* some sample has a time */
	uint64_t first_ns, last_ns;
};

/* "file", "pipe" or "directory" */
const char *info_mode(const struct info *info);

/* perf's name of a feature, or its number, in the buffer. */
const char *info_feature(unsigned int bit, char *buffer, size_t size);

struct json;

/* All attrs and features, as text and as members of an object. */
void info_put_details(const struct info *info, const struct term *term, FILE *out);
void info_json_details(const struct info *info, struct json *json);

/* Losses by CPU, time and thread. */
void info_put_losses(const struct info *info, const struct term *term, FILE *out);
void info_json_losses(const struct info *info, struct json *json);

/*
 * The header in lines that begin with #, as perf script --header has it; of features that are
 * damaged what can be read.
 */
void info_put_header(const struct sp_reader *reader, FILE *out);

void info_write_json(const struct info *info, FILE *out);
void info_write_text(const struct info *info, FILE *out);

#endif
