/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/turns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "capture/recorder.h"
#include "record/note.h"

#define NS_PER_MS 1000000

/* So many times it is said in the recording that samples are switched on or off. */
#define TOLD_MAX 32

static bool in_order(const struct capture_options *options)
{
	for (size_t i = 0; i < options->schedule.span_count; i++) {
		const struct sp_capture_span *span = &options->schedule.spans[i];
		bool last = i + 1 == options->schedule.span_count;
		if ((span->end_ms || !last) && span->end_ms <= span->begin_ms)
			return false;
		if (i && span->begin_ms <= span[-1].end_ms)
			return false;
	}
	return true;
}

struct sp_error *turns_init(struct turns *turns, const struct capture_options *options)
{
	const struct sp_capture_schedule *schedule = &options->schedule;
	const struct sp_capture_span delay = {.begin_ms = schedule->delay_ms};
	const struct sp_capture_span *spans = schedule->span_count ? schedule->spans : &delay;
	size_t count = schedule->span_count ? schedule->span_count : schedule->delay_ms != 0;
	*turns = (struct turns){.fd = -1, .later = count || schedule->start_disabled};
	turns->turned = turns->later;
	if (!in_order(options))
		return error_new(SP_ERROR_INVALID, "-D: time ranges must be in order and must not overlap");
	if (!count)
		return NULL;
	turns->spans = malloc(count * sizeof(*spans));
	if (!turns->spans)
		return error_no_memory();
	memcpy(turns->spans, spans, count * sizeof(*spans));
	turns->span_count = count;
	return NULL;
}

void turns_deinit(struct turns *turns)
{
	cleanup_close(&turns->fd);
	free(turns->spans);
	free(turns->on);
	*turns = (struct turns){.fd = -1};
}

/* When the next turn is, by CLOCK_MONOTONIC; 0: there is none. */
static uint64_t next_ns(const struct turns *turns)
{
	if (turns->next / 2 >= turns->span_count)
		return 0;
	const struct sp_capture_span *span = &turns->spans[turns->next / 2];
	uint64_t ms = turns->next & 1 ? span->end_ms : span->begin_ms;
	if (turns->next & 1 && !ms)
		return 0; /* it has no end */
	return turns->begin_ns + ms * NS_PER_MS + !ms;
}

static struct sp_error *set_timer(const struct turns *turns)
{
	uint64_t ns = next_ns(turns);
	const struct itimerspec when = {.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
	if (ns && timerfd_settime(turns->fd, TFD_TIMER_ABSTIME, &when, NULL) < 0)
		return error_os(errno, "cannot set a timer");
	return NULL;
}

struct sp_error *capture_watch_turns(struct sp_capture *capture)
{
	struct turns *turns = &capture->control.turns;
	if (!turns->span_count)
		return NULL;
	turns->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (turns->fd < 0)
		return error_os(errno, "cannot make a timer");
	turns->begin_ns = capture_now_ns();
	struct sp_error *error = set_timer(turns);
	return error ? error : capture_watch_fd(capture, turns->fd);
}

struct sp_error *capture_begin_turns(struct sp_capture *capture)
{
	struct turns *turns = &capture->control.turns;
	if (turns->fd < 0 || turns->next)
		return NULL; /* none, or the first has been */
	turns->begin_ns = capture_now_ns();
	return set_timer(turns);
}

static bool all_are(const struct sp_capture *capture, bool on)
{
	for (size_t i = 0; i < capture->config.plan->sample_count; i++)
		if (capture->control.turns.on[i] != on)
			return false;
	return true;
}

bool capture_samples_all(const struct sp_capture *capture)
{
	return capture->control.turns.on ? all_are(capture, true) : !capture->control.turns.later;
}

static struct sp_error *remember(struct sp_capture *capture)
{
	size_t count = capture->config.plan->sample_count;
	if (capture->control.turns.on)
		return NULL;
	capture->control.turns.on = malloc(count * sizeof(*capture->control.turns.on));
	if (!capture->control.turns.on)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		capture->control.turns.on[i] = !capture->control.turns.later;
	return NULL;
}

/* Each as it shall be; those that stand in for all of them are off then. */
static struct sp_error *apply(struct sp_capture *capture)
{
	struct sp_error *error = NULL;
	wide_stop(&capture->control.wide);
	capture->control.pace = (struct pace){0};
	for (size_t i = 0; i < capture->config.plan->sample_count && !error; i++)
		error = event_set_switch_event(capture->control.set, i, capture->control.turns.on[i]);
	return error;
}

/* Notes that an event (SIZE_MAX: all) was enabled or disabled, for readers who find no samples. */
static struct sp_error *note_switch(struct sp_capture *capture, size_t index, enum note_kind kind)
{
	const char *event = index == SIZE_MAX ? NULL : capture->config.plan->samples[index].name;
	capture->out.dirty = true;
	return capture_write_note(capture, kind, event);
}

static struct sp_error *tell(struct sp_capture *capture, size_t index, bool on)
{
	struct turns *turns = &capture->control.turns;
	if (turns->told > TOLD_MAX)
		return NULL;
	if (turns->told++ == TOLD_MAX)
		return note_switch(capture, SIZE_MAX, NOTE_SAMPLING_UNSTABLE);
	return note_switch(capture, index, on ? NOTE_SAMPLING_ON : NOTE_SAMPLING_OFF);
}

struct sp_error *capture_tell_off(struct sp_capture *capture)
{
	struct sp_error *error = NULL;
	if (capture_samples_all(capture))
		return NULL;
	if (!capture->control.turns.on || all_are(capture, false))
		return note_switch(capture, SIZE_MAX, NOTE_SAMPLING_WAS_OFF);
	for (size_t i = 0; i < capture->config.plan->sample_count && !error; i++)
		if (!capture->control.turns.on[i])
			error = note_switch(capture, i, NOTE_SAMPLING_WAS_OFF);
	return error;
}

/* `index` SIZE_MAX: all of them. */
static struct sp_error *turn(struct sp_capture *capture, size_t index, bool on)
{
	struct sp_error *error = remember(capture);
	if (error)
		return error;
	bool was_on = all_are(capture, true), changes = false;
	for (size_t i = 0; i < capture->config.plan->sample_count; i++) {
		if (index != SIZE_MAX && index != i)
			continue;
		changes |= capture->control.turns.on[i] != on;
		capture->control.turns.on[i] = on;
	}
	bool is_on = all_are(capture, true);
	capture->control.turns.turned = true;
	if (was_on && is_on)
		return NULL;
	error = changes ? tell(capture, index, on) : NULL;
	if (!error)
		error = apply(capture);
	return error || !is_on ? error : wide_start(&capture->control.wide, false, capture_now_ns());
}

struct sp_error *capture_take_turn(struct sp_capture *capture)
{
	struct turns *turns = &capture->control.turns;
	uint64_t times;
	if (turns->fd < 0 || read(turns->fd, &times, sizeof(times)) <= 0)
		return NULL;
	struct sp_error *error = turn(capture, SIZE_MAX, !(turns->next & 1));
	turns->next++;
	return error ? error : set_timer(turns);
}

static struct sp_error *turn_named(struct sp_capture *capture, const char *event, bool on)
{
	if (!event)
		return turn(capture, SIZE_MAX, on);
	for (size_t i = 0; i < capture->config.plan->sample_count; i++)
		if (!strcmp(capture->config.plan->samples[i].name, event))
			return turn(capture, i, on);
	return error_new(SP_ERROR_NOT_FOUND, "no event %s is recorded", event);
}

struct sp_error *sp_capture_enable(struct sp_capture *capture, const char *event)
{
	return turn_named(capture, event, true);
}

struct sp_error *sp_capture_disable(struct sp_capture *capture, const char *event)
{
	return turn_named(capture, event, false);
}

size_t sp_capture_event_count(const struct sp_capture *capture)
{
	return capture->config.plan->sample_count;
}

const char *sp_capture_event_name(const struct sp_capture *capture, size_t index)
{
	return capture->config.plan->samples[index].name;
}

const struct perf_event_attr *sp_capture_event_attr(const struct sp_capture *capture, size_t index)
{
	return &capture->config.plan->samples[index].attr;
}

bool sp_capture_event_enabled(const struct sp_capture *capture, size_t index)
{
	return capture->control.turns.on ? capture->control.turns.on[index] : !capture->control.turns.later;
}
