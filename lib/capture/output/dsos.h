/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The mapped files, each once, with their build-ids, for the file's feature table. */
#pragma once

#include <stdbool.h>
#include <sprof/record.h>
#include "base/hash.h"
#include "base/proxy.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "record/encode.h"

/* A file with a mapping without build-id. */
struct dso_unknown {
	const char *path;
	uint32_t pid, maj, min; /* the first process that mapped it; the file's device */
	uint64_t ino;
};

struct dsos {
	struct strtab names;
	struct u64map index; /* keys: hash of build-id and name, and of file and name; no values */
	struct { VEC(struct sp_build_id); } known;
	struct { VEC(struct dso_unknown); } unknown;
	struct record_buffer contents; /* records of files without a build-id (record/content.h) */
	uint64_t table_bytes; /* bytes of `known` and `unknown` in the file's table, at most */
	bool full;            /* some files were left out */
};

/*
 * Limits of files, and of their table, as names may have 4 KB: about 20 MB. Mappings of further
 * files still have build-ids.
 */
#define DSOS_MAX 65536
#define DSOS_BYTES_MAX ((uint64_t)16 << 20)

/* Zeroed, it is empty. */
void dsos_deinit(struct dsos *dsos);

/*
 * Adds the files of executable MMAP2 and HEADER_BUILD_ID records among `size` bytes of whole
 * records. Fails only when out of memory.
 */
struct sp_error *dsos_add_records(struct dsos *dsos, const uint8_t *bytes,
				  size_t size) SP_MUST_CHECK;

/*
 * Reads missing build-ids from the files, if these are still the mapped ones. Hashes files without
 * a build-id, up to 256 MB in all. Stops after 4,096 missing files. Proxies (NULL: none) open the
 * files.
 */
struct sp_error *dsos_complete(struct dsos *dsos, struct proxies *proxies) SP_MUST_CHECK;
