/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/io.h"
#include "files.h"
#include "test.h"

/* Opens a file and holds its text to `wanted`. */
static void opens(const char *root, const char *path, unsigned int flags, const char *wanted)
{
	CLEANUP_CLOSE int fd = -1;
	struct stat status, opened;
	char text[64] = "";
	ok_or_fail(regular_file_open(root, path, flags, &fd, &status));
	ck_assert_int_eq(io_read(fd, text, sizeof(text) - 1, NULL), 0);
	ck_assert_str_eq(text, wanted);
	ck_assert_int_eq(fstat(fd, &opened), 0);
	ck_assert_uint_eq(opened.st_ino, status.st_ino);
	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

static void refuses(const char *root, const char *path, unsigned int flags,
		    enum sp_error_code wanted)
{
	int fd = -1;
	struct stat status;
	fails_with(wanted, regular_file_open(root, path, flags, &fd, &status));
	ck_assert_int_eq(fd, -1);
}

/* Refuses it, and no open but by O_PATH reaches it. */
static void refuses_unopened(const char *path)
{
	CLEANUP_CLOSE int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char event[512];
	ck_assert_int_ge(inotify_add_watch(watch, path, IN_OPEN), 0);
	refuses(NULL, path, 0, SP_ERROR_INVALID);
	ck_assert_int_lt(read(watch, event, sizeof(event)), 0);
	ck_assert_int_eq(errno, EAGAIN);
}

TEST(regular_files_are_opened)
{
	files_write(files_path("file"), "text", 4);
	files_run("ln -s file link");
	opens(NULL, files_path("file"), 0, "text");
	opens("", files_path("file"), REGULAR_FILE_NO_LINK, "text");
	opens(files_folder(), "/file", 0, "text");
	opens(files_folder(), "file", 0, "text");
	opens(NULL, files_path("link"), 0, "text");
	refuses(NULL, files_path("link"), REGULAR_FILE_NO_LINK, SP_ERROR_INVALID);
	refuses(NULL, files_path("absent"), 0, SP_ERROR_NOT_FOUND);
	refuses(files_path("absent"), "file", 0, SP_ERROR_NOT_FOUND);
	refuses(NULL, files_folder(), 0, SP_ERROR_INVALID);
}

TEST(fifos_and_devices_are_never_opened)
{
	files_run("mkfifo fifo && ln -s fifo link");
	refuses_unopened(files_path("fifo"));
	refuses_unopened(files_path("link"));
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strncpy(address.sun_path, files_path("socket"), sizeof(address.sun_path) - 1);
	CLEANUP_CLOSE int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	refuses_unopened(files_path("socket"));
	if (!mknod(files_path("zero"), S_IFCHR | 0600, makedev(1, 5)))
		refuses_unopened(files_path("zero"));
	CLEANUP_CLOSE int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal >= 0 && !grantpt(terminal) && !unlockpt(terminal))
		refuses_unopened(ptsname(terminal));
}

TEST(files_of_the_kernel_are_not_opened)
{
	refuses(NULL, "/proc/self/maps", 0, SP_ERROR_INVALID);
	refuses(NULL, "/proc/self/mem", 0, SP_ERROR_INVALID);
	refuses("/proc", "self/maps", 0, SP_ERROR_INVALID);
	if (!access("/sys/kernel/notes", F_OK))
		refuses(NULL, "/sys/kernel/notes", 0, SP_ERROR_INVALID);
	if (!access("/sys/kernel/tracing/trace_pipe", F_OK))
		refuses(NULL, "/sys/kernel/tracing/trace_pipe", 0, SP_ERROR_INVALID);
	/* A link of /proc to a file is that file. */
	CLEANUP_CLOSE int fd = -1;
	struct stat status;
	ok_or_fail(regular_file_open(NULL, "/proc/self/exe", 0, &fd, &status));
}

TEST(files_among_devices_are_not_opened)
{
	struct stat dev, root;
	char path[] = "/dev/sprof-test-XXXXXX";
	ck_assert(!stat("/dev", &dev) && !stat("/", &root));
	CLEANUP_CLOSE int fd = dev.st_dev != root.st_dev ? mkostemp(path, O_CLOEXEC) : -1;
	if (fd < 0)
		skip_test("needs a writable /dev on a file system of its own");
	int got = -1;
	struct stat status;
	struct sp_error *error = regular_file_open(NULL, path, 0, &got, &status);
	unlink(path);
	fails_with(SP_ERROR_INVALID, error);
}

TEST(pipes_and_directories_are_opened_where_the_user_names_them)
{
	CLEANUP_CLOSE int fd = -1, folder = -1;
	struct stat status;
	files_run("mkfifo fifo");
	ok_or_fail(regular_file_open(NULL, files_path("fifo"), REGULAR_FILE_OR_PIPE, &fd, &status));
	ck_assert(S_ISFIFO(status.st_mode));
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	ok_or_fail(regular_file_open(NULL, files_folder(), REGULAR_FILE_OR_PIPE, &folder, &status));
	refuses(NULL, "/dev/null", REGULAR_FILE_OR_PIPE, SP_ERROR_INVALID);
}

TEST(no_path_leaves_its_root)
{
	files_run("mkdir -p root/dir && echo in >root/file && echo out >file && "
		  "ln -s / root/top && ln -s ../../file root/up && ln -s \"$PWD/file\" root/away && "
		  "ln -s /file root/own && ln -s /proc/self/exe root/magic");
	const char *root = files_path("root");
	opens(root, "/../file", 0, "in\n");
	opens(root, "dir/../../../file", 0, "in\n");
	opens(root, "up", 0, "in\n");
	opens(root, "own", 0, "in\n");
	opens(root, "top/file", 0, "in\n");
	refuses(root, "away", 0, SP_ERROR_NOT_FOUND);
	refuses(root, "magic", 0, SP_ERROR_NOT_FOUND);
}

/* A container's filter of system calls does the same. */
static void refuse_openat2(uint32_t errnum)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};
	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

static void refused_without_openat2(uint32_t errnum)
{
	files_write(files_path("file"), "text", 4);
	refuse_openat2(errnum);
	refuses(files_folder(), "file", 0, SP_ERROR_UNSUPPORTED);
	opens(NULL, files_path("file"), 0, "text");
}

TEST(nothing_else_takes_the_place_of_openat2)
{
	refused_without_openat2(EPERM);
}

TEST(nor_where_the_kernel_lacks_it)
{
	refused_without_openat2(ENOSYS);
}

TEST(without_proc_nothing_is_opened)
{
	const char *folder = files_folder();
	files_write(files_path("file"), "text", 4);
	pid_t pid = fork();
	if (!pid) {
		int fd = -1, status;
		struct stat file;
		if ((geteuid() && unshare(CLONE_NEWUSER)) || chroot(folder))
			_exit(SP_ERROR_UNSUPPORTED);
		struct sp_error *error = regular_file_open(NULL, "/file", 0, &fd, &file);
		status = error ? (int)sp_error_code(error) : -1;
		sp_error_free(error);
		_exit(status);
	}
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), SP_ERROR_UNSUPPORTED);
}
