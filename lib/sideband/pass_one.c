/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sideband/pass_one.h"

#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "file/file_format.h"
#include "file/reader_damage.h"
#include "file/reader_struct.h"
#include "reader/feature_payloads.h"
#include "sideband/jitdumps.h"
#include "sideband/timed_code.h"
#include "stored/stored.h"
#include "symbol/jit_files.h"
#include "symbol/kept_names.h"
#include "symbol/kernel_tables.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/*
 * Returns the time in ns since 1970 after which no module was mapped: by CLOCK_DATA and
 * SAMPLE_TIME; else the file's mtime, which may be later; 0: unknown.
 */
static uint64_t recorded_until_ns(const struct sp_reader *reader)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	struct stat st;
	if (info->has_clock && info->last_sample_ns >= info->clock_ns)
		return info->clock_wall_ns + (info->last_sample_ns - info->clock_ns);
	if (info->mode != SP_READER_FILE || stat(info->path, &st) || !S_ISREG(st.st_mode))
		return 0;
	return (uint64_t)st.st_mtim.tv_sec * NS_PER_SECOND + (uint64_t)st.st_mtim.tv_nsec;
}

/* Opens the names and files that the recording stores. If they are damaged, there are none. */
static struct sp_error *open_stored(const struct sp_reader *reader, struct stored **ret)
{
	struct sp_error *error = stored_open(reader->fd, reader->whole_size, reader->path, ret);
	if (error && sp_error_code(error) != SP_ERROR_NO_MEMORY) {
		ctx_log(reader->ctx, SP_LOG_WARNING, "%s", sp_error_message(error));
		sp_error_free(take_ptr(error));
	}
	return error;
}

/* Opens the resolver and the unwinder. */
static struct sp_error *open_code(const struct pass_one *pass, struct pass_one_result *ret)
{
	struct sp_ctx *ctx = pass->ctx;
	const struct sp_reader *reader = pass->reader;
	const struct sp_files *files = pass->files;
	const struct sp_file_info *info = sp_reader_info(reader);
	const struct module *kernel = machine_kernel(ret->machine);
	const struct resolver_options options = {
		.recorded = {
			.file = reader_feature(reader, FEATURE_SIMPLEPERF_FILE),
			.file2 = reader_feature(reader, FEATURE_SIMPLEPERF_FILE2),
			.swap = ret->sideband.layout->swap,
		},
		.symfs = files->symfs,
		.vmlinux = files->vmlinux,
		.kallsyms = files->kallsyms,
		.osrelease = info->osrelease,
		.hostname = info->hostname,
		.arch = info->arch,
		.kernel = kernel,
		.kernel_build_id = kernel ? kernel->build_id : NULL,
		.kernel_build_id_size = kernel ? kernel->build_id_size : 0,
		.until_ns = recorded_until_ns(reader),
		.names = pass->names,
		.stored = ret->sideband.stored,
		.jit = ret->sideband.jit,
	};
	TRY(resolver_new(ctx, &options, &ret->resolver));
	return dump_unwind_init(&ret->unwinding, &(struct dump_unwind_source){
		.ctx = ctx,
		.layout = ret->sideband.layout,
		.machine = ret->machine,
		.wanted = files,
		.provenance = resolver_provenance(ctx, &options),
		.stored = ret->sideband.stored,
		.jit = ret->sideband.jit,
	});
}

struct sp_error *pass_one_read(const struct pass_one *pass, struct pass_one_result *ret)
{
	struct sp_reader *reader = pass->reader;
	struct sideband *sideband = &ret->sideband;
	const struct sp_file_info *info = sp_reader_info(reader);
	ret->reader = reader;
	TRY(machine_new(&ret->machine));
	TRY(sideband_init(sideband, reader, ret->machine));
	if (pass->states)
		TRY(sideband_want_states(sideband, reader));
	TRY(sideband_read(sideband, reader, pass->threads));
	if (sideband->states)
		TRY(task_states_seal(sideband->states, info->first_sample_ns,
				     info->last_sample_ns));
	/* Adds the header's architecture and build-ids. */
	struct sp_error *error = NULL;
	machine_set_arch(ret->machine, info->arch);
	for (size_t i = 0; !error && i < info->build_id_count; i++) {
		const struct sp_build_id *build_id = sp_file_build_id(info, i);
		struct sp_record record = {.type = SP_RECORD_HEADER_BUILD_ID,
					   .misc = build_id->cpumode,
					   .build_id = *build_id};
		error = machine_add(ret->machine, &record);
	}
	TRY(error);
	TRY(open_stored(reader, &sideband->stored));
	TRY(jit_files_new(pass->names ? kept_names_jit_memory(pass->names) : 0,
			  pass->names ? kept_names_maps(pass->names) : NULL, &sideband->jit));
	TRY(jitdumps_add(pass->ctx, reader, pass->files->symfs, sideband));
	const struct process_perfmap process = {
		.ctx = pass->ctx,
		.symfs = pass->files->symfs,
		.files = sideband->jit,
	};
	TRY(timed_code_add(&process, sideband));
	TRY(machine_seal(ret->machine));
	TRY(sideband_note_clock(sideband));
	TRY(jitdumps_note(sideband));
	if (pass->chains && sideband->deferred_count)
		TRY(deferred_read(&ret->deferred, reader, sideband->splits.items,
				  sideband->splits.count, pass->threads));
	return open_code(pass, ret);
}

void pass_one_deinit(struct pass_one_result *result)
{
	dump_unwind_deinit(&result->unwinding);
	deferred_deinit(&result->deferred);
	resolver_free(result->resolver);
	sideband_deinit(&result->sideband);
	machine_free(result->machine);
}

void pass_one_free(struct pass_one_result *result)
{
	if (result)
		pass_one_deinit(result);
	free(result);
}

bool pass_one_missed_records(struct sp_reader *reader, bool exact)
{
	if (exact || !reader_is_exact(reader))
		return false;
	reader_clear_data_damage(reader);
	return true;
}
