/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the writer, and steps that both writing and closing need. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include "base/error.h"
#include "base/vec.h"
#include "file/deflate.h"
#include "writer/commit.h"
#include "writer/features_write.h"
#include "writer/written_file.h"

/* Buffer of records that are to be compressed, one zstd frame at a time. */

/* A zeroed struct compresses nothing. */
struct packing {
	struct deflater *deflater;
	struct record_buffer raw;    /* records that are not compressed yet */
	struct record_buffer packed; /* result of packing_next() */
	struct record_buffer plain;  /* command lines among the last records, uncompressed */
	uint64_t raw_bytes, packed_bytes; /* total bytes before and after compression */
};

/* Prepares compression. With level 0, *packing stays zeroed. */
struct sp_error *packing_init(struct packing *packing, int level) SP_MUST_CHECK;
void packing_deinit(struct packing *packing);

/* Adds whole records to the buffer. */
struct sp_error *packing_add(struct packing *packing, const struct iovec *spans,
			     int count) SP_MUST_CHECK;

/*
 * Compresses the oldest whole records, at most DEFLATE_SIZE bytes, to `packed`; command lines go
 * to `plain`, so that an archive can overwrite their arguments in the file. All these records leave
 * the buffer even on failure. The buffer must not be empty. *samples_ret is the number of SAMPLE
 * records that left it.
 */
struct sp_error *packing_next(struct packing *packing, uint64_t *samples_ret) SP_MUST_CHECK;

/*
 * Discards all records that are not compressed yet, and returns the number of samples among them.
 */
uint64_t packing_drop(struct packing *packing);

/* Returns the compression ratio, rounded, at least 1. */
uint32_t packing_ratio(const struct packing *packing);

/*
 * Disk space for a growing file. fallocate(2) allocates it ahead of the data, and does not change
 * the file's size. The last `reserve` bytes are not for data: they are for closing the file on a
 * full disk.
 */

struct preallocation {
	int fd;               /* the file; borrowed */
	uint64_t allocated;   /* offset up to which space is allocated */
	uint64_t reserve;     /* bytes at the end of that space that are kept for closing */
	bool cannot_allocate; /* the file system does not support fallocate(2) */
};

/*
 * Allocates space for `size` bytes of data at offset `end`. Returns how many of them fit; if they
 * are fewer, *errnum_ret has the reason, else 0.
 */
uint64_t preallocate_room(struct preallocation *space, uint64_t end, uint64_t size,
			  int *errnum_ret);

/* Truncates the file to `size`, which frees the space after it. Returns 0 or the errno. */
int preallocate_cut(struct preallocation *space, uint64_t size);

/* Entry of feature AUXTRACE: the record's offset, and its size without the trace. */
struct auxtrace_place {
	uint64_t offset, size;
};

struct writer {
	struct written_file output;
	char *name; /* name of the output, for messages */
	struct feature_set features;
	struct record_buffer
		pending; /* small writes, up to PENDING_SIZE bytes; empty with compression */
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

/* Writes whole records to the file. On failure, counts the samples that are not in it. */
struct sp_error *writer_append(struct writer *writer, const struct iovec *spans,
			       int count) SP_MUST_CHECK;

/* Syncs the directory of the file, if syncs are requested. */
struct sp_error *writer_sync_name(const struct writer *writer) SP_MUST_CHECK;
