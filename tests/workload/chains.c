/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chains TRUTH <FOLDED: holds call chains to what is known of them. TRUTH is what
 * `stacks --truth` prints (stacks/stacks.h says how it is read), FOLDED lines of
 * "comm;root;...;leaf COUNT". Prints
 *
 *	samples N complete N truncated N wrong N foreign N unmarked N
 *
 * complete: from where programs or threads begin, and right. truncated: the outer part is
 * missing, what is there is right; unmarked: those among them that do not say so. wrong:
 * no chain of the truth; the first few go to standard error. foreign: nothing of
 * the program is in it (before main and after its end, and the kernel alone).
 */
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A function in the truth, below its callers. */
struct node {
	const char *name; /* interned; NULL: anything that is not the program's */
	struct node *child, *next;
	struct node *same; /* another node of the name */
	bool strict;	   /* calls nothing else */
};

struct name {
	const char *text;
	struct node *nodes;
};

/* A chain, from the root on. */
struct chain {
	char **frames;
	size_t count, capacity;
};

enum { FOREIGN_ROOTS = 4, SHOWN = 5 };
enum verdict { COMPLETE, TRUNCATED, UNMARKED, WRONG, FOREIGN, VERDICTS };

static void *names; /* tsearch's */

static void *need(void *memory)
{
	if (!memory) {
		fprintf(stderr, "chains: out of memory\n");
		exit(2);
	}
	return memory;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* The name in the truth, or NULL. What compilers append (.cold, .part.0) is not in it. */
static struct name *find_name(const char *text)
{
	char plain[256];
	size_t size = strcspn(text, ".");
	if (size == 0 || size >= sizeof(plain))
		return NULL;
	memcpy(plain, text, size);
	plain[size] = '\0';
	struct name key = {.text = plain};
	struct name **found = tfind(&key, &names, compare_names);
	return found ? *found : NULL;
}

static struct name *add_name(const char *text)
{
	struct name *name = find_name(text);
	if (name)
		return name;
	name = need(calloc(1, sizeof(*name)));
	name->text = need(strdup(text));
	need(tsearch(name, &names, compare_names));
	return name;
}

static struct node *child_of(const struct node *parent, const char *name)
{
	for (struct node *child = parent->child; child; child = child->next)
		if (child->name == name)
			return child;
	return NULL;
}

static struct node *add_child(struct node *parent, char *text)
{
	size_t size = strlen(text);
	bool strict = size > 1 && text[size - 1] == '!';
	if (strict)
		text[size - 1] = '\0';
	struct name *name = strcmp(text, "*") ? add_name(text) : NULL;
	struct node *child = child_of(parent, name ? name->text : NULL);
	if (!child) {
		child = need(calloc(1, sizeof(*child)));
		child->name = name ? name->text : NULL;
		child->next = parent->child;
		parent->child = child;
		if (name) {
			child->same = name->nodes;
			name->nodes = child;
		}
	}
	child->strict |= strict;
	return child;
}

static void read_truth(const char *path, struct node *root)
{
	FILE *file = fopen(path, "r");
	if (!file) {
		perror(path);
		exit(2);
	}
	char *line = NULL;
	size_t capacity = 0;
	while (getline(&line, &capacity, file) > 0) {
		struct node *at = root;
		for (char *text = strtok(line, " \n"); text; text = strtok(NULL, " \n"))
			at = add_child(at, text);
	}
	free(line);
	fclose(file);
}

/* Whether the frames from the i-th on are calls below the node. */
static bool goes_on(const struct node *node, const struct chain *chain, size_t i)
{
	for (; i < chain->count; i++) {
		const struct name *name = find_name(chain->frames[i]);
		const struct node *anything = node->name ? child_of(node, NULL) : node;
		const struct node *next = name ? child_of(node, name->text) : anything;
		if (!next && name && anything)
			next = child_of(anything, name->text);
		if (!next && !name && !node->strict) {
			while (i < chain->count && !find_name(chain->frames[i]))
				i++;
			return i == chain->count;
		}
		if (!next)
			return false;
		node = next;
	}
	return true;
}

/* Whether the chain is the inner end of one in the truth. */
static bool is_inner_end(const struct chain *chain)
{
	size_t first = 0;
	while (first < chain->count && !find_name(chain->frames[first]))
		first++;
	if (first == chain->count)
		return true;
	const struct name *name = find_name(chain->frames[first]);
	for (const struct node *node = name->nodes; node; node = node->same)
		if (goes_on(node, chain, first + 1))
			return true;
	return false;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Gap marks of sprof's views. */
static bool is_gap(const char *frame)
{
	return begins(frame, "[frames omitted]");
}

static bool is_mark(const char *frame)
{
	return begins(frame, "[truncated stacks]") || begins(frame, "[truncated: ");
}

static enum verdict judge(const struct node *root, struct chain chain)
{
	bool marked = chain.count && is_mark(chain.frames[0]);
	if (marked) {
		chain.frames++;
		chain.count--;
	}
	/* A chain with a gap: the outer part is here, the inner part follows. */
	struct chain inner = {0};
	for (size_t i = 0; i < chain.count; i++) {
		if (!is_gap(chain.frames[i]))
			continue;
		inner = (struct chain){.frames = chain.frames + i + 1,
				       .count = chain.count - i - 1};
		chain.count = i;
	}
	size_t first = 0;
	while (first < chain.count && !find_name(chain.frames[first]))
		first++;
	if (first == chain.count && !inner.count)
		return FOREIGN;
	if (!is_inner_end(&inner))
		return WRONG;
	const struct name *name = first < chain.count ? find_name(chain.frames[first]) : NULL;
	const struct node *top = name ? child_of(root, name->text) : NULL;
	if (!marked && top && first > 0)
		return first <= FOREIGN_ROOTS && goes_on(top, &chain, first + 1) ? COMPLETE : WRONG;
	if (!is_inner_end(&chain))
		return WRONG;
	return marked ? TRUNCATED : UNMARKED;
}

/* The frames of "comm;root;...;leaf COUNT", as far as they are the user's. */
static uint64_t split(char *line, struct chain *chain)
{
	char *space = strrchr(line, ' ');
	if (!space)
		return 0;
	*space = '\0';
	chain->count = 0;
	char *rest = strchr(line, ';');
	for (char *frame = rest ? rest + 1 : NULL; frame; frame = rest) {
		rest = strchr(frame, ';');
		if (rest)
			*rest++ = '\0';
		size_t size = strlen(frame);
		if (size > 4 && !strcmp(frame + size - 4, "_[k]"))
			break;
		if (chain->count == chain->capacity) {
			chain->capacity = chain->capacity ? chain->capacity * 2 : 256;
			chain->frames = need(reallocarray(chain->frames, chain->capacity,
							  sizeof(*chain->frames)));
		}
		chain->frames[chain->count++] = frame;
	}
	return strtoull(space + 1, NULL, 10);
}

static void show(const struct chain *chain, uint64_t count)
{
	fprintf(stderr, "%llu wrong:", (unsigned long long)count);
	size_t begin = chain->count > 300 ? chain->count - 300 : 0;
	for (size_t i = begin; i < chain->count; i++)
		fprintf(stderr, "%s%s", i == begin ? (begin ? " ..." : " ") : ";",
			chain->frames[i]);
	fprintf(stderr, "\n");
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: chains TRUTH <FOLDED\n");
		return 2;
	}
	struct node root = {0};
	read_truth(argv[1], &root);
	uint64_t counts[VERDICTS] = {0}, samples = 0, shown = 0;
	struct chain chain = {0};
	char *line = NULL;
	size_t capacity = 0;
	while (getline(&line, &capacity, stdin) > 0) {
		uint64_t count = split(line, &chain);
		enum verdict verdict = judge(&root, chain);
		samples += count;
		counts[verdict] += count;
		if (verdict == WRONG && shown++ < SHOWN)
			show(&chain, count);
	}
	printf("samples %llu complete %llu truncated %llu wrong %llu foreign %llu unmarked %llu\n",
	       (unsigned long long)samples, (unsigned long long)counts[COMPLETE],
	       (unsigned long long)(counts[TRUNCATED] + counts[UNMARKED]),
	       (unsigned long long)counts[WRONG], (unsigned long long)counts[FOREIGN],
	       (unsigned long long)counts[UNMARKED]);
	return 0;
}
