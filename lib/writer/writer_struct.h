/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the writer, and steps that both writing and closing need. */
#ifndef WRITER_WRITER_STRUCT_H
#define WRITER_WRITER_STRUCT_H

#include "base/error.h"
#include "base/vec.h"
#include "writer/commit.h"
#include "writer/features_write.h"
#include "writer/output.h"
#include "writer/packing.h"
#include "writer/preallocate.h"

/* Entry of feature AUXTRACE: the record's offset, and its size without the trace. */
struct auxtrace_place {
	uint64_t offset, size;
};

struct writer {
	struct output output;
	char *name; /* name of the output, for messages */
	struct feature_set features;
	struct record_buffer pending; /* small writes, up to PENDING_SIZE bytes; empty with compression */
	struct packing packing;
	struct { VEC(struct auxtrace_place); } traces; /* AUXTRACE records in the file */
	uint64_t end;         /* offset after the last whole record in the file */
	uint64_t build_id_bytes; /* space reserved for build-ids */
	struct commit commit;       /* state of commits, for a file */
	struct preallocation space; /* allocated space, for a file */
	int errnum;           /* errno of the first failed write; 0: none */
	uint64_t samples;     /* number of samples passed to the writer */
	uint64_t unwritten;   /* number of these that are not in the file */
};

/* Returns the remedy for an error of a write, sync or close. */
const char *writer_remedy(int errnum);

/* Returns the error of a failed sync. */
struct sp_error *writer_sync_error(const struct writer *writer, int errnum);

/* Writes whole records to the file. On failure, counts the samples that are not in it. */
struct sp_error *writer_append(struct writer *writer, const struct iovec *spans,
			       int count) SP_MUST_CHECK;

/* Syncs the directory of the file, if syncs are requested. */
struct sp_error *writer_sync_name(const struct writer *writer) SP_MUST_CHECK;

#endif
