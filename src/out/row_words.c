/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/row_words.h"

#include <string.h>

/* The manual page sprof-report(1) lists them, too. */
static const struct row_word {
	const char *word, *meaning;
} words[] = {
	{"[kernel: not sampled]", "CPU time of the kernel, which the event excludes"},
	{"[not recorded]", "CPU time of the command that no record of a task shows"},
	{"[no stack]", "time of threads without a sample in this state"},
	{"[all threads blocked]", "time in which no thread of the process could run"},
	{"[unknown state]", "time of lost records"},
	{"[unresolved Python function]",
	 "a Python function that sprof read too late to know its name"},
	{"[omitted Python frames]", "middle of a stack too deep for a record"},
	{"[no recorded caller]", "stacks that begin with the function"},
	{"[no system call]", "code outside of the kernel, page faults and interrupts"},
	{"[entry or exit]", "kernel code before and after all system calls"},
	{"[not woken]", "the recording ended before the wait did"},
	{"[softirq]", "kernel work after an interrupt, such as received packets"},
	{"[idle]", "the idle task of a CPU"},
	{"[other]", "samples without a match for the parent"},
	{"[no source line]", "code without line information"},
	{"[no source file]", "code without line information"},
	{"?", "unknown: neither the recording nor its files have it"},
};

#define WORD_COUNT (sizeof(words) / sizeof(*words))

/* Marks the word that a row's key shows, if it is one. */
static void mark_word(const char *text, bool *shown)
{
	if (*text != '[' && *text != '?')
		return;
	for (size_t i = 0; i < WORD_COUNT; i++)
		shown[i] |= !strcmp(text, words[i].word);
}

void row_words_write(const struct report *report, const struct table_line *rows, size_t count,
		     FILE *out)
{
	bool shown[WORD_COUNT] = {0};
	char buffer[FORMAT_SIZE];
	if (report->quiet || report->live)
		return;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < report->key_count; j++)
			mark_word(key_text(rows[i].row, report->keys[j], buffer) ?: "?", shown);
	term_begin(&report->term, TERM_DIM, out);
	for (size_t i = 0; i < WORD_COUNT; i++)
		if (shown[i]) {
			int column = fprintf(out, "%s: ", words[i].word);
			term_wrap(&report->term, words[i].meaning, column, 2, 0, out);
		}
	term_end(&report->term, TERM_DIM, out);
}
