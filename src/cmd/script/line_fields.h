/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields of an output line, as in perf script. Each kind of events has its own fields; the defaults
 * depend on what its samples contain.
 */
#ifndef CMD_SCRIPT_LINE_FIELDS_H
#define CMD_SCRIPT_LINE_FIELDS_H

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
	FIELD_TRANSACTION, /* not a field of perf */
	FIELD_COUNT,
};

#define FIELD(name) (UINT64_C(1) << FIELD_##name)

/*
 * Sets of fields: about the sampled instruction, about code between branches, and those that need a
 * disassembler.
 */
#define FIELDS_INSTRUCTION (FIELD(INSN) | FIELD(INSNLEN) | FIELD(DISASM))
#define FIELDS_BLOCKS (FIELD(BRSTACKINSN) | FIELD(BRSTACKINSNLEN) | FIELD(BRSTACKDISASM))
#define FIELDS_DISASM (FIELD(DISASM) | FIELD(BRSTACKDISASM))

/* perf's header feature of files with counts and without samples. */
#define FEATURE_STAT 19

/* Kinds of events: each PERF_TYPE_* is one, and all dynamic PMUs together are one. */
#define KIND_OTHER PERF_TYPE_MAX
#define KIND_COUNT (PERF_TYPE_MAX + 1)

struct kind_fields {
	uint64_t fields;
	uint64_t asked;   /* fields requested by name: missing data is an error */
	uint64_t refused; /* fields that the user removed by -F -NAME */
	bool chosen;      /* -F sets the fields of this kind */
	bool by_all;      /* -F sets the fields of all kinds */
};

struct script_fields {
	struct kind_fields kinds[KIND_COUNT];
};

/* Sets perf's default fields. */
void fields_init(struct script_fields *fields);

/*
 * Parses -F: "comm,tid,ip", "+weight,-period", "sw:comm,ip", "trace:". Returns false for unknown words;
 * *why is then the reason, which the caller frees.
 */
bool fields_parse(struct script_fields *fields, const char *text, char **why);

/*
 * Removes fields that the recording's events lack. Returns false after printing which requested field
 * they lack. `chains`: call chains are shown.
 */
bool fields_remove_missing(struct script_fields *fields, const struct sp_reader *reader, bool chains);

static inline unsigned int kind_of(const struct perf_event_attr *attr)
{
	return attr->type < PERF_TYPE_MAX ? attr->type : KIND_OTHER;
}

/* Returns whether the event is a dummy, which only provides side-band records. */
static inline bool is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

#endif
