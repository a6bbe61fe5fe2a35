/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of perf 6.1's script and report -D for the same numbers. */
#include <sprof/private/describe.h>
#include <sprof/private/losses.h>
#include <sprof/private/words.h>

#include <linux/perf_event.h>
#include <string.h>
#include <stdio.h>
#include "test.h"

typedef size_t word_text(uint64_t word, char *text, size_t size);

static void same_text(word_text *function, uint64_t word, const char *wanted)
{
	char text[SP_WORDS_SIZE], small[4];
	ck_assert_uint_eq(function(word, text, sizeof(text)), strlen(wanted));
	ck_assert_str_eq(text, wanted);
	/* Cut short, the length is that of the whole. */
	ck_assert_uint_eq(function(word, small, sizeof(small)), strlen(wanted));
	ck_assert(!strncmp(small, wanted, sizeof(small) - 1));
	ck_assert_uint_lt(strlen(small), sizeof(small));
	ck_assert_uint_eq(function(word, NULL, 0), strlen(wanted));
}

TEST(data_src_has_perfs_text)
{
	same_text(sp_data_src_text, 0x68100142,
		  "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
	same_text(sp_data_src_text, 0, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	same_text(sp_data_src_text, 0x0e68000001 | UINT64_C(6) << 40,
		  "|OP N/A|LVL L0|SNP N/A|TLB L1 or L2 hit|LCK No|BLK  Data Addr");
}

TEST(data_src_levels)
{
	uint64_t hit = 1 << 6, miss = 1 << 7;
	same_text(sp_data_src_level_text, hit | UINT64_C(0x28) << 5 | UINT64_C(13) << 33,
		  "L1 or L2 or RAM hit");
	same_text(sp_data_src_level_text, miss | UINT64_C(1) << 37 | UINT64_C(3) << 43,
		  "Remote socket, same board  miss");
}

TEST(data_src_of_the_kernels_bit_fields)
{
	/* Layout of the kernel's union as the compiler has it. */
	union perf_mem_data_src made = {.mem_op = PERF_MEM_OP_STORE,
					.mem_lvl = PERF_MEM_LVL_L3,
					.mem_snoop = PERF_MEM_SNOOP_HITM,
					.mem_lock = PERF_MEM_LOCK_LOCKED,
					.mem_dtlb = PERF_MEM_TLB_WK,
					.mem_lvl_num = 9,
					.mem_remote = 1,
					.mem_snoopx = 1,
					.mem_blk = 4,
					.mem_hops = 2};
	ck_assert_str_eq(sp_data_src_op_name(made.val), "STORE");
	ck_assert_str_eq(sp_data_src_lock_name(made.val), "Yes");
	same_text(sp_data_src_level_text, made.val, "Remote node, same socket CXL");
	same_text(sp_data_src_snoop_text, made.val, "HitM or Fwd");
	same_text(sp_data_src_tlb_text, made.val, "Walker");
	same_text(sp_data_src_blocked_text, made.val, "Addr");
}

TEST(transactions)
{
	same_text(sp_transaction_text, 0, "");
	same_text(sp_transaction_text, PERF_TXN_TRANSACTION | PERF_TXN_SYNC | PERF_TXN_CONFLICT,
		  "TX SYNC CON ");
	same_text(sp_transaction_text, PERF_TXN_ELISION | UINT64_C(0x2a) << PERF_TXN_ABORT_SHIFT,
		  "EL NEITHER :2a");
}

static uint64_t branch(struct perf_branch_entry entry)
{
	uint64_t words[3];
	_Static_assert(sizeof(entry) == sizeof(words), "three words");
	memcpy(words, &entry, sizeof(words));
	return words[2];
}

TEST(branch_flags)
{
	uint64_t call = branch((struct perf_branch_entry){
		.predicted = 1, .cycles = 12, .type = PERF_BR_CALL, .spec = 3, .priv = 2});
	same_text(sp_branch_flags_text, call, "/P/-/-/12/CALL");
	ck_assert_str_eq(sp_branch_spec_name(call), "SPEC_CORRECT_PATH");
	ck_assert_str_eq(sp_branch_priv_name(call), "kernel");
	same_text(sp_branch_flags_text,
		  branch((struct perf_branch_entry){
			  .mispred = 1, .in_tx = 1, .abort = 1, .cycles = 65535}),
		  "/M/X/A/65535/");
	same_text(sp_branch_flags_text, branch((struct perf_branch_entry){.cycles = 0}),
		  "/-/-/-/0/");
	ck_assert_str_eq(sp_branch_type_name(branch(
				 (struct perf_branch_entry){.type = 15, .new_type = 1})),
			 "FAULT_DATA");
	ck_assert_ptr_null(sp_branch_type_name(0));
	ck_assert_ptr_null(sp_branch_priv_name(0));
}

TEST(weights)
{
	struct sp_weights parts =
		sp_weight_parts(PERF_SAMPLE_WEIGHT_STRUCT, UINT64_C(0x0003000200000001));
	ck_assert_uint_eq(parts.latency, 1);
	ck_assert_uint_eq(parts.instruction_latency, 2);
	ck_assert_uint_eq(parts.retire_latency, 3);
	parts = sp_weight_parts(PERF_SAMPLE_WEIGHT, UINT64_C(0x0003000200000001));
	ck_assert_uint_eq(parts.instruction_latency, 0);
}

TEST(registers)
{
	static const struct {
		const char *machine;
		unsigned int bit;
		const char *name;
	} known[] = {
		{"x86_64", 0, "AX"},       {"x86_64", 23, "R15"},   {"x86_64", 63, "XMM15"},
		{"i686", 8, "IP"},         {"aarch64", 30, "lr"},   {"aarch64", 46, "vg"},
		{"armv7l", 11, "fp"},      {"s390x", 33, "PC"},     {"ppc64le", 44, "mmcra"},
		{"ppc64", 58, "siar"},     {"riscv64", 31, "t6"},   {"loongarch64", 31, "%r31"},
		{"mips64", 26, "$28"},     {"x86_64", 24, NULL},    {"aarch64", 47, NULL},
		{"armv7l", 16, NULL},      {"s390x", 34, NULL},     {"mips", 30, NULL},
		{"x86_64", 64, NULL},      {"vax", 0, NULL},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		enum sp_architecture architecture = sp_architecture_parse(known[i].machine);
		const char *name = sp_register_name(architecture, known[i].bit);
		ck_assert_msg(!name == !known[i].name && (!name || !strcmp(name, known[i].name)),
			      "%s %u", known[i].machine, known[i].bit);
	}
	ck_assert_int_eq(sp_architecture_parse(NULL), SP_ARCHITECTURE_UNKNOWN);
}

TEST(page_sizes)
{
	same_text(sp_page_size_text, 0, "N/A");
	same_text(sp_page_size_text, 4096, "4K");
	same_text(sp_page_size_text, 65536, "64K");
	same_text(sp_page_size_text, 2 << 20, "2M");
	same_text(sp_page_size_text, 1 << 30, "1024M");
	same_text(sp_page_size_text, UINT64_C(16) << 30, "16G");
}

TEST(misc_and_flags)
{
	char text[SP_WORDS_SIZE];
	ck_assert_int_eq(sp_cpumode_letter(PERF_RECORD_MISC_GUEST_USER), 'g');
	ck_assert_int_eq(sp_cpumode_letter(0), '?');
	sp_misc_text(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA, text,
		     sizeof(text));
	ck_assert_str_eq(text, "UM");
	sp_misc_text(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, text, sizeof(text));
	ck_assert_str_eq(text, "E");
	sp_misc_text(PERF_RECORD_SWITCH,
		     PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, text,
		     sizeof(text));
	ck_assert_str_eq(text, "Sp");
	same_text(sp_aux_flags_text, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_COLLISION, "TC");
}

TEST(names_of_numbers)
{
	ck_assert_str_eq(sp_ksymbol_type_name(PERF_RECORD_KSYMBOL_TYPE_BPF), "bpf");
	ck_assert_str_eq(sp_ksymbol_type_name(77), "unknown");
	ck_assert_str_eq(sp_bpf_event_type_name(PERF_BPF_EVENT_PROG_UNLOAD), "prog unload");
	ck_assert_str_eq(sp_namespace_name(CGROUP_NS_INDEX), "cgroup");
	ck_assert_ptr_null(sp_namespace_name(NR_NAMESPACES));
	ck_assert_str_eq(sp_feature_name(1), "TRACING_DATA");
	ck_assert_str_eq(sp_feature_name(32), "CPU_DOMAIN_INFO");
	ck_assert_str_eq(sp_feature_name(132), "SIMPLEPERF_FILE2");
	ck_assert_ptr_null(sp_feature_name(0));
}

TEST(bits_of_attrs)
{
	const struct perf_event_attr attr = {.sample_type = UINT64_C(3) << 24, .read_format = 17,
					     .branch_sample_type = 1 << 19};
	const struct sp_attr_tail tail = {0};
	const char *const wanted[] = {"WEIGHT_STRUCT|0x2000000", "TOTAL_TIME_ENABLED|LOST",
				      "COUNTERS"};
	const char *name;
	char value[SP_WORDS_SIZE];
	unsigned int at = 0;
	for (size_t i = 0; i < 3; i++) {
		ck_assert(sp_attr_next(&attr, &tail, &at, &name, value));
		ck_assert_str_eq(value, wanted[i]);
	}
	ck_assert(!sp_attr_next(&attr, &tail, &at, &name, value));
}

/* "RATE > warning, remedy", or "" where there is none; a period where `freq` is false. */
static void locks_in(bool freq, uint64_t rate, uint64_t tick_hz, const char *wanted)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .freq = freq,
		.sample_freq = rate,
	};
	char text[SP_WORDS_SIZE] = "", all[SP_WORDS_SIZE + 32] = "";
	struct sp_lock_in lock_in;
	if (sp_lock_in_find(&attr, tick_hz, &lock_in)) {
		sp_lock_in_text(&lock_in, text, sizeof(text));
		snprintf(all, sizeof(all), "%s: -F %d", text, (int)lock_in.free_hz);
	}
	ck_assert_str_eq(all, wanted);
}

TEST(clocks_lock_in_with_timers)
{
	locks_in(true, 1000, 0, "sampling at 1000 Hz can lock in step with 1 ms timers: -F 809");
	locks_in(true, 250, 250, "sampling at 250 Hz can lock in step with 1 ms timers: -F 202");
	locks_in(true, 100, 0, "sampling at 100 Hz can lock in step with 1 ms timers: -F 81");
	locks_in(true, 1, 0, "sampling at 1 Hz can lock in step with 1 ms timers: -F 7");
	locks_in(true, 300, 300,
		 "sampling at 300 Hz can lock in step with the kernel's 300 Hz tick: -F 243");
	locks_in(false, 3000000, 0,
		 "sampling every 3 ms can lock in step with 1 ms timers: -F 269");
	locks_in(false, 1000000, 0,
		 "sampling at 1000 Hz can lock in step with 1 ms timers: -F 809");
	locks_in(false, UINT64_MAX / 1000000 * 1000000, 0,
		 "sampling every 1.84467e+13 ms can lock in step with 1 ms timers: -F 7");
	locks_in(true, 997, 250, "");
	locks_in(true, 300, 250, "");
	locks_in(true, 4999, 1000, "");
	locks_in(true, 0, 1000, "");
	locks_in(false, 1003009, 1000, "");
	locks_in(true, 10, 0, "sampling at 10 Hz can lock in step with 1 ms timers: -F 7");
	locks_in(false, 1236068, 1000, "");
	/* Counters drift. */
	const struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE, .freq = 1, .sample_freq = 1000};
	struct sp_lock_in lock_in;
	ck_assert(!sp_lock_in_find(&cycles, 1000, &lock_in));
}

static void larger_rings(uint64_t kib, bool copies, const char *wanted)
{
	char text[16] = "none";
	bool larger = sp_larger_rings_option(kib << 10, copies, text, sizeof(text));
	ck_assert_int_eq(larger, strcmp(wanted, "none") != 0);
	ck_assert_str_eq(text, wanted);
}

TEST(proposed_ring_buffers_are_larger_than_those_that_lost)
{
	larger_rings(0, false, "-m 2M");
	larger_rings(4, false, "-m 2M");
	larger_rings(512, false, "-m 2M");
	larger_rings(1024, false, "-m 4M");
	larger_rings(0, true, "-m 32M");
	larger_rings(4096, true, "-m 32M");
	larger_rings(16384, true, "-m 64M");
	larger_rings(16384, false, "-m 64M");
	larger_rings(32768, true, "none");
	larger_rings(UINT64_MAX >> 10, false, "none");
}
