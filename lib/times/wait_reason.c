/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of kernel functions that block, and of system calls. Names of functions differ between
 * kernel versions: the known ones since Linux 5.0 are listed.
 */
#include "times/wait_reason.h"

#include <string.h>

#include "base/vec.h"

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
	X(REASON_EXEC, "exec") \
	X(REASON_MEMORY, "memory") \
	X(REASON_MIGRATION, "CPU migration") \
	X(REASON_WORKQUEUE, "workqueue") \
	X(REASON_RANDOM, "random") \
	X(REASON_SECCOMP, "seccomp") \
	X(REASON_AUTOFS, "autofs") \
	X(REASON_SMB, "smb") \
	X(REASON_9P, "9p")

#define REASON_NUMBER(number, name) number,
enum { REASONS(REASON_NUMBER) };

#define REASON_NAME(number, name) name,
static const char *const names[] = {REASONS(REASON_NAME)};

#define REASON_STATE(number, name) "[blocked: " name "]",
static const char *const states[] = {REASONS(REASON_STATE)};

_Static_assert(count_of(names) <= WAIT_REASONS_MAX, "a reason is a small number");

/* The kernel functions in which threads wait for each reason, with a blank before and after each.
 */
static const char *const functions[] = {
	[REASON_FUTEX] =
		" __futex_wait futex_do_wait futex_lock_pi futex_wait futex_wait_multiple "
		"futex_wait_queue futex_wait_queue_me futex_wait_requeue_pi futex_wait_restart "
		"futex_wait_setup rt_mutex_wait_proxy_lock wait_for_owner_exiting ",
	[REASON_POLL] =
		" core_sys_select do_epoll_wait do_poll do_select do_sys_poll ep_poll "
		"poll_schedule_timeout ",
	[REASON_PIPE] =
		" anon_pipe_read anon_pipe_write fifo_open pipe_read pipe_wait "
		"pipe_wait_readable pipe_wait_writable pipe_write wait_for_partner ",
	[REASON_SOCKET] =
		" __inet_stream_connect __lock_sock __skb_recv_datagram "
		"__skb_wait_for_more_packets inet_csk_accept inet_csk_wait_for_connect "
		"inet_stream_connect inet_wait_for_connect lock_sock_nested netlink_recvmsg "
		"sk_stream_wait_close sk_stream_wait_connect sk_stream_wait_memory sk_wait_data "
		"skb_recv_datagram sock_alloc_send_pskb sock_read_iter sock_recvmsg sock_sendmsg "
		"sock_wait_for_wmem sock_write_iter tcp_msg_wait_data tcp_recvmsg tcp_sendmsg "
		"tls_rx_rec_wait tls_sw_recvmsg udp_recvmsg unix_accept unix_dgram_sendmsg "
		"unix_stream_connect unix_stream_data_wait unix_stream_read_generic "
		"unix_wait_for_peer virtio_transport_wait_close vsock_accept vsock_connect "
		"vsock_connectible_wait_data wait_for_unix_gc ",
	[REASON_DISK] =
		" __bio_queue_enter __blkdev_direct_IO __blockdev_direct_IO "
		"__filemap_fdatawait_range __folio_lock __folio_lock_killable __inode_dio_wait "
		"__iomap_dio_rw __jbd2_log_wait_for_space __lock_buffer __lock_page "
		"__lock_page_killable __reserve_bytes __rq_qos_throttle __wait_on_buffer "
		"__wait_on_freeing_inode __xfs_iunpin_wait add_transaction_credits "
		"balance_dirty_pages balance_dirty_pages_ratelimited "
		"balance_dirty_pages_ratelimited_flags bit_wait_io blk_execute_rq "
		"blk_mq_freeze_queue_wait blk_mq_get_tag blk_queue_enter "
		"blkcg_maybe_throttle_current blkdev_direct_IO blkdev_issue_flush "
		"btrfs_commit_transaction btrfs_start_ordered_extent "
		"btrfs_start_ordered_extent_nowriteback btrfs_sync_file btrfs_sync_log "
		"btrfs_throttle btrfs_wait_for_commit btrfs_wait_ordered_extents "
		"btrfs_wait_ordered_range btrfs_wait_ordered_roots btrfs_wait_tree_log_extents "
		"do_blockdev_direct_IO do_get_write_access ext4_fc_commit ext4_sync_file "
		"ext4_sync_fs f2fs_do_sync_file f2fs_issue_flush f2fs_sync_file "
		"f2fs_wait_on_page_writeback file_fdatawait_range file_write_and_wait_range "
		"filemap_fdatawait_keep_errors filemap_fdatawait_range "
		"filemap_fdatawait_range_keep_errors filemap_write_and_wait_range folio_wait_bit "
		"folio_wait_bit_common folio_wait_bit_killable folio_wait_private_2 "
		"folio_wait_stable folio_wait_writeback folio_wait_writeback_killable "
		"inode_dio_wait inode_dio_wait_interruptible inode_sleep_on_writeback "
		"inode_wait_for_writeback io_schedule io_schedule_timeout ioc_rqos_throttle "
		"iomap_dio_rw jbd2_complete_transaction jbd2_fc_begin_commit jbd2_fc_wait_bufs "
		"jbd2_journal_wait_updates jbd2_log_do_checkpoint jbd2_log_wait_commit "
		"jbd2_transaction_committed jbd2_wait_inode_data rq_qos_wait start_this_handle "
		"submit_bio_wait sync_inodes_sb txg_wait_synced vfs_fsync_range "
		"wait_current_trans wait_for_commit wait_for_completion_io "
		"wait_for_completion_io_timeout wait_for_stable_page wait_log_commit "
		"wait_on_buffer wait_on_page_bit wait_on_page_bit_common "
		"wait_on_page_bit_killable wait_on_page_writeback wait_reserve_ticket "
		"wait_transaction_locked wait_transaction_switching wb_wait_for_completion "
		"wbt_wait xfs_buf_iowait xfs_buf_wait_unpin xfs_buftarg_wait "
		"xfs_extent_busy_flush xfs_iunpin_wait xfs_log_force xfs_log_force_seq "
		"xlog_cil_force_seq xlog_grant_head_check xlog_grant_head_wait "
		"xlog_wait_on_iclog zil_commit zio_wait ",
	[REASON_SLEEP] =
		" alarm_timer_nsleep common_nsleep common_nsleep_timens do_cpu_nanosleep "
		"do_nanosleep hrtimer_nanosleep hrtimer_nanosleep_restart msleep "
		"msleep_interruptible posix_cpu_nsleep process_cpu_nsleep usleep_range "
		"usleep_range_state ",
	[REASON_CHILD] =
		" _do_fork do_wait kernel_clone kernel_wait4 kernel_waitid wait_for_vfork_done ",
	[REASON_SIGNAL] =
		" do_sigtimedwait signalfd_dequeue signalfd_read signalfd_read_iter sigsuspend ",
	[REASON_STOPPED] =
		" do_jobctl_trap do_signal_stop ptrace_attach ptrace_do_notify ptrace_stop ",
	[REASON_TERMINAL] =
		" ldsem_down_read ldsem_down_write n_tty_read n_tty_write tty_ldisc_ref_wait "
		"tty_port_block_til_ready tty_read tty_wait_until_sent tty_write vt_waitactive ",
	[REASON_EVENTFD] = " eventfd_read eventfd_write ",
	[REASON_TIMER] = " timerfd_read timerfd_read_iter ",
	[REASON_INOTIFY] =
		" fanotify_get_response fanotify_handle_event fanotify_read "
		"fsnotify_wait_marks_destroyed inotify_read inotify_release ",
	[REASON_IO_URING] =
		" io_cqring_schedule_timeout io_cqring_wait io_ring_ctx_wait_and_kill "
		"io_sq_thread io_sqpoll_wait_sq io_uring_cancel_generic io_wq_worker "
		"io_wqe_worker ",
	[REASON_AIO] = " do_io_getevents exit_aio io_destroy read_events ",
	[REASON_SEMAPHORE] = " __do_semtimedop do_semtimedop ",
	[REASON_MESSAGE_QUEUE] =
		" do_mq_timedreceive do_mq_timedsend do_msgrcv do_msgsnd wq_sleep ",
	[REASON_FILE_LOCK] =
		" __break_lease do_lock_file_wait fcntl_setlk fcntl_setlk64 "
		"flock_lock_inode_wait locks_lock_inode_wait posix_lock_file_wait "
		"posix_lock_inode_wait ",
	[REASON_KERNEL_LOCK] =
		" __down __down_common __down_interruptible __down_killable __down_timeout "
		"__mutex_lock __mutex_lock_interruptible_slowpath __mutex_lock_killable_slowpath "
		"__mutex_lock_slowpath __percpu_down_read __rt_mutex_lock __rt_mutex_slowlock "
		"__rt_mutex_slowlock_locked __ww_mutex_lock __ww_mutex_lock_slowpath down "
		"down_interruptible down_killable down_read down_read_interruptible "
		"down_read_killable down_timeout down_write down_write_killable mutex_lock "
		"mutex_lock_interruptible mutex_lock_io mutex_lock_killable mutex_lock_nested "
		"percpu_down_read percpu_down_write percpu_rwsem_wait rt_mutex_lock "
		"rt_mutex_slowlock rt_mutex_slowlock_block rtlock_slowlock_locked "
		"rwbase_read_lock rwbase_write_lock rwsem_down_read_slowpath "
		"rwsem_down_write_slowpath ww_mutex_lock ww_mutex_lock_interruptible ",
	[REASON_PAGE_FAULT] =
		" asm_exc_page_fault do_mem_abort do_page_fault do_translation_fault "
		"do_user_addr_fault el0_da el0_ia exc_page_fault handle_mm_fault "
		"kvm_async_pf_task_wait kvm_async_pf_task_wait_schedule lock_mm_and_find_vma "
		"migration_entry_wait migration_entry_wait_huge migration_entry_wait_on_locked "
		"pmd_migration_entry_wait ",
	[REASON_USERFAULTFD] =
		" handle_userfault userfaultfd_ctx_read userfaultfd_read userfaultfd_read_iter ",
	[REASON_FROZEN] = " __refrigerator cgroup_enter_frozen do_freezer_trap ",
	[REASON_RCU] =
		" __synchronize_srcu __wait_rcu_gp rcu_barrier rcu_tasks_wait_gp srcu_barrier "
		"synchronize_net synchronize_rcu synchronize_rcu_expedited "
		"synchronize_rcu_normal synchronize_rcu_tasks synchronize_rcu_tasks_generic "
		"synchronize_srcu wait_rcu_exp_gp ",
	[REASON_EXIT] = " coredump_wait do_exit do_group_exit exit_mm zap_pid_ns_processes ",
	[REASON_FUSE] =
		" __fuse_request_send __fuse_simple_request fuse_dev_do_read fuse_file_fallocate "
		"fuse_simple_request fuse_wait_aborted fuse_wait_on_folio_writeback "
		"fuse_wait_on_page_writeback request_wait_answer ",
	[REASON_NFS] =
		" __rpc_execute __rpc_wait_for_completion_task nfs4_wait_clnt_recover "
		"nfs_file_fsync nfs_iocounter_wait nfs_wait_bit_killable "
		"nfs_wait_client_init_complete nfs_wait_on_request rpc_execute rpc_run_task "
		"rpc_wait_bit_killable rpc_wait_for_completion_task ",
	[REASON_GPU] =
		" dma_fence_default_wait dma_fence_wait_any_timeout dma_fence_wait_timeout "
		"dma_resv_wait_timeout drm_read drm_syncobj_array_wait_timeout "
		"drm_wait_vblank_ioctl ",
	[REASON_VCPU] = " kvm_arch_vcpu_ioctl_run kvm_vcpu_block kvm_vcpu_halt ",
	[REASON_KERNEL_THREAD] =
		" __kthread_create_on_node kthread kthread_park kthread_stop kthread_worker_fn "
		"rescuer_thread smpboot_thread_fn vhost_task_fn vhost_worker worker_thread ",
	[REASON_CLOSE] = " __fput filp_close ",
	[REASON_EXEC] = " begin_new_exec bprm_execve de_thread flush_old_exec ",
	[REASON_MEMORY] =
		" __alloc_pages_slowpath __mem_cgroup_handle_over_high alloc_contig_range "
		"compact_zone congestion_wait do_try_to_free_pages mem_cgroup_handle_over_high "
		"mem_cgroup_oom_synchronize out_of_memory reclaim_throttle shrink_node "
		"throttle_direct_reclaim try_to_compact_pages try_to_free_mem_cgroup_pages "
		"try_to_free_pages wait_iff_congested ",
	[REASON_MIGRATION] =
		" __set_cpus_allowed_ptr __set_cpus_allowed_ptr_locked affine_move_task "
		"sched_exec stop_one_cpu stop_two_cpus ",
	[REASON_WORKQUEUE] =
		" __flush_work __flush_workqueue call_usermodehelper_exec crypto_larval_wait "
		"flush_work flush_workqueue ",
	[REASON_RANDOM] = " wait_for_random_bytes ",
	[REASON_SECCOMP] = " __seccomp_filter seccomp_do_user_notification ",
	[REASON_AUTOFS] = " autofs_expire_wait autofs_mount_wait autofs_wait ",
	[REASON_SMB] = " cifs_send_recv compound_send_recv wait_for_response ",
	[REASON_9P] = " p9_client_rpc p9_client_zc_rpc p9_virtio_request ",
};

/*
 * Functions outside of the kernel in which threads wait for locks only, without '_' before them. C
 * library: glibc and musl, which may lack symbols but for those that programs call. Locks of
 * java.util.concurrent and of Python's threading are missing: idle threads wait for them, too.
 */
static const char *const lock_functions[] = {
	/* C library */
	"lll_lock_wait", "lll_lock_wait_private", "mtx_lock", "mtx_timedlock",
	"pthread_mutex_clocklock", "pthread_mutex_cond_lock", "pthread_mutex_cond_lock_full",
	"pthread_mutex_lock", "pthread_mutex_lock_full", "pthread_mutex_timedlock",
	"pthread_rwlock_clockrdlock", "pthread_rwlock_clockwrlock", "pthread_rwlock_rdlock",
	"pthread_rwlock_rdlock_full64", "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock",
	"pthread_rwlock_wrlock", "pthread_rwlock_wrlock_full64",
	"cxa_guard_acquire", /* C++ library */
	"PyThread_acquire_lock", "take_gil", /* CPython */
	/* HotSpot */
	"ObjectMonitor::EnterI", "ObjectMonitor::enter", "ObjectMonitor::enter_internal",
	/* Rust */
	"Mutex::lock_contended", "RwLock::read_contended", "RwLock::write_contended",
	"RawMutex::lock_slow", "RawRwLock::lock_exclusive_slow", "RawRwLock::lock_shared_slow",
};

#define NO_CALL UINT32_MAX

static const struct call {
	const char *name;
	uint32_t x86_64, arm64; /* numbers; NO_CALL: the architecture does not have the call */
	uint8_t reason;
} calls[] = {
	{"read", 0, 63, REASON_READ},
	{"write", 1, 64, REASON_WRITE},
	{"open", 2, NO_CALL, REASON_OPEN}, {"openat", 257, 56, REASON_OPEN},
	{"openat2", 437, 437, REASON_OPEN},
	{"close", 3, 57, REASON_CLOSE},
	{"poll", 7, NO_CALL, REASON_POLL}, {"ppoll", 271, 73, REASON_POLL},
	{"select", 23, NO_CALL, REASON_POLL}, {"pselect6", 270, 72, REASON_POLL},
	{"epoll_wait", 232, NO_CALL, REASON_POLL}, {"epoll_pwait", 281, 22, REASON_POLL},
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
	{"splice", 275, 76, REASON_PIPE}, {"vmsplice", 278, 75, REASON_PIPE},
	{"tee", 276, 77, REASON_PIPE},
	{"sendfile64", 40, 71, REASON_WRITE},
	{"msync", 26, 227, REASON_DISK}, {"fsync", 74, 82, REASON_DISK},
	{"fdatasync", 75, 83, REASON_DISK}, {"sync", 162, 81, REASON_DISK},
	{"syncfs", 306, 267, REASON_DISK}, {"sync_file_range", 277, 84, REASON_DISK},
	{"pause", 34, NO_CALL, REASON_SIGNAL}, {"rt_sigsuspend", 130, 133, REASON_SIGNAL},
	{"rt_sigtimedwait", 128, 137, REASON_SIGNAL},
	{"nanosleep", 35, 101, REASON_SLEEP}, {"clock_nanosleep", 230, 115, REASON_SLEEP},
	{"connect", 42, 203, REASON_SOCKET}, {"accept", 43, 202, REASON_SOCKET},
	{"accept4", 288, 242, REASON_SOCKET}, {"sendto", 44, 206, REASON_SOCKET},
	{"recvfrom", 45, 207, REASON_SOCKET}, {"sendmsg", 46, 211, REASON_SOCKET},
	{"recvmsg", 47, 212, REASON_SOCKET}, {"sendmmsg", 307, 269, REASON_SOCKET},
	{"recvmmsg", 299, 243, REASON_SOCKET},
	{"wait4", 61, 260, REASON_CHILD}, {"waitid", 247, 95, REASON_CHILD},
	{"vfork", 58, NO_CALL, REASON_CHILD}, {"clone", 56, 220, REASON_CHILD},
	{"execve", 59, 221, REASON_EXEC},
	{"exit", 60, 93, REASON_EXIT}, {"exit_group", 231, 94, REASON_EXIT},
	{"semop", 65, 193, REASON_SEMAPHORE}, {"semtimedop", 220, 192, REASON_SEMAPHORE},
	{"msgsnd", 69, 189, REASON_MESSAGE_QUEUE}, {"msgrcv", 70, 188, REASON_MESSAGE_QUEUE},
	{"mq_timedsend", 242, 182, REASON_MESSAGE_QUEUE},
	{"mq_timedreceive", 243, 183, REASON_MESSAGE_QUEUE},
	{"fcntl", 72, 25, REASON_FILE_LOCK}, {"flock", 73, 32, REASON_FILE_LOCK},
	{"futex", 202, 98, REASON_FUTEX}, {"futex_waitv", 449, 449, REASON_FUTEX},
	{"futex_wait", 455, 455, REASON_FUTEX},
	{"io_getevents", 208, 4, REASON_AIO}, {"io_pgetevents", 333, 292, REASON_AIO},
	{"io_uring_enter", 426, 426, REASON_IO_URING},
	{"clone3", 435, 435, REASON_CHILD},
	{"execveat", 322, 281, REASON_EXEC},
	{"creat", 85, NO_CALL, REASON_OPEN},
	{"close_range", 436, 436, REASON_CLOSE},
	{"truncate", 76, 45, REASON_DISK}, {"ftruncate", 77, 46, REASON_DISK},
	{"fallocate", 285, 47, REASON_DISK}, {"copy_file_range", 326, 285, REASON_DISK},
	{"readahead", 187, 213, REASON_DISK}, {"fadvise64", 221, 223, REASON_DISK},
	{"getdents", 78, NO_CALL, REASON_DISK}, {"getdents64", 217, 61, REASON_DISK},
	{"newstat", 4, NO_CALL, REASON_DISK}, {"newlstat", 6, NO_CALL, REASON_DISK},
	{"newfstat", 5, 80, REASON_DISK}, {"newfstatat", 262, 79, REASON_DISK},
	{"statx", 332, 291, REASON_DISK}, {"access", 21, NO_CALL, REASON_DISK},
	{"faccessat", 269, 48, REASON_DISK}, {"faccessat2", 439, 439, REASON_DISK},
	{"readlink", 89, NO_CALL, REASON_DISK}, {"readlinkat", 267, 78, REASON_DISK},
	{"rename", 82, NO_CALL, REASON_DISK}, {"renameat", 264, 38, REASON_DISK},
	{"renameat2", 316, 276, REASON_DISK}, {"unlink", 87, NO_CALL, REASON_DISK},
	{"unlinkat", 263, 35, REASON_DISK}, {"mkdir", 83, NO_CALL, REASON_DISK},
	{"mkdirat", 258, 34, REASON_DISK}, {"rmdir", 84, NO_CALL, REASON_DISK},
	{"mount", 165, 40, REASON_DISK}, {"umount", 166, 39, REASON_DISK},
	{"mmap", 9, 222, REASON_MEMORY}, {"mprotect", 10, 226, REASON_MEMORY},
	{"munmap", 11, 215, REASON_MEMORY}, {"brk", 12, 214, REASON_MEMORY},
	{"mremap", 25, 216, REASON_MEMORY}, {"madvise", 28, 233, REASON_MEMORY},
	{"sched_setaffinity", 203, 122, REASON_MIGRATION},
	{"getrandom", 318, 278, REASON_RANDOM},
	{"membarrier", 324, 283, REASON_RCU},
};

/* Returns whether a list of words has the word. */
static bool has_word(const char *words, const char *word, size_t size)
{
	for (const char *at = words; (at = memmem(at, strlen(at), word, size)); at++)
		if (at[-1] == ' ' && at[size] == ' ')
			return true;
	return false;
}

const char *syscall_of_function(const char *name)
{
	static const char *const prefixes[] = {
		"__x64_sys_", "__arm64_sys_", "__do_sys_", "__se_sys_", "ksys_", "__ia32_sys_",
		"__ia32_compat_sys_", "__arm64_compat_sys_", "__do_compat_sys_", "__s390x_sys_",
		"__riscv_sys_",
	};
	for (size_t i = 0; i < count_of(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return name + strlen(prefixes[i]);
	return NULL;
}

/* Compares names of calls; for compatibility, the kernel has some with times of 32 bits. */
static bool is_call(const char *name, const char *call)
{
	size_t size = strlen(call);
	return !strncmp(name, call, size) && (!name[size] || !strcmp(name + size, "_time32"));
}

uint8_t wait_reason_of_function(const char *name)
{
	size_t size = strcspn(name, ".");
	for (uint8_t i = 0; size && i < count_of(functions); i++)
		if (functions[i] && has_word(functions[i], name, size))
			return i;
	const char *call = syscall_of_function(name);
	for (size_t i = 0; call && i < count_of(calls); i++)
		if (is_call(call, calls[i].name))
			return calls[i].reason;
	return WAIT_UNKNOWN;
}

static const struct call *find_call(const char *arch, uint32_t number)
{
	bool x86 = arch && !strcmp(arch, "x86_64"), arm = arch && !strcmp(arch, "aarch64");
	for (size_t i = 0; number != NO_CALL && i < count_of(calls); i++)
		if ((x86 && calls[i].x86_64 == number) || (arm && calls[i].arm64 == number))
			return &calls[i];
	return NULL;
}

uint8_t wait_reason_of_syscall(const char *arch, uint32_t number)
{
	const struct call *call = find_call(arch, number);
	return call ? call->reason : WAIT_UNKNOWN;
}

const char *syscall_of_number(const char *arch, uint32_t number)
{
	const struct call *call = find_call(arch, number);
	return call ? call->name : NULL;
}

bool wait_reason_holds_up(uint8_t reason)
{
	static const bool holds[WAIT_REASONS_MAX] = {
		[REASON_DISK] = true, [REASON_FILE_LOCK] = true, [REASON_KERNEL_LOCK] = true,
		[REASON_NFS] = true,  [REASON_SMB] = true,       [REASON_9P] = true,
	};
	return holds[reason];
}

bool wait_function_holds_up(const char *name)
{
	const char *method = name;
	/* Rust's and C++'s paths differ between versions: the type and the method suffice. */
	for (const char *at = name, *next; (next = strstr(at, "::")); at = next + 2)
		method = at;
	method += strspn(method, ":_");
	method += strncmp(method, "GI_", 3) ? 0 : 3 + strspn(method + 3, "_");
	size_t size = strcspn(method, "@.");
	for (size_t i = 0; i < count_of(lock_functions); i++)
		if (*lock_functions[i] == *method && !strncmp(lock_functions[i], method, size) &&
		    !lock_functions[i][size])
			return true;
	return false;
}

const char *wait_reason_name(uint8_t reason)
{
	return names[reason];
}

const char *wait_reason_state(uint8_t reason)
{
	return states[reason];
}
