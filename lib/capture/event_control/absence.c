/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/absence.h"

#include <linux/filter.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"

/*
 * A little less than the timer's interval. Each check interrupts all CPUs: if the kernel reports
 * switches, only suspend remains to be detected while all CPUs are online.
 */
#define CHECK_NS 400000000
#define CHECK_REPORTED_NS 4900000000

/*
 * Switching a CPU off and on takes more than 10 ms; adjusted clocks differ by at most 1 in 2,000.
 */
#define SHORT_NS 4000000
#define SHORT_SHARE 256

/* Notes about switches; frequent switches are not noted each time. */
#define NOTES_MAX 64

bool absence_is_short(const struct absence *absence, uint64_t now_ns, uint64_t time_on_ns,
		      uint64_t *since_ns_ret)
{
	uint64_t passed_ns = now_ns - absence->seen_ns, on_ns = time_on_ns - absence->time_on_ns;
	*since_ns_ret = absence->seen_ns + on_ns;
	return on_ns + SHORT_NS + passed_ns / SHORT_SHARE < passed_ns;
}

/* Accepts actions that begin with 'o': "online@" and "offline@", and no others. */
static bool accept_switches_alone(int fd)
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
	if (fd < 0 || (accept_switches_alone(fd) &&
		       !bind(fd, (const struct sockaddr *)&kernel, sizeof(kernel))))
		return fd;
	close(fd);
	return -1;
}

/* Returns whether there was a message. Its sender is not checked: a needless check does no harm. */
static bool was_reported(const struct absences *absences)
{
	char message[4096];
	bool reported = false;
	while (absences->fd >= 0 && recv(absences->fd, message, sizeof(message), 0) > 0)
		reported = true;
	return reported;
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

struct sp_error *absences_watch(struct absences *absences, const struct event_set *set,
				size_t cpu_count)
{
	absences->cpus = calloc(cpu_count, sizeof(*absences->cpus));
	if (!absences->cpus)
		return error_no_memory();
	absences->count = cpu_count;
	for (size_t i = 0; i < cpu_count; i++) {
		struct absence *absence = &absences->cpus[i];
		absence->seen_ns = absence->gone_ns = clock_ns(CLOCK_MONOTONIC);
		absence->lost = !event_set_enabled_time(set, i, &absence->time_on_ns);
	}
	absences->checked_ns = clock_ns(CLOCK_MONOTONIC);
	absences->fd = listen_for_switches();
	return NULL;
}

bool absences_are_due(struct absences *absences, bool now)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	if (!absences->cpus)
		return false;
	now |= was_reported(absences);
	bool reports = absences->fd >= 0 && !absences->waiting;
	if (!now && now_ns - absences->checked_ns < (reports ? CHECK_REPORTED_NS : CHECK_NS))
		return false;
	absences->checked_ns = now_ns;
	return true;
}

bool absence_begins(struct absence *absence, const struct event_set *set, size_t index)
{
	uint64_t time_on_ns, again_ns, now_ns = clock_ns(CLOCK_MONOTONIC);
	if (!event_set_enabled_time(set, index, &time_on_ns))
		return false;
	/* Time that stands still does so now, too. */
	if (absence_is_short(absence, now_ns, time_on_ns, &absence->gone_ns) &&
	    event_set_enabled_time(set, index, &again_ns) && again_ns == time_on_ns)
		return true;
	absence->seen_ns = now_ns;
	absence->time_on_ns = time_on_ns;
	return false;
}

static uint64_t since_begin(const struct absence_notes *to, uint64_t ns)
{
	return ns > to->begin_ns ? ns - to->begin_ns : 0;
}

/* Counts a note; false: there were enough. */
static bool count_note(struct absences *absences)
{
	return absences->noted < NOTES_MAX && ++absences->noted;
}

static struct sp_error *note_if_last(const struct absences *absences, struct notes *notes)
{
	return absences->noted < NOTES_MAX ? NULL : notes_add(notes, NOTE_CPUS_UNSTABLE, NULL);
}

struct sp_error *absences_note_gone(struct absences *absences, size_t index,
				    const struct absence_notes *to)
{
	const struct absence *absence = &absences->cpus[index];
	if (!count_note(absences))
		return NULL;
	struct sp_error *error = notes_add(to->notes, absence->lost ? NOTE_CPU_GONE : NOTE_CPU_OFFLINE,
					   NULL, to->cpus[index], since_begin(to, absence->gone_ns));
	return error ? error : note_if_last(absences, to->notes);
}

struct sp_error *absences_note_back(struct absences *absences, size_t index, uint64_t now_ns,
				    const struct absence_notes *to)
{
	const struct absence *absence = &absences->cpus[index];
	/* It may have been back since the last try. */
	uint64_t since_ns = absence->tried_ns > absence->gone_ns ? absence->tried_ns : absence->gone_ns;
	if (!count_note(absences))
		return NULL;
	struct sp_error *error = notes_add(to->notes, NOTE_CPU_BACK, NULL, to->cpus[index],
					   since_begin(to, absence->gone_ns), since_begin(to, now_ns),
					   now_ns - since_ns);
	return error ? error : note_if_last(absences, to->notes);
}
