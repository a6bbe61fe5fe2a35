/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/output/dsos.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/format.h"
#include "binary/identity.h"
#include "elf/image.h"
#include "record/content.h"
#include "writer/features_write.h"

/* Layout of MMAP2 and HEADER_BUILD_ID records, as perf_event_open(2) has them. */
enum {
	MMAP2_PID = 8,
	MMAP2_MAJ = 40,
	MMAP2_MIN = 44,
	MMAP2_INO = 48,
	MMAP2_BUILD_ID_SIZE = 40,
	MMAP2_BUILD_ID = 44,
	MMAP2_PROT = 64,
	MMAP2_FILENAME = 72,
	BUILD_ID_BYTES = 12,
	BUILD_ID_SIZE = 32,
	BUILD_ID_FILENAME = 36,
	BUILD_ID_MAX = 20,
};

/* Read at the end of a recording: 0.1 s from the page cache. */
#define CONTENT_BYTES_MAX ((uint64_t)256 << 20)

/*
 * Number of files that are gone, or replaced, after which no further file is opened: any user can
 * map files under ever new names, and each takes a tenth of a millisecond.
 */
#define GONE_MAX 4096

/* Time after which no further file is opened: links to a file without a build-id are free. */
#define COMPLETE_NS UINT64_C(3000000000)

void dsos_deinit(struct dsos *dsos)
{
	strtab_deinit(&dsos->names);
	u64map_deinit(&dsos->index);
	vec_deinit(&dsos->known);
	vec_deinit(&dsos->unknown);
	vec_deinit(&dsos->contents);
}

static struct sp_error *add_known(struct dsos *dsos, const uint8_t *build_id, uint8_t size,
				  const char *name)
{
	bool added;
	uint64_t key = hash_pair(hash_bytes(build_id, size), (uintptr_t)name);
	NEED(u64map_put(&dsos->index, key, 0, &added));
	if (!added)
		return NULL;
	struct sp_build_id *slot = vec_push(&dsos->known);
	NEED(slot);
	*slot = (struct sp_build_id){.build_id_size = size, .filename = name};
	dsos->table_bytes += feature_build_id_bytes(name);
	memcpy(slot->build_id, build_id, size);
	return NULL;
}

static struct sp_error *add_mmap2(struct dsos *dsos, const struct perf_event_header *header,
				  const uint8_t *record)
{
	if (header->size <= MMAP2_FILENAME || !(bytes_u32(record + MMAP2_PROT) & PROT_EXEC))
		return NULL;
	const char *text = (const char *)record + MMAP2_FILENAME;
	const char *name = strtab_add_sized(&dsos->names, text,
					    strnlen(text, header->size - MMAP2_FILENAME));
	NEED(name);
	uint8_t size = record[MMAP2_BUILD_ID_SIZE];
	if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && size && size <= BUILD_ID_MAX)
		return add_known(dsos, record + MMAP2_BUILD_ID, size, name);
	/* "//anon", "[vdso]" and similar names are no files. */
	if (name[0] != '/' || name[1] == '/')
		return NULL;
	bool added;
	struct dso_unknown unknown = {
		.path = name,
		.pid = bytes_u32(record + MMAP2_PID),
		.maj = bytes_u32(record + MMAP2_MAJ),
		.min = bytes_u32(record + MMAP2_MIN),
		.ino = bytes_u64(record + MMAP2_INO),
	};
	uint64_t file = hash_pair(makedev(unknown.maj, unknown.min), unknown.ino);
	NEED(u64map_put(&dsos->index, hash_pair(file, (uintptr_t)name), 0, &added));
	if (!added)
		return NULL;
	NEED(vec_append(&dsos->unknown, unknown));
	dsos->table_bytes += feature_build_id_bytes(name);
	return NULL;
}

static struct sp_error *add_build_id(struct dsos *dsos, const struct perf_event_header *header,
				     const uint8_t *record)
{
	if (header->size <= BUILD_ID_FILENAME)
		return NULL;
	const char *text = (const char *)record + BUILD_ID_FILENAME;
	const char *name = strtab_add_sized(&dsos->names, text,
					    strnlen(text, header->size - BUILD_ID_FILENAME));
	uint8_t size = record[BUILD_ID_SIZE];
	NEED(name);
	if (!size || size > BUILD_ID_MAX)
		size = BUILD_ID_MAX;
	return add_known(dsos, record + BUILD_ID_BYTES, size, name);
}

struct sp_error *dsos_add_records(struct dsos *dsos, const uint8_t *bytes, size_t size)
{
	struct sp_error *error = NULL;
	for (size_t at = 0; at + sizeof(struct perf_event_header) <= size && !error;) {
		struct perf_event_header header;
		memcpy(&header, bytes + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - at)
			break;
		/* Checked before names are interned, because these are never freed. */
		dsos->full |= dsos->index.count >= DSOS_MAX ||
			      dsos->table_bytes >= DSOS_BYTES_MAX;
		if (dsos->full)
			break;
		if (header.type == PERF_RECORD_MMAP2)
			error = add_mmap2(dsos, &header, bytes + at);
		else if (header.type == SP_RECORD_HEADER_BUILD_ID)
			error = add_build_id(dsos, &header, bytes + at);
		at += header.size;
	}
	return error;
}

/*
 * Opens the mapped file; NULL if its path in `root` (NULL: here) has no or another file now. Sets
 * *replaced_ret if that is certainly another one.
 */
static struct image *open_mapped(struct proxies *proxies, const char *root,
				 const struct dso_unknown *unknown, bool *replaced_ret)
{
	struct image *image;
	struct sp_error *error = image_open_guarded(proxies, root, unknown->path, &image);
	if (error) {
		sp_error_free(error);
		return NULL;
	}
	/* stat(2) has anonymous devices for btrfs and overlayfs: see binary/identity.h. */
	if (image->inode == unknown->ino &&
	    (!major(image->device) || image->device == makedev(unknown->maj, unknown->min)))
		return image;
	*replaced_ret |= image->inode != unknown->ino && !identity_inode_unreliable(image->fd);
	image_free(image);
	return NULL;
}

/*
 * Adds a file's size and hash, unless it cannot be read, or its path is too long for a record.
 * `image` NULL: the path has another file, which size 0 states.
 */
static struct sp_error *add_content(struct dsos *dsos, const struct dso_unknown *unknown,
				    const struct image *image, uint64_t *left)
{
	struct file_content content = {
		.path = unknown->path,
		.size = image ? image->size : 0,
		.ino = unknown->ino,
		.maj = unknown->maj,
		.min = unknown->min,
	};
	uint64_t hashed = content.size < CONTENT_HASHED ? content.size : CONTENT_HASHED;
	if (hashed > *left || (image && !identity_hash(image, &content.hash)))
		return NULL;
	*left -= hashed;
	struct sp_error *error = record_encode_content(&dsos->contents, &content);
	if (error && sp_error_code(error) == SP_ERROR_LIMIT)
		sp_error_free(take_ptr(error));
	return error;
}

struct sp_error *dsos_complete(struct dsos *dsos, struct proxies *proxies)
{
	struct sp_error *error = NULL;
	uint64_t left = CONTENT_BYTES_MAX, begin_ns = clock_ns(CLOCK_MONOTONIC);
	size_t gone = 0;
	for (size_t i = 0; i < dsos->unknown.count && gone < GONE_MAX && !error; i++) {
		if (clock_ns(CLOCK_MONOTONIC) - begin_ns > COMPLETE_NS)
			break;
		const struct dso_unknown *unknown = &dsos->unknown.items[i];
		/* The process may have a mount namespace of its own, as long as it lives. */
		char root[32];
		snprintf(root, sizeof(root), "/proc/%u/root", unknown->pid);
		bool replaced = false;
		CLEANUP(cleanup_image_free)
		struct image *image = open_mapped(proxies, root, unknown, &replaced) ?:
				      open_mapped(proxies, NULL, unknown, &replaced);
		gone += !image;
		if (image && image->build_id_size)
			error = add_known(dsos, image->build_id, image->build_id_size, unknown->path);
		else if (image || replaced)
			error = add_content(dsos, unknown, image, &left);
	}
	dsos->unknown.count = 0;
	return error;
}
