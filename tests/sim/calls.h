/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All calls that the linker redirects: the same names are in calls.txt, the linker's response file.
 * __wrap_X is the simulation's, __real_X the C library's.
 */
#ifndef SIM_CALLS_H
#define SIM_CALLS_H

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>

typedef struct Elf Elf;

#define SIM_CALL(type, name, ...)                                                              \
	type __real_##name(__VA_ARGS__);                                                       \
	type __wrap_##name(__VA_ARGS__)

/* threads.c */
SIM_CALL(int, pthread_create, pthread_t *handle, const pthread_attr_t *attr, void *(*run)(void *),
	 void *arg);
SIM_CALL(int, pthread_join, pthread_t handle, void **result_ret);
SIM_CALL(int, pthread_mutex_lock, pthread_mutex_t *mutex);
SIM_CALL(int, pthread_mutex_unlock, pthread_mutex_t *mutex);
SIM_CALL(int, pthread_rwlock_rdlock, pthread_rwlock_t *lock);
SIM_CALL(int, pthread_rwlock_wrlock, pthread_rwlock_t *lock);
SIM_CALL(int, pthread_rwlock_unlock, pthread_rwlock_t *lock);
SIM_CALL(int, pthread_cond_wait, pthread_cond_t *condition, pthread_mutex_t *mutex);
SIM_CALL(int, pthread_cond_signal, pthread_cond_t *condition);
SIM_CALL(int, pthread_cond_broadcast, pthread_cond_t *condition);
SIM_CALL(int, pthread_getcpuclockid, pthread_t thread, clockid_t *ret);

/* calls_files.c */
SIM_CALL(int, open, const char *path, int flags, ...);
SIM_CALL(int, openat, int folder, const char *path, int flags, ...);
SIM_CALL(int, __open_2, const char *path, int flags);
SIM_CALL(int, __openat_2, int folder, const char *path, int flags);
SIM_CALL(int, access, const char *path, int mode);
SIM_CALL(int, stat, const char *path, struct stat *ret);
SIM_CALL(int, lstat, const char *path, struct stat *ret);
SIM_CALL(int, fstat, int fd, struct stat *ret);
SIM_CALL(int, fstatat, int folder, const char *path, struct stat *ret, int flags);
SIM_CALL(int, fstatfs, int fd, struct statfs *ret);
SIM_CALL(off_t, lseek, int fd, off_t offset, int whence);
SIM_CALL(int, ftruncate, int fd, off_t size);
SIM_CALL(int, fallocate, int fd, int mode, off_t offset, off_t size);
SIM_CALL(int, fsync, int fd);
SIM_CALL(int, fdatasync, int fd);
SIM_CALL(int, flock, int fd, int operation);
SIM_CALL(int, link, const char *from, const char *to);
SIM_CALL(int, linkat, int from_folder, const char *from, int to_folder, const char *to, int flags);
SIM_CALL(int, rename, const char *from, const char *to);
SIM_CALL(int, renameat, int from_folder, const char *from, int to_folder, const char *to);
SIM_CALL(int, renameat2, int from_folder, const char *from, int to_folder, const char *to,
	 unsigned int flags);
SIM_CALL(int, unlink, const char *path);
SIM_CALL(int, futimens, int fd, const struct timespec times[2]);
SIM_CALL(int, unlinkat, int folder, const char *path, int flags);
SIM_CALL(int, mkdir, const char *path, mode_t mode);
SIM_CALL(int, mkdirat, int folder, const char *path, mode_t mode);
SIM_CALL(int, rmdir, const char *path);
SIM_CALL(ssize_t, readlink, const char *path, char *room, size_t size);
SIM_CALL(ssize_t, __readlink_chk, const char *path, char *room, size_t size, size_t most);
SIM_CALL(DIR *, opendir, const char *path);
SIM_CALL(DIR *, fdopendir, int fd);
SIM_CALL(struct dirent *, readdir, DIR *directory);
SIM_CALL(int, closedir, DIR *directory);
SIM_CALL(int, dirfd, DIR *directory);
SIM_CALL(int, name_to_handle_at, int folder, const char *path, struct file_handle *handle,
	 int *mount, int flags);

/* calls_data.c */
SIM_CALL(ssize_t, read, int fd, void *buffer, size_t size);
SIM_CALL(ssize_t, __read_chk, int fd, void *buffer, size_t size, size_t most);
SIM_CALL(ssize_t, pread, int fd, void *buffer, size_t size, off_t offset);
SIM_CALL(ssize_t, __pread_chk, int fd, void *buffer, size_t size, off_t offset, size_t most);
SIM_CALL(ssize_t, write, int fd, const void *buffer, size_t size);
SIM_CALL(ssize_t, pwrite, int fd, const void *buffer, size_t size, off_t offset);
SIM_CALL(ssize_t, writev, int fd, const struct iovec *spans, int count);
SIM_CALL(ssize_t, pwritev, int fd, const struct iovec *spans, int count, off_t offset);
SIM_CALL(ssize_t, sendfile, int to, int from, off_t *offset, size_t size);
SIM_CALL(int, close, int fd);
SIM_CALL(int, fcntl, int fd, int request, ...);
SIM_CALL(int, isatty, int fd);
SIM_CALL(void *, mmap, void *at, size_t size, int prot, int flags, int fd, off_t offset);
SIM_CALL(int, munmap, void *at, size_t size);
SIM_CALL(int, madvise, void *at, size_t size, int advice);
SIM_CALL(int, memfd_create, const char *name, unsigned int flags);

/* libelf reads the file by itself. */
SIM_CALL(Elf *, elf_begin, int fd, int command, Elf *reference);

/* calls_system.c */
SIM_CALL(long, syscall, long number, ...);
SIM_CALL(int, ioctl, int fd, unsigned long request, ...);
/* openat2(2) with RESOLVE_IN_ROOT */
int sim_openat2(int folder, const char *path, int flags);
SIM_CALL(int, epoll_create1, int flags);
SIM_CALL(int, epoll_ctl, int epoll, int request, int fd, struct epoll_event *event);
SIM_CALL(int, epoll_wait, int epoll, struct epoll_event *events, int most, int timeout_ms);
SIM_CALL(int, poll, struct pollfd *fds, nfds_t count, int timeout_ms);
SIM_CALL(int, eventfd, unsigned int value, int flags);
SIM_CALL(int, eventfd_read, int fd, eventfd_t *ret);
SIM_CALL(int, eventfd_write, int fd, eventfd_t value);
SIM_CALL(int, timerfd_create, clockid_t clock, int flags);
SIM_CALL(int, timerfd_settime, int fd, int flags, const struct itimerspec *value,
	 struct itimerspec *before);
SIM_CALL(int, pipe2, int fds[2], int flags);
SIM_CALL(int, socketpair, int domain, int type, int protocol, int fds[2]);
SIM_CALL(int, socket, int domain, int type, int protocol);
SIM_CALL(int, bind, int fd, const struct sockaddr *address, socklen_t size);
SIM_CALL(int, setsockopt, int fd, int level, int name, const void *value, socklen_t size);
SIM_CALL(ssize_t, recv, int fd, void *buffer, size_t size, int flags);
SIM_CALL(ssize_t, __recv_chk, int fd, void *buffer, size_t size, size_t most, int flags);
SIM_CALL(ssize_t, send, int fd, const void *buffer, size_t size, int flags);

/* calls_process.c */
SIM_CALL(pid_t, fork, void);
SIM_CALL(int, kill, pid_t pid, int number);
SIM_CALL(int, waitid, idtype_t type, id_t id, siginfo_t *ret, int options);
SIM_CALL(pid_t, wait4, pid_t pid, int *status, int options, struct rusage *usage);
SIM_CALL(pid_t, waitpid, pid_t pid, int *status, int options);
SIM_CALL(pid_t, getpid, void);
SIM_CALL(uid_t, geteuid, void);
SIM_CALL(int, getrlimit, int resource, struct rlimit *ret);
SIM_CALL(int, setrlimit, int resource, const struct rlimit *limit);
SIM_CALL(ssize_t, process_vm_readv, pid_t pid, const struct iovec *local, unsigned long local_count,
	 const struct iovec *remote, unsigned long remote_count, unsigned long flags);
SIM_CALL(int, sched_getaffinity, pid_t pid, size_t size, cpu_set_t *ret);
SIM_CALL(int, sched_setaffinity, pid_t pid, size_t size, const cpu_set_t *set);
SIM_CALL(int, clock_gettime, clockid_t clock, struct timespec *ret);
SIM_CALL(int, clock_nanosleep, clockid_t clock, int flags, const struct timespec *time,
	 struct timespec *left_ret);
SIM_CALL(int, clock_getres, clockid_t clock, struct timespec *ret);
SIM_CALL(int, uname, struct utsname *ret);
SIM_CALL(long, sysconf, int name);
SIM_CALL(unsigned long, getauxval, unsigned long type);
/* calls.c */
SIM_CALL(void *, malloc, size_t size);
SIM_CALL(void *, calloc, size_t count, size_t size);
SIM_CALL(void *, realloc, void *block, size_t size);
/* calls_folders.c */
SIM_CALL(int, fsopen, const char *name, unsigned int flags);

#endif
