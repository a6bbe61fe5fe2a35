/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of lines that libtraceevent reads, which takes each for what it should be: it is given
 * those that are. The texts are changed.
 */
#ifndef TRACE_LINES_H
#define TRACE_LINES_H

struct tep_handle;

/* "ffffffff81000000 T _stext", and a tab and "[module]" behind. */
void lines_take_kallsyms(struct tep_handle *tep, char *text);
/* 0xffffffff82000000 : "text\n" */
void lines_take_printk(struct tep_handle *tep, char *text);

#endif
