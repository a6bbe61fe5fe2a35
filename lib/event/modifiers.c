/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Modifiers after a ':'. Those of a group are added to its members' own: `{cycles:u,cs}:k` counts
 * cycles in both modes, and context switches in the kernel.
 */
#include "event/parser.h"

#define PRECISE_MOST 3

static void only_modes(struct event_spec *spec)
{
	if (spec->modes_given)
		return;
	spec->modes_given = true;
	spec->attr.exclude_user = 1;
	spec->attr.exclude_kernel = 1;
	spec->attr.exclude_hv = 1;
}

static void modify_user(struct event_spec *spec)
{
	only_modes(spec);
	spec->attr.exclude_user = 0;
}

static void modify_kernel(struct event_spec *spec)
{
	only_modes(spec);
	spec->attr.exclude_kernel = 0;
}

static void modify_hypervisor(struct event_spec *spec)
{
	only_modes(spec);
	spec->attr.exclude_hv = 0;
}

/* Excludes both, once: each of G and H then includes its own. */
static void exclude_guest_and_host(struct event_spec *spec)
{
	if (spec->guest_given)
		return;
	spec->guest_given = true;
	spec->attr.exclude_guest = 1;
	spec->attr.exclude_host = 1;
}

static void modify_guest(struct event_spec *spec)
{
	exclude_guest_and_host(spec);
	spec->attr.exclude_guest = 0;
}

static void modify_host(struct event_spec *spec)
{
	exclude_guest_and_host(spec);
	spec->attr.exclude_host = 0;
}

static void modify_idle(struct event_spec *spec)
{
	spec->attr.exclude_idle = 1;
}

static void modify_precise(struct event_spec *spec)
{
	if (spec->attr.precise_ip < PRECISE_MOST)
		spec->attr.precise_ip++;
}

static void modify_precise_max(struct event_spec *spec)
{
	spec->precise_max = true;
}

static void modify_group_read(struct event_spec *spec)
{
	spec->group_read = true;
}

static void modify_weak(struct event_spec *spec)
{
	spec->weak = true;
}

static void modify_by_bpf(struct event_spec *spec)
{
	spec->by_bpf = true;
}

/* Sets a modifier of the group's leader; the kernel refuses it for members. */
static void modify_pinned(struct event_spec *spec)
{
	spec->attr.pinned = 1;
}

static void modify_exclusive(struct event_spec *spec)
{
	spec->attr.exclusive = 1;
}

static const struct modifier {
	char letter;
	unsigned char times; /* how many times it may be given */
	bool of_leader;      /* it is set for the group's leader only */
	bool of_group;       /* it is only allowed for groups */
	void (*apply)(struct event_spec *spec);
} modifiers[] = {
	{'u', 1, false, false, modify_user},
	{'k', 1, false, false, modify_kernel},
	{'h', 1, false, false, modify_hypervisor},
	{'G', 1, false, false, modify_guest},
	{'H', 1, false, false, modify_host},
	{'I', 1, false, false, modify_idle},
	{'p', PRECISE_MOST, false, false, modify_precise},
	{'P', 1, false, false, modify_precise_max},
	{'S', 1, false, false, modify_group_read},
	{'D', 1, true, false, modify_pinned},
	{'e', 1, true, false, modify_exclusive},
	{'W', 1, false, true, modify_weak},
	{'b', 1, false, false, modify_by_bpf},
};
#define MODIFIER_COUNT (count_of(modifiers))

static size_t find_modifier(char letter)
{
	size_t i = 0;
	while (i < MODIFIER_COUNT && modifiers[i].letter != letter)
		i++;
	return i;
}

bool modifiers_only(struct text_slice word)
{
	for (size_t i = 0; i < word.size; i++)
		if (find_modifier(word.text[i]) == MODIFIER_COUNT)
			return false;
	return true;
}

struct sp_error *modifiers_read(struct parser *parser, struct text_slice *ret)
{
	parser_skip_blanks(parser);
	const char *place = parser->pos;
	*ret = parser_read_word(parser);
	if (ret->size)
		return NULL;
	return error_set_remedy(parser_error(parser, place, "no modifier"),
				"put u, k or another modifier after the ':'");
}

static struct sp_error *modifier_error(const struct parser *parser, const char *place,
				       const char *what)
{
	struct sp_error *error = parser_error(parser, place, "%s modifier '%c'", what, *place);
	return error_set_remedy(error,
				"modifiers are u k h (user, kernel, hypervisor), G H (guest, "
				"host), I (not idle), p pp ppp P (precise), D e (pinned, exclusive), "
				"and after a group S W (read together, weak)");
}

static struct sp_error *check(const struct parser *parser, struct text_slice text, bool group)
{
	unsigned char times[MODIFIER_COUNT] = {0};
	for (size_t i = 0; i < text.size; i++) {
		size_t found = find_modifier(text.text[i]);
		if (found == MODIFIER_COUNT)
			return modifier_error(parser, text.text + i, "unknown");
		if (times[found]++ == modifiers[found].times)
			return modifier_error(parser, text.text + i, "too many of");
		if (modifiers[found].of_group && !group)
			return error_set_remedy(
				parser_error(parser, text.text + i, "'%c' is a modifier of groups",
					     text.text[i]),
				"put it after the group: {a,b}:%c", text.text[i]);
	}
	return NULL;
}

struct sp_error *modifiers_apply(struct parser *parser, struct text_slice text, size_t first,
				 bool group)
{
	struct event_specs *specs = parser->specs;
	struct sp_error *error = check(parser, text, group);
	for (size_t i = first; i < specs->count && !error; i++)
		for (size_t j = 0; j < text.size; j++) {
			const struct modifier *modifier = &modifiers[find_modifier(text.text[j])];
			if (!modifier->of_leader || i == specs->items[i].leader)
				modifier->apply(&specs->items[i]);
		}
	for (size_t i = first; i < specs->count && !error; i++)
		if (specs->items[i].precise_max)
			specs->items[i].attr.precise_ip = PRECISE_MOST;
	return error;
}
