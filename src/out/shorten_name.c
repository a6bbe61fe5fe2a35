/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shortening of C++, Java, Python and JavaScript names to fit a column. */
#include "out/format_value.h"

#include <stdlib.h>
#include <string.h>
#include "memory.h"

/* Returns the bracket that closes the one at `open`, or NULL. The > of "->" closes nothing. */
static const char *closing(const char *open, char begin, char end)
{
	int depth = 0;
	for (const char *at = open; *at; at++) {
		if (*at == begin)
			depth++;
		else if (*at == end && !(end == '>' && at[-1] == '-') && --depth == 0)
			return at;
	}
	return NULL;
}

/* Returns true if the '<' at `at` is part of an operator's name. */
static bool is_operator(const char *name, const char *at)
{
	static const char word[] = "operator";
	size_t before = (size_t)(at - name), size = sizeof(word) - 1;
	while (before && name[before - 1] == '<')
		before--;
	return before >= size && !memcmp(name + before - size, word, size);
}

/* Returns the text after `word` if `text` begins with it, else NULL. */
static const char *skip(const char *text, const char *word)
{
	size_t size = strlen(word);
	return text && !strncmp(text, word, size) ? text + size : NULL;
}

/* Returns a copy in which `dots` replaces the contents of the outermost brackets. */
static char *empty_brackets(const char *text, char begin, char end, const char *dots)
{
	size_t size = strlen(dots);
	char *copy = xmalloc(strlen(text) + 1), *to = copy; /* it never gets longer */
	for (const char *at = text; *at;) {
		const char *close = NULL;
		if (*at == begin && !(begin == '<' && is_operator(text, at)))
			close = closing(at, begin, end);
		/*
		 * Keeps "(anonymous namespace)", JavaScript's "(anonymous)" and "()", Python's
		 * "<module> (file.py)", and contents shorter than the dots.
		 */
		bool python = begin == '(' ? at > text && at[-1] == ' ' && at[1] != '*'
					   : at == text && close && close[1] == ' ';
		if (!close || (size_t)(close - at) <= size + 1 || skip(at, "(anonymous") ||
		    python) {
			*to++ = *at++;
			continue;
		}
		*to++ = begin;
		memcpy(to, dots, size);
		to += size;
		*to++ = end;
		at = close + 1;
	}
	*to = '\0';
	return copy;
}

/*
 * Skips a name in std, with or without inline namespaces: "std::word", "std::__cxx11::word",
 * "std::__1::word".
 */
static const char *skip_std(const char *text, const char *word)
{
	const char *at = skip(text, "std::"), *inner = skip(at, "__");
	if (inner)
		at = skip(inner + strcspn(inner, ":<> ,()"), "::");
	return skip(at, word);
}

/* Skips a default template argument: ", TRAITS<TYPE>" or ", TRAITS<TYPE >". */
static const char *skip_argument(const char *text, const char *word, const char *type)
{
	const char *at = skip(skip(skip_std(skip(text, ", "), word), "<"), type);
	return skip(at && *at == ' ' ? at + 1 : at, ">");
}

/*
 * Skips a basic_string or basic_string_view with default arguments. Returns its end and its short
 * name, or NULL if `text` does not begin with one.
 */
static const char *skip_string(const char *text, const char **name_ret)
{
	static const struct {
		const char *type, *string, *view;
	} kinds[] = {
		{"char", "std::string", "std::string_view"},
		{"wchar_t", "std::wstring", "std::wstring_view"},
		{"char8_t", "std::u8string", "std::u8string_view"},
		{"char16_t", "std::u16string", "std::u16string_view"},
		{"char32_t", "std::u32string", "std::u32string_view"},
	};
	const char *at = skip_std(text, "basic_string"), *view = skip(at, "_view");
	for (size_t i = 0; at && i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *end = skip(skip(view ? view : at, "<"), kinds[i].type);
		end = skip_argument(end, "char_traits", kinds[i].type);
		if (!view)
			end = skip_argument(end, "allocator", kinds[i].type);
		end = skip(end && *end == ' ' ? end + 1 : end, ">");
		*name_ret = view ? kinds[i].view : kinds[i].string;
		if (end)
			return end;
	}
	return NULL;
}

/* Returns a copy with short names of string types, such as std::string. */
static char *short_strings(const char *text)
{
	char *copy = xmalloc(strlen(text) + 1), *to = copy; /* it never gets longer */
	while (*text) {
		const char *name, *end = *text == 's' ? skip_string(text, &name) : NULL;
		if (end) {
			to = stpcpy(to, name);
			text = end + (end[0] == ' ' && end[1] == '>');
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
	return copy;
}

/*
 * Skips the result type and the package of a Java method: "void java.util.Arrays.sort(…)" becomes
 * "Arrays.sort(…)". Returns `name` if there is no package.
 */
static const char *skip_package(const char *name)
{
	const char *open = strchr(name, '(');
	if (!open || strstr(name, "::") || memchr(name, '/', (size_t)(open - name)))
		return name;
	const char *space = memrchr(name, ' ', (size_t)(open - name));
	const char *start = space ? space + 1 : name, *at = start;
	while (*at >= 'a' && *at <= 'z') {
		const char *dot = memchr(at, '.', (size_t)(open - at));
		if (!dot || !memchr(dot + 1, '.', (size_t)(open - dot - 1)))
			break;
		at = dot + 1;
	}
	return at == start ? name : at;
}

/* Returns the end of a name before its symbol version ("@@GLIBC_2.34"); NULL: it has none. */
static const char *version_of(const char *name)
{
	const char *version = strstr(name, "@@");
	return version ? version : strstr(name, "@GLIBC_");
}

/* Returns whether a dot precedes the name of a part that a compiler made of a function. */
static bool is_clone(const char *dot)
{
	static const char *const words[] = {".constprop", ".isra", ".part", ".cold", ".lto_priv",
					    ".llvm"};
	bool clone = !((dot[1] | 32) >= 'a' && (dot[1] | 32) <= 'z') && dot[1] != '_';
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		clone |= skip(dot, words[i]) != NULL;
	return clone;
}

/* Returns where a name may begin after its next scope, or a path after its next folder; or NULL. */
static const char *next_part(const char *at, bool path)
{
	for (int depth = 0; *at; at++) {
		if (path && *at == '/' && strchr(at, ':'))
			return at;
		depth += strchr("<({[", *at) != NULL;
		depth -= strchr(">)}]", *at) != NULL;
		if (path || depth)
			continue;
		if (at[0] == ':' && at[1] == ':' && at[2])
			return at + 2;
		if (*at == '.' && !is_clone(at))
			return at + 1;
	}
	return NULL;
}

/*
 * Replaces outer scopes, or the folders before a position in a file, as the end of a name
 * distinguishes it: "BaseHandler.start_response", "parse /home/me/app.js:2:20". Returns a copy;
 * NULL: it has none.
 */
static char *cut_left(const struct term *term, const char *name, int width, const char *dots)
{
	const char *space = strrchr(name, ' ');
	bool path = space && strchr(space, '/');
	const char *begin = path ? space + 1 : name, *at = begin, *next;
	char *cut = NULL;
	if (space && !path)
		return NULL;
	while ((next = next_part(at + (cut && path), path)) &&
	       (!cut || term_text_width(term, cut) > width)) {
		at = next;
		free(cut);
		cut = xmalloc(strlen(name) + strlen(dots) + 1);
		stpcpy(stpcpy(mempcpy(cut, name, (size_t)(begin - name)), dots), at);
	}
	return cut;
}

const char *name_shorten(const struct term *term, const char *name, int width, char **made)
{
	char *cut;
	*made = NULL;
	if (strstr(name, "basic_string"))
		name = *made = short_strings(name);
	if (!width || term_text_width(term, name) <= width)
		return name;
	const char *version = version_of(name), *dots = term_glyph(term, "…", "~");
	if (version && version > name) {
		cut = xstrndup(name, (size_t)(version - name));
		free(*made);
		name = *made = cut;
		if (term_text_width(term, name) <= width)
			return name;
	}
	for (const char *brackets = "()<>"; *brackets; brackets += 2) {
		cut = empty_brackets(name, brackets[0], brackets[1], dots);
		free(*made);
		*made = cut;
		name = cut;
		if (*brackets == '(' && term_text_width(term, cut) > width)
			name = skip_package(cut);
		if (term_text_width(term, name) <= width)
			return name;
	}
	cut = cut_left(term, name, width, dots);
	if (!cut)
		return name;
	free(*made);
	return *made = cut;
}
