/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/turns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/error.h"

#define NS_PER_MS 1000000

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

struct sp_error *turns_init(struct turns *turns, const struct sp_capture_schedule *schedule)
{
	const struct sp_capture_span delay = {.begin_ms = schedule->delay_ms};
	const struct sp_capture_span *spans = schedule->span_count ? schedule->spans : &delay;
	size_t count = schedule->span_count ? schedule->span_count : schedule->delay_ms != 0;
	*turns = (struct turns){.fd = -1, .later = count || schedule->start_disabled};
	turns->turned = turns->later;
	if (!in_order(schedule))
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

struct sp_error *turns_add_events(struct turns *turns, size_t count)
{
	turns->on = malloc(count * sizeof(*turns->on));
	if (!turns->on)
		return error_no_memory();
	turns->event_count = count;
	for (size_t i = 0; i < count; i++)
		turns->on[i] = !turns->later;
	return NULL;
}

bool turns_all_are(const struct turns *turns, bool on)
{
	for (size_t i = 0; i < turns->event_count; i++)
		if (turns->on[i] != on)
			return false;
	return true;
}

bool turns_set(struct turns *turns, size_t index, bool on)
{
	bool changes = false;
	for (size_t i = 0; i < turns->event_count; i++) {
		if (index != TURNS_ALL && index != i)
			continue;
		changes |= turns->on[i] != on;
		turns->on[i] = on;
	}
	turns->turned = true;
	return changes;
}

uint64_t turns_next_ns(const struct turns *turns)
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
	uint64_t ns = turns_next_ns(turns);
	const struct itimerspec when = {.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
	if (ns && timerfd_settime(turns->fd, TFD_TIMER_ABSTIME, &when, NULL) < 0)
		return error_os(errno, "cannot set a timer");
	return NULL;
}

struct sp_error *turns_open_timer(struct turns *turns, uint64_t now_ns)
{
	if (!turns->span_count)
		return NULL;
	turns->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (turns->fd < 0)
		return error_os(errno, "cannot make a timer");
	turns->begin_ns = now_ns;
	return set_timer(turns);
}

struct sp_error *turns_restart(struct turns *turns, uint64_t now_ns)
{
	if (turns->fd < 0 || turns->next)
		return NULL;
	turns->begin_ns = now_ns;
	return set_timer(turns);
}

bool turns_expired(const struct turns *turns)
{
	uint64_t times;
	return turns->fd >= 0 && read(turns->fd, &times, sizeof(times)) > 0;
}

struct sp_error *turns_advance(struct turns *turns)
{
	turns->next++;
	return set_timer(turns);
}
