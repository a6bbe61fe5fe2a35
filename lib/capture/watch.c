/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptors and timer that a recording waits for. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "capture/recorder.h"

/* Rings are drained that often at least: what a recorder that is killed loses at most. */
#define TIMER_NS 500000000

/*
 * The same if stacks are unwound live. Samples are written a round late, and they decide about the
 * size of the next stack copies.
 */
#define UNWINDING_TIMER_NS 20000000

/* The same if command lines are recorded: those of processes that end sooner may be missing. */
#define COMMAND_LINES_TIMER_NS 20000000

/*
 * Overwrite mode: samples are not drained; the watermark of the side-band rings wakes the recorder.
 */
#define FLIGHT_TIMER_NS 5000000000

/* Rounds without a sample to unwind, after which rounds are rare. */
#define QUIET_ROUNDS 25

/*
 * Sets the timer to rounds every `ns`. Periods change at random times (dither.h), and a wake-up
 * costs as much as a change. Therefore the timer's interval is a part of the time until they
 * change next, near `ns`, or all of it.
 */
static struct sp_error *set_timer(struct sp_capture *capture, uint64_t ns)
{
	uint64_t change_ns = capture->control.dither.interval_ns ?: ns;
	capture->ticks = (change_ns + ns / 2) / ns ?: 1;
	capture->tick_ns = change_ns / capture->ticks;
	struct itimerspec when = {.it_value = {(time_t)(capture->tick_ns / 1000000000),
					       (long)(capture->tick_ns % 1000000000)}};
	when.it_interval = when.it_value;
	if (timerfd_settime(capture->timer_fd, 0, &when, NULL) < 0)
		return error_os(errno, "cannot set a timer");
	capture->timer_ns = ns;
	capture->control.dither.is_drawn = false;
	return NULL;
}

struct sp_error *capture_on_timer(struct sp_capture *capture, bool *round_ret)
{
	uint64_t times = 0, since_ns = capture_record_time_ns(capture) - capture->round_ns;
	if (read(capture->timer_fd, &times, sizeof(times)) < 0)
		times = 0;
	*round_ret = true;
	if (!capture->control.dither.count)
		return NULL;
	capture->ticks -= times < capture->ticks ? times : capture->ticks;
	if (!capture->ticks)
		event_control_dither(&capture->control);
	*round_ret = since_ns + capture->tick_ns / 2 >= capture->timer_ns;
	return !capture->ticks || capture->control.dither.is_drawn
		       ? set_timer(capture, capture->timer_ns)
		       : NULL;
}

static uint64_t usual_ns(const struct sp_capture *capture)
{
	return capture->command_lines.on ? COMMAND_LINES_TIMER_NS : TIMER_NS;
}

static struct sp_error *make_timer(struct sp_capture *capture, uint64_t ns)
{
	capture->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (capture->timer_fd < 0)
		return error_os(errno, "cannot make a timer");
	TRY(set_timer(capture, ns));
	return capture_watch_fd(capture, capture->timer_fd);
}

struct sp_error *capture_adapt_timer(struct sp_capture *capture)
{
	if (!capture->samples.live_unwind)
		return NULL;
	bool quiet = sample_path_oldest_ns(&capture->samples) == UINT64_MAX;
	capture->quiet_rounds = quiet ? capture->quiet_rounds + 1 : 0;
	uint64_t waits_ns =
		capture->samples.waits ? waits_made(capture->samples.waits)->round_ns : 0;
	uint64_t timer_ns = waits_ns ? waits_ns
			    : capture->quiet_rounds < QUIET_ROUNDS ? UNWINDING_TIMER_NS
								   : usual_ns(capture);
	return timer_ns == capture->timer_ns ? NULL : set_timer(capture, timer_ns);
}

struct sp_error *capture_watch(struct sp_capture *capture)
{
	capture->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (capture->epoll_fd < 0)
		return error_os(errno, "epoll_create1");
	uint64_t timer_ns = capture->overwrite.on ? FLIGHT_TIMER_NS
			    : capture->samples.live_unwind ? UNWINDING_TIMER_NS : usual_ns(capture);
	struct sp_error *error = make_timer(capture, timer_ns);
	if (!error)
		error = capture_watch_events(capture);
	if (!error)
		error = capture_watch_fd(capture, capture->tasks.workload.pidfd);
	if (!error && capture->samples.live_unwind)
		error = capture_watch_fd(capture, live_unwind_alarm_fd(capture->samples.live_unwind));
	const struct command_ring *own = &capture->tasks.tracker.own;
	if (!error && own->ring.page)
		error = capture_watch_fd(capture, own->fd);
	int drained_fd = ring_bank_fd(&capture->bank);
	bool others_drain = drained_fd >= 0;
	if (!error)
		error = capture_watch_fd(capture, drained_fd);
	for (size_t i = 0; i < capture->bank.count && !error; i++) {
		const struct ring_place *place = &capture->bank.places[i];
		if (!others_drain && !capture->overwrite.on)
			error = capture_watch_fd(capture, place->samples_fd);
		if (!error)
			error = capture_watch_fd(capture, place->metadata_fd);
	}
	return error;
}
