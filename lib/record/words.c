/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The texts are those of perf 6.1 (tools/perf/util/mem-events.c, branch.c and others), so
 * that what is printed can be compared line by line; what later kernels added is named as
 * later perfs name it. Words of the kernel that are bit-fields are numbers alike in both
 * byte orders (the kernel declares them twice), but for the flags of branches.
 */
#include <sprof/private/words.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/vec.h"
#include "record/types.h"

/* A text in a caller's buffer; `length` also counts what did not fit. */
struct bounded_text {
	char *at;
	size_t size, length;
};

static struct bounded_text text_begin(char *at, size_t size)
{
	if (size)
		at[0] = '\0';
	return (struct bounded_text){at, size, 0};
}

__attribute__((format(printf, 2, 3))) static void text_add(struct bounded_text *text,
							   const char *format, ...)
{
	va_list args;
	bool room = text->length < text->size;
	va_start(args, format);
	int length = vsnprintf(room ? text->at + text->length : NULL,
			       room ? text->size - text->length : 0, format, args);
	va_end(args);
	if (length > 0)
		text->length += (size_t)length;
}

/* Appends the names of the bits of a set, with " or " between them. */
static void text_add_set(struct bounded_text *text, unsigned int set, const char *const *names,
			 size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (set >> i & 1)
			text_add(text, "%s%s", text->length ? " or " : "", names[i]);
}

/* Bits of PERF_SAMPLE_DATA_SRC's word, of newer kernels than this build's, too. */
struct data_src {
	unsigned int op, lvl, snoop, lock, tlb; /* sets of PERF_MEM_*_… bits */
	unsigned int lvl_num;                   /* PERF_MEM_LVLNUM_* */
	bool remote;
	unsigned int snoopx, blk; /* sets of bits */
	unsigned int hops;        /* PERF_MEM_HOPS_* */
};

static struct data_src data_src_parts(uint64_t word)
{
	return (struct data_src){
		.op = word & 0x1f,
		.lvl = word >> 5 & 0x3fff,
		.snoop = word >> 19 & 0x1f,
		.lock = word >> 24 & 3,
		.tlb = word >> 26 & 0x7f,
		.lvl_num = word >> 33 & 0xf,
		.remote = word >> 37 & 1,
		.snoopx = word >> 38 & 3,
		.blk = word >> 40 & 7,
		.hops = word >> 43 & 7,
	};
}

const char *sp_data_src_op_name(uint64_t word)
{
	static const char *const names[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
	for (size_t i = 0; i < count_of(names); i++)
		if (word >> i & 1)
			return names[i];
	return "No";
}

static const char *const level_names[] = {
	"N/A",       "HIT",                "MISS",
	"L1",        "LFB/MAB",            "L2",
	"L3",        "Local RAM",          "Remote RAM (1 hop)",
	"Remote RAM (2 hops)", "Remote Cache (1 hop)", "Remote Cache (2 hops)",
	"I/O",       "Uncached",
};

#define LEVEL_HIT (1U << 1)
#define LEVEL_MISS (1U << 2)
#define LEVEL_NUMBER_NA 0xf

static const char *const level_number_names[16] = {
	[1] = "L1",   [2] = "L2",     [3] = "L3",          [4] = "L4",       [5] = "L2 MHB",
	[6] = "Memory-side Cache",    [7] = "L0",          [8] = "Uncached", [9] = "CXL",
	[10] = "I/O", [11] = "Any cache", [12] = "LFB/MAB", [13] = "RAM",    [14] = "PMEM",
	[15] = "N/A",
};

static const char *const hop_names[8] = {
	[1] = "core, same node", [2] = "node, same socket", [3] = "socket, same board",
	[4] = "board", [5] = "5 hops", [6] = "6 hops", [7] = "7 hops",
};

size_t sp_data_src_level_text(uint64_t word, char *out, size_t size)
{
	struct data_src parts = data_src_parts(word);
	struct bounded_text text = text_begin(out, size);
	bool named = false;
	if (parts.remote)
		text_add(&text, "Remote ");
	if (parts.hops) {
		text_add(&text, "%s ", hop_names[parts.hops]);
	} else {
		unsigned int levels = parts.lvl & ~(LEVEL_HIT | LEVEL_MISS);
		for (size_t i = 0; i < count_of(level_names); i++) {
			if (!(levels >> i & 1))
				continue;
			text_add(&text, "%s%s", named ? " or " : "", level_names[i]);
			named = true;
		}
	}
	if (parts.lvl_num)
		text_add(&text, "%s%s", named ? " or " : "", level_number_names[parts.lvl_num]);
	if (!text.length)
		text_add(&text, "N/A");
	if (parts.lvl & LEVEL_HIT)
		text_add(&text, " hit");
	if (parts.lvl & LEVEL_MISS)
		text_add(&text, " miss");
	return text.length;
}

size_t sp_data_src_snoop_text(uint64_t word, char *out, size_t size)
{
	static const char *const names[] = {"N/A", "None", "Hit", "Miss", "HitM"};
	static const char *const more_names[] = {"Fwd", "Peer"};
	struct data_src parts = data_src_parts(word);
	struct bounded_text text = text_begin(out, size);
	text_add_set(&text, parts.snoop, names, count_of(names));
	text_add_set(&text, parts.snoopx, more_names, count_of(more_names));
	if (!text.length)
		text_add(&text, "N/A");
	return text.length;
}

size_t sp_data_src_tlb_text(uint64_t word, char *out, size_t size)
{
	static const char *const names[] = {"N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"};
	struct data_src parts = data_src_parts(word);
	struct bounded_text text = text_begin(out, size);
	text_add_set(&text, parts.tlb & ~(LEVEL_HIT | LEVEL_MISS), names, count_of(names));
	if (!text.length)
		text_add(&text, "N/A");
	if (parts.tlb & LEVEL_HIT)
		text_add(&text, " hit");
	if (parts.tlb & LEVEL_MISS)
		text_add(&text, " miss");
	return text.length;
}

const char *sp_data_src_lock_name(uint64_t word)
{
	unsigned int lock = data_src_parts(word).lock;
	return lock & 1 ? "N/A" : lock & 2 ? "Yes" : "No";
}

size_t sp_data_src_blocked_text(uint64_t word, char *out, size_t size)
{
	unsigned int blocked = data_src_parts(word).blk;
	struct bounded_text text = text_begin(out, size);
	if (!blocked || blocked & 1)
		text_add(&text, "N/A");
	else
		text_add(&text, "%s%s%s", blocked & 2 ? "Data" : "", blocked == 6 ? " " : "",
			 blocked & 4 ? "Addr" : "");
	return text.length;
}

size_t sp_data_src_text(uint64_t word, char *out, size_t size)
{
	char level[SP_WORDS_SIZE], snoop[SP_WORDS_SIZE], tlb[SP_WORDS_SIZE], blocked[16];
	struct bounded_text text = text_begin(out, size);
	sp_data_src_level_text(word, level, sizeof(level));
	sp_data_src_snoop_text(word, snoop, sizeof(snoop));
	sp_data_src_tlb_text(word, tlb, sizeof(tlb));
	sp_data_src_blocked_text(word, blocked, sizeof(blocked));
	text_add(&text, "|OP %s|LVL %s|SNP %s|TLB %s|LCK %s|BLK  %s", sp_data_src_op_name(word),
		 level, snoop, tlb, sp_data_src_lock_name(word), blocked);
	return text.length;
}

size_t sp_transaction_text(uint64_t transaction, char *out, size_t size)
{
	static const char *const names[] = {"EL ",  "TX ",        "SYNC ",    "ASYNC ", "RETRY ",
					    "CON ", "CAP-WRITE ", "CAP-READ "};
	struct bounded_text text = text_begin(out, size);
	uint64_t code = transaction >> PERF_TXN_ABORT_SHIFT;
	for (size_t i = 0; i < count_of(names); i++)
		if (transaction >> i & 1)
			text_add(&text, "%s", names[i]);
	if (transaction && !(transaction & (PERF_TXN_SYNC | PERF_TXN_ASYNC)))
		text_add(&text, "NEITHER ");
	if (code)
		text_add(&text, ":%" PRIx64, code);
	return text.length;
}

struct sp_branch_flags sp_branch_flags(uint64_t flags)
{
	static const uint8_t widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 1};
	unsigned int fields[count_of(widths)], at = 0;
	/*
	 * Flags are converted to host order, because a big-endian compiler fills bit-fields from the
	 * highest bit.
	 */
	for (size_t i = 0; i < count_of(widths); i++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		unsigned int shift = at;
#else
		unsigned int shift = 64 - at - widths[i];
#endif
		fields[i] = (unsigned int)(flags >> shift & ((UINT64_C(1) << widths[i]) - 1));
		at += widths[i];
	}
	return (struct sp_branch_flags){
		.mispredicted = fields[0],
		.predicted = fields[1],
		.in_transaction = fields[2],
		.aborted = fields[3],
		.cycles = fields[4],
		.type = fields[5],
		.spec = fields[6],
		.new_type = fields[7],
		.priv = fields[8],
		.not_taken = fields[9],
	};
}

#define BRANCH_TYPE_EXTENDED 15

const char *sp_branch_type_name(uint64_t flags)
{
	static const char *const names[16] = {
		NULL,     "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET", "SYSCALL",
		"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX", NULL,
	};
	static const char *const new_names[16] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
		"ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5",
	};
	struct sp_branch_flags parts = sp_branch_flags(flags);
	return parts.type == BRANCH_TYPE_EXTENDED ? new_names[parts.new_type] : names[parts.type];
}

const char *sp_branch_spec_name(uint64_t flags)
{
	static const char *const names[4] = {NULL, "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH",
					     "SPEC_CORRECT_PATH"};
	return names[sp_branch_flags(flags).spec];
}

const char *sp_branch_priv_name(uint64_t flags)
{
	static const char *const names[8] = {NULL, "user", "kernel", "hv"};
	return names[sp_branch_flags(flags).priv];
}

size_t sp_branch_flags_text(uint64_t flags, char *out, size_t size)
{
	struct sp_branch_flags parts = sp_branch_flags(flags);
	const char *type = sp_branch_type_name(flags);
	struct bounded_text text = text_begin(out, size);
	char predicted = parts.predicted ? 'P' : parts.mispredicted ? 'M' : '-';
	text_add(&text, "/%c/%c/%c/%u/%s", predicted, parts.in_transaction ? 'X' : '-',
		 parts.aborted ? 'A' : '-', parts.cycles, type ? type : "");
	return text.length;
}

struct sp_weights sp_weight_parts(uint64_t sample_type, uint64_t weight)
{
	struct sp_weights parts = {.latency = (uint32_t)weight};
	if (sample_type & PERF_SAMPLE_WEIGHT_STRUCT) {
		parts.instruction_latency = (uint16_t)(weight >> 32);
		parts.retire_latency = (uint16_t)(weight >> 48);
	}
	return parts;
}

size_t sp_page_size_text(uint64_t bytes, char *out, size_t size)
{
	static const char units[] = "BKMG";
	struct bounded_text text = text_begin(out, size);
	size_t unit = 0;
	if (!bytes) {
		text_add(&text, "N/A");
		return text.length;
	}
	for (; bytes / 1024 > 1 && unit < 3; unit++)
		bytes /= 1024;
	text_add(&text, "%" PRIu64 "%c", bytes, units[unit]);
	return text.length;
}

char sp_cpumode_letter(uint16_t misc)
{
	static const char letters[] = "?KUHGg??";
	return letters[misc & PERF_RECORD_MISC_CPUMODE_MASK];
}

size_t sp_misc_text(uint32_t type, uint16_t misc, char *out, size_t size)
{
	/* perf tests each mode's bits separately, so some modes have several letters. */
	static const char *const modes[8] = {"", "K", "U", "KUH", "G", "KGg", "UG", "KUHGg"};
	struct bounded_text text = text_begin(out, size);
	text_add(&text, "%s", modes[misc & PERF_RECORD_MISC_CPUMODE_MASK]);
	bool mmap = type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2;
	bool change = type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE;
	if (mmap && misc & PERF_RECORD_MISC_MMAP_DATA)
		text_add(&text, "M");
	if (type == PERF_RECORD_COMM && misc & PERF_RECORD_MISC_COMM_EXEC)
		text_add(&text, "E");
	if (change && misc & PERF_RECORD_MISC_SWITCH_OUT)
		text_add(&text, "S%s", misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? "p" : "");
	return text.length;
}

size_t sp_aux_flags_text(uint64_t flags, char *out, size_t size)
{
	static const char letters[] = "TOPC";
	struct bounded_text text = text_begin(out, size);
	for (size_t i = 0; letters[i]; i++)
		if (flags >> i & 1)
			text_add(&text, "%c", letters[i]);
	return text.length;
}
