/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page without its data, made from page.html, its style and its scripts by `embed`. */
#ifndef HTML_MARKUP_H
#define HTML_MARKUP_H

#include <stddef.h>

struct markup {
	const unsigned char *text;
	size_t size;
};

extern const struct markup markup_before_tree, markup_before_cells, markup_before_source, markup_end;

#endif
