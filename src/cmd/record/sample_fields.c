/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/values.h"

#include <sprof/capture.h>
#include <sprof/private/words.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include "diag.h"

/* Constants of Linux 6.1 and 6.8, in case the build's header is older. */
#define BRANCH_PRIV_SAVE (UINT64_C(1) << 18)
#define BRANCH_COUNTERS (UINT64_C(1) << 19)

struct field_word {
	const char *name;
	uint64_t bits;
};

static const struct field_word *find_word(const struct field_word *words, size_t count,
					  const char *name, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i].name) == size && !strncasecmp(words[i].name, name, size))
			return &words[i];
	return NULL;
}

#define FIND(words, name, size) find_word(words, sizeof(words) / sizeof(*(words)), name, size)

bool record_parse_data(const struct option *option, const char *text)
{
	struct sp_capture_fields *fields = option->value;
	(void)text;
	fields->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
	fields->data_mappings = true;
	return true;
}

static const struct field_word branch_words[] = {
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
	{"priv", BRANCH_PRIV_SAVE},
	{"counter", BRANCH_COUNTERS},
};

/*
 * Branch filters that only name privilege levels. They select no kind of branch, so "any" is added, as
 * in perf.
 */
#define BRANCH_LEVELS \
	((uint64_t)(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV))

static bool reject_branch(const char *text, size_t size)
{
	char names[256] = "";
	for (size_t i = 0; i < sizeof(branch_words) / sizeof(*branch_words); i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i ? ", " : "",
			 branch_words[i].name);
	diag_print("-j, --branch-filter: invalid filter '%.*s' (one of %s)", (int)size, text,
		   names);
	return false;
}

bool record_parse_branch_filter(const struct option *option, const char *text)
{
	struct sp_capture_fields *fields = option->value;
	uint64_t bits = 0;
	for (const char *at = text; at; at = strchr(at, ',')) {
		at += at != text;
		size_t size = strcspn(at, ",");
		const struct field_word *word = FIND(branch_words, at, size);
		if (!word)
			return reject_branch(at, size);
		bits |= word->bits;
	}
	if (!(bits & ~BRANCH_LEVELS))
		bits |= PERF_SAMPLE_BRANCH_ANY;
	fields->branch_type |= bits;
	return true;
}

bool record_parse_branch_any(const struct option *option, const char *text)
{
	(void)text;
	return record_parse_branch_filter(option, "any");
}

static enum sp_architecture machine(void)
{
	struct utsname name;
	return uname(&name) ? SP_ARCHITECTURE_UNKNOWN : sp_architecture_parse(name.machine);
}

/* Number of bits in a register mask. */
#define REGISTER_BITS 64

/*
 * Returns the registers that every PMU can sample: no vector registers; on x86 no segment registers
 * except CS and SS, because the kernel rejects the others in 64-bit code.
 */
static uint64_t usual_registers(enum sp_architecture architecture)
{
	uint64_t mask = 0;
	for (unsigned int i = 0; i < REGISTER_BITS; i++)
		if (sp_register_name(architecture, i))
			mask |= UINT64_C(1) << i;
	if (architecture == SP_ARCHITECTURE_X86)
		mask &= sizeof(void *) == 8 ? 0xff0fff : 0xffff;
	if (architecture == SP_ARCHITECTURE_ARM64)
		mask &= (UINT64_C(1) << 33) - 1;
	return mask;
}

static bool list_registers(const struct option *option, enum sp_architecture architecture)
{
	uint64_t usual = usual_registers(architecture);
	fprintf(stderr, "sprof: --%s takes:", option->name);
	for (unsigned int i = 0; i < REGISTER_BITS; i++)
		if (usual >> i & 1)
			fprintf(stderr, " %s", sp_register_name(architecture, i));
	fputc('\n', stderr);
	return false;
}

/*
 * Returns all bits of the register mask that have this name. A vector register has two, one for each
 * half.
 */
static uint64_t registers_named(enum sp_architecture architecture, const char *name, size_t size)
{
	uint64_t mask = 0;
	for (unsigned int i = 0; i < REGISTER_BITS; i++) {
		const char *other = sp_register_name(architecture, i);
		if (other && strlen(other) == size && !strncasecmp(other, name, size))
			mask |= UINT64_C(1) << i;
	}
	return mask;
}

static bool parse_registers(const struct option *option, const char *text, uint64_t *mask)
{
	enum sp_architecture architecture = machine();
	if (!usual_registers(architecture)) {
		diag_print("--%s: not supported on this architecture", option->name);
		return false;
	}
	if (!text) {
		*mask = usual_registers(architecture);
		return true;
	}
	if (!strcmp(text, "?"))
		return list_registers(option, architecture);
	for (const char *at = text; at; at = strchr(at, ',')) {
		at += at != text;
		size_t size = strcspn(at, ",");
		uint64_t bits = registers_named(architecture, at, size);
		if (!bits) {
			diag_print("--%s: unknown register '%.*s' (--%s=? lists them)",
				   option->name, (int)size, at, option->name);
			return false;
		}
		*mask |= bits;
	}
	return true;
}

bool record_parse_user_registers(const struct option *option, const char *text)
{
	struct sp_capture_fields *fields = option->value;
	return parse_registers(option, text, &fields->user_registers);
}

bool record_parse_interrupt_registers(const struct option *option, const char *text)
{
	struct sp_capture_fields *fields = option->value;
	return parse_registers(option, text, &fields->interrupt_registers);
}

bool record_parse_clock(const struct option *option, const char *text)
{
	static const struct field_word clocks[] = {
		{"monotonic", CLOCK_MONOTONIC}, {"mono", CLOCK_MONOTONIC},
		{"monotonic_raw", CLOCK_MONOTONIC_RAW}, {"raw", CLOCK_MONOTONIC_RAW},
		{"realtime", CLOCK_REALTIME}, {"real", CLOCK_REALTIME},
		{"boottime", CLOCK_BOOTTIME}, {"boot", CLOCK_BOOTTIME},
		{"tai", CLOCK_TAI},
	};
	struct record_options *options = option->value;
	uint64_t number;
	const char *name = strncasecmp(text, "CLOCK_", 6) ? text : text + 6;
	const struct field_word *clock = FIND(clocks, name, strlen(name));
	options->schedule.use_clock = true;
	if (clock)
		options->schedule.clock = (clockid_t)clock->bits;
	else if (option_text_number(text, 0, INT32_MAX, &number))
		options->schedule.clock = (clockid_t)number;
	else
		return option_reject(option, text, "monotonic, monotonic_raw, realtime, boottime, tai, "
						   "or a number");
	return true;
}
