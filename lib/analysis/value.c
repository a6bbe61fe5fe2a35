/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What people see of the values that rows are made by. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "analysis/detail.h"

/* PERF_BR_*, and behind them PERF_BR_NEW_*, as perf has them. */
static const char *const branch_types[] = {
	"N/A", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET",
	"COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX", NULL,
	"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
};

/* The arena's; NULL when out of memory. */
__attribute__((format(printf, 2, 3)))
static const char *say(struct run *run, const char *format, ...)
{
	char text[64];
	va_list args;
	va_start(args, format);
	int size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return arena_copy_string(&run->analysis->arena, text, (size_t)size);
}

static bool describe_symbol(const struct function *function, struct sp_value *ret)
{
	ret->text = function->symbol;
	ret->number = function->start;
	ret->known = function->known;
	ret->level = function->level;
	return true;
}

static bool describe_line(struct run *run, const struct function *function, struct sp_value *ret)
{
	if (!function->srcfile || !function->line)
		return true;
	ret->number = function->line;
	ret->text = srcfiles_line(&run->analysis->row_files, function->srcfile, function->line,
				  &run->analysis->arena);
	return ret->text != NULL;
}

static const char *branch_type(uint64_t type)
{
	const char *name = NULL;
	if (type < sizeof(branch_types) / sizeof(*branch_types))
		name = branch_types[type];
	return name ?: "N/A";
}

/* Of words that are numbers for all to see. */
static bool describe_number(struct run *run, enum sp_key key, uint64_t number, struct sp_value *ret)
{
	ret->number = number;
	switch (key) {
	case SP_KEY_TIME:
		ret->text = say(run, "%llu.%06llu", (unsigned long long)(number / 1000000000),
				(unsigned long long)(number % 1000000000 / 1000));
		break;
	case SP_KEY_ADDR:
	case SP_KEY_ADDR_FROM:
	case SP_KEY_ADDR_TO:
		ret->text = say(run, "0x%llx", (unsigned long long)number);
		break;
	default:
		ret->text = say(run, "%llu", (unsigned long long)number);
		break;
	}
	return ret->text != NULL;
}

bool describe_value(void *arg, enum sp_key key, uint64_t word, uint64_t samples,
		    struct sp_value *ret)
{
	struct run *run = arg;
	const struct function *functions = run->analysis->functions.items;
	(void)samples;
	if (word == DETAIL_NONE)
		return true;
	switch (key) {
	case SP_KEY_SYMBOL_FROM:
	case SP_KEY_SYMBOL_TO:
		return describe_symbol(&functions[word], ret);
	case SP_KEY_DSO_FROM:
	case SP_KEY_DSO_TO:
		ret->text = functions[word].dso;
		return true;
	case SP_KEY_SRCLINE_FROM:
	case SP_KEY_SRCLINE_TO:
		return describe_line(run, &functions[word], ret);
	case SP_KEY_MISPREDICT:
		ret->text = word ? "Y" : "N";
		return true;
	case SP_KEY_IN_TX:
		ret->text = word ? "T" : ".";
		return true;
	case SP_KEY_ABORT:
		ret->text = word ? "A" : ".";
		return true;
	case SP_KEY_BRANCH_TYPE:
		ret->text = branch_type(word);
		return true;
	default:
		return describe_number(run, key, word, ret);
	}
}
