/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/cpu_hotplug.h"

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
#define STOPPED_NS 4000000
#define STOPPED_SHARE 256

/* Notes about switches; frequent switches are not noted each time. */
#define NOTES_MAX 64

bool hotplug_cpu_stopped(const struct hotplug_cpu *cpu, uint64_t now_ns, uint64_t enabled_ns,
			 uint64_t *since_ns_ret)
{
	uint64_t passed_ns = now_ns - cpu->read_ns, on_ns = enabled_ns - cpu->enabled_ns;
	*since_ns_ret = cpu->read_ns + on_ns;
	return on_ns + STOPPED_NS + passed_ns / STOPPED_SHARE < passed_ns;
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
	const struct sock_fprog program = {.len = count_of(code), .filter = code};
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
static bool was_reported(const struct cpu_hotplug *cpu_hotplug)
{
	char message[4096];
	bool reported = false;
	while (cpu_hotplug->fd >= 0 && recv(cpu_hotplug->fd, message, sizeof(message), 0) > 0)
		reported = true;
	return reported;
}

void cpu_hotplug_init(struct cpu_hotplug *cpu_hotplug)
{
	*cpu_hotplug = (struct cpu_hotplug){.fd = -1};
}

void cpu_hotplug_deinit(struct cpu_hotplug *cpu_hotplug)
{
	cleanup_close(&cpu_hotplug->fd);
	free(cpu_hotplug->cpus);
	*cpu_hotplug = (struct cpu_hotplug){.fd = -1};
}

bool cpu_hotplug_enabled_time(const struct cpu_hotplug *cpu_hotplug, size_t index,
			      uint64_t *ns_ret)
{
	return cpu_hotplug->clock.enabled_time(cpu_hotplug->clock.arg, index, ns_ret);
}

struct sp_error *cpu_hotplug_watch(struct cpu_hotplug *cpu_hotplug, const struct cpu_clock *clock,
				   size_t cpu_count)
{
	cpu_hotplug->cpus = calloc(cpu_count, sizeof(*cpu_hotplug->cpus));
	NEED(cpu_hotplug->cpus);
	cpu_hotplug->count = cpu_count;
	cpu_hotplug->clock = *clock;
	for (size_t i = 0; i < cpu_count; i++) {
		struct hotplug_cpu *cpu = &cpu_hotplug->cpus[i];
		cpu->read_ns = cpu->gone_ns = clock_ns(CLOCK_MONOTONIC);
		cpu->unopenable = !cpu_hotplug_enabled_time(cpu_hotplug, i, &cpu->enabled_ns);
	}
	cpu_hotplug->checked_ns = clock_ns(CLOCK_MONOTONIC);
	cpu_hotplug->fd = listen_for_switches();
	return NULL;
}

bool cpu_hotplug_check_is_due(struct cpu_hotplug *cpu_hotplug, bool now)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	if (!cpu_hotplug->cpus)
		return false;
	now |= was_reported(cpu_hotplug);
	bool reports = cpu_hotplug->fd >= 0 && !cpu_hotplug->waiting;
	if (!now && now_ns - cpu_hotplug->checked_ns < (reports ? CHECK_REPORTED_NS : CHECK_NS))
		return false;
	cpu_hotplug->checked_ns = now_ns;
	return true;
}

bool cpu_hotplug_went_offline(struct cpu_hotplug *cpu_hotplug, size_t index)
{
	struct hotplug_cpu *cpu = &cpu_hotplug->cpus[index];
	uint64_t enabled_ns, again_ns, now_ns = clock_ns(CLOCK_MONOTONIC);
	if (!cpu_hotplug_enabled_time(cpu_hotplug, index, &enabled_ns))
		return false;
	/* The CPU is offline if its enabled time does not change between two reads. */
	if (hotplug_cpu_stopped(cpu, now_ns, enabled_ns, &cpu->gone_ns) &&
	    cpu_hotplug_enabled_time(cpu_hotplug, index, &again_ns) && again_ns == enabled_ns)
		return true;
	cpu->read_ns = now_ns;
	cpu->enabled_ns = enabled_ns;
	return false;
}

static uint64_t since_begin(const struct hotplug_notes *to, uint64_t ns)
{
	return ns > to->begin_ns ? ns - to->begin_ns : 0;
}

/* Counts a note; false: there were enough. */
static bool count_note(struct cpu_hotplug *cpu_hotplug)
{
	return cpu_hotplug->noted < NOTES_MAX && ++cpu_hotplug->noted;
}

static struct sp_error *note_if_last(const struct cpu_hotplug *cpu_hotplug, struct notes *notes)
{
	return cpu_hotplug->noted < NOTES_MAX ? NULL : notes_add(notes, NOTE_CPUS_UNSTABLE, NULL);
}

struct sp_error *cpu_hotplug_note_gone(struct cpu_hotplug *cpu_hotplug, size_t index,
				       const struct hotplug_notes *to)
{
	const struct hotplug_cpu *cpu = &cpu_hotplug->cpus[index];
	if (!count_note(cpu_hotplug))
		return NULL;
	TRY(notes_add(to->notes, cpu->unopenable ? NOTE_CPU_GONE : NOTE_CPU_OFFLINE, NULL,
		      to->cpus[index], since_begin(to, cpu->gone_ns)));
	return note_if_last(cpu_hotplug, to->notes);
}

struct sp_error *cpu_hotplug_note_back(struct cpu_hotplug *cpu_hotplug, size_t index, uint64_t now_ns,
				       const struct hotplug_notes *to)
{
	const struct hotplug_cpu *cpu = &cpu_hotplug->cpus[index];
	/* The CPU may have come back between two tries. */
	uint64_t since_ns = cpu->tried_ns > cpu->gone_ns ? cpu->tried_ns : cpu->gone_ns;
	if (!count_note(cpu_hotplug))
		return NULL;
	TRY(notes_add(to->notes, NOTE_CPU_BACK, NULL, to->cpus[index],
		      since_begin(to, cpu->gone_ns), since_begin(to, now_ns),
		      now_ns - since_ns));
	return note_if_last(cpu_hotplug, to->notes);
}
