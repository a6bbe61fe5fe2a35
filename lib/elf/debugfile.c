/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/debugfile.h"

#include <endian.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "base/bytes.h"
#include "base/cursor.h"
#include "base/diagnosis.h"
#include "base/io.h"
#include "elf/debuginfod.h"
#include "elf/extent.h"
#include "elf/unpack.h"

/* Largest .gnu_debugdata after unpacking; glibc's has 0.3 MB. Limits what a hostile file can cost. */
#define DEBUGDATA_MAX ((size_t)256 << 20)

#define HEX_MAX (2 * IMAGE_BUILD_ID_MAX + 1)

/* A search: each candidate is tried until one fits. */
struct debugfile_search {
	const struct debugfile_places *places;
	const uint8_t *build_id; /* build-id that the file must have; NULL: compare the CRC */
	size_t build_id_size;
	const struct image *runtime; /* the file that ran; may be NULL */
	const struct alt_link *checksum; /* checksum that a DWZ file must have; NULL: not a DWZ file */
	uint32_t crc;                /* CRC of the link, if has_crc */
	bool has_crc;
	debugfile_wanted_fn *wanted;
	bool open_to_all; /* other users may be able to write to this directory */
	struct image *found;
};

/* Computes the CRC of .gnu_debuglink, which is zlib's. */
static bool file_crc(const struct image *image, uint32_t *ret)
{
	size_t chunk = (size_t)1 << 18, done;
	CLEANUP_FREE uint8_t *buffer = malloc(chunk);
	if (!buffer || image->fd < 0 || image->size > extent_read_max(image))
		return false;
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	do {
		if (io_pread(image->fd, buffer, chunk, at, &done))
			return false;
		crc = crc32(crc, buffer, (uInt)done);
		at += (off_t)done;
	} while (done == chunk);
	*ret = crc;
	return true;
}

/* Link to the file with the shared debug information that DWZ moved, and that file's identity. */
struct alt_link {
	const char *path;
	const uint8_t *id; /* build-id of the file; in DWARF 5, its checksum */
	size_t size;
	bool by_checksum;
};

/* Reads .gnu_debugaltlink: the path of the DWZ file and, after its NUL, that file's build-id. */
static bool read_gnu_alt(const struct image *image, struct alt_link *ret)
{
	GElf_Shdr header;
	Elf_Data *data = image_section_data(image_section(image, ".gnu_debugaltlink", &header));
	if (!data)
		return false;
	size_t length = strnlen(data->d_buf, data->d_size);
	if (length == 0 || length + 1 >= data->d_size ||
	    data->d_size - length - 1 > IMAGE_BUILD_ID_MAX)
		return false;
	*ret = (struct alt_link){
		.path = data->d_buf,
		.id = (const uint8_t *)data->d_buf + length + 1,
		.size = data->d_size - length - 1,
	};
	return true;
}

/*
 * Reads .debug_sup of DWARF 5: version, whether this file is the supplementary (DWZ) file, that
 * file's path (empty in itself), and a checksum that is the same in both files. The checksum's size
 * is a LEB128. Only one byte is accepted: a hash such as SHA-1 is short.
 */
static bool read_sup(const struct image *image, bool itself, struct alt_link *ret)
{
	GElf_Shdr header;
	Elf_Data *data = image_section_data(image_section(image, ".debug_sup", &header));
	if (!data)
		return false;
	struct cursor cursor = cursor_make(data->d_buf, data->d_size, image->swap, image->path,
					   header.sh_offset);
	uint16_t version;
	uint8_t supplementary, size;
	if (!cursor_u16(&cursor, &version) || version != 5 ||
	    !cursor_u8(&cursor, &supplementary) || supplementary != itself)
		return false;
	size_t length = strnlen((const char *)cursor.pos, cursor_left(&cursor));
	if (!cursor_string(&cursor, length + 1, &ret->path) || !cursor_u8(&cursor, &size) ||
	    size == 0 || size >= 0x80 || !cursor_bytes(&cursor, size, &ret->id))
		return false;
	ret->size = size;
	ret->by_checksum = true;
	return itself || *ret->path;
}

static bool belongs(const struct debugfile_search *search, const struct image *image)
{
	struct alt_link found;
	if (search->checksum)
		return read_sup(image, true, &found) &&
		       bytes_equal(found.id, found.size, search->checksum->id,
				   search->checksum->size);
	if (search->build_id_size && image->build_id_size)
		return image_has_build_id(image, search->build_id, search->build_id_size);
	uint32_t crc;
	return search->has_crc && file_crc(image, &crc) && crc == search->crc;
}

/*
 * Whether the file's owner is trusted. Any user may have put a file with a forged build-id or CRC
 * next to a binary or into a cache.
 */
static bool is_trusted(const struct debugfile_search *search, const struct image *image)
{
	return !search->open_to_all || image->owner == 0 || image->owner == geteuid() ||
	       (search->runtime && image->owner == search->runtime->owner);
}

/* Opens a candidate and keeps it if it fits. Only lack of memory is an error. */
static struct sp_error *try_path(struct debugfile_search *search, const char *root,
				 const char *path)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	struct sp_error *error = image_open_guarded(search->places->proxies, root, path, &image);
	if (error)
		return error_if_no_memory(error);
	const struct image *runtime = search->runtime;
	/* .gnu_debuglink may name the file that contains it. */
	bool itself = runtime && runtime->inode == image->inode && runtime->device == image->device;
	if (!itself && is_trusted(search, image) &&
	    (!search->wanted || search->wanted(image)) && belongs(search, image))
		search->found = take_ptr(image);
	return NULL;
}

/* Joins the pieces to one path, which does not lead out of `root` (NULL or "": any path). */
static struct sp_error *try_pieces(struct debugfile_search *search, const char *root,
				   const char *const *pieces)
{
	if (search->found)
		return NULL;
	size_t size = 1;
	for (const char *const *piece = pieces; *piece; piece++)
		size += strlen(*piece);
	CLEANUP_FREE char *path = calloc(1, size);
	NEED(path);
	char *end = path;
	for (const char *const *piece = pieces; *piece; piece++)
		end = stpcpy(end, *piece);
	return try_path(search, root, path);
}

#define TRY_PATH(search, root, ...)                                                                \
	try_pieces((search), (root), (const char *const[]){__VA_ARGS__, NULL})

/* Calls `place` for each directory of the debug path: first below symfs, then without it. */
static struct sp_error *each_place(struct debugfile_search *search,
				   struct sp_error *(*place)(struct debugfile_search *search,
							     const char *symfs, const char *folder,
							     const void *arg),
				   const void *arg)
{
	const char *symfs = search->places->symfs ?: "";
	const char *path = search->places->debug_path ?: "";
	struct sp_error *error = NULL;
	while (!error && !search->found && *path) {
		size_t size = strcspn(path, ":");
		CLEANUP_FREE char *folder = strndup(path, size);
		NEED(folder);
		if (size > 0 && *symfs)
			error = place(search, symfs, folder, arg);
		if (!error && size > 0 && !search->found)
			error = place(search, "", folder, arg);
		path += size + (path[size] == ':');
	}
	return error;
}

struct split_id {
	char folder[3], rest[HEX_MAX];
};

static bool split_build_id(const uint8_t *build_id, size_t size, struct split_id *ret)
{
	char hex[HEX_MAX];
	if (size < 2 || size > IMAGE_BUILD_ID_MAX)
		return false;
	bytes_to_hex(build_id, size, hex);
	memcpy(ret->folder, hex, 2);
	ret->folder[2] = '\0';
	strcpy(ret->rest, hex + 2);
	return true;
}

static struct sp_error *try_build_id(struct debugfile_search *search, const char *symfs,
				     const char *folder, const void *arg)
{
	const struct split_id *id = arg;
	return TRY_PATH(search, symfs, folder, "/.build-id/", id->folder, "/", id->rest, ".debug");
}

static struct sp_error *search_build_id(struct debugfile_search *search)
{
	struct split_id id;
	if (!split_build_id(search->build_id, search->build_id_size, &id))
		return NULL;
	struct sp_error *error = each_place(search, try_build_id, &id);
	search->open_to_all = true;
	if (!error && search->places->cache)
		error = TRY_PATH(search, NULL, search->places->cache, "/.build-id/", id.folder, "/",
				 id.rest, "/debug");
	search->open_to_all = false;
	return error;
}

/* Queries debuginfod servers if the caller allowed it and nothing was found yet. */
static struct sp_error *search_servers(struct debugfile_search *search, enum debuginfod_kind kind)
{
	char *found = NULL;
	if (search->found || !search->places->debuginfod || search->build_id_size == 0)
		return NULL;
	struct sp_error *error = debuginfod_find(search->places->ctx, kind, search->build_id,
						 search->build_id_size, &found);
	CLEANUP_FREE char *path = found;
	return error || !path ? error : try_path(search, NULL, path);
}

/* Reads .gnu_debuglink: a file name, and after padding to 4 bytes its CRC. */
static bool read_link(const struct image *runtime, const char **name_ret, uint32_t *crc_ret)
{
	GElf_Shdr header;
	Elf_Data *data = image_section_data(image_section(runtime, ".gnu_debuglink", &header));
	if (!data)
		return false;
	const char *ident = elf_getident(runtime->elf, NULL);
	bool swap = (ident[EI_DATA] == ELFDATA2MSB) != (BYTE_ORDER == BIG_ENDIAN);
	struct cursor cursor =
		cursor_make(data->d_buf, data->d_size, swap, runtime->path, header.sh_offset);
	size_t length = strnlen(data->d_buf, data->d_size);
	return cursor_string(&cursor, (length + 4) / 4 * 4, name_ret) && **name_ret &&
	       !strchr(*name_ret, '/') && cursor_u32(&cursor, crc_ret);
}

struct link {
	const char *folder, *name; /* binary's directory ("", or ends in '/'); name of the debug file */
};

/*
 * Tries the binary's directory below a directory of debug files. On systems with merged /usr, either
 * path may be that of the debug file: /usr/bin/x was packaged as /bin/x, and is also run as such.
 */
static struct sp_error *try_link(struct debugfile_search *search, const char *symfs,
				 const char *folder, const void *arg)
{
	const struct link *link = arg;
	TRY(TRY_PATH(search, symfs, folder, "/", link->folder, link->name));
	if (*link->folder != '/')
		return NULL;
	if (!strncmp(link->folder, "/usr/", 5))
		return TRY_PATH(search, symfs, folder, link->folder + 4, link->name);
	return TRY_PATH(search, symfs, folder, "/usr", link->folder, link->name);
}

/* Searches in gdb's order: the binary's directory, its .debug/, the debug path. */
static struct sp_error *search_link(struct debugfile_search *search, const char *path)
{
	const char *name, *slash = strrchr(path, '/');
	if (!read_link(search->runtime, &name, &search->crc))
		return NULL;
	search->has_crc = true;
	const char *symfs = search->places->symfs ?: "";
	CLEANUP_FREE char *folder = strndup(path, slash ? (size_t)(slash + 1 - path) : 0);
	NEED(folder);
	struct link link = {.folder = folder, .name = name};
	search->open_to_all = true;
	struct sp_error *error = TRY_PATH(search, symfs, folder, name);
	if (!error)
		error = TRY_PATH(search, symfs, folder, ".debug/", name);
	search->open_to_all = false;
	if (!error)
		error = each_place(search, try_link, &link);
	return error;
}

struct sp_error *debugfile_find(const struct debugfile_places *places, const struct image *runtime,
				const char *path, debugfile_wanted_fn *wanted, struct image **ret)
{
	struct debugfile_search search = {
		.places = places,
		.runtime = runtime,
		.wanted = wanted,
		.build_id = runtime->build_id,
		.build_id_size = runtime->build_id_size,
	};
	TRY(search_build_id(&search));
	if (!search.found)
		TRY(search_link(&search, path));
	TRY(search_servers(&search, DEBUGINFOD_DEBUG_FILE));
	*ret = search.found;
	return NULL;
}

struct sp_error *debugfile_cached(const struct debugfile_places *places, const uint8_t *build_id,
				  size_t size, const char *name, struct image **ret)
{
	struct debugfile_search search = {
		.places = places,
		.build_id = build_id,
		.build_id_size = size,
		.open_to_all = true,
	};
	struct split_id id;
	if (places->cache && split_build_id(build_id, size, &id))
		TRY(TRY_PATH(&search, NULL, places->cache, "/.build-id/", id.folder, "/", id.rest,
			     "/", name));
	*ret = search.found;
	return NULL;
}

struct sp_error *debugfile_by_build_id(const struct debugfile_places *places,
				       const uint8_t *build_id, size_t size,
				       debugfile_wanted_fn *wanted, struct image **ret)
{
	struct debugfile_search search = {
		.places = places,
		.build_id = build_id,
		.build_id_size = size,
		.wanted = wanted,
	};
	TRY(search_build_id(&search));
	TRY(search_servers(&search, DEBUGINFOD_DEBUG_FILE));
	*ret = search.found;
	return NULL;
}

struct sp_error *debugfile_binary(const struct debugfile_places *places, const uint8_t *build_id,
				  size_t size, struct image **ret)
{
	struct debugfile_search search = {
		.places = places,
		.build_id = build_id,
		.build_id_size = size,
	};
	TRY(search_servers(&search, DEBUGINFOD_BINARY));
	*ret = search.found;
	return NULL;
}

struct sp_error *debugfile_embedded(const struct image *runtime, struct image **ret)
{
	GElf_Shdr header;
	Elf_Scn *section = image_section(runtime, ".gnu_debugdata", &header);
	Elf_Data *packed = section ? image_section_data(section) : NULL;
	if (!packed) {
		*ret = NULL;
		return NULL;
	}
	uint8_t *bytes;
	size_t size;
	uint64_t most = extent_unpacked_max(packed->d_size);
	TRY(xz_unpack(packed->d_buf, packed->d_size,
		      most < DEBUGDATA_MAX ? (size_t)most : DEBUGDATA_MAX, runtime->path, &bytes,
		      &size));
	return image_open_memory(bytes, size, runtime->path, ret);
}

/* Tries a DWZ file below a directory of debug files. `arg` is its path from ".dwz/" on. */
static struct sp_error *try_dwz(struct debugfile_search *search, const char *symfs,
				const char *folder, const void *arg)
{
	return TRY_PATH(search, symfs, folder, "/", arg);
}

/*
 * Searches by the link's path, which may be relative to the debug file. If that was opened by a symbolic
 * link, as those by build-id often are, the path is wrong. Distributions have the file in .dwz.
 */
static struct sp_error *search_alt_path(struct debugfile_search *search, const struct image *image,
					const char *path)
{
	const char *own = image_path_in_root(image), *slash = strrchr(own, '/');
	const char *symfs = search->places->symfs, *dwz = strstr(path, ".dwz/");
	CLEANUP_FREE char *folder = strndup(own, slash ? (size_t)(slash + 1 - own) : 0);
	NEED(folder);
	struct sp_error *error = NULL;
	if (*path != '/')
		error = TRY_PATH(search, image->root, folder, path);
	else if (symfs && *symfs)
		error = TRY_PATH(search, symfs, path);
	if (!error && *path == '/')
		error = TRY_PATH(search, NULL, path);
	return error || !dwz ? error : each_place(search, try_dwz, dwz);
}

struct sp_error *debugfile_alt(const struct debugfile_places *places, const struct image *image,
			       struct image **ret)
{
	struct alt_link link;
	*ret = NULL;
	if (!read_gnu_alt(image, &link) && !read_sup(image, false, &link))
		return NULL;
	struct debugfile_search search = {.places = places, .runtime = image};
	if (link.by_checksum) {
		search.checksum = &link;
	} else {
		search.build_id = link.id;
		search.build_id_size = link.size;
	}
	TRY(search_alt_path(&search, image, link.path));
	if (!search.found)
		TRY(search_build_id(&search));
	TRY(search_servers(&search, DEBUGINFOD_DEBUG_FILE));
	*ret = search.found;
	return NULL;
}
