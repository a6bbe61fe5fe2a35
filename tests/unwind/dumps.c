/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dumps.h"

#include <stdlib.h>
#include <string.h>
#include "elf/debugfile.h"

struct sp_error *dumps_open(struct dumps *dumps, const char *path)
{
	const struct provenance here = {.same_kernel = true, .host = HOST_SAME};
	*dumps = (struct dumps){0};
	struct sp_error *error = sp_ctx_new(&dumps->ctx);
	if (!error)
		error = sp_reader_open(dumps->ctx, path, &dumps->reader);
	if (!error)
		error = machine_new(&dumps->machine);
	if (!error)
		error = binary_env_init(&dumps->binary, dumps->ctx, NULL, &here);
	if (error)
		return error;
	dumps->arch = sp_reader_info(dumps->reader)->arch;
	if (!dumps->arch)
		dumps->arch = "x86_64";
	machine_set_arch(dumps->machine, dumps->arch);
	const struct sp_record *record;
	while (!error && !(error = sp_reader_next(dumps->reader, &record)) && record)
		if (record->type != PERF_RECORD_SAMPLE)
			error = machine_add(dumps->machine, record);
	if (!error)
		error = machine_seal(dumps->machine);
	sp_reader_rewind(dumps->reader);
	return error;
}

void dumps_close(struct dumps *dumps)
{
	binary_env_deinit(&dumps->binary);
	machine_free(dumps->machine);
	sp_reader_free(dumps->reader);
	sp_ctx_free(dumps->ctx);
}

static void *copy(const void *bytes, size_t size)
{
	void *made = malloc(size + 1);
	if (!made)
		abort();
	if (size > 0)
		memcpy(made, bytes, size);
	return made;
}

static struct dump dump_of(const struct dumps *dumps, const struct sp_sample *sample)
{
	struct dump dump = {
		.pid = sample->pid,
		.tid = sample->tid,
		.time_ns = sample->time_ns,
		.values = copy(sample->user_registers.values,
			       sample->user_registers.count * sizeof(uint64_t)),
	};
	size_t size = sample->stack.size;
	if (sample->stack_dyn_size < size)
		size = sample->stack_dyn_size;
	dump.stack = copy(sample->stack.bytes, size);
	dump.sample = (struct unwind_sample){
		.view = machine_view(dumps->machine, sample->pid, sample->time_ns),
		.registers = sample->user_registers,
		.stack = {.bytes = dump.stack, .size = size},
	};
	dump.sample.registers.values = dump.values;
	return dump;
}

struct sp_error *dumps_read(struct dumps *dumps, size_t limit, size_t step, struct dump_list *ret)
{
	const struct sp_record *record;
	struct sp_error *error = NULL;
	size_t seen = 0;
	sp_reader_rewind(dumps->reader);
	while (!error && ret->count < limit &&
	       !(error = sp_reader_next(dumps->reader, &record)) && record) {
		if (record->type != PERF_RECORD_SAMPLE ||
		    record->sample.user_registers.abi == PERF_SAMPLE_REGS_ABI_NONE ||
		    seen++ % step != 0)
			continue;
		struct dump *dump = vec_push(ret);
		if (!dump)
			abort();
		*dump = dump_of(dumps, &record->sample);
	}
	return error;
}

void dump_list_free(struct dump_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].values);
		free(list->items[i].stack);
	}
	vec_deinit(list);
}

static struct location locate(void *arg, uint32_t view, uint64_t ip)
{
	const struct dumps *dumps = arg;
	return machine_locate(dumps->machine, view, PERF_RECORD_MISC_USER, ip);
}

struct sp_error *dumps_unwinder(struct dumps *dumps, const char *engine, struct unwinder **ret)
{
	struct unwind_options options = {
		.engine = engine,
		.arch = dumps->arch,
		.locator = {.locate = locate, .arg = dumps},
		.files = {.open = binary_open_code, .debug = binary_open_debug, .arg = &dumps->binary},
	};
	return unwinder_new(dumps->ctx, &options, ret);
}
