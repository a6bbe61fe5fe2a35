/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passes kallsyms and printk_formats to libtraceevent. It does not check their syntax, so only valid
 * lines are passed. The texts are modified.
 */
#ifndef TRACE_LINES_H
#define TRACE_LINES_H

struct tep_handle;

/* Lines "ffffffff81000000 T _stext", for modules followed by a tab and "[module]". */
void lines_take_kallsyms(struct tep_handle *tep, char *text);
/* Lines 0xffffffff82000000 : "text\n" */
void lines_take_printk(struct tep_handle *tep, char *text);

#endif
