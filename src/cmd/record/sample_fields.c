/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/values.h"

#include <sprof/capture.h>
#include <sprof/private/fields.h>
#include <sprof/private/words.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include "diag.h"

bool record_parse_data(const struct option *option, const char *text)
{
	struct sp_capture_fields *fields = option->value;
	(void)text;
	fields->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
	fields->data_mappings = true;
	return true;
}

bool record_parse_branch_filter(const struct option *option, const char *text)
{
	struct sp_capture_fields *fields = option->value;
	uint64_t bits;
	const char *wrong = sp_branch_types_parse(text, strlen(text), ',', &bits);
	if (wrong)
		diag_print("-j, --branch-filter: invalid filter '%.*s' (one of %s)",
			   (int)strcspn(wrong, ","), wrong, SP_BRANCH_TYPE_NAMES);
	else
		fields->branch_type |= bits;
	return !wrong;
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
	static const struct {
		const char *name;
		clockid_t clock;
	} clocks[] = {
		{"monotonic", CLOCK_MONOTONIC}, {"mono", CLOCK_MONOTONIC},
		{"monotonic_raw", CLOCK_MONOTONIC_RAW}, {"raw", CLOCK_MONOTONIC_RAW},
		{"realtime", CLOCK_REALTIME}, {"real", CLOCK_REALTIME},
		{"boottime", CLOCK_BOOTTIME}, {"boot", CLOCK_BOOTTIME},
		{"tai", CLOCK_TAI},
	};
	struct record_options *options = option->value;
	uint64_t number;
	const char *name = strncasecmp(text, "CLOCK_", 6) ? text : text + 6;
	options->schedule.use_clock = true;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		if (strcasecmp(name, clocks[i].name))
			continue;
		options->schedule.clock = clocks[i].clock;
		return true;
	}
	if (option_text_number(text, 0, INT32_MAX, &number))
		options->schedule.clock = (clockid_t)number;
	else
		return option_reject(option, text, "monotonic, monotonic_raw, realtime, boottime, tai, "
						   "or a number");
	return true;
}
