/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deterministic simulation of the recorder (lib/capture, ring, event, writer, proc).
 *
 * The program `simulate` contains the library unchanged. The linker redirects every call that leaves
 * the library (calls.txt, -Wl,--wrap) to functions here, which simulate Linux: a clock, CPUs, tasks,
 * perf events with ring buffers, descriptors, a disk, /proc and /sys. Outside of a session (`inside`
 * is false) the calls reach the C library.
 *
 * Threads are real, but only the thread with the baton runs (threads.c). It passes the baton at a
 * wrapped call only. A seeded generator chooses the next thread, and how far the clock advances at a
 * call; while the clock advances, the simulated kernel runs its queue of events (clock.c). So a
 * scenario and a seed determine each byte of a recording. Addresses of the process do not influence it:
 * no generated identifier or order is derived from one.
 *
 *	calls*.c         wrapped calls: checks, faults, and dispatch to the parts below
 *	threads.c        baton, and when a blocked thread may go on
 *	clock.c          virtual time, random numbers, queue of the kernel's events
 *	tasks.c          processes, threads, CPUs, hotplug
 *	workload.c       behaviour of tasks
 *	stacks.c         executable with unwind information, and stacks of its functions
 *	blocked.c        waits of tasks, as /proc and process_vm_readv(2) show them (blocked.h)
 *	perf_events.c    perf_event_open(2), ioctl(2), read(2), counters and timers
 *	perf_records.c   records
 *	perf_rings.c     ring buffers (perf_rings.h)
 *	files.c          disk with capacity and latency, paths
 *	descriptors.c    descriptor table, pipes, timers, eventfd, epoll
 *	proc_fs.c        contents of /proc and /sys
 *	scenarios.c      sessions
 *	session.c        a recorder's life, as `sprof record` drives it
 *	oracles.c        checks after a run
 *	waits.c          checks of waits after a run
 *	snapshots.c      checks of stack snapshots after a run
 *	states.c         checks of threads' states after a run (states.h)
 *	ranges.c         checks of states and reports of ranges of time
 *
 * Times are nanoseconds of the virtual CLOCK_MONOTONIC unless a comment states another unit. A run is a
 * process of its own; nothing is freed before it exits, except descriptors and mappings, which are
 * checked for leaks.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define SIM_PID 1000        /* process of the recorder */
#define SIM_CPUS_MAX 1024
#define SIM_REALTIME_NS UINT64_C(1700000000000000000) /* CLOCK_REALTIME - CLOCK_MONOTONIC */
#define SIM_MS UINT64_C(1000000)
#define SIM_WAKING 315      /* id of the tracepoint sched:sched_waking */

/* Text of a macro's value. */
#define SIM_TEXT(macro) SIM_TEXT_OF(macro)
#define SIM_TEXT_OF(value) #value

/* -- clock.c --------------------------------------------------------------- */

enum sim_stream { SIM_WORLD, SIM_SCHEDULE, SIM_FAULTS, SIM_WAITS, SIM_STREAMS };

/* A number below `bound` (not 0). Streams are independent of each other. */
uint64_t sim_random(enum sim_stream stream, uint64_t bound);
/* True with a probability of `percent`. */
bool sim_chance(enum sim_stream stream, unsigned int percent);
void sim_seed(uint64_t seed);
void sim_seed_stream(enum sim_stream stream, uint64_t seed);

/* Runs `run` at that time. */
void sim_at(uint64_t ns, void (*run)(void *arg, uint64_t number), void *arg, uint64_t number);
/* Time of the next event; UINT64_MAX: none. */
uint64_t sim_next_ns(void);
/* Advances the clock, and runs all events up to then. */
void sim_advance(uint64_t to_ns);
/* A time that no record has yet; the clock is not behind it. */
uint64_t sim_stamp(void);

/* -- threads.c ------------------------------------------------------------- */

/* Makes the calling thread the first one. */
void sim_threads_begin(void);
/* Lets another thread run, or not, as the generator decides. */
void sim_yield(void);
/* Waits until `ready` is true, or that time (UINT64_MAX: no limit). Returns whether it is ready. */
bool sim_wait(bool (*ready)(void *arg), void *arg, uint64_t until_ns);
void sim_sleep(uint64_t ns);
size_t sim_threads_alive(void);
unsigned int sim_thread_index(void);
/* Detects endless loops: each wrapped call at the same virtual time counts. */
void sim_note_progress(void);

/* -- Failures -------------------------------------------------------------- */

/* Notes that the recorder broke a rule. The run goes on; its result is a failure. */
void sim_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and the run cannot go on. */
void sim_fatal(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* -- tasks.c --------------------------------------------------------------- */

struct sim_context;

struct sim_map {
	uint64_t start, size, offset;
	uint32_t prot;
	uint64_t ino;
	const char *path;
	const uint8_t *build_id; /* 20 bytes; NULL: none */
};

struct sim_process {
	uint32_t pid, ppid, uid;
	struct sim_map maps[16];
	unsigned int map_count, threads;
	int status;
	bool ended, reaped;
	const char *exe;
	bool was_read;          /* the recorder has read its mappings */
	uint64_t replaced_ns;   /* last exec before that; 0: none */
	/* changes on a CPU with events that were not reopened: unknown before that time */
	uint64_t unknown_until_ns;
	int unknown_cpu;        /* while that time is UINT64_MAX; -1: its events have been reopened */
};

/* States of a task. After a wait it is SIM_WOKEN until it runs, after a preemption or fork SIM_RUNNABLE. */
enum sim_state { SIM_BLOCKED, SIM_WOKEN, SIM_RUNNABLE, SIM_RUNNING, SIM_ENDED };

/* A state from that time until the next span's. */
struct sim_span {
	uint64_t begin_ns;
	enum sim_state state;
};

struct sim_task {
	struct sim_process *process;
	uint32_t tid;
	char comm[16];
	int cpu, last_cpu;      /* cpu -1: it does not run */
	bool ended, waits_exec, queued, killed;
	uint64_t start_ns, used_ns, on_since_ns;
	uint64_t burst_ns;      /* CPU time before it sleeps */
	uint32_t generation;    /* generation of its event in the queue */
	struct sim_context *context; /* its events; NULL: none */
	unsigned int children;
	uint64_t samples;
	struct sim_span *spans;  /* the scheduler's account */
	size_t span_count, span_room;
	uint64_t first_schedstat_ns, last_schedstat_ns; /* times that the recorder read it; 0: never */
	bool uncertain;         /* it, or its ancestor, was made while the events were opened */
	bool followed;          /* a target of the recording, or descends from one */
	struct sim_wait *waits; /* in order of time */
	size_t wait_count, wait_room;
	uint64_t states_ns;     /* sum of its states in all files */
};

struct sim_cpu {
	bool online;
	struct sim_task *current; /* NULL: idle */
	struct sim_task **queue;
	unsigned int queued, room;
	struct sim_context *context; /* events of the whole CPU */
	uint32_t generation;
	bool reopens;           /* it was offline, and its events have not been opened again */
};

/* Behaviour of the tasks of a session; percentages are of the ends of a burst. */
struct sim_workload {
	unsigned int tasks;               /* at the begin; for a command, 1 */
	unsigned int burst_us, sleep_us;  /* mean */
	unsigned int slice_us;            /* preempted after that; 0: 4 ms */
	unsigned int thread, fork, exec, map, comm, end; /* percent */
	unsigned int most;                /* tasks at once */
	unsigned int life_ms;             /* the command ends then; 0: never */
	unsigned int kernel;              /* percent of samples in the kernel */
	unsigned int throttle;            /* per mille of samples that throttle their event */
	unsigned int hotplug_ms;          /* a CPU goes off or on that often; 0: never */
	unsigned int sleepers;            /* tasks at the begin that never wake */
	unsigned int long_sleep, forever; /* percent of sleeps: 100 times as long, without an end */
	bool others;                      /* every third task is root's, and another is a kernel thread */
	bool lost_exec;                   /* the ring is full before the command's exec */
	bool refuses_own;                 /* no event of the command alone can be opened */
};

struct sim_machine {
	struct sim_cpu cpus[SIM_CPUS_MAX];
	unsigned int cpu_count;
	struct sim_task **tasks;
	size_t task_count, alive;
	struct sim_process *recorder;
	uint32_t next_pid;
	struct sim_workload workload;
	struct sim_task *command;         /* forked by the recorder */
};

void sim_tasks_begin(unsigned int cpus, const struct sim_workload *workload);
struct sim_task *sim_task_find(uint32_t tid);
struct sim_process *sim_process_find(uint32_t pid);
struct sim_task *sim_task_new(struct sim_task *parent, bool thread);
void sim_task_exec(struct sim_task *task, const char *comm);
void sim_task_end(struct sim_task *task, int status);
void sim_task_wake(struct sim_task *task);
/* Takes the task off its CPU; another one runs there. */
void sim_task_off(struct sim_task *task);
void sim_task_map(struct sim_task *task, bool library);
/* The recorder reads the process's mappings. */
void sim_process_read(struct sim_process *process);
/* The CPU's events report changes of tasks from now on. */
void sim_cpu_reopened(unsigned int cpu);
void sim_cpu_switch(unsigned int cpu, bool online);
/* Ends all tasks' activity: the session is over. */
void sim_tasks_end(void);

/* -- workload.c ------------------------------------------------------------ */

/* Next action at the end of a burst. */
void sim_task_act(struct sim_task *task);
void sim_command_begin(struct sim_task *task);
void sim_workload_begin(void);

/* -- stacks.c -------------------------------------------------------------- */

#define SIM_DEPTH_MAX 24
#define SIM_STACK_TOP UINT64_C(0x7ffd00000000)

struct sim_image {
	const char *path;
	uint8_t *bytes;
	size_t size;
	uint8_t build_id[20];
	uint64_t ino;
};

/* State of a thread at a sample. */
struct sim_stack {
	uint64_t ip, sp, bp;
	uint64_t chain[SIM_DEPTH_MAX]; /* return addresses, callers last */
	unsigned int depth;
	bool kernel, idle;
	uint64_t kernel_chain[4];
	unsigned int kernel_depth;
	uint8_t bytes[8192];           /* from sp to the stack's end */
	size_t size;
};

extern struct sim_image sim_images[2]; /* the executable and a library */
void sim_images_begin(void);
/* `task` NULL: the idle task. */
void sim_stack_make(const struct sim_task *task, struct sim_stack *stack);
/* Makes a user stack that ends at `top`, with addresses in the first `maps` mappings. */
void sim_stack_make_user(const struct sim_process *process, unsigned int maps, uint64_t top,
			 enum sim_stream stream, struct sim_stack *stack);
uint64_t sim_stack_hash(const struct sim_stack *stack);

/* -- perf_events.c, perf_records.c, perf_rings.c -------------------------- */

struct sim_ring {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t size;
	void *map;               /* the recorder's mapping */
	size_t map_size;
	uint64_t head, tail_seen, wakeup, watermark;
	uint64_t lost;           /* to be reported by a LOST record */
	bool overwrite, paused, pollable;
	uint32_t number;
};

struct sim_event {
	struct perf_event_attr attr;
	uint64_t id;
	int32_t pid, cpu;        /* arguments of perf_event_open(2) */
	struct sim_event *output; /* NULL: its own ring */
	struct sim_ring *ring;
	bool enabled, ever_on, closed, detached, throttled, task_gone;
	bool running;            /* it counts now */
	uint64_t running_since, left_ns, count_ns, lost, wakeups;
	uint64_t enabled_since, enabled_ns; /* CPU-wide events only */
	uint64_t changed_ns;     /* its period since PERF_EVENT_IOC_PERIOD; 0: that of the attr */
	bool is_changed;         /* its period changed after its last sample */
	uint32_t generation;
	unsigned int tasks;      /* alive, that it counts */
	struct sim_open *open;
};

struct sim_context {
	struct sim_event **events;
	size_t count, room;
	unsigned int users;
};

enum sim_fate { SIM_PUT, SIM_LOST, SIM_OVERWRITTEN };

/* A record that the kernel made, or could not put into its ring. */
struct sim_truth {
	uint64_t time_ns, id, ip, chain_hash;
	uint64_t period_ns; /* a clock's, in force; the record may state another */
	bool is_first;      /* since the period changed */
	uint32_t type, pid, tid, cpu, ring;
	uint16_t misc;
	enum sim_fate fate;
	bool whole_cpu;
	uint32_t woken, wakeup; /* samples of sched_waking: the thread, and the wake-up's number from 1 on */
};

struct sim_perf {
	struct sim_event **events;
	size_t event_count;
	struct sim_truth *truth;
	size_t truth_count, truth_room;
	uint64_t lost_records;   /* reported by LOST records in rings */
	uint64_t throttles;
};

extern struct sim_perf sim_perf;
int sim_perf_open(struct perf_event_attr *attr, int32_t pid, int32_t cpu, int group_fd,
		  unsigned long flags);
int sim_perf_ioctl(struct sim_event *event, unsigned long request, unsigned long arg);
ssize_t sim_perf_read(struct sim_event *event, void *buffer, size_t size);
void *sim_perf_map(struct sim_event *event, size_t size, int prot, uint64_t offset);
void sim_perf_unmap(struct sim_ring *ring);
unsigned int sim_perf_poll(struct sim_event *event, bool peek);
void sim_perf_close(struct sim_event *event);
/* Checks data_tail of a ring, and overwrites what was released with garbage. */
void sim_ring_check(struct sim_ring *ring);

void sim_perf_switch(struct sim_task *task, unsigned int cpu, bool in);
void sim_perf_fork(struct sim_task *parent, struct sim_task *child, bool thread);
void sim_perf_exit(struct sim_task *task);
void sim_perf_exec(struct sim_task *task);
void sim_perf_cpu(unsigned int cpu, bool online);

void sim_record_sample(struct sim_event *event, struct sim_task *task, unsigned int cpu,
		       uint64_t period);
void sim_record_throttle(struct sim_event *event, unsigned int cpu, bool on);
/* Side-band of a task on a CPU, to all events that want it. */
void sim_record_task(struct sim_task *from, struct sim_task *task, uint32_t type);
void sim_record_comm(struct sim_task *task, bool exec);
void sim_record_map(struct sim_task *task, const struct sim_map *map);
/* Samples of sched:sched_waking on the CPU. */
void sim_record_waking(const struct sim_task *woken, unsigned int cpu);
/* `misc`: PERF_RECORD_MISC_SWITCH_OUT*, or 0. Events of context switches sample it first. */
void sim_record_switch(struct sim_task *task, uint16_t misc);

/* -- files.c --------------------------------------------------------------- */

struct sim_inode {
	uint64_t ino, size, allocated;
	uint8_t *bytes;
	uint64_t room, mtime_ns;
	unsigned int links, opens;
	bool is_directory;
	bool is_kernel;          /* on /proc or /sys: `size` is shown as 0 */
};

struct sim_disk {
	uint64_t capacity, used;
	uint64_t write_ns, sync_ns; /* latency of a call; of writes, per MiB */
	uint64_t stall_ns;       /* now and then a write takes that */
};

extern struct sim_disk sim_disk;
void sim_files_begin(void);
/* An absolute path without ".", links and /proc/PID/root. Returns `room`, or NULL with errno. */
char *sim_path(int folder, const char *path, char *room, size_t size);
/* NULL: there is none; errno is set. Contents of /proc are made anew. */
struct sim_inode *sim_file_find(const char *path);
struct sim_inode *sim_file_new(const char *path, bool is_directory);
struct sim_inode *sim_file_unnamed(void);
void sim_file_link(struct sim_inode *inode, const char *path);
void sim_file_unlink(const char *path);
void sim_file_release(struct sim_inode *inode);
/* Returns how much was written; 0 with errno set if nothing was. */
size_t sim_file_write(struct sim_inode *inode, const void *bytes, size_t size, uint64_t offset);
/* Returns 0 or an errno. */
int sim_file_allocate(struct sim_inode *inode, uint64_t end);
void sim_file_resize(struct sim_inode *inode, uint64_t size);
/* Path number `index` in a folder; NULL: there are no more. */
const char *sim_file_entry(const char *folder, size_t index);
/* Calls `visit` for each file below /out. */
void sim_files_visit(void (*visit)(const char *path, const struct sim_inode *inode, void *arg),
		     void *arg);

/* -- proc_fs.c ------------------------------------------------------------- */

/* Whether the path is in /proc or /sys. */
bool sim_proc_has(const char *path);
/* Contents of such a file, allocated; NULL: there is none. A folder's are its names, one a line. */
char *sim_proc_read(const char *path, size_t *size_ret, bool *is_directory_ret);
/* Returns the user of a process with the folder `path`; of other paths: root. */
uint32_t sim_proc_uid(const char *path);

/* -- descriptors.c --------------------------------------------------------- */

enum sim_kind {
	SIM_FILE, SIM_EVENT, SIM_EPOLL, SIM_COUNTER, SIM_TIMER, SIM_PIPE, SIM_PIDFD, SIM_SOCKET,
	SIM_NULL,
};

/* An open file description. */
struct sim_open {
	enum sim_kind kind;
	unsigned int references;
	int flags;
	uint64_t changes;             /* counts what may have made it ready */
	char *path;
	struct sim_inode *inode;
	uint64_t offset;
	struct sim_event *event;
	uint64_t value;               /* SIM_COUNTER */
	uint64_t next_ns, each_ns;    /* SIM_TIMER */
	uint32_t generation;
	struct sim_open *peer;        /* SIM_PIPE: the other end; NULL: closed */
	uint8_t bytes[256];
	size_t filled;
	bool child_has_peer;          /* SIM_PIPE: so does the command that waits */
	struct sim_process *process;  /* SIM_PIDFD */
	unsigned int messages;        /* SIM_SOCKET */
	struct sim_watch *watches;    /* SIM_EPOLL */
	size_t watch_count;
};

struct sim_watch {
	int fd;
	struct sim_open *open;
	uint32_t events;
	uint64_t data, seen_changes;
};

int sim_fd_new(struct sim_open *open, int lowest);
/* Whether some epoll waits for it. */
bool sim_is_watched(const struct sim_open *open);
struct sim_open *sim_open_new(enum sim_kind kind, int flags);
/* NULL: it is not open; errno is EBADF and the run has failed. */
struct sim_open *sim_fd(int fd);
/* The same, without a failure. */
struct sim_open *sim_fd_peek(int fd);
int sim_fd_close(int fd);
size_t sim_fd_count(void);
int sim_fd_next(int fd); /* the next one that is open, or -1 */
/* EPOLL* bits. With `peek`, the wake-up of a ring is not consumed. */
unsigned int sim_poll(struct sim_open *open, bool peek);
/* Does the same as epoll_wait(2). */
int sim_epoll_ready(struct sim_open *epoll, struct sim_watch *ret, int most, bool peek);
int sim_epoll_control(struct sim_open *epoll, int request, int fd, uint32_t events, uint64_t data);
void sim_timer_set(struct sim_open *timer, uint64_t first_ns, uint64_t each_ns);
ssize_t sim_descriptor_read(struct sim_open *open, void *buffer, size_t size);
ssize_t sim_descriptor_write(struct sim_open *open, const void *buffer, size_t size);
/* A pipe, or a pair of sockets. */
int sim_pipe(int fds[2]);
/* The child of fork(2) has the recorder's pipes; it waits for a byte, then executes its command. */
int sim_fork(void);
void sim_child_step(void);
/* Something may have become ready. */
void sim_changed(struct sim_open *open);
void sim_event_changed(const struct sim_event *event);
void sim_process_changed(const struct sim_process *process);
void sim_hotplug_changed(void);
/* calls_system.c: waits as poll(2) does for one descriptor. False: that time came first. */
bool sim_wait_for(int fd, uint64_t until_ns);

/* -- The simulation -------------------------------------------------------- */

struct sim {
	bool inside;             /* calls are simulated */
	uint64_t now_ns, limit_ns;
	uint64_t calls, fallible; /* wrapped ones so far; those that may fail */
	uint64_t fault_at, kill_at; /* the fallible call that fails, the call at which all ends; 0: none */
	bool steady;             /* calls take no time, and threads change only where one waits */
	uint64_t stall_ns;       /* longest time that a runnable thread waits for a CPU */
	const char *fault_name;  /* name of the failed one; NULL: none failed yet */
	int fault_errno;
	void (*on_kill)(void);
	unsigned int violations;
	uint64_t changes;        /* counts sim_changed() */
	uint64_t stat_ns;        /* last time that the recorder read a task's state; 0: never */
	int verbose;             /* 1: notes and totals, 2: events too */
	unsigned int ranges;     /* random ranges that are checked in each file */
	struct sim_user {        /* The recorder's user. */
		uint32_t uid;
		int paranoid;    /* kernel.perf_event_paranoid is 1 below that */
		bool yama;       /* kernel.yama.ptrace_scope is 1 */
	} user;
	unsigned int pauses;     /* percent of reads of a stack before which the recorder is preempted */
	size_t mappings;         /* number of the recorder's mappings */
	uint64_t allocated, opened; /* by the recorder: bytes on the heap, files */
};

extern struct sim sim;
extern struct sim_machine sim_machine;

/* Whether calls of this thread are simulated. */
static inline bool sim_inside(void)
{
	return sim.inside;
}

/*
 * Begins a simulated call: time passes, another thread may run. Returns 0, or the errno that it fails
 * with; `errnos` ends with 0, NULL: it cannot fail.
 */
int sim_enter(const char *name, const int *errnos);

#endif
