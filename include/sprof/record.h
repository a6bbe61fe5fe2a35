/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of a perf.data file or a ring, decoded. Field names are those of
 * perf_event_open(2); user records (64 and up) are those of perf's own event.h.
 */
#ifndef SPROF_RECORD_H
#define SPROF_RECORD_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sprof/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* perf's own record types, after the kernel's (PERF_RECORD_*). */
enum sp_user_record {
	SP_RECORD_HEADER_ATTR = 64,
	SP_RECORD_HEADER_EVENT_TYPE,
	SP_RECORD_HEADER_TRACING_DATA,
	SP_RECORD_HEADER_BUILD_ID,
	SP_RECORD_FINISHED_ROUND,
	SP_RECORD_ID_INDEX,
	SP_RECORD_AUXTRACE_INFO,
	SP_RECORD_AUXTRACE,
	SP_RECORD_AUXTRACE_ERROR,
	SP_RECORD_THREAD_MAP,
	SP_RECORD_CPU_MAP,
	SP_RECORD_STAT_CONFIG,
	SP_RECORD_STAT,
	SP_RECORD_STAT_ROUND,
	SP_RECORD_EVENT_UPDATE,
	SP_RECORD_TIME_CONV,
	SP_RECORD_HEADER_FEATURE,
	SP_RECORD_COMPRESSED,
	SP_RECORD_FINISHED_INIT,
	SP_RECORD_COMPRESSED2,
	SP_RECORD_BPF_METADATA,
	SP_RECORD_SCHEDSTAT_CPU,
	SP_RECORD_SCHEDSTAT_DOMAIN,
};

/* "SAMPLE", "MMAP2", "FINISHED_ROUND", …, without PERF_RECORD_; NULL if unknown. */
SP_API const char *sp_record_type_name(uint32_t type);

/*
 * Facts that sprof stores about a sample's call chain in header.misc, in bits that the kernel
 * leaves 0 for SAMPLE and other readers ignore: the end of the user part, and changes to it:
 */
#define SP_MISC_END_SHIFT 3
#define SP_MISC_END_MASK (7 << SP_MISC_END_SHIFT) /* enum sp_misc_end */
#define SP_MISC_REPAIRED (1 << 6) /* its outer frames are those of another sample */
/*
 * Frames in the middle were left out, because a record holds fewer. Two consecutive
 * PERF_CONTEXT_USER replace them.
 */
#define SP_MISC_SHORTENED (1 << 7)
/* A frame was unwound by frame pointer, without unwind information. */
#define SP_MISC_GUESSED (1 << 8)

/*
 * Complete, on the thread's own stack: Go's runtime changed to it from a goroutine's stack, which
 * was not copied.
 */
#define SP_MISC_SYSTEM_STACK (1 << 9)

/* Facts about samples of the event offcpu-time, in no SP_MISC_STACK mask: */
#define SP_MISC_SNAPSHOT (1 << 10)   /* a blocked thread's stack, read from outside: a stack snapshot */
#define SP_MISC_UNFINISHED (1 << 11) /* the wait was not over when the recording ended */

#define SP_MISC_STACK                                                                          \
	(SP_MISC_END_MASK | SP_MISC_REPAIRED | SP_MISC_SHORTENED | SP_MISC_GUESSED |           \
	 SP_MISC_SYSTEM_STACK)

enum sp_misc_end {
	SP_MISC_END_UNKNOWN, /* not unwound, or unwound by the kernel */
	SP_MISC_END_COMPLETE,
	SP_MISC_END_TRUNCATED, /* the stack copy was too short */
	SP_MISC_END_NO_UNWIND_INFO,
	SP_MISC_END_BAD_MEMORY,
	SP_MISC_END_DEPTH_LIMIT,
	SP_MISC_END_SKIPPED, /* the recorder had no time for the user part */
	/* A signal handler runs on another stack; the interrupted one was not copied. */
	SP_MISC_END_SWITCHED,
};

/* Task, time, CPU and id of a record. Fields without their bit in `present` are 0. */
struct sp_sample_id {
	uint64_t present; /* PERF_SAMPLE_{TID,TIME,ID,STREAM_ID,CPU,IDENTIFIER} */
	uint32_t pid, tid;
	uint64_t time_ns; /* 0 in synthesised records */
	uint64_t id;      /* ID or IDENTIFIER */
	uint64_t stream_id;
	uint32_t cpu;
};

struct sp_bytes {
	const uint8_t *bytes;
	size_t size;
};

/* MMAP and MMAP2. In MMAP, all members after filename_ are 0. */
struct sp_mmap {
	uint32_t pid, tid;
	uint64_t start, size, file_offset; /* addr, len, pgoff */
	const char *filename;
	uint32_t prot, flags;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: the record holds maj to ino_generation instead */
};

struct sp_comm {
	uint32_t pid, tid;
	const char *comm; /* misc & PERF_RECORD_MISC_COMM_EXEC: by exec */
};

/* FORK and EXIT. */
struct sp_task {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

/* LOST (id and lost) and LOST_SAMPLES (lost; the id is the sample_id's). */
struct sp_lost {
	uint64_t id, lost;
};

/* THROTTLE and UNTHROTTLE. */
struct sp_throttle {
	uint64_t time_ns, id, stream_id;
};

/* PERF_SAMPLE_READ's and READ's counters; one value unless PERF_FORMAT_GROUP. */
struct sp_counter {
	uint64_t value, id, lost;
};

struct sp_counters {
	uint64_t read_format;
	uint64_t time_enabled_ns, time_running_ns;
	const struct sp_counter *values;
	size_t count;
};

struct sp_read {
	uint32_t pid, tid;
	struct sp_counters counters;
};

struct sp_ksymbol {
	uint64_t start;
	uint32_t size;
	uint16_t type;  /* PERF_RECORD_KSYMBOL_TYPE_* */
	uint16_t flags; /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER */
	const char *name;
};

struct sp_bpf_event {
	uint16_t type, flags;
	uint32_t id;
	uint8_t tag[8];
};

struct sp_cgroup {
	uint64_t id;
	const char *path;
};

struct sp_text_poke {
	uint64_t ip;
	struct sp_bytes before, after;
};

struct sp_namespace {
	uint64_t dev, ino;
};

struct sp_namespaces {
	uint32_t pid, tid;
	const struct sp_namespace *namespaces;
	size_t count;
};

struct sp_switch {
	uint32_t next_prev_pid, next_prev_tid; /* SWITCH_CPU_WIDE only */
};

struct sp_aux {
	uint64_t offset, size, flags;
};

/* CALLCHAIN_DEFERRED */
struct sp_deferred {
	uint64_t cookie;
	const uint64_t *ips;
	size_t count;
};

struct sp_build_id {
	uint32_t pid;
	uint8_t build_id[20];
	uint8_t build_id_size;
	const char *filename;
	uint16_t cpumode; /* PERF_RECORD_MISC_{USER,KERNEL,…}: owner of the file */
};

/*
 * Members of perf_event_attr after the 128 bytes of Linux 6.1. They are a struct of their own: the
 * build's kernel header may be older. The attr has them only if there is room.
 */
struct sp_attr_tail {
	uint64_t config3, config4; /* Linux 6.3 and 7.0 */
};

/* HEADER_ATTR: the file's events become known by it in a pipe. */
struct sp_header_attr {
	struct perf_event_attr attr;
	const uint64_t *ids;
	size_t id_count;
	struct sp_attr_tail tail;
};

/* HEADER_FEATURE */
struct sp_header_feature {
	uint64_t feature;
	struct sp_bytes payload;
};

/* CPU_MAP, and EVENT_UPDATE's: a list, a mask or a range, as one list. */
struct sp_cpu_map {
	uint16_t kind;        /* how it is written: 0 list, 1 mask, 2 range */
	bool any;             /* -1, "any CPU", is among them, and not in the list */
	const uint32_t *cpus; /* in recorded order: masks and ranges ascend */
	size_t count;
};

enum sp_event_update_kind {
	SP_EVENT_UPDATE_UNIT,
	SP_EVENT_UPDATE_SCALE,
	SP_EVENT_UPDATE_NAME,
	SP_EVENT_UPDATE_CPUS,
};

/* EVENT_UPDATE */
struct sp_event_update {
	uint64_t kind; /* enum sp_event_update_kind; others are private */
	uint64_t id;   /* id of the event; 0: the first event */
	struct sp_bytes data;
	const char *text;       /* UNIT and NAME; else NULL */
	double scale;           /* SCALE */
	struct sp_cpu_map cpus; /* CPUS */
};

/* ITRACE_START */
struct sp_itrace_start {
	uint32_t pid, tid;
};

/* AUX_OUTPUT_HW_ID */
struct sp_aux_output_hw_id {
	uint64_t hw_id;
};

/* HEADER_EVENT_TYPE; no current tool writes it. */
struct sp_header_event_type {
	uint64_t id;
	const char *name;
};

/* ID_INDEX: for each id, the index of its event, and the CPU and thread that it counts on. */
struct sp_id_index_entry {
	uint64_t id, idx, cpu, tid; /* cpu, tid: UINT64_MAX is "any" */
};

struct sp_id_machine {
	uint64_t machine_pid, vcpu; /* a guest's; 0: of no guest */
};

struct sp_id_index {
	const struct sp_id_index_entry *entries;
	const struct sp_id_machine *machines; /* `count` of them, or NULL */
	size_t count;
};

/* AUXTRACE_INFO: kind of trace (1 PT, 2 BTS, 3 CoreSight, 4 SPE, 5 s390, …), and data of that kind.
 */
struct sp_auxtrace_info {
	uint32_t type;
	const uint64_t *priv;
	size_t count;
};

/* AUXTRACE: `size` bytes of trace follow the record in the file. */
struct sp_auxtrace {
	uint64_t size, offset, reference;
	uint32_t idx, tid, cpu;
};

struct sp_auxtrace_error {
	uint32_t type, code, cpu, pid, tid, fmt;
	uint64_t ip, time_ns;
	const char *msg;
	uint32_t machine_pid, vcpu;
};

struct sp_thread_map_entry {
	uint64_t pid;
	char comm[16]; /* ends within */
};

struct sp_thread_map {
	const struct sp_thread_map_entry *entries;
	size_t count;
};

/* STAT_CONFIG: tags 0 aggregation mode, 1 interval, 2 scale, 3 aggregation level. */
struct sp_stat_config_entry {
	uint64_t tag, value;
};

struct sp_stat_config {
	const struct sp_stat_config_entry *entries;
	size_t count;
};

/* STAT: a count of perf stat record. */
struct sp_stat_count {
	uint64_t id;
	uint32_t cpu, thread;
	uint64_t value, enabled_ns, running_ns;
};

struct sp_stat_round {
	uint64_t type; /* 0 interval, 1 final */
	uint64_t time_ns;
};

/* TIME_CONV: from cycles to the recording's clock. */
struct sp_time_conv {
	uint64_t shift, mult, zero;
	uint64_t cycles, mask; /* 0 in recordings before Linux 5.11 */
	bool cap_user_time_zero, cap_user_time_short;
};

struct sp_bpf_metadata_entry {
	const char *key, *value;
};

struct sp_bpf_metadata {
	const char *prog_name;
	const struct sp_bpf_metadata_entry *entries;
	size_t count;
};

/* SCHEDSTAT_CPU: a line of /proc/schedstat. */
struct sp_schedstat_cpu {
	uint64_t timestamp;
	uint32_t cpu;
	uint16_t version; /* 15, 16, 17 */
	uint32_t yld_count, array_exp, sched_count, sched_goidle, ttwu_count, ttwu_local;
	uint64_t rq_cpu_time, run_delay, pcount;
};

/* SCHEDSTAT_DOMAIN: numbers in the kernel's order, which depends on the version. */
struct sp_schedstat_domain {
	uint64_t timestamp;
	uint32_t cpu;
	uint16_t version, domain;
	const uint32_t *counts;
	size_t count;
};

struct sp_branch {
	uint64_t from, to, flags;
};

struct sp_registers {
	uint64_t abi, mask;
	const uint64_t *values; /* one for each bit of mask, lowest first */
	size_t count;
};

/* SAMPLE. Fields without their bit in `present` (the attr's sample_type) are 0. */
struct sp_sample {
	uint64_t present;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t addr;
	uint64_t id; /* ID or IDENTIFIER */
	uint64_t stream_id;
	uint32_t cpu;
	uint64_t period;
	struct sp_counters counters;
	const uint64_t *ips; /* call chain with PERF_CONTEXT_* marks, innermost first */
	size_t ip_count;
	struct sp_bytes raw;
	const struct sp_branch *branches;
	size_t branch_count;
	uint64_t branch_hw_index;
	const uint64_t *branch_counters; /* one for each branch, or NULL */
	struct sp_registers user_registers, interrupt_registers;
	struct sp_bytes stack;   /* user stack; dyn_size bytes of it are valid */
	uint64_t stack_dyn_size;
	uint64_t weight; /* PERF_SAMPLE_WEIGHT, or the whole word of WEIGHT_STRUCT */
	uint64_t data_src;
	uint64_t transaction;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size, code_page_size;
	struct sp_bytes aux;
};

/*
 * One record. All that it points to belongs to its reader or meter, and is valid until the next
 * record is read. Each type of record has a member in the union.
 */
struct sp_record {
	uint32_t type; /* PERF_RECORD_* or enum sp_user_record */
	uint16_t misc;
	uint16_t event;       /* index of the event it belongs to; SP_EVENT_NONE if none */
	uint64_t file_offset; /* offset of the header; in the inflated stream of a compressed file */
	const uint8_t *bytes; /* header included, in the file's byte order */
	size_t size;
	struct sp_sample_id id; /* records other than SAMPLE, with sample_id_all */
	union {
		struct sp_sample sample;
		struct sp_mmap mmap;           /* MMAP, MMAP2 */
		struct sp_comm comm;
		struct sp_task task;           /* FORK, EXIT */
		struct sp_lost lost;           /* LOST, LOST_SAMPLES */
		struct sp_throttle throttle;   /* THROTTLE, UNTHROTTLE */
		struct sp_read read;
		struct sp_ksymbol ksymbol;
		struct sp_bpf_event bpf_event;
		struct sp_cgroup cgroup;
		struct sp_text_poke text_poke;
		struct sp_namespaces namespaces;
		struct sp_switch context_switch;
		struct sp_aux aux;
		struct sp_deferred deferred;
		struct sp_build_id build_id;   /* HEADER_BUILD_ID */
		struct sp_header_attr attr;    /* HEADER_ATTR */
		struct sp_header_feature feature; /* HEADER_FEATURE */
		struct sp_event_update event_update;
		struct sp_itrace_start itrace_start;
		struct sp_aux_output_hw_id aux_output_hw_id;
		struct sp_header_event_type event_type;   /* HEADER_EVENT_TYPE */
		struct sp_id_index id_index;
		struct sp_auxtrace_info auxtrace_info;
		struct sp_auxtrace auxtrace;
		struct sp_auxtrace_error auxtrace_error;
		struct sp_thread_map thread_map;
		struct sp_cpu_map cpu_map;
		struct sp_stat_config stat_config;
		struct sp_stat_count stat;
		struct sp_stat_round stat_round;
		struct sp_time_conv time_conv;
		struct sp_bpf_metadata bpf_metadata;
		struct sp_schedstat_cpu schedstat_cpu;
		struct sp_schedstat_domain schedstat_domain;
	};
};

#define SP_EVENT_NONE UINT16_MAX

#define SP_NOTE_VALUES 8

/* A fact about the recording, noted by the recorder: by kind, or of older recorders as a text. */
struct sp_note {
	const char *text; /* one sentence, not terminated; NULL: only sp_note_text() composes it */
	size_t size;
	uint64_t time_ns; /* in the recording's clock; 0: of the whole recording */
	uint32_t kind;    /* kind of doc/FILE.md; 0: none */
	uint64_t values[SP_NOTE_VALUES];
	size_t value_count; /* a recording may have fewer or more than the kind needs */
	const char *object; /* name of a file, event, …; not terminated */
	size_t object_size;
};

/*
 * The note's sentence, composed from its kind and values where these are known, else its text. As
 * snprintf(): returns the length without the NUL, however small `size` is.
 */
SP_API size_t sp_note_text(const struct sp_note *note, char *text, size_t size);

/* Returns whether a record is a note of sprof record; *ret is valid as long as the record. */
SP_API bool sp_record_note(const struct sp_record *record, struct sp_note *ret);

#ifdef __cplusplus
}
#endif
#endif
