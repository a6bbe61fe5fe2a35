/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include "cmd/annotate/annotate.h"
#include "json.h"

static void put_share(struct json *json, const struct sp_share *share)
{
	json_begin(json, "share", '{');
	json_double(json, "value", share->value);
	json_double(json, "low", share->low);
	json_double(json, "high", share->high);
	json_end(json, '}');
}

static void put_weight(struct json *json, const struct sp_weight *weight)
{
	json_unsigned(json, "samples", weight->samples);
	json_unsigned(json, "weight", weight->weight);
	put_share(json, &weight->share);
}

static void put_frames(struct json *json, const struct annotated *annotated,
		       const struct sp_code_place *place)
{
	json_begin(json, "frames", '[');
	for (; place; place = place->caller) {
		const char *line =
			annotated->sources && place->file
				? annotate_source_line(annotated->sources, place->file, place->line)
				: NULL;
		json_begin(json, NULL, '{');
		json_string(json, "function", place->function);
		json_string(json, "file", place->file);
		if (place->line)
			json_unsigned(json, "line", place->line);
		json_string(json, "source", line);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void put_instruction(struct json *json, const struct annotated *annotated,
			    const struct sp_code_instruction *instruction)
{
	char code[2 * SP_CODE_MAX + 1] = "";
	for (size_t i = 0; i < instruction->size && i < SP_CODE_MAX; i++)
		snprintf(code + 2 * i, 3, "%02x", instruction->code[i]);
	json_begin(json, NULL, '{');
	json_hex(json, "address", instruction->address);
	json_string(json, "code", code);
	json_string(json, "text", instruction->text);
	if (instruction->has_target)
		json_hex(json, "target", instruction->target);
	json_string(json, "target_function", instruction->target_name);
	if (instruction->row)
		put_weight(json, &instruction->row->self);
	if (instruction->place)
		put_frames(json, annotated, instruction->place);
	json_end(json, '}');
}

void annotate_write_json(const struct annotated *annotated, FILE *out)
{
	const struct sp_annotation_info *info = sp_annotation_info(annotated->annotation);
	struct json json = {.out = out};
	json_begin_lines(&json, NULL, '{');
	json_string(&json, "recording", annotated->recording);
	json_string(&json, "event", annotated->profile->event);
	json_string(&json, "skid", annotate_skid(annotated->event));
	json_begin(&json, "function", '{');
	json_string(&json, "name", info->row->symbol);
	json_string(&json, "dso", info->row->dso);
	json_string(&json, "dso_path", info->row->dso_path);
	json_string(&json, "build_id", info->row->build_id);
	json_hex(&json, "address", info->address);
	json_bool(&json, "relative", info->is_relative);
	json_unsigned(&json, "bytes", info->bytes);
	put_weight(&json, &annotated->function->self);
	json_end(&json, '}');
	if (annotated->reported) {
		json_begin(&json, "report_row", '{');
		json_string(&json, "function", annotated->reported->function);
		put_weight(&json, &annotated->reported->self);
		json_end(&json, '}');
	}
	json_string(&json, "shares_of", annotated->is_global ? "event" : "function");
	json_unsigned(&json, "samples", info->samples);
	json_unsigned(&json, "weight", info->weight);
	json_unsigned(&json, "other_samples", info->other_samples);
	json_unsigned(&json, "left_out_bytes", info->left_out);
	json_unsigned(&json, "overlapping", info->overlapping);
	json_string(&json, "text_problem", info->text_problem);
	json_string(&json, "line_problem", info->line_problem);
	json_string(&json, "file_problem", info->file_problem);
	json_begin_lines(&json, "instructions", '[');
	for (size_t i = 0; i < sp_annotation_count(annotated->annotation); i++)
		put_instruction(&json, annotated, sp_annotation_code(annotated->annotation, i));
	json_end_lines(&json, ']');
	json_end_lines(&json, '}');
}
