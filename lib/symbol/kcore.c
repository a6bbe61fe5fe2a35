/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/kcore.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/io.h"

/* Most program headers that are read. */
#define SEGMENTS_MAX 1024

static bool read_at(int fd, uint64_t offset, void *ret, size_t size)
{
	size_t done;
	return offset <= INT64_MAX && !io_pread(fd, ret, size, (off_t)offset, &done) &&
	       done == size;
}

static bool read_code(int fd, uint64_t address, size_t size, uint8_t *ret, uint16_t *machine_ret)
{
	Elf64_Ehdr header;
	/* The kernel writes its own byte order and word size. */
	if (!read_at(fd, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	*machine_ret = header.e_machine;
	for (size_t i = 0; i < header.e_phnum && i < SEGMENTS_MAX; i++) {
		Elf64_Phdr segment;
		if (!read_at(fd, header.e_phoff + i * sizeof(segment), &segment, sizeof(segment)))
			return false;
		uint64_t distance = address - segment.p_vaddr;
		if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    distance < segment.p_filesz && size <= segment.p_filesz - distance)
			return read_at(fd, segment.p_offset + distance, ret, size);
	}
	return false;
}

bool kcore_read(struct sp_ctx *ctx, uint64_t address, size_t size, uint8_t *ret,
		uint16_t *machine_ret)
{
	CLEANUP_FREE char *path = format_text("%s/proc/kcore", ctx_root(ctx));
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	bool done = fd >= 0 && read_code(fd, address, size, ret, machine_ret);
	if (fd >= 0)
		close(fd);
	return done;
}
