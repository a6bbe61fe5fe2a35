// SPDX-License-Identifier: GPL-2.0-or-later
// The page's data, without the browser's document: decoding. html.c describes the format.
"use strict";

// Reads columns of varints.
class Columns {
	constructor(bytes, at) {
		this.bytes = bytes;
		this.at = at;
	}

	// Returns `count` numbers of up to 32 bits, in an array of a type that holds them.
	small(count, type = Uint32Array) {
		const bytes = this.bytes, values = new type(count);
		let at = this.at;
		for (let i = 0; i < count; i++) {
			let byte = bytes[at++], value = byte & 127;
			for (let shift = 7; byte >= 128; shift += 7) {
				byte = bytes[at++];
				value |= (byte & 127) << shift;
			}
			values[i] = value;
		}
		this.at = at;
		return values;
	}

	// Returns `count` numbers. Numbers above 2^53 lose their lowest bits.
	large(count, type = Float64Array) {
		const bytes = this.bytes, values = new type(count);
		let at = this.at;
		for (let i = 0; i < count; i++) {
			let byte = bytes[at++], value = byte & 127;
			for (let unit = 128; byte >= 128; unit *= 128) {
				byte = bytes[at++];
				value += (byte & 127) * unit;
			}
			values[i] = value;
		}
		this.at = at;
		return values;
	}
}

// Returns the columns of an event's nodes. There may be millions, so that types are narrow.
function decodeNodes(columns, event, functionCount) {
	const count = event.nodes, parent = columns.small(count);
	for (let i = 0; i < count; i++)
		parent[i] = i - parent[i];
	const fn = columns.small(count, functionCount < 1 << 16 ? Uint16Array : Uint32Array);
	const inlined = columns.small(count, Uint8Array);
	const samples = columns.large(count, event.samples < 2 ** 31 ? Uint32Array : Float64Array);
	let weight = columns.large(event.period ? 0 : count);
	if (event.period) {
		columns.at += count;
		weight = weigh(samples, event.period);
	}
	return {parent, fn, inlined,
		samples: addUp(samples, parent), weight: addUp(weight, parent)};
}

// Replaces own values of nodes by totals, which include the nodes below. Parents come first.
function addUp(values, parent, count = values.length) {
	for (let i = count - 1; i > 0; i--)
		values[parent[i]] += values[i];
	return values;
}

// Returns own values of nodes from totals.
function ownFrom(totals, parent, count = totals.length) {
	const own = totals.slice(0, count);
	for (let i = 1; i < count; i++)
		own[parent[i]] -= totals[i];
	return own;
}

function decodeTree(bytes) {
	const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
	const profile = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
	const columns = new Columns(bytes, 4 + size), count = profile.functionCount;
	profile.functions = {
		name: columns.small(count),
		dso: columns.small(count),
		path: columns.small(count),
		kind: columns.small(count, Uint16Array),
	};
	for (const event of profile.events) {
		const rows = event.rows;
		event.node = decodeNodes(columns, event, count);
		event.row = {
			fn: columns.small(rows),
			inlined: columns.small(rows, Uint8Array),
			selfSamples: columns.large(rows),
			selfWeight: columns.large(rows),
			totalSamples: columns.large(rows),
			totalWeight: columns.large(rows),
		};
		for (const name of ["self", "selfLow", "selfHigh", "total", "totalLow", "totalHigh"])
			event.row[name] = columns.large(rows).map((share) => share / 1e9);
		event.row.marks = columns.small(rows, Uint8Array);
		if (profile.mode !== "cpu")
			for (const name of ["waits", "longest"])
				event.row[name] = columns.large(rows);
	}
	if (profile.comparison)
		addSides(profile);
	return addProcesses(profile);
}

// Makes two events of a comparison's one: boxes have the width of the new runs, or of the base. The samples of their
// nodes are the weight of the other side.
function addSides(profile) {
	const {comparison, functions} = profile, [event] = profile.events, {samples, weight} = event.node;
	const tested = new Map(comparison.tested.map(([node, ...texts]) => [node, texts]));
	const rowOf = new Map(comparison.rows.map((texts, i) =>
		[`${functions.name[event.row.fn[i]]} ${functions.dso[event.row.fn[i]]}`, texts]));
	profile.mode = "diff";
	profile.eventName = event.name;
	profile.findings = comparison.limits.map((text) => ({text}));
	profile.banner = profile.findings.filter(({text}) => /^N/.test(text));
	if (comparison.total === "?")
		profile.banner.unshift({text: comparison.lines[3]});
	Object.assign(event, {name: "new runs", isBase: false, tested, rowOf});
	profile.events.push({...event, name: "base runs", isBase: true, node: {...event.node, samples: weight, weight: samples},
		samples: event.weight, weight: event.samples, shownSamples: event.shownWeight, shownWeight: event.shownSamples});
}

// States of threads, in the order of enum lane_state.
const STATES = ["running", "runnable", "blocked", "unknown"];

// Adds the cells to the events of decodeTree(), and the shares of states in each bin by thread.
function decodeCells(profile, bytes) {
	const columns = new Columns(bytes, 0);
	for (const event of profile.events) {
		const groups = event.groups, count = event.cells;
		const bin = columns.small(groups), thread = columns.small(groups), sizes = columns.small(groups);
		const node = columns.small(count), samples = columns.small(count);
		const weight = event.period ? weigh(samples, event.period) : columns.large(count);
		const threads = profile.threads?.length < 1 << 16 ? Uint16Array : Uint32Array;
		const cell = {node, samples, weight,
			bin: new Uint16Array(count), thread: new threads(count)};
		for (let group = 0, at = 0, now = 0; group < groups; group++) {
			const end = at + sizes[group];
			now += bin[group];
			cell.bin.fill(now, at, end);
			cell.thread.fill(thread[group], at, end);
			sumUp(node, at, end);
			at = end;
		}
		event.cell = cell;
		event.statesOf = new Map(event.lanes.map((lane) =>
			[lane, STATES.map(() => columns.small(event.bins, Uint8Array))]));
	}
	return profile;
}

// Returns the state of each node, an index of STATES; null: nodes have no states. Light nodes may have none.
function statesOfNodes(profile, event) {
	const {parent, fn} = event.node, {kind} = profile.functions;
	const state = new Uint8Array(event.nodes).fill(STATES.length - 1);
	let known = false;
	for (let i = 1; i < event.nodes; i++) {
		const own = kind[fn[i]] & STATE;
		state[i] = own ? (kind[fn[i]] & LEVEL) - 1 : state[parent[i]];
		known = known || own;
	}
	return known ? state : null;
}

// Returns weights of samples that weigh `period` each.
function weigh(samples, period) {
	const weight = new Float64Array(samples.length);
	for (let i = 0; i < samples.length; i++)
		weight[i] = samples[i] * period;
	return weight;
}

// Replaces differences by values.
function sumUp(values, begin, end) {
	for (let i = begin + 1; i < end; i++)
		values[i] += values[i - 1];
}

const LEVEL = 7, UNKNOWN_NAME = 8, MISSING = 16, LIGHT = 32, STATE = 64,
	PROCESS = 128, OWN_CODE = 256; // bits of a function's kind

// Groups of functions, which have a colour each.
const OWN = 0, LIBRARY = 1, KERNEL = 2, UNKNOWN = 3, NOTE = 4;

// Returns the group of each function.
function groupFunctions(profile) {
	const {dso, kind} = profile.functions;
	// Time without a stack has a name, but no object.
	const isNoCode = (i) => profile.strings[dso[i]] === "[unknown]" && !(kind[i] & UNKNOWN_NAME);
	return kind.map((bits, i) => {
		const level = bits & LEVEL;
		if (bits & (MISSING | LIGHT | PROCESS) || isNoCode(i))
			return NOTE;
		if (level === 1 || level === 4 || level === 2)
			return KERNEL;
		const isPlaceless = !dso[i] || profile.strings[dso[i]] === "[unknown]";
		if (isPlaceless || (bits & UNKNOWN_NAME && bits & OWN_CODE))
			return UNKNOWN;
		return bits & OWN_CODE ? OWN : LIBRARY;
	});
}

// Returns the index of the first value that is at least `least`, in ascending values.
function lowerBound(values, least) {
	let low = 0, high = values.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (values[middle] < least)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Returns the own samples and weight of each node in bins `from` to `to` (null: all) and one thread (-1: all).
function ownOf(event, from, to, thread) {
	const {parent, samples, weight} = event.node, {cell} = event;
	if (from === null && thread < 0)
		return {samples: ownFrom(samples, parent), weight: ownFrom(weight, parent)};
	const own = {samples: new samples.constructor(event.nodes),
		weight: new Float64Array(event.nodes)};
	const begin = from === null ? 0 : lowerBound(cell.bin, from);
	const end = from === null ? cell.bin.length : lowerBound(cell.bin, to + 1);
	addCells(own.samples, cell.node, cell.samples, cell.thread, thread, begin, end);
	addCells(own.weight, cell.node, cell.weight, cell.thread, thread, begin, end);
	return own;
}

// Adds values of cells `begin` to `end` to their nodes' sums.
function addCells(sums, nodes, values, threads, thread, begin, end) {
	for (let i = begin; i < end; i++)
		if (thread < 0 || threads[i] === thread)
			sums[nodes[i]] += values[i];
}

// Removes stacks without a function of `keep`, or with one of `drop`; both are flags by function, or null.
function filterStacks(event, own, keep, drop) {
	if (!keep && !drop)
		return own;
	const {parent, fn} = event.node, count = event.nodes;
	const kept = new Uint8Array(count), dropped = new Uint8Array(count);
	const samples = own.samples.slice(), weight = own.weight.slice();
	kept[0] = keep ? 0 : 1;
	for (let i = 0; i < count; i++) {
		if (i) {
			kept[i] = kept[parent[i]] || keep[fn[i]] ? 1 : 0;
			dropped[i] = dropped[parent[i]] || (drop && drop[fn[i]]) ? 1 : 0;
		}
		if (!kept[i] || dropped[i])
			samples[i] = weight[i] = 0;
	}
	return {samples, weight};
}

// A call tree: arrays by node; node 0 is the root, and parents come before children. Weights of
// nodes are their own until finish() adds up the totals.
class Tree {
	constructor(capacity) {
		this.count = 1;
		this.reserve(Math.max(capacity, 16));
		this.slots = null; // hash table of nodes by parent and function
		this.inTime = false; // children are in the order of their addition, not of weight
	}

	// Returns the finished tree of an event's nodes, whose arrays it shares, with those totals.
	static of(event, totals) {
		const tree = new Tree(0);
		if (event.nodes)
			Object.assign(tree, event.node, totals, {count: event.nodes});
		return tree.order();
	}

	reserve(capacity) {
		const grow = (type, old) => {
			const values = new type(capacity);
			if (old)
				values.set(old);
			return values;
		};
		this.capacity = capacity;
		for (const name of ["parent", "fn"])
			this[name] = grow(Uint32Array, this[name]);
		for (const name of ["samples", "weight"])
			this[name] = grow(Float64Array, this[name]);
		this.inlined = grow(Uint8Array, this.inlined);
	}

	// Returns the slot of a parent's function: its node, or 0 where there is none.
	slotOf(parent, fn) {
		const slots = this.slots, mask = slots.length - 1;
		let at = Math.imul(Math.imul(parent, 0x9e3779b1) ^ fn, 0x85ebca6b);
		at = (at ^ (at >>> 15)) & mask;
		for (let node = slots[at]; node && (this.fn[node] !== fn || this.parent[node] !== parent); node = slots[at])
			at = (at + 1) & mask;
		return at;
	}

	// Keeps the hash table at most half full.
	rehash() {
		let size = 1024;
		while (size < 4 * this.count)
			size *= 2;
		this.slots = new Uint32Array(size);
		for (let node = 1; node < this.count; node++)
			this.slots[this.slotOf(this.parent[node], this.fn[node])] = node;
	}

	// Returns the child of a node that is function `fn`; adds it if there is none.
	child(parent, fn, inlined) {
		if (!this.slots || 2 * this.count >= this.slots.length)
			this.rehash();
		const slot = this.slotOf(parent, fn);
		return this.slots[slot] || (this.slots[slot] = this.add(parent, fn, inlined));
	}

	// Adds a node. It is not in the table that child() uses.
	add(parent, fn, inlined) {
		if (this.count === this.capacity)
			this.reserve(2 * this.capacity);
		const node = this.count++;
		this.parent[node] = parent;
		this.fn[node] = fn;
		this.inlined[node] = inlined;
		return node;
	}

	addOwn(node, samples, weight) {
		this.samples[node] += samples;
		this.weight[node] += weight;
	}

	// Computes totals. Call it once, after the last addOwn().
	finish() {
		addUp(this.samples, this.parent, this.count);
		addUp(this.weight, this.parent, this.count);
		this.slots = null;
		return this.order();
	}

	// Lists the children of each node: those of node i are list[first[i]] to
	// list[first[i + 1] - 1].
	order() {
		const {count, parent, samples, weight} = this, first = new Uint32Array(count + 1);
		for (let i = 1; i < count; i++)
			if (weight[i] > 0 || samples[i] > 0)
				first[parent[i]]++;
		for (let i = 0; i < count; i++)
			first[i + 1] += first[i];
		// From the last child to the first one, each node's end moves to its begin.
		const list = new Uint32Array(first[count]);
		for (let i = count - 1; i > 0; i--)
			if (weight[i] > 0 || samples[i] > 0)
				list[--first[parent[i]]] = i;
		this.first = first;
		this.list = list;
		this.sorted = new Set(); // nodes with children in order
		return this;
	}

	// Returns the children of a node in order of weight, or of time. Few nodes are ever
	// shown, so that they are sorted here.
	childrenOf(node) {
		const begin = this.first[node], end = this.first[node + 1];
		if (end - begin > 1 && !this.inTime && !this.sorted.has(node)) {
			sortByWeight(this.list, begin, end, this.weight);
			this.sorted.add(node);
		}
		return this.list.subarray(begin, end);
	}

	// Returns the weight of a node without its children.
	ownWeight(node) {
		return this.childrenOf(node).reduce((rest, child) => rest - this.weight[child],
			this.weight[node]);
	}

	depthOf(node) {
		let depth = 0;
		for (; node; node = this.parent[node])
			depth++;
		return depth;
	}
}

// Sorts nodes list[begin] to list[end - 1], the heaviest first; equal ones keep their order.
function sortByWeight(list, begin, end, weight) {
	if (end - begin > 16) {
		list.subarray(begin, end).sort((a, b) => weight[b] - weight[a] || a - b);
		return;
	}
	for (let i = begin + 1; i < end; i++) {
		const node = list[i];
		let at = i;
		for (; at > begin && weight[list[at - 1]] < weight[node]; at--)
			list[at] = list[at - 1];
		list[at] = node;
	}
}

// Returns the tree of callees without functions of `hidden` (flags by function, or null): callers
// have their weight. `own` is null for all samples.
function calleesTree(event, own, hidden) {
	const {parent, fn, inlined, samples, weight} = event.node, count = event.nodes;
	if (!hidden)
		return Tree.of(event, own ? {samples: addUp(own.samples.slice(), parent),
			weight: addUp(own.weight.slice(), parent)} : {samples, weight});
	own = own || ownOf(event, null, null, -1);
	const tree = new Tree(Math.max(count >> 2, 1));
	const shown = new Uint32Array(count);
	for (let i = 0; i < count; i++) {
		if (i)
			shown[i] = hidden[fn[i]] ? shown[parent[i]] : tree.child(shown[parent[i]], fn[i], inlined[i]);
		tree.addOwn(shown[i], own.samples[i], own.weight[i]);
	}
	return tree.finish();
}

// Returns whether a node has `own` samples; null: all have.
function isKept(own, node) {
	return !own || own.samples[node] > 0 || own.weight[node] > 0;
}

// Returns the stacks of one thread in order of time: of those bins, and of nodes with `own` samples
// (null: of all). Equal frames of neighbours are one. Within a bin, the order is that of the
// event's nodes.
function timeTree(event, own, thread, from, to, hidden) {
	const {parent, fn, inlined} = event.node, {cell} = event, tree = new Tree(4096), open = [0];
	const end = to === null ? cell.bin.length : lowerBound(cell.bin, to + 1);
	tree.inTime = true;
	for (let i = from === null ? 0 : lowerBound(cell.bin, from); i < end; i++) {
		if (cell.thread[i] !== thread || !isKept(own, cell.node[i]))
			continue;
		const frames = [];
		for (let node = cell.node[i]; node; node = parent[node])
			if (!hidden || !hidden[fn[node]])
				frames.push(node);
		let depth = 0;
		while (depth < frames.length && depth + 1 < open.length &&
			tree.fn[open[depth + 1]] === fn[frames[frames.length - 1 - depth]])
			depth++;
		open.length = depth + 1;
		for (; depth < frames.length; depth++) {
			const node = frames[frames.length - 1 - depth];
			open.push(tree.add(open[depth], fn[node], inlined[node]));
		}
		tree.addOwn(open[depth], cell.samples[i], cell.weight[i]);
	}
	return tree.finish();
}

// Adds a function for each process, which is the outermost node of its stacks in processTree().
function addProcesses(profile) {
	const {functions, threads} = profile, numberOf = new Map(), names = [];
	profile.processOf = threads.map(({recording, pid, process, merged}) => {
		const key = merged ? "merged" : `${recording} ${pid}`;
		if (!numberOf.has(key))
			numberOf.set(key, functions.name.length + names.push(process) - 1);
		return numberOf.get(key);
	});
	profile.processCount = names.length;
	const append = (values, more, type = values.constructor) => {
		const longer = new type(values.length + more.length);
		longer.set(values);
		longer.set(more, values.length);
		return longer;
	};
	functions.kind = append(functions.kind, names.map(() => PROCESS));
	for (const column of ["dso", "path"])
		functions[column] = append(functions[column], names.map(() => 0));
	functions.name = append(functions.name, names);
	return profile;
}

// Returns the tree of callees with a node for each process under the root: of one thread (-1: all), of
// those bins, and of nodes with `own` samples (null: of all).
function processTree(event, own, thread, from, to, hidden, processOf) {
	const {parent, fn, inlined} = event.node, {cell} = event, tree = new Tree(4096), known = new Map();
	const end = to === null ? cell.bin.length : lowerBound(cell.bin, to + 1);
	const place = (node, process) => {
		const key = process * event.nodes + node;
		let at = known.get(key);
		if (at === undefined) {
			at = !node ? tree.child(0, process, 0)
				: hidden && hidden[fn[node]] ? place(parent[node], process)
				: tree.child(place(parent[node], process), fn[node], inlined[node]);
			known.set(key, at);
		}
		return at;
	};
	for (let i = from === null ? 0 : lowerBound(cell.bin, from); i < end; i++)
		if ((thread < 0 || cell.thread[i] === thread) && isKept(own, cell.node[i]))
			tree.addOwn(place(cell.node[i], processOf[cell.thread[i]]), cell.samples[i], cell.weight[i]);
	return tree.finish();
}

// Returns the sums of the cells of one thread (-1: all), those bins and nodes with `own` samples,
// for each pair of the outermost function and the thread.
function pairsOf(event, own, thread, from, to) {
	const {parent, fn} = event.node, {cell} = event, top = new Uint32Array(event.nodes);
	const pairs = new Map(), end = to === null ? cell.bin.length : lowerBound(cell.bin, to + 1);
	for (let i = 1; i < event.nodes; i++)
		top[i] = parent[i] ? top[parent[i]] : i;
	for (let i = from === null ? 0 : lowerBound(cell.bin, from); i < end; i++) {
		const node = cell.node[i], outermost = fn[top[node]], of = cell.thread[i];
		if ((thread >= 0 && of !== thread) || !isKept(own, node))
			continue;
		const key = `${outermost} ${of}`;
		const pair = pairs.get(key) || {fn: outermost, thread: of, weight: 0, samples: 0};
		pair.weight += cell.weight[i];
		pair.samples += cell.samples[i];
		pairs.set(key, pair);
	}
	return [...pairs.values()];
}

// Functions of the tree of callers with less than this part of its weight have no callers; below a
// zoomed node, of that one's weight.
const CALLERS_PART = 50000;

// Returns the tree from the sampled functions up to their callers, of a tree of callees. Node by
// node, stacks move from a function to its caller. isZoomed(fn, i) returns whether a function is
// number i of the `zoomed` ones.
function callersTree(from, zoomed = 0, isZoomed = null, part = CALLERS_PART) {
	const {parent, fn, inlined} = from, tree = new Tree(4096);
	const ownSamples = ownFrom(from.samples, parent, from.count);
	const ownWeight = ownFrom(from.weight, parent, from.count);
	const functionCount = fn.reduce((most, one) => Math.max(most, one), 0) + 1;
	// By stack: its present frame, and the next stack at the same node.
	const at = new Uint32Array(from.count), next = new Int32Array(from.count).fill(-1);
	// By function: its child of a node, and that node.
	const made = new Uint32Array(functionCount);
	const madeFor = new Int32Array(functionCount).fill(-1);
	// By node: its first stack, the number of zoomed functions that lead to it, and the weight
	// from which it has callers.
	const first = [-1], matched = [0], least = [from.weight[0] / part];
	const add = (node, stack) => {
		next[stack] = first[node];
		first[node] = stack;
		tree.addOwn(node, ownSamples[stack], ownWeight[stack]);
	};
	for (let i = from.count - 1; i >= 0; i--)
		if (ownWeight[i] || ownSamples[i]) {
			at[i] = i;
			add(0, i);
		}
	const addChild = (node, frame) => {
		const child = tree.add(node, fn[frame], inlined[frame]), before = matched[node];
		const leads = before >= 0 && before < zoomed && isZoomed(fn[frame], before);
		first[child] = -1;
		matched[child] = leads ? before + 1 : before === zoomed ? before : -1;
		return child;
	};
	for (let node = 0; node < tree.count; node++) {
		const weight = tree.weight[node], up = tree.parent[node];
		const begins = matched[node] === zoomed && matched[up] !== zoomed;
		if (node)
			least[node] = begins ? weight / part : least[up];
		if (weight < least[node] && (matched[node] < 0 || matched[node] === zoomed))
			continue;
		for (let stack = first[node], after; stack >= 0; stack = after) {
			const frame = at[stack];
			after = next[stack];
			if (!frame)
				continue;
			if (madeFor[fn[frame]] !== node) {
				madeFor[fn[frame]] = node;
				made[fn[frame]] = addChild(node, frame);
			}
			at[stack] = parent[frame];
			add(made[fn[frame]], stack);
			tree.addOwn(node, -ownSamples[stack], -ownWeight[stack]);
		}
	}
	return tree.finish();
}

// Calls visit(node, outermost) for each node in depth-first order; `outermost`: no caller is the same function.
function visitOutermost(tree, functionCount, visit) {
	const open = new Uint32Array(functionCount), path = [];
	const stack = Array.from(tree.childrenOf(0)).reverse();
	while (stack.length) {
		const node = stack.pop();
		while (path.length && path[path.length - 1] !== tree.parent[node])
			open[tree.fn[path.pop()]]--;
		visit(node, !open[tree.fn[node]]);
		open[tree.fn[node]]++;
		path.push(node);
		const begin = tree.first[node];
		for (let at = tree.first[node + 1]; at-- > begin;)
			stack.push(tree.list[at]);
	}
}

// Returns two trees of one function: its callees, and its callers; their first child is the function.
function butterfly(tree, fn, functionCount) {
	const callees = new Tree(1024), callers = new Tree(1024), of = new Map();
	const ownSamples = ownFrom(tree.samples, tree.parent, tree.count);
	const ownWeight = ownFrom(tree.weight, tree.parent, tree.count);
	visitOutermost(tree, functionCount, (node, outermost) => {
		let to = of.get(tree.parent[node]);
		if (tree.fn[node] === fn && outermost) {
			let at = 0;
			for (let up = node; up; up = tree.parent[up])
				at = callers.child(at, tree.fn[up], tree.inlined[up]);
			callers.addOwn(at, tree.samples[node], tree.weight[node]);
			to = 0;
		}
		if (to === undefined)
			return;
		const copy = callees.child(to, tree.fn[node], tree.inlined[node]);
		callees.addOwn(copy, ownSamples[node], ownWeight[node]);
		of.set(node, copy);
	});
	return {callees: callees.finish(), callers: callers.finish()};
}

// Returns the bounds of the 95 % interval of a share (Wilson), of which `samples` were taken.
function interval(share, samples) {
	if (!samples)
		return [0, 1];
	const z = 1.959964, zz = z * z / samples;
	const middle = (share + zz / 2) / (1 + zz);
	const half = z * Math.sqrt((share * (1 - share) + zz / 4) / samples) / (1 + zz);
	return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

// Returns the interval of a share of a part with `samples` of an event's samples. Exact shares are points, and
// samples of different weights count as fewer, as in the table of the whole recording.
function intervalOfPart(event, share, samples) {
	return event.effectiveSamples === null ? [share, share]
		: interval(share, event.samples ? samples * event.effectiveSamples / event.samples : 0);
}

// Returns the rows of functions in a tree of callees, with shares of `whole` and of the tree. `intervalOf` returns
// the interval of a share of samples.
function functionRows(tree, functionCount, whole, intervalOf = interval) {
	const self = new Float64Array(functionCount), selfSamples = new Float64Array(functionCount);
	const total = new Float64Array(functionCount), totalSamples = new Float64Array(functionCount);
	const inlined = new Uint8Array(functionCount), rows = [];
	visitOutermost(tree, functionCount, (node, outermost) => {
		const fn = tree.fn[node], up = tree.parent[node];
		self[fn] += tree.weight[node];
		selfSamples[fn] += tree.samples[node];
		if (up) {
			self[tree.fn[up]] -= tree.weight[node];
			selfSamples[tree.fn[up]] -= tree.samples[node];
		}
		if (outermost) {
			total[fn] += tree.weight[node];
			totalSamples[fn] += tree.samples[node];
		}
		if (tree.inlined[node])
			inlined[fn] = 1;
	});
	const weight = tree.weight[0] || 1, samples = tree.samples[0];
	for (let fn = 0; fn < functionCount; fn++) {
		if (!total[fn] && !totalSamples[fn])
			continue;
		const row = {fn, inlined: inlined[fn], selfSamples: selfSamples[fn], selfWeight: self[fn],
			totalSamples: totalSamples[fn], totalWeight: total[fn],
			self: self[fn] / weight, total: total[fn] / weight, ofAll: self[fn] / (whole || 1)};
		[row.selfLow, row.selfHigh] = intervalOf(row.self, samples);
		[row.totalLow, row.totalHigh] = intervalOf(row.total, samples);
		rows.push(row);
	}
	return rows.sort((a, b) => b.selfWeight - a.selfWeight || b.totalWeight - a.totalWeight || a.fn - b.fn);
}

// Marks of intervals, by their number in the data.
const MARKS = ["", "~", "*"];

// Returns the rows of the full analysis.
function analysedRows(event, whole) {
	const row = event.row, rows = [];
	for (let i = 0; i < event.rows; i++)
		rows.push({fn: row.fn[i], inlined: row.inlined[i], selfSamples: row.selfSamples[i],
			selfWeight: row.selfWeight[i], totalSamples: row.totalSamples[i],
			totalWeight: row.totalWeight[i], self: row.self[i], selfLow: row.selfLow[i],
			selfHigh: row.selfHigh[i], total: row.total[i], totalLow: row.totalLow[i],
			totalHigh: row.totalHigh[i], selfMark: MARKS[row.marks[i] & 3],
			totalMark: MARKS[row.marks[i] >> 2], ofAll: row.selfWeight[i] / (whole || 1),
			waits: row.waits?.[i], longest: row.longest?.[i]});
	return rows;
}

// Returns the weight of the stacks with a function of `flags`.
function weightOf(tree, flags) {
	const inside = new Uint8Array(tree.count);
	let weight = 0, samples = 0;
	for (let i = 1; i < tree.count; i++) {
		inside[i] = inside[tree.parent[i]];
		if (inside[i] || !flags[tree.fn[i]])
			continue;
		inside[i] = 1;
		weight += tree.weight[i];
		samples += tree.samples[i];
	}
	return {weight, samples};
}

// Returns whether a search is a regular expression that is matched in time of at most the square of a name's
// length: a link from a stranger may have any. Refuses repeated groups, back references, and more than two
// repetitions without limit.
function isQuickPattern(text) {
	const plain = text.replace(/\\[^1-9k]|\[(?:\\.|[^\]])*\]/g, "x");
	return text.length <= 200 && !/\)[*+?{]|\\/.test(plain) && (plain.match(/[*+]|\{\d*,/g) || []).length <= 2;
}

// Returns the regular expression of a search. Other than quick patterns are searched as plain text.
function patternOf(text) {
	const plain = () => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
	try {
		return isQuickPattern(text) ? new RegExp(text, "i") : plain();
	} catch {
		return plain();
	}
}

// Returns by function whether its name matches.
function matchFunctions(profile, text) {
	const pattern = patternOf(text);
	const matches = profile.strings.map((name) => pattern.test(name));
	return Uint8Array.from(profile.functions.name, (name) => matches[name] ? 1 : 0);
}

// Returns the nodes of matching functions at and below a node, heaviest first.
function matchingNodes(tree, matches, root) {
	const found = [], open = [root];
	while (open.length) {
		const node = open.pop();
		if (node && matches[tree.fn[node]] && tree.weight[node] > 0)
			found.push(node);
		for (const child of tree.childrenOf(node))
			open.push(child);
	}
	return found.sort((a, b) => tree.weight[b] - tree.weight[a] || a - b);
}

if (typeof module !== "undefined")
	module.exports = {decodeTree, decodeCells, statesOfNodes, groupFunctions, ownOf,
		filterStacks, calleesTree, callersTree, timeTree, addProcesses, processTree, pairsOf,
		butterfly, functionRows, analysedRows, interval, intervalOfPart, weightOf, matchFunctions, matchingNodes,
		isQuickPattern, Tree, Columns};
