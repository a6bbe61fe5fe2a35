/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a recording and of the one before it: the recorder is killed at any system call. */
#include "writer/written_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/vec.h"
#include "files.h"
#include "test.h"

/* Calls that a file system or a container rejects. */
enum {
	NO_RENAMEAT2 = 1,
	NO_TMPFILE = 2,
	NO_LINK = 4,
	REFUSALS = 8,
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_WORD(argument) offsetof(struct seccomp_data, args[argument])
#else
#define LOW_WORD(argument) (offsetof(struct seccomp_data, args[argument]) + 4)
#endif

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define FAIL(errnum) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (errnum))

struct rules {
	VEC(struct sock_filter);
};

static void add_rule(struct rules *rules, struct sock_filter rule)
{
	*vec_push(rules) = rule;
}

static void refuse_call(struct rules *rules, uint32_t number)
{
	add_rule(rules, (struct sock_filter)LOAD(offsetof(struct seccomp_data, nr)));
	add_rule(rules, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
	add_rule(rules, (struct sock_filter)FAIL(EPERM));
}

/* Removes the calls from this process, by seccomp; false if seccomp is not available. */
static bool refuse_calls(unsigned int refused)
{
	struct rules rules = {0};
	if (refused & NO_RENAMEAT2)
		refuse_call(&rules, SYS_renameat2);
	if (refused & NO_LINK) {
#ifdef SYS_link
		refuse_call(&rules, SYS_link);
#endif
		refuse_call(&rules, SYS_linkat);
	}
	if (refused & NO_TMPFILE) {
		add_rule(&rules, (struct sock_filter)LOAD(offsetof(struct seccomp_data, nr)));
		add_rule(&rules, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							      SYS_openat, 0, 3));
		add_rule(&rules, (struct sock_filter)LOAD(LOW_WORD(2)));
		add_rule(&rules, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
							      O_TMPFILE & ~O_DIRECTORY, 0, 1));
		add_rule(&rules, (struct sock_filter)FAIL(EOPNOTSUPP));
	}
	add_rule(&rules, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	const struct sock_fprog program = {(unsigned short)rules.count, rules.items};
	bool good = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
		    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	vec_deinit(&rules);
	return good;
}

/* A recording of the bytes "new". */
static void record(const char *path)
{
	struct written_file output;
	ok_or_fail(output_open(path, &output));
	ck_assert_int_eq(write(output.fd, "new", 3), 3);
	ok_or_fail(output_publish(&output));
	ck_assert_int_eq(output_close(&output), 0);
}

/* Kills a recorder when it has entered or left `stops` system calls; false: it ended before. */
static bool record_killed(const char *path, unsigned int refused, size_t stops)
{
	int status;
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (!refuse_calls(refused) || ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(77);
		raise(SIGSTOP);
		record(path);
		_exit(0);
	}
	for (size_t i = 0;; i++) {
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
		int request = i < stops ? PTRACE_SYSCALL : PTRACE_KILL;
		ck_assert_int_eq(ptrace(request, pid, NULL, NULL), 0);
	}
	ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
	return WIFSIGNALED(status);
}

static void kill_at_any_call(const char *path, unsigned int refused)
{
	size_t stops = 0;
	for (bool killed = true; killed; stops++) {
		files_run("rm -f data*; printf first >data; printf older >data.old");
		killed = record_killed(path, refused, stops);
		const char *found = files_output("cat data data.old 2>/dev/null || true");
		if (!strcmp(found, "firstolder") || !strcmp(found, "newfirst") ||
		    !strcmp(found, "first"))
			continue;
		ck_abort_msg("refused %u, killed at stop %zu: '%s'", refused, stops, found);
	}
	ck_assert_uint_gt(stops, 10);
	/* Whatever is in the way of the next one is removed. */
	files_run("printf stray >data.sprof-tmp0");
	record_killed(path, refused, SIZE_MAX);
	ck_assert_str_eq(files_output("cat data"), "new");
	ck_assert_str_eq(files_output("ls -A | grep -v sprof-tmp"), "data\ndata.old\n");
	if (refused & NO_TMPFILE)
		ck_assert_str_eq(files_output("ls -A"), "data\ndata.old\n");
}

TEST(the_older_file_is_found_again_after_a_kill_at_any_call)
{
	/* A file without a name gets one by a link alone. */
	for (unsigned int refused = 0; refused < REFUSALS; refused++)
		if (refused & NO_TMPFILE || !(refused & NO_LINK))
			kill_at_any_call(files_path("data"), refused);
}

TEST(a_temporary_file_in_use_is_not_removed)
{
	struct written_file one, other;
	const char *path = files_path("data");
	if (!refuse_calls(NO_TMPFILE))
		skip_test("needs seccomp");
	ok_or_fail(output_open(path, &one));
	ok_or_fail(output_open(path, &other));
	ck_assert_str_eq(files_output("ls -A"), "data.sprof-tmp0\ndata.sprof-tmp1\n");
	ok_or_fail(output_publish(&one));
	ok_or_fail(output_publish(&other));
	ck_assert_str_eq(files_output("ls -A"), "data\ndata.old\n");
	output_close(&one);
	output_close(&other);
}

TEST(a_failed_rename_changes_no_file)
{
	struct written_file output;
	files_run("echo first >data; echo older >data.old");
	ok_or_fail(output_open(files_path("data"), &output));
	files_run("rm data; mkdir data");
	fails_with(SP_ERROR_INVALID, output_publish(&output));
	ck_assert_str_eq(files_output("ls -A; cat data.old"), "data\ndata.old\nolder\n");
	output_close(&output);
}

TEST(a_file_in_memory_has_no_name)
{
	struct written_file output;
	char *name = NULL;
	struct stat st;
	ok_or_fail(output_open_memory(files_path("data"), &output));
	ck_assert_int_eq(write(output.fd, "x", 1), 1);
	ok_or_fail(output_publish(&output));
	ok_or_fail(output_rename_dated(&output, (struct timespec){1, 0}, &name));
	ck_assert_int_eq(strncmp(name, files_path("data."), strlen(files_path("data."))), 0);
	ck_assert_int_eq(fstat(output.fd, &st), 0);
	ck_assert_int_eq(st.st_size, 1);
	ck_assert_int_eq(st.st_nlink, 0);
	ck_assert_int_eq(access(name, F_OK), -1);
	ck_assert_int_eq(output_close(&output), 0);
	free(name);
}
