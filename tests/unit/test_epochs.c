/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mode cpu with context switches. A shell (10) makes a child (11), which executes a program:
 *
 *	10  shell: running 1000-1400, blocked, running 9000-9500
 *	11  fork 1400; shell: running 1500-2100; exec 2100; ls: running until 3100, preempted,
 *	    running 3600-8000, where it ends
 */
#include "test.h"
#include "times/times.h"

enum { SHELL = 10, CHILD = 11, PERIOD = 1000, SHELL_NS = 900, FORKED_NS = 600, LS_NS = 5400 };

struct made {
	struct task_states *states;
	struct machine *machine;
	struct times times;
	struct sample_weights weights;
};

static void add(struct made *made, const struct sp_record *record)
{
	ok_or_fail(task_states_add(made->states, record));
	ok_or_fail(machine_add(made->machine, record));
}

static struct sp_record record_of(uint32_t type, uint16_t misc, uint32_t tid, uint64_t time_ns)
{
	return (struct sp_record){
		.type = type, .misc = misc,
		.id = {.present = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .pid = tid, .tid = tid,
		       .time_ns = time_ns},
	};
}

static void add_switch(struct made *made, uint32_t tid, uint16_t misc, uint64_t time_ns)
{
	const struct sp_record record = record_of(PERF_RECORD_SWITCH, misc, tid, time_ns);
	add(made, &record);
}

static void add_comm(struct made *made, uint32_t tid, uint16_t misc, uint64_t time_ns,
		     const char *name)
{
	struct sp_record record = record_of(PERF_RECORD_COMM, misc, tid, time_ns);
	record.comm.pid = record.comm.tid = tid;
	record.comm.comm = name;
	add(made, &record);
}

static void add_task(struct made *made, uint32_t type, uint64_t time_ns)
{
	struct sp_record record = record_of(type, 0, CHILD, time_ns);
	record.task = (struct sp_task){.pid = CHILD, .ppid = SHELL, .tid = CHILD, .ptid = SHELL};
	add(made, &record);
}

static void begin(struct made *made)
{
	const uint16_t out = PERF_RECORD_MISC_SWITCH_OUT;
	*made = (struct made){0};
	ok_or_fail(task_states_new(&made->states));
	ok_or_fail(machine_new(&made->machine));
	add_comm(made, SHELL, 0, 0, "sh");
	add_switch(made, SHELL, 0, 1000);
	add_task(made, PERF_RECORD_FORK, 1400);
	add_switch(made, SHELL, out, 1400);
	add_switch(made, CHILD, 0, 1500);
	add_comm(made, CHILD, PERF_RECORD_MISC_COMM_EXEC, 2100, "ls");
	add_switch(made, CHILD, out | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 3100);
	add_switch(made, CHILD, 0, 3600);
}

/* Seals the records, and adds a clock. */
static void end_with(struct made *made, bool user_only, const struct analysis_options *options)
{
	add_task(made, PERF_RECORD_EXIT, 8000);
	add_switch(made, SHELL, 0, 9000);
	ok_or_fail(task_states_seal(made->states, 1000, 9500));
	ok_or_fail(machine_seal(made->machine));
	made->times = (struct times){.weigher = &weigher_cpu, .states = made->states,
				     .user_only = user_only};
	struct scaled_clock *clock = vec_push(&made->times.clocks);
	ck_assert_ptr_nonnull(clock);
	*clock = (struct scaled_clock){.user_only = user_only, .period_ns = PERIOD};
	ok_or_fail(slices_make(&made->times.slices, made->states, options));
	ck_assert(epochs_make(&made->times.clocks.epochs, &made->times.slices, made->machine));
}

static void end(struct made *made, bool user_only)
{
	const struct analysis_options none = {0};
	end_with(made, user_only, &none);
}

static void made_deinit(struct made *made)
{
	times_deinit(&made->times);
	sample_weights_deinit(&made->weights);
	task_states_free(made->states);
	machine_free(made->machine);
}

static uint32_t epoch_at(const struct made *made, uint32_t tid, uint64_t time_ns)
{
	size_t lifetime = task_states_lifetime(made->states, tid, time_ns);
	ck_assert_uint_lt(lifetime, SLICE_NONE);
	return epochs_at(&made->times.clocks.epochs, (uint32_t)lifetime, time_ns);
}

static void add_samples(struct made *made, uint32_t tid, uint64_t time_ns, uint64_t count)
{
	const struct sample_weight from = {
		.key = stratum_key(stratum_on_cpu(epoch_at(made, tid, time_ns), 0)),
		.weight = count * PERIOD};
	ck_assert(sample_weights_add(&made->weights, &from));
}

static uint64_t sampled(const struct made *made, uint32_t tid, uint64_t time_ns)
{
	const struct stratum *found = strata_find(
		&made->times.strata, stratum_on_cpu(epoch_at(made, tid, time_ns), 0));
	return found ? found->ns[TIME_ON_CPU] : 0;
}

static const struct time_rest *rest(const struct made *made, uint32_t tid, uint64_t time_ns)
{
	return &made->times.strata.rests[epoch_at(made, tid, time_ns)];
}

static uint64_t no_stack(const struct made *made, uint32_t tid, uint64_t time_ns)
{
	return rest(made, tid, time_ns)->no_stack.ns[TIME_ON_CPU];
}

TEST(fork_to_exec_and_exec_to_exit_are_epochs)
{
	struct made made;
	begin(&made);
	end(&made, false);
	const struct epochs *epochs = &made.times.clocks.epochs;
	ck_assert_uint_eq(epochs->count, 3);
	ck_assert_uint_eq(epochs->items[epoch_at(&made, SHELL, 5000)].running_ns, SHELL_NS);
	const struct epoch *forked = &epochs->items[epoch_at(&made, CHILD, 2099)];
	const struct epoch *ls = &epochs->items[epoch_at(&made, CHILD, 2100)];
	ck_assert_uint_eq(forked->begin_ns, 1400);
	ck_assert_uint_eq(forked->end_ns, 2100);
	ck_assert_uint_eq(forked->running_ns, FORKED_NS);
	ck_assert_uint_eq(ls->begin_ns, 2100);
	ck_assert_uint_eq(ls->end_ns, 8000);
	ck_assert_uint_eq(ls->running_ns, LS_NS);
	ck_assert_ptr_eq(&epochs->items[epoch_at(&made, CHILD, 8000)], ls);
	made_deinit(&made);
}

TEST(a_new_name_begins_an_epoch)
{
	struct made made;
	begin(&made);
	add_comm(&made, CHILD, 0, 5600, "worker");
	end(&made, false);
	ck_assert_uint_eq(made.times.clocks.epochs.count, 4);
	const struct epoch *items = made.times.clocks.epochs.items;
	ck_assert_uint_eq(items[epoch_at(&made, CHILD, 5000)].running_ns, 3000);
	ck_assert_uint_eq(items[epoch_at(&made, CHILD, 6000)].running_ns, LS_NS - 3000);
	made_deinit(&made);
}

/* Ranges cut epochs: from 2600 to 4600, the child ran 500 and 1000 ns. */
TEST(a_range_has_the_time_of_its_part_of_an_epoch)
{
	static const struct sp_time_span range = {2600, 4600};
	const struct analysis_options options = {.filter = {.times = &range, .time_count = 1}};
	struct made made;
	begin(&made);
	end_with(&made, false, &options);
	const struct epochs *epochs = &made.times.clocks.epochs;
	uint32_t index = epoch_at(&made, CHILD, 2600);
	ck_assert_uint_eq(epochs->items[index].running_ns, 500 + 1000);
	ck_assert(epochs_get(epochs, index).shown);
	ck_assert_uint_eq(epochs->items[index - 1].end_ns, 2600);
	ck_assert_uint_eq(epochs->items[index - 1].running_ns, 500);
	ck_assert(!epochs_get(epochs, index - 1).shown);
	ck_assert_uint_eq(epochs->items[index + 1].running_ns, LS_NS - 500 - 1500);
	made_deinit(&made);
}

/* An inherited clock has no sample in the first period of a task. */
TEST(samples_are_scaled_to_the_time_of_their_epoch)
{
	struct made made;
	begin(&made);
	end(&made, false);
	add_samples(&made, CHILD, 3000, 4);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(sampled(&made, CHILD, 3000), LS_NS);
	ck_assert_uint_eq(no_stack(&made, CHILD, 3000), 0);
	ck_assert_uint_eq(no_stack(&made, CHILD, 2000), FORKED_NS);
	ck_assert_uint_eq(no_stack(&made, SHELL, 2000), SHELL_NS);
	ck_assert_uint_eq(state_sums_total(&made.times.strata.whole), SHELL_NS + FORKED_NS + LS_NS);
	ck_assert_uint_eq(made.times.clocks.items[0].ns, SHELL_NS + FORKED_NS + LS_NS);
	made_deinit(&made);
}

/* A clock that excludes the kernel says nothing of its time, so samples keep their weight. */
TEST(a_clock_of_user_code_leaves_the_kernel_a_rest)
{
	struct made made;
	begin(&made);
	end(&made, true);
	add_samples(&made, CHILD, 3000, 3);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(sampled(&made, CHILD, 3000), 3 * PERIOD);
	ck_assert_uint_eq(rest(&made, CHILD, 3000)->kernel_ns, LS_NS - 3 * PERIOD);
	/* Less than a period may have been anywhere. */
	ck_assert_uint_eq(no_stack(&made, CHILD, 2000), FORKED_NS);
	ck_assert_uint_eq(rest(&made, CHILD, 2000)->kernel_ns, 0);
	ck_assert_uint_eq(made.times.clocks.items[0].kernel_ns, LS_NS - 3 * PERIOD);
	ck_assert_uint_eq(made.times.clocks.items[0].ns, SHELL_NS + FORKED_NS + LS_NS);
	made_deinit(&made);
}

TEST(late_samples_of_user_code_are_scaled)
{
	struct made made;
	begin(&made);
	end(&made, true);
	const struct sample_weight most = {
		.key = stratum_key(stratum_on_cpu(epoch_at(&made, CHILD, 3000), 0)),
		.weight = LS_NS - LS_NS / 25};
	ck_assert(sample_weights_add(&made.weights, &most));
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(sampled(&made, CHILD, 3000), LS_NS);
	made_deinit(&made);
}

/* Records were lost from 3600 to 7600: the child may have run up to 1000 + 4000 + 400. */
TEST(samples_stand_for_unknown_time)
{
	for (uint64_t samples = 1; samples <= 6; samples++) {
		struct made made;
		begin(&made);
		struct sp_record lost = record_of(PERF_RECORD_LOST, 0, CHILD, 7600);
		lost.lost.lost = 1;
		add(&made, &lost);
		end(&made, false);
		add_samples(&made, CHILD, 3000, samples);
		ok_or_fail(times_compute(&made.times, &made.weights));
		const struct epoch *ls =
			&made.times.clocks.epochs.items[epoch_at(&made, CHILD, 3000)];
		ck_assert_uint_gt(ls->unknown_ns, 0);
		uint64_t most_ns = ls->running_ns + ls->unknown_ns, weight = samples * PERIOD;
		uint64_t expected = weight < ls->running_ns ? ls->running_ns
				    : weight > most_ns      ? most_ns
							    : weight;
		ck_assert_uint_eq(sampled(&made, CHILD, 3000), expected);
		made_deinit(&made);
	}
}

/* The kernel counted 300 ns more, when the child's events had ended. */
TEST(time_that_no_record_shows_is_that_of_ended_processes)
{
	struct made made;
	begin(&made);
	end(&made, false);
	made.times.from.command_ns = SHELL_NS + FORKED_NS + LS_NS + 300;
	add_samples(&made, CHILD, 3000, 4);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(rest(&made, CHILD, 7999)->unrecorded_ns, 300);
	ck_assert_uint_eq(rest(&made, CHILD, 2000)->unrecorded_ns, 0);
	ck_assert_uint_eq(rest(&made, SHELL, 9000)->unrecorded_ns, 0);
	ck_assert_uint_eq(made.times.clocks.items[0].ns, made.times.from.command_ns);
	made_deinit(&made);
}
