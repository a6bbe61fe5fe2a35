/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons of waits, by kernel functions and by system calls. */
#include "test.h"
#include "times/wait_reason.h"

static const char *by_function(const char *name)
{
	return wait_reason_name(wait_reason_of_function(name));
}

static const char *by_call(const char *arch, uint32_t number)
{
	return wait_reason_name(wait_reason_of_syscall(arch, number));
}

TEST(functions_have_reasons)
{
	ck_assert_str_eq(by_function("futex_wait_queue"), "futex");
	ck_assert_str_eq(by_function("ep_poll"), "poll");
	ck_assert_str_eq(by_function("pipe_read"), "pipe");
	ck_assert_str_eq(by_function("anon_pipe_read"), "pipe");
	ck_assert_str_eq(by_function("do_nanosleep"), "sleep");
	ck_assert_str_eq(by_function("io_schedule"), "disk");
	ck_assert_str_eq(by_function("sk_wait_data"), "socket");
	ck_assert_str_eq(by_function("do_wait"), "child");
	ck_assert_str_eq(by_function("__do_semtimedop"), "semaphore"); /* the first of the table */
	ck_assert_str_eq(by_function("zap_pid_ns_processes"), "exit"); /* the last */
	ck_assert_str_eq(by_function("__alloc_pages_slowpath"), "memory");
	ck_assert_str_eq(by_function("futex_do_wait"), "futex");
	ck_assert_str_eq(by_function("rwbase_write_lock"), "kernel lock");
	ck_assert_str_eq(by_function("schedule"), "unknown");
	ck_assert_str_eq(by_function(""), "unknown");
}

/* Completions have no reason themselves: callers have. The compiler inlines wait_for_vfork_done(). */
TEST(callers_give_the_reason_of_a_completion)
{
	static const char *const callers[][2] = {
		{"kernel_clone", "child"}, {"__do_sys_clone3", "child"}, {"stop_one_cpu", "CPU migration"},
		{"__flush_work", "workqueue"}, {"submit_bio_wait", "disk"}, {"__wait_rcu_gp", "RCU"},
		{"kthread_stop", "kernel thread"}, {"begin_new_exec", "exec"},
	};
	ck_assert_str_eq(by_function("wait_for_completion"), "unknown");
	ck_assert_str_eq(by_function("__wait_for_common"), "unknown");
	for (size_t i = 0; i < sizeof(callers) / sizeof(*callers); i++)
		ck_assert_str_eq(by_function(callers[i][0]), callers[i][1]);
}

TEST(suffixes_of_clones_do_not_matter)
{
	ck_assert_str_eq(by_function("do_poll.constprop.0"), "poll");
	ck_assert_str_eq(by_function("futex_wait_queue.part.0"), "futex");
	ck_assert_str_eq(by_function("pipe_reader"), "unknown");
	ck_assert_str_eq(by_function("pipe_rea"), "unknown");
}

TEST(an_entry_function_stands_for_its_call)
{
	ck_assert_str_eq(by_function("__x64_sys_futex"), "futex");
	ck_assert_str_eq(by_function("__arm64_sys_fsync"), "disk");
	ck_assert_str_eq(by_function("ksys_read"), "read");
	ck_assert_str_eq(by_function("__x64_sys_getpid"), "unknown");
	ck_assert_str_eq(by_function("__ia32_sys_futex_time32"), "futex");
	ck_assert_str_eq(by_function("__ia32_sys_futex_time3"), "unknown");
}

TEST(calls_have_the_numbers_of_their_architecture)
{
	ck_assert_str_eq(by_call("x86_64", 202), "futex");
	ck_assert_str_eq(by_call("x86_64", 435), "child"); /* clone3, as posix_spawn() calls it */
	ck_assert_str_eq(by_call("aarch64", 98), "futex");
	ck_assert_str_eq(by_call("aarch64", 202), "socket"); /* accept */
	ck_assert_str_eq(by_call("x86_64", 7), "poll");
	ck_assert_str_eq(by_call("aarch64", 7), "unknown");
	ck_assert_str_eq(by_call("riscv64", 98), "unknown");
	ck_assert_str_eq(by_call(NULL, 202), "unknown");
	ck_assert_str_eq(by_call("x86_64", UINT32_MAX), "unknown"); /* not the calls without a number */
}

TEST(a_state_names_its_reason)
{
	ck_assert_str_eq(wait_reason_state(wait_reason_of_function("do_nanosleep")), "[blocked: sleep]");
	ck_assert_str_eq(wait_reason_state(WAIT_UNKNOWN), "[blocked: unknown]");
}

TEST(locks_and_disks_hold_up_threads)
{
	static const char *const locks[] = {
		"__lll_lock_wait", "__GI___lll_lock_wait", "pthread_mutex_lock@@GLIBC_2.2.5",
		"___pthread_mutex_lock", "__pthread_mutex_cond_lock", "ObjectMonitor::enter",
		"std::sys::sync::mutex::futex::Mutex::lock_contended", "PyThread_acquire_lock",
		"parking_lot::raw_mutex::RawMutex::lock_slow", "lll_lock_wait.part.0",
	};
	static const char *const others[] = {
		"", "__", "pthread_cond_wait@@GLIBC_2.3.2", "pthread_mutex_unlock", "sem_wait",
		"poll", "PyThread_acquire_lock_timed", "lock", "std::Mutex::", "mutex_lock",
		"ObjectMonitor::wait",
	};
	for (size_t i = 0; i < sizeof(locks) / sizeof(*locks); i++)
		ck_assert(wait_function_holds_up(locks[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		ck_assert(!wait_function_holds_up(others[i]));
	ck_assert(wait_reason_holds_up(wait_reason_of_function("mutex_lock")));
	ck_assert(wait_reason_holds_up(wait_reason_of_function("flock_lock_inode_wait")));
	ck_assert(wait_reason_holds_up(wait_reason_of_syscall("x86_64", 74))); /* fsync */
	ck_assert(!wait_reason_holds_up(wait_reason_of_function("futex_wait")));
	ck_assert(!wait_reason_holds_up(wait_reason_of_function("ep_poll")));
	ck_assert(!wait_reason_holds_up(WAIT_UNKNOWN));
}
