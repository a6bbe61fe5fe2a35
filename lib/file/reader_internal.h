/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the reader share. Opening goes in steps, each in its file:
 *
 *	reader.c           what kind of file it is; the order of the steps
 *	reader_header.c    header, attrs, ids; where the data lies
 *	reader_when.c      what time is missing where the data is damaged
 *	reader_scan.c      the same out of the records of a stream
 *	reader_flatten.c   compressed data, directories -> one flat file
 *	reader_features.c  the feature table, and what the features say
 *	walker.c           the records
 *	chain.c            where records seem to begin
 */
#ifndef FILE_READER_INTERNAL_H
#define FILE_READER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "base/arena.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "file/format.h"
#include "file/reader.h"
#include "record/length.h"

#define FEATURE_BITS 256

/* The magic of perf before 2.6.39: characters, in either byte order. */
#define FILE_MAGIC_V1 "PERFFILE"

/* Damage beyond this many places is counted, not described. */
#define DAMAGE_LISTED 1000

/* A place that is in the list, and where in the flat data something is missing for it. */
struct damage {
	struct sp_damage shown;
	uint64_t place;  /* DAMAGE_NOWHERE: nothing is; DAMAGE_OF_FILE: where it is in the file */
	bool between;    /* `place` is between records: what is there is good */
	bool of_data;    /* met by who goes through the records */
};

#define DAMAGE_NOWHERE UINT64_MAX
#define DAMAGE_OF_FILE (UINT64_MAX - 1)
#define DAMAGE_AT_END (UINT64_MAX - 2) /* behind the last record */

struct feature_payload {
	bool present;
	struct sp_bytes bytes; /* in the reader's arena */
	uint64_t offset;       /* in the file, for messages */
};

struct sp_reader {
	struct sp_ctx *ctx;
	const char *path;      /* for messages */
	const char *data_path; /* the same of data_fd */
	int fd;                /* the file, or the spool that a stream was copied to */
	int data_fd;           /* fd, or the spool with the flat records */
	int directory_fd;      /* -1: none */
	uint64_t file_size;    /* of fd */
	bool swap;
	bool pipe_format;
	struct reader_extent extent;
	uint64_t cut_at; /* offset of the damage that the data ends too soon; 0: it does not */
	/*
	 * The fields of each sample are held against its size: one was seen whose size swallows
	 * records behind it.
	 */
	atomic_bool exact;
	bool says_unfinished;   /* the list of damage does */
	bool features_in_front; /* payloads of the table lie in front of the data … */
	bool features_behind;   /* … or behind it */
	bool has_feature_records;
	struct arena arena; /* everything below that is not a vec */
	VEC(struct sp_event) events;
	struct feature_payload features[FEATURE_BITS];
	uint64_t loaded;  /* bytes read so far; never more than the file holds */
	bool no_memory;   /* something of the above could not be kept */
	struct sp_file_info info;
	struct record_layout layout;
	struct lengths lengths; /* of records of any event, until the events are known */

	pthread_mutex_t damage_lock;
	VEC(struct damage) damage; /* by offset */
	uint64_t damage_unlisted;
	struct sp_damage damage_more; /* behind the listed ones, if there are more */
	char damage_more_what[64];

	/* sp_reader_next() */
	struct walker *walker;
	struct decoder *decoder;
	struct sp_record record;
};

/* Damage that opening reads past: goes into sp_reader_damage(). */
void reader_note(struct sp_reader *reader, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As reader_add_damage(), at an offset of the file itself. Takes the error. */
void reader_add_file_damage(struct sp_reader *reader, uint64_t offset, struct sp_error *error);

/*
 * The same where records should come out that are not copied into the flat data, of which
 * `place` is then the end. Takes the error.
 */
void reader_add_gap(struct sp_reader *reader, uint64_t offset, uint64_t place,
		    struct sp_error *error);

/*
 * A record of the file at `path`, or of its flat data, says to be longer than what it holds, and
 * records begin behind that: nothing is missing.
 */
void reader_add_resized(struct sp_reader *reader, const struct raw_record *raw, size_t length,
			const char *path, bool of_data);
/* The same of a sample of the flat data: from now on walkers look at each. */
void reader_add_resized_sample(struct sp_reader *reader, uint64_t offset, size_t size,
			       size_t fields);

/* A copy in the arena with a NUL behind; NULL, remembered in no_memory, if out of memory. */
char *reader_copy_text(struct sp_reader *reader, const void *bytes, size_t size);

void reader_set_swap(struct sp_reader *reader, bool swap);

/* `size` bytes of the file at `offset`, in the arena; fails if the file has fewer. */
struct sp_error *reader_load(struct sp_reader *reader, uint64_t offset, uint64_t size,
			     const uint8_t **ret) SP_MUST_CHECK;

struct cursor reader_cursor(const struct sp_reader *reader, const void *bytes, size_t size,
			    uint64_t offset);

/* reader_header.c: what the header of a file (not a stream) leads to. */
struct header_info {
	uint64_t size, attr_size;
	struct file_section attrs, data;
	uint64_t features[FEATURE_BITS / 64];
	bool data_ends_unknown; /* data.size was not written, or is wrong */
	bool data_never_ended;  /* the recorder did not live to write data.size */
};

struct sp_error *header_read(struct sp_reader *reader, struct header_info *ret) SP_MUST_CHECK;
struct sp_error *header_read_events(struct sp_reader *reader, const struct header_info *header)
	SP_MUST_CHECK;

/* Adds an event; takes nothing: ids and name must be in the arena. */
struct sp_error *reader_add_event(struct sp_reader *reader, const struct perf_event_attr *attr,
				  const struct sp_attr_tail *tail, const uint64_t *ids,
				  size_t id_count) SP_MUST_CHECK;

/* reader_features.c */
struct sp_error *features_read_table(struct sp_reader *reader, const struct header_info *header)
	SP_MUST_CHECK;
/* Whether most of what lies where the table should be cannot be one: data.size is wrong. */
bool features_table_misplaced(const struct sp_reader *reader, const struct header_info *header);
/* The payload is in the arena. A feature that is there already stays. */
void features_put(struct sp_reader *reader, uint64_t bit, struct sp_bytes payload,
		  uint64_t offset);
/* The same for a payload that must be copied. */
struct sp_error *features_add(struct sp_reader *reader, uint64_t bit, struct sp_bytes payload,
			      uint64_t offset) SP_MUST_CHECK;
/* Over its payload; empty where it is absent. */
struct cursor feature_cursor(const struct sp_reader *reader, enum file_feature bit);
bool feature_is_there(const struct sp_reader *reader, enum file_feature bit);
/* A text of a feature, copied; false where it is cut short, or out of memory. */
bool feature_text(struct sp_reader *reader, struct cursor *cursor, const char **ret);

/* reader_topology.c */
void topology_interpret(struct sp_reader *reader);

/* Fills the info and the events' names from the features that were added. */
struct sp_error *features_interpret(struct sp_reader *reader) SP_MUST_CHECK;

/* reader_scan.c: what the records that begin in the extent say of the recording. */
struct sp_error *reader_scan(struct sp_reader *reader, struct reader_extent extent) SP_MUST_CHECK;

/* event_name.c: what perf would call it; in the arena. */
struct recorded_names;
const char *event_name_derive(struct sp_reader *reader, const struct perf_event_attr *attr,
			      const struct recorded_names *names);

#endif
