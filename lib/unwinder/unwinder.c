/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Modules of an unwinder. They are kept as the recorder keeps its processes' mappings: an addition is a
 * mapping record of a later time, which makes a new view. A thread that unwinds keeps the view with
 * which it began.
 */
#include "unwinder/unwinder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/sized.h"
#include "proc/maps.h"
#include "unwind/arch.h"
#include "unwind/stack_memory.h"

/*
 * Stacks of one thread. Memory is read by pages into a small cache, because a read may be a system
 * call. The page of the stack pointer is the engine's stack copy.
 */

#define PAGE ((uint64_t)SP_UNWINDER_READ_MAX)
#define WINDOWS 8
#define NO_PAGE UINT64_MAX

/* Bytes [low, high) of a page; none if the page could not be read. */
struct window {
	uint64_t number; /* address / PAGE; NO_PAGE: empty */
	uint32_t low, high;
	uint8_t bytes[SP_UNWINDER_READ_MAX];
};

struct sp_unwinder_thread {
	struct sp_unwinder *unwinder;
	struct unwind_thread *thread;
	const struct sp_unwinder_memory *memory; /* the current call's */
	uint64_t sp;                             /* its first stack pointer */
	VEC(struct unwind_frame) frames;
	struct unwind_result last;
	struct sp_unwinder_stack stack; /* `last` for the caller */
	uint64_t last_ip; /* address of the code in which the last stack ended */
	size_t limit;
	char *reason;
	struct window windows[WINDOWS + 1]; /* the last one: the page of `sp` */
};

DEFINE_CLEANUP(struct sp_unwinder_thread *, sp_unwinder_thread_free)

static void read_window(const struct sp_unwinder_thread *thread, uint64_t number,
			struct window *window)
{
	const struct sp_unwinder_memory *memory = thread->memory;
	uint64_t begin = number * PAGE;
	window->number = number;
	window->high = PAGE;
	window->low = 0;
	if (memory->read(memory->arg, begin, PAGE, window->bytes))
		return;
	/* Copies of stacks begin at the stack pointer. */
	window->low = thread->sp / PAGE == number ? (uint32_t)(thread->sp % PAGE) : 0;
	if (!window->low ||
	    !memory->read(memory->arg, thread->sp, PAGE - window->low, window->bytes + window->low))
		window->low = window->high = 0;
}

static const struct window *window_of(struct sp_unwinder_thread *thread, uint64_t address)
{
	uint64_t number = address / PAGE;
	size_t place = number == thread->sp / PAGE ? WINDOWS : number % WINDOWS;
	struct window *window = &thread->windows[place];
	if (window->number != number)
		read_window(thread, number, window);
	return window;
}

static bool read_memory(void *arg, uint64_t address, size_t size, void *ret)
{
	struct sp_unwinder_thread *thread = arg;
	const struct window *window = window_of(thread, address);
	uint64_t at = address % PAGE;
	if (at < window->low || at + size > window->high)
		return thread->memory->read(thread->memory->arg, address, size, ret);
	memcpy(ret, window->bytes + at, size);
	return true;
}

static bool find_register(const struct sp_registers *registers, unsigned int number, uint64_t *ret)
{
	uint64_t bit = (uint64_t)1 << number;
	size_t index = __builtin_popcountll(registers->mask & (bit - 1));
	if (!(registers->mask & bit) || index >= registers->count)
		return false;
	*ret = registers->values[index];
	return true;
}

/* Begins a new stack. Returns the available bytes from the stack pointer up. */
static struct sp_bytes begin(struct sp_unwinder_thread *thread,
			     const struct sp_registers *registers,
			     const struct sp_unwinder_memory *memory)
{
	thread->memory = memory;
	for (size_t i = 0; i <= WINDOWS; i++)
		thread->windows[i].number = NO_PAGE;
	if (!find_register(registers, thread->unwinder->sp_number, &thread->sp))
		return (struct sp_bytes){0};
	const struct window *window = window_of(thread, thread->sp);
	uint64_t at = thread->sp % PAGE;
	return window->high ? (struct sp_bytes){window->bytes + at, window->high - at}
			    : (struct sp_bytes){0};
}

static struct sp_unwinder_frame frame_of(const struct unwind_frame *frame)
{
	static const enum sp_unwinder_method methods[] = {
		[UNWIND_BY_REGISTERS] = SP_UNWINDER_BY_REGISTERS,
		[UNWIND_BY_CFI] = SP_UNWINDER_BY_CFI,
		[UNWIND_BY_GO] = SP_UNWINDER_BY_GO,
		[UNWIND_BY_SIGNAL] = SP_UNWINDER_BY_SIGNAL,
		[UNWIND_BY_FRAME_POINTER] = SP_UNWINDER_BY_FRAME_POINTER,
	};
	return (struct sp_unwinder_frame){.ip = frame->ip, .sp = frame->sp, .exact = frame->exact,
					  .method = methods[frame->method]};
}

const struct sp_unwinder_stack *sp_unwinder_unwind(struct sp_unwinder_thread *thread,
						   const struct sp_registers *registers,
						   const struct sp_unwinder_memory *memory,
						   struct sp_unwinder_frame *frames, size_t limit)
{
	static const enum sp_unwinder_end ends[UNWIND_END_COUNT] = {
		[UNWIND_COMPLETE] = SP_UNWINDER_COMPLETE,
		[UNWIND_TRUNCATED] = SP_UNWINDER_TRUNCATED,
		[UNWIND_NO_INFO] = SP_UNWINDER_NO_INFO,
		[UNWIND_BAD_MEMORY] = SP_UNWINDER_BAD_MEMORY,
		[UNWIND_DEPTH_LIMIT] = SP_UNWINDER_DEPTH_LIMIT,
	};
	const struct memory_source source = {read_memory, thread};
	struct unwind_sample sample = {
		.view = atomic_load(&thread->unwinder->view),
		.registers = *registers,
		.stack = begin(thread, registers, memory),
		.source = &source,
	};
	/* Without memory for `limit` frames, reduce the limit. */
	if (!vec_reserve(&thread->frames, limit) && limit > thread->frames.capacity)
		limit = thread->frames.capacity;
	thread->last = unwind_stack(thread->thread, &sample, thread->frames.items, limit);
	thread->limit = limit;
	size_t count = thread->last.count;
	for (size_t i = 0; i < count; i++)
		frames[i] = frame_of(&thread->frames.items[i]);
	thread->last_ip = count ? frames[count - 1].ip - !frames[count - 1].exact : 0;
	thread->stack = (struct sp_unwinder_stack){.count = count, .end = ends[thread->last.end],
						   .missing = thread->last.missing};
	return &thread->stack;
}

static char *format_no_info(const struct sp_unwinder_thread *thread)
{
	const struct module *blind = thread->last.blind;
	const char *problem = blind ? unwinder_problem(thread->unwinder->unwinder, blind) : NULL;
	if (!thread->last.count)
		return format_text("the registers lack the instruction pointer");
	if (!blind)
		return format_text("no module has the code at 0x%" PRIx64, thread->last_ip);
	return format_text("no unwind information for the code at 0x%" PRIx64 " in %s%s%s",
			   thread->last_ip, blind->path, problem ? ": " : "", problem ?: "");
}

static char *format_reason(const struct sp_unwinder_thread *thread)
{
	const struct unwind_result *last = &thread->last;
	switch (last->end) {
	case UNWIND_COMPLETE:
		return format_text(last->system_stack ? "start of the system stack of a Go thread"
						      : "start of the thread");
	case UNWIND_TRUNCATED:
		return format_text("memory at 0x%" PRIx64 " cannot be read", last->missing);
	case UNWIND_BAD_MEMORY:
		return format_text(
			"impossible return address or stack pointer in the frame of 0x%" PRIx64,
			thread->last_ip);
	case UNWIND_DEPTH_LIMIT:
		return format_text("more than %zu frames", thread->limit);
	default:
		return format_no_info(thread);
	}
}

const char *sp_unwinder_reason(struct sp_unwinder_thread *thread)
{
	free(thread->reason);
	thread->reason = format_reason(thread);
	return thread->reason ?: "out of memory";
}

struct sp_error *sp_unwinder_thread_new(struct sp_unwinder *unwinder,
					struct sp_unwinder_thread **ret)
{
	CLEANUP(cleanup_sp_unwinder_thread_free) struct sp_unwinder_thread *thread =
		calloc(1, sizeof(*thread));
	NEED(thread);
	thread->unwinder = unwinder;
	thread->thread = unwind_thread_new(unwinder->unwinder);
	NEED(thread->thread);
	*ret = take_ptr(thread);
	return NULL;
}

void sp_unwinder_thread_free(struct sp_unwinder_thread *thread)
{
	if (!thread)
		return;
	unwind_thread_free(thread->thread);
	vec_deinit(&thread->frames);
	free(thread->reason);
	free(thread);
}

DEFINE_CLEANUP(struct sp_unwinder *, sp_unwinder_free)

static struct location locate(void *arg, uint32_t view, uint64_t ip)
{
	const struct sp_unwinder *unwinder = arg;
	return live_locate(unwinder->live, view, ip);
}

static bool is_given(const struct given_file *file, const struct module *module)
{
	return file->ino == module->ino && file->maj == module->maj && file->min == module->min &&
	       !strcmp(file->path, module->path);
}

static struct sp_error *open_file(void *arg, const struct module *module, uint32_t pid,
				  struct image **ret)
{
	struct sp_unwinder *unwinder = arg;
	int fd = -1;
	pthread_mutex_lock(&unwinder->lock);
	for (size_t i = 0; i < unwinder->given.count && fd < 0; i++)
		if (is_given(&unwinder->given.items[i], module))
			fd = unwinder->given.items[i].fd;
	pthread_mutex_unlock(&unwinder->lock);
	if (fd < 0)
		return binary_open_code(&unwinder->binaries, module, pid, ret);
	CLEANUP_FREE char *path = format_text("/proc/self/fd/%d", fd);
	return path ? image_open(path, ret) : error_no_memory();
}

static struct sp_error *find_debug(void *arg, const struct module *module, const struct image *image,
				   debugfile_wanted_fn *wanted, struct image **ret)
{
	struct sp_unwinder *unwinder = arg;
	return binary_find_debug(&unwinder->binaries, module, image, wanted, ret);
}

static unsigned int number_of_sp(const char *name)
{
	const struct unwind_arch *arch = arch_find(name, PERF_SAMPLE_REGS_ABI_64);
	unsigned int number = 0;
	while (arch && number < ARCH_PERF_COUNT && arch->column_of[number] != arch->sp)
		number++;
	return number;
}

static struct sp_error *set_up(struct sp_unwinder *unwinder)
{
	const struct provenance here = {.same_kernel = true, .host = HOST_SAME, .arch = unwinder->arch};
	const struct unwind_options options = {
		.engine = "cfi",
		.arch = unwinder->arch,
		.locator = {locate, unwinder},
		.files = {.open = open_file, .debug = find_debug, .arg = unwinder},
	};
	struct sp_error *error = binary_env_init(&unwinder->binaries, unwinder->ctx, NULL, &here);
	if (!error)
		error = unwinder_new(unwinder->ctx, &options, &unwinder->unwinder);
	if (!error)
		error = live_new(strstr(unwinder->arch, "64"), &unwinder->live);
	unwinder->sp_number = number_of_sp(unwinder->arch);
	return error;
}

struct sp_error *sp_unwinder_new(struct sp_ctx *ctx, const struct sp_unwinder_options *asked,
				 struct sp_unwinder **ret)
{
	struct sp_unwinder_options options;
	struct utsname host;
	TRY(sized_copy(&options, sizeof(options), asked));
	if (uname(&host) < 0)
		return error_os(errno, "uname");
	CLEANUP(cleanup_sp_unwinder_free) struct sp_unwinder *unwinder = calloc(1, sizeof(*unwinder));
	NEED(unwinder);
	pthread_mutex_init(&unwinder->lock, NULL);
	unwinder->ctx = ctx;
	unwinder->pid = options.pid ?: getpid();
	unwinder->arch = strdup(options.arch ?: host.machine);
	TRY(unwinder->arch ? set_up(unwinder) : error_no_memory());
	*ret = take_ptr(unwinder);
	return NULL;
}

void sp_unwinder_free(struct sp_unwinder *unwinder)
{
	if (!unwinder)
		return;
	vec_each (item, &unwinder->given) {
		free(item->path);
		close(item->fd);
	}
	vec_deinit(&unwinder->given);
	unwinder_free(unwinder->unwinder);
	live_free(unwinder->live);
	binary_env_deinit(&unwinder->binaries);
	pthread_mutex_destroy(&unwinder->lock);
	free(unwinder->arch);
	free(unwinder);
}

/* Keeps a duplicate of the descriptor, and sets the file's identity in `mmap`. */
static struct sp_error *duplicate_fd(struct sp_unwinder *unwinder, int given, struct sp_mmap *mmap)
{
	struct stat status;
	if (fstat(given, &status) < 0)
		return error_os(errno, "%s", mmap->filename);
	mmap->ino = status.st_ino;
	mmap->maj = major(status.st_dev);
	mmap->min = minor(status.st_dev);
	CLEANUP_FREE char *path = strdup(mmap->filename);
	CLEANUP_CLOSE int fd = fcntl(given, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return error_os(errno, "%s", mmap->filename);
	pthread_mutex_lock(&unwinder->lock);
	struct given_file *file = path ? vec_push(&unwinder->given) : NULL;
	if (file)
		*file = (struct given_file){.path = take_ptr(path), .fd = take_fd(&fd), .ino = mmap->ino,
					    .maj = mmap->maj, .min = mmap->min};
	pthread_mutex_unlock(&unwinder->lock);
	return file ? NULL : error_no_memory();
}

/* Adds a mapping, which takes effect with apply(). Under the lock. */
static struct sp_error *add(struct sp_unwinder *unwinder, const struct sp_mmap *mmap)
{
	struct sp_record record = {
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.id = {.time_ns = unwinder->time_ns},
		.mmap = *mmap,
	};
	record.mmap.pid = record.mmap.tid = unwinder->pid;
	record.mmap.prot = PROT_READ | PROT_EXEC;
	return live_add(unwinder->live, &record);
}

/* Makes the added mappings the newest view. Under the lock. */
static struct sp_error *apply(struct sp_unwinder *unwinder)
{
	TRY(live_apply(unwinder->live));
	atomic_store(&unwinder->view, live_view(unwinder->live, unwinder->pid, unwinder->time_ns));
	return live_expire(unwinder->live, unwinder->time_ns++);
}

struct sp_error *sp_unwinder_add(struct sp_unwinder *unwinder, const struct sp_unwinder_module *given)
{
	struct sp_unwinder_module module;
	TRY(sized_copy(&module, sizeof(module), given));
	if (!module.path || (*module.path != '/' && strcmp(module.path, "[vdso]")))
		return error_new(SP_ERROR_INVALID, "module path '%s' is not absolute", module.path ?: "");
	if (module.start >= module.end)
		return error_new(SP_ERROR_INVALID, "the address range of %s is empty", module.path);
	struct sp_mmap mmap = {
		.start = module.start,
		.size = module.end - module.start,
		.file_offset = module.file_offset,
		.filename = module.path,
	};
	TRY(module.use_fd ? duplicate_fd(unwinder, module.fd, &mmap) : NULL);
	pthread_mutex_lock(&unwinder->lock);
	struct sp_error *error = add(unwinder, &mmap);
	if (!error)
		error = apply(unwinder);
	pthread_mutex_unlock(&unwinder->lock);
	return error;
}

static struct sp_error *add_entry(struct sp_unwinder *unwinder, const struct maps_entry *entry)
{
	CLEANUP_FREE char *room = NULL;
	struct sp_mmap mmap;
	TRY(maps_entry_mmap(entry, unwinder->pid, &mmap, &room));
	return add(unwinder, &mmap);
}

struct sp_error *sp_unwinder_add_process(struct sp_unwinder *unwinder)
{
	CLEANUP(cleanup_maps_free) struct maps *maps = NULL;
	const struct maps_entry *entry = NULL;
	struct sp_error *error = maps_open(unwinder->ctx, unwinder->pid, 0, MAPS_EXECUTABLE, &maps);
	if (error)
		return error;
	pthread_mutex_lock(&unwinder->lock);
	do {
		error = maps_next(maps, &entry);
		/* Old programs call the kernel at this address, which engines know without a module. */
		if (!error && entry && strcmp(entry->path, "[vsyscall]"))
			error = add_entry(unwinder, entry);
	} while (!error && entry);
	error = error_first(error, apply(unwinder));
	pthread_mutex_unlock(&unwinder->lock);
	return error;
}

const char *sp_unwinder_path(struct sp_unwinder *unwinder, uint64_t ip)
{
	struct location location = live_locate(unwinder->live, atomic_load(&unwinder->view), ip);
	return location.module ? location.module->path : NULL;
}
