/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of user space files, and what is said where there are none. */
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include "binary/vdso.h"
#include "resolving.h"

TEST(resolver_names_functions_of_a_program)
{
	RESOLVING r = {0};
	resolving_compile("prog", "");
	resolving_use(&r, "prog");
	resolving_start(&r);
	uint64_t at = resolving_function("prog", "hidden");
	const struct symbol *symbol = resolving_find(&r, at);
	ck_assert(symbol);
	ck_assert_str_eq(symbol->name, "hidden");
	ck_assert_str_eq(symbol->raw_name, "hidden");
	ck_assert_uint_eq(symbol->start, at);
	ck_assert_uint_gt(symbol->size, 0);
	ck_assert_ptr_eq(symbol, resolving_find(&r, at + 1));
	resolving_expect(&r, resolving_function("prog", "work"), "work");
	resolving_problem(&r, RESOLVER_OK, NULL);
	resolving_expect(&r, 1 << 30, NULL);
}

TEST(resolver_position_dependent_program)
{
	RESOLVING r = {0};
	resolving_compile("prog", "-no-pie -static");
	resolving_use(&r, "prog");
	resolving_start(&r);
	resolving_expect(&r, resolving_function("prog", "hidden") + 3, "hidden");
}

/* Strips prog, its symbols into FILE, linked. */
static void split(const char *file)
{
	files_run("objcopy --only-keep-debug prog %s && strip prog &&"
		  "objcopy --add-gnu-debuglink=%s prog",
		  file, file);
}

TEST(resolver_debuglink_beside_the_file)
{
	RESOLVING r = {0};
	resolving_compile("prog", "");
	uint64_t at = resolving_function("prog", "hidden");
	split("prog.debug");
	resolving_use(&r, "prog");
	resolving_start(&r);
	resolving_expect(&r, at, "hidden");
	resolving_problem(&r, RESOLVER_OK, NULL);
}

TEST(resolver_debuglink_in_dot_debug)
{
	RESOLVING r = {0};
	resolving_compile("prog", "");
	uint64_t at = resolving_function("prog", "hidden");
	split("prog.debug");
	files_run("mkdir .debug && mv prog.debug .debug");
	resolving_use(&r, "prog");
	resolving_start(&r);
	resolving_expect(&r, at, "hidden");
}

TEST(resolver_debuglink_below_the_debug_path)
{
	RESOLVING r = {0};
	char path[256];
	resolving_compile("prog", "-Wl,--build-id=none");
	uint64_t at = resolving_function("prog", "hidden");
	split("prog.debug");
	files_run("mkdir -p other debug/$PWD && mv prog.debug debug/$PWD");
	resolving_use(&r, "prog");
	ok_or_fail(sp_ctx_new(&r.ctx));
	snprintf(path, sizeof(path), "%s/other::%s/debug", files_folder(), files_folder());
	ok_or_fail(sp_ctx_set_debug_path(r.ctx, path));
	resolving_start(&r);
	resolving_expect(&r, at, "hidden");
}

TEST(resolver_debuglink_of_another_build_is_refused)
{
	RESOLVING r = {0};
	resolving_compile("prog", "-Wl,--build-id=none");
	uint64_t at = resolving_function("prog", "hidden");
	split("prog.debug");
	files_run("printf x >>prog.debug"); /* another CRC */
	resolving_use(&r, "prog");
	resolving_start(&r);
	resolving_expect(&r, at, NULL);
	resolving_problem(&r, RESOLVER_NO_SYMBOLS, "prog is stripped");
}

TEST(resolver_debuglink_of_another_build_id_is_refused)
{
	RESOLVING r = {0};
	resolving_compile("prog", "");
	uint64_t at = resolving_function("prog", "hidden");
	files_run("cp prog other && strip prog &&"
		  "objcopy --only-keep-debug other prog.debug &&"
		  "objcopy --add-gnu-debuglink=prog.debug prog");
	resolving_compile("other", "-DOTHER -O2");
	files_run("objcopy --only-keep-debug other prog.debug");
	resolving_use(&r, "prog");
	resolving_start(&r);
	resolving_expect(&r, at, NULL);
	resolving_problem(&r, RESOLVER_NO_SYMBOLS, NULL);
}

TEST(resolver_debug_file_by_build_id)
{
	RESOLVING r = {0};
	char path[256];
	resolving_compile("prog", "");
	uint64_t at = resolving_function("prog", "hidden");
	files_run("id=$(readelf -n prog | sed -n 's/.*Build ID: //p') &&"
		  "folder=debug/.build-id/$(echo $id | cut -c1-2) && mkdir -p $folder &&"
		  "objcopy --only-keep-debug prog $folder/$(echo $id | cut -c3-).debug && strip "
		  "prog");
	resolving_use(&r, "prog");
	ok_or_fail(sp_ctx_new(&r.ctx));
	snprintf(path, sizeof(path), "%s/debug", files_folder());
	ok_or_fail(sp_ctx_set_debug_path(r.ctx, path));
	resolving_start(&r);
	resolving_expect(&r, at, "hidden");
}

TEST(resolver_debug_file_without_its_binary)
{
	if (!files_have("eu-strip"))
		skip_test("needs eu-strip");
	RESOLVING r = {0};
	char path[256];
	resolving_compile("prog", "-g");
	uint64_t at = resolving_function("prog", "hidden");
	resolving_use(&r, "prog");
	files_run("id=$(readelf -n prog | sed -n 's/.*Build ID: //p') &&"
		  "folder=debug/.build-id/$(echo $id | cut -c1-2) && mkdir -p $folder &&"
		  "file=$folder/$(echo $id | cut -c3-).debug && eu-strip -f $file prog && rm prog &&"
		  "echo $file >where");
	ok_or_fail(sp_ctx_new(&r.ctx));
	snprintf(path, sizeof(path), "%s/debug", files_folder());
	ok_or_fail(sp_ctx_set_debug_path(r.ctx, path));
	resolving_start(&r);
	resolving_expect(&r, at, "hidden");
	resolving_problem(&r, RESOLVER_OK, NULL);
	/* In this one, the offsets of the code are gone: they are those of the linker's layout. */
	resolving_compile("prog", "-g");
	files_run("objcopy --only-keep-debug prog $(cat where) && rm prog");
	resolving_stop(&r);
	resolving_start(&r);
	resolving_expect(&r, at, "hidden");
	resolving_problem(&r, RESOLVER_OK, NULL);
}

#ifdef HAVE_LZMA
TEST(resolver_gnu_debugdata)
{
	if (!files_have("xz"))
		skip_test("needs xz");
	RESOLVING r = {0};
	resolving_compile("prog", "");
	uint64_t at = resolving_function("prog", "hidden");
	files_run("objcopy --only-keep-debug prog mini && strip --strip-debug mini && xz mini &&"
		  "strip prog && objcopy --add-section .gnu_debugdata=mini.xz prog");
	resolving_use(&r, "prog");
	resolving_start(&r);
	resolving_expect(&r, at, "hidden");
	resolving_problem(&r, RESOLVER_OK, NULL);
}

TEST(resolver_damaged_gnu_debugdata_is_said)
{
	RESOLVING r = {0};
	resolving_compile("prog", "-rdynamic");
	uint64_t at = resolving_function("prog", "work");
	files_run("strip prog && echo nonsense >mini &&"
		  "objcopy --add-section .gnu_debugdata=mini prog");
	resolving_use(&r, "prog");
	resolving_start(&r);
	resolving_expect(&r, at, "work");
	resolving_problem(&r, RESOLVER_NO_SYMBOLS, "damaged xz data");
}
#endif

TEST(resolver_stripped_has_dynamic_names_alone)
{
	RESOLVING r = {0};
	resolving_compile("prog", "-rdynamic");
	uint64_t hidden = resolving_function("prog", "hidden");
	uint64_t work = resolving_function("prog", "work");
	files_run("strip prog");
	resolving_use(&r, "prog");
	resolving_start(&r);
	resolving_expect(&r, work, "work");
	resolving_expect(&r, hidden, NULL);
	resolving_problem(&r, RESOLVER_NO_SYMBOLS, "is stripped");
}

TEST(resolver_other_build_id_is_refused_and_named)
{
	RESOLVING r = {0};
	char recorded[17], here[17];
	resolving_compile("prog", "");
	resolving_use(&r, "prog");
	for (int i = 0; i < 8; i++)
		sprintf(here + 2 * i, "%02x", r.module.build_id[i]);
	r.module.build_id[0] ^= 1;
	for (int i = 0; i < 8; i++)
		sprintf(recorded + 2 * i, "%02x", r.module.build_id[i]);
	resolving_start(&r);
	resolving_expect(&r, resolving_function("prog", "work"), NULL);
	resolving_problem(&r, RESOLVER_WRONG_FILE, recorded);
	resolving_problem(&r, RESOLVER_WRONG_FILE, here);
	resolving_problem(&r, RESOLVER_WRONG_FILE, files_path("prog"));
}

TEST(resolver_wrong_file_but_right_copy_in_the_cache)
{
	RESOLVING r = {0};
	resolving_compile("prog", "");
	uint64_t at = resolving_function("prog", "hidden");
	resolving_use(&r, "prog");
	files_run("id=$(readelf -n prog | sed -n 's/.*Build ID: //p') &&"
		  "folder=.debug/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-) &&"
		  "mkdir -p $folder && cp prog $folder/elf");
	resolving_compile("prog", "-O2");
	resolving_start(&r);
	resolving_expect(&r, at, "hidden");
	resolving_problem(&r, RESOLVER_OK, NULL);
}

TEST(resolver_missing_file)
{
	RESOLVING r = {0};
	resolving_compile("prog", "");
	resolving_use(&r, "prog");
	files_run("rm prog");
	resolving_start(&r);
	resolving_expect(&r, 0x1000, NULL);
	resolving_problem(&r, RESOLVER_MISSING_FILE, files_path("prog"));
}

TEST(resolver_damaged_file)
{
	RESOLVING r = {0};
	resolving_compile("prog", "");
	resolving_use(&r, "prog");
	files_run("head -c 100 prog >short && cp short prog");
	resolving_start(&r);
	resolving_expect(&r, 0x1000, NULL);
	resolving_problem(&r, RESOLVER_DAMAGED_FILE, files_path("prog"));
}

TEST(resolver_does_not_wait_for_a_fifo)
{
	RESOLVING r = {0};
	resolving_compile("prog", "");
	resolving_use(&r, "prog");
	files_run("rm prog && mkfifo prog");
	resolving_start(&r);
	resolving_expect(&r, 0x1000, NULL);
	resolving_problem(&r, RESOLVER_MISSING_FILE, "not a regular file");
}

TEST(resolver_symfs_is_looked_at_alone)
{
	char symfs[256];
	snprintf(symfs, sizeof(symfs), "%s/root", files_folder());
	RESOLVING r = {.options.symfs = symfs};
	resolving_compile("prog", "");
	uint64_t at = resolving_function("prog", "hidden");
	resolving_use(&r, "prog");
	resolving_start(&r);
	resolving_expect(&r, at, NULL);
	resolving_problem(&r, RESOLVER_MISSING_FILE, symfs);
	resolving_stop(&r);
	files_run("mkdir -p root/$PWD && mv prog root/$PWD");
	resolving_start(&r);
	resolving_expect(&r, at, "hidden");
}

/* Until the child has become the program with that in its path. */
static void wait_for(pid_t pid, const char *name)
{
	char exe[64], target[512] = "";
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	for (int i = 0; i < 1000 && !strstr(target, name); i++) {
		usleep(10000);
		ssize_t size = readlink(exe, target, sizeof(target) - 1);
		target[size > 0 ? size : 0] = '\0';
	}
	ck_assert_msg(strstr(target, name) != NULL, "%s does not run", name);
}

/* A child that runs prog until it is killed. */
static pid_t run(const char *path)
{
	pid_t pid = fork();
	if (pid == 0) {
		execl(path, "prog", "stay", NULL);
		_exit(1);
	}
	wait_for(pid, "/prog");
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(resolver_deleted_file_while_its_process_lives)
{
	for (int has_id = 0; has_id < 2; has_id++) {
		RESOLVING r = {0};
		char deleted[300];
		resolving_compile("prog", has_id ? "" : "-Wl,--build-id=none");
		uint64_t at = resolving_function("prog", "hidden");
		resolving_use(&r, "prog");
		pid_t pid = run(files_path("prog"));
		files_run("rm prog");
		snprintf(deleted, sizeof(deleted), "%s (deleted)", files_path("prog"));
		r.module.path = deleted;
		r.pid = (uint32_t)pid;
		resolving_start(&r);
		resolving_expect(&r, at, "hidden");
		resolving_problem(&r, RESOLVER_OK, NULL);
		resolving_stop(&r);
		end(pid);
		resolving_start(&r);
		resolving_expect(&r, at, NULL);
		resolving_problem(&r, RESOLVER_MISSING_FILE, "deleted");
	}
}

TEST(resolver_file_of_another_mount_namespace)
{
	RESOLVING r = {0};
	resolving_compile("prog", "");
	uint64_t at = resolving_function("prog", "hidden");
	resolving_use(&r, "prog");
	files_run("mkdir inner");
	const char *outer = files_path("prog"), *folder = files_path("inner");
	char inner[300];
	snprintf(inner, sizeof(inner), "%s/prog", folder);
	int done[2];
	ck_assert_int_eq(pipe(done), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char command[700];
		snprintf(command, sizeof(command), "cp %s %s", outer, folder);
		if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", folder, "tmpfs", 0, NULL) || system(command))
			_exit(77);
		ck_assert_int_eq((int)write(done[1], "x", 1), 1);
		close(done[1]);
		execl(inner, "prog", "stay", NULL);
		_exit(1);
	}
	close(done[1]);
	char byte;
	if (read(done[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0); /* no right to make a namespace */
		skip_test("needs the right to make a mount namespace");
	}
	r.module.path = inner;
	r.pid = (uint32_t)pid;
	resolving_start(&r);
	resolving_expect(&r, at, "hidden");
	resolving_problem(&r, RESOLVER_OK, NULL);
	end(pid);
}

/* Container runtimes copy a program into a memfd and run it from there. */
TEST(resolver_program_in_a_memfd)
{
	RESOLVING r = {0};
	resolving_compile("prog", "-static");
	uint64_t at = resolving_function("prog", "hidden");
	resolving_use(&r, "prog");
	int fd = memfd_create("prog", MFD_CLOEXEC);
	size_t size = strtoul(files_output("stat -c %%s prog"), NULL, 10);
	int from = open(files_path("prog"), O_RDONLY);
	ck_assert_int_eq(sendfile(fd, from, NULL, size), (ssize_t)size);
	close(from);
	struct stat status;
	ck_assert_int_eq(fstat(fd, &status), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char path[32];
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		execl(path, "prog", "stay", NULL);
		_exit(1);
	}
	wait_for(pid, "memfd");
	r.module.path = "/memfd:prog (deleted)";
	r.module.ino = status.st_ino;
	r.module.maj = major(status.st_dev);
	r.module.min = minor(status.st_dev);
	r.module.build_id_size = 0;
	r.pid = (uint32_t)pid;
	resolving_start(&r);
	resolving_expect(&r, at, "hidden");
	resolving_problem(&r, RESOLVER_OK, NULL);
	end(pid);
}

TEST(resolver_names_the_vdso)
{
	RESOLVING r = {0};
	struct utsname name;
	ck_assert_int_eq(uname(&name), 0);
	r.options.osrelease = name.release;
	r.module = (struct module){.kind = MODULE_VDSO, .path = "[vdso]", .name = "[vdso]"};
	resolving_start(&r);
	bool found = false;
	for (uint64_t offset = 0; offset < 0x4000 && !found; offset += 16) {
		const struct symbol *symbol = resolving_find(&r, offset);
		found = symbol && strstr(symbol->name, "clock_gettime");
	}
	resolving_problem(&r, RESOLVER_OK, NULL);
	ck_assert(found);
	resolving_stop(&r);
	r.module.build_id_size = 20;
	resolving_start(&r);
	resolving_expect(&r, 0x800, NULL);
	resolving_problem(&r, RESOLVER_KERNEL_OTHER, "vdso");
}

/* Whether some function of the module has `part` in its name. */
static bool names_any(struct resolving *r, const char *part)
{
	for (uint64_t offset = 0; offset < 0x4000; offset += 16) {
		const struct symbol *symbol = resolving_find(r, offset);
		if (symbol && strstr(symbol->name, part))
			return true;
	}
	return false;
}

TEST(resolver_names_another_kernels_vdso_by_the_one_kept)
{
	RESOLVING r = {0};
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	ok_or_fail(vdso_own(&image));
	if (!image || !image->build_id_size)
		skip_test("the vdso has no build-id");
	/* Made another one: by its build-id, and by what its functions are called. */
	CLEANUP_FREE char *kept = malloc(image->size);
	memcpy(kept, image->memory, image->size);
	char *id = memmem(kept, image->size, image->build_id, image->build_id_size), *name = kept;
	ck_assert_ptr_nonnull(id);
	id[3] ^= 1;
	size_t renamed = 0;
	while ((name = memmem(name, (size_t)(kept + image->size - name), "clock_gettime", 13))) {
		memcpy(name, "cl0ck", 5);
		renamed++;
	}
	ck_assert_uint_gt(renamed, 0);
	r.options.osrelease = "another";
	r.module = (struct module){.kind = MODULE_VDSO, .path = "[vdso]", .name = "[vdso]",
				   .kept = (const uint8_t *)kept, .kept_size = image->size,
				   .build_id_size = image->build_id_size};
	memcpy(r.module.build_id, id, image->build_id_size);
	resolving_start(&r);
	ck_assert(names_any(&r, "cl0ck_gettime"));
	resolving_problem(&r, RESOLVER_OK, NULL);
	resolving_stop(&r);
	/* Killed before the build-ids were written, or an old reader's copy of the file. */
	r.module.build_id_size = 0;
	resolving_start(&r);
	ck_assert(names_any(&r, "cl0ck_gettime"));
	resolving_stop(&r);
	/* One that is not what was mapped, and a damaged one, are not taken. */
	r.module.build_id_size = image->build_id_size;
	r.module.build_id[5] ^= 1;
	resolving_start(&r);
	ck_assert(!names_any(&r, "clock"));
	resolving_problem(&r, RESOLVER_KERNEL_OTHER, "vdso");
	resolving_stop(&r);
	memcpy(r.module.build_id, image->build_id, image->build_id_size);
	r.module.kept_size = 40;
	resolving_start(&r);
	ck_assert(names_any(&r, "clock_gettime"));
}

struct work {
	struct resolver *resolver;
	struct module module;
	uint64_t begin, end;
	size_t named;
};

static void *resolve_all(void *arg)
{
	struct work *work = arg;
	for (uint64_t offset = work->begin; offset < work->end; offset++) {
		struct location location = {.module = &work->module, .offset = offset};
		work->named += resolver_find(work->resolver, &location) != NULL;
	}
	return NULL;
}

/* Each thread its own module, all at once; they share the resolver. */
TEST(resolver_serves_several_threads)
{
	enum { THREADS = 6 };
	RESOLVING r = {0};
	resolving_compile("prog", "");
	resolving_use(&r, "prog");
	resolving_start(&r);
	struct work work[THREADS];
	pthread_t threads[THREADS];
	uint64_t at = resolving_function("prog", "work");
	for (unsigned int i = 0; i < THREADS; i++) {
		work[i] = (struct work){
			.resolver = r.resolver,
			.module = r.module,
			.begin = at,
			.end = at + 100,
		};
		work[i].module.index = i * 7;
		if (i >= 3) {
			work[i].module.kind = MODULE_KERNEL;
			work[i].module.path = "[kernel.kallsyms]";
		}
	}
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, resolve_all, &work[i]), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_uint_gt(work[0].named, 0);
	ck_assert_uint_eq(work[0].named, work[1].named);
	ck_assert_uint_eq(work[0].named, work[2].named);
}

TEST(resolver_unknown_location_has_no_name)
{
	RESOLVING r = {0};
	resolving_start(&r);
	struct location nowhere = {.offset = 0x1234};
	ck_assert(!resolver_find(r.resolver, &nowhere));
	resolving_problem(&r, RESOLVER_OK, NULL);
}
