/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long a record is by what it holds, of all types but SAMPLE, whose decoder says it: fields of
 * a fixed size, strings that end in NUL, arrays whose count stands before them, all of it up to a
 * multiple of 8, and of kernel records a sample_id or, where the writer made them up, none.
 *
 * What is behind that may be from a later kernel or perf; records whose size only their header
 * says (HEADER_ATTR, HEADER_FEATURE, COMPRESSED, …) are not judged.
 */
#ifndef RECORD_LENGTH_H
#define RECORD_LENGTH_H

#include <sprof/reader.h>
#include "record/raw.h"

#define LENGTH_FORMATS 4

/*
 * Whether an MMAP2 is of Linux 3.12 to 3.15, without prot and flags, by the first byte in their
 * place. A name begins with '/' or '['. Neither prot nor a file's mode, which `perf inject --jit`
 * writes there, has these bits.
 */
static inline bool mmap2_is_old(uint8_t byte)
{
	return byte == '/' || byte == '[';
}

/* Facts of the events' attrs that decide lengths. */
struct lengths {
	uint8_t trailers; /* bit n: there are sample_ids of n words */
	uint8_t format_count;
	uint64_t formats[LENGTH_FORMATS]; /* READ's: distinct read_formats */
};

/* Lengths for unknown events: any sample_id. */
struct lengths lengths_of_any(void);
/* More read_formats than LENGTH_FORMATS: READ records are not judged. */
struct lengths lengths_of(const struct sp_event *events, size_t count);

/*
 * Whether raw->size is surely what a kernel's record holds: quick, and true of nearly all. Its bytes
 * are of the other byte order where `swap`.
 */
bool lengths_fit(const struct lengths *lengths, const struct raw_record *raw, bool swap);

/* Room for what lengths_below() gives: a sample_id has up to six words. */
#define LENGTHS_MAX (7 * LENGTH_FORMATS)

/*
 * The lengths, less than raw->size, that the record may have by what it holds: without a sample_id
 * first. None of a kernel's record if raw->size is one that it may have, too, nor where nothing says
 * it.
 */
size_t lengths_below(const struct lengths *lengths, const struct raw_record *raw, bool swap,
		     size_t ret[LENGTHS_MAX]);

/*
 * Returns the end of a kernel record's fields, where its sample_id begins (not for SAMPLE and
 * READ). 0 if they do not fit, or if the fields do not state their size.
 */
size_t record_fields_end(const struct raw_record *raw, bool swap);

#endif
