/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stacks/dump_unwind.h"

#include <string.h>

/* Highest register numbers: on arm64 the pc is 32, on x86 r15 is 23. */
#define ARM64_PC 32
#define X86_LAST 23

/*
 * x86's segment registers 12 to 15, which perf never requests. Other architectures use these numbers.
 */
#define X86_SEGMENTS (UINT64_C(15) << 12)

/* Guesses the architecture by the recorded registers, if the recording does not name it. */
static const char *guess_arch(const struct record_layout *layout)
{
	uint64_t mask = 0;
	for (size_t i = 0; i < layout->event_count; i++)
		if (dump_unwind_has_dump(&layout->events[i].attr))
			mask |= layout->events[i].attr.sample_regs_user;
	if (mask >> ARM64_PC & 1)
		return "aarch64";
	return mask >> X86_LAST & 1 && !(mask & X86_SEGMENTS) ? "x86_64" : NULL;
}

/*
 * Returns whether the architecture is arm64. Only there, a function's caller may be in a register
 * alone.
 */
static bool is_arm64(const char *arch)
{
	return arch && (!strncmp(arch, "aarch64", 7) || !strcmp(arch, "arm64"));
}

static struct location locate(void *arg, uint32_t view, uint64_t ip)
{
	const struct unwinding *unwinding = arg;
	return machine_locate(unwinding->machine, view, PERF_RECORD_MISC_USER, ip);
}

static struct sp_error *make_unwinder(struct unwinding *unwinding,
				      const struct dump_unwind_source *source)
{
	const struct unwind_options options = {
		.engine = source->wanted->unwinder,
		.arch = source->provenance.arch ?: guess_arch(source->layout),
		.locator = {locate, unwinding},
		.files = {
			.open = binary_open_code,
			.debug = binary_open_debug,
			.arg = &unwinding->files,
			.generated = jit_frames_find,
			.generated_arg = &unwinding->generated,
		},
	};
	jit_frames_init(&unwinding->generated, &(struct jitdump_request){
		.ctx = source->ctx, .symfs = source->wanted->symfs, .host = source->provenance.host,
		.stored = source->stored, .files = source->jit,
	});
	if (!options.arch)
		return error_new(SP_ERROR_UNSUPPORTED,
				 "the recording does not say on which architecture it was made");
	if (source->layout->swap)
		return error_new(SP_ERROR_UNSUPPORTED,
				 "%s was recorded in the other byte order: stacks cannot be unwound here",
				 options.arch);
	return unwinder_new(source->ctx, &options, &unwinding->unwinder);
}

struct sp_error *dump_unwind_init(struct unwinding *unwinding, const struct dump_unwind_source *source)
{
	const struct record_layout *layout = source->layout;
	const char *engine = source->wanted->unwinder;
	*unwinding = (struct unwinding){.machine = source->machine};
	for (size_t i = 0; i < layout->event_count; i++) {
		unwinding->has_dumps |= dump_unwind_has_dump(&layout->events[i].attr);
		unwinding->has_leaves |= dump_unwind_has_leaf(&layout->events[i].attr);
	}
	unwinding->has_leaves &= is_arm64(source->provenance.arch);
	if ((!unwinding->has_dumps && !unwinding->has_leaves) ||
	    (engine && strcmp(engine, "none") == 0))
		return NULL;
	struct sp_error *error = binary_env_init(&unwinding->files, source->ctx,
						 source->wanted->symfs, &source->provenance);
	unwinding->has_files = true;
	unwinding->files.stored = source->stored;
	if (!error)
		error = make_unwinder(unwinding, source);
	if (!error || engine || sp_error_code(error) != SP_ERROR_UNSUPPORTED)
		return error;
	/*
	 * Without an unwinder, chains lack a caller in places, as if the register had not been
	 * recorded.
	 */
	if (unwinding->has_dumps)
		unwinding->refusal = error;
	else
		sp_error_free(error);
	return NULL;
}

void dump_unwind_deinit(struct unwinding *unwinding)
{
	unwinder_free(unwinding->unwinder);
	jit_frames_deinit(&unwinding->generated);
	if (unwinding->has_files)
		binary_env_deinit(&unwinding->files);
	sp_error_free(unwinding->refusal);
}
