/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames/label_keys.h"

bool side_keys_need_symbols(const bool *keys)
{
	return keys[SP_KEY_SYMBOL_FROM] || keys[SP_KEY_SYMBOL_TO] || keys[SP_KEY_SYMBOL_DADDR] ||
	       keys[SP_KEY_PARENT];
}

bool side_keys_need_dsos(const bool *keys)
{
	return keys[SP_KEY_DSO_FROM] || keys[SP_KEY_DSO_TO] || keys[SP_KEY_DSO_DADDR];
}

bool side_keys_need_lines(const bool *keys)
{
	return keys[SP_KEY_SRCLINE_FROM] || keys[SP_KEY_SRCLINE_TO];
}

bool needs_lines(const struct label_options *options)
{
	return options->keys[SP_KEY_SRCFILE] || options->keys[SP_KEY_SRCLINE] ||
	       side_keys_need_lines(options->keys) || (options->tree && options->tree_lines);
}

bool labels_need_sources(const struct label_options *options)
{
	bool functions = options->keys[SP_KEY_FUNCTION] || options->tree;
	return needs_lines(options) || (options->expand && functions);
}
