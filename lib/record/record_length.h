/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Computes how long a record is by its contents, for all types but SAMPLE, which its decoder
 * measures. The parts are fields of fixed size, strings that end in a NUL, and arrays after their
 * count, padded to a multiple of 8. Kernel records have a sample_id after that, or none if the
 * writer made the record itself.
 *
 * Bytes after these parts may be of a later kernel or perf. Records with a size that only their
 * header states (HEADER_ATTR, HEADER_FEATURE, COMPRESSED, …) are not measured.
 */
#pragma once

#include <sprof/reader.h>
#include <stdbool.h>
#include <stdint.h>
#include "record/raw.h"

#define LENGTH_FORMATS 4

/*
 * Returns whether an MMAP2 record is of Linux 3.12 to 3.15, without prot and flags, by the first byte
 * in their place. A name begins with '/' or '['. Neither prot nor a file's mode, which `perf inject
 * --jit` writes there, has these bits.
 */
static inline bool mmap2_is_old(uint8_t byte)
{
	return byte == '/' || byte == '[';
}

/* Properties of the events' attrs on which lengths depend. */
struct lengths {
	uint8_t trailers; /* bit n: some event has a sample_id of n words */
	uint8_t format_count;
	uint64_t formats[LENGTH_FORMATS]; /* distinct read_formats of READ records */
};

/* Returns lengths for unknown events, with any sample_id. */
struct lengths lengths_of_any(void);
/*
 * Returns the lengths of the events' records. With more read_formats than LENGTH_FORMATS, READ records
 * are not measured.
 */
struct lengths lengths_of(const struct sp_event *events, size_t count);

/*
 * Returns whether raw->size certainly fits the contents of a kernel record. This quick test passes for
 * nearly all records. `swap`: the bytes are in the other byte order.
 */
bool lengths_fit(const struct lengths *lengths, const struct raw_record *raw, bool swap);

/* Size of the array for lengths_below(): a sample_id has up to six words. */
#define LENGTHS_MAX (7 * LENGTH_FORMATS)

/*
 * Writes the lengths below raw->size that the record may have by its contents; those without a
 * sample_id come first. Returns their number: 0 for a kernel record if raw->size fits, too, or if the
 * contents state no length.
 */
size_t lengths_below(const struct lengths *lengths, const struct raw_record *raw, bool swap,
		     size_t ret[LENGTHS_MAX]);

/*
 * Returns the end of a kernel record's fields, where its sample_id begins (not for SAMPLE and
 * READ). 0 if they do not fit, or if the fields do not state their size.
 */
size_t record_fields_end(const struct raw_record *raw, bool swap);

/*
 * Records that the kernel gives a wrong size. perf_event_ksymbol_output(),
 * perf_event_bpf_output() and perf_event_text_poke_output() add the size of the
 * sample_id to one header that all events of a CPU are sent from, and do not take
 * it back (seen in Linux 6.18): with two recorders on a machine, the second one's
 * KSYMBOL and BPF_EVENT records say that they are one sample_id longer than what
 * was written of them, and end in whatever was in the ring before. perf looks for
 * the sample_id at the end, takes those bytes for time and id, and gives up. Their fields give
 * their length.
 */

bool record_size_is_doubtful(uint32_t type);
