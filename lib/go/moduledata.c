/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * runtime.moduledata has no symbol in a stripped file. It is recognized by its first words: the address
 * of the function table, and that of the functions' names in it. Read as an array of words, it has:
 *
 *	0 table; 1 names, 3 more words for each of six slices; 19 index; 20 minpc, 21 maxpc; 22 text;
 *	38 or 40 go:func.*
 */
#include "go/moduledata.h"

#include "base/cursor.h"
#include "go/pclntab.h"

enum {
	WORD_TABLE = 0,
	WORD_NAMES = 1,
	WORD_TEXT = 22,
	WORD_TREES_1_18 = 38,
	WORD_TREES_1_20 = 40,
};

/* Words that are collected from relocations. */
#define WORDS (WORD_TREES_1_20 + 1)

static size_t word_of_trees(const struct pclntab *table)
{
	return table->layout >= PCLNTAB_1_20 ? WORD_TREES_1_20 : WORD_TREES_1_18;
}

static bool read_word(const struct image_bytes *bytes, const struct pclntab *table, uint64_t at,
		      uint64_t *ret)
{
	struct cursor cursor = cursor_make(bytes->bytes, bytes->size, table->swap, NULL, 0);
	return cursor_skip(&cursor, at) && cursor_word(&cursor, table->word, ret);
}

static bool search_bytes(const struct image_bytes *bytes, const struct pclntab *table,
			 struct moduledata *ret)
{
	uint64_t word = table->word, first, names, text, trees;
	for (uint64_t at = 0; read_word(bytes, table, at, &first); at += word) {
		if (first != table->vaddr ||
		    !read_word(bytes, table, at + word * WORD_NAMES, &names) ||
		    names != table->vaddr + table->names ||
		    !read_word(bytes, table, at + word * WORD_TEXT, &text) ||
		    !read_word(bytes, table, at + word * word_of_trees(table), &trees))
			continue;
		*ret = (struct moduledata){.text = text, .trees = trees};
		return true;
	}
	return false;
}

/* Searches the writable segments. */
static struct sp_error *search_data(const struct image *image, const struct pclntab *table,
				    struct moduledata *ret)
{
	size_t count;
	if (elf_getphdrnum(image->elf, &count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		CLEANUP(image_bytes_release) struct image_bytes bytes = {0};
		if (!gelf_getphdr(image->elf, i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_W) || !header.p_filesz)
			continue;
		struct sp_error *error =
			image_range_bytes(image, header.p_offset, header.p_filesz, &bytes);
		if (error || search_bytes(&bytes, table, ret))
			return error;
	}
	return NULL;
}

/* An entry of .rela.dyn. */
struct rela_entry {
	uint64_t place, addend;
};

static bool read_relocation(const struct image_bytes *bytes, const struct pclntab *table,
			    uint64_t index, struct rela_entry *ret)
{
	uint64_t at = 3 * table->word * index;
	return read_word(bytes, table, at, &ret->place) &&
	       read_word(bytes, table, at + 2 * table->word, &ret->addend);
}

/* Collects the words of a record from relocations; returns whether it is a moduledata. */
static bool collect(const struct image_bytes *bytes, const struct pclntab *table, uint64_t place,
		    struct moduledata *ret)
{
	uint64_t words[WORDS] = {0};
	struct rela_entry relocation;
	for (uint64_t i = 0; read_relocation(bytes, table, i, &relocation); i++) {
		uint64_t word = (relocation.place - place) / table->word;
		if (relocation.place >= place && word < WORDS)
			words[word] = relocation.addend;
	}
	if (words[WORD_NAMES] != table->vaddr + table->names || !words[WORD_TEXT])
		return false;
	*ret = (struct moduledata){.text = words[WORD_TEXT], .trees = words[word_of_trees(table)]};
	return true;
}

/* Limit on records to try: each costs a pass over all relocations. */
#define TRIES_MAX 8

static struct sp_error *search_relocations(const struct image *image, const struct pclntab *table,
					   struct moduledata *ret)
{
	CLEANUP(image_bytes_release) struct image_bytes bytes = {0};
	GElf_Shdr header;
	Elf_Scn *section = image_section(image, ".rela.dyn", &header);
	if (!section || header.sh_type != SHT_RELA || !header.sh_size)
		return NULL;
	struct sp_error *error = image_section_bytes(image, section, &bytes);
	struct rela_entry relocation;
	size_t tries = 0;
	for (uint64_t i = 0; !error && read_relocation(&bytes, table, i, &relocation); i++)
		if (relocation.addend == table->vaddr &&
		    (collect(&bytes, table, relocation.place, ret) || ++tries == TRIES_MAX))
			break;
	return error;
}

struct sp_error *moduledata_find(const struct image *image, const struct pclntab *table,
				 struct moduledata *ret)
{
	TRY(search_data(image, table, ret));
	if (ret->text || image->type != ET_DYN)
		return NULL;
	return search_relocations(image, table, ret);
}
