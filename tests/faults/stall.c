/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall DIR KIND UID: a process of the user UID that uses a file of a FUSE file system on DIR. Its
 * server stops to answer. Starts as root, in a mount namespace of its own, because it mounts as
 * fusermount3 does for any user; then all is done by that user. Prints "ready", and runs for 60
 * seconds or until it is killed.
 *
 *	spin      a busy thread with pages of the file above its stack
 *	sleep     the same, but the thread sleeps
 *	text      runs a program from the file
 *	dies      as spin; and the server ends after a second
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "tests/workload/clock.h"

#define SECONDS 60
#define STACK_BYTES ((size_t)64 << 10)
#define FILE_BYTES ((size_t)256 << 10)
#define FILE_NODE 2

struct server {
	int device, content; /* /dev/fuse, and the file that is served */
	uint32_t uid;
	uint64_t stall_ns; /* CLOCK_MONOTONIC: no request is answered after that; 0: READs never are
			    */
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "stall: %s: %s\n", what, strerror(errno));
	exit(99);
}

static void answer(const struct server *server, uint64_t id, const void *data, size_t size,
		   int error)
{
	static char bytes[1 << 18];
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + size), .error = error, .unique = id};
	memcpy(bytes, &header, sizeof(header));
	if (size)
		memcpy(bytes + sizeof(header), data, size);
	if (write(server->device, bytes, header.len) < 0 && errno != ENOENT)
		fail("write to /dev/fuse");
}

static void answer_read(const struct server *server, const struct fuse_in_header *request)
{
	static char bytes[1 << 17];
	const struct fuse_read_in *read_in = (const void *)(request + 1);
	size_t size = read_in->size < sizeof(bytes) ? read_in->size : sizeof(bytes);
	ssize_t done =
		server->stall_ns ? pread(server->content, bytes, size, (off_t)read_in->offset) : -1;
	if (done >= 0)
		answer(server, request->unique, bytes, (size_t)done, 0);
}

static void serve(const struct server *server)
{
	static char bytes[1 << 20];
	struct stat content;
	if (fstat(server->content, &content))
		fail("fstat");
	for (;;) {
		if (read(server->device, bytes, sizeof(bytes)) < 0) {
			if (errno == EINTR || errno == ENOENT)
				continue;
			_exit(0);
		}
		const struct fuse_in_header *request = (const void *)bytes;
		bool root = request->nodeid == FUSE_ROOT_ID && request->opcode != FUSE_LOOKUP;
		struct fuse_attr attr = {
			.ino = root ? FUSE_ROOT_ID : FILE_NODE,
			.nlink = 1,
			.blksize = 4096,
			.mode = root ? S_IFDIR | 0755 : S_IFREG | 0755,
			.size = (uint64_t)content.st_size,
			.uid = server->uid,
			.gid = server->uid,
		};
		const struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = 65536};
		/* Nothing is asked about the file again: only its content is missing. */
		const struct fuse_entry_out entry = {.nodeid = FILE_NODE,
						     .generation = 1,
						     .entry_valid = 1000,
						     .attr_valid = 1000,
						     .attr = attr};
		const struct fuse_attr_out attributes = {.attr_valid = 1000, .attr = attr};
		const struct fuse_open_out open_out = {.fh = 1, .open_flags = FOPEN_KEEP_CACHE};
		if (server->stall_ns && clock_ns(CLOCK_MONOTONIC) > server->stall_ns)
			continue;
		switch (request->opcode) {
		case FUSE_INIT:
			answer(server, request->unique, &init, sizeof(init), 0);
			break;
		case FUSE_LOOKUP:
			answer(server, request->unique, &entry, sizeof(entry), 0);
			break;
		case FUSE_GETATTR:
			answer(server, request->unique, &attributes, sizeof(attributes), 0);
			break;
		case FUSE_OPEN:
			answer(server, request->unique, &open_out, sizeof(open_out), 0);
			break;
		case FUSE_READ:
			answer_read(server, request);
			break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
		case FUSE_INTERRUPT:
			break;
		case FUSE_FLUSH:
		case FUSE_RELEASE:
			answer(server, request->unique, NULL, 0, 0);
			break;
		default:
			answer(server, request->unique, NULL, 0, -ENOSYS);
		}
	}
}

/* -- Victims -------------------------------------------------------------------------- */

#ifdef __x86_64__
/* Spins, or sleeps 30 ms again and again. Its call frame information says that its frame has 100
 * KB. */
void large_frame(bool sleeps, struct timespec *pause);
__asm__(".text\n.type large_frame,@function\nlarge_frame:\n.cfi_startproc\n.cfi_def_cfa_offset "
	"100000\n"
	"1: test %edi,%edi\n jz 2f\n push %rdi\n push %rsi\n mov %rsi,%rdx\n mov $1,%edi\n"
	" xor %esi,%esi\n xor %r10,%r10\n mov $230,%eax\n syscall\n pop %rsi\n pop %rdi\n jmp 1b\n"
	"2: pause\n jmp 1b\n.cfi_endproc\n.size large_frame,.-large_frame\n");
#else
static void large_frame(bool sleeps, struct timespec *pause)
{
	for (volatile uint64_t count = 0;; count++)
		if (sleeps)
			nanosleep(pause, NULL);
}
#endif

static void *run_sleep(void *arg)
{
	static struct timespec pause = {.tv_nsec = 30000000};
	large_frame(true, &pause);
	return arg;
}

static void *run_spin(void *arg)
{
	large_frame(false, NULL);
	return arg;
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void run_thread(const char *path, void *(*function)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *memory = mmap(NULL, STACK_BYTES + FILE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || memory == MAP_FAILED ||
	    mmap(memory + STACK_BYTES, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
		 fd, 0) == MAP_FAILED)
		fail(path);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, memory, STACK_BYTES);
	if (pthread_create(&thread, &attr, function, NULL))
		fail("pthread_create");
	ready();
	pause();
}

int main(int argc, char **argv)
{
	char options[128], path[4096];
	struct server server = {.device = open("/dev/fuse", O_RDWR | O_CLOEXEC)};
	if (argc == 2 && !strcmp(argv[1], "run")) {
		ready();
		run_spin(NULL);
	}
	if (argc != 4)
		return 2;
	const char *kind = argv[2];
	uint32_t uid = server.uid = (uint32_t)atoi(argv[3]);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", server.device, uid,
		 uid);
	if (server.device < 0 || mount("stall", argv[1], "fuse", MS_NOSUID | MS_NODEV, options))
		fail("mount");
	bool text = !strcmp(kind, "text"), dies = !strcmp(kind, "dies");
	server.content = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	server.stall_ns = text ? clock_ns(CLOCK_MONOTONIC) + 1000000000 : 0;
	if (setgid(uid) || setuid(uid))
		fail("setuid");
	setpgid(0, 0);
	if (!fork()) {
		alarm(dies ? 2 : SECONDS);
		serve(&server);
	}
	close(server.device);
	alarm(SECONDS);
	snprintf(path, sizeof(path), "%s/file", argv[1]);
	if (text)
		execl(path, path, "run", NULL);
	else
		run_thread(path, strcmp(kind, "sleep") ? run_spin : run_sleep);
	fail(path);
}
