/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Modules of an unwinder. They are kept as the recorder keeps its processes' mappings: an addition is a
 * mapping record of a later time, which makes a new view. A thread that unwinds keeps the view with
 * which it began.
 */
#include "unwinder/unwinder.h"

#include <errno.h>
#include <fcntl.h>
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

DEFINE_CLEANUP(struct sp_unwinder *, sp_unwinder_free)
DEFINE_CLEANUP(struct maps *, maps_free)

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

/* Returns the descriptor of a module that has one; -1: it has none. */
static int given_fd(struct sp_unwinder *unwinder, const struct module *module)
{
	int fd = -1;
	pthread_mutex_lock(&unwinder->lock);
	for (size_t i = 0; i < unwinder->given.count && fd < 0; i++)
		if (is_given(&unwinder->given.items[i], module))
			fd = unwinder->given.items[i].fd;
	pthread_mutex_unlock(&unwinder->lock);
	return fd;
}

static struct sp_error *open_file(void *arg, const struct module *module, uint32_t pid, struct image **ret)
{
	struct sp_unwinder *unwinder = arg;
	int fd = given_fd(unwinder, module);
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
	unwinder->pid = (uint32_t)(options.pid ?: getpid());
	unwinder->arch = strdup(options.arch ?: host.machine);
	struct sp_error *error = unwinder->arch ? set_up(unwinder) : error_no_memory();
	if (!error)
		*ret = take_ptr(unwinder);
	return error;
}

void sp_unwinder_free(struct sp_unwinder *unwinder)
{
	if (!unwinder)
		return;
	for (size_t i = 0; i < unwinder->given.count; i++) {
		free(unwinder->given.items[i].path);
		close(unwinder->given.items[i].fd);
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
static struct sp_error *keep_fd(struct sp_unwinder *unwinder, int given, struct sp_mmap *mmap)
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
	return live_forget(unwinder->live, unwinder->time_ns++);
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
	struct sp_error *error = module.use_fd ? keep_fd(unwinder, module.fd, &mmap) : NULL;
	if (error)
		return error;
	pthread_mutex_lock(&unwinder->lock);
	error = add(unwinder, &mmap);
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
