/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Meters on real events: every way to open, read, enable, and receive notifications. */
#include <sprof/meter.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "event/kernel_calls.h"
#include "tap.h"

DEFINE_CLEANUP(struct sp_ctx *, sp_ctx_free)
DEFINE_CLEANUP(struct sp_meter *, sp_meter_free)
#define METER CLEANUP(cleanup_sp_meter_free) struct sp_meter

/* Events of user space alone need no rights. */
#define FAULTS "page-faults:u"

/* `options` need no size. */
static struct sp_error *open_sized(struct sp_ctx *ctx, const struct sp_meter_options *options,
				   struct sp_meter **ret)
{
	struct sp_meter_options copy = *options;
	copy.size = sizeof(copy);
	return sp_meter_open(ctx, &copy, ret);
}

static struct sp_meter *open_meter(struct sp_ctx *ctx, const struct sp_meter_options *options)
{
	struct sp_meter *meter = NULL;
	tap_need(open_sized(ctx, options, &meter));
	return meter;
}

/* NULL where this machine, kernel or user may not: a line says so. */
static struct sp_meter *try_meter(struct sp_ctx *ctx, const struct sp_meter_options *options,
				  const char *what)
{
	struct sp_meter *meter = NULL;
	struct sp_error *error = open_sized(ctx, options, &meter);
	if (error)
		tap_skip(what, sp_error_message(error));
	sp_error_free(error);
	return meter;
}

/* Causes `pages` page faults. */
static void fault(unsigned int pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* Each alone: neither around nor in a huge page. */
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, pages * page, MADV_NOHUGEPAGE);
	for (unsigned int i = 0; i < pages; i++)
		*(volatile char *)(memory + i * page) = 1;
	munmap(memory, pages * page);
}

/* Sanitizers have page faults of their own. */
static bool about(uint64_t value, uint64_t wanted)
{
	return value >= wanted && value <= wanted + 40;
}

static void test_reading(struct sp_ctx *ctx)
{
	METER *meter = open_meter(ctx, &(struct sp_meter_options){
					       .events = "{task-clock:u," FAULTS ",cs:u}"});
	struct sp_count counts[3], whole[3];
	tap_result(sp_meter_count(meter) == 3 && !strcmp(sp_meter_name(meter, 1), FAULTS),
		   "a group has its events");
	tap_need(sp_meter_begin(meter));
	fault(100);
	tap_need(sp_meter_end(meter, counts));
	tap_result(about(counts[1].value, 100), "100 page faults are counted: %llu",
		   (unsigned long long)counts[1].value);
	tap_result(counts[0].value && counts[0].enabled_ns && counts[0].running_ns == counts[0].enabled_ns,
		   "time is, and no turns were taken");
	tap_need(sp_meter_read(meter, whole));
	tap_result(whole[1].value >= counts[1].value && whole[0].enabled_ns > counts[0].enabled_ns,
		   "the whole is more than a part");
	uint64_t id = 0;
	tap_need(sp_meter_id(meter, 1, &id));
	tap_result(id && whole[1].id == id && whole[0].id != id, "ids identify events");
	tap_result(sp_count_scaled(&counts[1]) == (double)counts[1].value, "what ran is not scaled");
	tap_result(fcntl(sp_meter_fd(meter, 0), F_GETFD) & FD_CLOEXEC, "descriptors end with exec");
	METER *kept = open_meter(ctx, &(struct sp_meter_options){.events = FAULTS,
								 .flags = SP_METER_KEEP_ON_EXEC});
	tap_result(!(fcntl(sp_meter_fd(kept, 0), F_GETFD) & FD_CLOEXEC), "or do not, if asked");
	const struct sp_meter_options refused = {.events = "duration_time," FAULTS};
	struct sp_meter *none = NULL;
	int before = fcntl(0, F_GETFD);
	struct sp_error *error = open_sized(ctx, &refused, &none);
	tap_result(error && fcntl(0, F_GETFD) == before, "a failure closes no descriptor 0");
	sp_error_free(error);
}

/* Every read format, alone and as a group. */
static void test_formats(struct sp_ctx *ctx)
{
	unsigned int bad = 0, refused = 0;
	for (uint64_t format = 1; format < 32; format++) {
		struct sp_meter_options options = {.events = FAULTS ",cs:u", .read_format = format};
		struct sp_meter *meter = NULL;
		struct sp_count counts[2] = {0};
		if (!(format & PERF_FORMAT_GROUP))
			options.flags = SP_METER_APART;
		struct sp_error *error = open_sized(ctx, &options, &meter);
		if (error) {
			/* PERF_FORMAT_LOST is of Linux 6.0. */
			refused += !(format & EVENT_FORMAT_LOST);
			sp_error_free(error);
			continue;
		}
		fault(20);
		tap_need(sp_meter_read(meter, counts));
		bool times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED) ? counts[0].enabled_ns > 0
								      : !counts[0].enabled_ns;
		bool ran = (format & PERF_FORMAT_TOTAL_TIME_RUNNING) ? counts[0].running_ns > 0
								    : !counts[0].running_ns;
		bool ids = (format & PERF_FORMAT_ID) ? counts[0].id && counts[1].id > counts[0].id
						     : !counts[0].id && !counts[1].id;
		bad += !(about(counts[0].value, 20) && times && ran && ids && counts[1].value < 1000);
		sp_meter_free(meter);
	}
	tap_result(!bad && !refused, "all read formats are read");
}

static void test_switching(struct sp_ctx *ctx)
{
	METER *meter = open_meter(ctx, &(struct sp_meter_options){.events = "{" FAULTS ",faults:u}",
								  .flags = SP_METER_DISABLED});
	struct sp_count counts[2];
	fault(10);
	tap_need(sp_meter_read(meter, counts));
	tap_result(!counts[0].value && !counts[1].value, "nothing is counted before it is enabled");
	tap_need(sp_meter_enable(meter, SP_METER_GROUP));
	fault(10);
	tap_need(sp_meter_disable(meter, SP_METER_GROUP));
	fault(10);
	tap_need(sp_meter_read(meter, counts));
	tap_result(about(counts[0].value, 10) && counts[1].value == counts[0].value,
		   "a group is switched as one");
	tap_need(sp_meter_reset(meter, 1));
	tap_need(sp_meter_read(meter, counts));
	tap_result(counts[0].value && !counts[1].value, "one is set to 0");
	tap_need(sp_meter_reset(meter, SP_METER_GROUP));
	tap_need(sp_meter_read(meter, counts));
	tap_result(!counts[0].value, "all are");
	tap_need(sp_meter_enable(meter, SP_METER_GROUP));
	tap_need(sp_meter_disable_all());
	fault(10);
	tap_need(sp_meter_read(meter, counts));
	uint64_t before = counts[0].value;
	tap_need(sp_meter_enable_all());
	fault(10);
	tap_need(sp_meter_read(meter, counts));
	tap_result(before < 5 && about(counts[0].value, 10), "prctl switches the thread's events");
}

static void test_targets(struct sp_ctx *ctx)
{
	int go[2], done[2];
	char byte = 0;
	struct sp_count count;
	if (pipe(go) || pipe(done))
		return;
	pid_t child = fork();
	if (!child) {
		close(go[1]);
		while (read(go[0], &byte, 1) == 1) {
			fault(50);
			if (write(done[1], &byte, 1) < 0)
				_exit(1);
		}
		_exit(0);
	}
	close(go[0]);
	METER *task = open_meter(ctx, &(struct sp_meter_options){
					      .events = FAULTS, .target = SP_METER_TASK, .tid = child});
	bool said = write(go[1], &byte, 1) == 1 && read(done[0], &byte, 1) == 1;
	tap_need(sp_meter_read(task, &count));
	tap_result(said && count.value >= 50 && count.value < 200, "another task is counted: %llu",
		   (unsigned long long)count.value);
	tap_result(!sp_meter_read_user(task, 0, &count), "but not read in user space");
	METER *cpu = try_meter(ctx, &(struct sp_meter_options){.events = "cpu-clock",
							       .target = SP_METER_CPU},
			       "a CPU is counted");
	METER *group = try_meter(ctx, &(struct sp_meter_options){.events = "cpu-clock", .cgroup = "/",
								 .target = SP_METER_CGROUP},
				 "a control group is counted");
	usleep(20000);
	if (cpu) {
		tap_need(sp_meter_read(cpu, &count));
		tap_result(count.value > 10000000, "a CPU is counted");
	}
	if (group) {
		tap_need(sp_meter_read(group, &count));
		/* Linux 7.2 has no times of the root group until tasks of another one ran. */
		tap_result(count.value > 0, "a control group is counted: %llu in %llu ns",
			   (unsigned long long)count.value, (unsigned long long)count.enabled_ns);
	}
	struct sp_meter *none = NULL;
	struct sp_error *error = open_sized(
		ctx, &(struct sp_meter_options){.events = FAULTS, .target = SP_METER_TASK, .tid = INT32_MAX},
		&none);
	tap_result(error && sp_error_code(error) == SP_ERROR_NOT_FOUND, "a task that is not there is none");
	sp_error_free(error);
	/* When it has ended, its descriptor says so. */
	METER *sampled = open_meter(ctx, &(struct sp_meter_options){.events = FAULTS, .target = SP_METER_TASK,
								    .tid = child, .period = 1000000});
	struct pollfd fd = {.fd = sp_meter_fd(sampled, 0), .events = POLLIN};
	int before = poll(&fd, 1, 0);
	close(go[1]);
	int after = poll(&fd, 1, 10000);
	tap_result(!before && after == 1 && (fd.revents & POLLHUP), "POLLHUP tells that it has ended");
	close(done[0]), close(done[1]);
	waitpid(child, NULL, 0);
}

static void test_inheriting(struct sp_ctx *ctx)
{
	METER *own = open_meter(ctx, &(struct sp_meter_options){.events = FAULTS});
	METER *all = open_meter(ctx, &(struct sp_meter_options){.events = FAULTS, .flags = SP_METER_INHERIT});
	struct sp_count own_count, all_count;
	tap_need(sp_meter_begin(own));
	tap_need(sp_meter_begin(all));
	pid_t child = fork();
	if (!child) {
		fault(500);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	tap_need(sp_meter_end(own, &own_count));
	tap_need(sp_meter_end(all, &all_count));
	tap_result(own_count.value < 400 && all_count.value >= own_count.value + 500,
		   "children count where they inherit: %llu, %llu", (unsigned long long)own_count.value,
		   (unsigned long long)all_count.value);
}

static unsigned int drain(struct sp_meter *meter)
{
	const struct sp_record *record;
	unsigned int samples = 0;
	for (;;) {
		tap_need(sp_meter_next(meter, &record));
		if (!record)
			return samples;
		samples += record->type == PERF_RECORD_SAMPLE && record->sample.tid == (uint32_t)getpid();
	}
}

/* Not PERIOD: with it, each software event is a sample, and a period of 1. */
#define SAMPLE (PERF_SAMPLE_TID | PERF_SAMPLE_ADDR)

static void test_polling(struct sp_ctx *ctx)
{
	METER *meter = open_meter(ctx, &(struct sp_meter_options){
					       .events = FAULTS, .period = 16, .sample_type = SAMPLE,
					       .wakeup_events = 2, .ring_bytes = 65536});
	int fd = sp_meter_fd(meter, 0);
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	struct epoll_event event = {.events = EPOLLIN};
	struct timeval now = {0};
	fd_set set;
	CLEANUP_CLOSE int epoll = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	tap_result(poll(&polled, 1, 0) == 0, "there is nothing to read before");
	fault(64);
	tap_result(poll(&polled, 1, 0) == 1 && (polled.revents & POLLIN), "poll tells of samples");
	unsigned int samples = drain(meter);
	tap_result(samples >= 4 && samples <= 9, "which are there: %u", samples);
	fault(64);
	FD_ZERO(&set);
	FD_SET(fd, &set);
	tap_result(select(fd + 1, &set, NULL, NULL, &now) == 1 && FD_ISSET(fd, &set), "so does select");
	drain(meter);
	fault(64);
	tap_result(epoll_wait(epoll, &event, 1, 0) == 1 && (event.events & EPOLLIN), "so does epoll");
	drain(meter);
	tap_need(sp_meter_set_period(meter, 0, 4));
	fault(32); /* the old period's end */
	drain(meter);
	fault(64);
	samples = drain(meter);
	tap_result(samples >= 15 && samples <= 18, "another period holds: %u samples", samples);
	tap_need(sp_meter_pause_output(meter, 0, true));
	fault(64);
	samples = drain(meter);
	tap_need(sp_meter_pause_output(meter, 0, false));
	fault(64);
	tap_result(!samples && drain(meter) >= 15, "a ring is paused, and resumed");
	struct sp_meter_page page;
	tap_result(sp_meter_read_page(meter, 0, &page) && page.data_size == 65536 && page.data_offset &&
			   page.data_head == page.data_tail && page.data_head && page.size,
		   "its page says where the ring is");
	/* Samples that did not fit are counted. */
	struct sp_count before, count;
	tap_need(sp_meter_read(meter, &before)); /* the paused ring's losses have no record */
	tap_need(sp_meter_set_period(meter, 0, 1));
	fault(4000);
	tap_need(sp_meter_read(meter, &count));
	uint64_t lost = 0;
	const struct sp_record *record;
	for (;;) {
		tap_need(sp_meter_next(meter, &record));
		if (!record && !lost) {
			/* Told of once there is room. */
			fault(8);
			tap_need(sp_meter_next(meter, &record));
		}
		if (!record)
			break;
		lost += record->type == PERF_RECORD_LOST ? record->lost.lost : 0;
	}
	struct sp_count after; /* to read them may have faulted, too */
	tap_need(sp_meter_read(meter, &after));
	bool known = sp_meter_attr(meter, 0)->read_format & EVENT_FORMAT_LOST;
	tap_result(lost > 1000 && (!known || (count.lost - before.lost <= lost &&
					      lost <= after.lost - before.lost)),
		   "losses are reported: %llu, %llu to %llu", (unsigned long long)lost,
		   (unsigned long long)(count.lost - before.lost),
		   (unsigned long long)(after.lost - before.lost));
}

static atomic_uint signals, hang_ups, others;
static atomic_int signal_fd_seen;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	int errnum = errno;
	atomic_store(&signal_fd_seen, info->si_fd);
	if (info->si_code == POLL_IN)
		atomic_fetch_add(&signals, 1);
	else if (info->si_code == POLL_HUP)
		atomic_fetch_add(&hang_ups, 1);
	else
		atomic_fetch_add(&others, 1);
	errno = errnum;
}

static void test_signals(struct sp_ctx *ctx)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	sigaction(SIGRTMIN, &action, NULL);
	METER *meter = open_meter(ctx, &(struct sp_meter_options){
					       .events = FAULTS, .period = 10, .sample_type = SAMPLE,
					       .flags = SP_METER_DISABLED});
	tap_need(sp_meter_set_signal(meter, 0, SIGRTMIN, 0));
	tap_need(sp_meter_refresh(meter, 0, 3));
	struct pollfd fd = {.fd = sp_meter_fd(meter, 0), .events = POLLIN};
	fault(100);
	tap_result(atomic_load(&signals) == 2 && atomic_load(&hang_ups) == 1 && !atomic_load(&others),
		   "two signals and a hang-up end a countdown of 3: %u, %u", atomic_load(&signals),
		   atomic_load(&hang_ups));
	tap_result(atomic_load(&signal_fd_seen) == sp_meter_fd(meter, 0),
		   "which identify the event");
	tap_result(drain(meter) == 3, "there are three samples");
	tap_result(poll(&fd, 1, 0) == 1 && (fd.revents & POLLHUP || fd.revents & POLLIN),
		   "the descriptor tells of it");
	tap_need(sp_meter_refresh(meter, 0, 1));
	fault(100);
	tap_result(atomic_load(&hang_ups) == 2, "it can be counted down again");
	tap_need(sp_meter_set_signal(meter, 0, 0, 0));
	tap_need(sp_meter_refresh(meter, 0, 5));
	fault(100);
	tap_result(atomic_load(&hang_ups) == 2 && atomic_load(&signals) == 2, "and without signals");
}

/* Each thread has signals of its own. */
struct signalled {
	struct sp_ctx *ctx;
	atomic_uint mine;
	pid_t tid, seen;
	unsigned int faults;
	struct sp_error *error;
};

static _Thread_local struct signalled *this_thread;

static void on_thread_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	if (this_thread)
		atomic_fetch_add(&this_thread->mine, 1);
}

static void *be_signalled(void *arg)
{
	struct signalled *thread = this_thread = arg;
	struct sp_meter *meter = NULL;
	thread->error = open_sized(thread->ctx, &(struct sp_meter_options){
							   .events = FAULTS, .period = 10,
							   .sample_type = SAMPLE, .ring_bytes = 65536},
				      &meter);
	if (!thread->error)
		thread->error = sp_meter_set_signal(meter, 0, SIGRTMIN + 1, 0);
	if (!thread->error)
		fault(thread->faults);
	sp_meter_free(meter);
	this_thread = NULL;
	return NULL;
}

static void test_thread_signals(struct sp_ctx *ctx)
{
	struct sigaction action = {.sa_sigaction = on_thread_signal, .sa_flags = SA_SIGINFO};
	struct signalled threads[] = {{.ctx = ctx, .faults = 200}, {.ctx = ctx, .faults = 600}};
	pthread_t handles[2];
	bool good = true;
	sigaction(SIGRTMIN + 1, &action, NULL);
	for (int i = 0; i < 2; i++)
		good &= !pthread_create(&handles[i], NULL, be_signalled, &threads[i]);
	for (int i = 0; i < 2 && good; i++) {
		pthread_join(handles[i], NULL);
		tap_need(threads[i].error);
	}
	unsigned int few = atomic_load(&threads[0].mine), many = atomic_load(&threads[1].mine);
	tap_result(good && few >= 20 && few <= 40 && many >= 60 && many <= 80,
		   "threads have their own signals: %u, %u", few, many);
}

static volatile int watched, watched_too;
static volatile uint64_t trap_address, trap_data;
static volatile uint32_t trap_type;
static volatile unsigned int traps;
static volatile int value_in_trap;

static void on_trap(int number, siginfo_t *info, void *context)
{
	struct sp_trap trap;
	(void)number, (void)context;
	if (!sp_trap_decode(info, &trap))
		return;
	traps++;
	trap_address = trap.address;
	trap_data = trap.data;
	trap_type = trap.type;
	value_in_trap = watched;
}

static void breakpoint_text(char *text, size_t size, volatile int *variable)
{
	snprintf(text, size, "mem:%p/4:w:u", (void *)(uintptr_t)variable);
}

/* Hypervisors may leave debug registers without effect. Asks the kernel with its plain calls. */
static bool breakpoints_trigger(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = HW_BREAKPOINT_W,
				       .bp_addr = (uintptr_t)&watched,
				       .bp_len = HW_BREAKPOINT_LEN_4,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	uint64_t count = 0;
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0)
		return true; /* the meters say why */
	watched = 1;
	bool triggers = read(fd, &count, sizeof(count)) == sizeof(count) && count;
	close(fd);
	return triggers;
}

static void test_traps(struct sp_ctx *ctx)
{
	static const char what[] = "SIGTRAP comes in step with the task";
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
	char text[64];
	breakpoint_text(text, sizeof(text), &watched);
	sigaction(SIGTRAP, &action, NULL);
	METER *meter = try_meter(ctx, &(struct sp_meter_options){
					      .events = text, .period = 1, .sig_data = 0x1234567,
					      .flags = SP_METER_SIGTRAP | SP_METER_REMOVE_ON_EXEC},
				 what);
	if (!meter)
		return;
	watched = 41;
	watched = 42;
	tap_result(traps == 2 && value_in_trap == 42, "%s: %u", what, traps);
	tap_result(trap_data == 0x1234567 && trap_type == PERF_TYPE_BREAKPOINT &&
			   trap_address == (uint64_t)(uintptr_t)&watched,
		   "and says which it was, and where");
}

static void test_breakpoints(struct sp_ctx *ctx)
{
	char text[64];
	breakpoint_text(text, sizeof(text), &watched);
	METER *meter = try_meter(ctx, &(struct sp_meter_options){.events = text, .period = 1000000},
				 "writes are counted by a breakpoint");
	struct sp_count count;
	if (!meter)
		return;
	for (int i = 0; i < 25; i++)
		watched = i;
	tap_need(sp_meter_read(meter, &count));
	tap_result(count.value == 25, "writes are counted by a breakpoint: %llu",
		   (unsigned long long)count.value);
	struct perf_event_attr attr = *sp_meter_attr(meter, 0);
	attr.bp_addr = (uint64_t)(uintptr_t)&watched_too;
	struct sp_error *error = sp_meter_modify(meter, 0, &attr);
	if (error) {
		tap_skip("a breakpoint is moved", sp_error_message(error));
		sp_error_free(error);
		return;
	}
	watched = 1;
	watched_too = 1;
	watched_too = 2;
	tap_need(sp_meter_read(meter, &count));
	tap_result(count.value == 27, "a breakpoint is moved: %llu", (unsigned long long)count.value);
}

static void test_rings_of_others(struct sp_ctx *ctx)
{
	const struct sp_meter_options sampling = {.events = FAULTS, .period = 10, .sample_type = SAMPLE};
	METER *ring = open_meter(ctx, &(struct sp_meter_options){.events = "dummy:u", .ring_bytes = 65536,
								 .period = 1, .sample_type = SAMPLE});
	struct sp_meter_options into = sampling;
	into.leader = ring;
	into.flags = SP_METER_FD_OUTPUT | SP_METER_NO_GROUP;
	METER *first = open_meter(ctx, &into);
	struct sp_meter_page page;
	uint64_t head;
	fault(100);
	sp_meter_read_page(ring, 0, &page);
	tap_result(page.data_head > 0, "samples go to another's ring by PERF_FLAG_FD_OUTPUT");
	head = page.data_head;
	sp_meter_free(take_ptr(first));
	METER *second = open_meter(ctx, &(struct sp_meter_options){
						.events = FAULTS, .period = 10, .sample_type = SAMPLE,
						.leader = ring,
						.flags = SP_METER_NO_GROUP | SP_METER_FD_OUTPUT});
	tap_need(sp_meter_set_output(second, 0, NULL));
	fault(100);
	sp_meter_read_page(ring, 0, &page);
	bool silent = page.data_head == head;
	tap_need(sp_meter_set_output(second, 0, ring));
	fault(100);
	sp_meter_read_page(ring, 0, &page);
	tap_result(silent && page.data_head > head, "or by an ioctl, and no more");
	/* A member of another meter's group. */
	METER *leader = open_meter(ctx, &(struct sp_meter_options){.events = "task-clock:u",
								   .flags = SP_METER_DISABLED});
	METER *member = open_meter(ctx, &(struct sp_meter_options){.events = FAULTS, .leader = leader});
	struct sp_count count;
	fault(10);
	tap_need(sp_meter_read(member, &count));
	bool waited = !count.value;
	tap_need(sp_meter_enable(leader, 0));
	fault(10);
	tap_need(sp_meter_read(member, &count));
	tap_result(waited && about(count.value, 10), "a member runs with its leader");
	METER *pair = open_meter(ctx, &(struct sp_meter_options){.events = "task-clock:u," FAULTS,
								 .flags = SP_METER_DISABLED});
	METER *third = open_meter(ctx, &(struct sp_meter_options){.events = FAULTS,
								  .leader = pair});
	struct sp_count counts[2];
	tap_need(sp_meter_enable(pair, SP_METER_GROUP));
	fault(10);
	tap_need(sp_meter_read(pair, counts));
	tap_need(sp_meter_read(third, &count));
	tap_result(about(counts[1].value, 10) && about(count.value, 10),
		   "a group of two is read that a third has joined");
}

static void test_filters(struct sp_ctx *ctx)
{
	static const char what[] = "a filter chooses";
	METER *meter = try_meter(ctx, &(struct sp_meter_options){.events = "syscalls:sys_enter_write"}, what);
	struct sp_count count;
	CLEANUP_CLOSE int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!meter)
		return;
	tap_need(sp_meter_set_filter(meter, 0, "count == 3"));
	tap_need(sp_meter_reset(meter, 0));
	for (size_t i = 0; i < 8; i++)
		if (write(null, "12345678", i) < 0)
			return;
	tap_need(sp_meter_read(meter, &count));
	tap_result(count.value == 1, "%s: %llu of 8", what, (unsigned long long)count.value);
	struct sp_error *error = sp_meter_set_filter(meter, 0, "count == 4");
	tap_result(error && sp_error_remedy(error), "another one after it is explained");
	sp_error_free(error);
	METER *other = open_meter(ctx, &(struct sp_meter_options){.events = "syscalls:sys_enter_write"});
	error = sp_meter_set_filter(other, 0, "nonsense == 3");
	tap_result(error && sp_error_remedy(error), "one that is wrong is explained: %s",
		   error ? sp_error_message(error) : "it was taken");
	sp_error_free(error);
}

/* return 0; of tracepoints: they are not to be seen by perf. */
static int load_program(void)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.insn_cnt = 2;
	attr.license = (uint64_t)(uintptr_t)"GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static void test_bpf(struct sp_ctx *ctx)
{
	static const char what[] = "a BPF program is attached";
	CLEANUP_CLOSE int program = load_program();
	if (program < 0) {
		tap_skip(what, strerror(errno));
		return;
	}
	METER *meter = try_meter(ctx, &(struct sp_meter_options){.events = "syscalls:sys_enter_write",
								 .period = 1, .sample_type = SAMPLE},
				 what);
	uint32_t ids[4] = {0}, count = 0;
	if (!meter)
		return;
	struct sp_error *error = sp_meter_set_bpf(meter, 0, program);
	if (error) {
		tap_skip(what, sp_error_message(error));
		sp_error_free(error);
		return;
	}
	tap_need(sp_meter_query_bpf(meter, 0, ids, 4, &count));
	tap_result(count == 1 && ids[0], "%s, and told of", what);
	drain(meter);
	CLEANUP_CLOSE int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (write(null, "1", 1) < 0)
		return;
	tap_result(drain(meter) == 0, "and keeps samples away");
}

static void test_clock(struct sp_ctx *ctx)
{
	static const char what[] = "time stamps are nanoseconds";
	METER *meter = open_meter(ctx, &(struct sp_meter_options){.events = FAULTS, .period = 1,
								  .sample_type = PERF_SAMPLE_TIME});
	struct sp_clock clock;
	const struct sp_record *record = NULL;
	uint64_t before, after;
	if (!sp_meter_clock(meter, &clock) || !sp_clock_read(&before)) {
		tap_skip(what, "this kernel does not say how (cap_user_time_zero)");
		return;
	}
	/*
	 * Functions called for the first time had page faults of their own. So has the first drain,
	 * on kernels that map the ring's pages when they are read.
	 */
	drain(meter);
	drain(meter);
	sp_clock_read(&before);
	fault(1);
	sp_clock_read(&after);
	tap_need(sp_meter_next(meter, &record));
	uint64_t at = record ? record->sample.time_ns : 0;
	/* Rounding of another kind, and processors that differ a little. */
	uint64_t first = sp_clock_to_ns(&clock, before), last = sp_clock_to_ns(&clock, after);
	tap_result(at + 2000 >= first && at <= last + 2000, "%s: %lld ns behind one, %lld before another",
		   what, (long long)(at - first), (long long)(last - at));
	uint64_t back = sp_clock_to_cycles(&clock, sp_clock_to_ns(&clock, after));
	tap_result(after - back <= 1 + (UINT64_C(1) << clock.shift) / clock.mult, "and back");
}

static volatile unsigned int spin;

static void work(void)
{
	for (unsigned int i = 0; i < 200000; i++)
		spin += i;
}

/* Hardware counters, as far as there are any; cycles and instructions of a loop. */
static void test_hardware(struct sp_ctx *ctx)
{
	static const char what[] = "counters are read in user space";
	const struct sp_meter_options options = {.events = "{instructions:u,cycles:u}"};
	METER *meter = try_meter(ctx, &options, what);
	struct sp_count counts[2], before, after, whole[2];
	if (!meter)
		return;
	tap_need(sp_meter_begin(meter));
	work();
	tap_need(sp_meter_end(meter, counts));
	tap_result(counts[0].value > 600000 && counts[0].value < 20000000 && counts[1].value,
		   "instructions of a loop are counted: %llu", (unsigned long long)counts[0].value);
	if (!sp_meter_read_user(meter, 0, &before)) {
		tap_skip(what, "/sys/bus/event_source/devices/cpu/rdpmc or kernel.perf_user_access say no");
		return;
	}
	work();
	tap_need(sp_meter_read(meter, whole));
	bool read = sp_meter_read_user(meter, 0, &after);
	/* The system call's is between two of user space. */
	tap_result(read && before.value <= whole[0].value && whole[0].value <= after.value &&
			   after.value - before.value > 600000,
		   "%s: %llu, %llu, %llu", what, (unsigned long long)before.value,
		   (unsigned long long)whole[0].value, (unsigned long long)after.value);
	METER *slow = open_meter(ctx, &(struct sp_meter_options){.events = "instructions:u",
								 .flags = SP_METER_SYSCALLS});
	tap_result(!sp_meter_read_user(slow, 0, &after), "or not, if asked");
	/* A count that a negative or 32-bit counter begins, and one of times. */
	METER *alone = open_meter(ctx, &(struct sp_meter_options){.events = "cycles:u"});
	bool apart = true;
	for (int i = 0; i < 50; i++) {
		struct sp_count user, system, later;
		work();
		read = sp_meter_read_user(alone, 0, &user);
		tap_need(sp_meter_read(alone, &system));
		read = read && sp_meter_read_user(alone, 0, &later);
		apart &= read && user.value <= system.value && system.value <= later.value &&
			 user.enabled_ns <= later.enabled_ns && user.running_ns == user.enabled_ns;
	}
	tap_result(apart, "between two readings of user space is that of a system call");
}

#if defined(__aarch64__)
/* By the name of a PMU, as programs must where processors differ; with 64 bits or without. */
static void test_named_pmu(struct sp_ctx *ctx)
{
	static const char *const events[] = {"armv8_pmuv3/inst_retired/u",
					     "armv8_pmuv3/cpu_cycles,long/u", "r8:u"};
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		METER *meter = try_meter(ctx, &(struct sp_meter_options){.events = events[i]},
					 events[i]);
		struct sp_meter_page page;
		struct sp_count before, between, after;
		if (!meter)
			continue;
		if (!sp_meter_read_user(meter, 0, &before)) {
			tap_skip(events[i], "kernel.perf_user_access says no");
			continue;
		}
		work();
		tap_need(sp_meter_read(meter, &between));
		bool read = sp_meter_read_user(meter, 0, &after);
		bool known = sp_meter_read_page(meter, 0, &page);
		unsigned int width = strstr(events[i], "long") ? 64 : 32;
		tap_result(read && known && page.pmc_width == width && before.value <= between.value &&
				   between.value <= after.value &&
				   after.value - before.value > 300000,
			   "%s: %u bits, %llu, %llu, %llu", events[i], page.pmc_width,
			   (unsigned long long)before.value, (unsigned long long)between.value,
			   (unsigned long long)after.value);
	}
}
#endif

int main(void)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	struct sp_meter *probe = NULL;
	/* On a timeout, the log shows the last finished case. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	tap_need(sp_ctx_new(&ctx));
	struct sp_error *error = open_sized(ctx, &(struct sp_meter_options){.events = FAULTS}, &probe);
	if (error) {
		printf("1..0 # SKIP %s\n", sp_error_message(error));
		sp_error_free(error);
		return 0;
	}
	sp_meter_free(probe);
	test_reading(ctx);
	test_formats(ctx);
	test_switching(ctx);
	test_targets(ctx);
	test_inheriting(ctx);
	test_polling(ctx);
	test_signals(ctx);
	test_thread_signals(ctx);
	if (breakpoints_trigger()) {
		test_traps(ctx);
		test_breakpoints(ctx);
	} else {
		tap_skip("breakpoints", "they do not trigger on this machine");
	}
	test_rings_of_others(ctx);
	test_filters(ctx);
	test_bpf(ctx);
	test_clock(ctx);
	test_hardware(ctx);
#if defined(__aarch64__)
	test_named_pmu(ctx);
#endif
	return tap_end();
}
