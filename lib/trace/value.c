/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/value.h"

#include "trace/kernel_names.h"

/* Limit of the printed bytes of all fields, as a multiple of the sample's size. */
#define FIELDS_TIMES 4

uint64_t value_read(const struct trace_sample *sample, const uint8_t *bytes, size_t size)
{
	bool little = sample->swap != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	uint64_t number = 0;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return 0;
	for (size_t i = 0; i < size; i++)
		number |= (uint64_t)bytes[little ? i : size - 1 - i] << 8 * i;
	return number;
}

bool value_extent(const struct trace_sample *sample, const struct format_field *field,
		  struct extent *ret)
{
	if (field->offset > sample->size || field->size > sample->size - field->offset)
		return false;
	*ret = (struct extent){sample->bytes + field->offset, field->size};
	if (!(field->flags & FIELD_DYNAMIC))
		return true;
	if (field->size != 4)
		return false;
	uint64_t word = value_read(sample, ret->bytes, 4);
	size_t offset = word & 0xffff;
	if (field->flags & FIELD_RELATIVE)
		offset += field->offset + 4;
	if (offset > sample->size || word >> 16 > sample->size - offset)
		return false;
	*ret = (struct extent){sample->bytes + offset, word >> 16};
	return true;
}

bool value_fields_fit(const struct trace_sample *sample, const struct format *format)
{
	size_t budget = sample->size * FIELDS_TIMES;
	struct extent extent;
	for (size_t i = 0; i < format->field_count; i++) {
		if (!value_extent(sample, &format->fields[i], &extent) || extent.size > budget)
			return false;
		budget -= extent.size;
	}
	return true;
}

/* Computes a binary operator. A divisor is not 0. */
static uint64_t compute(int op, uint64_t left, uint64_t right)
{
	switch (op) {
	case '*':
		return left * right;
	case '/':
		return left / right;
	case '%':
		return left % right;
	case '+':
		return left + right;
	case '-':
		return left - right;
	case OP('<', '<'):
		return left << (right & 63);
	case OP('>', '>'):
		return left >> (right & 63);
	case '<':
		return left < right;
	case '>':
		return left > right;
	case OP('<', '='):
		return left <= right;
	case OP('>', '='):
		return left >= right;
	case OP('=', '='):
		return left == right;
	case OP('!', '='):
		return left != right;
	case '&':
		return left & right;
	case '^':
		return left ^ right;
	case '|':
		return left | right;
	case OP('&', '&'):
		return left && right;
	default: /* || */
		return left || right;
	}
}

/* Computes an element of an array field. Indices of a dynamic field count bytes, as in
 * libtraceevent. */
static bool value_at(const struct trace_sample *sample, struct format_node *node, uint64_t *ret)
{
	const struct format_node *from = node->left, *cast = NULL;
	uint64_t index;
	struct extent extent;
	for (; from->kind == NODE_CAST; from = from->left)
		cast = cast ? cast : from;
	if ((from->kind != NODE_FIELD && from->kind != NODE_DYNAMIC) ||
	    !value_of(sample, node->right, &index) || !value_extent(sample, from->field, &extent))
		return false;
	size_t size = from->field->element ? from->field->element : sample->long_size;
	size_t step = from->kind == NODE_DYNAMIC ? 1 : size;
	if (size > extent.size || index > (extent.size - size) / step)
		return false;
	*ret = value_read(sample, extent.bytes + index * step, size);
	if (cast && cast->pointer)
		*ret &= cast->value;
	return true;
}

static bool value_of_field(const struct trace_sample *sample, const struct format_node *node,
			   uint64_t *ret)
{
	const struct format_field *field = node->field;
	struct extent extent;
	if (!value_extent(sample, field, &extent))
		return false;
	if (node->kind == NODE_LENGTH)
		*ret = extent.size;
	else if (node->kind == NODE_DYNAMIC)
		*ret = extent.bytes - sample->bytes;
	else
		*ret = value_read(sample, sample->bytes + field->offset, field->size);
	return true;
}

bool value_of(const struct trace_sample *sample, struct format_node *node, uint64_t *ret)
{
	uint64_t left, right;
	*ret = 0;
	switch (node->kind) {
	case NODE_ATOM:
		if (node->is_word)
			node->value = kernel_address(sample->names, node->text);
		node->is_word = false;
		*ret = node->value;
		return true;
	case NODE_FIELD:
	case NODE_DYNAMIC:
	case NODE_LENGTH:
		return value_of_field(sample, node, ret);
	case NODE_CAST:
		if (!value_of(sample, node->left, ret))
			return false;
		*ret &= node->pointer ? UINT64_MAX : node->value;
		return true;
	case NODE_UNARY:
		if (!value_of(sample, node->left, &left))
			return false;
		if (node->op == '!')
			*ret = !left;
		else
			*ret = node->op == '~' ? ~left : node->op == '-' ? -left : left;
		return true;
	case NODE_BINARY:
		if (!value_of(sample, node->left, &left) ||
		    !value_of(sample, node->right, &right) ||
		    (!right && (node->op == '/' || node->op == '%')))
			return false;
		*ret = compute(node->op, left, right);
		return true;
	case NODE_INDEX:
		return value_at(sample, node, ret);
	case NODE_CHOICE:
		return value_of(sample, node->left, &left) &&
		       value_of(sample, left ? node->right : node->third, ret);
	default:
		return true;
	}
}
