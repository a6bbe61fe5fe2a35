/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data of files and other descriptors, and memory mappings. */
#include "sim.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "blocked.h"
#include "calls.h"
#include "enter.h"

#define MIB (1 << 20)

/* Declared as in <libelf.h>. */
extern Elf *elf_memory(char *image, size_t size);

static const int reading[] = {EIO, EINTR, 0};
static const int interrupting[] = {EINTR, 0};
static const int write_queue[] = {EIO, ENOSPC, EINTR, 0};
static const int mapping[] = {ENOMEM, EPERM, 0};
static const int duplicating[] = {EMFILE, 0};

/* -- Reading --------------------------------------------------------------- */

static ssize_t copy_out(const struct sim_inode *inode, void *buffer, size_t size, uint64_t offset)
{
	if (offset >= inode->size)
		return 0;
	size_t got = inode->size - offset < size ? (size_t)(inode->size - offset) : size;
	memcpy(buffer, inode->bytes + offset, got);
	return (ssize_t)got;
}

static ssize_t read_fd(int fd, void *buffer, size_t size)
{
	const struct sim_open *peeked = sim_fd_peek(fd);
	enum sim_kind kind = peeked ? peeked->kind : SIM_NULL;
	/* Counters and timers have no error that a caller must expect. */
	ENTER("read", kind == SIM_FILE ? reading : kind == SIM_PIPE ? interrupting : NULL);
	struct sim_open *open = sim_fd(fd);
	if (!open)
		return -1;
	if (open->kind == SIM_EVENT)
		return sim_perf_read(open->event, buffer, size);
	if (open->kind != SIM_FILE)
		return sim_descriptor_read(open, buffer, size);
	if (open->inode->is_directory) {
		errno = EISDIR;
		return -1;
	}
	ssize_t got = copy_out(open->inode, buffer, size, open->offset);
	open->offset += (uint64_t)got;
	return got;
}

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	PASS(read, fd, buffer, size);
	return read_fd(fd, buffer, size);
}

ssize_t __wrap___read_chk(int fd, void *buffer, size_t size, size_t most)
{
	(void)most;
	PASS(read, fd, buffer, size);
	return read_fd(fd, buffer, size);
}

/* Contents of the moment, whatever they were when the file was opened. */
static ssize_t read_syscall(const char *path, void *buffer, size_t size)
{
	char text[256];
	int errnum = sim_syscall_read(path, text, sizeof(text));
	size_t got = errnum ? 0 : strlen(text);
	if (errnum) {
		errno = errnum;
		return -1;
	}
	got = got < size ? got : size;
	memcpy(buffer, text, got);
	return (ssize_t)got;
}

static ssize_t pread_fd(int fd, void *buffer, size_t size, off_t offset)
{
	ENTER("pread", reading);
	const struct sim_open *open = sim_fd(fd);
	if (!open || !open->inode) {
		errno = open ? ESPIPE : EBADF;
		return -1;
	}
	if (open->path && sim_is_syscall(open->path))
		return read_syscall(open->path, buffer, size);
	return copy_out(open->inode, buffer, size, (uint64_t)offset);
}

ssize_t __wrap_pread(int fd, void *buffer, size_t size, off_t offset)
{
	PASS(pread, fd, buffer, size, offset);
	return pread_fd(fd, buffer, size, offset);
}

ssize_t __wrap___pread_chk(int fd, void *buffer, size_t size, off_t offset, size_t most)
{
	(void)most;
	PASS(pread, fd, buffer, size, offset);
	return pread_fd(fd, buffer, size, offset);
}

/* -- Writing --------------------------------------------------------------- */

/* The disk takes its time before the data is there: a kill meanwhile finds it missing. */
static void wait_for_disk(size_t size)
{
	uint64_t ns = sim_disk.write_ns * size / MIB;
	if (sim_disk.stall_ns && sim_chance(SIM_WORLD, 3))
		ns += sim_random(SIM_WORLD, sim_disk.stall_ns);
	if (ns)
		sim_sleep(ns);
}

static ssize_t write_spans(int fd, const struct iovec *spans, int count, const off_t *offset,
			   const char *name)
{
	size_t whole = 0, done = 0;
	ENTER(name, write_queue);
	struct sim_open *open = sim_fd(fd);
	if (!open)
		return -1;
	if (open->kind != SIM_FILE)
		return sim_descriptor_write(open, spans->iov_base, spans->iov_len);
	for (int i = 0; i < count; i++)
		whole += spans[i].iov_len;
	wait_for_disk(whole);
	uint64_t at = offset ? (uint64_t)*offset : open->offset;
	/* Few writes are cut short. */
	size_t most = whole > 1 && sim_chance(SIM_WORLD, 1) ? 1 + sim_random(SIM_WORLD, whole - 1) : whole;
	for (int i = 0; i < count && done < most; i++) {
		size_t size = spans[i].iov_len < most - done ? spans[i].iov_len : most - done;
		size_t put = size ? sim_file_write(open->inode, spans[i].iov_base, size, at + done) : 0;
		done += put;
		if (put < size)
			break;
	}
	if (!offset)
		open->offset += done;
	return done || !whole ? (ssize_t)done : -1;
}

ssize_t __wrap_write(int fd, const void *buffer, size_t size)
{
	const struct iovec span = {(void *)(uintptr_t)buffer, size};
	PASS(write, fd, buffer, size);
	return write_spans(fd, &span, 1, NULL, "write");
}

ssize_t __wrap_pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
	const struct iovec span = {(void *)(uintptr_t)buffer, size};
	PASS(pwrite, fd, buffer, size, offset);
	return write_spans(fd, &span, 1, &offset, "pwrite");
}

ssize_t __wrap_writev(int fd, const struct iovec *spans, int count)
{
	PASS(writev, fd, spans, count);
	return write_spans(fd, spans, count, NULL, "writev");
}

ssize_t __wrap_pwritev(int fd, const struct iovec *spans, int count, off_t offset)
{
	PASS(pwritev, fd, spans, count, offset);
	return write_spans(fd, spans, count, &offset, "pwritev");
}

ssize_t __wrap_sendfile(int to, int from, off_t *offset, size_t size)
{
	PASS(sendfile, to, from, offset, size);
	ENTER("sendfile", write_queue);
	struct sim_open *in = sim_fd(from), *out = sim_fd(to);
	if (!in || !out)
		return -1;
	uint64_t at = (uint64_t)*offset;
	size_t left = at < in->inode->size ? (size_t)(in->inode->size - at) : 0;
	size_t put = left < size ? left : size;
	if (put)
		put = sim_file_write(out->inode, in->inode->bytes + at, put, out->offset);
	out->offset += put;
	*offset += (off_t)put;
	return (ssize_t)put;
}

/* -- Descriptors ----------------------------------------------------------- */

int __wrap_close(int fd)
{
	PASS(close, fd);
	sim_enter("close", NULL);
	return sim_fd_close(fd);
}

int __wrap_fcntl(int fd, int request, ...)
{
	va_list arguments;
	va_start(arguments, request);
	long value = va_arg(arguments, long);
	va_end(arguments);
	PASS(fcntl, fd, request, value);
	struct sim_open *open = sim_fd(fd);
	if (!open)
		return -1;
	if (request == F_DUPFD_CLOEXEC) {
		ENTER("fcntl", duplicating);
		return sim_fd_new(open, (int)value);
	}
	ENTER("fcntl", NULL);
	if (request == F_SETFL)
		open->flags = (int)value;
	return request == F_GETFL ? open->flags : 0;
}

int __wrap_isatty(int fd)
{
	PASS(isatty, fd);
	errno = ENOTTY;
	return 0;
}

int __wrap_memfd_create(const char *name, unsigned int flags)
{
	PASS(memfd_create, name, flags);
	ENTER("memfd_create", duplicating);
	struct sim_open *open = sim_open_new(SIM_FILE, 0);
	open->inode = sim_file_unnamed();
	open->path = strdup("/memfd");
	return sim_fd_new(open, 3);
}

/* -- Mappings -------------------------------------------------------------- */

struct mapping {
	uint8_t *at;
	size_t size;
	struct sim_ring *ring;
};

static struct {
	struct mapping *items;
	size_t count;
} mappings;

static void *add_mapping(void *at, size_t size, struct sim_ring *ring)
{
	if (at == MAP_FAILED)
		return at;
	mappings.items = realloc(mappings.items, (mappings.count + 1) * sizeof(*mappings.items));
	if (!mappings.items)
		abort();
	mappings.items[mappings.count++] = (struct mapping){at, size, ring};
	sim.mappings = mappings.count;
	return at;
}

static void *map_file(const struct sim_open *open, size_t size, int prot, off_t offset)
{
	uint8_t *at = __real_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if ((void *)at == MAP_FAILED)
		return at;
	copy_out(open->inode, at, size, (uint64_t)offset);
	mprotect(at, size, prot);
	return at;
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	PASS(mmap, at, size, prot, flags, fd, offset);
	int errnum = sim_enter("mmap", mapping);
	if (errnum) {
		errno = errnum;
		return MAP_FAILED;
	}
	if (fd < 0 || flags & MAP_FIXED)
		return add_mapping(__real_mmap(at, size, prot, flags, fd, offset), size, NULL);
	struct sim_open *open = sim_fd(fd);
	if (!open)
		return MAP_FAILED;
	if (open->kind == SIM_EVENT) {
		void *map = sim_perf_map(open->event, size, prot, (uint64_t)offset);
		return add_mapping(map, size, open->event->ring);
	}
	if (!open->inode) {
		errno = ENODEV;
		return MAP_FAILED;
	}
	return add_mapping(map_file(open, size, prot, offset), size, NULL);
}

/* Part of a mapping may go: what is before and after it stays. */
int __wrap_munmap(void *at, size_t size)
{
	PASS(munmap, at, size);
	uint8_t *begin = at, *end = begin + (size + 4095) / 4096 * 4096;
	sim_enter("munmap", NULL);
	for (size_t i = 0; i < mappings.count; i++) {
		struct mapping *it = &mappings.items[i];
		uint8_t *it_end = it->at + (it->size + 4095) / 4096 * 4096;
		if (begin < it->at || end > it_end)
			continue;
		const struct mapping before = *it;
		mappings.items[i] = mappings.items[--mappings.count];
		if (before.ring)
			sim_perf_unmap(before.ring);
		if (begin > before.at)
			add_mapping(before.at, (size_t)(begin - before.at), NULL);
		if (end < it_end)
			add_mapping(end, (size_t)(it_end - end), NULL);
		sim.mappings = mappings.count;
		return __real_munmap(at, size);
	}
	sim_violation("munmap of what is not mapped");
	errno = EINVAL;
	return -1;
}

Elf *__wrap_elf_begin(int fd, int command, Elf *reference)
{
	if (!sim_inside())
		return __real_elf_begin(fd, command, reference);
	const struct sim_open *open = sim_fd(fd);
	char *copy = open && open->inode ? malloc(open->inode->size + 1) : NULL;
	if (!copy)
		return NULL;
	copy_out(open->inode, copy, open->inode->size, 0);
	return elf_memory(copy, open->inode->size);
}

int __wrap_madvise(void *at, size_t size, int advice)
{
	PASS(madvise, at, size, advice);
	sim_enter("madvise", NULL);
	return advice == MADV_DONTNEED ? __real_madvise(at, size, advice) : 0;
}
