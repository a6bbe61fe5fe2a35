/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Controls events while they count: clocks, periods, signals, rings, and what the kernel shares with
 * a program. Each part is a use of perf_event_open(2); parts that this machine does not permit say why.
 *
 *	cc -o example-meter-control example-meter-control.c $(pkg-config --cflags --libs libsprof)
 *	./example-meter-control [DESCRIPTOR-OF-A-BPF-PROGRAM]
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sprof/sprof.h>
#include <sys/mman.h>

static struct sp_ctx *ctx;
static volatile int watched[2];
static volatile sig_atomic_t wakeups;
static struct sp_trap trap;

static struct sp_error *open_meter(const char *events, uint64_t period, uint32_t flags,
				   struct sp_meter **ret)
{
	const struct sp_meter_options options = {.size = sizeof(options), .events = events,
						 .flags = flags, .period = period};
	return sp_meter_open(ctx, &options, ret);
}

/* Touches memory: one page fault for each page. */
static void touch(size_t pages)
{
	volatile char *memory = mmap(NULL, pages << 12, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	madvise((void *)(uintptr_t)memory, pages << 12, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i << 12] = 1;
	munmap((void *)(uintptr_t)memory, pages << 12);
}

/* Counts only parts of the program, and estimates what a multiplexed event would have counted. */
static struct sp_error *count_parts(struct sp_meter *meter)
{
	struct sp_scaling scaling = {0};
	struct sp_count count;
	double value, low, high;
	struct sp_error *error = sp_meter_reset(meter, 0);
	if (error || (error = sp_meter_enable(meter, SP_METER_GROUP)))
		return error;
	touch(600);
	if ((error = sp_meter_disable(meter, SP_METER_GROUP)))
		return error;
	touch(600); /* not counted */
	if ((error = sp_meter_read(meter, &count)))
		return error;
	/* Without a system call, if a hardware counter has the event. */
	printf("%s: %" PRIu64 " faults%s\n", sp_meter_name(meter, 0), count.value,
	       sp_meter_read_user(meter, 0, &count) ? ", read from user space" : "");
	/* All events of this thread, of all its meters. */
	if ((error = sp_meter_disable_all()) || (error = sp_meter_enable_all()))
		return error;
	for (int i = 0; i < 10; i++) {
		if ((error = sp_meter_begin(meter)))
			return error;
		touch(600);
		if ((error = sp_meter_end(meter, &count)))
			return error;
		sp_scaling_add(&scaling, &count);
	}
	if (sp_scaling_interval(&scaling, &value, &low, &high))
		printf("ten times: %.0f (%.0f to %.0f)\n", value, low, high);
	return NULL;
}

/* Prints the page that the kernel shares, and the processor's time by the kernel's clock. */
static void print_clock(const struct sp_meter *meter)
{
	struct sp_meter_page page;
	struct sp_clock clock;
	uint64_t cycles;
	if (sp_meter_read_page(meter, 0, &page))
		printf("ring: %" PRIu64 " bytes, capabilities %#" PRIx64 "\n", page.data_size,
		       page.capabilities);
	if (!sp_meter_clock(meter, &clock) || !sp_clock_read(&cycles))
		return;
	uint64_t ns = sp_clock_to_ns(&clock, cycles);
	printf("time: %" PRIu64 " ns, which is cycle %" PRIu64 " of %" PRIu64 "\n", ns,
	       sp_clock_to_cycles(&clock, ns), cycles);
}

static void on_wakeup(int number)
{
	(void)number;
	wakeups++;
}

/* Takes a batch of four samples: each sends a signal, and poll(2) waits for the first one. */
static struct sp_error *sample_batch(struct sp_meter *meter)
{
	const struct sp_record *record;
	uint64_t id;
	unsigned int samples = 0;
	signal(SIGRTMIN, on_wakeup);
	struct sp_error *error = sp_meter_set_signal(meter, 0, SIGRTMIN, 0);
	if (error || (error = sp_meter_set_period(meter, 0, 5)) || (error = sp_meter_id(meter, 0, &id)))
		return error;
	/* Pausing drops samples, not the count. */
	if ((error = sp_meter_pause_output(meter, 0, true)) ||
	    (error = sp_meter_pause_output(meter, 0, false)) ||
	    (error = sp_meter_refresh(meter, 0, 4)))
		return error;
	touch(600);
	struct pollfd poll_fd = {.fd = sp_meter_fd(meter, 0), .events = POLLIN};
	poll(&poll_fd, 1, 1000);
	while (!(error = sp_meter_next(meter, &record)) && record)
		samples += record->type == PERF_RECORD_SAMPLE && record->sample.id == id;
	printf("%u samples, %d signals\n", samples, (int)wakeups);
	return error;
}

/* Writes samples of another event to the ring of `meter`, but not while it has no output. */
static struct sp_error *share_ring(struct sp_meter *meter)
{
	const struct sp_meter_options options = {
		.size = sizeof(options), .events = "minor-faults:u", .leader = meter, .period = 1,
		.flags = SP_METER_DISABLED | SP_METER_NO_GROUP | SP_METER_FD_OUTPUT,
	};
	struct sp_meter *other;
	struct sp_error *error = sp_meter_open(ctx, &options, &other);
	if (error)
		return error;
	if (!(error = sp_meter_set_output(other, 0, NULL)))
		error = sp_meter_set_output(other, 0, meter);
	sp_meter_free(other);
	return error;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	sp_trap_decode(info, &trap);
}

/* Watches writes to a variable, by a breakpoint that moves from one to another. */
static struct sp_error *watch(void)
{
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .sample_period = 1, .bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched[0], .bp_len = HW_BREAKPOINT_LEN_4,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	const struct sp_meter_options options = {
		.size = sizeof(options), .attr = &attr, .sig_data = 42,
		.flags = SP_METER_SIGTRAP | SP_METER_REMOVE_ON_EXEC | SP_METER_DISABLED,
	};
	struct sp_meter *meter;
	sigaction(SIGTRAP, &action, NULL);
	struct sp_error *error = sp_meter_open(ctx, &options, &meter);
	if (error)
		return error;
	attr = *sp_meter_attr(meter, 0);
	attr.bp_addr = (uintptr_t)&watched[1];
	if (!(error = sp_meter_modify(meter, 0, &attr)) && !(error = sp_meter_enable(meter, 0)))
		watched[1]++;
	printf("write to %s, data %" PRIu64 "\n",
	       trap.address == (uintptr_t)&watched[1] ? "the second variable" : "no variable", trap.data);
	sp_meter_free(meter);
	return error;
}

/* Filters a tracepoint, runs a BPF program on it (-1: none), and counts the programs that run. */
static struct sp_error *filter(int program_fd)
{
	struct sp_meter *meter;
	uint32_t ids[8], count = 0;
	struct sp_error *error = open_meter("sched:sched_switch", 1, SP_METER_DISABLED, &meter);
	if (error)
		return error;
	/* The kernel has one of both for each event. */
	error = program_fd < 0 ? sp_meter_set_filter(meter, 0, "prev_prio < 100")
			       : sp_meter_set_bpf(meter, 0, program_fd);
	if (!error && !(error = sp_meter_query_bpf(meter, 0, ids, 8, &count)))
		printf("%" PRIu32 " BPF programs\n", count);
	sp_meter_free(meter);
	return error;
}

static int result(const char *part, struct sp_error *error)
{
	if (!error)
		return 0;
	fprintf(stderr, "%s: %s\n", part, sp_error_message(error));
	sp_error_free(error);
	return 1;
}

int main(int argc, char **argv)
{
	struct sp_meter *counting, *sampling;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (error || (error = open_meter("page-faults:u", 0, SP_METER_DISABLED, &counting)) ||
	    (error = open_meter("page-faults:u", 10, SP_METER_DISABLED, &sampling)))
		return result("open", error);
	int status = result("sample", sample_batch(sampling)) |
		     result("share a ring", share_ring(sampling)) |
		     result("count", count_parts(counting));
	print_clock(sampling);
	/* Virtual machines may have no breakpoints; tracepoints need rights. */
	result("watch", watch());
	result("filter", filter(argc > 1 ? atoi(argv[1]) : -1));
	sp_meter_free(sampling);
	sp_meter_free(counting);
	sp_ctx_free(ctx);
	return status;
}
