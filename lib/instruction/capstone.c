/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads capstone when text is first requested, because relocating its tables of megabytes takes
 * time.
 */
#include <sprof/private/instruction.h>

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number
#define LIBRARY "libcapstone.so." TEXT(CS_API_MAJOR)

struct sp_disassembler {
	cs_err (*close)(csh *handle);
	bool (*next)(csh handle, const uint8_t **code, size_t *size, uint64_t *ip, cs_insn *insn);
	void (*free)(cs_insn *insn, size_t count);
	csh handle;    /* 0: not open */
	bool targets;  /* instructions have their details */
	cs_insn *insn; /* NULL: not allocated */
	char text[sizeof(((cs_insn *)NULL)->mnemonic) + sizeof(((cs_insn *)NULL)->op_str) + 1];
};

DEFINE_CLEANUP(struct sp_disassembler *, sp_disassembler_free)

static const struct {
	uint16_t machine;
	cs_arch arch;
	unsigned int mode;
} machines[] = {
	{EM_X86_64, CS_ARCH_X86, CS_MODE_64},
	{EM_386, CS_ARCH_X86, CS_MODE_32},
	{EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM},
	{EM_ARM, CS_ARCH_ARM, CS_MODE_ARM},
	{EM_PPC64, CS_ARCH_PPC, CS_MODE_64},
	{EM_PPC, CS_ARCH_PPC, CS_MODE_32},
	{EM_S390, CS_ARCH_SYSZ, 0},
	{EM_MIPS, CS_ARCH_MIPS, CS_MODE_MIPS64},
	{EM_SPARCV9, CS_ARCH_SPARC, CS_MODE_V9},
};

static struct sp_error *open_library(struct sp_disassembler *disassembler, size_t index,
				     bool big_endian, unsigned int flags)
{
	cs_err (*open)(cs_arch arch, cs_mode mode, csh *handle) = NULL;
	cs_insn *(*allocate)(csh handle) = NULL;
	cs_err (*option)(csh handle, cs_opt_type type, size_t value) = NULL;
#ifdef SP_STATIC
	open = cs_open;
	option = cs_option;
	allocate = cs_malloc;
	disassembler->close = cs_close;
	disassembler->next = cs_disasm_iter;
	disassembler->free = cs_free;
#else
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NODELETE);
	if (library) {
		*(void **)&open = dlsym(library, "cs_open");
		*(void **)&option = dlsym(library, "cs_option");
		*(void **)&allocate = dlsym(library, "cs_malloc");
		*(void **)&disassembler->close = dlsym(library, "cs_close");
		*(void **)&disassembler->next = dlsym(library, "cs_disasm_iter");
		*(void **)&disassembler->free = dlsym(library, "cs_free");
		dlclose(library);
	}
#endif
	if (!open || !allocate || !option || !disassembler->close || !disassembler->next ||
	    !disassembler->free)
		return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED, "the disassembler, "
						  "%s, is not here", LIBRARY),
					"install libcapstone%d", CS_API_MAJOR);
	unsigned int mode = machines[index].mode |
			    (big_endian ? (unsigned int)CS_MODE_BIG_ENDIAN : 0);
	if (open(machines[index].arch, (cs_mode)mode, &disassembler->handle) != CS_ERR_OK)
		return error_new(SP_ERROR_UNSUPPORTED, "%s does not know this machine's code",
				 LIBRARY);
	/* AT&T syntax, like perf and objdump. */
	if (machines[index].arch == CS_ARCH_X86 && !(flags & SP_DISASSEMBLER_INTEL))
		(void)option(disassembler->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	disassembler->targets = flags & SP_DISASSEMBLER_TARGETS &&
				option(disassembler->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK;
	/* Has room for details if they are on. */
	disassembler->insn = allocate(disassembler->handle);
	return disassembler->insn ? NULL : error_no_memory();
}

struct sp_error *sp_disassembler_new(uint16_t machine, bool big_endian,
				     unsigned int flags, struct sp_disassembler **ret)
{
	CLEANUP(cleanup_sp_disassembler_free)
	struct sp_disassembler *disassembler = calloc(1, sizeof(*disassembler));
	size_t index = 0, count = count_of(machines);
	NEED(disassembler);
	while (index < count && machines[index].machine != machine)
		index++;
	if (index == count)
		return error_new(SP_ERROR_UNSUPPORTED,
				 "there is no disassembler for machine %u (ELF's e_machine)", machine);
	struct sp_error *error = open_library(disassembler, index, big_endian, flags);
	if (!error)
		*ret = take_ptr(disassembler);
	return error;
}

void sp_disassembler_free(struct sp_disassembler *disassembler)
{
	if (!disassembler)
		return;
	if (disassembler->insn)
		disassembler->free(disassembler->insn, 1);
	if (disassembler->handle)
		disassembler->close(&disassembler->handle);
	free(disassembler);
}

const char *sp_disassembler_text(struct sp_disassembler *disassembler, uint64_t ip,
				 const uint8_t *code, size_t size, size_t *length_ret)
{
	cs_insn *insn = disassembler->insn;
	*length_ret = 0;
	if (!disassembler->next(disassembler->handle, &code, &size, &ip, insn))
		return NULL;
	*length_ret = insn->size;
	snprintf(disassembler->text, sizeof(disassembler->text), "%s%s%s", insn->mnemonic,
		 insn->op_str[0] ? " " : "", insn->op_str);
	return disassembler->text;
}

static bool is_in_group(const cs_insn *insn, unsigned int group)
{
	for (size_t i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == group)
			return true;
	return false;
}

bool sp_disassembler_target(const struct sp_disassembler *disassembler, bool *call_ret,
			    uint64_t *ret)
{
	const cs_insn *insn = disassembler->insn;
	if (!disassembler->targets || !insn->detail)
		return false;
	*call_ret = is_in_group(insn, CS_GRP_CALL);
	if (!*call_ret && !is_in_group(insn, CS_GRP_JUMP))
		return false;
	/* The target is the last operand on all machines: "0x401136", "w0, #3, #0x401136". */
	const char *last = strrchr(insn->op_str, ' ');
	last = last ? last + 1 : insn->op_str;
	last += *last == '#';
	char *end;
	*ret = strtoull(last, &end, 16);
	return !strncmp(last, "0x", 2) && !*end;
}
