/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/image.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "base/guarded_file.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "elf/extent.h"

/* Larger than any real section that is read here. A hostile sparse file may claim such a size. */
#define SECTION_SIZE_MAX ((uint64_t)1 << 30)
/* Buffers of this size and more use huge pages: one page fault for 2 MB, not for each 4 KB. */
#define HUGE_PAGE ((size_t)2 << 20)
/* Most bytes of ELF notes that are read per file, because libelf keeps them in memory. */
#define NOTES_SIZE_MAX ((uint64_t)1 << 20)

/* More program headers than any linker writes: a hostile count costs little. */
#define LOADS_MAX 4096

/*
 * Makes an error of libelf's last one. Lack of memory is detected by errno, which the caller set to
 * 0, because libelf's own error numbers are not public.
 */
static struct sp_error *elf_error(const struct image *image, const char *what)
{
	if (errno == ENOMEM)
		return error_no_memory();
	return error_new(SP_ERROR_FORMAT, "%s: %s: %s", image->path, what, elf_errmsg(-1));
}

static struct sp_error *read_loads(struct image *image)
{
	size_t count;
	if (elf_getphdrnum(image->elf, &count))
		return elf_error(image, "program headers");
	for (size_t i = 0; i < count && i < LOADS_MAX; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(image->elf, i, &header))
			return elf_error(image, "program headers");
		if (header.p_type != PT_LOAD)
			continue;
		struct image_load *load = vec_push(&image->loads);
		NEED(load);
		*load = (struct image_load){
			.file_offset = header.p_offset,
			.file_size = header.p_filesz,
			.vaddr = header.p_vaddr,
			.memory_size = header.p_memsz,
			.alignment = header.p_align,
			.executable = header.p_flags & PF_X,
		};
	}
	return NULL;
}

/* Copies the build-id from ELF notes into the image; false if they have none. */
static bool find_build_id(struct image *image, Elf_Data *notes)
{
	GElf_Nhdr note;
	size_t name_at, desc_at, next, at = 0;
	while ((next = gelf_getnote(notes, at, &note, &name_at, &desc_at)) > 0) {
		const char *bytes = notes->d_buf;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(bytes + name_at, "GNU", sizeof("GNU")) && note.n_descsz > 0) {
			size_t size = note.n_descsz;
			if (size > IMAGE_BUILD_ID_MAX)
				size = IMAGE_BUILD_ID_MAX;
			memcpy(image->build_id, bytes + desc_at, size);
			image->build_id_size = size;
			return true;
		}
		at = next;
	}
	return false;
}

/* Reads the notes in segments, then those in sections (a .ko has no segments). Absence is no error. */
static void read_build_id(struct image *image)
{
	size_t count = 0;
	uint64_t left = NOTES_SIZE_MAX;
	elf_getphdrnum(image->elf, &count);
	for (size_t i = 0; i < count && i < LOADS_MAX; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(image->elf, i, &header) || header.p_type != PT_NOTE ||
		    header.p_filesz > left)
			continue;
		left -= header.p_filesz;
		Elf_Data *notes =
			elf_getdata_rawchunk(image->elf, header.p_offset, header.p_filesz,
					     header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (notes && find_build_id(image, notes))
			return;
	}
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
		    header.sh_size > left)
			continue;
		left -= header.sh_size;
		Elf_Data *notes = elf_getdata(section, NULL);
		if (notes && notes->d_buf && find_build_id(image, notes))
			return;
	}
}

static struct sp_error *read_headers(struct image *image)
{
	GElf_Ehdr header;
	if (elf_kind(image->elf) != ELF_K_ELF || !gelf_getehdr(image->elf, &header))
		return error_new(SP_ERROR_FORMAT, "%s: not an ELF file", image->path);
	/* Its memory may have secrets, and is no code of a mapped file. */
	if (header.e_type == ET_CORE)
		return error_new(SP_ERROR_FORMAT, "%s: a core dump, not a program", image->path);
	image->machine = header.e_machine;
	image->type = header.e_type;
	image->swap = (header.e_ident[EI_DATA] == ELFDATA2MSB) != (BYTE_ORDER == BIG_ENDIAN);
	image->is_64bit = gelf_getclass(image->elf) == ELFCLASS64;
	TRY(extent_check_sections(image));
	TRY(read_loads(image));
	TRY(code_map_read(image->elf, &image->code));
	read_build_id(image);
	return NULL;
}

/* Owns `path` from now on, even if it fails. Returns NULL when out of memory. */
static struct image *image_new(char *path)
{
	struct image *image = path ? calloc(1, sizeof(*image)) : NULL;
	if (!image) {
		free(path);
		return NULL;
	}
	image->fd = -1;
	image->path = path;
	/* libelf requires this call before all others; repeating it is harmless. */
	elf_version(EV_CURRENT);
	return image;
}

/* Reads the headers and, if that succeeds, moves the image to *ret. */
static struct sp_error *take_elf(struct image **image, Elf *elf, struct image **ret)
{
	(*image)->elf = elf;
	TRY(elf ? read_headers(*image) : elf_error(*image, "cannot be read as an ELF file"));
	*ret = take_ptr(*image);
	return NULL;
}

static uint64_t since_1970(const struct timespec *time)
{
	return time->tv_sec > 0 ? (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec : 0;
}

struct sp_error *image_open(const char *path, struct image **ret)
{
	return image_open_in(NULL, path, ret);
}

struct sp_error *image_open_in(const char *root, const char *path, struct image **ret)
{
	return image_open_guarded(NULL, root, path, ret);
}

struct sp_error *image_open_guarded(struct proxies *proxies, const char *root, const char *path,
				    struct image **ret)
{
	CLEANUP(cleanup_image_free) struct image *image =
		image_new(regular_file_shown(root, path));
	struct guarded_file file;
	if (!image || (root && *root && !(image->root = strdup(root))))
		return error_no_memory();
	TRY(guarded_file_open(proxies, root, path, &file));
	const struct stat status = file.status;
	image->fd = file.fd;
	image->is_copy = file.is_copy;
	image->size = status.st_size;
	image->device = status.st_dev;
	image->inode = status.st_ino;
	image->owner = status.st_uid;
	image->is_public = status.st_mode & S_IROTH;
	image->modified_ns = since_1970(&status.st_mtim);
	image->changed_ns = since_1970(&status.st_ctim);
	image->allocated = io_allocated_bytes(image->fd, &status);
	TRY(extent_check_tables(image));
	errno = 0;
	return take_elf(&image, elf_begin(image->fd, ELF_C_READ, NULL), ret);
}

const char *image_path_in_root(const struct image *image)
{
	return image->path + (image->root ? strlen(image->root) : 0);
}

struct sp_error *image_open_again(const struct image *image, struct image **ret)
{
	CLEANUP(cleanup_image_free) struct image *again = NULL;
	TRY(image_open_in(image->root, image_path_in_root(image), &again));
	if (again->device != image->device || again->inode != image->inode ||
	    again->size != image->size)
		return error_new(SP_ERROR_NOT_FOUND, "%s: replaced since it was first read",
				 image->path);
	if (image->has_no_code)
		image_stand_in(again);
	*ret = take_ptr(again);
	return NULL;
}

struct sp_error *image_open_memory(void *bytes, size_t size, const char *name, struct image **ret)
{
	CLEANUP(cleanup_image_free) struct image *image = image_new(strdup(name));
	if (!image) {
		free(bytes);
		return error_no_memory();
	}
	image->memory = bytes;
	image->size = image->allocated = size;
	TRY(extent_check_tables(image));
	errno = 0;
	return take_elf(&image, elf_memory(bytes, size), ret);
}

void image_free(struct image *image)
{
	if (!image)
		return;
	/* Must come before elf_end(), because it uses the Elf handle. */
	image_release_file(image);
	elf_end(image->elf);
	vec_deinit(&image->loads);
	code_map_deinit(&image->code);
	free(image->memory);
	free(image->root);
	free(image->path);
	free(image);
}

void image_release_file(struct image *image)
{
	if (image->fd < 0)
		return;
	if (image->elf)
		elf_cntl(image->elf, ELF_C_FDDONE);
	close(image->fd);
	image->fd = -1;
}

/* Returns the segment with a byte of the file; with `by_vaddr`, at an address. NULL: there is none.
 */
static const struct image_load *find_load(const struct image *image, uint64_t at, bool by_vaddr)
{
	const struct image_load *best = NULL;
	vec_each (load, &image->loads) {
		uint64_t start = by_vaddr ? load->vaddr : load->file_offset;
		/* Segments may share a page of the file: prefer code, as callers look up code. */
		if (at >= start && at - start < load->file_size &&
		    (!best || (load->executable && !best->executable)))
			best = load;
	}
	return best;
}

bool image_vaddr(const struct image *image, uint64_t file_offset, uint64_t *ret)
{
	const struct image_load *load = find_load(image, file_offset, false);
	if (load)
		*ret = file_offset - load->file_offset + load->vaddr;
	return load;
}

bool image_file_offset(const struct image *image, uint64_t vaddr, uint64_t *ret)
{
	const struct image_load *load = find_load(image, vaddr, true);
	if (load)
		*ret = vaddr - load->vaddr + load->file_offset;
	return load;
}

bool image_range_at(const struct image *image, uint64_t vaddr, uint64_t *file_offset_ret,
		    uint64_t *size_ret)
{
	for (size_t i = 0; i < image->loads.count && !image->has_no_code; i++) {
		const struct image_load *load = &image->loads.items[i];
		if (vaddr < load->vaddr || vaddr - load->vaddr >= load->file_size)
			continue;
		*file_offset_ret = load->file_offset + (vaddr - load->vaddr);
		*size_ret = load->file_size - (vaddr - load->vaddr);
		return true;
	}
	return false;
}

bool image_lacks_code(const struct image *image)
{
	bool found = false;
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
		    header.sh_size == 0)
			continue;
		if (header.sh_type != SHT_NOBITS)
			return false;
		found = true;
	}
	return found;
}

void image_stand_in(struct image *image)
{
	uint64_t end = 0;
	image->has_no_code = true;
	vec_each (load, &image->loads) {
		uint64_t align = load->alignment ?: 1;
		/* The smallest offset from `end` on that equals the vaddr modulo the alignment. */
		if (load->file_size < load->memory_size)
			load->file_offset =
				end + (load->vaddr % align + align - end % align) % align;
		load->file_size = load->memory_size;
		end = load->file_offset + load->file_size;
	}
}

Elf_Scn *image_section(const struct image *image, const char *name, GElf_Shdr *header_ret)
{
	size_t names;
	if (elf_getshdrstrndx(image->elf, &names))
		return NULL;
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			continue;
		const char *found = elf_strptr(image->elf, names, header.sh_name);
		if (found && !strcmp(found, name)) {
			*header_ret = header;
			return section;
		}
	}
	return NULL;
}

Elf_Data *image_section_data(Elf_Scn *section)
{
	GElf_Shdr header;
	if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
	    header.sh_size > SECTION_SIZE_MAX)
		return NULL;
	Elf_Data *data = elf_getdata(section, NULL);
	return data && data->d_buf && data->d_size > 0 ? data : NULL;
}

void image_bytes_release(struct image_bytes *bytes)
{
	if (bytes->mapped)
		munmap(bytes->owned, bytes->mapped);
	else
		free(bytes->owned);
	*bytes = (struct image_bytes){0};
}

struct sp_error *image_range_bytes(const struct image *image, uint64_t file_offset, uint64_t size,
				   struct image_bytes *ret)
{
	if (size == 0 || size > SECTION_SIZE_MAX || size > extent_read_max(image) ||
	    file_offset > image->size || size > image->size - file_offset)
		return error_new(SP_ERROR_FORMAT,
				 "%s: a section is missing or reaches past the end", image->path);
	if (image->memory) {
		*ret = (struct image_bytes){
			.bytes = (const uint8_t *)image->memory + file_offset,
			.size = size,
		};
		return NULL;
	}
	CLEANUP(image_bytes_release) struct image_bytes bytes = {0};
	if (size < HUGE_PAGE) {
		bytes.owned = malloc(size);
	} else {
		size_t whole = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
		void *memory = mmap(NULL, whole, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return error_no_memory();
		madvise(memory, whole, MADV_HUGEPAGE);
		bytes.owned = memory;
		bytes.mapped = whole;
	}
	NEED(bytes.owned != NULL);
	int errnum = io_pread(image->fd, bytes.owned, size, file_offset, &bytes.size);
	if (errnum)
		return error_os(errnum, "%s", image->path);
	if (bytes.size < size)
		return error_format(image->path, file_offset + bytes.size,
				    "the file ends within a section");
	bytes.bytes = bytes.owned;
	*ret = bytes;
	bytes = (struct image_bytes){0};
	return NULL;
}

struct sp_error *image_section_bytes(const struct image *image, Elf_Scn *section,
				     struct image_bytes *ret)
{
	GElf_Shdr header;
	if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
		return error_new(SP_ERROR_FORMAT,
				 "%s: a section is missing or reaches past the end", image->path);
	return image_range_bytes(image, header.sh_offset, header.sh_size, ret);
}
