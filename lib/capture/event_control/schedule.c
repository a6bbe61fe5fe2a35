/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/error.h"

#define NS_PER_MS 1000000

/* Returns whether ranges ascend without a common time. Only the last may have no end, 0. */
static bool in_order(const struct sp_capture_schedule *schedule)
{
	for (size_t i = 0; i < schedule->span_count; i++) {
		const struct sp_capture_span *span = &schedule->spans[i];
		bool last = i + 1 == schedule->span_count;
		if ((span->end_ms || !last) && span->end_ms <= span->begin_ms)
			return false;
		if (i && span->begin_ms <= span[-1].end_ms)
			return false;
	}
	return true;
}

struct sp_error *schedule_init(struct schedule *schedule, const struct sp_capture_schedule *options)
{
	const struct sp_capture_span delay = {.begin_ms = options->delay_ms};
	const struct sp_capture_span *spans = options->span_count ? options->spans : &delay;
	size_t count = options->span_count ? options->span_count : options->delay_ms != 0;
	*schedule = (struct schedule){.fd = -1, .later = count || options->start_disabled};
	schedule->turned = schedule->later;
	if (!in_order(options))
		return error_new(SP_ERROR_INVALID, "-D: time ranges must be in order and must not overlap");
	if (!count)
		return NULL;
	schedule->spans = malloc(count * sizeof(*spans));
	NEED(schedule->spans);
	memcpy(schedule->spans, spans, count * sizeof(*spans));
	schedule->span_count = count;
	return NULL;
}

void schedule_deinit(struct schedule *schedule)
{
	cleanup_close(&schedule->fd);
	free(schedule->spans);
	free(schedule->on);
	*schedule = (struct schedule){.fd = -1};
}

struct sp_error *schedule_add_events(struct schedule *schedule, size_t count)
{
	schedule->on = malloc(count * sizeof(*schedule->on));
	NEED(schedule->on);
	schedule->event_count = count;
	for (size_t i = 0; i < count; i++)
		schedule->on[i] = !schedule->later;
	return NULL;
}

bool schedule_all_are(const struct schedule *schedule, bool on)
{
	for (size_t i = 0; i < schedule->event_count; i++)
		if (schedule->on[i] != on)
			return false;
	return true;
}

bool schedule_set(struct schedule *schedule, size_t index, bool on)
{
	bool changes = false;
	for (size_t i = 0; i < schedule->event_count; i++) {
		if (index != SCHEDULE_ALL && index != i)
			continue;
		changes |= schedule->on[i] != on;
		schedule->on[i] = on;
	}
	schedule->turned = true;
	return changes;
}

uint64_t schedule_next_ns(const struct schedule *schedule)
{
	if (schedule->next / 2 >= schedule->span_count)
		return 0;
	const struct sp_capture_span *span = &schedule->spans[schedule->next / 2];
	uint64_t ms = schedule->next & 1 ? span->end_ms : span->begin_ms;
	if (schedule->next & 1 && !ms)
		return 0; /* it has no end */
	/* At least 1, because 0 is never. */
	return schedule->begin_ns + ms * NS_PER_MS + !ms;
}

static struct sp_error *set_timer(const struct schedule *schedule)
{
	uint64_t ns = schedule_next_ns(schedule);
	const struct itimerspec when = {
		.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)},
	};
	if (ns && timerfd_settime(schedule->fd, TFD_TIMER_ABSTIME, &when, NULL) < 0)
		return error_os(errno, "cannot set a timer");
	return NULL;
}

struct sp_error *schedule_open_timer(struct schedule *schedule, uint64_t now_ns)
{
	if (!schedule->span_count)
		return NULL;
	schedule->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (schedule->fd < 0)
		return error_os(errno, "cannot make a timer");
	schedule->begin_ns = now_ns;
	return set_timer(schedule);
}

struct sp_error *schedule_restart(struct schedule *schedule, uint64_t now_ns)
{
	if (schedule->fd < 0 || schedule->next)
		return NULL;
	schedule->begin_ns = now_ns;
	return set_timer(schedule);
}

bool schedule_expired(const struct schedule *schedule)
{
	uint64_t times;
	return schedule->fd >= 0 && read(schedule->fd, &times, sizeof(times)) > 0;
}

struct sp_error *schedule_advance(struct schedule *schedule)
{
	schedule->next++;
	return set_timer(schedule);
}
