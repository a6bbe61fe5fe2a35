/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of kernel functions that block, sorted by name, and of system calls. Names of functions differ
 * between kernel versions: the known ones since Linux 5.0 are listed.
 */
#include "times/wait_reason.h"

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

_Static_assert(sizeof(names) / sizeof(*names) <= WAIT_REASONS_MAX, "a reason is a small number");

static const struct blocking {
	const char *function;
	uint8_t reason;
} functions[] = {
	{"__alloc_pages_slowpath", REASON_MEMORY},
	{"__bio_queue_enter", REASON_DISK},
	{"__blkdev_direct_IO", REASON_DISK},
	{"__blockdev_direct_IO", REASON_DISK},
	{"__break_lease", REASON_FILE_LOCK},
	{"__do_semtimedop", REASON_SEMAPHORE},
	{"__down", REASON_KERNEL_LOCK},
	{"__down_common", REASON_KERNEL_LOCK},
	{"__down_interruptible", REASON_KERNEL_LOCK},
	{"__down_killable", REASON_KERNEL_LOCK},
	{"__down_timeout", REASON_KERNEL_LOCK},
	{"__filemap_fdatawait_range", REASON_DISK},
	{"__flush_work", REASON_WORKQUEUE},
	{"__flush_workqueue", REASON_WORKQUEUE},
	{"__folio_lock", REASON_DISK},
	{"__folio_lock_killable", REASON_DISK},
	{"__fput", REASON_CLOSE},
	{"__fuse_request_send", REASON_FUSE},
	{"__fuse_simple_request", REASON_FUSE},
	{"__futex_wait", REASON_FUTEX},
	{"__inet_stream_connect", REASON_SOCKET},
	{"__inode_dio_wait", REASON_DISK},
	{"__iomap_dio_rw", REASON_DISK},
	{"__jbd2_log_wait_for_space", REASON_DISK},
	{"__kthread_create_on_node", REASON_KERNEL_THREAD},
	{"__lock_buffer", REASON_DISK},
	{"__lock_page", REASON_DISK},
	{"__lock_page_killable", REASON_DISK},
	{"__lock_sock", REASON_SOCKET},
	{"__mem_cgroup_handle_over_high", REASON_MEMORY},
	{"__mutex_lock", REASON_KERNEL_LOCK},
	{"__mutex_lock_interruptible_slowpath", REASON_KERNEL_LOCK},
	{"__mutex_lock_killable_slowpath", REASON_KERNEL_LOCK},
	{"__mutex_lock_slowpath", REASON_KERNEL_LOCK},
	{"__percpu_down_read", REASON_KERNEL_LOCK},
	{"__refrigerator", REASON_FROZEN},
	{"__reserve_bytes", REASON_DISK},
	{"__rpc_execute", REASON_NFS},
	{"__rpc_wait_for_completion_task", REASON_NFS},
	{"__rq_qos_throttle", REASON_DISK},
	{"__rt_mutex_lock", REASON_KERNEL_LOCK},
	{"__rt_mutex_slowlock", REASON_KERNEL_LOCK},
	{"__rt_mutex_slowlock_locked", REASON_KERNEL_LOCK},
	{"__seccomp_filter", REASON_SECCOMP},
	{"__set_cpus_allowed_ptr", REASON_MIGRATION},
	{"__set_cpus_allowed_ptr_locked", REASON_MIGRATION},
	{"__skb_recv_datagram", REASON_SOCKET},
	{"__skb_wait_for_more_packets", REASON_SOCKET},
	{"__synchronize_srcu", REASON_RCU},
	{"__wait_on_buffer", REASON_DISK},
	{"__wait_on_freeing_inode", REASON_DISK},
	{"__wait_rcu_gp", REASON_RCU},
	{"__ww_mutex_lock", REASON_KERNEL_LOCK},
	{"__ww_mutex_lock_slowpath", REASON_KERNEL_LOCK},
	{"__xfs_iunpin_wait", REASON_DISK},
	{"_do_fork", REASON_CHILD},
	{"add_transaction_credits", REASON_DISK},
	{"affine_move_task", REASON_MIGRATION},
	{"alarm_timer_nsleep", REASON_SLEEP},
	{"alloc_contig_range", REASON_MEMORY},
	{"anon_pipe_read", REASON_PIPE},
	{"anon_pipe_write", REASON_PIPE},
	{"asm_exc_page_fault", REASON_PAGE_FAULT},
	{"autofs_expire_wait", REASON_AUTOFS},
	{"autofs_mount_wait", REASON_AUTOFS},
	{"autofs_wait", REASON_AUTOFS},
	{"balance_dirty_pages", REASON_DISK},
	{"balance_dirty_pages_ratelimited", REASON_DISK},
	{"balance_dirty_pages_ratelimited_flags", REASON_DISK},
	{"begin_new_exec", REASON_EXEC},
	{"bit_wait_io", REASON_DISK},
	{"blk_execute_rq", REASON_DISK},
	{"blk_mq_freeze_queue_wait", REASON_DISK},
	{"blk_mq_get_tag", REASON_DISK},
	{"blk_queue_enter", REASON_DISK},
	{"blkcg_maybe_throttle_current", REASON_DISK},
	{"blkdev_direct_IO", REASON_DISK},
	{"blkdev_issue_flush", REASON_DISK},
	{"bprm_execve", REASON_EXEC},
	{"btrfs_commit_transaction", REASON_DISK},
	{"btrfs_start_ordered_extent", REASON_DISK},
	{"btrfs_start_ordered_extent_nowriteback", REASON_DISK},
	{"btrfs_sync_file", REASON_DISK},
	{"btrfs_sync_log", REASON_DISK},
	{"btrfs_throttle", REASON_DISK},
	{"btrfs_wait_for_commit", REASON_DISK},
	{"btrfs_wait_ordered_extents", REASON_DISK},
	{"btrfs_wait_ordered_range", REASON_DISK},
	{"btrfs_wait_ordered_roots", REASON_DISK},
	{"btrfs_wait_tree_log_extents", REASON_DISK},
	{"call_usermodehelper_exec", REASON_WORKQUEUE},
	{"cgroup_enter_frozen", REASON_FROZEN},
	{"cifs_send_recv", REASON_SMB},
	{"common_nsleep", REASON_SLEEP},
	{"common_nsleep_timens", REASON_SLEEP},
	{"compact_zone", REASON_MEMORY},
	{"compound_send_recv", REASON_SMB},
	{"congestion_wait", REASON_MEMORY},
	{"core_sys_select", REASON_POLL},
	{"coredump_wait", REASON_EXIT},
	{"crypto_larval_wait", REASON_WORKQUEUE},
	{"de_thread", REASON_EXEC},
	{"dma_fence_default_wait", REASON_GPU},
	{"dma_fence_wait_any_timeout", REASON_GPU},
	{"dma_fence_wait_timeout", REASON_GPU},
	{"dma_resv_wait_timeout", REASON_GPU},
	{"do_blockdev_direct_IO", REASON_DISK},
	{"do_cpu_nanosleep", REASON_SLEEP},
	{"do_epoll_wait", REASON_POLL},
	{"do_exit", REASON_EXIT},
	{"do_freezer_trap", REASON_FROZEN},
	{"do_get_write_access", REASON_DISK},
	{"do_group_exit", REASON_EXIT},
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
	{"do_translation_fault", REASON_PAGE_FAULT},
	{"do_try_to_free_pages", REASON_MEMORY},
	{"do_user_addr_fault", REASON_PAGE_FAULT},
	{"do_wait", REASON_CHILD},
	{"down", REASON_KERNEL_LOCK},
	{"down_interruptible", REASON_KERNEL_LOCK},
	{"down_killable", REASON_KERNEL_LOCK},
	{"down_read", REASON_KERNEL_LOCK},
	{"down_read_interruptible", REASON_KERNEL_LOCK},
	{"down_read_killable", REASON_KERNEL_LOCK},
	{"down_timeout", REASON_KERNEL_LOCK},
	{"down_write", REASON_KERNEL_LOCK},
	{"down_write_killable", REASON_KERNEL_LOCK},
	{"drm_read", REASON_GPU},
	{"drm_syncobj_array_wait_timeout", REASON_GPU},
	{"drm_wait_vblank_ioctl", REASON_GPU},
	{"el0_da", REASON_PAGE_FAULT},
	{"el0_ia", REASON_PAGE_FAULT},
	{"ep_poll", REASON_POLL},
	{"eventfd_read", REASON_EVENTFD},
	{"eventfd_write", REASON_EVENTFD},
	{"exc_page_fault", REASON_PAGE_FAULT},
	{"exit_aio", REASON_AIO},
	{"exit_mm", REASON_EXIT},
	{"ext4_fc_commit", REASON_DISK},
	{"ext4_sync_file", REASON_DISK},
	{"ext4_sync_fs", REASON_DISK},
	{"f2fs_do_sync_file", REASON_DISK},
	{"f2fs_issue_flush", REASON_DISK},
	{"f2fs_sync_file", REASON_DISK},
	{"f2fs_wait_on_page_writeback", REASON_DISK},
	{"fanotify_get_response", REASON_INOTIFY},
	{"fanotify_handle_event", REASON_INOTIFY},
	{"fanotify_read", REASON_INOTIFY},
	{"fcntl_setlk", REASON_FILE_LOCK},
	{"fcntl_setlk64", REASON_FILE_LOCK},
	{"fifo_open", REASON_PIPE},
	{"file_fdatawait_range", REASON_DISK},
	{"file_write_and_wait_range", REASON_DISK},
	{"filemap_fdatawait_keep_errors", REASON_DISK},
	{"filemap_fdatawait_range", REASON_DISK},
	{"filemap_fdatawait_range_keep_errors", REASON_DISK},
	{"filemap_write_and_wait_range", REASON_DISK},
	{"filp_close", REASON_CLOSE},
	{"flock_lock_inode_wait", REASON_FILE_LOCK},
	{"flush_old_exec", REASON_EXEC},
	{"flush_work", REASON_WORKQUEUE},
	{"flush_workqueue", REASON_WORKQUEUE},
	{"folio_wait_bit", REASON_DISK},
	{"folio_wait_bit_common", REASON_DISK},
	{"folio_wait_bit_killable", REASON_DISK},
	{"folio_wait_private_2", REASON_DISK},
	{"folio_wait_stable", REASON_DISK},
	{"folio_wait_writeback", REASON_DISK},
	{"folio_wait_writeback_killable", REASON_DISK},
	{"fsnotify_wait_marks_destroyed", REASON_INOTIFY},
	{"fuse_dev_do_read", REASON_FUSE},
	{"fuse_file_fallocate", REASON_FUSE},
	{"fuse_simple_request", REASON_FUSE},
	{"fuse_wait_aborted", REASON_FUSE},
	{"fuse_wait_on_folio_writeback", REASON_FUSE},
	{"fuse_wait_on_page_writeback", REASON_FUSE},
	{"futex_do_wait", REASON_FUTEX},
	{"futex_lock_pi", REASON_FUTEX},
	{"futex_wait", REASON_FUTEX},
	{"futex_wait_multiple", REASON_FUTEX},
	{"futex_wait_queue", REASON_FUTEX},
	{"futex_wait_queue_me", REASON_FUTEX},
	{"futex_wait_requeue_pi", REASON_FUTEX},
	{"futex_wait_restart", REASON_FUTEX},
	{"futex_wait_setup", REASON_FUTEX},
	{"handle_mm_fault", REASON_PAGE_FAULT},
	{"handle_userfault", REASON_USERFAULTFD},
	{"hrtimer_nanosleep", REASON_SLEEP},
	{"hrtimer_nanosleep_restart", REASON_SLEEP},
	{"inet_csk_accept", REASON_SOCKET},
	{"inet_csk_wait_for_connect", REASON_SOCKET},
	{"inet_stream_connect", REASON_SOCKET},
	{"inet_wait_for_connect", REASON_SOCKET},
	{"inode_dio_wait", REASON_DISK},
	{"inode_dio_wait_interruptible", REASON_DISK},
	{"inode_sleep_on_writeback", REASON_DISK},
	{"inode_wait_for_writeback", REASON_DISK},
	{"inotify_read", REASON_INOTIFY},
	{"inotify_release", REASON_INOTIFY},
	{"io_cqring_schedule_timeout", REASON_IO_URING},
	{"io_cqring_wait", REASON_IO_URING},
	{"io_destroy", REASON_AIO},
	{"io_ring_ctx_wait_and_kill", REASON_IO_URING},
	{"io_schedule", REASON_DISK},
	{"io_schedule_timeout", REASON_DISK},
	{"io_sq_thread", REASON_IO_URING},
	{"io_sqpoll_wait_sq", REASON_IO_URING},
	{"io_uring_cancel_generic", REASON_IO_URING},
	{"io_wq_worker", REASON_IO_URING},
	{"io_wqe_worker", REASON_IO_URING},
	{"ioc_rqos_throttle", REASON_DISK},
	{"iomap_dio_rw", REASON_DISK},
	{"jbd2_complete_transaction", REASON_DISK},
	{"jbd2_fc_begin_commit", REASON_DISK},
	{"jbd2_fc_wait_bufs", REASON_DISK},
	{"jbd2_journal_wait_updates", REASON_DISK},
	{"jbd2_log_do_checkpoint", REASON_DISK},
	{"jbd2_log_wait_commit", REASON_DISK},
	{"jbd2_transaction_committed", REASON_DISK},
	{"jbd2_wait_inode_data", REASON_DISK},
	{"kernel_clone", REASON_CHILD},
	{"kernel_wait4", REASON_CHILD},
	{"kernel_waitid", REASON_CHILD},
	{"kthread", REASON_KERNEL_THREAD},
	{"kthread_park", REASON_KERNEL_THREAD},
	{"kthread_stop", REASON_KERNEL_THREAD},
	{"kthread_worker_fn", REASON_KERNEL_THREAD},
	{"kvm_arch_vcpu_ioctl_run", REASON_VCPU},
	{"kvm_async_pf_task_wait", REASON_PAGE_FAULT},
	{"kvm_async_pf_task_wait_schedule", REASON_PAGE_FAULT},
	{"kvm_vcpu_block", REASON_VCPU},
	{"kvm_vcpu_halt", REASON_VCPU},
	{"ldsem_down_read", REASON_TERMINAL},
	{"ldsem_down_write", REASON_TERMINAL},
	{"lock_mm_and_find_vma", REASON_PAGE_FAULT},
	{"lock_sock_nested", REASON_SOCKET},
	{"locks_lock_inode_wait", REASON_FILE_LOCK},
	{"mem_cgroup_handle_over_high", REASON_MEMORY},
	{"mem_cgroup_oom_synchronize", REASON_MEMORY},
	{"migration_entry_wait", REASON_PAGE_FAULT},
	{"migration_entry_wait_huge", REASON_PAGE_FAULT},
	{"migration_entry_wait_on_locked", REASON_PAGE_FAULT},
	{"msleep", REASON_SLEEP},
	{"msleep_interruptible", REASON_SLEEP},
	{"mutex_lock", REASON_KERNEL_LOCK},
	{"mutex_lock_interruptible", REASON_KERNEL_LOCK},
	{"mutex_lock_io", REASON_KERNEL_LOCK},
	{"mutex_lock_killable", REASON_KERNEL_LOCK},
	{"mutex_lock_nested", REASON_KERNEL_LOCK},
	{"n_tty_read", REASON_TERMINAL},
	{"n_tty_write", REASON_TERMINAL},
	{"netlink_recvmsg", REASON_SOCKET},
	{"nfs4_wait_clnt_recover", REASON_NFS},
	{"nfs_file_fsync", REASON_NFS},
	{"nfs_iocounter_wait", REASON_NFS},
	{"nfs_wait_bit_killable", REASON_NFS},
	{"nfs_wait_client_init_complete", REASON_NFS},
	{"nfs_wait_on_request", REASON_NFS},
	{"out_of_memory", REASON_MEMORY},
	{"p9_client_rpc", REASON_9P},
	{"p9_client_zc_rpc", REASON_9P},
	{"p9_virtio_request", REASON_9P},
	{"percpu_down_read", REASON_KERNEL_LOCK},
	{"percpu_down_write", REASON_KERNEL_LOCK},
	{"percpu_rwsem_wait", REASON_KERNEL_LOCK},
	{"pipe_read", REASON_PIPE},
	{"pipe_wait", REASON_PIPE},
	{"pipe_wait_readable", REASON_PIPE},
	{"pipe_wait_writable", REASON_PIPE},
	{"pipe_write", REASON_PIPE},
	{"pmd_migration_entry_wait", REASON_PAGE_FAULT},
	{"poll_schedule_timeout", REASON_POLL},
	{"posix_cpu_nsleep", REASON_SLEEP},
	{"posix_lock_file_wait", REASON_FILE_LOCK},
	{"posix_lock_inode_wait", REASON_FILE_LOCK},
	{"process_cpu_nsleep", REASON_SLEEP},
	{"ptrace_attach", REASON_STOPPED},
	{"ptrace_do_notify", REASON_STOPPED},
	{"ptrace_stop", REASON_STOPPED},
	{"rcu_barrier", REASON_RCU},
	{"rcu_tasks_wait_gp", REASON_RCU},
	{"read_events", REASON_AIO},
	{"reclaim_throttle", REASON_MEMORY},
	{"request_wait_answer", REASON_FUSE},
	{"rescuer_thread", REASON_KERNEL_THREAD},
	{"rpc_execute", REASON_NFS},
	{"rpc_run_task", REASON_NFS},
	{"rpc_wait_bit_killable", REASON_NFS},
	{"rpc_wait_for_completion_task", REASON_NFS},
	{"rq_qos_wait", REASON_DISK},
	{"rt_mutex_lock", REASON_KERNEL_LOCK},
	{"rt_mutex_slowlock", REASON_KERNEL_LOCK},
	{"rt_mutex_slowlock_block", REASON_KERNEL_LOCK},
	{"rt_mutex_wait_proxy_lock", REASON_FUTEX},
	{"rtlock_slowlock_locked", REASON_KERNEL_LOCK},
	{"rwbase_read_lock", REASON_KERNEL_LOCK},
	{"rwbase_write_lock", REASON_KERNEL_LOCK},
	{"rwsem_down_read_slowpath", REASON_KERNEL_LOCK},
	{"rwsem_down_write_slowpath", REASON_KERNEL_LOCK},
	{"sched_exec", REASON_MIGRATION},
	{"seccomp_do_user_notification", REASON_SECCOMP},
	{"shrink_node", REASON_MEMORY},
	{"signalfd_dequeue", REASON_SIGNAL},
	{"signalfd_read", REASON_SIGNAL},
	{"signalfd_read_iter", REASON_SIGNAL},
	{"sigsuspend", REASON_SIGNAL},
	{"sk_stream_wait_close", REASON_SOCKET},
	{"sk_stream_wait_connect", REASON_SOCKET},
	{"sk_stream_wait_memory", REASON_SOCKET},
	{"sk_wait_data", REASON_SOCKET},
	{"skb_recv_datagram", REASON_SOCKET},
	{"smpboot_thread_fn", REASON_KERNEL_THREAD},
	{"sock_alloc_send_pskb", REASON_SOCKET},
	{"sock_read_iter", REASON_SOCKET},
	{"sock_recvmsg", REASON_SOCKET},
	{"sock_sendmsg", REASON_SOCKET},
	{"sock_wait_for_wmem", REASON_SOCKET},
	{"sock_write_iter", REASON_SOCKET},
	{"srcu_barrier", REASON_RCU},
	{"start_this_handle", REASON_DISK},
	{"stop_one_cpu", REASON_MIGRATION},
	{"stop_two_cpus", REASON_MIGRATION},
	{"submit_bio_wait", REASON_DISK},
	{"sync_inodes_sb", REASON_DISK},
	{"synchronize_net", REASON_RCU},
	{"synchronize_rcu", REASON_RCU},
	{"synchronize_rcu_expedited", REASON_RCU},
	{"synchronize_rcu_normal", REASON_RCU},
	{"synchronize_rcu_tasks", REASON_RCU},
	{"synchronize_rcu_tasks_generic", REASON_RCU},
	{"synchronize_srcu", REASON_RCU},
	{"tcp_msg_wait_data", REASON_SOCKET},
	{"tcp_recvmsg", REASON_SOCKET},
	{"tcp_sendmsg", REASON_SOCKET},
	{"throttle_direct_reclaim", REASON_MEMORY},
	{"timerfd_read", REASON_TIMER},
	{"timerfd_read_iter", REASON_TIMER},
	{"tls_rx_rec_wait", REASON_SOCKET},
	{"tls_sw_recvmsg", REASON_SOCKET},
	{"try_to_compact_pages", REASON_MEMORY},
	{"try_to_free_mem_cgroup_pages", REASON_MEMORY},
	{"try_to_free_pages", REASON_MEMORY},
	{"tty_ldisc_ref_wait", REASON_TERMINAL},
	{"tty_port_block_til_ready", REASON_TERMINAL},
	{"tty_read", REASON_TERMINAL},
	{"tty_wait_until_sent", REASON_TERMINAL},
	{"tty_write", REASON_TERMINAL},
	{"txg_wait_synced", REASON_DISK},
	{"udp_recvmsg", REASON_SOCKET},
	{"unix_accept", REASON_SOCKET},
	{"unix_dgram_sendmsg", REASON_SOCKET},
	{"unix_stream_connect", REASON_SOCKET},
	{"unix_stream_data_wait", REASON_SOCKET},
	{"unix_stream_read_generic", REASON_SOCKET},
	{"unix_wait_for_peer", REASON_SOCKET},
	{"userfaultfd_ctx_read", REASON_USERFAULTFD},
	{"userfaultfd_read", REASON_USERFAULTFD},
	{"userfaultfd_read_iter", REASON_USERFAULTFD},
	{"usleep_range", REASON_SLEEP},
	{"usleep_range_state", REASON_SLEEP},
	{"vfs_fsync_range", REASON_DISK},
	{"vhost_task_fn", REASON_KERNEL_THREAD},
	{"vhost_worker", REASON_KERNEL_THREAD},
	{"virtio_transport_wait_close", REASON_SOCKET},
	{"vsock_accept", REASON_SOCKET},
	{"vsock_connect", REASON_SOCKET},
	{"vsock_connectible_wait_data", REASON_SOCKET},
	{"vt_waitactive", REASON_TERMINAL},
	{"wait_current_trans", REASON_DISK},
	{"wait_for_commit", REASON_DISK},
	{"wait_for_completion_io", REASON_DISK},
	{"wait_for_completion_io_timeout", REASON_DISK},
	{"wait_for_owner_exiting", REASON_FUTEX},
	{"wait_for_partner", REASON_PIPE},
	{"wait_for_random_bytes", REASON_RANDOM},
	{"wait_for_response", REASON_SMB},
	{"wait_for_stable_page", REASON_DISK},
	{"wait_for_unix_gc", REASON_SOCKET},
	{"wait_for_vfork_done", REASON_CHILD},
	{"wait_iff_congested", REASON_MEMORY},
	{"wait_log_commit", REASON_DISK},
	{"wait_on_buffer", REASON_DISK},
	{"wait_on_page_bit", REASON_DISK},
	{"wait_on_page_bit_common", REASON_DISK},
	{"wait_on_page_bit_killable", REASON_DISK},
	{"wait_on_page_writeback", REASON_DISK},
	{"wait_rcu_exp_gp", REASON_RCU},
	{"wait_reserve_ticket", REASON_DISK},
	{"wait_transaction_locked", REASON_DISK},
	{"wait_transaction_switching", REASON_DISK},
	{"wb_wait_for_completion", REASON_DISK},
	{"wbt_wait", REASON_DISK},
	{"worker_thread", REASON_KERNEL_THREAD},
	{"wq_sleep", REASON_MESSAGE_QUEUE},
	{"ww_mutex_lock", REASON_KERNEL_LOCK},
	{"ww_mutex_lock_interruptible", REASON_KERNEL_LOCK},
	{"xfs_buf_iowait", REASON_DISK},
	{"xfs_buf_wait_unpin", REASON_DISK},
	{"xfs_buftarg_wait", REASON_DISK},
	{"xfs_extent_busy_flush", REASON_DISK},
	{"xfs_iunpin_wait", REASON_DISK},
	{"xfs_log_force", REASON_DISK},
	{"xfs_log_force_seq", REASON_DISK},
	{"xlog_cil_force_seq", REASON_DISK},
	{"xlog_grant_head_check", REASON_DISK},
	{"xlog_grant_head_wait", REASON_DISK},
	{"xlog_wait_on_iclog", REASON_DISK},
	{"zap_pid_ns_processes", REASON_EXIT},
	{"zil_commit", REASON_DISK},
	{"zio_wait", REASON_DISK},
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
	{"clone3", 435, 435, REASON_CHILD},
	{"execveat", 322, 281, REASON_EXEC},
	{"creat", 85, NO_CALL, REASON_OPEN},
	{"close_range", 436, 436, REASON_CLOSE},
	{"truncate", 76, 45, REASON_DISK},
	{"ftruncate", 77, 46, REASON_DISK},
	{"fallocate", 285, 47, REASON_DISK},
	{"copy_file_range", 326, 285, REASON_DISK},
	{"readahead", 187, 213, REASON_DISK},
	{"fadvise64", 221, 223, REASON_DISK},
	{"getdents", 78, NO_CALL, REASON_DISK},
	{"getdents64", 217, 61, REASON_DISK},
	{"newstat", 4, NO_CALL, REASON_DISK},
	{"newlstat", 6, NO_CALL, REASON_DISK},
	{"newfstat", 5, 80, REASON_DISK},
	{"newfstatat", 262, 79, REASON_DISK},
	{"statx", 332, 291, REASON_DISK},
	{"access", 21, NO_CALL, REASON_DISK},
	{"faccessat", 269, 48, REASON_DISK},
	{"faccessat2", 439, 439, REASON_DISK},
	{"readlink", 89, NO_CALL, REASON_DISK},
	{"readlinkat", 267, 78, REASON_DISK},
	{"rename", 82, NO_CALL, REASON_DISK},
	{"renameat", 264, 38, REASON_DISK},
	{"renameat2", 316, 276, REASON_DISK},
	{"unlink", 87, NO_CALL, REASON_DISK},
	{"unlinkat", 263, 35, REASON_DISK},
	{"mkdir", 83, NO_CALL, REASON_DISK},
	{"mkdirat", 258, 34, REASON_DISK},
	{"rmdir", 84, NO_CALL, REASON_DISK},
	{"mount", 165, 40, REASON_DISK},
	{"umount", 166, 39, REASON_DISK},
	{"mmap", 9, 222, REASON_MEMORY},
	{"mprotect", 10, 226, REASON_MEMORY},
	{"munmap", 11, 215, REASON_MEMORY},
	{"brk", 12, 214, REASON_MEMORY},
	{"mremap", 25, 216, REASON_MEMORY},
	{"madvise", 28, 233, REASON_MEMORY},
	{"sched_setaffinity", 203, 122, REASON_MIGRATION},
	{"getrandom", 318, 278, REASON_RANDOM},
	{"membarrier", 324, 283, REASON_RCU},
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
	static const char *const prefixes[] = {
		"__x64_sys_", "__arm64_sys_", "__do_sys_", "__se_sys_", "ksys_", "__ia32_sys_",
		"__ia32_compat_sys_", "__arm64_compat_sys_", "__do_compat_sys_",
	};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
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
	const struct blocking *found = bsearch(name, functions, sizeof(functions) / sizeof(*functions),
					       sizeof(*functions), compare_name);
	const char *call = found ? NULL : call_of_function(name);
	for (size_t i = 0; call && i < sizeof(calls) / sizeof(*calls); i++)
		if (is_call(call, calls[i].name))
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
