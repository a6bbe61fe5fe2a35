/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records are stored in short form. machine_seal() sorts and replays them.
 *
 * A view's number is: user view + kernel version * number of user views. The kernel's mappings change
 * rarely (for example, a BPF program replaces another one), so there is mostly one version, and a view
 * is a user view.
 */
#include "machine/machine.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/format.h"
#include "base/strtab.h"
#include "machine/command_lines.h"
#include "machine/modules.h"
#include "machine/pools.h"
#include "machine/process.h"
#include "record/kept.h"
#include "record/task_change.h"
#include "record/types.h"

/* Number of mappings that exec makes at most: the program and its interpreter. The vdso comes last. */
#define EXEC_MAPS 3

/* Name of the idle threads. */
#define IDLE "swapper"

/* Lowest address that programs can map. */
#define USER_LEAST 4096

enum event_kind {
	EVENT_MAP,
	EVENT_MAP_KERNEL, /* code loaded into the kernel: a module or BPF program */
	EVENT_MAP_IMAGE,  /* the kernel's image */
	EVENT_MAP_GUEST,
	EVENT_MAP_GUEST_IMAGE,
	EVENT_MAKE, /* JIT code */
	EVENT_COMM,
	EVENT_FORK,
	EVENT_COMMAND_LINE,
};

struct event {
	uint64_t time_ns;
	uint32_t sequence;
	uint8_t kind;  /* value of enum event_kind */
	/*
	 * COMM: the process executed a program. FORK: the record was made for an older process, so
	 * that its mappings have records of their own, and the parent's are not copied.
	 */
	bool own_space;
	bool is_code;  /* MAP: the mapping is executable */
	bool cut_short; /* MAP: perf stopped reading the process's mappings after this one */
	union {
		struct mapping mapping; /* mapping.pid is the process of the address space */
		struct {
			uint32_t pid, tid;
			union {
				const char *comm;
				uint32_t command; /* COMMAND_LINE: index in command_lines */
			};
		};
		struct sp_task task;
	};
};

/* One kernel: its image, and code loaded into it. */
struct kernel {
	struct moments timeline;
	struct views views;
	struct mapping_node *images;
	struct module *module; /* module of the first image; NULL: none */
};

struct machine {
	struct modules modules;
	struct strtab comms;
	VEC(struct event) events; /* events, until the machine is sealed */
	VEC(struct machine_jitdump) jitdumps;
	struct timelines spaces;  /* views of address spaces, by pid */
	struct timelines threads; /* names of threads, by tid */
	struct views views;
	struct kernel host, guest;
	struct u64map runtimes; /* pid -> number of its runtime */
	struct pools pools;
	struct replaced_code replaced; /* until the seal */
	struct command_lines_history command_lines;
	bool partial; /* mapping records may be missing */
	bool has_outside; /* machine_has_outside() */
	bool sealed;
	pthread_mutex_t lock;      /* protects `unknown_comms` */
	struct strtab unknown_comms;
};

DEFINE_CLEANUP(struct machine *, machine_free)

struct sp_error *machine_new(struct machine **ret)
{
	CLEANUP(cleanup_machine_free) struct machine *machine = calloc(1, sizeof(*machine));
	NEED(machine);
	pthread_mutex_init(&machine->lock, NULL);
	machine->modules.is_64bit = true;
	machine->views.limit = UINT32_MAX >> 4;
	struct moments *idle = timelines_get(&machine->threads, 0);
	struct moment *moment = idle ? timeline_add(idle, 0) : NULL;
	struct view *unknown = vec_push(&machine->views);
	NEED(moment && unknown);
	moment->comm = IDLE;
	*unknown = (struct view){.shared = true};
	*ret = take_ptr(machine);
	return NULL;
}

static void kernel_deinit(struct kernel *kernel)
{
	vec_deinit(&kernel->timeline);
	views_deinit(&kernel->views);
}

void machine_free(struct machine *machine)
{
	if (!machine)
		return;
	modules_deinit(&machine->modules);
	strtab_deinit(&machine->comms);
	vec_deinit(&machine->events);
	vec_deinit(&machine->jitdumps);
	timelines_deinit(&machine->spaces);
	timelines_deinit(&machine->threads);
	views_deinit(&machine->views);
	kernel_deinit(&machine->host);
	kernel_deinit(&machine->guest);
	strtab_deinit(&machine->unknown_comms);
	u64map_deinit(&machine->runtimes);
	pools_deinit(&machine->pools);
	replaced_code_deinit(&machine->replaced);
	command_lines_history_deinit(&machine->command_lines);
	pthread_mutex_destroy(&machine->lock);
	free(machine);
}

void machine_set_arch(struct machine *machine, const char *arch)
{
	machine->modules.is_64bit = !arch || strstr(arch, "64") || strcmp(arch, "s390x") == 0 ||
				    strcmp(arch, "alpha") == 0;
}

/* Returns whether to drop a record of this pid, and notes that there are such processes. */
static bool drop_outside(struct machine *machine, uint32_t pid)
{
	machine->has_outside |= pid == 0;
	return modules_is_outside(pid);
}

static struct event *event_new(struct machine *machine, const struct sp_record *record,
			       enum event_kind kind)
{
	struct event *event = vec_push(&machine->events);
	if (event)
		*event = (struct event){.time_ns = record->id.time_ns,
					.kind = kind,
					.sequence = machine->events.count - 1};
	return event;
}

static bool add_mapping(struct machine *machine, const struct sp_record *record,
			enum event_kind kind, const struct module *module,
			const struct sp_mmap *mmap)
{
	struct event *event = module ? event_new(machine, record, kind) : NULL;
	if (!event)
		return false;
	event->mapping = modules_mapping(module, mmap);
	return true;
}

/*
 * Adds a jitdump that a process mapped. A process may map it several times, and each file of a
 * recording repeats the mappings.
 */
static bool add_jitdump(struct machine *machine, const struct sp_record *record)
{
	struct module *module;
	if (!modules_add_jit(&machine->modules, &record->mmap, &module))
		return false;
	if (!module)
		return true;
	for (size_t i = machine->jitdumps.count; i-- > 0;) {
		struct machine_jitdump *known = &machine->jitdumps.items[i];
		if (known->module != module)
			continue;
		if (record->id.time_ns < known->time_ns)
			known->time_ns = record->id.time_ns;
		return true;
	}
	return vec_append(&machine->jitdumps,
			  (struct machine_jitdump){module, record->mmap.pid, record->id.time_ns});
}

static bool add_mmap(struct machine *machine, const struct sp_record *record)
{
	const struct sp_mmap *mmap = &record->mmap;
	uint16_t cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool guest = cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
	if (mmap->size == 0)
		return true;
	if (cpumode == PERF_RECORD_MISC_KERNEL || guest) {
		const struct module *module = modules_add_kernel(&machine->modules, mmap, guest);
		bool image = module && module->kind == MODULE_KERNEL;
		return add_mapping(machine, record,
				   guest ? (image ? EVENT_MAP_GUEST_IMAGE : EVENT_MAP_GUEST) :
					   (image ? EVENT_MAP_IMAGE : EVENT_MAP_KERNEL),
				   module, mmap);
	}
	if (drop_outside(machine, mmap->pid))
		return true;
	if (modules_is_code(record) && !add_jitdump(machine, record))
		return false;
	/* perf inject -B gives a mapping record the mode of a sample, which may be a guest's. */
	if (!add_mapping(machine, record, EVENT_MAP,
			 modules_add_user(&machine->modules, mmap, modules_is_code(record)), mmap))
		return false;
	vec_last(&machine->events)->is_code = modules_is_code(record);
	vec_last(&machine->events)->cut_short = record->misc & PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT;
	return true;
}

static bool add_ksymbol(struct machine *machine, const struct sp_record *record)
{
	const struct sp_ksymbol *ksymbol = &record->ksymbol;
	/* Unregistered code keeps its name until other code takes its place. */
	if (ksymbol->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER || ksymbol->size == 0)
		return true;
	const struct sp_mmap mmap = {.pid = UINT32_MAX, .start = ksymbol->start,
				     .size = ksymbol->size};
	return add_mapping(machine, record, EVENT_MAP_KERNEL,
			   modules_add_code(&machine->modules, ksymbol), &mmap);
}

static bool add_comm(struct machine *machine, const struct sp_record *record, bool exec)
{
	/* The idle threads have pid 0, too. */
	if (!strncmp(record->comm.comm, IDLE, strlen(IDLE)) && !record->comm.pid)
		return true;
	if (drop_outside(machine, record->comm.pid))
		return true;
	struct event *event = event_new(machine, record, EVENT_COMM);
	if (!event)
		return false;
	event->own_space = exec;
	event->pid = record->comm.pid;
	event->tid = record->comm.tid;
	event->comm = strtab_add(&machine->comms, record->comm.comm);
	return event->comm != NULL;
}

static bool add_fork(struct machine *machine, const struct sp_record *record,
		     const struct task_change *change)
{
	if (drop_outside(machine, record->task.pid))
		return true;
	struct event *event = event_new(machine, record, EVENT_FORK);
	if (!event)
		return false;
	event->own_space = change->is_synthesised;
	event->task = record->task;
	event->time_ns = change->time_ns;
	return true;
}

static bool add_command_line(struct machine *machine, const struct command_line *line)
{
	uint32_t index = command_lines_history_add(&machine->command_lines, line);
	const struct sp_record record = {.id.time_ns = line->time_ns};
	struct event *event =
		index == UINT32_MAX ? NULL : event_new(machine, &record, EVENT_COMMAND_LINE);
	if (!event)
		return false;
	event->command = index;
	event->pid = line->pid;
	return true;
}

struct sp_error *machine_add(struct machine *machine, const struct sp_record *record)
{
	bool added = true;
	char name[KEPT_NAME_SIZE];
	struct sp_bytes kept;
	struct file_content content;
	struct python_function function;
	struct command_line line;
	struct task_change change;
	if (machine->sealed)
		return error_new(SP_ERROR_INVALID, "a record came after the machine was sealed");
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		added = add_mmap(machine, record);
		break;
	case PERF_RECORD_KSYMBOL:
		added = add_ksymbol(machine, record);
		break;
	case SP_RECORD_EVENT_UPDATE:
		if (record_kept(record, name, &kept))
			added = modules_add_kept(&machine->modules, name, kept);
		else if (record_content(record, &content))
			added = modules_add_content(&machine->modules, &content);
		else if (record_python(record, &function))
			added = modules_add_python(&machine->modules, &function);
		else if (record_command_line(record, &line) && !modules_is_outside(line.pid))
			added = add_command_line(machine, &line);
		break;
	case SP_RECORD_HEADER_BUILD_ID:
		added = modules_add_build_id(&machine->modules, &record->build_id, record->misc);
		break;
	default:
		if (task_change_of(record, &change) && change.kind == TASK_FORKED)
			added = add_fork(machine, record, &change);
		else if (change.kind == TASK_EXECED || change.kind == TASK_RENAMED)
			added = add_comm(machine, record, change.kind == TASK_EXECED);
	}
	return added ? NULL : error_no_memory();
}

size_t machine_jitdump_count(const struct machine *machine)
{
	return machine->jitdumps.count;
}

struct machine_jitdump machine_jitdump(const struct machine *machine, size_t index)
{
	return machine->jitdumps.items[index];
}

struct sp_error *machine_add_jit(struct machine *machine, const struct machine_jitdump *dump,
				 uint64_t time_ns, uint64_t start, uint64_t size,
				 uint64_t file_offset)
{
	struct mapping mapping = {
		.start = start,
		.file_offset = file_offset,
		.module = dump->module->index,
		.pid = dump->pid,
	};
	/* A mapping older than the jitdump's own belongs to another program's address space. */
	struct sp_record record = {
		.id.time_ns = time_ns > dump->time_ns ? time_ns : dump->time_ns};
	if (size == 0 || __builtin_add_overflow(start, size, &mapping.end))
		return NULL;
	struct event *event = event_new(machine, &record, EVENT_MAKE);
	NEED(event);
	event->mapping = mapping;
	return NULL;
}

struct machine_jitdump machine_mark_perf_map(struct machine *machine, uint32_t pid)
{
	return (struct machine_jitdump){modules_add_perf_map(&machine->modules, pid), pid, 0};
}

uint64_t machine_jit_unparted(const struct machine *machine)
{
	return machine->views.unparted;
}

static bool replay_make(struct machine *machine, const struct event *event)
{
	struct moments *space = timelines_get(&machine->spaces, event->mapping.pid);
	return space && views_make(&machine->views, space, event->time_ns, &event->mapping);
}

static bool set_runtime(struct machine *machine, uint32_t pid, uint32_t number)
{
	uint32_t *slot = u64map_put(&machine->runtimes, pid, number, NULL);
	if (slot)
		*slot = number;
	return slot != NULL;
}

static bool replay_map(struct machine *machine, const struct event *event)
{
	struct moments *space = timelines_get(&machine->spaces, event->mapping.pid);
	const struct replaced_mapping made = {
		.views = &machine->views, .space = space, .time_ns = event->time_ns,
		.mapping = event->mapping, .is_code = event->is_code,
	};
	if (!space || !replaced_code_map(&machine->replaced, &machine->modules, &made))
		return false;
	if (!space->count) /* a mapping without a byte */
		return true;
	const struct module *module = machine->modules.list.items[event->mapping.module];
	if (module->runtime && !set_runtime(machine, event->mapping.pid, module->runtime))
		return false;
	struct moment *moment = vec_last(space);
	if (moment->exec_maps) {
		bool last = module->kind == MODULE_VDSO;
		moment->exec_until_ns = event->time_ns;
		moment->exec_maps = last ? 0 : moment->exec_maps - 1;
	}
	/*
	 * perf or sprof read these mappings from /proc when the recording began, and got all of them.
	 */
	if ((event->is_code && !event->time_ns) || event->cut_short)
		views_set_complete(&machine->views, space, !event->cut_short);
	return true;
}

/*
 * Replays code loaded into the kernel. If it is within the kernel's image or a module, it gets the name
 * of that, as in perf.
 */
static bool replay_kernel(struct machine *machine, struct kernel *kernel,
			  const struct event *event)
{
	struct module **modules = machine->modules.list.items;
	struct module *module = modules[event->mapping.module];
	const struct mapping_node *root = vec_last(&kernel->views)->root;
	const struct mapping *around = mapping_find(root, event->mapping.start);
	if (!around)
		around = mapping_find(kernel->images, event->mapping.start);
	if (around && module->kind == MODULE_KERNEL_CODE &&
	    modules[around->module]->kind != MODULE_KERNEL_CODE)
		module->name = modules[around->module]->name;
	return views_map(&kernel->views, &kernel->timeline, event->time_ns, &event->mapping);
}

static bool replay_image(struct machine *machine, struct kernel *kernel,
			 const struct event *event)
{
	if (!kernel->module)
		kernel->module = machine->modules.list.items[event->mapping.module];
	return mapping_insert(&kernel->views.arena, &kernel->images, 0, &event->mapping);
}

/* Replays a FORK: a new thread gets its creator's name, a new process also its address space. */
static bool replay_fork(struct machine *machine, const struct event *event)
{
	const struct sp_task *task = &event->task;
	const struct moments *parent = timelines_find(&machine->threads, task->ptid);
	const char *comm = parent && parent->count ? vec_last(parent)->comm : NULL;
	struct moments *thread = timelines_get(&machine->threads, task->tid);
	struct moment *moment = thread ? timeline_add(thread, event->time_ns) : NULL;
	if (!moment)
		return false;
	moment->comm = comm;
	moment->born = true;
	if (task->pid == task->ppid)
		return true;
	struct moments *child = timelines_get(&machine->spaces, task->pid);
	if (!child || !command_lines_history_fork(&machine->command_lines, task->pid, task->ppid,
						  event->time_ns))
		return false;
	u64map_remove(&machine->replaced.programs, task->pid);
	const uint32_t *runtime = u64map_find(&machine->runtimes, task->ppid);
	if (runtime && !set_runtime(machine, task->pid, event->own_space ? 0 : *runtime))
		return false;
	const struct moments *space = timelines_find(&machine->spaces, task->ppid);
	if (event->own_space || !space || !space->count)
		return views_start(&machine->views, child, event->time_ns, false);
	return views_fork(&machine->views, child, space, event->time_ns);
}

static bool replay_comm(struct machine *machine, const struct event *event)
{
	struct moments *thread = timelines_get(&machine->threads, event->tid);
	struct moment *moment = thread ? timeline_add(thread, event->time_ns) : NULL;
	if (!moment)
		return false;
	moment->comm = event->comm;
	if (!pools_add(&machine->pools, event->pid, event->tid, event->comm))
		return false;
	if (!event->own_space)
		return true;
	uint32_t *runtime = u64map_find(&machine->runtimes, event->pid);
	if (runtime)
		*runtime = 0;
	struct moments *space = timelines_get(&machine->spaces, event->pid);
	if (!space || !views_start(&machine->views, space, event->time_ns, true) ||
	    !command_lines_history_exec(&machine->command_lines, event->pid, event->time_ns))
		return false;
	vec_last(space)->exec_until_ns = event->time_ns;
	vec_last(space)->exec_maps = EXEC_MAPS;
	return replaced_code_exec(&machine->replaced, event->pid);
}

static bool replay(struct machine *machine, const struct event *event)
{
	switch ((enum event_kind)event->kind) {
	case EVENT_MAP:
		return replay_map(machine, event);
	case EVENT_MAP_KERNEL:
		return replay_kernel(machine, &machine->host, event);
	case EVENT_MAP_GUEST:
		return replay_kernel(machine, &machine->guest, event);
	case EVENT_MAP_IMAGE:
		return replay_image(machine, &machine->host, event);
	case EVENT_MAP_GUEST_IMAGE:
		return replay_image(machine, &machine->guest, event);
	case EVENT_MAKE:
		return replay_make(machine, event);
	case EVENT_COMM:
		return replay_comm(machine, event);
	case EVENT_FORK:
		return replay_fork(machine, event);
	case EVENT_COMMAND_LINE:
		return command_lines_history_set(&machine->command_lines, event->pid,
						 event->time_ns, event->command);
	}
	return true;
}

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	return u64_order(x->time_ns, y->time_ns) ?: u64_order(x->sequence, y->sequence);
}

/* Creates the first version of a kernel, which is valid from the start. */
static bool kernel_start(struct kernel *kernel, size_t limit)
{
	kernel->views.limit = limit;
	return views_start(&kernel->views, &kernel->timeline, 0, true);
}

struct sp_error *machine_seal(struct machine *machine)
{
	/* Each event creates at most one view per address space. One view is for unknown processes. */
	size_t limit = (UINT32_MAX >> 4) / (machine->events.count + 1);
	vec_sort(&machine->events, compare_events);
	modules_seal(&machine->modules);
	if (machine->has_outside)
		timelines_find(&machine->threads, 0)->items[0].comm = NULL;
	NEED(kernel_start(&machine->host, limit) && kernel_start(&machine->guest, 1));
	vec_each (item, &machine->events)
		NEED(replay(machine, item));
	replaced_code_seal(&machine->replaced, &machine->modules);
	for (size_t i = 0; i < machine->modules.list.count; i++)
		if (machine_runtime(machine, machine->modules.list.items[i]->pid))
			modules_set_generated(machine->modules.list.items[i]);
	vec_deinit(&machine->events);
	machine->sealed = true;
	return NULL;
}

/* Returns the name of a thread without records: ":TID". */
static const char *unknown_comm(const struct machine *machine, uint32_t tid)
{
	/* A sealed machine is constant, except for this lock and the names that it protects. */
	struct machine *shared = (struct machine *)(uintptr_t)machine;
	char name[16];
	snprintf(name, sizeof(name), ":%d", tid);
	pthread_mutex_lock(&shared->lock);
	const char *comm = strtab_add(&shared->unknown_comms, name);
	pthread_mutex_unlock(&shared->lock);
	return comm ? comm : ":?";
}

/* Returns the moment at `time_ns`, and limits the span to its duration. */
static const struct moment *moment_at(const struct moments *timeline, uint64_t time_ns,
				      struct machine_span *span)
{
	if (!timeline)
		return NULL;
	const struct moment *moment = timeline_find(timeline, time_ns);
	uint64_t until_ns = timeline_until(timeline, moment);
	if (moment && moment->from_ns > span->from_ns)
		span->from_ns = moment->from_ns;
	if (until_ns < span->until_ns)
		span->until_ns = until_ns;
	return moment;
}

static uint32_t view_at(const struct machine *machine, uint32_t pid, uint64_t time_ns,
			struct machine_span *span)
{
	const struct moments *space = timelines_find(&machine->spaces, pid);
	const struct moment *moment = moment_at(space, time_ns, span);
	const struct moment *kernel = moment_at(&machine->host.timeline, time_ns, span);
	uint32_t view = moment ? moment->view : 0;
	uint32_t version = kernel ? kernel->view * (uint32_t)machine->views.count : 0;
	if (moment && moment > space->items && moment->exec_until_ns) {
		span->exec_until_ns = moment->exec_until_ns;
		span->replaced_view = moment[-1].view + version;
	}
	return view + version;
}

/*
 * Returns the first later name of a thread that has no name in `moment` (NULL: before its first
 * moment).
 */
static const char *later_comm(const struct moments *thread, const struct moment *moment)
{
	if (!thread)
		return NULL;
	const struct moment *next = moment ? moment + 1 : thread->items;
	for (; next < thread->items + thread->count && !next->born; next++)
		if (next->comm)
			return next->comm;
	return NULL;
}

static void name_at(const struct machine *machine, uint32_t tid, uint64_t time_ns,
		    struct machine_span *span)
{
	const struct moments *thread = timelines_find(&machine->threads, tid);
	const struct moment *moment = moment_at(thread, time_ns, span);
	const char *comm = moment ? moment->comm : NULL;
	span->comm = comm ?: unknown_comm(machine, tid);
	span->name = comm ?: later_comm(thread, moment) ?: span->comm;
}

uint32_t machine_view(const struct machine *machine, uint32_t pid, uint64_t time_ns)
{
	struct machine_span span = {.until_ns = UINT64_MAX};
	return view_at(machine, pid, time_ns, &span);
}

size_t machine_view_count(const struct machine *machine)
{
	return machine->views.count * machine->host.views.count;
}

uint32_t machine_view_of_mode(const struct machine *machine, uint32_t view, uint16_t cpumode)
{
	uint32_t user = view % (uint32_t)machine->views.count;
	switch (cpumode) {
	case PERF_RECORD_MISC_USER:
		return user;
	case PERF_RECORD_MISC_KERNEL:
		return view - user;
	default:
		return 0;
	}
}

const char *machine_pool(struct machine *machine, const char *comm)
{
	return pools_find(&machine->pools, comm);
}

struct machine_span machine_span(const struct machine *machine, uint32_t pid, uint32_t tid,
				 uint64_t time_ns)
{
	struct machine_span span = {.until_ns = UINT64_MAX};
	span.view = view_at(machine, pid, time_ns, &span);
	name_at(machine, tid, time_ns, &span);
	return span;
}

uint32_t machine_sample_view(const struct machine *machine, const struct machine_span *span,
			     uint64_t time_ns, uint64_t user_ip)
{
	if (!span->exec_until_ns ||
	    !machine_locate(machine, span->replaced_view, PERF_RECORD_MISC_USER, user_ip).module)
		return span->view;
	bool replaced = time_ns < span->exec_until_ns ||
			!machine_locate(machine, span->view, PERF_RECORD_MISC_USER, user_ip).module;
	return replaced ? span->replaced_view : span->view;
}

static const struct mapping *find_kernel(const struct kernel *kernel, uint32_t version,
					 uint64_t ip)
{
	const struct mapping *mapping = NULL;
	if (version < kernel->views.count)
		mapping = mapping_find(kernel->views.items[version].root, ip);
	return mapping ? mapping : mapping_find(kernel->images, ip);
}

/* Finds the mapping of an ip in user space. JIT code counts only in memory that has no file. */
static const struct mapping *find_user(const struct machine *machine, uint32_t version,
				       uint64_t ip)
{
	const struct view *view = &machine->views.items[version];
	const struct mapping *mapping = mapping_find(view->root, ip);
	if (!view->made)
		return mapping;
	if (mapping && !modules_may_be_jit(machine->modules.list.items[mapping->module]))
		return mapping;
	return mapping_find(view->made, ip) ?: mapping;
}

struct location machine_locate(const struct machine *machine, uint32_t view, uint16_t cpumode,
			       uint64_t ip)
{
	uint32_t user = view % (uint32_t)machine->views.count;
	const struct mapping *mapping = NULL;
	if (python_has_address(ip))
		return (struct location){.module = machine->modules.python, .offset = ip, .ip = ip};
	if (cpumode == PERF_RECORD_MISC_USER)
		mapping = find_user(machine, user, ip);
	else if (cpumode == PERF_RECORD_MISC_KERNEL)
		mapping = find_kernel(&machine->host, view / (uint32_t)machine->views.count, ip);
	else if (cpumode == PERF_RECORD_MISC_GUEST_KERNEL)
		mapping = find_kernel(&machine->guest, 0, ip);
	if (!mapping)
		return (struct location){.offset = ip, .ip = ip};
	return (struct location){
		.module = machine->modules.list.items[mapping->module],
		.offset = mapping->fixed ? ip : ip - mapping->start + mapping->file_offset,
		.mapped_offset = mapping->fixed ? 0 : mapping->file_offset,
		.ip = ip,
		.pid = mapping->pid,
	};
}

bool machine_has_outside(const struct machine *machine)
{
	return machine->has_outside;
}

void machine_set_partial(struct machine *machine)
{
	machine->partial = true;
}

bool machine_may_run(const struct machine *machine, uint32_t view, uint64_t ip)
{
	uint32_t user = view % (uint32_t)machine->views.count;
	struct location at = machine_locate(machine, view, PERF_RECORD_MISC_USER, ip);
	if (python_has_address(ip))
		return true;
	/* Frames of interpreters may be in files that are mapped as data (DEX). */
	if (at.module && (at.module->is_code || at.module->kind != MODULE_ANONYMOUS))
		return true;
	return ip >= USER_LEAST && (machine->partial || !machine->views.items[user].complete);
}

const struct module *machine_kernel(const struct machine *machine)
{
	return machine->host.module;
}

const struct runtime *machine_runtime(const struct machine *machine, uint32_t pid)
{
	const uint32_t *number = u64map_find(&machine->runtimes, pid);
	return number ? runtime_get(*number) : NULL;
}

bool machine_has_python(const struct machine *machine)
{
	return machine->modules.python;
}

const struct machine_command *machine_command(const struct machine *machine, uint32_t pid,
					      uint64_t time_ns)
{
	return command_lines_history_find(&machine->command_lines, pid, time_ns);
}

struct machine_process machine_process(const struct machine *machine, uint32_t pid,
				       uint64_t time_ns)
{
	struct machine_process process =
		command_lines_history_process(&machine->command_lines, pid, time_ns);
	if (process.parent == pid || !timelines_find(&machine->threads, process.parent))
		process.parent = 0;
	return process;
}

char *machine_process_text(const struct machine *machine, uint32_t pid, uint64_t time_ns,
			   bool command_line)
{
	const struct machine_process process = machine_process(machine, pid, time_ns);
	const uint64_t last_ns = process.until_ns - 1;
	const struct machine_command *command = machine_command(machine, pid, last_ns);
	const char *name = machine_span(machine, pid, pid, last_ns).name;
	if (!command)
		return format_text("%s (%u)", name, pid);
	if (command_line)
		return format_text("%s (%u)", command->line, pid);
	return format_text("%s%s%s (%u)", name, *command->file ? " " : "", command->file, pid);
}

size_t machine_module_count(const struct machine *machine)
{
	return machine->modules.list.count;
}

const struct module *machine_module(const struct machine *machine, size_t index)
{
	return machine->modules.list.items[index];
}
