/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/absence.h"

#include <linux/filter.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "capture/recorder.h"
#include "capture/tasks/rescan.h"

/*
 * A little less than the timer's. Each look interrupts a CPU: where the kernel tells of switches,
 * only sleep is left to be looked for, until a CPU is gone, and may be back.
 */
#define CHECK_NS 400000000
#define CHECK_TOLD_NS 4900000000

/*
 * Taking a CPU off and putting it back takes more than 10 ms; clocks that are steered differ by
 * 1 in 2,000.
 */
#define SHORT_NS 4000000
#define SHORT_SHARE 256

/* Who switches CPUs all day long is not told of each time. */
#define TOLD_MAX 64

bool absence_is_short(const struct absence *absence, uint64_t now_ns, uint64_t time_on_ns,
		      uint64_t *since_ns_ret)
{
	uint64_t passed_ns = now_ns - absence->seen_ns, on_ns = time_on_ns - absence->time_on_ns;
	*since_ns_ret = absence->seen_ns + on_ns;
	return on_ns + SHORT_NS + passed_ns / SHORT_SHARE < passed_ns;
}

/* What begins with "online@" and "offline@", as no other action does. */
static bool take_switches_alone(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 'o', 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};
	return !setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int listen_for_switches(void)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK, .nl_groups = 1};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
	if (fd < 0 || (take_switches_alone(fd) &&
		       !bind(fd, (const struct sockaddr *)&kernel, sizeof(kernel))))
		return fd;
	close(fd);
	return -1;
}

/* Whether there was a message; whoever it is from, looking does no harm. */
static bool was_told(const struct absences *absences)
{
	char message[4096];
	bool told = false;
	while (absences->fd >= 0 && recv(absences->fd, message, sizeof(message), 0) > 0)
		told = true;
	return told;
}

void absences_init(struct absences *absences)
{
	*absences = (struct absences){.fd = -1};
}

void absences_deinit(struct absences *absences)
{
	cleanup_close(&absences->fd);
	free(absences->cpus);
	*absences = (struct absences){.fd = -1};
}

static bool look(const struct sp_capture *capture, size_t index, uint64_t *time_on_ns_ret)
{
	return event_set_enabled_time(capture->control.set, index, time_on_ns_ret);
}

struct sp_error *capture_watch_cpus(struct sp_capture *capture)
{
	struct absences *absences = &capture->control.absences;
	if (!capture->config.plan->cpu_wide)
		return NULL;
	absences->cpus = calloc(capture->config.cpus.count, sizeof(*absences->cpus));
	if (!absences->cpus)
		return error_no_memory();
	for (size_t i = 0; i < capture->config.cpus.count; i++) {
		struct absence *absence = &absences->cpus[i];
		absence->seen_ns = absence->gone_ns = capture_now_ns();
		absence->lost = !look(capture, i, &absence->time_on_ns);
	}
	absences->checked_ns = capture_now_ns();
	absences->fd = listen_for_switches();
	return NULL;
}

static uint64_t since_begin(const struct sp_capture *capture, uint64_t ns)
{
	return ns > capture->begin_ns ? ns - capture->begin_ns : 0;
}

/* True: it may be said. */
static bool count_telling(struct absences *absences)
{
	return absences->told < TOLD_MAX && ++absences->told;
}

static struct sp_error *say_if_last(struct sp_capture *capture)
{
	if (capture->control.absences.told < TOLD_MAX)
		return NULL;
	return notes_add(&capture->out.notes, NOTE_CPUS_UNSTABLE, NULL);
}

static struct sp_error *say_gone(struct sp_capture *capture, size_t index)
{
	const struct absence *absence = &capture->control.absences.cpus[index];
	if (!count_telling(&capture->control.absences))
		return NULL;
	struct sp_error *error =
		notes_add(&capture->out.notes, absence->lost ? NOTE_CPU_GONE : NOTE_CPU_OFFLINE, NULL,
			     capture->config.cpus.items[index], since_begin(capture, absence->gone_ns));
	return error ? error : say_if_last(capture);
}

static struct sp_error *say_back(struct sp_capture *capture, size_t index, uint64_t now_ns)
{
	struct absences *absences = &capture->control.absences;
	const struct absence *absence = &absences->cpus[index];
	/* It may have been back since it was last looked for. */
	uint64_t since_ns = absence->tried_ns > absence->gone_ns ? absence->tried_ns : absence->gone_ns;
	if (!count_telling(absences))
		return NULL;
	struct sp_error *error =
		notes_add(&capture->out.notes, NOTE_CPU_BACK, NULL, capture->config.cpus.items[index],
			     since_begin(capture, absence->gone_ns), since_begin(capture, now_ns),
			     now_ns - since_ns);
	return error ? error : say_if_last(capture);
}

/* As what the file calls them. */
static struct sp_error *adopt(struct sp_capture *capture, const struct event_renamed *renamed)
{
	const struct event_plan *plan = capture->config.plan;
	struct retouch_name name = {.listed = renamed->listed, .counted = renamed->counted};
	if (renamed->event < plan->sample_count) {
		const struct perf_event_attr *attr = &plan->samples[renamed->event].attr;
		name.read_format = attr->sample_type & PERF_SAMPLE_READ ? attr->read_format : 0;
	}
	return retouch_rename(&capture->bank.retouch, renamed->id, name);
}

static struct sp_error *open_trigger(struct sp_capture *capture, size_t index)
{
	struct trigger *trigger = &capture->control.trigger;
	struct event_renamed_list ignored = {0};
	bool offline;
	if (!trigger->set || !trigger->plan->cpu_wide)
		return NULL;
	struct sp_error *error = event_set_reopen(trigger->set, index, &ignored, &offline);
	vec_deinit(&ignored);
	return error;
}

/* *back_ret: it is recorded again. */
static struct sp_error *open_again(struct sp_capture *capture, size_t index, bool *back_ret)
{
	struct event_renamed_list renamed = {0};
	bool offline = false;
	struct sp_error *error = event_set_reopen(capture->control.set, index, &renamed, &offline);
	/* Some may be open already when it goes again. */
	for (size_t i = 0; i < renamed.count && !error; i++)
		error = adopt(capture, &renamed.items[i]);
	vec_deinit(&renamed);
	if (!error)
		error = ring_bank_copy_changed(&capture->bank);
	*back_ret = !error && !offline;
	if (!error && !offline)
		error = wide_reopen(&capture->control.wide, index);
	return error || offline ? error : open_trigger(capture, index);
}

static struct sp_error *come_back(struct sp_capture *capture, size_t index)
{
	struct absence *absence = &capture->control.absences.cpus[index];
	bool back;
	struct sp_error *error = open_again(capture, index, &back);
	uint64_t now_ns = capture_now_ns();
	if (!error && back && look(capture, index, &absence->time_on_ns)) {
		error = say_back(capture, index, now_ns);
		/* What was begun there meanwhile was told to nobody. */
		tasks_request_rescan(&capture->tasks, true);
		absence->gone = false;
		absence->seen_ns = now_ns;
	}
	absence->tried_ns = now_ns;
	return error;
}

/* Standing still means: now, too. */
static bool has_gone(const struct sp_capture *capture, size_t index)
{
	struct absence *absence = &capture->control.absences.cpus[index];
	uint64_t time_on_ns, again_ns, now_ns = capture_now_ns();
	if (!look(capture, index, &time_on_ns))
		return false;
	if (absence_is_short(absence, now_ns, time_on_ns, &absence->gone_ns) &&
	    look(capture, index, &again_ns) && again_ns == time_on_ns)
		return true;
	absence->seen_ns = now_ns;
	absence->time_on_ns = time_on_ns;
	return false;
}

/* An area for traces belongs to the events that it was mapped for. */
static bool can_come_back(const struct sp_capture *capture, const struct absence *absence)
{
	return !absence->lost && !capture->out.traces.area_bytes;
}

static struct sp_error *check_cpu(struct sp_capture *capture, size_t index)
{
	struct absence *absence = &capture->control.absences.cpus[index];
	bool goes = !absence->gone && (absence->lost || has_gone(capture, index));
	struct sp_error *error = NULL;
	absence->gone |= goes;
	absence->lost |= goes && capture->out.traces.area_bytes;
	if (goes)
		absence->tried_ns = absence->gone_ns;
	if (absence->gone && can_come_back(capture, absence))
		error = come_back(capture, index);
	return error || !goes || !absence->gone ? error : say_gone(capture, index);
}

struct sp_error *capture_check_cpus(struct sp_capture *capture, bool now)
{
	struct absences *absences = &capture->control.absences;
	uint64_t now_ns = capture_now_ns();
	struct sp_error *error = NULL;
	if (!absences->cpus)
		return NULL;
	now |= was_told(absences);
	bool told = absences->fd >= 0 && !absences->waiting;
	if (!now && now_ns - absences->checked_ns < (told ? CHECK_TOLD_NS : CHECK_NS))
		return NULL;
	absences->checked_ns = now_ns;
	absences->waiting = false;
	for (size_t i = 0; i < capture->config.cpus.count && !error; i++) {
		error = check_cpu(capture, i);
		absences->waiting |= absences->cpus[i].gone && !absences->cpus[i].lost;
	}
	return error;
}
