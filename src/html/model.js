// SPDX-License-Identifier: GPL-2.0-or-later
// The page's data, without the browser's document: decoding. html.c describes the format.
"use strict";

// Reads columns of varints.
class Columns {
	constructor(bytes, at) {
		this.bytes = bytes;
		this.at = at;
	}

	// Returns `count` numbers. Numbers above 2^53 lose their lowest bits.
	column(count, type = Float64Array) {
		const bytes = this.bytes, values = new type(count);
		let at = this.at;
		for (let i = 0; i < count; i++) {
			let byte = bytes[at++];
			if (byte < 128) {
				values[i] = byte;
				continue;
			}
			let value = byte & 127, unit = 128;
			do {
				byte = bytes[at++];
				value += (byte & 127) * unit;
				unit *= 128;
			} while (byte >= 128);
			values[i] = value;
		}
		this.at = at;
		return values;
	}
}

function decodeTree(bytes) {
	const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
	const profile = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
	const columns = new Columns(bytes, 4 + size), count = profile.functionCount;
	profile.functions = {
		name: columns.column(count, Uint32Array),
		dso: columns.column(count, Uint32Array),
		path: columns.column(count, Uint32Array),
		kind: columns.column(count, Uint8Array),
	};
	for (const event of profile.events) {
		const nodes = event.nodes, rows = event.rows;
		event.node = {
			parent: columns.column(nodes, Uint32Array).map((distance, i) => i - distance),
			fn: columns.column(nodes, Uint32Array),
			inlined: columns.column(nodes, Uint8Array),
			samples: columns.column(nodes),
			weight: columns.column(nodes),
		};
		if (event.period)
			event.node.weight = event.node.samples.map((samples) => samples * event.period);
		event.row = {
			fn: columns.column(rows, Uint32Array),
			inlined: columns.column(rows, Uint8Array),
			selfSamples: columns.column(rows),
			selfWeight: columns.column(rows),
			totalSamples: columns.column(rows),
			totalWeight: columns.column(rows),
		};
		for (const name of ["self", "selfLow", "selfHigh", "total", "totalLow", "totalHigh"])
			event.row[name] = columns.column(rows).map((share) => share / 1e9);
	}
	return profile;
}

// Adds the cells to the events of decodeTree().
function decodeCells(profile, bytes) {
	const columns = new Columns(bytes, 0);
	for (const event of profile.events) {
		const groups = event.groups, count = event.cells;
		const bin = columns.column(groups, Uint32Array);
		const thread = columns.column(groups, Uint32Array);
		const sizes = columns.column(groups, Uint32Array);
		const node = columns.column(count, Uint32Array);
		const samples = columns.column(count, Uint32Array);
		const cell = {node, samples, bin: new Uint16Array(count), thread: new Uint32Array(count)};
		cell.weight = event.period ? Float64Array.from(samples, (n) => n * event.period)
			: columns.column(count);
		for (let group = 0, at = 0, now = 0; group < groups; group++) {
			now += bin[group];
			for (let i = 0, last = 0; i < sizes[group]; i++, at++) {
				last = i ? last + node[at] : node[at];
				node[at] = last;
				cell.bin[at] = now;
				cell.thread[at] = thread[group];
			}
		}
		event.cell = cell;
	}
	return profile;
}

const LEVEL = 7, UNKNOWN_NAME = 8, MISSING = 16, LIGHT = 32; // bits of a function's kind

// Groups of functions, which have a colour each.
const OWN = 0, LIBRARY = 1, KERNEL = 2, UNKNOWN = 3, NOTE = 4;

// Returns the group of each function.
function groupFunctions(profile) {
	const {dso, path, kind} = profile.functions;
	const library = profile.strings.map((text) =>
		/\.so(\.|$)/.test(text) || /^\/(usr\/)?lib(32|64|x32)?\//.test(text) || text.startsWith("[vdso"));
	return kind.map((bits, i) => {
		const level = bits & LEVEL;
		if (bits & (MISSING | LIGHT))
			return NOTE;
		if (level === 1 || level === 4 || level === 2)
			return KERNEL;
		if (library[path[i]] || library[dso[i]])
			return LIBRARY;
		return bits & UNKNOWN_NAME || !dso[i] ? UNKNOWN : OWN;
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
	if (from === null && thread < 0)
		return {samples: event.node.samples, weight: event.node.weight};
	const own = {samples: new Float64Array(event.nodes), weight: new Float64Array(event.nodes)};
	const cell = event.cell;
	const begin = from === null ? 0 : lowerBound(cell.bin, from);
	const end = from === null ? cell.bin.length : lowerBound(cell.bin, to + 1);
	for (let i = begin; i < end; i++) {
		if (thread >= 0 && cell.thread[i] !== thread)
			continue;
		own.samples[cell.node[i]] += cell.samples[i];
		own.weight[cell.node[i]] += cell.weight[i];
	}
	return own;
}

// Removes stacks without a function of `keep`, or with one of `drop`; both are flags by function, or null.
function filterStacks(event, own, keep, drop) {
	if (!keep && !drop)
		return own;
	const {parent, fn} = event.node, count = event.nodes;
	const kept = new Uint8Array(count), dropped = new Uint8Array(count);
	const samples = Float64Array.from(own.samples), weight = Float64Array.from(own.weight);
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

// A call tree: arrays by node; node 0 is the root, and parents come before children.
class Tree {
	constructor(capacity) {
		this.count = 1;
		this.reserve(capacity);
		this.children = new Map(); // parent and function to node
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
		for (const name of ["samples", "weight", "ownSamples", "ownWeight"])
			this[name] = grow(Float64Array, this[name]);
		this.inlined = grow(Uint8Array, this.inlined);
	}

	// Returns the child of a node that is function `fn`; adds it if there is none.
	child(parent, fn, inlined) {
		const key = parent * 0x1000000 + fn;
		let node = this.children.get(key);
		if (node !== undefined)
			return node;
		if (this.count === this.capacity)
			this.reserve(2 * this.capacity);
		node = this.count++;
		this.parent[node] = parent;
		this.fn[node] = fn;
		this.inlined[node] = inlined;
		this.children.set(key, node);
		return node;
	}

	addOwn(node, samples, weight) {
		this.ownSamples[node] += samples;
		this.ownWeight[node] += weight;
	}

	// Computes totals and the layout. Call it once, after the last addOwn().
	finish() {
		this.samples.set(this.ownSamples);
		this.weight.set(this.ownWeight);
		for (let i = this.count - 1; i > 0; i--) {
			this.samples[this.parent[i]] += this.samples[i];
			this.weight[this.parent[i]] += this.weight[i];
		}
		this.children = null;
		this.order();
		return this;
	}

	// Orders the children of each node by weight. Children of node i are list[first[i]] to list[first[i + 1] - 1].
	order() {
		const count = this.count, weight = this.weight;
		const first = new Uint32Array(count + 1), next = new Uint32Array(count);
		for (let i = 1; i < count; i++)
			if (weight[i] > 0)
				first[this.parent[i] + 1]++;
		for (let i = 0; i < count; i++)
			first[i + 1] += first[i];
		next.set(first.subarray(0, count));
		const list = new Uint32Array(first[count]);
		for (let i = 1; i < count; i++)
			if (weight[i] > 0)
				list[next[this.parent[i]]++] = i;
		this.depth = new Uint32Array(count);
		this.left = new Float64Array(count);
		this.deepest = 0;
		for (let i = 0; i < count; i++) {
			const begin = first[i], end = first[i + 1];
			if (end - begin > 1)
				sortByWeight(list, begin, end, weight);
			let left = this.left[i];
			for (let at = begin; at < end; at++) {
				const child = list[at];
				this.left[child] = left;
				left += weight[child];
				this.depth[child] = this.depth[i] + 1;
				if (this.depth[child] > this.deepest)
					this.deepest = this.depth[child];
			}
		}
		this.first = first;
		this.list = list;
	}

	childrenOf(node) {
		return this.list.subarray(this.first[node], this.first[node + 1]);
	}

	// Returns the nodes of each depth from left to right.
	rows() {
		if (this.byDepth)
			return this.byDepth;
		this.byDepth = [[0]];
		for (let depth = 0; depth < this.deepest; depth++) {
			const row = [];
			for (const node of this.byDepth[depth])
				for (let at = this.first[node]; at < this.first[node + 1]; at++)
					row.push(this.list[at]);
			this.byDepth.push(row);
		}
		return this.byDepth;
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

// Returns the tree of callees without functions of `hidden` (flags by function, or null): callers have their weight.
function calleesTree(event, own, hidden) {
	const {parent, fn, inlined} = event.node, count = event.nodes;
	const tree = new Tree(Math.max(count, 1));
	if (!hidden) {
		tree.count = Math.max(count, 1);
		tree.parent.set(parent);
		tree.fn.set(fn);
		tree.inlined.set(inlined);
		tree.ownSamples.set(own.samples);
		tree.ownWeight.set(own.weight);
		return tree.finish();
	}
	const shown = new Uint32Array(count);
	for (let i = 0; i < count; i++) {
		if (i)
			shown[i] = hidden[fn[i]] ? shown[parent[i]] : tree.child(shown[parent[i]], fn[i], inlined[i]);
		tree.addOwn(shown[i], own.samples[i], own.weight[i]);
	}
	return tree.finish();
}

// Returns the tree from the sampled functions up to their callers, of a tree of callees.
function callersTree(from) {
	const tree = new Tree(1024);
	for (let i = 1; i < from.count; i++) {
		if (!from.ownWeight[i])
			continue;
		let at = 0;
		for (let node = i; node; node = from.parent[node])
			at = tree.child(at, from.fn[node], from.inlined[node]);
		tree.addOwn(at, from.ownSamples[i], from.ownWeight[i]);
	}
	tree.addOwn(0, from.ownSamples[0], from.ownWeight[0]);
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
		callees.addOwn(copy, tree.ownSamples[node], tree.ownWeight[node]);
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

// Returns the rows of functions in a tree of callees, with shares of `whole` and of the tree.
function functionRows(tree, functionCount, whole) {
	const self = new Float64Array(functionCount), selfSamples = new Float64Array(functionCount);
	const total = new Float64Array(functionCount), totalSamples = new Float64Array(functionCount);
	const inlined = new Uint8Array(functionCount), rows = [];
	visitOutermost(tree, functionCount, (node, outermost) => {
		const fn = tree.fn[node];
		self[fn] += tree.ownWeight[node];
		selfSamples[fn] += tree.ownSamples[node];
		if (outermost) {
			total[fn] += tree.weight[node];
			totalSamples[fn] += tree.samples[node];
		}
		if (tree.inlined[node])
			inlined[fn] = 1;
	});
	const weight = tree.weight[0] || 1, samples = tree.samples[0];
	for (let fn = 0; fn < functionCount; fn++) {
		if (!total[fn])
			continue;
		const row = {fn, inlined: inlined[fn], selfSamples: selfSamples[fn], selfWeight: self[fn],
			totalSamples: totalSamples[fn], totalWeight: total[fn],
			self: self[fn] / weight, total: total[fn] / weight, ofAll: self[fn] / (whole || 1)};
		[row.selfLow, row.selfHigh] = interval(row.self, samples);
		[row.totalLow, row.totalHigh] = interval(row.total, samples);
		rows.push(row);
	}
	return rows.sort((a, b) => b.selfWeight - a.selfWeight || b.totalWeight - a.totalWeight || a.fn - b.fn);
}

// Returns the rows of the full analysis.
function analysedRows(event, whole) {
	const row = event.row, rows = [];
	for (let i = 0; i < event.rows; i++)
		rows.push({fn: row.fn[i], inlined: row.inlined[i], selfSamples: row.selfSamples[i],
			selfWeight: row.selfWeight[i], totalSamples: row.totalSamples[i],
			totalWeight: row.totalWeight[i], self: row.self[i], selfLow: row.selfLow[i],
			selfHigh: row.selfHigh[i], total: row.total[i], totalLow: row.totalLow[i],
			totalHigh: row.totalHigh[i], ofAll: row.selfWeight[i] / (whole || 1)});
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

// Returns flags of the functions whose name matches; a text that is no regular expression is searched as it is.
function matchFunctions(profile, text) {
	let pattern;
	try {
		pattern = new RegExp(text, "i");
	} catch {
		pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
	}
	const matches = profile.strings.map((name) => pattern.test(name));
	return Uint8Array.from(profile.functions.name, (name) => matches[name] ? 1 : 0);
}

if (typeof module !== "undefined")
	module.exports = {decodeTree, decodeCells, groupFunctions, ownOf, filterStacks, calleesTree, callersTree,
		butterfly, functionRows, analysedRows, interval, weightOf, matchFunctions, Tree, Columns};
