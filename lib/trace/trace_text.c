/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/trace_text.h"

#include <ctype.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include "trace/kernel_names.h"

/* Limit of the text: kernels print a field about once, and in at most 4 characters a byte. */
#define TEXT_TIMES 64

void text_begin(struct trace_text *text, size_t size)
{
	text->chars.count = 0;
	text->most = size * TEXT_TIMES + TEXT_LEAST;
	text->invalid = text->no_memory = false;
	text_add(text, "%s", "");
}

void text_add(struct trace_text *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 || text->chars.count + (size_t)length > text->most) {
		text->invalid = true;
		return;
	}
	if (!vec_reserve(&text->chars, text->chars.count + (size_t)length + 1)) {
		text->no_memory = true;
		return;
	}
	va_start(args, format);
	vsnprintf(text->chars.items + text->chars.count, (size_t)length + 1, format, args);
	va_end(args);
	text->chars.count += (size_t)length;
}

static bool is_big_endian(const struct trace_sample *sample)
{
	return sample->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

/* Returns a byte of a mask, with the lowest bits at index 0. */
static uint8_t byte_at(const struct trace_sample *sample, const struct extent *mask, size_t index)
{
	return mask->bytes[is_big_endian(sample) ? mask->size - 1 - index : index];
}

/* Adds a mask in hex, highest bit first, with a comma before each 32 bits: "00000001,80000000". */
static void text_add_bitmask(struct trace_text *text, const struct trace_sample *sample,
		      const struct extent *mask)
{
	for (size_t i = mask->size; i > 0; i--)
		text_add(text, "%02x%s", byte_at(sample, mask, i - 1),
			 i % 4 == 1 && i > 1 ? "," : "");
}

/* Adds the numbers of a mask's bits: "0-3,8". */
static void text_add_cpus(struct trace_text *text, const struct trace_sample *sample,
		   const struct extent *mask)
{
	size_t begin = 0;
	bool inside = false;
	for (size_t bit = 0; bit <= mask->size * 8; bit++) {
		bool is_set = bit < mask->size * 8 && byte_at(sample, mask, bit / 8) >> bit % 8 & 1;
		if (is_set == inside)
			continue;
		inside = is_set;
		if (is_set) {
			text_add(text, text->chars.count ? ",%zu" : "%zu", bit);
			begin = bit;
		} else if (bit > begin + 1) {
			text_add(text, "-%zu", bit - 1);
		}
	}
}

/* Adds up to `most` bytes in hex, for "%ph" and the letter after it. */
static void text_add_raw(struct trace_text *text, char letter, const struct extent *bytes,
			 size_t most)
{
	const char *delimiter = letter == 'C'	? ":"
				: letter == 'D' ? "-"
				: letter == 'N' ? ""
						: " ";
	for (size_t i = 0; i < bytes->size && i < most; i++)
		text_add(text, "%s%02x", i ? delimiter : "", bytes->bytes[i]);
}

static void add_ethernet(struct trace_text *text, const char *letters, const struct extent *address)
{
	const char *delimiter = *letters == 'm' ? "" : letters[1] == 'F' ? "-" : ":";
	if (address->size != 6)
		return text_add(text, "INVALIDMAC");
	for (size_t i = 0; i < 6; i++)
		text_add(text, "%s%02x", i ? delimiter : "",
			 address->bytes[letters[1] == 'R' ? 5 - i : i]);
}

static void add_ip4(struct trace_text *text, bool padded, bool reverse, const uint8_t *bytes)
{
	for (size_t i = 0; i < 4; i++)
		text_add(text, padded ? "%s%03d" : "%s%d", i ? "." : "",
			 bytes[reverse ? 3 - i : i]);
}

static unsigned int word_at(const uint8_t *bytes, size_t index)
{
	return (unsigned int)bytes[2 * index] << 8 | bytes[2 * index + 1];
}

/*
 * Adds an IPv6 address as RFC 5952 has it. IPv4-mapped and ISATAP addresses end as IPv4 addresses.
 */
static void add_short_ip6(struct trace_text *text, const uint8_t *bytes)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t isatap[3] = {0, 0x5e, 0xfe};
	bool is_ip4 = !memcmp(bytes, mapped, 12) ||
		      ((bytes[8] & ~2) == 0 && !memcmp(bytes + 9, isatap, 3));
	size_t count = is_ip4 ? 6 : 8, zeros, length;
	bool colon = false;

	/* Finds the longest run of zero words; the first of equals, and none of one word. */
	zeros = count;
	length = 1;
	for (size_t i = 0; i < count; i++) {
		size_t end = i;
		while (end < count && !word_at(bytes, end))
			end++;
		if (end - i > length) {
			zeros = i;
			length = end - i;
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (i == zeros) {
			text_add(text, colon || !i ? "::" : ":");
			colon = false;
			i += length - 1;
			continue;
		}
		text_add(text, colon ? ":%x" : "%x", word_at(bytes, i));
		colon = true;
	}
	if (!is_ip4)
		return;
	text_add(text, colon ? ":" : "");
	add_ip4(text, false, false, bytes + 12);
}

static void add_ip6(struct trace_text *text, char first, bool is_short, const uint8_t *bytes)
{
	if (is_short)
		return add_short_ip6(text, bytes);
	for (size_t i = 0; i < 8; i++)
		text_add(text, i && first == 'I' ? ":%04x" : "%04x", word_at(bytes, i));
}

/* Whether "h" or "l" asks for the lowest byte first. */
static bool is_reversed(char letter, const struct trace_sample *sample)
{
	return letter == 'l' || (letter == 'h' && !is_big_endian(sample));
}

/* Adds the address of a struct sockaddr, for "%pISpc"; nothing of another family. */
static void add_socket(struct trace_text *text, const char *letters,
		       const struct trace_sample *sample, const struct extent *socket)
{
	const char *options = letters + 2;
	bool port = *letters == 'I' && *options == 'p';
	options += port;
	bool is_short = *letters == 'I' && *options == 'c';
	options += is_short;
	uint64_t family = socket->size < 2 ? AF_UNSPEC : value_read(sample, socket->bytes, 2);
	if (family == AF_INET) {
		if (socket->size < sizeof(struct sockaddr_in))
			return text_add(text, "INVALIDIPv4");
		add_ip4(text, *letters == 'i', is_reversed(*options, sample), socket->bytes + 4);
		if (port)
			text_add(text, ":%u", word_at(socket->bytes, 1));
	} else if (family == AF_INET6) {
		if (socket->size < sizeof(struct sockaddr_in6))
			return text_add(text, "INVALIDIPv6");
		text_add(text, port ? "[" : "");
		add_ip6(text, *letters, is_short, socket->bytes + 8);
		if (port)
			text_add(text, "]:%u", word_at(socket->bytes, 1));
	}
}

static void add_uuid(struct trace_text *text, char letter, const struct extent *id)
{
	static const uint8_t little[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	bool swaps = letter == 'L' || letter == 'l', large = letter == 'L' || letter == 'B';
	if (id->size != 16)
		return text_add(text, "INVALIDUUID");
	for (size_t i = 0; i < 16; i++) {
		text_add(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
		text_add(text, large ? "%02X" : "%02x", id->bytes[swaps ? little[i] : i]);
	}
}

/*
 * Adds an address or id by the letters after "%p": M, m (Ethernet), I4, I6, IS, i4, i6, iS (IP,
 * sockaddr), U (UUID). Bytes of another size are "INVALIDMAC" or the like.
 */
static void text_add_address(struct trace_text *text, const char *letters,
		      const struct trace_sample *sample, const struct extent *bytes)
{
	if (*letters == 'M' || *letters == 'm')
		add_ethernet(text, letters, bytes);
	else if (*letters == 'U')
		add_uuid(text, letters[1], bytes);
	else if (letters[1] == 'S')
		add_socket(text, letters, sample, bytes);
	else if (letters[1] == '4' && bytes->size != 4)
		text_add(text, "INVALIDIPv4");
	else if (letters[1] == '4')
		add_ip4(text, *letters == 'i', is_reversed(letters[2], sample), bytes->bytes);
	else if (bytes->size != 16)
		text_add(text, "INVALIDIPv6");
	else
		add_ip6(text, *letters, *letters == 'I' && letters[2] == 'c', bytes->bytes);
}

/* Limits of "*" with a value from the sample: a width or number's precision; a string's precision.
 */
#define WIDEST 4096
#define LONGEST TEXT_LEAST

/* A conversion of the current sample. */
struct conversion {
	const struct trace_sample *sample;
	const struct format_piece *piece;
	int width, precision; /* -1: none */
};

/* Adds a string of up to `size` bytes. */
static void add_string(struct trace_text *text, const struct conversion *to, const char *string,
		       size_t size)
{
	size_t length = strnlen(string, size);
	size_t most = to->precision < 0 ? LONGEST : (size_t)to->precision;
	int width = to->width < 0 ? 0 : to->width;
	text_add(text, "%*.*s", strchr(to->piece->flags, '-') ? -width : width,
		 (int)(length < most ? length : most), string);
}

static void add_text(struct trace_text *text, const struct conversion *to, const char *string)
{
	add_string(text, to, string, strlen(string));
}

static bool number_of(struct trace_text *text, const struct conversion *to,
		      struct format_node *node, uint64_t *ret)
{
	if (!value_of(to->sample, node, ret))
		text->invalid = true;
	return !text->invalid;
}

/* Adds a field as a string, or what a pointer to a string of the kernel points to. */
static void add_field_string(struct trace_text *text, const struct conversion *to,
			     const struct format_field *field)
{
	const uint8_t *bytes = to->sample->bytes + field->offset;
	size_t size = field->size ? field->size : to->sample->size - field->offset;
	if (!(field->flags & FIELD_ARRAY) && size == to->sample->long_size) {
		uint64_t address = value_read(to->sample, bytes, size);
		const char *string = kernel_string(to->sample->names, address);
		if (string)
			text_add(text, "%s", string);
		else
			text_add(text, "%llx", (unsigned long long)address);
		return;
	}
	add_string(text, to, (const char *)bytes, size);
}

/* Adds the names of bits, in the list's order, and the bits without a name. */
static void add_flags(struct trace_text *text, const struct conversion *to,
		      const struct format_node *node)
{
	uint64_t bits;
	const char *delimiter = "";
	if (!number_of(text, to, node->left, &bits))
		return;
	for (const struct node_name *name = node->list; name; name = name->next) {
		if (!bits && name->value < 0) {
			add_text(text, to, name->text);
			break;
		}
		if (name->value <= 0 || (bits & (uint64_t)name->value) != (uint64_t)name->value)
			continue;
		text_add(text, "%s", delimiter);
		add_text(text, to, name->text);
		delimiter = node->text;
		bits &= ~(uint64_t)name->value;
	}
	if (bits)
		text_add(text, "%s0x%llx", delimiter, (unsigned long long)bits);
}

static void add_symbol(struct trace_text *text, const struct conversion *to,
		       const struct format_node *node)
{
	uint64_t value;
	if (!number_of(text, to, node->left, &value))
		return;
	for (const struct node_name *name = node->list; name; name = name->next)
		if (value == (uint64_t)name->value)
			return add_text(text, to, name->text);
	text_add(text, "0x%llx", (unsigned long long)value);
}

/* Finds `count` bytes from the begin of a field or dynamic array, which may be longer than it. */
static bool take_bytes(struct trace_text *text, const struct conversion *to,
		       const struct format_node *from, uint64_t count, const uint8_t **ret)
{
	struct extent extent;
	if (!value_extent(to->sample, from->field, &extent) ||
	    count > to->sample->size - (size_t)(extent.bytes - to->sample->bytes)) {
		text->invalid = true;
		return false;
	}
	*ret = extent.bytes;
	return true;
}

static void add_hex(struct trace_text *text, const struct conversion *to,
		    const struct format_node *node)
{
	uint64_t count;
	const uint8_t *bytes;
	if (!number_of(text, to, node->right, &count) ||
	    !take_bytes(text, to, node->left, count, &bytes))
		return;
	for (size_t i = 0; i < count; i++)
		text_add(text, "%s%02x", i && node->kind == NODE_HEX ? " " : "", bytes[i]);
}

static void add_array(struct trace_text *text, const struct conversion *to,
		      const struct format_node *node)
{
	uint64_t count, size;
	const uint8_t *bytes;
	if (!number_of(text, to, node->right, &count) || !number_of(text, to, node->third, &size))
		return;
	if (count > to->sample->size || (size != 1 && size != 2 && size != 4 && size != 8)) {
		text->invalid = true;
		return;
	}
	if (!take_bytes(text, to, node->left, count * size, &bytes))
		return;
	text_add(text, "{");
	for (size_t i = 0; i < count; i++)
		text_add(text, "%s0x%llx", i ? "," : "",
			 (unsigned long long)value_read(to->sample, bytes + i * size, size));
	text_add(text, "}");
}

/* Adds a dynamic string, which may end after its field, or a mask of bits. */
static void add_dynamic(struct trace_text *text, const struct conversion *to,
			const struct format_node *node)
{
	struct extent extent;
	if (!value_extent(to->sample, node->field, &extent)) {
		text->invalid = true;
	} else if (node->kind == NODE_STRING) {
		size_t rest = to->sample->size - (size_t)(extent.bytes - to->sample->bytes);
		if (extent.size)
			add_string(text, to, (const char *)extent.bytes, rest);
	} else {
		struct trace_text mask = {.most = text->most};
		if (node->kind == NODE_BITMASK)
			text_add_bitmask(&mask, to->sample, &extent);
		else
			text_add_cpus(&mask, to->sample, &extent);
		if (mask.chars.count)
			add_string(text, to, mask.chars.items, mask.chars.count);
		text->no_memory |= mask.no_memory;
		text->invalid |= mask.invalid;
		vec_deinit(&mask.chars);
	}
}

/* Adds an argument of "%s". */
static void add_argument(struct trace_text *text, const struct conversion *to,
			 struct format_node *node)
{
	uint64_t value;
	switch (node->kind) {
	case NODE_ATOM:
		return add_text(text, to, node->text);
	case NODE_FIELD:
		return add_field_string(text, to, node->field);
	case NODE_FLAGS:
		return add_flags(text, to, node);
	case NODE_SYMBOL:
		return add_symbol(text, to, node);
	case NODE_HEX:
	case NODE_HEX_STR:
		return add_hex(text, to, node);
	case NODE_ARRAY:
		return add_array(text, to, node);
	case NODE_STRING:
	case NODE_BITMASK:
	case NODE_CPUMASK:
		return add_dynamic(text, to, node);
	case NODE_CHOICE:
		if (number_of(text, to, node->left, &value))
			add_argument(text, to, value ? node->right : node->third);
		return;
	default: /* numbers are no strings; libtraceevent prints nothing, too */
		return;
	}
}

static void add_number(struct trace_text *text, const struct conversion *to)
{
	const struct format_piece *piece = to->piece;
	uint64_t value;
	char format[16];
	if (!number_of(text, to, piece->arg, &value))
		return;
	if (piece->letter == 'c') {
		char string[2] = {(char)value};
		return add_text(text, to, string);
	}
	unsigned int unused = 64 - 8 * piece->bytes;
	value = value << unused >> unused;
	if (strchr("di", piece->letter))
		value = (int64_t)(value << unused) >> unused;
	snprintf(format, sizeof(format), "%%%s*.*ll%c", piece->flags, piece->letter);
	/* The format is no literal, but has only these flags and letters. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	text_add(text, format, to->width < 0 ? 0 : to->width, to->precision,
		 (unsigned long long)value);
#pragma GCC diagnostic pop
}

/* Adds the function at an address, with the offset for "%pS" and "%pF". */
static void add_function(struct trace_text *text, const struct conversion *to)
{
	uint64_t address;
	if (!number_of(text, to, to->piece->arg, &address))
		return;
	const struct kernel_name *symbol = kernel_symbol(to->sample->names, address);
	if (!symbol)
		text_add(text, "0x%llx", (unsigned long long)address);
	else if (strchr("FS", *to->piece->text))
		text_add(text, "%s+0x%llx", symbol->text,
			 (unsigned long long)(address - symbol->address));
	else
		text_add(text, "%s", symbol->text);
}

static void add_pointer(struct trace_text *text, const struct conversion *to)
{
	const char *letters = to->piece->text;
	struct extent extent;
	uint64_t address;
	if (*letters && strchr("FSfs", *letters))
		return add_function(text, to);
	if (*letters && strchr("MmUIih", *letters) &&
	    (!strchr("Ii", *letters) || (letters[1] && strchr("4S6", letters[1])))) {
		const struct format_node *from = to->piece->arg;
		while (from->kind == NODE_CAST)
			from = from->left;
		if ((from->kind != NODE_FIELD && from->kind != NODE_DYNAMIC) ||
		    !value_extent(to->sample, from->field, &extent))
			text->invalid = true;
		else if (*letters == 'h')
			text_add_raw(text, letters[1], &extent,
				     to->width < 0 ? 1 : (size_t)to->width);
		else
			text_add_address(text, letters, to->sample, &extent);
		return;
	}
	if (number_of(text, to, to->piece->arg, &address))
		text_add(text, address ? "0x%llx" : "(nil)", (unsigned long long)address);
}

/* Adds a literal or conversion. */
static void add_piece(struct trace_text *text, const struct trace_sample *sample,
		      const struct format_piece *piece)
{
	struct conversion to = {sample, piece, piece->width, piece->precision};
	if (piece->star) {
		bool cuts = piece->star == 'p' && piece->letter == 's';
		uint64_t star;
		if (!number_of(text, &to, piece->star_arg, &star))
			return;
		if (star > (cuts ? LONGEST : WIDEST)) {
			text->invalid = true;
			return;
		}
		*(piece->star == 'p' ? &to.precision : &to.width) = star;
	}
	if (piece->kind == PIECE_LITERAL)
		text_add(text, "%s", piece->text);
	else if (piece->kind == PIECE_NUMBER)
		add_number(text, &to);
	else if (piece->kind == PIECE_TEXT)
		add_argument(text, &to, piece->arg);
	else
		add_pointer(text, &to);
}

void text_add_sample(struct trace_text *text, const struct trace_sample *sample,
		     const struct format *format)
{
	size_t begin = text->chars.count;
	text->invalid |= !format->printable;
	for (size_t i = 0; !text->invalid && i < format->piece_count; i++)
		add_piece(text, sample, &format->pieces[i]);
	if (!text->invalid)
		return;
	text->invalid = false;
	text->chars.count = begin;
	text_add(text, "[FAILED TO PARSE]");
	text_add_fields(text, sample, format, false);
}

static bool is_printable(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size && bytes[i]; i++)
		if (!isprint(bytes[i]) && !isspace(bytes[i]))
			return false;
	return true;
}

static void add_array_field(struct trace_text *text, const struct trace_sample *sample,
			    const struct format_field *field)
{
	struct extent extent;
	if (!value_extent(sample, field, &extent))
		return;
	if (field->flags & FIELD_STRING && is_printable(extent.bytes, extent.size)) {
		size_t rest = sample->size - (size_t)(extent.bytes - sample->bytes);
		text_add(text, "%.*s", (int)strnlen((const char *)extent.bytes, rest),
			 extent.bytes);
		return;
	}
	text_add(text, "ARRAY[");
	for (size_t i = 0; i < extent.size; i++)
		text_add(text, "%s%02x", i ? ", " : "", extent.bytes[i]);
	text_add(text, "]");
}

/* Adds a field by its declaration. Longs are in hex, because they are often addresses. */
static void add_raw_field(struct trace_text *text, const struct trace_sample *sample,
			  const struct format_field *field)
{
	if (field->flags & FIELD_ARRAY)
		return add_array_field(text, sample, field);
	unsigned long long value = value_read(sample, sample->bytes + field->offset, field->size);
	bool is_signed = field->flags & FIELD_SIGNED, is_long = field->flags & FIELD_LONG;
	if (field->flags & FIELD_POINTER || (is_long && (!is_signed || field->size == 4)))
		text_add(text, "0x%llx", value);
	else if (!is_signed)
		text_add(text, "%llu", value);
	else if (field->size == 4)
		text_add(text, "%d", (int)value);
	else if (field->size == 2)
		text_add(text, "%2d", (short)value);
	else if (field->size == 1)
		text_add(text, "%d", (signed char)value);
	else
		text_add(text, "%lld", value);
}

/*
 * Finds the conversion that has only this field as its argument, from *at around. False if there is
 * none. `hex`: a literal before it ends with "0x".
 */
static bool find_piece(const struct format *format, const struct format_field *field, size_t *at,
		       bool *hex)
{
	*hex = false;
	for (size_t i = 0; i < format->piece_count; i++) {
		size_t index = (*at + i) % format->piece_count;
		const struct format_piece *piece = &format->pieces[index];
		const struct format_node *arg = piece->arg;
		while (arg && arg->kind == NODE_CAST)
			arg = arg->left;
		if (arg && arg->kind == NODE_FIELD && arg->field == field) {
			*at = index;
			return true;
		}
		size_t length = piece->kind == PIECE_LITERAL ? strlen(piece->text) : 0;
		*hex = length > 1 && !strcmp(piece->text + length - 2, "0x");
	}
	return false;
}

void text_add_field(struct trace_text *text, const struct trace_sample *sample,
		    const struct format *format, const struct format_field *field, size_t *at)
{
	size_t begin = at ? *at : 0;
	bool hex;
	if (!format->printable || begin >= format->piece_count || field->flags & FIELD_ARRAY ||
	    !find_piece(format, field, &begin, &hex))
		return add_raw_field(text, sample, field);
	if (hex)
		text_add(text, "0x");
	add_piece(text, sample, &format->pieces[begin]);
	if (at)
		*at = begin + 1;
}

void text_add_fields(struct trace_text *text, const struct trace_sample *sample,
		     const struct format *format, bool by_format)
{
	size_t at = by_format ? 0 : format->piece_count;
	for (size_t i = format->common_count; i < format->field_count; i++) {
		text_add(text, " %s=", format->fields[i].name);
		text_add_field(text, sample, format, &format->fields[i], &at);
	}
}
