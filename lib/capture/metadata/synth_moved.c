/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that a program moved: it copied its text to memory without a file at the same addresses, to
 * have it in huge pages. The kernel's records then have "//anon" there. A page that equals the
 * file's at the same place proves the copy, and a MMAP2 record of the file gives it its names back.
 *
 * Such memory is between two mappings of one file, or before the first one if that does not begin
 * at the file's start. Memory of JIT compilers is elsewhere, so that no file is opened for it.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "binary/binary.h"
#include "capture/metadata/synth_internal.h"
#include "proc/maps.h"

/* Limits for each call: files that are opened, and pages of the process that are read. */
#define FILES_MAX 16
#define PAGES_MAX 64

/* Segments of a file: each is compared with each. Linkers make a dozen. */
#define SEGMENTS_MAX 64

/* Parts of code between two mappings of files. */
#define RANGES_MAX 16

/* Pages that are compared in one part: its owner may have changed some (breakpoints, patches). */
#define TRIES 4

#define PAGE 4096

struct address_range {
	uint64_t start, end;
};

/* Place of a file in the process: a mapping of the file, and one of its segments. */
struct moved_file {
	const struct image *image;
	const struct maps_entry *entry;
	uint64_t bias; /* address minus vaddr */
};

struct moved_code_search {
	struct synth *synth;
	uint32_t pid, tid; /* `tid`: a thread that has not ended */
	struct binary_env env;
	struct maps_entry below;        /* last mapping of a file; its path is not valid */
	struct address_range ranges[RANGES_MAX]; /* code without a file since */
	size_t range_count;
	unsigned int files, pages;      /* opened and read */
	size_t unproven;                /* parts of code that no page proved */
};

struct page_job {
	uint32_t tid;
	bool is_good;
	uint64_t address;
	uint8_t bytes[PAGE];
};

bool synth_is_memory(const char *path)
{
	static const char *const starts[] = {"//anon", "[anon", "/memfd:", "/anon_hugepage",
					     "/dev/zero", "/SYSV"};
	for (size_t i = 0; i < count_of(starts); i++)
		if (strncmp(path, starts[i], strlen(starts[i])) == 0)
			return true;
	return !*path;
}

static int read_page(void *bytes)
{
	struct page_job *job = bytes;
	struct iovec local = {job->bytes, PAGE}, remote = {(void *)(uintptr_t)job->address, PAGE};
	job->is_good = process_vm_readv(job->tid, &local, 1, &remote, 1, 0) == PAGE;
	return -1;
}

/* Returns whether a page of the process equals the file's. Padding proves nothing. */
static bool is_equal(struct moved_code_search *search, const struct image *image, uint64_t address,
		     uint64_t file_offset)
{
	struct proxies *proxies = proxies_for_memory(ctx_proxies(search->synth->ctx));
	struct page_job job = {.tid = search->tid, .address = address};
	struct image_bytes page = {0};
	if (search->pages++ >= PAGES_MAX || file_offset >= image->size)
		return false;
	uint64_t left = image->size - file_offset, size = left < PAGE ? left : PAGE;
	struct sp_error *error = image_range_bytes(image, file_offset, size, &page);
	bool good = !error && memcmp(page.bytes, page.bytes + 1, size - 1) &&
		    proxy_run(proxies, search->pid, read_page, &job, sizeof(job), NULL) &&
		    job.is_good && !memcmp(page.bytes, job.bytes, size);
	image_bytes_release(&page);
	sp_error_free(error);
	return good;
}

/* Writes the record of the file for a part of its code. */
static struct sp_error *put_part(struct moved_code_search *search, const struct moved_file *place,
				 const struct address_range *part, uint64_t file_offset)
{
	const struct image *image = place->image;
	CLEANUP_FREE char *room = NULL;
	struct sp_record record = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};
	TRY(maps_entry_mmap(place->entry, search->pid, &record.mmap, &room));
	record.mmap.start = part->start;
	record.mmap.size = part->end - part->start;
	record.mmap.file_offset = file_offset;
	record.mmap.prot = PROT_READ | PROT_EXEC;
	/* The kernel's records of the file's other mappings have it, too. */
	if (search->synth->attr.build_id && image->build_id_size) {
		record.mmap.build_id_size = image->build_id_size;
		memcpy(record.mmap.build_id, image->build_id, image->build_id_size);
	}
	return synth_put(search->synth, &record, search->pid, search->pid);
}

/* Writes the record of a segment's part in the range, if a page proves it. */
static struct sp_error *prove(struct moved_code_search *search, const struct moved_file *place,
			      const struct image_load *load, const struct address_range *range,
			      bool *is_part_ret)
{
	uint64_t mask = ~(uint64_t)(PAGE - 1);
	uint64_t first = place->bias + (load->vaddr & mask);
	uint64_t last = place->bias + ((load->vaddr + load->file_size + PAGE - 1) & mask);
	struct address_range part = {range->start > first ? range->start : first,
				     range->end < last ? range->end : last};
	if (part.start >= part.end || last < first)
		return NULL;
	*is_part_ret = true;
	uint64_t file_offset = (load->file_offset & mask) + (part.start - first);
	uint64_t pages = (part.end - part.start) / PAGE, tries = pages < TRIES ? pages : TRIES;
	for (uint64_t i = 0; i < tries; i++) {
		uint64_t at = i * pages / tries * PAGE;
		if (is_equal(search, place->image, part.start + at, file_offset + at))
			return put_part(search, place, &part, file_offset);
	}
	search->unproven++;
	return NULL;
}

/* The segments' ends share pages of the file, so that an offset may be in two of them. */
static struct sp_error *prove_range(struct moved_code_search *search, struct moved_file *place,
				    const struct address_range *range)
{
	const struct image *image = place->image;
	const struct maps_entry *entry = place->entry;
	bool is_part = false;
	if (image->loads.count > SEGMENTS_MAX)
		return NULL;
	for (size_t i = 0; i < image->loads.count && !is_part; i++) {
		const struct image_load *in = &image->loads.items[i];
		uint64_t start = in->file_offset & ~(uint64_t)(PAGE - 1);
		if (entry->file_offset < start ||
		    entry->file_offset >= in->file_offset + in->file_size)
			continue;
		place->bias = entry->start - (entry->file_offset - start) -
			      (in->vaddr & ~(uint64_t)(PAGE - 1));
		vec_each (load, &image->loads)
			if (load->executable)
				TRY(prove(search, place, load, range, &is_part));
	}
	return NULL;
}

/* Compares the ranges with the file that is mapped above them. */
static struct sp_error *prove_ranges(struct moved_code_search *search,
				     const struct maps_entry *above)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	CLEANUP_FREE char *room = NULL;
	struct diagnosis diagnosis = {0};
	struct sp_mmap mmap;
	if (search->files++ >= FILES_MAX)
		return NULL;
	TRY(maps_entry_mmap(above, search->pid, &mmap, &room));
	const struct module module = {
		.kind = MODULE_FILE, .path = mmap.filename, .name = mmap.filename,
		.maj = mmap.maj, .min = mmap.min, .ino = mmap.ino, .pid = search->pid,
		.is_64bit = true,
	};
	struct sp_error *error =
		binary_open(&search->env, &module, search->pid, &diagnosis, &image);
	diagnosis_clear(&diagnosis);
	struct moved_file place = {.image = image, .entry = above};
	for (size_t i = 0; i < search->range_count && image && !error; i++)
		error = prove_range(search, &place, &search->ranges[i]);
	return error;
}

static bool is_same_file(const struct maps_entry *a, const struct maps_entry *b)
{
	return a->ino && a->ino == b->ino && a->maj == b->maj && a->min == b->min;
}

static struct sp_error *on_mapping(struct moved_code_search *search, const struct maps_entry *entry)
{
	bool is_file = entry->ino && entry->path[0] == '/' && !synth_is_memory(entry->path);
	if (!is_file) {
		bool is_code = entry->prot & PROT_EXEC && synth_is_memory(entry->path);
		if (is_code && search->range_count < RANGES_MAX)
			search->ranges[search->range_count++] =
				(struct address_range){entry->start, entry->end};
		return NULL;
	}
	struct sp_error *error = NULL;
	bool is_inside = is_same_file(entry, &search->below);
	if (search->range_count && (is_inside || entry->file_offset))
		error = prove_ranges(search, entry);
	search->range_count = 0;
	search->below = *entry;
	return error;
}

static struct sp_error *search_maps(struct moved_code_search *search, size_t limit)
{
	CLEANUP(cleanup_maps_free) struct maps *maps = NULL;
	const struct maps_entry *entry;
	TRY(maps_open_first(search->synth->ctx, search->pid, search->tid, MAPS_ALL, limit, &maps));
	struct sp_error *error = maps_next(maps, &entry);
	while (!error && entry) {
		error = on_mapping(search, entry);
		if (!error)
			error = maps_next(maps, &entry);
	}
	return error;
}

struct sp_error *synth_moved(struct synth *synth, uint32_t pid, uint32_t tid, size_t limit,
			     size_t *unproven_ret)
{
	const struct provenance here = {.same_kernel = true, .host = HOST_SAME};
	struct moved_code_search search = {.synth = synth, .pid = pid, .tid = tid};
	*unproven_ret = 0;
	TRY(binary_env_init(&search.env, synth->ctx, NULL, &here));
	search.env.proxies = ctx_proxies(synth->ctx);
	struct sp_error *error = search_maps(&search, limit);
	binary_env_deinit(&search.env);
	*unproven_ret = search.unproven;
	/* The process has ended, or may not be read. */
	if (error && sp_error_code(error) != SP_ERROR_NO_MEMORY)
		sp_error_free(take_ptr(error));
	return error;
}
