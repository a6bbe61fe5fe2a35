/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/value_text.h"

#include <sprof/private/words.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "rows/merged.h"

/* Returns a formatted text in the analysis's arena; NULL when out of memory. */
__attribute__((format(printf, 2, 3)))
static const char *format_value(struct merged *merged, const char *format, ...)
{
	char text[64];
	va_list args;
	va_start(args, format);
	int size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return arena_copy_string(&merged->analysis->arena, text, size);
}

static bool describe_symbol(const struct function *function, struct sp_value *ret)
{
	ret->text = function->symbol;
	ret->number = function->start;
	ret->known = function->known;
	ret->level = function->level;
	return true;
}

static bool describe_line(struct merged *merged, const struct function *function, struct sp_value *ret)
{
	if (!function->srcfile || !function->line)
		return true;
	ret->number = function->line;
	ret->text = srcfiles_line(&merged->analysis->row_files, function->srcfile, function->line,
				  &merged->analysis->arena);
	return ret->text != NULL;
}

static bool describe_cgroup(struct merged *merged, uint64_t index, struct sp_value *ret)
{
	const struct numbered *cgroup = &merged->numbered.items[index];
	ret->number = cgroup->number;
	ret->text = cgroup->path ?: format_value(merged, "cgroup %llu", (unsigned long long)cgroup->number);
	return ret->text != NULL;
}

static bool describe_namespace(struct merged *merged, uint64_t index, struct sp_value *ret)
{
	const struct numbered *of = &merged->numbered.items[index];
	ret->number = of->number;
	ret->text = format_value(merged, "%llu/0x%llx", (unsigned long long)of->device,
				 (unsigned long long)of->number);
	return ret->text != NULL;
}

/*
 * Writes the text of a value such as a data source. Returns false if the key's values have no such
 * texts.
 */
static bool word_text(enum sp_key key, uint64_t word, char *text, size_t size)
{
	switch (key) {
	case SP_KEY_MEM:
		sp_data_src_level_text(word, text, size);
		if (!strcmp(text, "N/A or N/A")) /* prints "N/A" only once */
			text[3] = '\0';
		break;
	case SP_KEY_SNOOP:
		sp_data_src_snoop_text(word, text, size);
		break;
	case SP_KEY_TLB:
		sp_data_src_tlb_text(word, text, size);
		break;
	case SP_KEY_LOCKED:
		snprintf(text, size, "%s", sp_data_src_lock_name(word));
		break;
	case SP_KEY_BLOCKED:
		sp_data_src_blocked_text(word, text, size);
		break;
	case SP_KEY_DATA_PAGE_SIZE:
	case SP_KEY_CODE_PAGE_SIZE:
		sp_page_size_text(word, text, size);
		break;
	case SP_KEY_TRANSACTION:
		sp_transaction_text(word, text, size);
		for (size_t end = strlen(text); end && text[end - 1] == ' '; end--)
			text[end - 1] = '\0';
		break;
	default:
		return false;
	}
	return true;
}

/* Returns the number of decimals of a time in seconds that distinguishes two time steps: 3, 6 or 9. */
static int offset_digits(const struct analysis_options *options)
{
	uint64_t quantum_ns = options->rows.time_quantum_ns;
	return quantum_ns % 1000000 == 0 ? 3 : quantum_ns % 1000 == 0 ? 6 : 9;
}

/* Makes the text of a value that is a number or a bit field. Returns false when out of memory. */
static bool describe_number(struct merged *merged, enum sp_key key, uint64_t number, struct sp_value *ret)
{
	char text[SP_WORDS_SIZE];
	ret->number = number;
	switch (key) {
	case SP_KEY_TIME:
		if (merged->options->rows.time_offsets)
			ret->text = format_value(merged, "+%.*f s", offset_digits(merged->options),
					(double)number / 1e9);
		else
			ret->text = format_value(merged, "%llu.%06llu",
					(unsigned long long)(number / 1000000000),
					(unsigned long long)(number % 1000000000 / 1000));
		break;
	case SP_KEY_ADDR_FROM:
	case SP_KEY_ADDR_TO:
	case SP_KEY_DADDR:
	case SP_KEY_PHYS_DADDR:
	case SP_KEY_DCACHELINE:
		ret->text = format_value(merged, "0x%llx", (unsigned long long)number);
		break;
	default:
		if (word_text(key, number, text, sizeof(text)))
			ret->text = arena_strdup(&merged->analysis->arena, text);
		else
			ret->text = format_value(merged, "%llu", (unsigned long long)number);
		break;
	}
	return ret->text != NULL;
}

/*
 * Returns the sum of a value over the row's samples, for keys that show sums; for other keys the value
 * itself.
 */
static uint64_t sum_of(enum sp_key key, uint64_t word, uint64_t samples)
{
	uint64_t sum;
	if (key != SP_KEY_WEIGHT && key != SP_KEY_INS_LAT && key != SP_KEY_P_STAGE_CYC)
		return word;
	return __builtin_mul_overflow(word, samples, &sum) ? UINT64_MAX : sum;
}

bool describe_value(void *arg, enum sp_key key, uint64_t word, uint64_t samples,
		    struct sp_value *ret)
{
	struct merged *merged = arg;
	const struct function *functions = merged->analysis->functions.items;
	if (key == SP_KEY_PARENT && word == DETAIL_NONE)
		ret->text = "[other]";
	if (word == DETAIL_NONE)
		return true;
	if (key_is_text(key)) {
		ret->text = (const char *)(uintptr_t)word;
		return true;
	}
	switch (key) {
	case SP_KEY_SYMBOL_FROM:
	case SP_KEY_SYMBOL_TO:
	case SP_KEY_SYMBOL_DADDR:
	case SP_KEY_PARENT:
		return describe_symbol(&functions[word], ret);
	case SP_KEY_DSO_FROM:
	case SP_KEY_DSO_TO:
	case SP_KEY_DSO_DADDR:
		ret->text = functions[word].dso;
		return true;
	case SP_KEY_SRCLINE_FROM:
	case SP_KEY_SRCLINE_TO:
		return describe_line(merged, &functions[word], ret);
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
		ret->text = sp_branch_type_name((word >> 4) << 20 | (word & 15) << 26);
		return true;
	case SP_KEY_STATE:
		ret->text = leaf_state_text(word);
		return true;
	case SP_KEY_WAITS_FOR:
		ret->text = leaf_state_waits_for(word);
		return true;
	case SP_KEY_CGROUP:
		return describe_cgroup(merged, word, ret);
	case SP_KEY_CGROUP_ID:
		return describe_namespace(merged, word, ret);
	default:
		return describe_number(merged, key, sum_of(key, word, samples), ret);
	}
}
