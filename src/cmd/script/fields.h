/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of a line, as perf script has them: chosen by kind of event, with defaults of
 * what the kind's samples have.
 */
#ifndef CMD_SCRIPT_FIELDS_H
#define CMD_SCRIPT_FIELDS_H

#include <sprof/sprof.h>

enum field {
	FIELD_COMM,
	FIELD_TID,
	FIELD_PID,
	FIELD_TIME,
	FIELD_CPU,
	FIELD_EVENT,
	FIELD_TRACE,
	FIELD_IP,
	FIELD_SYM,
	FIELD_DSO,
	FIELD_DSOFF,
	FIELD_ADDR,
	FIELD_SYMOFF,
	FIELD_SRCLINE,
	FIELD_PERIOD,
	FIELD_IREGS,
	FIELD_UREGS,
	FIELD_BRSTACK,
	FIELD_BRSTACKSYM,
	FIELD_BRSTACKOFF,
	FIELD_DATA_SRC,
	FIELD_WEIGHT,
	FIELD_BPF_OUTPUT,
	FIELD_PHYS_ADDR,
	FIELD_MISC,
	FIELD_TOD,
	FIELD_DATA_PAGE_SIZE,
	FIELD_CODE_PAGE_SIZE,
	FIELD_INS_LAT,
	FIELD_RETIRE_LAT,
	FIELD_CGROUP,
	FIELD_INSN,
	FIELD_INSNLEN,
	FIELD_DISASM,
	FIELD_BRSTACKINSN,
	FIELD_BRSTACKINSNLEN,
	FIELD_BRSTACKDISASM,
	FIELD_BRCNTR,
	FIELD_MACHINE_PID,
	FIELD_VCPU,
	FIELD_TRANSACTION, /* ours */
	FIELD_COUNT,
};

#define FIELD(name) (UINT64_C(1) << FIELD_##name)

/* The instruction at the place; code between branches; and what takes a disassembler. */
#define FIELDS_INSTRUCTION (FIELD(INSN) | FIELD(INSNLEN) | FIELD(DISASM))
#define FIELDS_BLOCKS (FIELD(BRSTACKINSN) | FIELD(BRSTACKINSNLEN) | FIELD(BRSTACKDISASM))
#define FIELDS_DISASM (FIELD(DISASM) | FIELD(BRSTACKDISASM))

/* perf's header feature: the file has counts, and no samples. */
#define FEATURE_STAT 19

/* Kinds: PERF_TYPE_*, and all PMUs of sysfs as one. */
#define KIND_OTHER PERF_TYPE_MAX
#define KIND_COUNT (PERF_TYPE_MAX + 1)

struct kind_fields {
	uint64_t fields;
	uint64_t asked;   /* by name: that they cannot be had is an error */
	uint64_t refused; /* taken away by name */
	bool chosen;      /* -F said something of this kind … */
	bool by_all;      /* … as of all kinds */
};

struct script_fields {
	struct kind_fields kinds[KIND_COUNT];
};

/* perf's defaults. */
void fields_init(struct script_fields *fields);

/*
 * Parses -F: "comm,tid,ip", "+weight,-period", "sw:comm,ip", "trace:". Returns false for words it
 * does not know, with the reason in *why; the caller frees it.
 */
bool fields_parse(struct script_fields *fields, const char *text, char **why);

/*
 * Takes away what the events of the recording do not have; false after saying which field
 * that was asked for they do not have. `chains`: call chains are shown.
 */
bool fields_fit(struct script_fields *fields, const struct sp_reader *reader, bool chains);

static inline unsigned int kind_of(const struct perf_event_attr *attr)
{
	return attr->type < PERF_TYPE_MAX ? attr->type : KIND_OTHER;
}

/* An event that only brings the side-band. */
static inline bool is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

#endif
