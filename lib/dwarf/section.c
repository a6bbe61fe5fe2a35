/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/section.h"

#include <endian.h>
#include <stdio.h>
#include <sys/mman.h>
#include "base/hash.h"
#include "base/io.h"
#include "dwarf/leb.h"
#include "elf/extent.h"
#include "elf/unpack.h"

#define PAGE ((uint64_t)4096)
#define HUGE_PAGE ((uint64_t)2 << 20)
/*
 * Bytes by which the window around a missing page grows with each miss. A few strings cost a page
 * each; for a thousand strings, fewer and larger reads are made.
 */
#define WINDOW_GROWTH (PAGE / 32)
/*
 * Largest section that is read. Only address space is reserved for it, not memory. Larger ones are
 * hostile, or do not fit into 32-bit address space.
 */
#define RESERVED_MAX (sizeof(size_t) < 8 ? (uint64_t)1 << 30 : (uint64_t)64 << 30)
/* Longest string that is read; names and paths are far shorter. */
#define STRING_MAX ((uint64_t)64 << 10)
/* Limit of a compressed section's size: it is inflated whole. */
#define INFLATED_MAX (sizeof(size_t) < 8 ? (uint64_t)1 << 30 : (uint64_t)4 << 30)

/* Compressed size from which inflated sections are kept in the cache. */
#define KEPT_MIN ((uint64_t)8 << 10)
/* Folder in the cache. */
#define KEPT_FOLDER "debug"

/* ELFCOMPRESS_ZSTD, which old versions of elf.h lack. */
#define COMPRESSED_ZSTD 2

/* Names in an ELF file: plain, compressed by older GNU tools, and in a split file (.dwo). */
static const char *const names[SECTION_COUNT][3] = {
	[SECTION_INFO] = {".debug_info", ".zdebug_info", ".debug_info.dwo"},
	[SECTION_ABBREV] = {".debug_abbrev", ".zdebug_abbrev", ".debug_abbrev.dwo"},
	[SECTION_ADDR] = {".debug_addr", ".zdebug_addr", NULL},
	[SECTION_ARANGES] = {".debug_aranges", ".zdebug_aranges", NULL},
	[SECTION_LINE] = {".debug_line", ".zdebug_line", NULL},
	[SECTION_LINE_STR] = {".debug_line_str", ".zdebug_line_str", NULL},
	[SECTION_RANGES] = {".debug_ranges", ".zdebug_ranges", NULL},
	[SECTION_RNGLISTS] = {".debug_rnglists", ".zdebug_rnglists", ".debug_rnglists.dwo"},
	[SECTION_STR] = {".debug_str", ".zdebug_str", ".debug_str.dwo"},
	[SECTION_STR_OFFSETS] = {".debug_str_offsets", ".zdebug_str_offsets",
				 ".debug_str_offsets.dwo"},
	[SECTION_CU_INDEX] = {NULL, NULL, ".debug_cu_index"},
};

static Elf_Scn *find(const struct image *image, enum section_id id, bool split, GElf_Shdr *header,
		     bool *gnu_ret)
{
	*gnu_ret = false;
	if (split)
		return names[id][2] ? image_section(image, names[id][2], header) : NULL;
	Elf_Scn *found = names[id][0] ? image_section(image, names[id][0], header) : NULL;
	if (found || !names[id][1])
		return found;
	*gnu_ret = true;
	return image_section(image, names[id][1], header);
}

bool section_exists(const struct image *image, enum section_id id)
{
	GElf_Shdr header;
	bool gnu;
	return find(image, id, false, &header, &gnu) && header.sh_type != SHT_NOBITS &&
	       header.sh_size > 0;
}

struct sp_error *section_error(const struct section *section, uint64_t offset, const char *what)
{
	return error_new(SP_ERROR_FORMAT, "%s: %s: offset 0x%llx: %s", section->image->path,
			 section->name, (unsigned long long)offset, what);
}

/* Reserves address space for the section. For an image in memory, uses its bytes instead. */
static struct sp_error *reserve(struct section *section, const GElf_Shdr *header)
{
	if (section->image->memory) {
		section->bytes = (const uint8_t *)section->image->memory + header->sh_offset;
		return NULL;
	}
	uint64_t words = (section->size / PAGE + 64) / 64;
	section->loaded = calloc(words, sizeof(*section->loaded));
	void *memory = mmap(NULL, section->size + HUGE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return error_no_memory();
	section->mapping = memory;
	NEED(section->loaded);
	uintptr_t aligned = ((uintptr_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	section->reserved = (uint8_t *)memory + (aligned - (uintptr_t)memory);
	section->bytes = section->reserved;
	section->window = PAGE;
	return NULL;
}

struct sp_error *section_open(struct section *section, struct sp_ctx *ctx,
			      const struct image *image, enum section_id id, bool split)
{
	GElf_Shdr header;
	bool gnu;
	*section = (struct section){.ctx = ctx, .image = image, .name = names[id][split ? 2 : 0]};
	pthread_mutex_init(&section->lock, NULL);
	Elf_Scn *found = find(image, id, split, &header, &gnu);
	if (!found || header.sh_type == SHT_NOBITS || header.sh_size == 0)
		return NULL;
	if (header.sh_offset > image->size || header.sh_size > image->size - header.sh_offset ||
	    header.sh_size > RESERVED_MAX)
		return section_error(section, 0, "the section reaches past the end of the file");
	section->file_offset = header.sh_offset;
	if (!gnu && !(header.sh_flags & SHF_COMPRESSED)) {
		section->size = header.sh_size;
		return reserve(section, &header);
	}
	section->packed_size = header.sh_size;
	if (gnu)
		section->name = names[id][1];
	return NULL;
}

void section_close(struct section *section)
{
	if (section->mapping)
		munmap(section->mapping, section->size + HUGE_PAGE);
	free(section->loaded);
	image_bytes_release(&section->whole);
	disk_entry_free(section->kept);
	if (section->image)
		pthread_mutex_destroy(&section->lock);
	*section = (struct section){0};
}

/* Header of a compressed section. */
struct compression_header {
	uint32_t type;
	uint64_t size;        /* size after inflating */
	uint64_t header_size; /* size of the header, before the compressed bytes */
};

static bool read_packing(const struct section *section, const struct image_bytes *bytes,
			 struct compression_header *ret)
{
	const struct image *image = section->image;
	struct cursor cursor = cursor_make(bytes->bytes, bytes->size, image->swap, image->path,
					   section->file_offset);
	const uint8_t *magic;
	if (bytes->size >= 12 && !memcmp(bytes->bytes, "ZLIB", 4) && section->name[1] == 'z') {
		/* In .zdebug_*, the size is big-endian, whatever the file's byte order is. */
		cursor.swap = BYTE_ORDER == LITTLE_ENDIAN;
		*ret = (struct compression_header){.type = ELFCOMPRESS_ZLIB, .header_size = 12};
		return cursor_bytes(&cursor, 4, &magic) && cursor_u64(&cursor, &ret->size);
	}
	uint32_t size32;
	*ret = (struct compression_header){.header_size = image->is_64bit ? 24 : 12};
	if (!cursor_u32(&cursor, &ret->type))
		return false;
	if (image->is_64bit)
		return cursor_skip(&cursor, 4) && cursor_u64(&cursor, &ret->size) &&
		       cursor_skip(&cursor, 8);
	bool ok = cursor_u32(&cursor, &size32) && cursor_skip(&cursor, 4);
	ret->size = ok ? size32 : 0;
	return ok;
}

/* Returns the inflated bytes, which the caller frees; NULL: damaged, or out of memory. */
static uint8_t *inflate(const struct section *section, uint64_t *size_ret)
{
	CLEANUP(image_bytes_release) struct image_bytes bytes = {0};
	const struct image *image = section->image;
	struct compression_header packing;
	uint8_t *unpacked = NULL;
	struct sp_error *error =
		image_range_bytes(image, section->file_offset, section->packed_size, &bytes);
	bool done = !error && read_packing(section, &bytes, &packing) &&
		    packing.size <= INFLATED_MAX &&
		    packing.size <= extent_unpacked_max(section->packed_size) &&
		    (packing.type == ELFCOMPRESS_ZLIB || packing.type == COMPRESSED_ZSTD);
	sp_error_free(error);
	if (!done)
		return NULL;
	const uint8_t *packed = bytes.bytes + packing.header_size;
	size_t size = bytes.size - packing.header_size;
	if (packing.type == COMPRESSED_ZSTD)
		error = zst_unpack_sized(packed, size, packing.size, image->path, &unpacked);
	else
		error = zlib_unpack_sized(packed, size, packing.size, image->path, &unpacked);
	sp_error_free(error);
	*size_ret = packing.size;
	return unpacked;
}

/* Memory of a disk_key. */
struct section_key {
	char name[17], identity[DISK_CACHE_IDENTITY_MAX];
};

/*
 * Identifies the section by its file's inode and times, which another user cannot forge. A build-id
 * would not do: any file may claim that of libc.
 */
static struct disk_key make_key(const struct section *section, struct section_key *texts)
{
	const struct image *image = section->image;
	snprintf(texts->identity, sizeof(texts->identity),
		 "debug %s device %llu inode %llu size %llu modified %llu changed %llu offset %llu "
		 "%llu",
		 section->name, (unsigned long long)image->device, (unsigned long long)image->inode,
		 (unsigned long long)image->size, (unsigned long long)image->modified_ns,
		 (unsigned long long)image->changed_ns, (unsigned long long)section->file_offset,
		 (unsigned long long)section->packed_size);
	snprintf(texts->name, sizeof(texts->name), "%016llx",
		 (unsigned long long)hash_bytes(texts->identity, strlen(texts->identity)));
	return (struct disk_key){texts->name, texts->identity};
}

/*
 * Opens (or creates) the cache's folder; -1 if the section is not to be kept, or the cache not
 * usable.
 */
static int open_folder(const struct section *section, bool make)
{
	int folder = -1;
	if (section->ctx && section->image->inode && section->packed_size >= KEPT_MIN)
		sp_error_free(disk_cache_folder(section->ctx, KEPT_FOLDER, make, &folder));
	return folder;
}

static void use_bytes(struct section *section, const uint8_t *bytes, uint64_t size)
{
	section->size = size;
	__atomic_store_n(&section->bytes, bytes, __ATOMIC_RELEASE);
}

/* Opens the section in the cache; false if it is not there. Call it under the lock. */
static bool open_kept(struct section *section)
{
	struct section_key texts;
	const struct disk_key key = make_key(section, &texts);
	CLEANUP_CLOSE int folder = open_folder(section, false);
	sp_error_free(disk_cache_open(folder, &key, &section->kept));
	if (section->kept)
		use_bytes(section, disk_entry_bytes(section->kept), disk_entry_size(section->kept));
	return section->kept;
}

/* Inflates the section, and keeps it in the cache. Call it under the lock. */
static bool inflate_and_save(struct section *section)
{
	struct section_key texts;
	uint64_t size;
	uint8_t *bytes = inflate(section, &size);
	if (!bytes)
		return false;
	section->whole = (struct image_bytes){.bytes = bytes, .size = size, .owned = bytes};
	use_bytes(section, bytes, size);
	const struct disk_key key = make_key(section, &texts);
	CLEANUP_CLOSE int folder = open_folder(section, true);
	if (folder >= 0)
		sp_error_free(disk_cache_add(folder, &key, bytes, size));
	return true;
}

static bool make_inflated(struct section *section)
{
	if (__atomic_load_n(&section->bytes, __ATOMIC_ACQUIRE))
		return true;
	pthread_mutex_lock(&section->lock);
	if (!section->bytes && !section->broken)
		section->broken = !open_kept(section) && !inflate_and_save(section);
	bool ok = !section->broken;
	pthread_mutex_unlock(&section->lock);
	return ok;
}

/*
 * Makes bytes from the cache readable. If they are damaged there, inflates the section, at another
 * place: readers may use the bytes that were good.
 */
static bool make_kept_readable(struct section *section, uint64_t offset, uint64_t size)
{
	if (disk_entry_need(section->kept, offset, size))
		return true;
	pthread_mutex_lock(&section->lock);
	if (!section->whole.bytes && !section->broken)
		section->broken = !inflate_and_save(section);
	bool ok = !section->broken;
	pthread_mutex_unlock(&section->lock);
	return ok;
}

static bool is_loaded(const struct section *section, uint64_t page)
{
	uint64_t word = __atomic_load_n(&section->loaded[page / 64], __ATOMIC_ACQUIRE);
	return word >> page % 64 & 1;
}

/* Reads the missing pages in [first, end), adjacent ones by one call; call it under the lock. */
static bool load_pages(struct section *section, uint64_t first, uint64_t end)
{
	while (first < end) {
		if (is_loaded(section, first)) {
			first++;
			continue;
		}
		uint64_t last = first + 1;
		while (last < end && !is_loaded(section, last))
			last++;
		uint64_t from = first * PAGE;
		uint64_t to = last * PAGE < section->size ? last * PAGE : section->size;
		size_t done;
		int errnum = io_pread(section->image->fd, section->reserved + from, to - from,
				      section->file_offset + from, &done);
		if (errnum || done < to - from)
			return false;
		for (; first < last; first++)
			__atomic_fetch_or(&section->loaded[first / 64], (uint64_t)1 << first % 64,
					  __ATOMIC_RELEASE);
	}
	return true;
}

/*
 * Makes bytes [offset, offset + size) readable; false if they reach past the section's end, or
 * reading fails.
 */
static bool make_readable(struct section *section, uint64_t offset, uint64_t size)
{
	if (section->packed_size && !make_inflated(section))
		return false;
	if (offset > section->size || size > section->size - offset)
		return false;
	if (size == 0)
		return true;
	if (section->kept)
		return make_kept_readable(section, offset, size);
	if (!section->reserved)
		return true;
	uint64_t first = offset / PAGE, end = (offset + size - 1) / PAGE + 1;
	uint64_t page = first;
	while (page < end && is_loaded(section, page))
		page++;
	if (page == end)
		return true;
	pthread_mutex_lock(&section->lock);
	if (!section->broken) {
		/* Widens the needed pages [page, end) to the window around them. */
		uint64_t pages = (section->size + PAGE - 1) / PAGE, around = section->window / PAGE;
		section->window += section->window < HUGE_PAGE ? WINDOW_GROWTH : 0;
		page -= page % around;
		end = (end + around - 1) / around * around;
		if (end > pages)
			end = pages;
		section->broken = !load_pages(section, page, end);
	}
	bool ok = !section->broken;
	pthread_mutex_unlock(&section->lock);
	return ok;
}

static const uint8_t *bytes_of(const struct section *section)
{
	return __atomic_load_n(&section->bytes, __ATOMIC_ACQUIRE);
}

size_t section_peek(struct section *section, uint64_t offset, void *ret, size_t size)
{
	uint64_t all = section_size(section);
	size_t done = 0;
	if (offset >= all)
		return 0;
	if (size > all - offset)
		size = all - offset;
	if (!section->reserved && make_readable(section, offset, size))
		memcpy(ret, bytes_of(section) + offset, size);
	else if (!section->reserved)
		return 0;
	else if (io_pread(section->image->fd, ret, size, section->file_offset + offset, &done) ||
		 done < size)
		return 0;
	return size;
}

uint64_t section_size(struct section *section)
{
	return section->packed_size && !make_inflated(section) ? 0 : section->size;
}

bool section_cursor(struct section *section, uint64_t offset, uint64_t end, struct cursor *ret)
{
	const struct image *image = section->image;
	if (end < offset || !make_readable(section, offset, end - offset))
		return false;
	*ret = cursor_make(bytes_of(section) + offset, end - offset, image->swap, image->path,
			   offset);
	return true;
}

bool section_entry(struct section *section, uint64_t base, uint64_t index, unsigned int size,
		   uint64_t *ret)
{
	struct cursor cursor;
	uint64_t at;
	return !__builtin_mul_overflow(index, size, &at) &&
	       !__builtin_add_overflow(at, base, &at) && at <= UINT64_MAX - size &&
	       section_cursor(section, at, at + size, &cursor) &&
	       cursor_unsigned(&cursor, size, ret);
}

const char *section_string(struct section *section, uint64_t offset)
{
	if (section->packed_size && !make_inflated(section))
		return NULL;
	for (uint64_t at = offset; at < section->size && at - offset < STRING_MAX;) {
		uint64_t step = PAGE - at % PAGE;
		if (step > section->size - at)
			step = section->size - at;
		if (!make_readable(section, at, step))
			return NULL;
		if (memchr(bytes_of(section) + at, '\0', step))
			return (const char *)bytes_of(section) + offset;
		at += step;
	}
	return NULL;
}

void section_expect(struct section *section, uint64_t bytes)
{
	if (!section->reserved || bytes <= section->size / 2)
		return;
	/* Most of the section is needed: read 2 MB at a time into huge pages, not 4 KB. */
	madvise(section->reserved, section->size, MADV_HUGEPAGE);
	pthread_mutex_lock(&section->lock);
	section->window = HUGE_PAGE;
	pthread_mutex_unlock(&section->lock);
}
