/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/waits/syscall_text.h"

#include <string.h>
#include "proc/proc_text.h"

#define ARGUMENTS 6

static bool parse_word(struct cursor *line, uint64_t *ret)
{
	return text_char(line, ' ') && text_char(line, '0') && text_char(line, 'x') &&
	       text_hex(line, ret);
}

enum blocked_state syscall_text_parse(const char *text, size_t size, struct blocked *ret)
{
	static const char running[] = "running\n";
	if (size == sizeof(running) - 1 && !memcmp(text, running, size))
		return BLOCKED_RUNNABLE;
	struct cursor line = cursor_make(text, size, false, NULL, 0);
	struct blocked blocked = {0};
	uint64_t argument;
	blocked.in_syscall = !text_char(&line, '-');
	if (!text_decimal_u32(&line, &blocked.number))
		return BLOCKED_INVALID;
	for (size_t i = 0; i < ARGUMENTS && blocked.in_syscall; i++)
		if (!parse_word(&line, &argument))
			return BLOCKED_INVALID;
	if (!parse_word(&line, &blocked.sp) || !parse_word(&line, &blocked.ip) ||
	    !text_char(&line, '\n') || cursor_left(&line))
		return BLOCKED_INVALID;
	*ret = blocked;
	return BLOCKED;
}
