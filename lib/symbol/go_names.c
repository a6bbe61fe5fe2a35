/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/go_names.h"

#include "base/hash.h"
#include "go/go_frames.h"

bool go_names_add(const struct pclntab *go, struct symbol_table *table)
{
	struct go_function function;
	for (uint64_t i = 0; i < go->count; i++)
		if (pclntab_function(go, i, &function) &&
		    !table_add(table, function.start, function.end - function.start,
			       function.name, STB_LOCAL, STT_FUNC))
			return false;
	return true;
}

/* Frames that were made, each distinct one once. */
struct made_frames {
	const struct image *image;
	struct arena *arena;
	struct source_frames *ret;
	size_t first;         /* number of the first one */
	struct u64map known;  /* hash of a frame -> its index */
	VEC(struct source_frame *);
};

static void made_deinit(struct made_frames *made)
{
	u64map_deinit(&made->known);
	vec_deinit(made);
}

/* Returns the frame, which may have been made before; NULL when out of memory. */
static const struct source_frame *make(struct made_frames *made, const struct go_frame *from,
				       const struct source_frame *caller)
{
	bool lines = made->ret->lines, added;
	uint64_t place = lines ? hash_pair((uintptr_t)from->file, from->line) : 0;
	if (!vec_reserve(made, made->count + 1))
		return NULL;
	const uint32_t *index =
		u64map_put(&made->known, hash_pair(from->key, place), made->count, &added);
	if (index && !added)
		return made->items[*index];
	struct source_frame *frame = index ? arena_alloc(made->arena, sizeof(*frame)) : NULL;
	if (!frame)
		return NULL;
	*frame = (struct source_frame){
		.name = from->name,
		.raw_name = from->name,
		.file = from->file,
		.caller = caller,
		.line = from->line,
		.declared = from->declared,
		.number = made->first + made->count,
	};
	if (!image_file_offset(made->image, from->start, &frame->start))
		frame->start = SOURCE_NO_START;
	return *vec_push(made) = frame;
}

static struct sp_error *find(struct made_frames *made, struct go_frames *frames, uint64_t offset,
			     const struct source_frame **ret)
{
	struct go_frame found[GO_FRAMES_MAX];
	const struct source_frame *frame = NULL;
	uint64_t vaddr;
	size_t count;
	if (!image_vaddr(made->image, offset, &vaddr))
		return NULL;
	TRY(go_frames_find(frames, vaddr, found, &count));
	while (count--) {
		frame = make(made, &found[count], frame);
		NEED(frame);
	}
	*ret = frame;
	return NULL;
}

struct sp_error *go_names_frames(const struct image *image, const struct pclntab *go,
				 const uint64_t *offsets, size_t count, struct arena *arena,
				 struct source_frames *ret)
{
	CLEANUP(go_frames_close) struct go_frames frames;
	CLEANUP(made_deinit) struct made_frames made = {
		.image = image,
		.arena = arena,
		.ret = ret,
		.first = ret->distinct,
	};
	struct sp_error *error = go_frames_open(image, go, &frames);
	for (size_t i = 0; !error && i < count; i++)
		error = find(&made, &frames, offsets[i], &ret->items[i]);
	ret->distinct += made.count;
	return error;
}
