/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/script/line_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/script/script.h"
#include "diag.h"
#include "memory.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Both forms of weight in samples. Linux 5.12 added the second, which the kernel's header defines as an
 * enumerator.
 */
#define ANY_WEIGHT (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

static const struct field_info {
	const char *name;
	uint64_t sample_bits; /* the field needs one of these sample_type bits; 0: none */
	const char *attribute; /* name of these bits for the error message */
} field_infos[FIELD_COUNT] = {
	[FIELD_COMM] = {"comm", 0, NULL},
	[FIELD_TID] = {"tid", PERF_SAMPLE_TID, "TID"},
	[FIELD_PID] = {"pid", PERF_SAMPLE_TID, "TID"},
	[FIELD_TIME] = {"time", PERF_SAMPLE_TIME, "TIME"},
	[FIELD_CPU] = {"cpu", PERF_SAMPLE_CPU, "CPU"},
	[FIELD_EVENT] = {"event", 0, NULL},
	[FIELD_TRACE] = {"trace", PERF_SAMPLE_RAW, "RAW"},
	[FIELD_IP] = {"ip", PERF_SAMPLE_IP, "IP"},
	[FIELD_SYM] = {"sym", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, "IP or ADDR"},
	[FIELD_DSO] = {"dso", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, "IP or ADDR"},
	[FIELD_DSOFF] = {"dsoff", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, "IP or ADDR"},
	[FIELD_ADDR] = {"addr", PERF_SAMPLE_ADDR, "ADDR"},
	[FIELD_SYMOFF] = {"symoff", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, "IP or ADDR"},
	[FIELD_SRCLINE] = {"srcline", PERF_SAMPLE_IP, "IP"},
	[FIELD_PERIOD] = {"period", 0, NULL},
	[FIELD_IREGS] = {"iregs", PERF_SAMPLE_REGS_INTR, "REGS_INTR"},
	[FIELD_UREGS] = {"uregs", PERF_SAMPLE_REGS_USER, "REGS_USER"},
	[FIELD_BRSTACK] = {"brstack", PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
	[FIELD_BRSTACKSYM] = {"brstacksym", PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
	[FIELD_BRSTACKOFF] = {"brstackoff", PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
	[FIELD_DATA_SRC] = {"data_src", PERF_SAMPLE_DATA_SRC, "DATA_SRC"},
	[FIELD_WEIGHT] = {"weight", ANY_WEIGHT, "WEIGHT"},
	[FIELD_BPF_OUTPUT] = {"bpf-output", 0, NULL},
	[FIELD_PHYS_ADDR] = {"phys_addr", PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR"},
	[FIELD_MISC] = {"misc", 0, NULL},
	[FIELD_TOD] = {"tod", PERF_SAMPLE_TIME, "TIME"},
	[FIELD_DATA_PAGE_SIZE] = {"data_page_size", PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE"},
	[FIELD_CODE_PAGE_SIZE] = {"code_page_size", PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE"},
	[FIELD_INS_LAT] = {"ins_lat", PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"},
	[FIELD_RETIRE_LAT] = {"retire_lat", PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"},
	[FIELD_CGROUP] = {"cgroup", PERF_SAMPLE_CGROUP, "CGROUP"},
	[FIELD_INSN] = {"insn", PERF_SAMPLE_IP, "IP"},
	[FIELD_INSNLEN] = {"insnlen", PERF_SAMPLE_IP, "IP"},
	[FIELD_DISASM] = {"disasm", PERF_SAMPLE_IP, "IP"},
	[FIELD_BRSTACKINSN] = {"brstackinsn", PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
	[FIELD_BRSTACKINSNLEN] = {"brstackinsnlen", PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
	[FIELD_BRSTACKDISASM] = {"brstackdisasm", PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
	[FIELD_BRCNTR] = {"brcntr", PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
	[FIELD_MACHINE_PID] = {"machine_pid", 0, NULL},
	[FIELD_VCPU] = {"vcpu", 0, NULL},
	[FIELD_TRANSACTION] = {"transaction", PERF_SAMPLE_TRANSACTION, "TRANSACTION"},
};

/* perf's fields that are not supported, and why. */
#define DECODED "is of decoded processor traces (AUX), and there is no decoder"

static const struct {
	const char *name, *why;
} other_fields[] = {
	{"flags", DECODED},
	{"callindent", DECODED},
	{"ipc", DECODED},
	{"synth", DECODED},
	{"metric", "takes perf's tables of metrics, which are not here"},
	{"srccode", "shows source files; try srcline"},
};

#define COMMON                                                                              \
	(FIELD(COMM) | FIELD(TID) | FIELD(CPU) | FIELD(TIME) | FIELD(EVENT))
#define PLACE (FIELD(IP) | FIELD(SYM) | FIELD(SYMOFF) | FIELD(DSO))
#define MEMORY                                                                              \
	(FIELD(ADDR) | FIELD(DATA_SRC) | FIELD(WEIGHT) | FIELD(PHYS_ADDR) |                 \
	 FIELD(DATA_PAGE_SIZE) | FIELD(CODE_PAGE_SIZE) | FIELD(INS_LAT))

static const struct {
	const char *name;     /* name before the colon of -F; NULL: perf has none */
	const char *title;
	uint64_t fields, invalid;
} kinds[KIND_COUNT] = {
	[PERF_TYPE_HARDWARE] = {"hw", "hardware", COMMON | PLACE | FIELD(PERIOD),
				FIELD(TRACE) | FIELD(BPF_OUTPUT)},
	[PERF_TYPE_SOFTWARE] = {"sw", "software",
				COMMON | PLACE | FIELD(PERIOD) | FIELD(BPF_OUTPUT), FIELD(TRACE)},
	[PERF_TYPE_TRACEPOINT] = {"trace", "tracepoint", COMMON | FIELD(TRACE), 0},
	[PERF_TYPE_HW_CACHE] = {"hw-cache", "hw-cache", COMMON | PLACE | FIELD(PERIOD),
				FIELD(TRACE) | FIELD(BPF_OUTPUT)},
	[PERF_TYPE_RAW] = {"raw", "raw", COMMON | PLACE | FIELD(PERIOD) | MEMORY,
			   FIELD(TRACE) | FIELD(BPF_OUTPUT)},
	[PERF_TYPE_BREAKPOINT] = {"break", "breakpoint", COMMON | PLACE | FIELD(PERIOD),
				  FIELD(TRACE) | FIELD(BPF_OUTPUT)},
	[KIND_OTHER] = {"other", "other", COMMON | PLACE | FIELD(PERIOD),
			FIELD(TRACE) | FIELD(BPF_OUTPUT)},
};

void fields_init(struct script_fields *fields)
{
	*fields = (struct script_fields){0};
	for (size_t i = 0; i < KIND_COUNT; i++)
		fields->kinds[i].fields = kinds[i].fields;
}

enum change { CHANGE_NONE, CHANGE_SET, CHANGE_ADD, CHANGE_REMOVE };

static bool complain(char **why, const char *format, const char *a, const char *b)
{
	*why = xasprintf("%s%s%s", a, format, b);
	return false;
}

static bool find_field(const char *word, enum field *ret, char **why)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (!strcmp(word, field_infos[i].name)) {
			*ret = (enum field)i;
			return true;
		}
	}
	for (size_t i = 0; i < COUNT(other_fields); i++)
		if (!strcmp(word, other_fields[i].name))
			return complain(why, " ", word, other_fields[i].why);
	return complain(why, " is no field; 'sprof help script' lists them", word, "");
}

static void change_field(struct kind_fields *kind, enum change change, enum field field)
{
	uint64_t bit = UINT64_C(1) << field;
	if (change == CHANGE_REMOVE) {
		kind->fields &= ~bit;
		kind->asked &= ~bit;
		kind->refused |= bit;
	} else {
		kind->fields |= bit;
		kind->asked |= bit;
		kind->refused &= ~bit;
	}
	kind->chosen = true;
}

/* Parses one word of -F for one kind of events, or for all kinds that allow it (KIND_COUNT). */
static bool parse_word(struct script_fields *fields, unsigned int of, const char *word,
		       enum change *change, char **why)
{
	enum change wanted = *word == '+' ? CHANGE_ADD : *word == '-' ? CHANGE_REMOVE : CHANGE_SET;
	enum field field = FIELD_COUNT;
	if (*change != CHANGE_NONE && (*change == CHANGE_SET) != (wanted == CHANGE_SET))
		return complain(why, " is among fields with + or - before them, or the other way "
				     "round: all or none",
				word, "");
	*change = wanted;
	if (!find_field(word + (wanted != CHANGE_SET), &field, why))
		return false;
	if (of < KIND_COUNT && kinds[of].invalid >> field & 1)
		return complain(why, " is not a field of events of type ", field_infos[field].name,
				kinds[of].title);
	for (size_t i = 0; i < KIND_COUNT; i++)
		if ((of == KIND_COUNT || of == i) && !(kinds[i].invalid >> field & 1))
			change_field(&fields->kinds[i], wanted, field);
	return true;
}

bool fields_parse(struct script_fields *fields, const char *text, char **why)
{
	const char *colon = strchr(text, ':');
	unsigned int of = KIND_COUNT;
	*why = NULL;
	if (colon) {
		for (of = 0; of < KIND_COUNT; of++)
			if (strlen(kinds[of].name) == (size_t)(colon - text) &&
			    !strncmp(kinds[of].name, text, (size_t)(colon - text)))
				break;
		if (of == KIND_COUNT)
			return complain(why, ": the type before the colon must be hw, sw, trace, "
					     "hw-cache, raw, break or other", text, "");
		text = colon + 1;
	} else if (!*text) {
		return complain(why, "the list of fields is empty", "", "");
	}
	if (*text != '+' && *text != '-') {
		for (size_t i = 0; i < KIND_COUNT; i++)
			if (of == KIND_COUNT || of == i)
				fields->kinds[i] = (struct kind_fields){.chosen = true,
									.by_all = !colon};
	}
	char *copy = xstrdup(text), *rest = copy, *word;
	enum change change = CHANGE_NONE;
	bool fine = true;
	while (fine && (word = strsep(&rest, ",")))
		fine = !*word || parse_word(fields, of, word, &change, why);
	free(copy);
	return fine;
}

/* Returns the first event of a kind. Its sample_type decides which fields the kind has, as in perf. */
static const struct sp_event *first_of_kind(const struct sp_reader *reader, unsigned int kind)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		if (kind_of(&event->attr) == kind && !is_dummy(&event->attr))
			return event;
	}
	return NULL;
}

/* Returns all sample_type bits of a kind's events; of all events if -F set the fields of all kinds. */
static uint64_t sampled_bits(const struct sp_reader *reader, const struct kind_fields *fields,
			     unsigned int kind)
{
	uint64_t bits = 0;
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct perf_event_attr *attr = &sp_reader_event(reader, i)->attr;
		if (!is_dummy(attr) && (fields->by_all || kind_of(attr) == kind))
			bits |= attr->sample_type;
	}
	return bits;
}

/*
 * Removes fields that the event does not record. `any`: result of sampled_bits(). A field that the user
 * requested and that only other events record stays, and is printed empty. Returns false after printing
 * an error.
 */
static bool fit_kind(struct kind_fields *kind, const struct sp_event *event, uint64_t any)
{
	uint64_t type = event->attr.sample_type;
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		const struct field_info *info = &field_infos[i];
		if (!(kind->fields >> i & 1) || !info->sample_bits || type & info->sample_bits)
			continue;
		if (kind->asked >> i & 1 && any & info->sample_bits)
			continue;
		if (kind->asked >> i & 1) {
			diag_print("samples of %s have no %s: cannot print '%s'", event->name,
				   info->attribute, info->name);
			return false;
		}
		kind->fields &= ~(UINT64_C(1) << i);
	}
	/*
	 * The code between two recorded branches is known only if no branch between them was left out.
	 */
	if (kind->asked & FIELDS_BLOCKS && event->attr.branch_sample_type &&
	    !(event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_ANY)) {
		diag_print("%s: code between branches needs all branches; record with -b",
			   event->name);
		return false;
	}
	if (kind->asked & FIELD(BRCNTR) &&
	    !(event->attr.branch_sample_type & SCRIPT_BRANCH_COUNTERS)) {
		diag_print("%s: branches have no counters; record with -j any,counter",
			   event->name);
		return false;
	}
	if (kind->fields & FIELD(SYMOFF) && !(kind->fields & FIELD(SYM))) {
		diag_print("field symoff needs sym: -F +sym");
		return false;
	}
	if (kind->fields & FIELD(SRCLINE) && !(kind->fields & FIELD(IP))) {
		diag_print("field srcline needs ip: -F +ip");
		return false;
	}
	return true;
}

/* Shows the place of tracepoint samples by default, if they have call chains. */
static void add_places(struct script_fields *fields, const struct sp_reader *reader)
{
	struct kind_fields *kind = &fields->kinds[PERF_TYPE_TRACEPOINT];
	for (size_t i = 0; !kind->chosen && i < sp_reader_event_count(reader); i++) {
		const struct perf_event_attr *attr = &sp_reader_event(reader, i)->attr;
		if (attr->type == PERF_TYPE_TRACEPOINT && attr->sample_type & PERF_SAMPLE_CALLCHAIN)
			kind->fields |= PLACE;
	}
}

bool fields_remove_missing(struct script_fields *fields, const struct sp_reader *reader, bool chains)
{
	/* A file of counts has no samples, so its fields are not checked, as in perf. */
	if (sp_reader_has_feature(reader, FEATURE_STAT))
		return true;
	for (unsigned int i = 0; i < KIND_COUNT; i++) {
		struct kind_fields *kind = &fields->kinds[i];
		const struct sp_event *event = first_of_kind(reader, i);
		if (!event && kind->chosen && !kind->by_all && kind->fields &&
		    !kind->refused && kind->asked == kind->fields) {
			diag_print("the recording has no events of type %s",
				   kinds[i].title);
			return false;
		}
		if (event && !fit_kind(kind, event, sampled_bits(reader, kind, i)))
			return false;
		if (kind->fields & FIELD(DSOFF))
			kind->fields |= FIELD(DSO);
	}
	if (chains)
		add_places(fields, reader);
	return true;
}
