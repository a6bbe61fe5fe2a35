/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "binary/binary.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/io.h"
#include "base/vec.h"
#include "binary/vdso.h"
#include "elf/debuginfod.h"
#include "proc/proc_tasks.h"

/* Limits of files that are held: for each CPU, and whatever the limit of open files. */
#define CPU_FILES 48
#define FILES_MAX 1024

/* Bytes of copies in all. */
#define COPIES_MAX ((uint64_t)64 << 20)

struct held_file {
	char *path; /* the module's */
	uint8_t build_id[20];
	uint8_t build_id_size;
	uint32_t maj, min;
	uint64_t ino;
	int fd;
};

struct held_files {
	pthread_mutex_t lock;
	size_t files_max;
	uint64_t copied; /* bytes of copies so far */
	VEC(struct held_file);
};

struct sp_error *held_files_new(struct held_files **ret)
{
	struct rlimit limit;
	struct held_files *held = calloc(1, sizeof(*held));
	NEED(held);
	pthread_mutex_init(&held->lock, NULL);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	held->files_max = cpus > 0 ? CPU_FILES * (size_t)cpus : CPU_FILES;
	held->files_max = held->files_max < FILES_MAX ? held->files_max : FILES_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 8 < held->files_max)
		held->files_max = (size_t)limit.rlim_cur / 8;
	*ret = held;
	return NULL;
}

void held_files_free(struct held_files *held)
{
	if (!held)
		return;
	vec_each (item, held) {
		close(item->fd);
		free(item->path);
	}
	vec_deinit(held);
	pthread_mutex_destroy(&held->lock);
	free(held);
}

/*
 * Returns whether a held file is the module's. The recorder may not know a build-id that is found
 * when the recording ends; then its inode decides.
 */
static bool is_of(const struct held_file *file, const struct module *module)
{
	bool same = file->build_id_size && module->build_id_size ?
			    bytes_equal(file->build_id, file->build_id_size, module->build_id,
					module->build_id_size) :
			    file->ino == module->ino && file->maj == module->maj &&
				    file->min == module->min;
	return same && !strcmp(file->path, module->path);
}

static const struct held_file *find(const struct held_files *held, const struct module *module)
{
	vec_each (item, held)
		if (is_of(item, module))
			return item;
	return NULL;
}

/* Copies a file to memory. Returns its descriptor, or -1. */
static int copy_file(const struct image *image)
{
	CLEANUP_CLOSE int fd = memfd_create("sprof-held", MFD_CLOEXEC);
	off_t offset = 0;
	while (fd >= 0 && (uint64_t)offset < image->size)
		if (sendfile(fd, image->fd, &offset, image->size - (uint64_t)offset) <= 0)
			return -1;
	return take_fd(&fd);
}

/*
 * Returns a descriptor that is open as long as the file is held; -1: a limit is reached, or an
 * error.
 */
static int hold(struct held_files *held, const struct image *image)
{
	bool is_here = !image->root || !*image->root;
	if (is_here && !image->is_copy)
		return fcntl(image->fd, F_DUPFD_CLOEXEC, 3);
	if (image->allocated < image->size || held->copied + image->size > COPIES_MAX)
		return -1;
	int fd = image->is_copy ? fcntl(image->fd, F_DUPFD_CLOEXEC, 3) : copy_file(image);
	if (fd >= 0)
		held->copied += image->size;
	return fd;
}

static void add(struct held_files *held, const struct module *module, const struct image *image)
{
	char *path = strdup(module->path);
	int fd = path ? hold(held, image) : -1;
	if (fd < 0 || !vec_reserve(held, held->count + 1)) {
		if (fd >= 0)
			close(fd);
		free(path);
		return;
	}
	struct held_file file = {
		.path = path,
		.build_id_size = module->build_id_size,
		.maj = module->maj,
		.min = module->min,
		.ino = module->ino,
		.fd = fd,
	};
	memcpy(file.build_id, module->build_id, module->build_id_size);
	/* A process that is forked at any moment must find complete files only. */
	held->items[held->count] = file;
	__atomic_store_n(&held->count, held->count + 1, __ATOMIC_RELEASE);
}

/*
 * Holds the file of a module, unless a limit is reached: an eighth of the files that the process
 * may open, and 64 MB of copies. Thread-safe.
 */
static void held_files_add(struct held_files *held, const struct module *module,
		    const struct image *image)
{
	if (image->fd < 0)
		return;
	pthread_mutex_lock(&held->lock);
	if (held->count < held->files_max && !find(held, module))
		add(held, module, image);
	pthread_mutex_unlock(&held->lock);
}

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void held_files_after_fork(struct held_files *held, const int *fds, size_t count)
{
	size_t held_count = held ? held->count : 0, all = held_count + count;
	CLEANUP_FREE int *kept = calloc(all + 1, sizeof(*kept));
	if (held)
		pthread_mutex_init(&held->lock, NULL);
	for (size_t i = 0; i < all && kept; i++)
		kept[i] = i < count ? fds[i] : held->items[i - count].fd;
	if (kept)
		qsort(kept, all, sizeof(*kept), compare_fds);
	int next = STDERR_FILENO + 1;
	for (size_t i = 0; i < all && kept; i++) {
		io_close_range(next, kept[i] - 1);
		next = kept[i] + 1;
	}
	io_close_range(next, INT_MAX);
}

/* Opens the held file of a module; *ret stays NULL if there is none. */
static struct sp_error *held_files_open(struct held_files *held, const struct module *module,
				 struct image **ret)
{
	char path[32] = "";
	*ret = NULL;
	pthread_mutex_lock(&held->lock);
	const struct held_file *file = find(held, module);
	if (file)
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	pthread_mutex_unlock(&held->lock);
	return *path ? image_open(path, ret) : NULL;
}

#define DELETED " (deleted)"
#define USE_SYMFS "use --symfs DIR with the recorded machine's files"
#define OR_DEBUGINFOD USE_SYMFS ", or --debuginfod"

/* Bytes of a build-id that messages show. */
#define SHOWN_ID 8

enum proof {
	PROOF_PATH,  /* opened by its recorded path */
	PROOF_VIEW,  /* opened by its path in /proc/PID/root; the PID may have been reused */
	PROOF_INODE, /* opened by /proc/PID/exe or map_files; a mismatch is not reported */
};

struct binary_file_search {
	const struct binary_env *env;
	const struct module *module;
	const char *path; /* recorded path, without " (deleted)" */
	bool was_deleted;
	bool debug_only; /* wanted: a file that lacks code, instead of one that has it */
	struct diagnosis *diagnosis;
	struct image *found;
};

struct sp_error *binary_env_init(struct binary_env *env, struct sp_ctx *ctx, const char *symfs,
				 const struct provenance *provenance)
{
	struct binary_env made = {.ctx = ctx, .provenance = *provenance};
	made.symfs = symfs ? strdup(symfs) : NULL;
	bool good = !symfs || made.symfs;
	const char *home = getenv("HOME");
	if (home && *home == '/') {
		made.build_id_cache = format_text("%s/.debug", home);
		good &= made.build_id_cache != NULL;
	}
	if (!good) {
		binary_env_deinit(&made);
		return error_no_memory();
	}
	*env = made;
	return NULL;
}

void binary_env_deinit(struct binary_env *env)
{
	free(env->symfs);
	free(env->build_id_cache);
	*env = (struct binary_env){0};
}

struct debugfile_places binary_places(const struct binary_env *env)
{
	return (struct debugfile_places){
		.symfs = env->symfs,
		.debug_path = ctx_debug_path(env->ctx),
		.cache = env->build_id_cache,
		.debuginfod = ctx_debuginfod(env->ctx),
		.ctx = env->ctx,
		.proxies = env->proxies,
	};
}

char *binary_recorded_path(const struct module *module)
{
	size_t size = strlen(module->path);
	if (text_ends_with(module->path, DELETED))
		size -= strlen(DELETED);
	return strndup(module->path, size);
}

static void show_id(const uint8_t *id, size_t size, char ret[2 * SHOWN_ID + 1])
{
	bytes_to_hex(id, size < SHOWN_ID ? size : SHOWN_ID, ret);
}

static bool has_recorded_inode(const struct module *module, const struct image *image)
{
	return module->ino == image->inode && module->maj == major(image->device) &&
	       module->min == minor(image->device);
}

static bool has_recorded_id(const struct binary_file_search *search, const struct image *image,
			    enum proof proof)
{
	const struct module *module = search->module;
	if (image_has_build_id(image, module->build_id, module->build_id_size))
		return true;
	if (proof == PROOF_INODE ||
	    (proof == PROOF_VIEW && search->diagnosis->problem == BINARY_WRONG))
		return false;
	char recorded[2 * SHOWN_ID + 1], here[2 * SHOWN_ID + 1];
	show_id(module->build_id, module->build_id_size, recorded);
	show_id(image->build_id, image->build_id_size, here);
	diagnosis_set(search->diagnosis, BINARY_WRONG,
		      USE_SYMFS,
		      image->build_id_size ? "%s is not the recorded file: build-id %s… was "
					     "recorded, this one has %s…"
					   : "%s is not the recorded file: build-id %s… was "
					     "recorded, this one has none%s",
		      image->path, recorded, here);
	return false;
}

/* Accepts any file below --symfs if the module has no recorded build-id. Notes another architecture. */
static bool is_given(const struct binary_file_search *search, const struct image *image)
{
	const struct binary_env *env = search->env;
	if (!env->symfs || !*env->symfs)
		return false;
	if (!identity_runs_on(image->machine, env->provenance.arch))
		diagnosis_set(search->diagnosis, BINARY_UNPROVEN, USE_SYMFS,
			      "%s has ELF machine %u, but was recorded on %s", image->path,
			      image->machine, env->provenance.arch);
	return true;
}

/*
 * Returns whether the image is usable as the recorded file: by build-id, or else by --symfs or
 * identity_of(). An unproven file is usable, and the diagnosis gets the doubt. For a refused file
 * it gets the reason, always if the file was opened by its recorded path.
 */
static bool may_be_recorded(const struct binary_file_search *search, const struct image *image,
			    enum proof proof)
{
	const struct module *module = search->module;
	if (module->build_id_size > 0)
		return has_recorded_id(search, image, proof);
	if (is_given(search, image))
		return true;
	if ((proof == PROOF_VIEW && (!module->ino || module->ino != image->inode)) ||
	    (proof == PROOF_INODE && (!module->ino || !has_recorded_inode(module, image))))
		return false;
	return identity_of(&search->env->provenance, module, image, search->diagnosis) !=
	       IDENTITY_OTHER;
}

/*
 * Keeps the opened image if it is the recorded file. Other errors than lack of memory go into the
 * diagnosis.
 */
static struct sp_error *consider(struct binary_file_search *search, struct sp_error *error,
				 struct image *opened, enum proof proof)
{
	CLEANUP(cleanup_image_free) struct image *image = opened;
	if (!error) {
		if (!may_be_recorded(search, image, proof))
			return NULL;
		if (image_lacks_code(image) == search->debug_only)
			search->found = take_ptr(image);
		else if (!search->debug_only)
			diagnosis_set(search->diagnosis, BINARY_MISSING, USE_SYMFS,
				      "%s has only debug information", image->path);
		return NULL;
	}
	if (sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return error;
	CLEANUP(cleanup_sp_error_free) struct sp_error *why = error;
	if (proof != PROOF_PATH || search->diagnosis->problem != BINARY_OK)
		return NULL;
	if (sp_error_code(why) == SP_ERROR_FORMAT)
		diagnosis_set(search->diagnosis, BINARY_DAMAGED, NULL, "%s",
			      sp_error_message(why));
	else
		diagnosis_set(search->diagnosis, BINARY_MISSING,
			      search->was_deleted
				      ? "report while the process still runs"
			      : search->module->build_id_size &&
					      module_is_distributed(search->module) &&
					      !ctx_debuginfod(search->env->ctx) &&
					      debuginfod_has_servers()
				      ? OR_DEBUGINFOD
				      : USE_SYMFS,
			      "%s%s", sp_error_message(why),
			      search->was_deleted ? " (deleted before the recording)"
						  : "");
	return NULL;
}

static struct sp_error *try_path(struct binary_file_search *search, const char *root,
				 const char *path, enum proof proof)
{
	struct image *image = NULL;
	struct sp_error *error = image_open_guarded(search->env->proxies, root, path, &image);
	return consider(search, error, image, proof);
}

static struct sp_error *try_format(struct binary_file_search *search, enum proof proof,
				   const char *format, ...) __attribute__((format(printf, 3, 4)));

static struct sp_error *try_format(struct binary_file_search *search, enum proof proof,
				   const char *format, ...)
{
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *path = format_text_va(format, args);
	va_end(args);
	return path ? try_path(search, NULL, path, proof) : error_no_memory();
}

/* Folder map_files, and the name of its first entry with a file's inode; "": there is none. */
struct map_files_job {
	char folder[PATH_MAX], found[NAME_MAX + 1];
	uint32_t maj, min;
	uint64_t ino;
};

static int search_map_files(void *bytes)
{
	struct map_files_job *job = bytes;
	CLEANUP(cleanup_closedir) DIR *dir = opendir(job->folder);
	struct dirent *entry;
	while (dir && !*job->found && (entry = readdir(dir))) {
		struct stat status;
		if (!fstatat(dirfd(dir), entry->d_name, &status, 0) &&
		    status.st_ino == job->ino && major(status.st_dev) == job->maj &&
		    minor(status.st_dev) == job->min)
			snprintf(job->found, sizeof(job->found), "%s", entry->d_name);
	}
	return -1;
}

/* Opens the first entry of map_files with the recorded inode. Only root may read it. */
static struct sp_error *try_map_files(struct binary_file_search *search, uint32_t pid)
{
	const struct module *module = search->module;
	struct map_files_job job = {.maj = module->maj, .min = module->min, .ino = module->ino};
	snprintf(job.folder, sizeof(job.folder), "%s/proc/%u/map_files",
		 ctx_root(search->env->ctx), pid);
	if (!proxy_run(search->env->proxies, pid, search_map_files, &job, sizeof(job), NULL) ||
	    !*job.found)
		return NULL;
	return try_format(search, PROOF_INODE, "%s/%s", job.folder, job.found);
}

/* Tries the files of the process that mapped the module: /proc/PID/root, exe and map_files. */
static struct sp_error *try_process(struct binary_file_search *search, uint32_t pid)
{
	const char *root = ctx_root(search->env->ctx);
	CLEANUP_FREE char *view = format_text("%s/proc/%u/root", root, pid);
	NEED(view);
	TRY(try_path(search, view, search->path, PROOF_VIEW));
	if (!search->found)
		TRY(try_format(search, PROOF_INODE, "%s/proc/%u/exe", root, pid));
	if (!search->found && search->module->ino != 0)
		TRY(try_map_files(search, pid));
	return NULL;
}

static struct sp_error *search_places(struct binary_file_search *search, uint32_t pid)
{
	const char *symfs = search->env->symfs;
	if (symfs && *symfs)
		return try_path(search, symfs, search->path, PROOF_PATH);
	struct sp_error *error = NULL;
	/* Names of mappings without a file are not absolute: never open one in the current directory. */
	if (*search->path != '/') {
		diagnosis_set(search->diagnosis, BINARY_MISSING, USE_SYMFS, "%s is not a file path",
			      search->path);
		return NULL;
	}
	/* In another mount namespace or chroot, the path may name another file than here. */
	bool elsewhere = pid != 0 && tasks_has_other_root(search->env->ctx, pid);
	if (elsewhere)
		error = try_process(search, pid);
	if (!error && !search->found && !search->was_deleted)
		error = try_path(search, NULL, search->path, PROOF_PATH);
	if (!error && !search->found && pid != 0 && !elsewhere)
		error = try_process(search, pid);
	/*
	 * The path may have a new file after the recorded one was deleted. Only a build-id can prove
	 * its identity.
	 */
	if (!error && !search->found && search->was_deleted && search->module->build_id_size > 0)
		error = try_path(search, NULL, search->path, PROOF_PATH);
	return error;
}

static struct sp_error *open_vdso(const struct binary_env *env, const struct module *module,
				  struct diagnosis *diagnosis, struct image **ret)
{
	struct image *image = NULL;
	TRY(vdso_open(env, module, &image));
	if (!image)
		diagnosis_set(diagnosis, BINARY_OTHER_KERNEL, "report where that kernel runs",
			      "%s of the recorded kernel not found: another kernel runs here",
			 module->path);
	*ret = image;
	return NULL;
}

static struct sp_error *open_file(const struct binary_env *env, const struct module *module,
				  uint32_t pid, struct diagnosis *diagnosis,
				  struct image **ret)
{
	CLEANUP_FREE char *path = binary_recorded_path(module);
	NEED(path);
	struct binary_file_search search = {
		.env = env,
		.module = module,
		.diagnosis = diagnosis,
		.path = path,
		.was_deleted = text_ends_with(module->path, DELETED),
	};
	struct sp_error *error = search_places(&search, pid ?: module->pid);
	struct debugfile_places places = binary_places(env);
	if (!error && !search.found && env->held)
		error = held_files_open(env->held, module, &search.found);
	if (!error && !search.found)
		error = debugfile_cached(&places, module->build_id, module->build_id_size, "elf",
					 &search.found);
	if (!error && !search.found)
		error = debugfile_binary(&places, module->build_id, module->build_id_size,
					 &search.found);
	if (error)
		return error;
	if (search.found && diagnosis->problem != BINARY_UNPROVEN)
		diagnosis_clear(diagnosis);
	else if (!search.found && diagnosis->problem == BINARY_OK)
		diagnosis_set(diagnosis, BINARY_MISSING,
			      "report while the process still runs",
			      "%s was deleted, and no process has it mapped", path);
	*ret = search.found;
	return NULL;
}

struct sp_error *binary_open(const struct binary_env *env, const struct module *module,
			     uint32_t pid, struct diagnosis *diagnosis, struct image **ret)
{
	return module->kind == MODULE_VDSO ? open_vdso(env, module, diagnosis, ret)
					   : open_file(env, module, pid, diagnosis, ret);
}

struct sp_error *binary_open_debug_only(const struct binary_env *env, const struct module *module,
					uint32_t pid, struct image **ret)
{
	CLEANUP(diagnosis_clear) struct diagnosis diagnosis = {0};
	CLEANUP_FREE char *path = binary_recorded_path(module);
	NEED(path);
	struct binary_file_search search = {
		.env = env,
		.module = module,
		.diagnosis = &diagnosis,
		.path = path,
		.debug_only = true,
	};
	TRY(search_places(&search, pid ?: module->pid));
	*ret = search.found;
	return NULL;
}

struct sp_error *binary_find_debug(const struct binary_env *env, const struct module *module,
				   const struct image *image, debugfile_wanted_fn *wanted,
				   struct image **ret)
{
	struct debugfile_places places = binary_places(env);
	CLEANUP_FREE char *path = binary_recorded_path(module);
	return path ? debugfile_find(&places, image, path, wanted, ret) : error_no_memory();
}

struct stored_key binary_stored_key(const struct module *module)
{
	struct stored_key key = {
		.kind = module->kind,
		.path = module->path,
		.build_id_size = module->build_id_size,
		.maj = module->maj,
		.min = module->min,
		.pid = module->pid,
		.ino = module->ino,
	};
	memcpy(key.build_id, module->build_id, module->build_id_size);
	return key;
}

struct sp_error *binary_open_code(void *arg, const struct module *module, uint32_t pid,
				  struct image **ret)
{
	const struct binary_env *env = arg;
	CLEANUP(diagnosis_clear) struct diagnosis diagnosis = {0};
	*ret = NULL;
	if (module->kind != MODULE_FILE && module->kind != MODULE_VDSO)
		return NULL;
	struct sp_error *error = binary_open(env, module, pid, &diagnosis, ret);
	if (!error && *ret && env->held && module->kind == MODULE_FILE)
		held_files_add(env->held, module, *ret);
	const struct stored_key key = binary_stored_key(module);
	if (!error && !*ret && env->stored)
		error = stored_open_file(env->stored, &key, ret);
	if (!error && !*ret && diagnosis.text)
		ctx_log(env->ctx, SP_LOG_DEBUG, "%s", diagnosis.text);
	return error;
}

struct sp_error *binary_open_debug(void *env, const struct module *module,
				   const struct image *image, debugfile_wanted_fn *wanted,
				   struct image **ret)
{
	return binary_find_debug(env, module, image, wanted, ret);
}
