/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/fde_ranges.h"

#include "base/cleanup.h"
#include "base/ctx.h"

void ranges_deinit(struct fde_ranges *ranges)
{
	call_frames_deinit(&ranges->frames);
	image_free(ranges->debug_image);
	*ranges = (struct fde_ranges){0};
}

/* Logs an error and frees it; returns it if memory is short. Other errors only cost names. */
static struct sp_error *log_damage(const struct binary_env *env, struct sp_error *error)
{
	if (error)
		ctx_log(env->ctx, SP_LOG_DEBUG, "symbols: %s", sp_error_message(error));
	return error_if_no_memory(error);
}

/* Opens the image's file again, because it was closed after its symbols were read. */
static struct sp_error *open_again(const struct binary_env *env, const struct image *image,
				   struct image **ret)
{
	return image->memory ? NULL : log_damage(env, image_open_again(image, ret));
}

static struct sp_error *read_eh(struct fde_ranges *ranges, const struct binary_env *env,
				const struct image *image)
{
	CLEANUP(cleanup_image_free) struct image *again = NULL;
	TRY(open_again(env, image, &again));
	if (!again && !image->memory)
		return NULL;
	return log_damage(env, call_frames_read_eh(&ranges->frames, again ?: image));
}

static struct sp_error *read_debug(struct fde_ranges *ranges, const struct binary_env *env,
				   const struct module *module, const struct image *image)
{
	CLEANUP(cleanup_image_free) struct image *again = NULL;
	struct sp_error *error = open_again(env, image, &again);
	if (error || !again)
		return error;
	if (call_frames_has_debug(again))
		ranges->debug_image = take_ptr(again);
	else
		error = binary_find_debug(env, module, again, call_frames_has_debug,
					  &ranges->debug_image);
	if (error || !ranges->debug_image)
		return error;
	error = call_frames_read_debug(&ranges->frames, ranges->debug_image);
	image_release_file(ranges->debug_image);
	return log_damage(env, error);
}

static bool find(const struct cfi_table *table, const struct image *image, uint64_t vaddr,
		 struct range *ret)
{
	struct cfi_entry entry;
	uint64_t start;
	/* Damaged entries may have any range. */
	if (!cfi_find(table, vaddr, &entry) ||
	    !code_map_holds(&image->code, entry.start, entry.size)) {
		if (cfi_nearest(table, vaddr, &start) && start > ret->start)
			ret->start = start;
		return false;
	}
	*ret = (struct range){.start = entry.start, .size = entry.size};
	return true;
}

struct sp_error *ranges_find(struct fde_ranges *ranges, const struct binary_env *env,
			     const struct module *module, const struct image *image,
			     uint64_t vaddr, struct range *ret)
{
	struct sp_error *error = NULL;
	*ret = (struct range){0};
	if (!ranges->eh_read) {
		ranges->eh_read = true;
		error = read_eh(ranges, env, image);
	}
	if (error || find(&ranges->frames.eh, image, vaddr, ret))
		return error;
	if (!ranges->debug_read) {
		ranges->debug_read = true;
		error = read_debug(ranges, env, module, image);
	}
	if (error)
		return error;
	find(&ranges->frames.debug, image, vaddr, ret);
	return NULL;
}

/* Narrows the gap to [low, high), if these enclose the vaddr. */
static void narrow(struct range *gap, uint64_t vaddr, uint64_t low, uint64_t high)
{
	uint64_t end = gap->start + gap->size;
	if (low > gap->start && low <= vaddr)
		gap->start = low;
	if (high < end && high > vaddr)
		end = high;
	gap->size = end - gap->start;
}

void ranges_narrow(const struct fde_ranges *ranges, const struct image *image, uint64_t vaddr,
		   struct range *gap)
{
	const struct cfi_table *tables[] = {&ranges->frames.eh, &ranges->frames.debug};
	for (size_t i = 0; i < 2; i++) {
		uint64_t below, above;
		struct cfi_entry entry;
		if (cfi_nearest(tables[i], vaddr, &below) &&
		    cfi_find(tables[i], below, &entry) &&
		    code_map_holds(&image->code, entry.start, entry.size))
			narrow(gap, vaddr, entry.start + entry.size, UINT64_MAX);
		if (cfi_above(tables[i], vaddr, &above))
			narrow(gap, vaddr, 0, above);
	}
}
