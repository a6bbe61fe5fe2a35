/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of numbers in records, in perf's words. Functions with a buffer work like snprintf: they
 * write at most `size` bytes with the NUL (none if size is 0) and return the length of the whole
 * text. SP_WORDS_SIZE is room for each of them. Nothing is allocated; returned names are constant.
 */
#ifndef SPROF_PRIVATE_WORDS_H
#define SPROF_PRIVATE_WORDS_H

#include <sprof/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SP_WORDS_SIZE 512

/* "LOAD", "STORE", "PFETCH", "EXEC", "N/A", or "No". */
SP_API const char *sp_data_src_op_name(uint64_t data_src);
/* "L1 or L1 hit", "Remote node, same socket or RAM hit", …: perf 6.1's text. */
SP_API size_t sp_data_src_level_text(uint64_t data_src, char *text, size_t size);
/* "None", "HitM", "Fwd", …, several with " or " between; "N/A". */
SP_API size_t sp_data_src_snoop_text(uint64_t data_src, char *text, size_t size);
/* "L1 or L2 hit", "Walker miss", …; "N/A". */
SP_API size_t sp_data_src_tlb_text(uint64_t data_src, char *text, size_t size);
/* "Yes", "No", "N/A". */
SP_API const char *sp_data_src_lock_name(uint64_t data_src);
/* Blocked by: "Data", "Addr", both with a space between; "N/A". */
SP_API size_t sp_data_src_blocked_text(uint64_t data_src, char *text, size_t size);
/* All, as perf script: "|OP LOAD|LVL L1 or L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A". */
SP_API size_t sp_data_src_text(uint64_t data_src, char *text, size_t size);

/*
 * Lock-in: a clock event that samples at one phase of a timer's period misses code that runs at other
 * phases, so that shares are wrong by more than their intervals.
 */
struct sp_lock_in {
	uint64_t period_ns; /* the event's */
	uint64_t timer_hz;  /* rate of the timers in step with it: 1000, or tick_hz */
	uint64_t free_hz;   /* a nearby rate that avoids lock-in */
};

/* Whether an event locks in with 1 ms timers or the kernel's tick (its HZ; 0: unknown). */
SP_API bool sp_lock_in_find(const struct perf_event_attr *attr, uint64_t tick_hz,
			    struct sp_lock_in *ret);
/* "sampling at 1000 Hz can lock in step with 1 ms timers"; the remedy is -F free_hz. */
SP_API size_t sp_lock_in_text(const struct sp_lock_in *lock_in, char *text, size_t size);

/* PERF_SAMPLE_TRANSACTION as perf report: "TX SYNC CON :2a", the number an abort's code; "". */
SP_API size_t sp_transaction_text(uint64_t transaction, char *text, size_t size);

/* A branch entry's flags, taken apart. */
struct sp_branch_flags {
	bool mispredicted, predicted, in_transaction, aborted;
	unsigned int cycles;
	unsigned int type;     /* PERF_BR_*; 15: new_type has it */
	unsigned int spec;     /* PERF_BR_SPEC_* */
	unsigned int new_type; /* PERF_BR_NEW_* */
	unsigned int priv;     /* PERF_BR_PRIV_* */
	bool not_taken;        /* Linux 6.14 */
};

/* Takes an entry's flags apart; the file's byte order does not matter. */
SP_API struct sp_branch_flags sp_branch_flags(uint64_t flags);
/* "COND", "CALL", "RET", "FAULT_DATA", …; NULL: not recorded, or unknown. */
SP_API const char *sp_branch_type_name(uint64_t flags);
/* "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH"; NULL: not recorded. */
SP_API const char *sp_branch_spec_name(uint64_t flags);
/* "user", "kernel", "hv"; NULL: not recorded. */
SP_API const char *sp_branch_priv_name(uint64_t flags);
/* Text after the two addresses in perf script: "/P/-/-/12/CALL"; "/-/-/-/0/" without flags. */
SP_API size_t sp_branch_flags_text(uint64_t flags, char *text, size_t size);

/* The parts of PERF_SAMPLE_WEIGHT_STRUCT. */
struct sp_weights {
	uint32_t latency;             /* memory accesses: cycles */
	uint16_t instruction_latency; /* "ins_lat": cycles until retired */
	uint16_t retire_latency;      /* "retire_lat": cycles since the one before retired */
};

/* A sample's weight by its sample_type: PERF_SAMPLE_WEIGHT is latency alone, cut to 32 bits. */
SP_API struct sp_weights sp_weight_parts(uint64_t sample_type, uint64_t weight);

/* Architecture of registers: it decides the meaning of a mask's bits. */
enum sp_architecture {
	SP_ARCHITECTURE_UNKNOWN,
	SP_ARCHITECTURE_X86,
	SP_ARCHITECTURE_ARM64,
	SP_ARCHITECTURE_ARM,
	SP_ARCHITECTURE_S390,
	SP_ARCHITECTURE_POWERPC,
	SP_ARCHITECTURE_RISCV,
	SP_ARCHITECTURE_LOONGARCH,
	SP_ARCHITECTURE_MIPS,
};

/*
 * Parses uname -m's word ("x86_64", "aarch64", "armv7l", …), also in feature ARCH; NULL: unknown.
 */
SP_API enum sp_architecture sp_architecture_parse(const char *machine);
/*
 * Returns perf's name of the register at bit `bit` of a mask: "AX", "x0", "r0", …; NULL if there is
 * none. Both halves of an x86 XMM register have its name.
 */
SP_API const char *sp_register_name(enum sp_architecture architecture, unsigned int bit);

/* "4K", "2M" or "1G" as in perf's output; "N/A" for 0. */
SP_API size_t sp_page_size_text(uint64_t bytes, char *text, size_t size);

/* 'K', 'U', 'H', 'G' (guest's kernel), 'g' (guest's user), '?' of a record's misc. */
SP_API char sp_cpumode_letter(uint16_t misc);
/* perf script's misc field: cpumode, M, E, S and p, which depend on the record's type: "U", "KM". */
SP_API size_t sp_misc_text(uint32_t type, uint16_t misc, char *text, size_t size);
/* "TOPC": truncated, overwrite, partial, collision. */
SP_API size_t sp_aux_flags_text(uint64_t flags, char *text, size_t size);
/* "bpf", "ool"; "unknown". */
SP_API const char *sp_ksymbol_type_name(unsigned int type);
/* "prog load", "prog unload"; "unknown". */
SP_API const char *sp_bpf_event_type_name(unsigned int type);
/* Returns "net", "uts", "ipc", "pid", "user", "mnt", "cgroup"; NULL for higher numbers. */
SP_API const char *sp_namespace_name(size_t index);
/* Names of header features: "TRACING_DATA", "BUILD_ID", …; NULL if unknown. */
SP_API const char *sp_feature_name(unsigned int bit);

#ifdef __cplusplus
}
#endif
#endif
