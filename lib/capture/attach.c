/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening the events, and learning what runs already.
 *
 * On whole CPUs nothing can be missed: the side-band is on before /proc is read,
 * and what is sampled is decided later, by the records.
 *
 * Task by task, tasks are made and end while events are being opened. So they
 * are listed and opened again and again until there is none left that may be
 * without: coverage.h says which those are.
 */
#include "base/cleanup.h"
#include "capture/tasks/coverage.h"
#include "capture/config/plan_facts.h"
#include "capture/recorder.h"
#include "event/fd_budget.h"

/*
 * A process whose every thread makes the next one and ends can run away from
 * this; it is said, then.
 */
#define PASSES_MAX 100

/* The places of one role, of many tasks on all CPUs. */
struct places {
	VEC(struct event_place);
};

static struct sp_error *add_places(const struct sp_capture *capture, struct places *places,
				   int32_t tid, int32_t last_cpu)
{
	for (uint32_t i = 0; i < capture->config.cpus.count; i++) {
		struct event_place *place = vec_push(places);
		if (!place)
			return error_no_memory();
		*place = (struct event_place){
			.tid = tid, .cpu_index = i,
			.last_cpu = tid < 0 ? (int32_t)capture->config.cpus.items[i] : last_cpu};
	}
	return NULL;
}

/* Whole CPUs (tid -1) or one task. */
static struct sp_error *open_one(struct sp_capture *capture, enum event_role role, int32_t tid)
{
	struct places places = {0};
	struct sp_error *error = add_places(capture, &places, tid, -1);
	if (!error)
		error = event_set_open(capture->control.set, role, places.items, places.count);
	vec_deinit(&places);
	return error;
}

/* So few are always to be had, and not worth a look at the machine's limits. */
#define FEW_FILES 1000

/* Refuses what cannot be before anything is opened. */
static struct sp_error *check_demand(const struct sp_capture *capture, size_t task_count)
{
	const struct event_demand demand = {
		.tasks = task_count,
		.cpus = capture->config.cpus.count,
		.events = capture->config.plan->sample_count + 1,
	};
	if (demand_files(&demand) <= FEW_FILES)
		return NULL;
	const struct demand_limits limits = demand_limits_read(capture->ctx, &capture->config.rights);
	return demand_check(&demand, &limits, &capture->config.rights);
}

static struct sp_error *make_room(const struct sp_capture *capture, size_t task_count)
{
	uint64_t soft;
	size_t cpus = capture->config.cpus.count;
	struct sp_error *error = check_demand(capture, task_count);
	return error ? error : rights_raise_files(&capture->config.rights,
				  event_set_fds_needed(capture->config.plan, cpus, task_count * cpus), &soft);
}

static bool wants_thread(const struct sp_capture *capture, uint32_t tid)
{
	return capture->config.target != CAPTURE_THREADS ||
		task_list_has(&capture->tasks.wanted_threads, tid);
}

/* Tells the memberships of a thread that runs already. */
static struct sp_error *follow(struct sp_capture *capture, uint32_t pid, uint32_t tid)
{
	if (!wants_thread(capture, tid))
		return NULL;
	bool good = membership_add(&capture->tasks.membership, pid, tid, 0);
	if (good && capture->tasks.tracker.spaces == &capture->tasks.spaces)
		good = membership_add(&capture->tasks.spaces, pid, tid, 0);
	return good ? NULL : error_no_memory();
}

static struct sp_error *list_process(struct sp_capture *capture, struct capture_process *process)
{
	struct sp_error *error = tasks_list(capture->ctx, process->pid, &process->threads);
	if (!error || sp_error_code(error) != SP_ERROR_NOT_FOUND)
		return error;
	sp_error_free(error);
	return error_new(SP_ERROR_NOT_FOUND, "process %u does not exist", process->pid);
}

static struct sp_error *list_threads(struct sp_capture *capture)
{
	struct sp_error *found = capture_find_descendants(capture);
	if (found)
		return found;
	for (size_t i = 0; i < capture->tasks.processes.count; i++) {
		struct capture_process *process = &capture->tasks.processes.items[i];
		struct sp_error *error = list_process(capture, process);
		if (error && process->is_descendant && sp_error_code(error) == SP_ERROR_NOT_FOUND)
			sp_error_free(take_ptr(error)); /* it has ended */
		for (size_t j = 0; j < process->threads.count && !error; j++)
			error = follow(capture, process->pid, process->threads.items[j]);
		if (error)
			return error;
	}
	return NULL;
}

static struct sp_error *attach_cpus(struct sp_capture *capture)
{
	struct sp_error *error = make_room(capture, 1);
	if (!error)
		error = open_one(capture, EVENT_ROLE_SIDEBAND, -1);
	if (!error)
		error = list_threads(capture);
	return error ? error : open_one(capture, EVENT_ROLE_SAMPLES, -1);
}

static struct sp_error *attach_command(struct sp_capture *capture)
{
	int32_t pid = (int32_t)capture->tasks.workload.pid;
	struct sp_error *error = make_room(capture, 1);
	if (!error)
		error = open_one(capture, EVENT_ROLE_SIDEBAND, pid);
	return error ? error : open_one(capture, EVENT_ROLE_SAMPLES, pid);
}

/* Where the threads of all processes last ran: opening their events there is cheaper. */
static struct sp_error *find_last_cpus(struct sp_capture *capture, struct u64map *last_cpus)
{
	for (size_t i = 0; i < capture->tasks.processes.count; i++) {
		struct capture_process *process = &capture->tasks.processes.items[i];
		struct sp_error *error = tasks_stat_all(capture->ctx, process->pid, &process->threads,
							&process->stats, &process->stat_count);
		if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND)
			sp_error_free(take_ptr(error)); /* it has ended */
		for (size_t j = 0; j < process->stat_count && !error; j++) {
			const struct task_stat *stat = &process->stats[j];
			if (!u64map_put(last_cpus, stat->tid, (uint32_t)stat->last_cpu, NULL))
				error = error_no_memory();
		}
		if (error)
			return error;
	}
	return NULL;
}

/* One pass of attaching. */
struct pass {
	struct coverage *coverage;
	struct u64map last_cpus;
	struct places sideband, samples;
	bool first;
};

static void pass_deinit(struct pass *pass)
{
	u64map_deinit(&pass->last_cpus);
	vec_deinit(&pass->sideband);
	vec_deinit(&pass->samples);
}

static struct sp_error *plan_pass(struct sp_capture *capture, struct pass *pass)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < pass->coverage->covers.count && !error; i++) {
		const struct cover *cover = &pass->coverage->covers.items[i];
		uint32_t *cpu = u64map_find(&pass->last_cpus, cover->tid);
		int32_t last_cpu = cpu ? (int32_t)*cpu : -1;
		if (cover->state != COVER_NONE)
			continue;
		error = add_places(capture, &pass->sideband, (int32_t)cover->tid, last_cpu);
		if (!error && cover->samples)
			error = add_places(capture, &pass->samples, (int32_t)cover->tid, last_cpu);
	}
	return error;
}

static void see_ended(struct sp_capture *capture, struct coverage *coverage,
		      const struct places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		if (places->items[i].status != EVENT_PLACE_GONE)
			continue;
		uint32_t tid = (uint32_t)places->items[i].tid;
		coverage_find(coverage, tid)->state = COVER_ENDED;
		membership_exit(&capture->tasks.membership, tid);
	}
}

/* Those that were opened later than the others may have inherited events as well. */
static struct sp_error *see_opened(struct sp_capture *capture, const struct pass *pass)
{
	uint64_t end_ns = capture_record_time_ns(capture);
	for (size_t i = 0; i < pass->sideband.count; i++) {
		struct cover *cover = coverage_find(pass->coverage, (uint32_t)pass->sideband.items[i].tid);
		if (cover->state != COVER_NONE)
			continue;
		cover->state = COVER_OPENED;
		cover->end_ns = end_ns;
		if (!pass->first && capture->config.inherit &&
		    !doubts_add_task(&capture->tasks.doubts, cover->tid))
			return error_no_memory();
	}
	return NULL;
}

static struct sp_error *open_pass(struct sp_capture *capture, struct pass *pass)
{
	size_t tasks = pass->sideband.count / capture->config.cpus.count;
	struct sp_error *error = make_room(capture, tasks);
	if (!error)
		error = event_set_open(capture->control.set, EVENT_ROLE_SIDEBAND, pass->sideband.items,
				       pass->sideband.count);
	if (!error)
		error = event_set_open(capture->control.set, EVENT_ROLE_SAMPLES, pass->samples.items,
				       pass->samples.count);
	if (error)
		return error;
	see_ended(capture, pass->coverage, &pass->sideband);
	see_ended(capture, pass->coverage, &pass->samples);
	return see_opened(capture, pass);
}

static struct sp_error *add_fresh(struct sp_capture *capture, struct coverage *coverage,
				  struct capture_process *process, const struct task_list *fresh)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < fresh->count && !error; i++) {
		uint32_t tid = fresh->items[i], *later = vec_push(&process->later);
		if (!later || !coverage_add(coverage, process->pid, tid, wants_thread(capture, tid)))
			return error_no_memory();
		*later = tid;
		error = follow(capture, process->pid, tid);
	}
	return error;
}

/* Looks for what has come up meanwhile: in /proc, then, in that order, by the FORK records. */
static struct sp_error *look_again(struct sp_capture *capture, struct coverage *coverage, bool rescan)
{
	struct task_list fresh = {0};
	struct sp_error *error = rescan ? capture_find_descendants(capture) : NULL;
	for (size_t i = 0; i < capture->tasks.processes.count && coverage->follow && !error; i++) {
		struct capture_process *process = &capture->tasks.processes.items[i];
		error = tasks_relist(capture->ctx, process->pid, &process->threads, &fresh);
		if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND) {
			sp_error_free(take_ptr(error)); /* it has ended */
			continue;
		}
		if (!error)
			error = add_fresh(capture, coverage, process, &fresh);
	}
	vec_deinit(&fresh);
	if (!error)
		error = capture_drain_sideband(capture);
	for (size_t i = 0; i < capture->tasks.tracker.births.count && !error; i++) {
		const struct task_birth *birth = &capture->tasks.tracker.births.items[i];
		/* What shall not inherit events is not to get any of its own. */
		if (capture->config.threads_only && birth->pid != birth->parent_pid)
			continue;
		if (!coverage_fork(coverage, birth))
			error = error_no_memory();
	}
	capture->tasks.tracker.births.count = 0;
	return error;
}

/* *more_ret: there was something to open. */
static struct sp_error *attach_pass(struct sp_capture *capture, struct coverage *coverage,
				    bool first, bool *more_ret)
{
	CLEANUP(pass_deinit) struct pass pass = {.coverage = coverage, .first = first};
	struct sp_error *error = first ? find_last_cpus(capture, &pass.last_cpus) : NULL;
	if (!error)
		error = plan_pass(capture, &pass);
	*more_ret = pass.sideband.count;
	return error || !*more_ret ? error : open_pass(capture, &pass);
}

static struct sp_error *attach_passes(struct sp_capture *capture, struct coverage *coverage,
				      bool first)
{
	bool more = true;
	struct sp_error *error = NULL;
	for (int pass = 0; pass < PASSES_MAX && more && !error; pass++) {
		if (pass || !first)
			error = look_again(capture, coverage, first && capture->config.inherit &&
							      !capture->config.threads_only);
		if (!error)
			error = attach_pass(capture, coverage, first && !pass, &more);
	}
	ctx_log(capture->ctx, SP_LOG_DEBUG, "%zu tasks seen, %zu in doubt", coverage->covers.count,
		capture->tasks.doubts.tasks.count);
	if (!error && more)
		error = notes_add(&capture->out.notes, NOTE_ATTACH_INCOMPLETE, NULL);
	return error;
}

/* Doubts need to know of all events which kind they are of. */
static struct sp_error *settle_doubts(struct sp_capture *capture)
{
	const struct sp_event *events;
	size_t count;
	if (!capture->tasks.doubts.tasks.count)
		return NULL;
	struct sp_error *error = event_set_events(capture->control.set, &events, &count);
	for (size_t i = 0; i + 1 < count && !error; i++)
		for (size_t j = 0; j < events[i].id_count && !error; j++)
			if (!doubts_add_id(&capture->tasks.doubts, events[i].ids[j], (uint32_t)i))
				error = error_no_memory();
	return error;
}

static struct sp_error *attach_tasks(struct sp_capture *capture, struct coverage *coverage)
{
	struct sp_error *error = list_threads(capture);
	for (size_t i = 0; i < capture->tasks.processes.count && !error; i++) {
		const struct capture_process *process = &capture->tasks.processes.items[i];
		for (size_t j = 0; j < process->threads.count && !error; j++) {
			uint32_t tid = process->threads.items[j];
			if (!coverage_add(coverage, process->pid, tid, wants_thread(capture, tid)))
				error = error_no_memory();
		}
	}
	capture->tasks.tracker.collect_births = true;
	return error ? error : attach_passes(capture, coverage, true);
}

static struct sp_error *make_synth(struct sp_capture *capture)
{
	const struct sp_event *events;
	size_t count;
	struct sp_error *error = event_set_events(capture->control.set, &events, &count);
	if (error)
		return error;
	const struct sp_event *tracker = &events[count - 1];
	return synth_new(capture->ctx, &capture->config.plan->sideband.attr,
			 tracker->id_count ? tracker->ids[0] : 0, &capture->out.synthesised,
			 &capture->synth);
}

static struct sp_error *describe_kernel(struct sp_capture *capture)
{
	bool hidden = false;
	struct sp_error *error = synth_kernel(capture->synth, &hidden);
	if (error || !plan_samples_kernel(capture->config.plan))
		return error;
	if (hidden)
		return notes_add(&capture->out.notes, NOTE_KERNEL_HIDDEN, NULL);
	return synth_bpf(capture->synth);
}

static struct sp_error *describe_process(struct sp_capture *capture,
					 const struct capture_process *process)
{
	bool complete = true;
	struct sp_error *error =
		process->stats ? synth_process_known(capture->synth, process->pid, process->stats,
						     process->stat_count, &complete)
			       : synth_process(capture->synth, process->pid, &process->threads,
					       &complete);
	if (!error && !complete)
		error = notes_add(&capture->out.notes, NOTE_PROCESS_MAPS_UNREADABLE, NULL, process->pid);
	return error;
}

static struct sp_error *describe_processes(struct sp_capture *capture)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < capture->tasks.processes.count && !error; i++)
		error = describe_process(capture, &capture->tasks.processes.items[i]);
	return error;
}

/* Threads that were found while the others were attached to. */
static struct sp_error *describe_later(struct sp_capture *capture)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < capture->tasks.processes.count && !error; i++) {
		const struct capture_process *process = &capture->tasks.processes.items[i];
		error = synth_threads(capture->synth, process->pid, &process->later);
	}
	return error;
}

static struct sp_error *describe_everyone(struct sp_capture *capture)
{
	size_t unreadable = 0;
	struct sp_error *error = synth_all(capture->synth, &unreadable);
	if (!error && unreadable)
		error = notes_add(&capture->out.notes, NOTE_MAPS_UNREADABLE, NULL, unreadable);
	return error;
}

static bool samples_user(const struct event_plan *plan)
{
	for (size_t i = 0; i < plan->sample_count; i++)
		if (!plan->samples[i].attr.exclude_user)
			return true;
	return false;
}

/* Who unwinds needs mappings at once. */
static bool at_the_end(const struct sp_capture *capture)
{
	return capture->config.tail_synthesize && !capture->samples.unwinding;
}

struct sp_error *capture_describe_tail(struct sp_capture *capture)
{
	struct sp_error *error = NULL;
	if (!at_the_end(capture))
		return NULL;
	if (capture->config.target == CAPTURE_EVERYONE)
		error = describe_everyone(capture);
	for (size_t i = 0; i < capture->tasks.processes.count && !error; i++) {
		struct capture_process *process = &capture->tasks.processes.items[i];
		free(take_ptr(process->stats));
		error = tasks_list(capture->ctx, process->pid, &process->threads);
		if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND)
			sp_error_free(take_ptr(error)); /* it has ended */
		else if (!error)
			error = describe_process(capture, process);
	}
	return error ? error : capture_write_synthesised(capture);
}

static struct sp_error *describe(struct sp_capture *capture)
{
	struct sp_error *error = make_synth(capture);
	if (!error)
		error = describe_kernel(capture);
	if (!error && samples_user(capture->config.plan))
		error = synth_vdso(capture->synth);
	if (!error)
		error = synth_cgroups(capture->synth);
	if (error || at_the_end(capture))
		return error;
	return capture->config.target == CAPTURE_EVERYONE ? describe_everyone(capture)
						   : describe_processes(capture);
}

struct sp_error *capture_attach(struct sp_capture *capture)
{
	CLEANUP(coverage_deinit) struct coverage coverage = {.follow = capture->config.inherit};
	bool by_task = !capture->config.plan->cpu_wide && capture->config.target != CAPTURE_COMMAND;
	struct sp_error *error = by_task		   ? attach_tasks(capture, &coverage)
				 : capture->config.plan->cpu_wide ? attach_cpus(capture)
							   : attach_command(capture);
	if (!error)
		error = describe(capture);
	if (error || !by_task)
		return error;
	/* By now no fork that began before the events were opened is still under way. */
	error = attach_passes(capture, &coverage, false);
	capture->tasks.tracker.collect_births = false;
	if (!error && !at_the_end(capture))
		error = describe_later(capture);
	if (!error)
		error = capture_note_refused(capture);
	return error ? error : settle_doubts(capture);
}
