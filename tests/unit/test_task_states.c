/* SPDX-License-Identifier: GPL-2.0-or-later */
/* States of threads from records: T runs, S is others. Times are in ns. */
#include <stdlib.h>
#include "record/decode.h"
#include "record/note.h"
#include "record/types.h"
#include "states/task_states.h"
#include "test.h"
#include "times/runners.h"

#define PID 10
#define T 11
#define S 12

static struct task_states *states;

static struct sp_record record_at(uint32_t type, uint16_t misc, uint32_t tid, uint64_t time_ns)
{
	return (struct sp_record){
		.type = type,
		.misc = misc,
		.id = {.present = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, .pid = PID,
		       .tid = tid, .time_ns = time_ns, .cpu = 1},
	};
}

static void add(struct sp_record record)
{
	ok_or_fail(task_states_add(states, &record));
}

static struct sp_record switch_of(uint32_t tid, uint16_t misc, uint64_t time_ns, uint32_t cpu)
{
	struct sp_record record = record_at(PERF_RECORD_SWITCH, misc, tid, time_ns);
	record.id.cpu = cpu;
	return record;
}

static void in(uint32_t tid, uint64_t time_ns)
{
	add(switch_of(tid, 0, time_ns, 1));
}

static void out(uint32_t tid, uint64_t time_ns)
{
	add(switch_of(tid, PERF_RECORD_MISC_SWITCH_OUT, time_ns, 1));
}

static void preempt(uint32_t tid, uint64_t time_ns)
{
	add(switch_of(tid, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, time_ns, 1));
}

static void task(uint32_t type, uint32_t tid, uint64_t time_ns)
{
	struct sp_record record = record_at(type, 0, tid, time_ns);
	record.task = (struct sp_task){.pid = PID, .tid = tid, .time_ns = time_ns};
	add(record);
}

static void comm(uint32_t tid, uint64_t time_ns, uint16_t misc)
{
	struct sp_record record = record_at(PERF_RECORD_COMM, misc, tid, time_ns);
	record.comm = (struct sp_comm){PID, tid, "name"};
	add(record);
}

static void lost(uint64_t time_ns, uint32_t cpu)
{
	struct sp_record record = record_at(PERF_RECORD_LOST, 0, T, time_ns);
	record.lost.lost = 1;
	record.id.cpu = cpu;
	add(record);
}

static void add_any_note(const struct sp_note *note)
{
	struct record_buffer buffer = {0};
	struct sp_record record = {.type = SP_RECORD_EVENT_UPDATE};
	ok_or_fail(record_encode_note(&buffer, note));
	memcpy(&record.event_update.kind, buffer.items + 8, 8);
	record.event_update.data = (struct sp_bytes){buffer.items + 24, buffer.count - 24};
	add(record);
	vec_deinit(&buffer);
}

static void add_note(uint32_t kind, uint64_t time_ns, const char *object)
{
	add_any_note(&(struct sp_note){.kind = kind, .time_ns = time_ns, .object = object,
				       .object_size = object ? strlen(object) : 0});
}

/* The kernel's count at the end. */
static void lost_in_all(uint64_t count)
{
	struct sp_record record = record_at(PERF_RECORD_LOST_SAMPLES, 0, 0, 0);
	record.lost.lost = count;
	add(record);
}

static void begin(void)
{
	ok_or_fail(task_states_new(&states));
}

static void seal(uint64_t first_ns, uint64_t last_ns)
{
	ok_or_fail(task_states_seal(states, first_ns, last_ns));
}

static void end(void)
{
	task_states_free(states);
	states = NULL;
}

static const struct task_totals *totals_of(uint32_t tid)
{
	size_t count, index = task_states_find(states, tid, &count);
	ck_assert_uint_eq(count, 1);
	return task_states_totals(states, index);
}

static void has_times(const struct task_totals *totals, uint64_t running, uint64_t runnable,
		      uint64_t blocked, uint64_t unknown)
{
	ck_assert_uint_eq(totals->running_ns, running);
	ck_assert_uint_eq(totals->runnable_ns, runnable);
	ck_assert_uint_eq(totals->blocked_ns, blocked);
	ck_assert_uint_eq(totals->unknown_ns, unknown);
	ck_assert_uint_eq(totals->end_ns - totals->begin_ns, running + runnable + blocked + unknown);
}

static void is_state(uint32_t tid, uint64_t time_ns, enum task_state state, uint64_t begin_ns,
		     uint64_t end_ns)
{
	struct task_interval interval;
	ck_assert(task_states_at(states, tid, time_ns, &interval));
	ck_assert_int_eq(interval.state, state);
	ck_assert_uint_eq(interval.begin_ns, begin_ns);
	ck_assert_uint_eq(interval.end_ns, end_ns);
}

TEST(a_thread_runs_is_preempted_and_blocks)
{
	begin();
	in(T, 110);
	preempt(T, 130);
	in(T, 135);
	out(T, 150);
	in(T, 180);
	out(T, 181);
	seal(100, 200);
	const struct task_totals *totals = totals_of(T);
	has_times(totals, 20 + 15 + 1, 5, 10 + 30 + 19, 0);
	ck_assert_uint_eq(totals->pid, PID);
	ck_assert_uint_eq(totals->waits, 3);
	ck_assert_uint_eq(totals->longest_wait_ns, 30);
	ck_assert(task_states_known(states));
	is_state(T, 100, TASK_BLOCKED, 100, 110);
	is_state(T, 110, TASK_RUNNING, 110, 130);
	is_state(T, 134, TASK_RUNNABLE, 130, 135);
	is_state(T, 200, TASK_BLOCKED, 181, 200);
	end();
}

TEST(threads_without_switches_slept)
{
	begin();
	comm(S, 0, 0);
	in(T, 150);
	seal(100, 200);
	has_times(totals_of(S), 0, 0, 100, 0);
	ck_assert_uint_eq(totals_of(S)->waits, 1);
	has_times(totals_of(T), 50, 0, 50, 0);
	struct task_interval interval;
	ck_assert(task_states_at(states, S, 160, &interval));
	ck_assert(interval.open);
	ck_assert(!task_states_at(states, 99, 160, &interval));
	end();
}

TEST(a_thread_first_seen_going_off_was_on)
{
	begin();
	out(T, 140);
	seal(100, 200);
	has_times(totals_of(T), 40, 0, 60, 0);
	end();
}

TEST(nothing_is_known_without_switches)
{
	begin();
	comm(T, 0, 0);
	seal(100, 200);
	ck_assert(!task_states_known(states));
	has_times(totals_of(T), 0, 0, 0, 100);
	end();
}

TEST(a_fork_begins_and_an_exit_ends_a_thread)
{
	begin();
	in(T, 100);
	task(PERF_RECORD_FORK, S, 120);
	in(S, 125);
	out(S, 130);
	in(S, 150);
	task(PERF_RECORD_EXIT, S, 155);
	seal(100, 200);
	const struct task_totals *totals = totals_of(S);
	has_times(totals, 10, 5, 20, 0);
	ck_assert_uint_eq(totals->begin_ns, 120);
	ck_assert_uint_eq(totals->end_ns, 155);
	ck_assert(totals->born && totals->ended);
	struct task_interval interval;
	ck_assert(!task_states_at(states, S, 156, &interval));
	ck_assert(!task_states_at(states, S, 119, &interval));
	end();
}

TEST(synthesized_forks_begin_no_thread)
{
	begin();
	task(PERF_RECORD_FORK, S, 0);
	struct sp_record record = record_at(PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, 13, 150);
	record.task = (struct sp_task){.pid = PID, .tid = 13, .time_ns = 150};
	add(record);
	in(T, 100);
	seal(100, 200);
	has_times(totals_of(S), 0, 0, 100, 0);
	has_times(totals_of(13), 0, 0, 100, 0);
	ck_assert(!totals_of(S)->born);
	end();
}

TEST(a_later_file_begins_with_the_states_of_its_begin)
{
	begin();
	/* The state at its begin has older records. */
	task(PERF_RECORD_FORK, T, 100);
	comm(T, 110, PERF_RECORD_MISC_COMM_EXEC);
	task(PERF_RECORD_FORK, S, 200);
	task(PERF_RECORD_FORK, 13, 210);
	task(PERF_RECORD_EXIT, 13, 220);
	add_note(NOTE_FILE_BEGINS, 1000, NULL);
	out(S, 1100);
	seal(0, 1300);
	has_times(totals_of(T), 0, 0, 300, 0);
	ck_assert(!totals_of(T)->born);
	has_times(totals_of(S), 100, 0, 200, 0);
	size_t count;
	task_states_find(states, 13, &count);
	ck_assert_uint_eq(count, 0);
	ck_assert_uint_eq(task_states_first_ns(states), 1000);
	end();
}

/* Ring buffers are not read up to the same time where a file ends. */
TEST(two_files_share_no_time)
{
	begin();
	in(T, 1000);
	out(T, 1050);
	add_note(NOTE_FILE_ENDS, 1200, NULL);
	seal(0, 1300);
	has_times(totals_of(T), 50, 0, 150, 0);
	ck_assert_uint_eq(task_states_last_ns(states), 1200);
	end();
	begin();
	comm(T, 0, 0);
	in(T, 1100);
	out(T, 1250);
	add_note(NOTE_FILE_BEGINS, 1200, NULL);
	seal(0, 1300);
	has_times(totals_of(T), 50, 0, 50, 0);
	end();
	/* Records after the end are damage. */
	begin();
	in(T, 1000);
	out(T, 1250);
	task(PERF_RECORD_FORK, S, 1230);
	add_note(NOTE_FILE_ENDS, 1200, NULL);
	seal(0, 0);
	ck_assert_uint_eq(task_states_count(states), 1);
	has_times(totals_of(T), 200, 0, 0, 0);
	end();
}

/* A thread may block until the recorder stops, after all records. */
TEST(a_wait_lasts_until_the_recorder_stops)
{
	begin();
	in(T, 1000);
	out(T, 1050);
	add_any_note(&(struct sp_note){.kind = NOTE_RECORDED, .values = {0, 3000},
				       .value_count = 2});
	seal(1000, 1050);
	has_times(totals_of(T), 50, 0, 1950, 0);
	end();
	/* One that never ran has no switch. */
	begin();
	comm(T, 0, 0);
	task_states_expect_switches(states);
	add_any_note(&(struct sp_note){.kind = NOTE_RECORDED, .values = {500, 3000},
				       .value_count = 2});
	seal(1000, 1050);
	has_times(totals_of(T), 0, 0, 2500, 0);
	end();
}

TEST(time_without_enabled_events_is_unknown)
{
	begin();
	in(T, 1);
	out(T, 100);
	ck_assert(!task_states_partly_off(states));
	add_note(NOTE_SAMPLING_OFF, 150, "cycles");
	ck_assert(task_states_partly_off(states));
	add_note(NOTE_SAMPLING_OFF, 200, NULL);
	add_note(NOTE_SAMPLING_ON, 500, NULL);
	in(T, 600);
	out(T, 700);
	seal(0, 1000);
	has_times(totals_of(T), 199, 0, 500, 300);
	end();
	/* It begins and ends disabled. */
	begin();
	add_note(NOTE_SAMPLING_ON, 500, NULL);
	in(T, 600);
	out(T, 700);
	add_note(NOTE_SAMPLING_OFF, 900, NULL);
	seal(1, 1000);
	has_times(totals_of(T), 100, 0, 300, 599);
	end();
	/* A thread that ran before and after them may have blocked between two ranges. */
	begin();
	in(T, 1);
	add_note(NOTE_SAMPLING_OFF, 200, NULL);
	add_note(NOTE_SAMPLING_ON, 300, NULL);
	add_note(NOTE_SAMPLING_OFF, 400, NULL);
	add_note(NOTE_SAMPLING_ON, 500, NULL);
	out(T, 600);
	seal(0, 1000);
	has_times(totals_of(T), 299, 0, 400, 300);
	end();
	/* The same in a later file. */
	begin();
	add_note(NOTE_SAMPLING_WAS_OFF, 10, NULL);
	add_note(NOTE_SAMPLING_ON, 500, NULL);
	add_note(NOTE_SAMPLING_UNSTABLE, 900, NULL);
	in(T, 600);
	out(T, 700);
	seal(1, 1000);
	has_times(totals_of(T), 100, 0, 300, 599);
	end();
}

TEST(time_without_context_switches_is_unknown)
{
	begin();
	in(T, 1);
	out(T, 100);
	add_note(NOTE_SWITCHES_OFF, 200, NULL);
	add_note(NOTE_SWITCHES_ON, 500, NULL);
	in(T, 600);
	out(T, 700);
	add_note(NOTE_SWITCHES_OFF, 900, NULL);
	seal(0, 1000);
	ck_assert(!task_states_partly_off(states));
	has_times(totals_of(T), 199, 0, 400, 400);
	end();
}

TEST(threads_outlive_the_main_thread)
{
	begin();
	task(PERF_RECORD_FORK, T, 100);
	in(T, 110);
	in(PID, 120);
	task(PERF_RECORD_EXIT, PID, 500);
	out(PID, 510);
	out(T, 700);
	seal(1, 1000);
	has_times(totals_of(PID), 380, 0, 119, 0);
	ck_assert(totals_of(PID)->ended);
	/* T never ends: its last state lasts until the recording's end. */
	has_times(totals_of(T), 590, 10, 300, 0);
	ck_assert(!totals_of(T)->ended);
	ck_assert_uint_eq(totals_of(T)->end_ns, 1000);
	end();
}

TEST(a_wait_is_no_longer_than_its_known_time)
{
	begin();
	in(T, 1);
	out(T, 100);
	out(S, 150);
	lost(400, 1);
	in(T, 600);
	seal(0, 1000);
	ck_assert_uint_eq(totals_of(T)->blocked_ns, 250);
	ck_assert_uint_eq(totals_of(T)->longest_wait_ns, 250);
	end();
}

TEST(a_tid_used_again_has_two_lifetimes)
{
	size_t count;
	begin();
	task(PERF_RECORD_FORK, T, 110);
	in(T, 110);
	task(PERF_RECORD_EXIT, T, 120);
	preempt(T, 121);
	in(T, 122); /* preempted while it exits: no life */
	task(PERF_RECORD_FORK, T, 150);
	in(T, 160);
	seal(100, 200);
	size_t index = task_states_find(states, T, &count);
	ck_assert_uint_eq(count, 2);
	has_times(task_states_totals(states, index), 10, 0, 0, 0);
	has_times(task_states_totals(states, index + 1), 40, 10, 0, 0);
	ck_assert_uint_eq(task_states_lifetime(states, T, 130), index);
	ck_assert_uint_eq(task_states_lifetime(states, T, 150), index + 1);
	ck_assert_uint_eq(task_states_lifetime(states, T, 109), SIZE_MAX);
	end();
}

TEST(a_thread_that_ended_before_has_no_life)
{
	size_t count;
	begin();
	task(PERF_RECORD_FORK, PID, 0);
	task(PERF_RECORD_EXIT, PID, 0);
	task(PERF_RECORD_EXIT, S, 0);
	task(PERF_RECORD_FORK, S, 150);
	in(T, 110);
	seal(100, 200);
	ck_assert_uint_eq(task_states_count(states), 2);
	task_states_find(states, PID, &count);
	ck_assert_uint_eq(count, 0);
	has_times(totals_of(S), 0, 50, 0, 0);
	has_times(totals_of(T), 90, 0, 10, 0);
	end();
	/* In overwrite mode, the end of the ring describes tasks as they are then. */
	begin();
	in(T, 110);
	task(PERF_RECORD_EXIT, T, 140);
	task(PERF_RECORD_EXIT, T, 0);
	seal(100, 200);
	has_times(totals_of(T), 30, 0, 10, 0);
	end();
}

/* An exec by another thread: the leader ends, and its tid goes on. */
TEST(an_exec_revives_the_leader)
{
	size_t count;
	begin();
	task(PERF_RECORD_EXIT, T, 120);
	comm(T, 130, PERF_RECORD_MISC_COMM_EXEC);
	out(T, 150);
	seal(100, 200);
	size_t index = task_states_find(states, T, &count);
	ck_assert_uint_eq(count, 2);
	has_times(task_states_totals(states, index), 20, 0, 0, 0);
	has_times(task_states_totals(states, index + 1), 20, 0, 50, 0);
	end();
}

/* The thread has no EXIT record: it goes on with the leader's tid. */
TEST(an_exec_ends_the_thread_that_makes_it)
{
	begin();
	in(T, 110);
	out(S, 115); /* its EXIT is missing */
	task(PERF_RECORD_EXIT, PID, 120);
	comm(PID, 130, PERF_RECORD_MISC_COMM_EXEC);
	out(PID, 150);
	seal(100, 200);
	has_times(totals_of(T), 20, 0, 10, 0);
	ck_assert(totals_of(T)->ended);
	has_times(totals_of(S), 15, 0, 15, 0);
	end();
}

TEST(a_contradiction_is_unknown_time)
{
	begin();
	in(T, 110); /* its switch-out is missing */
	in(T, 140);
	out(T, 150); /* its switch-in is missing */
	out(T, 170);
	seal(100, 200);
	has_times(totals_of(T), 10, 0, 10 + 30, 30 + 20);
	is_state(T, 120, TASK_UNKNOWN, 110, 140);
	end();
}

TEST(time_of_lost_records_is_unknown)
{
	begin();
	comm(S, 0, 0);
	in(T, 110);
	lost(130, 1);  /* since the last switch of this CPU */
	out(T, 150);
	in(T, 160);
	lost(180, 2); /* another CPU, from an unknown time on */
	out(T, 190);
	seal(100, 200);
	/* T ran on CPU 1, but may have run on CPU 2 while off; S may have run anywhere. */
	has_times(totals_of(T), 20 + 30, 0, 10 + 10, 20 + 10);
	is_state(T, 120, TASK_UNKNOWN, 110, 130);
	is_state(T, 130, TASK_RUNNING, 130, 150);
	is_state(T, 165, TASK_RUNNING, 160, 190);
	has_times(totals_of(S), 0, 0, 10 + 20, 70);
	is_state(S, 190, TASK_BLOCKED, 180, 200);
	end();
}

TEST(only_the_gap_of_a_contradiction_is_unknown)
{
	begin();
	in(T, 110);
	in(S, 130);
	lost(140, 1); /* from 130 on */
	in(T, 180);
	seal(100, 200);
	has_times(totals_of(T), 20 + 20, 0, 10 + 40, 10);
	is_state(T, 120, TASK_RUNNING, 110, 130);
	is_state(T, 135, TASK_UNKNOWN, 130, 140);
	is_state(T, 150, TASK_BLOCKED, 140, 180);
	end();
}

TEST(a_thread_that_ran_at_the_last_loss_is_unknown)
{
	begin();
	in(T, 110);
	lost(140, 1);
	seal(100, 200);
	has_times(totals_of(T), 0, 0, 10, 90);
	end();
}

TEST(time_after_unreported_losses_is_unknown)
{
	begin();
	comm(S, 0, 0);
	in(T, 110);
	out(T, 120);
	lost(130, 1);
	in(T, 140);
	lost_in_all(2); /* one of them in LOST records */
	seal(100, 200);
	has_times(totals_of(T), 10, 0, 10 + 10, 10 + 60);
	is_state(T, 150, TASK_UNKNOWN, 140, 200);
	has_times(totals_of(S), 0, 0, 20 + 10, 10 + 60);
	end();
}

TEST(time_after_a_noted_loss_is_unknown_on_its_cpu)
{
	begin();
	comm(PID, 0, 0);
	in(T, 110);
	add(switch_of(13, 0, 120, 2));
	lost_in_all(2);
	add_any_note(&(struct sp_note){.kind = NOTE_LOST_AT_END, .time_ns = 170, .values = {1},
				       .value_count = 1});
	add_any_note(&(struct sp_note){.kind = NOTE_LOST_AT_END, .time_ns = 150});
	seal(100, 200);
	has_times(totals_of(T), 60, 0, 10, 30);
	has_times(totals_of(13), 80, 0, 20, 0);
	/* It may have run on the CPU that lost records. */
	has_times(totals_of(PID), 0, 0, 70, 30);
	end();
}

TEST(losses_that_lost_records_report_are_not_at_the_end)
{
	begin();
	in(T, 110);
	out(T, 120);
	lost(130, 1);
	in(T, 140);
	lost_in_all(1);
	seal(100, 200);
	has_times(totals_of(T), 10 + 60, 0, 10 + 10, 10);
	end();
}

TEST(a_preempted_thread_may_have_blocked_since_a_loss)
{
	begin();
	in(T, 110);
	preempt(T, 120);
	in(S, 130);
	lost(140, 1); /* from 130 on */
	in(T, 180);
	seal(100, 200);
	has_times(totals_of(T), 10 + 20, 10, 10, 50);
	is_state(T, 170, TASK_UNKNOWN, 130, 180);
	end();
}

TEST(a_thread_does_not_run_on_two_cpus)
{
	begin();
	in(T, 110); /* CPU 1 */
	in(S, 120);
	lost(130, 1);
	add(switch_of(S, 0, 140, 2));
	lost(150, 2);
	struct sp_record exit = record_at(PERF_RECORD_EXIT, 0, T, 180);
	exit.id.cpu = 2;
	exit.task = (struct sp_task){.pid = PID, .tid = T, .time_ns = 180};
	add(exit);
	seal(100, 200);
	has_times(totals_of(T), 10 + 30, 0, 10, 30);
	is_state(T, 135, TASK_UNKNOWN, 120, 150);
	end();
}

TEST(order_of_records_does_not_matter)
{
	begin();
	out(T, 150);
	in(T, 180);
	in(T, 110);
	task(PERF_RECORD_FORK, T, 105);
	preempt(T, 190);
	seal(100, 200);
	has_times(totals_of(T), 40 + 10, 5 + 10, 30, 0);
	end();
}

TEST(the_kernels_own_tasks_are_no_threads)
{
	begin();
	in(0, 110);
	in(UINT32_MAX, 120);
	comm(UINT32_MAX, 120, 0);
	seal(100, 200);
	ck_assert_uint_eq(task_states_count(states), 0);
	end();
}

TEST(the_wait_after_a_switch_is_found)
{
	struct task_interval wait;
	begin();
	in(T, 110);
	out(T, 120);
	in(T, 150);
	preempt(T, 170);
	seal(100, 200);
	ck_assert(task_states_next_wait(states, T, 115, &wait));
	ck_assert_uint_eq(wait.begin_ns, 120);
	ck_assert_uint_eq(wait.end_ns, 150);
	ck_assert_int_eq(wait.state, TASK_BLOCKED);
	ck_assert(!wait.open);
	ck_assert(task_states_next_wait(states, T, 121, &wait));
	ck_assert_uint_eq(wait.begin_ns, 170);
	ck_assert_int_eq(wait.state, TASK_RUNNABLE);
	ck_assert(wait.open);
	ck_assert(!task_states_next_wait(states, T, 171, &wait));
	end();
}

struct each_waits {
	size_t count;
	struct task_wait items[8];
};

static void keep_wait(void *arg, const struct task_wait *wait)
{
	struct each_waits *waits = arg;
	ck_assert_uint_lt(waits->count, 8);
	waits->items[waits->count++] = *wait;
}

static struct each_waits waits_of(uint32_t tid)
{
	struct each_waits waits = {0};
	size_t count, index = task_states_find(states, tid, &count);
	ck_assert_uint_eq(count, 1);
	task_states_each_wait(states, index, 0, UINT64_MAX, keep_wait, &waits);
	return waits;
}

/* Samples of a wait and the wait itself have the same duration, until the first loss. */
TEST(each_wait_has_the_duration_of_its_sample)
{
	struct task_interval wait;
	begin();
	in(T, 1);
	out(T, 100);
	out(S, 150);
	lost(400, 1); /* from 150 on */
	in(T, 600);
	out(T, 700);
	lost(720, 1); /* from the wait's begin on */
	in(T, 800);
	out(T, 900);
	in(T, 930);
	seal(0, 1000);
	struct each_waits waits = waits_of(T);
	ck_assert_uint_eq(waits.count, 3);
	ck_assert(task_states_next_wait(states, T, 100, &wait));
	ck_assert_uint_eq(wait.end_ns - wait.begin_ns, 50);
	ck_assert_uint_eq(waits.items[0].duration_ns, 50);
	ck_assert_uint_eq(waits.items[0].blocked_ns, 250);
	ck_assert(task_states_next_wait(states, T, 700, &wait));
	ck_assert_int_eq(wait.state, TASK_UNKNOWN);
	ck_assert_uint_eq(wait.end_ns - wait.begin_ns, 20);
	ck_assert_uint_eq(waits.items[1].duration_ns, 20);
	ck_assert_uint_eq(waits.items[1].blocked_ns, 80);
	ck_assert_uint_eq(waits.items[2].duration_ns, 30);
	ck_assert_uint_eq(waits.items[2].blocked_ns, 30);
	end();
}

TEST(sums_of_parts_equal_the_whole)
{
	begin();
	srand(1);
	for (uint64_t time = 100; time < 100000; time += (uint64_t)rand() % 50 + 1) {
		int kind = rand() % 16;
		if (kind < 6)
			in(T, time);
		else if (kind < 12)
			out(T, time);
		else if (kind < 14)
			preempt(T, time);
		else if (kind == 14)
			lost(time, (uint32_t)(rand() % 2));
		else
			in(S, time);
	}
	seal(100, 100000);
	const struct task_totals *totals = totals_of(T);
	uint64_t sums[TASK_STATES] = {0};
	for (uint64_t at = 0; at < 110000; at += 777)
		task_states_sum(states, 0, at, at + 777, sums);
	has_times(totals, sums[TASK_RUNNING], sums[TASK_RUNNABLE], sums[TASK_BLOCKED],
		  sums[TASK_UNKNOWN]);
	uint64_t walked[TASK_STATES] = {0};
	struct task_interval interval = {.end_ns = totals->begin_ns};
	while (interval.end_ns < totals->end_ns) {
		uint64_t at = interval.end_ns;
		ck_assert(task_states_at(states, T, at, &interval));
		ck_assert_uint_eq(interval.begin_ns, at);
		ck_assert_uint_gt(interval.end_ns, at);
		walked[interval.state] += interval.end_ns - interval.begin_ns;
	}
	has_times(totals, walked[TASK_RUNNING], walked[TASK_RUNNABLE], walked[TASK_BLOCKED],
		  walked[TASK_UNKNOWN]);
	end();
}

/* took_ns 0: the note lacks the time that reading took. */
static void schedstat_in(uint32_t tid, uint64_t time_ns, uint64_t took_ns, uint64_t run_ns,
			 uint64_t wait_ns)
{
	struct sp_note note = {.kind = NOTE_SCHEDSTAT, .time_ns = time_ns,
			       .values = {PID, tid, run_ns, wait_ns, 3, took_ns},
			       .value_count = took_ns ? 6 : 5};
	struct record_buffer buffer = {0};
	struct record_layout layout = {0};
	struct decoder *decoder;
	struct sp_record record;
	ok_or_fail(record_encode_note(&buffer, &note));
	ok_or_fail(decoder_new(&layout, &decoder));
	struct raw_record raw = {SP_RECORD_EVENT_UPDATE, 0, buffer.count, buffer.items, 0};
	ok_or_fail(decoder_decode(decoder, &raw, &record));
	add(record);
	decoder_free(decoder);
	vec_deinit(&buffer);
}

static void schedstat(uint32_t tid, uint64_t time_ns, uint64_t wait_ns)
{
	schedstat_in(tid, time_ns, 0, 5, wait_ns);
}

static void add_wait_times(void *arg, const struct task_wait *wait)
{
	struct task_wait *sum = arg;
	sum->blocked_ns += wait->blocked_ns;
	sum->woken_ns += wait->woken_ns;
}

TEST(schedstat_splits_blocked_time)
{
	begin();
	schedstat_in(T, 100, 0, 500, 1000);
	in(T, 110);
	preempt(T, 120);
	in(T, 125);
	out(T, 130);
	schedstat_in(T, 200, 0, 515, 1030); /* preemption explains 5 of 30 ns */
	task(PERF_RECORD_FORK, S, 150);
	in(S, 152);
	out(S, 155);
	schedstat_in(S, 200, 0, 3, 12);
	schedstat(13, 200, 12); /* the only one of a thread that is older: no difference */
	seal(100, 200);
	has_times(totals_of(T), 15, 30, 80 - 25, 0);
	ck_assert_int_eq(totals_of(T)->split, TASK_SPLIT_SCHEDSTAT);
	has_times(totals_of(S), 3, 12, 35, 0);
	/* Preemption, and the time from its creation until it first ran, follow no wait. */
	ck_assert_uint_eq(totals_of(T)->woken_ns, 30 - 5);
	ck_assert_uint_eq(totals_of(S)->woken_ns, 12 - 2);
	/* T waited for 10 and 70 ns: the delays of 25 ns are all of the first, and 15 ns. */
	ck_assert_uint_eq(totals_of(T)->wake_ns, 15);
	struct task_wait sum = {0};
	size_t count, index = task_states_find(states, T, &count);
	task_states_each_wait(states, index, 0, UINT64_MAX, add_wait_times, &sum);
	ck_assert_uint_eq(sum.woken_ns, 10 + 15);
	ck_assert_uint_eq(sum.blocked_ns, 55);
	sum = (struct task_wait){0};
	task_states_each_wait(states, index, 120, 190, add_wait_times, &sum);
	ck_assert_uint_eq(sum.woken_ns, 5);
	ck_assert_uint_eq(sum.blocked_ns, 55);
	has_times(totals_of(13), 0, 0, 100, 0);
	ck_assert_int_eq(totals_of(13)->split, TASK_SPLIT_NONE);
	end();
}

/* T runs three times for 10 ns, from 110, 130 and 150 on. */
static void run_three_times(void)
{
	for (uint64_t at = 110; at <= 150; at += 20) {
		in(T, at);
		out(T, at + 10);
	}
}

/* Two windows sum to the life, wherever they meet. */
static void has_windows(const struct task_totals *totals)
{
	for (uint64_t at = totals->begin_ns; at <= totals->end_ns; at++) {
		struct task_totals sum = {0};
		size_t count, index = task_states_find(states, totals->tid, &count);
		task_states_window(states, index, 0, at, &sum);
		task_states_window(states, index, at, UINT64_MAX, &sum);
		ck_assert_uint_eq(sum.running_ns, totals->running_ns);
		ck_assert_uint_eq(sum.blocked_ns, totals->blocked_ns);
	}
}

TEST(switches_take_the_time_that_the_kernel_counts)
{
	begin();
	schedstat_in(T, 105, 3, 1000, 0);
	run_three_times();
	schedstat_in(T, 170, 3, 1030 + 11, 0);
	seal(100, 200);
	const struct task_totals *totals = totals_of(T);
	/* A wait ends earlier. */
	is_state(T, 128, TASK_RUNNING, 130 - 4, 140);
	has_times(totals, 41, 0, 59, 0);
	ck_assert(totals->counted);
	ck_assert_int_eq(totals->switch_ns, 3);
	has_windows(totals);
	end();

	/* The kernel counts less: a thread's own sample precedes its switch off the CPU. */
	begin();
	task(PERF_RECORD_FORK, T, 105);
	run_three_times();
	schedstat_in(T, 170, 1, 27, 0);
	seal(100, 200);
	has_times(totals_of(T), 27, 5 + 1, 95 - 33, 0);
	is_state(T, 131, TASK_RUNNING, 131, 140);
	ck_assert(totals_of(T)->counted);
	end();
}

TEST(short_waits_leave_the_time_of_a_switch_to_later_ones)
{
	begin();
	task(PERF_RECORD_FORK, T, 105);
	in(T, 110);
	out(T, 120);
	in(T, 122);
	out(T, 130);
	in(T, 150);
	out(T, 160);
	schedstat_in(T, 170, 1, 28 + 9, 0);
	seal(100, 200);
	is_state(T, 121, TASK_RUNNING, 121, 130);
	is_state(T, 148, TASK_RUNNING, 150 - 5, 160);
	has_times(totals_of(T), 37, 2, 95 - 39, 0);
	end();
}

TEST(counts_that_do_not_agree_with_switches_move_none)
{
	/* The thread ran while they were read: the kernel updates them later. */
	begin();
	schedstat_in(T, 115, 1, 1000, 0);
	run_three_times();
	schedstat_in(T, 155, 1, 1025, 0);
	seal(100, 200);
	has_times(totals_of(T), 30, 0, 70, 0);
	end();

	/* Nothing is known of what a late one includes. */
	begin();
	in(T, 1000);
	out(T, 2000);
	in(T, 3000);
	schedstat_in(T, 900000, 1, 5000, 0);
	out(T, 900100);
	seal(100, 1000000);
	ck_assert(!totals_of(T)->counted);
	end();

	/* More than switches take: another guest ran. */
	begin();
	task(PERF_RECORD_FORK, T, 105);
	in(T, 1000000);
	out(T, 9000000);
	schedstat_in(T, 9500000, 1, 7000000, 0);
	seal(100, 10000000);
	ck_assert_uint_eq(totals_of(T)->running_ns, 8000000);
	ck_assert(!totals_of(T)->counted);
	end();
}

TEST(counts_of_an_unknown_moment_move_none)
{
	begin();
	task(PERF_RECORD_FORK, T, 105);
	run_three_times();
	schedstat_in(T, 170, 0, 39, 8);
	seal(100, 200);
	has_times(totals_of(T), 30, 8, 95 - 38, 0);
	ck_assert(!totals_of(T)->counted);
	end();
}

TEST(counts_across_lost_records_move_none)
{
	begin();
	task(PERF_RECORD_FORK, T, 105);
	run_three_times();
	lost(165, 1);
	in(T, 180);
	out(T, 190);
	schedstat_in(T, 195, 1, 60, 0);
	seal(100, 200);
	ck_assert_uint_eq(totals_of(T)->running_ns, 40);
	ck_assert(!totals_of(T)->counted);
	end();

	/* Counts after them do, and the switches before take the same time. */
	begin();
	task(PERF_RECORD_FORK, T, 105);
	run_three_times();
	lost(165, 1);
	schedstat_in(T, 170, 1, 60, 0);
	in(T, 180);
	out(T, 190);
	schedstat_in(T, 195, 1, 72, 0);
	seal(100, 200);
	ck_assert(totals_of(T)->counted);
	/* The wait before the last switch is partly unknown. */
	ck_assert_uint_eq(totals_of(T)->running_ns, 40 + 3 * 2);
	end();
}

TEST(each_life_has_its_counts)
{
	size_t count;
	begin();
	task(PERF_RECORD_FORK, T, 105);
	run_three_times();
	schedstat_in(T, 165, 1, 36, 0);
	in(T, 170);
	task(PERF_RECORD_EXIT, T, 175);
	/* A zombie's count is its last one. */
	schedstat_in(T, 178, 1, 36 + 2 + 5, 0);
	task(PERF_RECORD_FORK, T, 180);
	in(T, 185);
	out(T, 190);
	schedstat_in(T, 195, 1, 6, 0);
	seal(100, 200);
	size_t first = task_states_find(states, T, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(task_states_totals(states, first)->running_ns, 30 + 5 + 8);
	ck_assert_uint_eq(task_states_totals(states, first + 1)->running_ns, 6);
	end();
}

TEST(counts_after_a_files_end_are_of_the_next)
{
	begin();
	task(PERF_RECORD_FORK, T, 105);
	run_three_times();
	add_note(NOTE_FILE_ENDS, 170, NULL);
	schedstat_in(T, 190, 1, 60, 0);
	seal(100, 200);
	ck_assert_uint_eq(totals_of(T)->running_ns, 30);
	ck_assert(!totals_of(T)->counted);
	end();
}

TEST(latency_divides_by_the_threads_that_could_run)
{
	begin();
	in(T, 100);
	in(S, 120);      /* two from here on */
	preempt(S, 140); /* it still could run */
	in(S, 150);
	out(S, 160);
	out(T, 180);     /* none */
	seal(100, 200);
	struct runners runners = {0};
	ck_assert(runners_make(&runners, states));
	/* S slept until 120. */
	ck_assert_double_eq_tol(runners_latency(&runners, PID, 100, 180), 20 + 40 / 2.0 + 20, 1e-9);
	ck_assert_double_eq_tol(runners_latency(&runners, PID, 110, 130), 10 + 10 / 2.0, 1e-9);
	ck_assert_uint_eq(runners_number(&runners, PID, 145), 2);
	ck_assert_uint_eq(runners_number(&runners, PID, 190), 0);
	ck_assert_uint_eq(runners_number(&runners, 99, 145), 0);
	/* A thread that is preempted has no edges then. */
	ck_assert_uint_eq(runners.count, 4);
	runners_deinit(&runners);
	end();
}

/* Adds what an interval has of each state. */
static void add_state(void *arg, const struct task_interval *interval)
{
	uint64_t *sums = arg;
	sums[interval->state] += interval->end_ns - interval->begin_ns;
}

TEST(estimated_delays_are_runnable_in_intervals_windows_and_latency)
{
	begin();
	schedstat_in(T, 100, 0, 500, 1000);
	in(T, 110);
	out(T, 130);
	in(T, 150); /* 10, 12 and 8 ns of the waits are delays: at most 12 of each */
	out(T, 158);
	in(T, 166);
	schedstat_in(T, 200, 0, 562, 1030);
	seal(100, 200);
	struct runners runners = {0};
	ck_assert(runners_make(&runners, states));
	const struct task_totals *totals = totals_of(T);
	has_times(totals, 62, 30, 8, 0);
	size_t count, index = task_states_find(states, T, &count);
	uint64_t sums[TASK_STATES] = {0}, parts[TASK_STATES] = {0};
	task_states_each(states, index, 0, UINT64_MAX, add_state, sums);
	for (uint64_t at = 100; at < 200; at += 7)
		task_states_sum(states, index, at, at + 7 < 200 ? at + 7 : 200, parts);
	for (int i = 0; i < TASK_STATES; i++)
		ck_assert_uint_eq(parts[i], sums[i]);
	ck_assert_uint_eq(sums[TASK_RUNNING], totals->running_ns);
	ck_assert_uint_eq(sums[TASK_RUNNABLE], totals->runnable_ns);
	ck_assert_uint_eq(sums[TASK_BLOCKED], totals->blocked_ns);
	ck_assert_uint_eq(runners_number(&runners, PID, 131), 0);
	ck_assert_uint_eq(runners_number(&runners, PID, 149), 1);
	runners_deinit(&runners);
	end();
}

struct walk {
	struct task_interval intervals[8];
	size_t count;
};

static void add_interval(void *arg, const struct task_interval *interval)
{
	struct walk *walk = arg;
	ck_assert_uint_lt(walk->count, 8);
	walk->intervals[walk->count++] = *interval;
}

TEST(intervals_of_a_time_are_those_of_the_lifetime)
{
	size_t count;
	begin();
	in(T, 110);
	out(T, 120);
	in(T, 150);
	preempt(T, 160);
	in(T, 170);
	out(T, 180);
	seal(100, 200);
	for (uint64_t from = 90; from < 210; from++) {
		for (uint64_t until = from; until < 210; until += 7) {
			struct walk walk = {0};
			uint64_t first = from < 100 ? 100 : from, at = first;
			uint64_t end = until < 200 ? until : 200;
			task_states_each(states, task_states_find(states, T, &count), from, until,
					 add_interval, &walk);
			for (size_t i = 0; i < walk.count; i++) {
				struct task_interval interval;
				ck_assert(task_states_at(states, T, at, &interval));
				ck_assert_int_eq(walk.intervals[i].state, interval.state);
				ck_assert_uint_eq(walk.intervals[i].begin_ns, at);
				at = interval.end_ns < end ? interval.end_ns : end;
				ck_assert_uint_eq(walk.intervals[i].end_ns, at);
			}
			ck_assert_uint_eq(at, first < end ? end : first);
		}
	}
	end();
}

TEST(latency_over_many_waits_equals_a_plain_sum)
{
	begin();
	for (uint64_t i = 0; i < 1000; i++) {
		in(T, i * 10 + 1000);
		out(T, i * 10 + 1004);
		in(S, i * 10 + 1002);
		out(S, i * 10 + 1007);
	}
	seal(1000, 11000);
	struct runners runners = {0};
	ck_assert(runners_make(&runners, states));
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t begin_ns = i * 10 + 1000, end_ns = begin_ns + 7;
		double sum = 0;
		for (uint64_t at = begin_ns; at < end_ns; at++) {
			sum += 1.0 / runners_number(&runners, PID, at);
			ck_assert_double_eq_tol(
				runners_latency(&runners, PID, begin_ns, at + 1), sum, 1e-9);
		}
		ck_assert_double_eq_tol(sum, 2 + 2 / 2.0 + 3, 1e-9);
		ck_assert_uint_eq(runners_number(&runners, PID, end_ns), 0);
	}
	runners_deinit(&runners);
	end();
}

TEST(absurd_times_and_many_switches_keep_sums)
{
	begin();
	in(T, 1);
	out(T, UINT64_MAX);
	in(T, UINT64_MAX - 1);
	lost(UINT64_MAX, 1);
	lost(2, UINT32_MAX);
	for (uint64_t i = 0; i < 2000000; i++)
		add(switch_of(S + (uint32_t)(i % 3), i & 1 ? PERF_RECORD_MISC_SWITCH_OUT : 0,
			      i * UINT64_C(0x9e3779b97f4a7c15), (uint32_t)i));
	seal(0, 0);
	struct runners runners = {0};
	ck_assert(runners_make(&runners, states));
	runners_deinit(&runners);
	for (size_t i = 0; i < task_states_count(states); i++) {
		const struct task_totals *totals = task_states_totals(states, i);
		ck_assert_uint_eq(totals->end_ns - totals->begin_ns,
				  totals->running_ns + totals->runnable_ns + totals->blocked_ns +
				  totals->unknown_ns);
	}
	end();
}

static void sample(uint32_t tid, enum task_switch kind, uint64_t time_ns)
{
	const struct task_switched switched = {PID, tid, time_ns, 1, kind};
	ok_or_fail(task_states_add_switch(states, &switched));
}

TEST(samples_of_switches_give_states)
{
	begin();
	sample(T, TASK_SWITCH_IN, 110);
	sample(T, TASK_SWITCH_BLOCK, 120);
	sample(T, TASK_SWITCH_WAKE, 140);
	sample(T, TASK_SWITCH_WAKE, 141); /* sched_wakeup after sched_waking */
	sample(T, TASK_SWITCH_IN, 145);
	sample(T, TASK_SWITCH_PREEMPT, 150);
	sample(T, TASK_SWITCH_IN, 155);
	sample(T, TASK_SWITCH_EXIT, 160);
	seal(100, 200);
	const struct task_totals *totals = totals_of(T);
	has_times(totals, 10 + 5 + 5, 5 + 5, 10 + 20, 0);
	ck_assert_uint_eq(totals->woken_ns, 5);
	ck_assert_int_eq(totals->split, TASK_SPLIT_WAKING);
	ck_assert(totals->ended);
	is_state(T, 141, TASK_RUNNABLE, 140, 145);
	end();
}

TEST(a_sample_ends_a_wait_without_a_switch)
{
	begin();
	sample(T, TASK_SWITCH_SEEN, 110);
	sample(T, TASK_SWITCH_BLOCK, 120);
	sample(T, TASK_SWITCH_SEEN, 150);
	sample(T, TASK_SWITCH_SEEN, 160);
	sample(T, TASK_SWITCH_BLOCK, 170);
	sample(T, TASK_SWITCH_BLOCK, 190); /* nothing was seen of what was between */
	seal(100, 200);
	has_times(totals_of(T), 20 + 20, 0, 30 + 10, 20);
	end();
}

TEST(threads_known_only_by_others_are_not_listed)
{
	begin();
	sample(T, TASK_SWITCH_BLOCK, 120);
	sample(S, TASK_SWITCH_IN, 120);
	sample(13, TASK_SWITCH_WAKE, 130);
	seal(100, 200);
	ck_assert_uint_eq(task_states_count(states), 1);
	end();
}

TEST(switch_records_precede_samples)
{
	begin();
	sample(T, TASK_SWITCH_BLOCK, 119);
	out(T, 120);
	sample(T, TASK_SWITCH_WAKE, 130);
	sample(T, TASK_SWITCH_IN, 139);
	in(T, 140);
	seal(100, 200);
	has_times(totals_of(T), 20 + 60, 10, 10, 0);
	ck_assert_uint_eq(totals_of(T)->waits, 1);
	end();
}

TEST(a_thread_with_samples_and_no_switches_ran)
{
	begin();
	comm(S, 0, 0);
	comm(T, 0, 0);
	task_states_expect_switches(states);
	ok_or_fail(task_states_add_seen(states, PID, T));
	ok_or_fail(task_states_add_seen(states, PID, 0));
	seal(100, 200);
	ck_assert(task_states_known(states));
	has_times(totals_of(T), 100, 0, 0, 0);
	has_times(totals_of(S), 0, 0, 100, 0);
	end();
}

TEST(two_fork_records_begin_one_life)
{
	begin();
	task(PERF_RECORD_FORK, T, 110);
	task(PERF_RECORD_FORK, T, 111);
	in(T, 112);
	seal(100, 200);
	has_times(totals_of(T), 88, 2, 0, 0);
	end();
}

static void wake(uint32_t tid, uint64_t time_ns, enum task_waker waker, uint32_t waker_tid)
{
	const struct task_switched woken = {.tid = tid, .time_ns = time_ns, .cpu = UINT32_MAX,
					    .kind = TASK_SWITCH_WAKE, .waker = waker, .waker_tid = waker_tid};
	ok_or_fail(task_states_add_switch(states, &woken));
}

static void has_wakeup(uint32_t tid, uint64_t begin_ns, uint64_t wake_ns, uint64_t run_ns,
		       enum task_waker waker)
{
	struct task_wakeup wakeup;
	ck_assert(task_states_wakeup(states, tid, wake_ns, &wakeup));
	ck_assert_uint_eq(wakeup.begin_ns, begin_ns);
	ck_assert_uint_eq(wakeup.wake_ns, wake_ns);
	ck_assert_uint_eq(wakeup.blocked_ns, wake_ns - begin_ns);
	ck_assert_uint_eq(wakeup.run_ns, run_ns);
	ck_assert_int_eq(wakeup.waker, waker);
	ck_assert_uint_eq(wakeup.tid, waker == TASK_WAKER_THREAD ? S : 0);
	ck_assert_uint_eq(wakeup.pid, waker == TASK_WAKER_THREAD ? PID : 0);
}

TEST(a_softirqs_wakeup_has_the_thread_on_its_cpu_and_the_kernels_stack)
{
	uint64_t ips[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER, 0x1000};
	struct task_switched woken = {.tid = T, .cpu = UINT32_MAX, .kind = TASK_SWITCH_WAKE,
				      .waker = TASK_WAKER_SOFTIRQ, .waker_tid = S, .ips = ips,
				      .ip_count = 4};
	const uint64_t *first = NULL;
	begin();
	comm(S, 0, 0);
	in(T, 110);
	for (uint64_t at = 120; at < 150; at += 10) {
		out(T, at);
		woken.time_ns = at + 5;
		ips[3]++; /* the user's part is left out */
		woken.waker_tid = at < 140 ? S : 0;
		ok_or_fail(task_states_add_switch(states, &woken));
		in(T, at + 6);
	}
	ips[1] = 0;
	seal(100, 200);
	for (uint64_t at = 120; at < 150; at += 10) {
		struct task_wakeup wakeup;
		ck_assert(task_states_wakeup(states, T, at + 5, &wakeup));
		ck_assert_int_eq(wakeup.waker, TASK_WAKER_SOFTIRQ);
		ck_assert_uint_eq(wakeup.tid, at < 140 ? S : 0);
		ck_assert_uint_eq(wakeup.pid, at < 140 ? PID : 0);
		ck_assert_uint_eq(wakeup.ip_count, at < 140 ? 2 : 0);
		first = first ?: wakeup.ips;
		ck_assert_ptr_eq(wakeup.ips, at < 140 ? first : NULL);
	}
	ck_assert_uint_eq(first[1], 0xffffffff81000010);
	end();
}

TEST(a_wait_has_a_waker)
{
	struct task_wakeup wakeup;
	begin();
	comm(S, 0, 0);
	in(T, 110);
	out(T, 120);
	wake(T, 140, TASK_WAKER_THREAD, S);
	wake(T, 141, TASK_WAKER_IDLE, 0); /* it is awake */
	in(T, 145);
	wake(T, 146, TASK_WAKER_THREAD, S);
	out(T, 150);
	wake(T, 160, TASK_WAKER_INTERRUPT, S);
	in(T, 161);
	out(T, 162);
	wake(T, 163, TASK_WAKER_SOFTIRQ, S);
	in(T, 164);
	out(T, 165);
	wake(T, 170, TASK_WAKER_IDLE, 0);
	in(T, 171);
	out(T, 172);
	wake(T, 173, TASK_WAKER_UNKNOWN, 0);
	seal(100, 200);
	has_wakeup(T, 120, 140, 145, TASK_WAKER_THREAD);
	has_wakeup(T, 150, 160, 161, TASK_WAKER_INTERRUPT);
	has_wakeup(T, 162, 163, 164, TASK_WAKER_SOFTIRQ);
	has_wakeup(T, 165, 170, 171, TASK_WAKER_IDLE);
	has_wakeup(T, 172, 173, 200, TASK_WAKER_UNKNOWN);
	ck_assert(!task_states_wakeup(states, T, 141, &wakeup));
	ck_assert(!task_states_wakeup(states, T, 146, &wakeup));
	ck_assert(!task_states_wakeup(states, T, 120, &wakeup));
	ck_assert(!task_states_wakeup(states, S, 140, &wakeup));
	ck_assert_uint_eq(task_states_pid(states, T), PID);
	ck_assert_uint_eq(task_states_pid(states, 99), 0);
	end();
}

TEST(each_wait_is_split_by_its_wakeup)
{
	begin();
	in(T, 110);
	out(T, 120);
	wake(T, 140, TASK_WAKER_THREAD, S);
	in(T, 145);
	out(T, 150);
	in(T, 161);
	seal(100, 200);
	struct each_waits waits = waits_of(T);
	ck_assert_uint_eq(waits.count, 3);
	ck_assert_uint_eq(waits.items[0].blocked_ns, 10); /* until it first ran */
	ck_assert_uint_eq(waits.items[1].duration_ns, 20);
	ck_assert_uint_eq(waits.items[1].blocked_ns, 20);
	ck_assert_uint_eq(waits.items[1].woken_ns, 5);
	ck_assert_uint_eq(waits.items[2].blocked_ns, 11);
	ck_assert_uint_eq(waits.items[2].woken_ns, 0);
	end();
}

TEST(a_wakeup_has_no_lost_time)
{
	struct task_wakeup wakeup;
	begin();
	in(T, 110);
	out(T, 120);
	lost(130, 1);
	wake(T, 150, TASK_WAKER_THREAD, S);
	in(T, 151);
	seal(100, 200);
	ck_assert(task_states_wakeup(states, T, 150, &wakeup));
	ck_assert_uint_eq(wakeup.begin_ns, 120);
	ck_assert_uint_eq(wakeup.blocked_ns, 20); /* lost from the last switch, 120, until 130 */
	end();
}

TEST(wakers_are_not_recorded_threads)
{
	const struct task_switched waker = {.pid = 7, .tid = 8, .time_ns = 140, .cpu = UINT32_MAX,
					    .kind = TASK_SWITCH_WAKER};
	size_t count;
	begin();
	in(T, 110);
	ok_or_fail(task_states_add_switch(states, &waker));
	/* The recorder writes its name when it wakes a recorded thread. */
	comm(8, 139, 0);
	seal(100, 200);
	task_states_find(states, 8, &count);
	ck_assert_uint_eq(count, 0);
	ck_assert_uint_eq(task_states_count(states), 1);
	ck_assert_uint_eq(task_states_pid(states, 8), 7);
	end();
}
