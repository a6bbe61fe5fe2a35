/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/event_control.h"

#include <sys/ioctl.h>
#include "base/clock.h"
#include "capture/config/plan_facts.h"
#include "record/note.h"
#include "record/types.h"

/* Below this rate, samples are lost for other reasons. */
#define SLOW_FROM_HZ 1000

/* Helpers stay enabled for this time after the last truncated stack. */
#define HELP_NS 1000000000

/* Notes about events that are switched on or off. */
#define SWITCH_NOTES_MAX 32

/*
 * Limit of context switches, and the interval in which they are counted; a burst is compared at
 * once. Both records of a switch take 1 us. After SWITCHES_OFF_NS, they are tried again.
 */
#define SWITCHES_PER_S 10000
#define SWITCHES_RATE_NS 100000000
#define SWITCHES_BURST 2000
#define SWITCHES_OFF_NS UINT64_C(10000000000)

/* -- Opening --------------------------------------------------------------- */

void event_control_init(struct event_control *control)
{
	*control = (struct event_control){.schedule.fd = -1};
	cpu_hotplug_init(&control->cpu_hotplug);
}

void event_control_deinit(struct event_control *control)
{
	dither_deinit(&control->dither);
	alternate_close(&control->alternate);
	event_set_free(control->set);
	trigger_deinit(&control->trigger);
	cpu_hotplug_deinit(&control->cpu_hotplug);
	schedule_deinit(&control->schedule);
	control->set = NULL;
}

struct sp_error *event_control_open_set(struct event_control *control,
					const struct capture_config *config)
{
	control->config = config;
	TRY(schedule_add_events(&control->schedule, config->plan->sample_count));
	return event_set_new(event_kernel_real(), config->plan, config->cpus.items,
			     config->cpus.count, &control->set);
}

static bool is_clock(const struct event_plan *plan)
{
	return record_is_clock(plan->samples[0].attr.type, plan->samples[0].attr.config);
}

/* Whether copies of stacks cannot have another size. */
static bool is_fixed(const struct event_control *control)
{
	/* Large events would replace the event of waits, too, and lose some. */
	return control->config->graph.fixed_size || control->config->off_cpu.on ||
	       event_plan_has_groups(control->config->plan);
}

/* Whether there is one place on each CPU. Alternates of tasks that are attached to would be too many. */
static bool is_one_place(const struct event_control *control)
{
	return control->config->plan->cpu_wide || control->config->target == CAPTURE_COMMAND;
}

/*
 * Returns whether the rate may be too high for the ring buffers. Rates of other events than clocks
 * are unknown.
 */
static bool is_fast(const struct event_plan *plan)
{
	return plan_rate_hz(plan) >= SLOW_FROM_HZ || (!plan_rate_hz(plan) && !is_clock(plan));
}

struct sp_error *event_control_open_alternates(struct event_control *control,
					       const struct alternate_options *options)
{
	const struct event_plan *plan = control->config->plan;
	struct sp_error *error = NULL;
	alternate_init(&(struct alternate_places){
		.plan = plan, .set = control->set,
		.cpus = control->config->cpus.items, .cpu_count = control->config->cpus.count,
		.tid = plan->cpu_wide ? -1 : options->command_tid,
		.ring_bytes = options->ring_bytes, .freq_hz = plan_rate_hz(plan),
		.kept = config_switch_event(control->config, plan),
		.fixed = is_fixed(control), .on_exec = control->config->copies.alternates_begin,
	}, &control->alternate);
	if (off_cpu_has_outside_wakers(&control->config->off_cpu, plan))
		error = alternate_open_outside(&control->alternate, control->config->off_cpu.wakeups.event,
					       &control->outside_errnum);
	if (error || !is_one_place(control))
		return error;
	if (options->larger && !plan->samples[0].attr.sample_regs_intr)
		error = alternate_open(&control->alternate);
	if (!error && options->slower && is_fast(plan) && !event_plan_has_groups(plan))
		error = alternate_open_slow(&control->alternate);
	return error;
}

/* -- Dithering ------------------------------------------------------------- */

struct sp_error *event_control_open_dither(struct event_control *control,
					   const struct sp_event *events,
					   const struct ring *rings, uint64_t shift_ns)
{
	return dither_open(&control->dither, control->config, events, rings, shift_ns);
}

static struct alternate_events *events_of(struct event_control *control, enum sampling_mode mode)
{
	return mode == SAMPLING_LARGE ? &control->alternate.large : &control->alternate.slow;
}

/* Returns the descriptor of the event that samples in this mode; -1: there is none. */
static int dithered_fd(struct event_control *control, const struct dither_log *log)
{
	const struct alternate_events *events = events_of(control, control->mode);
	if (control->mode == SAMPLING_PLANNED)
		return event_set_fd(control->set, log->event, log->cpu_index);
	vec_each (item, events)
		if (item->planned == log->event && item->cpu_index == log->cpu_index)
			return item->fd;
	return -1;
}

/* Changes the periods of a CPU's events (SIZE_MAX: all CPUs); `always`: see dither_change(). */
static void change_periods(struct event_control *control, size_t cpu_index, bool always)
{
	struct dither *dither = &control->dither;
	uint32_t slower = control->mode == SAMPLING_SLOW ? ALTERNATE_SLOWER : 1;
	if (!dither->count)
		return;
	bool busy = false;
	dither_draw_interval(dither);
	for (size_t i = 0; i < dither->count; i++) {
		struct dither_log *log = &dither->logs[i];
		if (cpu_index == SIZE_MAX || cpu_index == log->cpu_index)
			busy |= dither_change(dither, log, dithered_fd(control, log), slower,
					      always);
	}
	if (!busy)
		dither->interval_ns = 0;
}

void event_control_dither(struct event_control *control)
{
	change_periods(control, SIZE_MAX, false);
}

/* -- Enabling -------------------------------------------------------------- */

/* Outside events complete a planned one. */
static void enable_outside(struct event_control *control)
{
	size_t event = control->config->off_cpu.wakeups.event;
	alternate_enable(&control->alternate.outside, control->schedule.on[event]);
}

/*
 * Returns whether gaps between windows leave out an event's samples. Outside events stay enabled.
 */
static bool is_thinned(const struct event_control *control, size_t event)
{
	const struct off_cpu *off_cpu = &control->config->off_cpu;
	return off_cpu->on && (event == off_cpu->event || (event == off_cpu->wakeups.event &&
							   event_control_thins_wakeups(control)));
}

/*
 * Enables the planned events that shall be on, and disables the others. The plan's last event has
 * the switches, and is enabled first: a sampled thread without a switch ran all the time.
 */
static struct sp_error *apply_schedule(struct event_control *control)
{
	const struct schedule *schedule = &control->schedule;
	struct sp_error *error = NULL;
	size_t switches = config_switch_event(control->config, control->config->plan);
	enable_outside(control);
	for (size_t i = schedule->event_count; i-- > 0 && !error;) {
		bool suspended = (control->suspended && is_thinned(control, i)) ||
				 (control->switches_off && i == switches);
		error = event_set_switch_event(control->set, i, schedule->on[i] && !suspended);
	}
	return error;
}

bool event_control_thins_wakeups(const struct event_control *control)
{
	const struct wakeup_event *wakeups = &control->config->off_cpu.wakeups;
	return wakeups->on && !wakeups->was_named && control->alternate.outside.count;
}

struct sp_error *event_control_suspend_waits(struct event_control *control, bool suspended)
{
	control->suspended = suspended;
	for (size_t i = 0; i < control->schedule.event_count; i++) {
		if (!is_thinned(control, i) || !control->schedule.on[i])
			continue;
		if (control->mode == SAMPLING_PLANNED)
			TRY(event_set_switch_event(control->set, i, !suspended));
		else
			alternate_suspend(events_of(control, control->mode), i, suspended);
	}
	return NULL;
}

struct sp_error *event_control_pause(struct event_control *control)
{
	alternate_enable(&control->alternate.outside, false);
	if (control->mode == SAMPLING_PLANNED)
		return event_set_disable(control->set, EVENT_ROLE_SAMPLES);
	alternate_enable(events_of(control, control->mode), false);
	return NULL;
}

struct sp_error *event_control_resume(struct event_control *control)
{
	if (control->mode == SAMPLING_PLANNED)
		return apply_schedule(control);
	enable_outside(control);
	alternate_enable(events_of(control, control->mode), true);
	return control->suspended ? event_control_suspend_waits(control, true) : NULL;
}

void event_control_pause_ring(const struct event_control *control, size_t cpu_index, bool pause)
{
	/* Fails only if no ring buffer is mapped. */
	(void)!ioctl(event_set_ring_fd(control->set, cpu_index, EVENT_ROLE_SAMPLES),
		     PERF_EVENT_IOC_PAUSE_OUTPUT, pause);
}

/*
 * First disables, then enables: never two events at a place. Clocks continue where they stopped, so
 * only the time of the calls is missing. The event of context switches stays on.
 */
static struct sp_error *set_mode(struct event_control *control, enum sampling_mode mode)
{
	size_t switches = config_switch_event(control->config, control->config->plan);
	if (mode == control->mode)
		return NULL;
	bool stays = control->mode == SAMPLING_PLANNED && switches != SIZE_MAX;
	if (!stays)
		TRY(event_control_pause(control));
	for (size_t i = 0; stays && i < switches; i++)
		TRY(event_set_switch_event(control->set, i, false));
	control->mode = mode;
	/* While they are disabled: no sample has another event's period. */
	change_periods(control, SIZE_MAX, true);
	return event_control_resume(control);
}

struct sp_error *event_control_begin(struct event_control *control, bool waits)
{
	/* CPU-wide events cannot wait for an exec: samples before it are filtered. */
	bool by_exec = waits && !control->config->plan->cpu_wide;
	/* Large events could not be opened, and the planned ones no longer wait. */
	bool is_missed = control->config->copies.alternates_begin && !control->alternate.on_exec;
	/* The first samples of all CPUs shall not be at one time. */
	change_periods(control, SIZE_MAX, true);
	if (control->schedule.later || (by_exec && !is_missed))
		return NULL;
	return apply_schedule(control);
}

static struct sp_error *begin_alternates(struct event_control *control, bool by_exec, uint64_t now_ns)
{
	const struct stack_need_seen none = {0};
	const struct alternate *alternate = &control->alternate;
	control->until_ns = now_ns + HELP_NS;
	enable_outside(control);
	alternate_enable(&control->alternate.helper, true);
	if (!alternate->large.stack_bytes || !alternate->roomy || (by_exec && !alternate->on_exec))
		return NULL;
	stack_need_set(&control->need, true, &none, now_ns);
	if (!by_exec)
		return set_mode(control, SAMPLING_LARGE);
	control->mode = SAMPLING_LARGE;
	control->alternate.large.enabled = true;
	return NULL;
}

struct sp_error *event_control_begin_alternates(struct event_control *control, bool by_exec,
						uint64_t now_ns)
{
	return control->schedule.later ? NULL : begin_alternates(control, by_exec, now_ns);
}

/* -- Schedule -------------------------------------------------------------- */

/* Notes that an event (SCHEDULE_ALL: all) was enabled or disabled, for readers who find no samples. */
static struct sp_error *note_event(const struct event_control *control, size_t index,
				   enum note_kind kind, const struct note_records *to)
{
	const char *event = index == SCHEDULE_ALL ? NULL : control->config->plan->samples[index].name;
	return notes_write_once(to, NOTE_OF(kind, event));
}

static struct sp_error *note_switch(struct event_control *control, size_t index, bool on,
				    const struct note_records *to)
{
	if (control->switches_noted > SWITCH_NOTES_MAX)
		return NULL;
	if (control->switches_noted++ == SWITCH_NOTES_MAX)
		return note_event(control, SCHEDULE_ALL, NOTE_SAMPLING_UNSTABLE, to);
	return note_event(control, index, on ? NOTE_SAMPLING_ON : NOTE_SAMPLING_OFF, to);
}

struct sp_error *event_control_note_off(const struct event_control *control,
					const struct note_records *to)
{
	const struct schedule *schedule = &control->schedule;
	struct sp_error *error = NULL;
	if (control->switches_off)
		TRY(notes_write_once(to, NOTE_OF(NOTE_SWITCHES_OFF, NULL)));
	if (schedule_all_are(schedule, false))
		return note_event(control, SCHEDULE_ALL, NOTE_SAMPLING_WAS_OFF, to);
	for (size_t i = 0; i < schedule->event_count && !error; i++)
		if (!schedule->on[i])
			error = note_event(control, i, NOTE_SAMPLING_WAS_OFF, to);
	return error;
}

/* Alternates stand for all events: they are off while some event shall be off. */
static struct sp_error *end_alternates(struct event_control *control)
{
	const struct stack_need_seen none = {0};
	alternate_enable(&control->alternate.helper, false);
	stack_need_set(&control->need, false, &none, 0);
	control->rate_control = (struct rate_control){0};
	return control->mode == SAMPLING_PLANNED ? apply_schedule(control)
						 : set_mode(control, SAMPLING_PLANNED);
}

/*
 * Returns whether the other events of -e have that state already. An event of context switches that
 * the user did not request then changes, too.
 */
static bool is_last_to_change(const struct event_control *control, size_t index, bool on)
{
	size_t switches = config_switch_event(control->config, control->config->plan);
	if (!control->config->switches_limited || switches == SIZE_MAX || index >= switches)
		return false;
	for (size_t i = 0; i < switches; i++)
		if (i != index && control->schedule.on[i] != on)
			return false;
	return true;
}

struct sp_error *event_control_switch(struct event_control *control, size_t index, bool on,
				      uint64_t now_ns, const struct note_records *to)
{
	if (is_last_to_change(control, index, on))
		index = SCHEDULE_ALL;
	bool was_on = schedule_all_are(&control->schedule, true);
	bool changes = schedule_set(&control->schedule, index, on);
	bool is_on = schedule_all_are(&control->schedule, true);
	if (was_on && is_on)
		return NULL;
	struct sp_error *error = changes ? note_switch(control, index, on, to) : NULL;
	if (!error)
		error = end_alternates(control);
	return error || !is_on ? error : begin_alternates(control, false, now_ns);
}

struct sp_error *event_control_run_schedule(struct event_control *control, uint64_t now_ns,
					    const struct note_records *to)
{
	if (!schedule_expired(&control->schedule))
		return NULL;
	TRY(event_control_switch(control, SCHEDULE_ALL, schedule_next_is_on(&control->schedule),
				 now_ns, to));
	return schedule_advance(&control->schedule);
}

/* -- Stacks and rate ------------------------------------------------------- */

struct sp_error *event_control_fit_copies(struct event_control *control,
					  const struct alternate_seen *seen, uint64_t now_ns)
{
	/* Stacks that are unwound late must not enable disabled events. */
	if (!schedule_all_are(&control->schedule, true))
		return NULL;
	if (seen->cuts != control->cuts)
		control->until_ns = now_ns + HELP_NS;
	control->cuts = seen->cuts;
	alternate_enable(&control->alternate.helper, now_ns < control->until_ns);
	if (!control->alternate.large.stack_bytes || control->mode == SAMPLING_SLOW ||
	    !stack_need_changes(&control->need, &seen->need, now_ns))
		return NULL;
	stack_need_set(&control->need, !control->need.large, &seen->need, now_ns);
	return set_mode(control, control->need.large ? SAMPLING_LARGE : SAMPLING_PLANNED);
}

bool event_control_can_grow(const struct event_control *control, uint64_t now_ns)
{
	return control->alternate.large.stack_bytes && control->mode != SAMPLING_SLOW &&
	       !control->need.large && now_ns >= control->need.barred_until_ns;
}

struct sp_error *event_control_fit_rate(struct event_control *control,
					const struct rate_control_seen *seen, uint64_t now_ns,
					struct notes *notes)
{
	const struct stack_need_seen none = {0};
	if (!control->alternate.slow.count || !schedule_all_are(&control->schedule, true) ||
	    !rate_control_changes(&control->rate_control, seen, now_ns))
		return NULL;
	if (control->rate_control.slow)
		stack_need_set(&control->need, false, &none, now_ns);
	TRY(set_mode(control, control->rate_control.slow ? SAMPLING_SLOW : SAMPLING_PLANNED));
	const struct perf_event_attr *attr = &control->config->plan->samples[0].attr;
	uint64_t usual = attr->freq ? attr->sample_freq : attr->sample_period;
	uint64_t now = attr->freq ? usual / ALTERNATE_SLOWER : usual * ALTERNATE_SLOWER;
	uint64_t permille = 1000 * control->rate_control.share;
	if (!control->rate_control.slow)
		return notes_add(notes, attr->freq ? NOTE_RATE_RESTORED : NOTE_PERIOD_RESTORED,
				 NULL, usual);
	return notes_add(notes, attr->freq ? NOTE_RATE_LOWERED : NOTE_PERIOD_RAISED, NULL, permille,
			 now, usual);
}

struct sp_error *event_control_fit_switches(struct event_control *control, uint64_t count,
					    uint64_t now_ns, const struct note_records *to)
{
	uint64_t interval_ns = now_ns - control->switches_ns, more = count - control->switches;
	if (!control->config->switches_limited ||
	    config_switch_event(control->config, control->config->plan) == SIZE_MAX)
		return NULL;
	if (control->switches_off) {
		if (interval_ns < SWITCHES_OFF_NS || control->switches_noted > SWITCH_NOTES_MAX)
			return NULL;
	} else if (interval_ns < SWITCHES_RATE_NS && more < SWITCHES_BURST) {
		return NULL;
	}
	control->switches = count;
	control->switches_ns = now_ns;
	bool many = (double)more * 1e9 > (double)SWITCHES_PER_S * (double)interval_ns;
	if (!control->switches_off && !many)
		return NULL;
	bool off = !control->switches_off; /* the note has the time without them */
	size_t event = config_switch_event(control->config, control->config->plan);
	control->switches_off = off;
	control->switches_noted++;
	TRY(notes_write_once(to, NOTE_OF(off ? NOTE_SWITCHES_OFF : NOTE_SWITCHES_ON, NULL)));
	return control->schedule.on[event] ? event_set_switch_event(control->set, event, !off)
					   : NULL;
}

/* -- Losses ---------------------------------------------------------------- */

struct sp_error *event_control_read_lost(const struct event_control *control, uint64_t *lost, bool *known_ret)
{
	*known_ret = true;
	for (size_t i = 0; i < control->config->plan->sample_count; i++) {
		struct event_total total;
		TRY(event_set_read(control->set, i, &total));
		lost[i] = total.lost + alternate_lost(&control->alternate, i);
		*known_ret &= total.lost_known;
	}
	return NULL;
}

/* -- CPU hotplug ----------------------------------------------------------- */

static bool time_of_set(const void *arg, size_t cpu_index, uint64_t *ns_ret)
{
	return event_set_enabled_time(arg, cpu_index, ns_ret);
}

static bool time_of_outside(const void *arg, size_t cpu_index, uint64_t *ns_ret)
{
	return alternate_enabled_time(arg, cpu_index, ns_ret);
}

struct sp_error *event_control_watch_cpus(struct event_control *control)
{
	bool cpu_wide = control->config->plan->cpu_wide;
	const struct cpu_clock clock = cpu_wide ? (struct cpu_clock){time_of_set, control->set}
						: (struct cpu_clock){time_of_outside, &control->alternate};
	if (!cpu_wide && !control->alternate.outside.count)
		return NULL;
	return cpu_hotplug_watch(&control->cpu_hotplug, &clock, control->config->cpus.count);
}

/* *back_ret: the CPU is online, and its events are open again. */
static struct sp_error *reopen(struct event_control *control, size_t index,
			       struct event_renamed_list *renamed, bool *back_ret)
{
	bool offline = false, refused;
	struct sp_error *error = NULL;
	/* Events of tasks count again by themselves. */
	bool cpu_wide = control->config->plan->cpu_wide;
	if (cpu_wide)
		error = event_set_reopen(control->set, index, renamed, &offline);
	*back_ret = !error && !offline;
	if (!*back_ret)
		return error;
	error = alternate_reopen(&control->alternate, index, &refused);
	*back_ret = cpu_wide || !refused;
	return error ? error : trigger_reopen(&control->trigger, index);
}

static struct sp_error *try_cpu(struct event_control *control, size_t index,
				const struct hotplug_notes *to, struct event_renamed_list *renamed,
				bool *back_ret)
{
	struct hotplug_cpu *cpu = &control->cpu_hotplug.cpus[index];
	bool back;
	struct sp_error *error = reopen(control, index, renamed, &back);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	if (!error && back)
		change_periods(control, index, true);
	if (!error && back &&
	    cpu_hotplug_enabled_time(&control->cpu_hotplug, index, &cpu->enabled_ns)) {
		error = cpu_hotplug_note_back(&control->cpu_hotplug, index, now_ns, to);
		cpu->gone = false;
		cpu->read_ns = now_ns;
		*back_ret = true;
	}
	cpu->tried_ns = now_ns;
	return error;
}

static struct sp_error *check_cpu(struct event_control *control, size_t index,
				  const struct cpu_check *check, struct event_renamed_list *renamed,
				  bool *back_ret)
{
	struct hotplug_cpu *cpu = &control->cpu_hotplug.cpus[index];
	const struct hotplug_notes to = {
		check->notes, control->config->cpus.items, check->begin_ns,
	};
	bool goes = !cpu->gone &&
		    (cpu->unopenable || cpu_hotplug_went_offline(&control->cpu_hotplug, index));
	struct sp_error *error = NULL;
	cpu->gone |= goes;
	cpu->unopenable |= goes && check->is_mapped;
	if (goes)
		cpu->tried_ns = cpu->gone_ns;
	if (cpu->gone && !cpu->unopenable && !check->is_mapped)
		error = try_cpu(control, index, &to, renamed, back_ret);
	if (error || !goes || !cpu->gone)
		return error;
	return cpu_hotplug_note_gone(&control->cpu_hotplug, index, &to);
}

struct sp_error *event_control_check_cpus(struct event_control *control,
					  const struct cpu_check *check,
					  struct event_renamed_list *renamed, bool *back_ret)
{
	struct cpu_hotplug *cpu_hotplug = &control->cpu_hotplug;
	struct sp_error *error = NULL;
	*back_ret = false;
	if (!cpu_hotplug_check_is_due(cpu_hotplug, check->now))
		return NULL;
	cpu_hotplug->waiting = false;
	for (size_t i = 0; i < cpu_hotplug->count && !error; i++) {
		error = check_cpu(control, i, check, renamed, back_ret);
		const struct hotplug_cpu *cpu = &cpu_hotplug->cpus[i];
		cpu_hotplug->waiting |= cpu->gone && !cpu->unopenable;
	}
	return error;
}
