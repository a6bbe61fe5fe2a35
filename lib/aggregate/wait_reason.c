/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of kernel functions that block, sorted by name, and of system calls. Names of functions differ
 * between kernel versions: the known ones since Linux 5.0 are listed.
 */
#include "aggregate/wait_reason.h"

#include <stdlib.h>
#include <string.h>

#define REASONS(X) \
	X(REASON_UNKNOWN, "unknown") \
	X(REASON_FUTEX, "futex") \
	X(REASON_POLL, "poll") \
	X(REASON_PIPE, "pipe") \
	X(REASON_SOCKET, "socket") \
	X(REASON_DISK, "disk") \
	X(REASON_SLEEP, "sleep") \
	X(REASON_CHILD, "child") \
	X(REASON_SIGNAL, "signal") \
	X(REASON_STOPPED, "stopped") \
	X(REASON_TERMINAL, "terminal") \
	X(REASON_EVENTFD, "eventfd") \
	X(REASON_TIMER, "timer") \
	X(REASON_INOTIFY, "inotify") \
	X(REASON_IO_URING, "io_uring") \
	X(REASON_AIO, "aio") \
	X(REASON_SEMAPHORE, "semaphore") \
	X(REASON_MESSAGE_QUEUE, "message queue") \
	X(REASON_FILE_LOCK, "file lock") \
	X(REASON_KERNEL_LOCK, "kernel lock") \
	X(REASON_PAGE_FAULT, "page fault") \
	X(REASON_USERFAULTFD, "userfaultfd") \
	X(REASON_FROZEN, "frozen") \
	X(REASON_RCU, "RCU") \
	X(REASON_EXIT, "exit") \
	X(REASON_FUSE, "fuse") \
	X(REASON_NFS, "nfs") \
	X(REASON_GPU, "GPU") \
	X(REASON_VCPU, "vCPU") \
	X(REASON_KERNEL_THREAD, "kernel thread") \
	X(REASON_READ, "read") \
	X(REASON_WRITE, "write") \
	X(REASON_OPEN, "open") \
	X(REASON_CLOSE, "close") \
	X(REASON_IOCTL, "ioctl") \
	X(REASON_EXEC, "exec")

#define REASON_NUMBER(number, name) number,
enum { REASONS(REASON_NUMBER) };

#define REASON_NAME(number, name) name,
static const char *const names[] = {REASONS(REASON_NAME)};

#define REASON_STATE(number, name) "[blocked: " name "]",
static const char *const states[] = {REASONS(REASON_STATE)};

_Static_assert(sizeof(names) / sizeof(*names) <= WAIT_REASONS_MAX, "a reason is a small number");

static const struct blocking {
	const char *function;
	uint8_t reason;
} functions[] = {
	{"__do_semtimedop", REASON_SEMAPHORE},
	{"__down", REASON_KERNEL_LOCK},
	{"__down_common", REASON_KERNEL_LOCK},
	{"__down_interruptible", REASON_KERNEL_LOCK},
	{"__fuse_simple_request", REASON_FUSE},
	{"__futex_wait", REASON_FUTEX},
	{"__iomap_dio_rw", REASON_DISK},
	{"__mutex_lock", REASON_KERNEL_LOCK},
	{"__mutex_lock_interruptible_slowpath", REASON_KERNEL_LOCK},
	{"__mutex_lock_killable_slowpath", REASON_KERNEL_LOCK},
	{"__mutex_lock_slowpath", REASON_KERNEL_LOCK},
	{"__percpu_down_read", REASON_KERNEL_LOCK},
	{"__refrigerator", REASON_FROZEN},
	{"__rt_mutex_slowlock", REASON_KERNEL_LOCK},
	{"__skb_wait_for_more_packets", REASON_SOCKET},
	{"__wait_on_buffer", REASON_DISK},
	{"__wait_rcu_gp", REASON_RCU},
	{"alarm_timer_nsleep", REASON_SLEEP},
	{"anon_pipe_read", REASON_PIPE},
	{"anon_pipe_write", REASON_PIPE},
	{"balance_dirty_pages", REASON_DISK},
	{"blk_execute_rq", REASON_DISK},
	{"blk_mq_get_tag", REASON_DISK},
	{"blkdev_issue_flush", REASON_DISK},
	{"btrfs_sync_file", REASON_DISK},
	{"btrfs_wait_ordered_range", REASON_DISK},
	{"cgroup_enter_frozen", REASON_FROZEN},
	{"common_nsleep", REASON_SLEEP},
	{"core_sys_select", REASON_POLL},
	{"coredump_wait", REASON_EXIT},
	{"dma_fence_default_wait", REASON_GPU},
	{"dma_fence_wait_timeout", REASON_GPU},
	{"do_epoll_wait", REASON_POLL},
	{"do_exit", REASON_EXIT},
	{"do_freezer_trap", REASON_FROZEN},
	{"do_get_write_access", REASON_DISK},
	{"do_io_getevents", REASON_AIO},
	{"do_jobctl_trap", REASON_STOPPED},
	{"do_lock_file_wait", REASON_FILE_LOCK},
	{"do_mem_abort", REASON_PAGE_FAULT},
	{"do_mq_timedreceive", REASON_MESSAGE_QUEUE},
	{"do_mq_timedsend", REASON_MESSAGE_QUEUE},
	{"do_msgrcv", REASON_MESSAGE_QUEUE},
	{"do_msgsnd", REASON_MESSAGE_QUEUE},
	{"do_nanosleep", REASON_SLEEP},
	{"do_page_fault", REASON_PAGE_FAULT},
	{"do_poll", REASON_POLL},
	{"do_select", REASON_POLL},
	{"do_semtimedop", REASON_SEMAPHORE},
	{"do_signal_stop", REASON_STOPPED},
	{"do_sigtimedwait", REASON_SIGNAL},
	{"do_sys_poll", REASON_POLL},
	{"do_user_addr_fault", REASON_PAGE_FAULT},
	{"do_wait", REASON_CHILD},
	{"ep_poll", REASON_POLL},
	{"eventfd_read", REASON_EVENTFD},
	{"eventfd_write", REASON_EVENTFD},
	{"exc_page_fault", REASON_PAGE_FAULT},
	{"ext4_sync_file", REASON_DISK},
	{"ext4_sync_fs", REASON_DISK},
	{"fanotify_read", REASON_INOTIFY},
	{"fcntl_setlk", REASON_FILE_LOCK},
	{"fifo_open", REASON_PIPE},
	{"file_write_and_wait_range", REASON_DISK},
	{"filemap_fdatawait_range", REASON_DISK},
	{"flock_lock_inode_wait", REASON_FILE_LOCK},
	{"folio_wait_bit", REASON_DISK},
	{"folio_wait_bit_common", REASON_DISK},
	{"folio_wait_writeback", REASON_DISK},
	{"fuse_dev_do_read", REASON_FUSE},
	{"fuse_simple_request", REASON_FUSE},
	{"futex_lock_pi", REASON_FUTEX},
	{"futex_wait", REASON_FUTEX},
	{"futex_wait_multiple", REASON_FUTEX},
	{"futex_wait_queue", REASON_FUTEX},
	{"futex_wait_queue_me", REASON_FUTEX},
	{"futex_wait_requeue_pi", REASON_FUTEX},
	{"handle_mm_fault", REASON_PAGE_FAULT},
	{"handle_userfault", REASON_USERFAULTFD},
	{"hrtimer_nanosleep", REASON_SLEEP},
	{"inet_csk_accept", REASON_SOCKET},
	{"inet_csk_wait_for_connect", REASON_SOCKET},
	{"inet_wait_for_connect", REASON_SOCKET},
	{"inotify_read", REASON_INOTIFY},
	{"io_cqring_wait", REASON_IO_URING},
	{"io_schedule", REASON_DISK},
	{"io_schedule_timeout", REASON_DISK},
	{"io_sq_thread", REASON_IO_URING},
	{"io_wq_worker", REASON_IO_URING},
	{"iomap_dio_rw", REASON_DISK},
	{"jbd2_complete_transaction", REASON_DISK},
	{"jbd2_log_wait_commit", REASON_DISK},
	{"jbd2_transaction_committed", REASON_DISK},
	{"kernel_wait4", REASON_CHILD},
	{"kernel_waitid", REASON_CHILD},
	{"kthread", REASON_KERNEL_THREAD},
	{"kthread_worker_fn", REASON_KERNEL_THREAD},
	{"kvm_vcpu_block", REASON_VCPU},
	{"kvm_vcpu_halt", REASON_VCPU},
	{"locks_lock_inode_wait", REASON_FILE_LOCK},
	{"migration_entry_wait", REASON_PAGE_FAULT},
	{"msleep", REASON_SLEEP},
	{"msleep_interruptible", REASON_SLEEP},
	{"mutex_lock", REASON_KERNEL_LOCK},
	{"n_tty_read", REASON_TERMINAL},
	{"n_tty_write", REASON_TERMINAL},
	{"netlink_recvmsg", REASON_SOCKET},
	{"nfs4_wait_clnt_recover", REASON_NFS},
	{"nfs_wait_bit_killable", REASON_NFS},
	{"percpu_rwsem_wait", REASON_KERNEL_LOCK},
	{"pipe_read", REASON_PIPE},
	{"pipe_wait", REASON_PIPE},
	{"pipe_wait_readable", REASON_PIPE},
	{"pipe_wait_writable", REASON_PIPE},
	{"pipe_write", REASON_PIPE},
	{"poll_schedule_timeout", REASON_POLL},
	{"posix_lock_inode_wait", REASON_FILE_LOCK},
	{"ptrace_do_notify", REASON_STOPPED},
	{"ptrace_stop", REASON_STOPPED},
	{"read_events", REASON_AIO},
	{"request_wait_answer", REASON_FUSE},
	{"rescuer_thread", REASON_KERNEL_THREAD},
	{"rpc_wait_bit_killable", REASON_NFS},
	{"rq_qos_wait", REASON_DISK},
	{"rt_mutex_slowlock", REASON_KERNEL_LOCK},
	{"rwsem_down_read_slowpath", REASON_KERNEL_LOCK},
	{"rwsem_down_write_slowpath", REASON_KERNEL_LOCK},
	{"signalfd_dequeue", REASON_SIGNAL},
	{"signalfd_read", REASON_SIGNAL},
	{"signalfd_read_iter", REASON_SIGNAL},
	{"sigsuspend", REASON_SIGNAL},
	{"sk_stream_wait_close", REASON_SOCKET},
	{"sk_stream_wait_connect", REASON_SOCKET},
	{"sk_stream_wait_memory", REASON_SOCKET},
	{"sk_wait_data", REASON_SOCKET},
	{"smpboot_thread_fn", REASON_KERNEL_THREAD},
	{"sock_alloc_send_pskb", REASON_SOCKET},
	{"sock_read_iter", REASON_SOCKET},
	{"sock_recvmsg", REASON_SOCKET},
	{"sock_sendmsg", REASON_SOCKET},
	{"sock_wait_for_wmem", REASON_SOCKET},
	{"sock_write_iter", REASON_SOCKET},
	{"submit_bio_wait", REASON_DISK},
	{"synchronize_rcu", REASON_RCU},
	{"synchronize_rcu_expedited", REASON_RCU},
	{"synchronize_rcu_normal", REASON_RCU},
	{"synchronize_srcu", REASON_RCU},
	{"tcp_recvmsg", REASON_SOCKET},
	{"tcp_sendmsg", REASON_SOCKET},
	{"timerfd_read", REASON_TIMER},
	{"timerfd_read_iter", REASON_TIMER},
	{"tty_read", REASON_TERMINAL},
	{"tty_wait_until_sent", REASON_TERMINAL},
	{"tty_write", REASON_TERMINAL},
	{"udp_recvmsg", REASON_SOCKET},
	{"unix_accept", REASON_SOCKET},
	{"unix_stream_data_wait", REASON_SOCKET},
	{"unix_stream_read_generic", REASON_SOCKET},
	{"unix_wait_for_peer", REASON_SOCKET},
	{"usleep_range", REASON_SLEEP},
	{"usleep_range_state", REASON_SLEEP},
	{"vfs_fsync_range", REASON_DISK},
	{"wait_for_partner", REASON_PIPE},
	{"wait_for_vfork_done", REASON_CHILD},
	{"wait_on_buffer", REASON_DISK},
	{"wait_on_page_bit", REASON_DISK},
	{"wait_on_page_bit_common", REASON_DISK},
	{"wait_on_page_writeback", REASON_DISK},
	{"wait_transaction_locked", REASON_DISK},
	{"worker_thread", REASON_KERNEL_THREAD},
	{"wq_sleep", REASON_MESSAGE_QUEUE},
	{"xfs_log_force", REASON_DISK},
	{"xfs_log_force_seq", REASON_DISK},
	{"xlog_grant_head_wait", REASON_DISK},
	{"xlog_wait_on_iclog", REASON_DISK},
	{"zap_pid_ns_processes", REASON_EXIT},
};

#define NO_CALL UINT32_MAX

static const struct call {
	const char *name;
	uint32_t x86_64, arm64; /* numbers; NO_CALL: the architecture does not have the call */
	uint8_t reason;
} calls[] = {
	{"read", 0, 63, REASON_READ},
	{"write", 1, 64, REASON_WRITE},
	{"open", 2, NO_CALL, REASON_OPEN},
	{"openat", 257, 56, REASON_OPEN},
	{"openat2", 437, 437, REASON_OPEN},
	{"close", 3, 57, REASON_CLOSE},
	{"poll", 7, NO_CALL, REASON_POLL},
	{"ppoll", 271, 73, REASON_POLL},
	{"select", 23, NO_CALL, REASON_POLL},
	{"pselect6", 270, 72, REASON_POLL},
	{"epoll_wait", 232, NO_CALL, REASON_POLL},
	{"epoll_pwait", 281, 22, REASON_POLL},
	{"epoll_pwait2", 441, 441, REASON_POLL},
	{"ioctl", 16, 29, REASON_IOCTL},
	{"pread64", 17, 67, REASON_READ},
	{"pwrite64", 18, 68, REASON_WRITE},
	{"readv", 19, 65, REASON_READ},
	{"writev", 20, 66, REASON_WRITE},
	{"preadv", 295, 69, REASON_READ},
	{"pwritev", 296, 70, REASON_WRITE},
	{"preadv2", 327, 286, REASON_READ},
	{"pwritev2", 328, 287, REASON_WRITE},
	{"splice", 275, 76, REASON_PIPE},
	{"vmsplice", 278, 75, REASON_PIPE},
	{"tee", 276, 77, REASON_PIPE},
	{"sendfile64", 40, 71, REASON_WRITE},
	{"msync", 26, 227, REASON_DISK},
	{"fsync", 74, 82, REASON_DISK},
	{"fdatasync", 75, 83, REASON_DISK},
	{"sync", 162, 81, REASON_DISK},
	{"syncfs", 306, 267, REASON_DISK},
	{"sync_file_range", 277, 84, REASON_DISK},
	{"pause", 34, NO_CALL, REASON_SIGNAL},
	{"rt_sigsuspend", 130, 133, REASON_SIGNAL},
	{"rt_sigtimedwait", 128, 137, REASON_SIGNAL},
	{"nanosleep", 35, 101, REASON_SLEEP},
	{"clock_nanosleep", 230, 115, REASON_SLEEP},
	{"connect", 42, 203, REASON_SOCKET},
	{"accept", 43, 202, REASON_SOCKET},
	{"accept4", 288, 242, REASON_SOCKET},
	{"sendto", 44, 206, REASON_SOCKET},
	{"recvfrom", 45, 207, REASON_SOCKET},
	{"sendmsg", 46, 211, REASON_SOCKET},
	{"recvmsg", 47, 212, REASON_SOCKET},
	{"sendmmsg", 307, 269, REASON_SOCKET},
	{"recvmmsg", 299, 243, REASON_SOCKET},
	{"wait4", 61, 260, REASON_CHILD},
	{"waitid", 247, 95, REASON_CHILD},
	{"vfork", 58, NO_CALL, REASON_CHILD},
	{"clone", 56, 220, REASON_CHILD},
	{"execve", 59, 221, REASON_EXEC},
	{"exit", 60, 93, REASON_EXIT},
	{"exit_group", 231, 94, REASON_EXIT},
	{"semop", 65, 193, REASON_SEMAPHORE},
	{"semtimedop", 220, 192, REASON_SEMAPHORE},
	{"msgsnd", 69, 189, REASON_MESSAGE_QUEUE},
	{"msgrcv", 70, 188, REASON_MESSAGE_QUEUE},
	{"mq_timedsend", 242, 182, REASON_MESSAGE_QUEUE},
	{"mq_timedreceive", 243, 183, REASON_MESSAGE_QUEUE},
	{"fcntl", 72, 25, REASON_FILE_LOCK},
	{"flock", 73, 32, REASON_FILE_LOCK},
	{"futex", 202, 98, REASON_FUTEX},
	{"futex_waitv", 449, 449, REASON_FUTEX},
	{"futex_wait", 455, 455, REASON_FUTEX},
	{"io_getevents", 208, 4, REASON_AIO},
	{"io_pgetevents", 333, 292, REASON_AIO},
	{"io_uring_enter", 426, 426, REASON_IO_URING},
};

/* Compares a name, up to its suffix, with a function of the table. */
static int compare_name(const void *key, const void *item)
{
	const char *name = key, *function = ((const struct blocking *)item)->function;
	size_t size = strcspn(name, ".");
	int order = strncmp(name, function, size);
	return order || !function[size] ? order : -1;
}

/* Returns the system call's name in the name of its entry point; NULL: it is none. */
static const char *call_of_function(const char *name)
{
	static const char *const prefixes[] = {"__x64_sys_", "__arm64_sys_", "__do_sys_", "__se_sys_",
					       "ksys_"};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return name + strlen(prefixes[i]);
	return NULL;
}

uint8_t wait_reason_of_function(const char *name)
{
	const struct blocking *found = bsearch(name, functions, sizeof(functions) / sizeof(*functions),
					       sizeof(*functions), compare_name);
	const char *call = found ? NULL : call_of_function(name);
	for (size_t i = 0; call && i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(call, calls[i].name))
			return calls[i].reason;
	return found ? found->reason : WAIT_UNKNOWN;
}

uint8_t wait_reason_of_syscall(const char *arch, uint32_t number)
{
	bool x86 = arch && !strcmp(arch, "x86_64"), arm = arch && !strcmp(arch, "aarch64");
	for (size_t i = 0; number != NO_CALL && i < sizeof(calls) / sizeof(*calls); i++)
		if ((x86 && calls[i].x86_64 == number) || (arm && calls[i].arm64 == number))
			return calls[i].reason;
	return WAIT_UNKNOWN;
}

const char *wait_reason_name(uint8_t reason)
{
	return names[reason];
}

const char *wait_reason_state(uint8_t reason)
{
	return states[reason];
}
