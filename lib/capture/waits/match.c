/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each thread has a list of events that are not yet processed, and a state. Events are sorted before they
 * are processed: they come sorted from each ring buffer, but a thread moves between CPUs.
 *
 *	       SAMPLE (held)          OUT                 IN
 *	ON ────────────────▶ ON ────────────▶ BLOCKED ────────▶ ON, the held sample is written
 *	                        OUT, preempted            IN
 *	                     ON ────────────▶ PREEMPTED ──────▶ ON, the held sample is written
 *
 * A snapshot's sample comes while the thread is BLOCKED. All other transitions mean lost records.
 *
 * After a LOST record, any thread may be blocked without a stack, as those that were there before the
 * recording. A thread that was BLOCKED may have waited, run, and waited again elsewhere. A snapshot decides.
 *
 * CPU-wide events record the last OUT of a thread after its EXIT: it is no wait. A later IN is of a new
 * thread with the same number, unless that OUT was a preemption.
 */
#include "capture/waits/match.h"

#include "base/bytes.h"
#include "base/cleanup.h"

static void on_lost(struct waiting_threads *threads, struct waiting_thread *thread,
		    const struct wait_event *event)
{
	if (thread->state == THREAD_ENDED)
		return;
	if (thread->state == THREAD_BLOCKED) {
		/* The first loss of a wait ends its complete part. */
		if (!thread->lost_ns)
			thread->complete_ns = event->complete_ns;
		thread->lost_ns = event->time_ns;
		return;
	}
	if (thread->state == THREAD_PREEMPTED)
		waiting_threads_hold(threads, thread, NULL);
	/* The held sample's switch may still come: losses are those of some ring buffer. */
	thread->state = THREAD_THERE;
	thread->off_ns = event->time_ns;
}

/* The rest of the wait is unknown: a snapshot finds it after the events are enabled again. */
static struct sp_error *on_disabled(struct waiting_threads *threads, struct waiting_thread *thread,
				    uint64_t time_ns, const struct wait_output *output)
{
	struct sp_error *error = NULL;
	if (thread_is_off(thread))
		error = wait_output_write(output, thread, time_ns, SP_MISC_UNFINISHED);
	if (thread->state != THREAD_ENDED)
		thread->state = THREAD_UNKNOWN;
	thread->lost_ns = 0;
	waiting_threads_hold(threads, thread, NULL);
	return error;
}

static void on_out(struct waiting_threads *threads, struct waiting_thread *thread,
		   const struct wait_event *event, const struct wait_output *output)
{
	thread->lost_ns = 0;
	if (thread->state == THREAD_ENDED) {
		thread->preempted = event->kind == EVENT_PREEMPTED;
		waiting_threads_hold(threads, thread, NULL);
		return;
	}
	if (thread_is_off(thread)) {
		output->counts->unmatched += thread->state == THREAD_BLOCKED;
		waiting_threads_hold(threads, thread, NULL);
	}
	thread->state = event->kind == EVENT_OUT ? THREAD_BLOCKED : THREAD_PREEMPTED;
	thread->off_ns = event->time_ns;
	thread->cpu = event->cpu;
	thread->each = sampled_part_at(output->parts, event->time_ns);
}

/*
 * A sample of a switch comes while the thread is on. If it seems blocked, the record of its return
 * is missing.
 */
static void on_sample(struct waiting_threads *threads, struct waiting_thread *thread, uint8_t *record,
		      const struct wait_output *output)
{
	if (thread->state == THREAD_BLOCKED)
		output->counts->unmatched++;
	if (thread->state != THREAD_ENDED)
		thread->state = THREAD_ON;
	thread->lost_ns = 0;
	waiting_threads_hold(threads, thread, record);
}

/* Ends a wait where records were lost, and begins another where they are complete again. */
static struct sp_error *end_at_loss(struct waiting_threads *threads, struct waiting_thread *thread,
				    const struct wait_output *output)
{
	struct sp_error *error = wait_output_write(output, thread, thread->complete_ns, SP_MISC_UNFINISHED);
	waiting_threads_hold(threads, thread, NULL);
	thread->off_ns = thread->lost_ns;
	thread->lost_ns = 0;
	thread->each = 0;
	return error;
}

/* Owns the record from now on. */
static struct sp_error *on_snapshot(struct waiting_threads *threads, struct waiting_thread *thread,
				    uint8_t *record, const struct wait_output *output)
{
	const struct record_fields *fields = &output->options->fields;
	uint64_t begin_ns = bytes_u64(record + fields->sample_time) -
			    bytes_u64(record + fields->sample_period);
	bool off = thread->state == THREAD_BLOCKED || thread->state == THREAD_THERE;
	bool proven = off && thread->off_ns <= begin_ns && thread->lost_ns <= begin_ns;
	struct sp_error *error = proven && thread->lost_ns ? end_at_loss(threads, thread, output) : NULL;
	bool fits = proven && (thread->state == THREAD_THERE || !thread->held ||
			       wait_output_is_early(output->options, thread));
	output->counts->raced += !proven;
	/* Its switch had no sample. */
	if (proven && thread->state == THREAD_THERE)
		thread->each = 0;
	if (proven)
		thread->state = THREAD_BLOCKED;
	if (fits)
		waiting_threads_hold(threads, thread, record);
	else
		waiting_threads_free_record(threads, record);
	/* The thread was chosen for an earlier wait: this one may become old enough. */
	if (wait_output_is_early(output->options, thread))
		thread->seen_ns = 0;
	return error;
}

static struct sp_error *on_in(struct waiting_threads *threads, struct waiting_thread *thread,
			      const struct wait_event *event, const struct wait_output *output)
{
	struct sp_error *error = NULL;
	if (thread_is_off(thread))
		error = wait_output_write(output, thread, event->time_ns, 0);
	if (thread->state != THREAD_ENDED || !thread->preempted)
		thread->state = THREAD_ON;
	thread->preempted = false;
	thread->lost_ns = 0;
	waiting_threads_hold(threads, thread, NULL);
	return error;
}

static struct sp_error *on_exit_record(struct waiting_threads *threads, struct waiting_thread *thread,
				       uint64_t time_ns, const struct wait_output *output)
{
	struct sp_error *error = waiting_threads_end(threads, thread, time_ns);
	if (!error && output->options->on_end)
		output->options->on_end(output->options->arg, thread->tid);
	return error;
}

struct sp_error *wait_process_event(struct waiting_threads *threads, struct waiting_thread *thread,
				    struct wait_event *event, const struct wait_output *output)
{
	uint8_t *record = take_ptr(event->record);
	switch (event->kind) {
	case EVENT_LOST:
		on_lost(threads, thread, event);
		return NULL;
	case EVENT_SAMPLE:
		on_sample(threads, thread, record, output);
		return NULL;
	case EVENT_SNAPSHOT:
		return on_snapshot(threads, thread, record, output);
	case EVENT_DISABLED:
		return on_disabled(threads, thread, event->time_ns, output);
	case EVENT_OUT:
	case EVENT_PREEMPTED:
		on_out(threads, thread, event, output);
		return NULL;
	case EVENT_IN:
		return on_in(threads, thread, event, output);
	default:
		return on_exit_record(threads, thread, event->time_ns, output);
	}
}
