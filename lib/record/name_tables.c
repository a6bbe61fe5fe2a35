/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of names for numbers and bits. Names of registers are perf's. The numbers are the kernel's
 * (arch/…/include/uapi/asm/perf_regs.h of each architecture).
 */
#include <sprof/private/words.h>

#include <string.h>
#include "base/vec.h"

enum sp_architecture sp_architecture_parse(const char *machine)
{
	static const struct {
		const char *prefix;
		enum sp_architecture architecture;
	} known[] = {
		{"x86", SP_ARCHITECTURE_X86},
		{"amd64", SP_ARCHITECTURE_X86},
		{"i386", SP_ARCHITECTURE_X86},
		{"i486", SP_ARCHITECTURE_X86},
		{"i586", SP_ARCHITECTURE_X86},
		{"i686", SP_ARCHITECTURE_X86},
		{"aarch64", SP_ARCHITECTURE_ARM64},
		{"arm64", SP_ARCHITECTURE_ARM64},
		{"arm", SP_ARCHITECTURE_ARM}, /* armv7l, armeb; arm64 is matched earlier */
		{"s390", SP_ARCHITECTURE_S390},
		{"ppc", SP_ARCHITECTURE_POWERPC},
		{"powerpc", SP_ARCHITECTURE_POWERPC},
		{"riscv", SP_ARCHITECTURE_RISCV},
		{"loongarch", SP_ARCHITECTURE_LOONGARCH},
		{"mips", SP_ARCHITECTURE_MIPS},
	};
	for (size_t i = 0; machine && i < count_of(known); i++)
		if (!strncmp(machine, known[i].prefix, strlen(known[i].prefix)))
			return known[i].architecture;
	return SP_ARCHITECTURE_UNKNOWN;
}

#define TWICE(name) name, name

static const char *const x86_registers[64] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES",
	"FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
	[32] = TWICE("XMM0"), TWICE("XMM1"), TWICE("XMM2"), TWICE("XMM3"), TWICE("XMM4"),
	TWICE("XMM5"), TWICE("XMM6"), TWICE("XMM7"), TWICE("XMM8"), TWICE("XMM9"), TWICE("XMM10"),
	TWICE("XMM11"), TWICE("XMM12"), TWICE("XMM13"), TWICE("XMM14"), TWICE("XMM15"),
};

static const char *const arm64_registers[64] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
	"x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
	"x27", "x28", "x29", "lr", "sp", "pc", [46] = "vg",
};

static const char *const arm_registers[64] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr",
	"pc",
};

static const char *const s390_registers[64] = {
	"R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13",
	"R14", "R15", "FP0", "FP1", "FP2", "FP3", "FP4", "FP5", "FP6", "FP7", "FP8", "FP9",
	"FP10", "FP11", "FP12", "FP13", "FP14", "FP15", "MASK", "PC",
};

static const char *const powerpc_registers[64] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13",
	"r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26",
	"r27", "r28", "r29", "r30", "r31", "nip", "msr", "orig_r3", "ctr", "link", "xer", "ccr",
	"softe", "trap", "dar", "dsisr", "sier", "mmcra", "mmcr0", "mmcr1", "mmcr2", "mmcr3",
	"sier2", "sier3", "pmc1", "pmc2", "pmc3", "pmc4", "pmc5", "pmc6", "sdar", "siar",
};

static const char *const riscv_registers[64] = {
	"pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
	"a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3",
	"t4", "t5", "t6",
};

static const char *const loongarch_registers[64] = {
	"PC", "%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11",
	"%r12", "%r13", "%r14", "%r15", "%r16", "%r17", "%r18", "%r19", "%r20", "%r21", "%r22",
	"%r23", "%r24", "%r25", "%r26", "%r27", "%r28", "%r29", "%r30", "%r31",
};

/* Without $26 and $27, which the kernel uses itself. */
static const char *const mips_registers[64] = {
	"PC", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13",
	"$14", "$15", "$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$28",
	"$29", "$30", "$31",
};

const char *sp_register_name(enum sp_architecture architecture, unsigned int bit)
{
	static const char *const *const registers[] = {
		[SP_ARCHITECTURE_X86] = x86_registers,
		[SP_ARCHITECTURE_ARM64] = arm64_registers,
		[SP_ARCHITECTURE_ARM] = arm_registers,
		[SP_ARCHITECTURE_S390] = s390_registers,
		[SP_ARCHITECTURE_POWERPC] = powerpc_registers,
		[SP_ARCHITECTURE_RISCV] = riscv_registers,
		[SP_ARCHITECTURE_LOONGARCH] = loongarch_registers,
		[SP_ARCHITECTURE_MIPS] = mips_registers,
	};
	if (architecture >= count_of(registers) || !registers[architecture] || bit >= 64)
		return NULL;
	return registers[architecture][bit];
}

/* Name at an index of a table; NULL after its end. */
#define NAME_AT(names, at) ((at) < count_of(names) ? (names)[at] : NULL)

const char *sp_ksymbol_type_name(unsigned int type)
{
	static const char *const names[] = {"unknown", "bpf", "ool"};
	const char *name = NAME_AT(names, type);
	return name ? name : names[0];
}

const char *sp_bpf_event_type_name(unsigned int type)
{
	static const char *const names[] = {"unknown", "prog load", "prog unload"};
	const char *name = NAME_AT(names, type);
	return name ? name : names[0];
}

const char *sp_namespace_name(size_t index)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	return NAME_AT(names, index);
}

const char *sp_feature_name(unsigned int bit)
{
	static const char *const names[] = {
		NULL, "TRACING_DATA", "BUILD_ID", "HOSTNAME", "OSRELEASE", "VERSION", "ARCH",
		"NRCPUS", "CPUDESC", "CPUID", "TOTAL_MEM", "CMDLINE", "EVENT_DESC", "CPU_TOPOLOGY",
		"NUMA_TOPOLOGY", "BRANCH_STACK", "PMU_MAPPINGS", "GROUP_DESC", "AUXTRACE", "STAT",
		"CACHE", "SAMPLE_TIME", "MEM_TOPOLOGY", "CLOCKID", "DIR_FORMAT", "BPF_PROG_INFO",
		"BPF_BTF", "COMPRESSED", "CPU_PMU_CAPS", "CLOCK_DATA", "HYBRID_TOPOLOGY",
		"PMU_CAPS", "CPU_DOMAIN_INFO", "E_MACHINE", "CLN_SIZE",
	};
	static const char *const simpleperf_names[] = {"SIMPLEPERF_FILE", "SIMPLEPERF_META_INFO",
						       "SIMPLEPERF_DEBUG_UNWIND",
						       "SIMPLEPERF_DEBUG_UNWIND_FILE",
						       "SIMPLEPERF_FILE2",
						       "SIMPLEPERF_ETM_BRANCH_LIST",
						       "SIMPLEPERF_INIT_MAP"};
	if (bit >= 128)
		return NAME_AT(simpleperf_names, bit - 128);
	return NAME_AT(names, bit);
}
