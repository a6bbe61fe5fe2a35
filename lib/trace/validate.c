/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/validate.h"

#include <event-parse.h>
#include <stdlib.h>
#include <string.h>

/* TEP_PRINT_CPUMASK of libtraceevent 1.7. Older headers end with TEP_PRINT_HEX_STR. */
#define PRINT_CPUMASK ((int)TEP_PRINT_HEX_STR + 1)

/*
 * Limits of the printed bytes, as multiples of the sample's size: kernels hardly print any field twice.
 */
#define FIELDS_TIMES 4
#define PRINT_TIMES 16
/* Limit of symbol names in an event's arguments: libtraceevent searches each in all kernel symbols. */
#define MOST_SYMBOLS 256
/* Limits of "*" with a value from the sample: a width or number's precision; a string's precision. */
#define WIDEST 4096
#define LONGEST 65536
/*
 * Limit of elements of a dynamic array, up to 8 bytes each: they lie within the zeros after the sample.
 */
#define MOST_ELEMENTS (VALIDATE_SPARE / 8)

/* State of a walk through an event's arguments. */
struct validator {
	struct tep_event *event;
	const struct validate_sample *sample; /* NULL: check only the format, for all samples */
	size_t symbols;
	uint64_t budget; /* bytes of the sample that may still be printed */
};

static bool validate_argument(struct validator *check, const struct tep_print_arg *arg);

static bool is_dynamic(const struct tep_format_field *field)
{
	return field && field->flags & TEP_FIELD_IS_DYNAMIC && field->size == 4;
}

/*
 * Whether an array's length may be used. Not for relative fields: libtraceevent mishandles their
 * length.
 */
static bool has_length(const struct tep_format_field *field)
{
	return is_dynamic(field) && !(field->flags & TEP_FIELD_IS_RELATIVE);
}

static uint64_t number_at(const struct validate_sample *sample, size_t offset, size_t size)
{
	uint64_t number = 0;
	for (size_t i = 0; i < size; i++) {
		bool little = sample->swap != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
		number |= (uint64_t)sample->bytes[offset + (little ? i : size - 1 - i)] << 8 * i;
	}
	return number;
}

bool validate_extent(const struct validate_sample *sample, const struct tep_format_field *field,
		     size_t *offset_ret, size_t *size_ret)
{
	if (field->offset < 0 || field->size < 0 || (size_t)field->offset > sample->size ||
	    (size_t)field->size > sample->size - (size_t)field->offset)
		return false;
	*offset_ret = (size_t)field->offset;
	*size_ret = (size_t)field->size;
	if (!(field->flags & TEP_FIELD_IS_DYNAMIC))
		return true;
	if (field->size != 4)
		return false;
	uint64_t word = number_at(sample, *offset_ret, 4);
	size_t behind = field->flags & TEP_FIELD_IS_RELATIVE ? *offset_ret + 4 : 0;
	*offset_ret = (word & 0xffff) + behind;
	*size_ret = word >> 16;
	return *offset_ret <= sample->size && *size_ret <= sample->size - *offset_ret;
}

static bool validate_list(const struct validate_sample *sample, const struct tep_format_field *field,
			  size_t *budget)
{
	for (; field; field = field->next) {
		size_t offset, size;
		if (!validate_extent(sample, field, &offset, &size) || size > *budget)
			return false;
		*budget -= size;
	}
	return true;
}

bool validate_fields(const struct validate_sample *sample, const struct tep_event *event)
{
	size_t budget = sample->size * FIELDS_TIMES;
	return validate_list(sample, event->format.common_fields, &budget) &&
	       validate_list(sample, event->format.fields, &budget);
}

static bool spend(struct validator *check, uint64_t size)
{
	if (size > check->budget)
		return false;
	check->budget -= size;
	return true;
}

static bool is_constant(const struct tep_print_arg *arg)
{
	return arg && arg->type == TEP_PRINT_ATOM && arg->atom.atom && *arg->atom.atom >= '0' &&
	       *arg->atom.atom <= '9';
}

static uint64_t constant(const struct tep_print_arg *arg)
{
	return strtoull(arg->atom.atom, NULL, 0);
}

/* Whether libtraceevent's cast keeps the value. Values that it would change are refused. */
static bool is_kept(const char *type, uint64_t value)
{
	static const struct {
		const char *type;
		uint64_t most;
	} types[] = {{"u8", UINT8_MAX}, {"s8", UINT8_MAX}, {"char", UINT8_MAX}, {"u16", UINT16_MAX},
		     {"s16", UINT16_MAX}, {"short", UINT16_MAX}, {"u32", UINT32_MAX},
		     {"s32", UINT32_MAX}, {"int", UINT32_MAX}};
	if (!strncmp(type, "unsigned ", 9))
		type += 9;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(type, types[i].type))
			return value <= types[i].most;
	return true;
}

static bool reckon(struct validator *check, const struct tep_print_arg *arg, uint64_t *ret);

/* Computes an operator that occurs in lengths. */
static bool reckon_op(struct validator *check, const struct tep_print_arg *arg, uint64_t *ret)
{
	uint64_t left, right;
	const char *op = arg->op.op;
	if (!op || !arg->op.left || !arg->op.right || !reckon(check, arg->op.left, &left) ||
	    !reckon(check, arg->op.right, &right))
		return false;
	if (!strcmp(op, "+"))
		*ret = left + right;
	else if (!strcmp(op, "-"))
		*ret = left - right;
	else if (!strcmp(op, "*"))
		*ret = left * right;
	else if (!strcmp(op, "&"))
		*ret = left & right;
	else if (!strcmp(op, "/") && is_constant(arg->op.right) && right)
		*ret = left / right;
	else if (!strcmp(op, "%") && is_constant(arg->op.right) && right)
		*ret = left % right;
	else if (!strcmp(op, "<<") && is_constant(arg->op.right) && right < 64)
		*ret = left << right;
	else if (!strcmp(op, ">>") && is_constant(arg->op.right) && right < 64)
		*ret = left >> right;
	else
		return false;
	return true;
}

static bool reckon_field(struct validator *check, const struct tep_format_field *field, uint64_t *ret)
{
	if (!field || (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8))
		return false;
	*ret = check->sample ? number_at(check->sample, (size_t)field->offset, (size_t)field->size) : 1;
	return true;
}

/*
 * Computes a length as libtraceevent does. Without a sample: whether it can be computed for any sample.
 */
static bool reckon(struct validator *check, const struct tep_print_arg *arg, uint64_t *ret)
{
	size_t offset, size = 1;
	switch ((int)arg->type) {
	case TEP_PRINT_ATOM:
		*ret = is_constant(arg) ? constant(arg) : 0;
		return is_constant(arg);
	case TEP_PRINT_FIELD:
		return reckon_field(check, arg->field.field, ret);
	case TEP_PRINT_TYPE:
		return reckon(check, arg->typecast.item, ret) &&
		       (!check->sample || is_kept(arg->typecast.type, *ret));
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		if (!has_length(arg->dynarray.field) ||
		    (check->sample && !validate_extent(check->sample, arg->dynarray.field, &offset, &size)))
			return false;
		*ret = size;
		return true;
	case TEP_PRINT_OP:
		return reckon_op(check, arg, ret);
	default:
		return false;
	}
}

/* Checks that a field has as many bytes as the format prints. */
static bool validate_bytes(struct validator *check, const struct tep_print_arg *from, uint64_t size)
{
	const struct tep_format_field *field = NULL;
	size_t offset, unused;
	if (from->type == TEP_PRINT_FIELD && from->field.field &&
	    !(from->field.field->flags & TEP_FIELD_IS_DYNAMIC))
		field = from->field.field;
	else if (from->type == TEP_PRINT_DYNAMIC_ARRAY && is_dynamic(from->dynarray.field))
		field = from->dynarray.field;
	if (!field || !check->sample)
		return field;
	return validate_extent(check->sample, field, &offset, &unused) &&
	       size <= check->sample->size - offset && spend(check, size);
}

static bool validate_hex(struct validator *check, const struct tep_print_arg *arg)
{
	uint64_t size;
	return reckon(check, arg->hex.size, &size) && validate_bytes(check, arg->hex.field, size);
}

/* libtraceevent treats elements of other sizes as bytes. */
static bool validate_array(struct validator *check, const struct tep_print_arg *arg)
{
	uint64_t count, size;
	if (!reckon(check, arg->int_array.count, &count) ||
	    !reckon(check, arg->int_array.el_size, &size))
		return false;
	if (check->sample && count > check->sample->size)
		return false;
	if (size != 2 && size != 4 && size != 8)
		size = 1;
	return validate_bytes(check, arg->int_array.field, count * size);
}

/* Returns the dynamic field of that name; NULL if there is none. */
static const struct tep_format_field *find_pointed(struct validator *check, const char *name)
{
	const struct tep_format_field *field = name ? tep_find_any_field(check->event, name) : NULL;
	return is_dynamic(field) ? field : NULL;
}

/* Checks a string. It ends at a NUL, which may be after the field's end. */
static bool validate_string(struct validator *check, const char *name)
{
	size_t offset, size;
	const struct tep_format_field *field = find_pointed(check, name);
	if (!field || !check->sample)
		return field;
	if (!validate_extent(check->sample, field, &offset, &size))
		return false;
	return spend(check, strnlen((const char *)check->sample->bytes + offset,
				    check->sample->size - offset));
}

/* Checks a bitmask. libtraceevent cannot print an empty CPU list. */
static bool validate_mask(struct validator *check, const char *name, bool may_be_none)
{
	size_t offset, size;
	const struct tep_format_field *field = find_pointed(check, name);
	if (!field || !check->sample)
		return field;
	return validate_extent(check->sample, field, &offset, &size) && (size || may_be_none) &&
	       spend(check, size);
}

/* Checks an array index. It must be a constant, because the sample's value may be outside the field. */
static bool validate_index(const struct tep_print_arg *arg)
{
	const struct tep_print_arg *from = arg->op.left;
	while (from && from->type == TEP_PRINT_TYPE)
		from = from->typecast.item;
	if (!from || !is_constant(arg->op.right))
		return false;
	uint64_t index = constant(arg->op.right);
	if (from->type == TEP_PRINT_DYNAMIC_ARRAY)
		return is_dynamic(from->dynarray.field) && index < MOST_ELEMENTS;
	const struct tep_format_field *field = from->type == TEP_PRINT_FIELD ? from->field.field : NULL;
	return field && !(field->flags & TEP_FIELD_IS_DYNAMIC) && field->size >= 0 &&
	       index < (uint64_t)field->size + 1 &&
	       (index + 1) * field->elementsize <= (uint64_t)field->size;
}

static bool validate_op(struct validator *check, const struct tep_print_arg *arg)
{
	const char *op = arg->op.op;
	const struct tep_print_arg *left = arg->op.left, *right = arg->op.right;
	if (!op || !left || !right || !strcmp(op, ":"))
		return false;
	if (!strcmp(op, "["))
		return validate_index(arg);
	if ((!strcmp(op, "/") || !strcmp(op, "%")) && !(is_constant(right) && constant(right)))
		return false;
	if (strcmp(op, "?") != 0)
		return validate_argument(check, left) && validate_argument(check, right);
	return right->type == TEP_PRINT_OP && right->op.op && !strcmp(right->op.op, ":") &&
	       right->op.left && right->op.right && validate_argument(check, left) &&
	       validate_argument(check, right->op.left) && validate_argument(check, right->op.right);
}

/*
 * Checks an array field as a number or string. Size 0 means the rest of the sample, which libtraceevent
 * may assume to be longer than it is.
 */
static bool validate_field(struct validator *check, const struct tep_format_field *field)
{
	if (!field || !(field->flags & TEP_FIELD_IS_ARRAY))
		return field && field->size;
	return !check->sample || spend(check, field->size ? (uint64_t)field->size : check->sample->size);
}

static bool validate_atom(struct validator *check, const struct tep_print_arg *arg)
{
	return arg->atom.atom && (is_constant(arg) || ++check->symbols <= MOST_SYMBOLS);
}

/* Checks an argument for use as a number or as a string. */
static bool validate_argument(struct validator *check, const struct tep_print_arg *arg)
{
	switch ((int)arg->type) {
	case TEP_PRINT_NULL: /* left operand of a unary operator */
		return true;
	case TEP_PRINT_ATOM:
		return validate_atom(check, arg);
	case TEP_PRINT_FIELD:
		return validate_field(check, arg->field.field);
	case TEP_PRINT_FLAGS:
		return validate_argument(check, arg->flags.field);
	case TEP_PRINT_SYMBOL:
		return validate_argument(check, arg->symbol.field);
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		return validate_hex(check, arg);
	case TEP_PRINT_INT_ARRAY:
		return validate_array(check, arg);
	case TEP_PRINT_TYPE:
		return arg->typecast.item && validate_argument(check, arg->typecast.item);
	case TEP_PRINT_STRING:
		return validate_string(check, arg->string.string);
	case TEP_PRINT_BITMASK:
	case PRINT_CPUMASK:
		return validate_mask(check, arg->bitmask.bitmask, arg->type == TEP_PRINT_BITMASK);
	case TEP_PRINT_DYNAMIC_ARRAY:
		return is_dynamic(arg->dynarray.field);
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return has_length(arg->dynarray.field);
	case TEP_PRINT_OP:
		return validate_op(check, arg);
	default:
		return false;
	}
}

struct spec {
	const char *end; /* the conversion's letter and the text after it: "d", "s", … */
	char star;       /* '*' is a 'w'idth or a 'p'recision; 0: no '*' */
};

static const char *skip_number(struct spec *spec, const char *at, char kind)
{
	size_t digits = strspn(at, "0123456789");
	if (!digits && *at == '*' && !spec->star) {
		spec->star = kind;
		return at + 1;
	}
	return digits <= 3 ? at + digits : NULL;
}

static const char *skip_length(const char *at)
{
	static const char *const lengths[] = {"hh", "h", "ll", "l", "L", "z", "Z"};
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		size_t length = strlen(lengths[i]);
		if (!strncmp(at, lengths[i], length))
			return at[length] && strchr("duixXo", at[length]) ? at + length : NULL;
	}
	return at;
}

/*
 * Parses a conversion after '%', as "-08.*ll". False if printf() could read another type of argument
 * than libtraceevent passes, or print endless padding.
 */
static bool read_spec(const char *at, struct spec *ret)
{
	size_t flags = strspn(at, "-+#0");
	*ret = (struct spec){0};
	at = flags <= 5 ? skip_number(ret, at + flags, 'w') : NULL;
	if (at && *at == '.')
		at = skip_number(ret, at + 1, 'p');
	ret->end = at ? skip_length(at) : NULL;
	/* libtraceevent accepts any number of these characters, in any order; the kernel does not. */
	return ret->end && *ret->end && !strchr("-+#0123456789.*hlLzZ", *ret->end);
}

/* Checks the argument of '*'. Large values are refused; a negative one is a large unsigned one. */
static bool validate_star(struct validator *check, const struct tep_print_arg *arg, const struct spec *spec)
{
	uint64_t number;
	bool cuts = spec->star == 'p' && *spec->end == 's';
	return arg && reckon(check, arg, &number) &&
	       (!check->sample || number <= (cuts ? LONGEST : WIDEST));
}

/* Checks the arguments of one conversion, and moves *arg to the next ones; false if one is missing. */
static bool validate_spec(struct validator *check, const struct spec *spec, const struct tep_print_arg **arg)
{
	if (spec->star && !validate_star(check, *arg, spec))
		return false;
	if (spec->star)
		*arg = (*arg)->next;
	/* libtraceevent prints other letters unchanged. */
	if (!strchr("cduixXops", *spec->end))
		return true;
	if (!*arg)
		return false;
	*arg = (*arg)->next;
	return true;
}

/*
 * Whether all versions of libtraceevent take an argument for this letter. It knows "%c" since 1.8. If
 * that is unsure, it is also unsure which argument is a width.
 */
static bool is_sure(const struct spec *spec)
{
	return strchr("duixXops", *spec->end);
}

static bool validate_specs(struct validator *check)
{
	const struct tep_print_arg *arg = check->event->print_fmt.args;
	struct spec spec;
	bool has_star = false, is_unsure = false;
	for (const char *at = check->event->print_fmt.format; at && *at; at++) {
		if (*at == '\\' || (*at == '%' && at[1] == '%')) {
			if (!*++at)
				return false;
			continue;
		}
		if (*at != '%')
			continue;
		if (!read_spec(at + 1, &spec) || !validate_spec(check, &spec, &arg))
			return false;
		has_star |= spec.star;
		is_unsure |= !is_sure(&spec);
		at = spec.end;
	}
	return !has_star || !is_unsure;
}

static bool validate_arguments(struct validator *check)
{
	for (const struct tep_print_arg *arg = check->event->print_fmt.args; arg; arg = arg->next)
		if (!validate_argument(check, arg))
			return false;
	return validate_specs(check);
}

bool validate_event(struct tep_event *event)
{
	struct validator check = {.event = event, .budget = UINT64_MAX};
	return !(event->flags & (TEP_EVENT_FL_FAILED | TEP_EVENT_FL_ISBPRINT)) && validate_arguments(&check);
}

bool validate_print(const struct validate_sample *sample, struct tep_event *event)
{
	struct validator check = {.event = event, .sample = sample,
			  .budget = sample->size * PRINT_TIMES + LONGEST};
	return validate_arguments(&check);
}
