// SPDX-License-Identifier: GPL-2.0-or-later
// Model of the HTML page: decoding, selections, turned trees, search, intervals. Results are held against stacks
// that are counted one by one. Usage: node test_model.js MODEL
"use strict";
const assert = require("assert"), fs = require("fs"), path = require("path");
const model = require(path.resolve(process.argv[2] || path.join(__dirname, "../../src/html/model.js")));

let seed = 1;
const random = (below) => {
	seed = (seed * 1103515245 + 12345) % 2147483648;
	return Math.floor(seed / 2147483648 * below);
};

// Linear RGB as people see it: all colours; or without red, green or blue cones (Machado, Oliveira, Fernandes 2009).
const SIGHT = {
	full: [1, 0, 0, 0, 1, 0, 0, 0, 1],
	protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
	deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
	tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

const linear = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
	.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);

function contrast(a, b) {
	const light = (colour) => linear(colour).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0.05);
	return Math.max(light(a), light(b)) / Math.min(light(a), light(b));
}

// Returns a colour's place in CIE Lab, where distances are differences that people see.
function lab(colour, sight) {
	const given = linear(colour), row = (m, i) => given.reduce((sum, part, j) => sum + m[3 * i + j] * part, 0);
	const seen = [0, 1, 2].map((i) => Math.min(1, Math.max(0, row(sight, i))));
	const root = (r, g, b, white) => {
		const value = (r * seen[0] + g * seen[1] + b * seen[2]) / white;
		return value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116;
	};
	const x = root(0.4124, 0.3576, 0.1805, 0.95047), y = root(0.2126, 0.7152, 0.0722, 1);
	return [116 * y - 16, 500 * (x - y), 200 * (y - root(0.0193, 0.1192, 0.9505, 1.08883))];
}

// Encodes columns of numbers as varints.
function varints(...columns) {
	const bytes = [];
	for (let value of columns.flat()) {
		for (; value >= 128; value = Math.floor(value / 128))
			bytes.push(value % 128 + 128);
		bytes.push(value);
	}
	return Buffer.from(bytes);
}

const FUNCTIONS = 12, BINS = 20, THREADS = 3;
const PID_OF = [7, 8, 7];
const OBJECTS = ["", "app", "libc.so.6", "[kernel.kallsyms]", "libmine.so"];
const PATHS = ["", "/usr/lib/app", "/usr/lib/libc.so.6", "[kernel.kallsyms]", "/home/me/libmine.so"];
const OBJECT_OF = [1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 1];

// Makes random stacks: {bin, thread, stack, samples, weight}; the first function is outermost.
function randomStacks(count, depth) {
	return Array.from({length: count}, () => {
		const samples = 1 + random(3);
		// Samples may weigh nothing, as wake-ups that ended no wait.
		const weight = random(20) ? samples * (1 + random(1000)) : 0;
		return {bin: random(BINS), thread: random(THREADS), samples, weight,
			stack: Array.from({length: 1 + random(depth)}, () => random(FUNCTIONS))};
	});
}

// Encodes stacks as the blocks of a page. With a period, weights are the samples times the period.
function blocks(stacks, period) {
	const root = {children: new Map(), fn: 0, samples: 0, weight: 0, stacks: []};
	for (const one of stacks) {
		let node = root;
		for (const fn of one.stack) {
			if (!node.children.has(fn))
				node.children.set(fn, {children: new Map(), fn, samples: 0, weight: 0, stacks: []});
			node = node.children.get(fn);
		}
		node.samples += one.samples;
		node.weight += one.weight;
		node.stacks.push(one);
	}
	const nodes = [], distances = [], stack = [[root, 0]], cells = new Map();
	while (stack.length) {
		const [node, parent] = stack.pop(), index = nodes.length;
		nodes.push(node);
		distances.push(index ? index - parent : 0);
		for (const one of node.stacks) {
			const key = one.bin * THREADS + one.thread;
			cells.set(key, cells.get(key) || new Map());
			const cell = cells.get(key).get(index) || {samples: 0, weight: 0};
			cells.get(key).set(index, {samples: cell.samples + one.samples, weight: cell.weight + one.weight});
		}
		for (const child of node.children.values())
			stack.push([child, index]);
	}
	const groups = [...cells.keys()].sort((a, b) => a - b), columns = {bin: [], thread: [], size: [], node: [],
		samples: [], weight: []};
	let lastBin = 0;
	for (const key of groups) {
		const bin = Math.floor(key / THREADS), inGroup = [...cells.get(key).keys()].sort((a, b) => a - b);
		columns.bin.push(bin - lastBin);
		lastBin = bin;
		columns.thread.push(key % THREADS);
		columns.size.push(inGroup.length);
		inGroup.forEach((node, i) => {
			columns.node.push(i ? node - inGroup[i - 1] : node);
			columns.samples.push(cells.get(key).get(node).samples);
			columns.weight.push(cells.get(key).get(node).weight);
		});
	}
	const strings = [...OBJECTS, ...PATHS, ...Array.from({length: FUNCTIONS}, (_, i) => `ns::function_${i}`)];
	const threads = Array.from({length: THREADS}, (_, i) => ({recording: 0, pid: PID_OF[i], process: 1}));
	const head = Buffer.from(JSON.stringify({version: 1, strings, functionCount: FUNCTIONS, threads, events: [{name: "cycles",
		nodes: nodes.length, rows: 0, cells: columns.node.length, groups: groups.length, bins: BINS, period,
		samples: stacks.length,
		lanes: []}]}));
	const size = Buffer.alloc(4);
	size.writeUInt32LE(head.length);
	const kinds = OBJECT_OF.map((object, fn) => fn === 11 ? 16 : object === 3 ? 1 : fn === 6 || fn === 7 ? 0 : 256);
	const tree = Buffer.concat([size, head, varints(OBJECT_OF.map((_, i) => 10 + i), OBJECT_OF,
		OBJECT_OF.map((object) => 5 + object), kinds, distances, nodes.map((node) => node.fn),
		nodes.map((_, i) => i % 2), nodes.map((node) => node.samples),
		nodes.map((node) => period ? 0 : node.weight))]);
	return [tree, varints(columns.bin, columns.thread, columns.size, columns.node, columns.samples,
		...(period ? [] : [columns.weight]))];
}

function profileOf(stacks, period = 0) {
	const [tree, cells] = blocks(stacks, period);
	return model.decodeCells(model.decodeTree(new Uint8Array(tree)), new Uint8Array(cells));
}

// Returns weights by call path of a tree.
function pathsOf(tree) {
	const paths = new Map(), names = [""];
	for (let i = 1; i < tree.count; i++) {
		names[i] = `${names[tree.parent[i]]}/${tree.fn[i]}`;
		if (tree.samples[i])
			paths.set(names[i], [tree.samples[i], tree.weight[i], tree.ownWeight(i)]);
	}
	return [...paths].sort();
}

// Returns the same from stacks; `change` returns a stack as it shall be shown.
function pathsOfStacks(stacks, change = (stack) => stack) {
	const paths = new Map();
	for (const one of stacks) {
		const stack = change(one.stack);
		for (let depth = 1; depth <= stack.length; depth++) {
			const name = `/${stack.slice(0, depth).join("/")}`, sums = paths.get(name) || [0, 0, 0];
			paths.set(name, [sums[0] + one.samples, sums[1] + one.weight,
				sums[2] + (depth === stack.length ? one.weight : 0)]);
		}
	}
	return [...paths].sort();
}

const sum = (stacks, name) => stacks.reduce((all, one) => all + one[name], 0);
// Two functions more: the processes.
const flags = (...functions) => Uint8Array.from({length: FUNCTIONS + 2}, (_, fn) => functions.includes(fn) ? 1 : 0);
const stacks = randomStacks(400, 6), profile = profileOf(stacks), [event] = profile.events;
const whole = model.ownOf(event, null, null, -1), tree = model.calleesTree(event, whole, null);

const cases = {
	"processes are the outermost nodes of their threads' stacks"() {
		const processes = [FUNCTIONS, FUNCTIONS + 1, FUNCTIONS];
		const processed = stacks.map((one) => ({...one, stack: [processes[one.thread], ...one.stack]}));
		assert.deepEqual([...profile.processOf], processes);
		assert.deepEqual(pathsOf(model.processTree(event, null, -1, null, null, null, profile.processOf)),
			pathsOfStacks(processed));
	},
	"varints of one to eight bytes"() {
		const values = [0, 1, 127, 128, 16383, 16384, 2 ** 28, 2 ** 32 - 1], large = [...values, 2 ** 40, 2 ** 53 - 1];
		const columns = new model.Columns(new Uint8Array(varints(values, large)), 0);
		assert.deepStrictEqual([...columns.small(values.length)], values);
		assert.deepStrictEqual([...columns.large(large.length)], large);
	},
	"the tree has each call path's weight"() {
		assert.deepStrictEqual(pathsOf(tree), pathsOfStacks(stacks));
		assert.strictEqual(tree.weight[0], sum(stacks, "weight"));
	},
	"sums of cells equal the nodes"() {
		const cells = model.ownOf(event, 0, BINS - 1, -1);
		assert.deepStrictEqual([...cells.weight], [...whole.weight]);
		assert.deepStrictEqual([...cells.samples], [...whole.samples]);
		assert.deepStrictEqual([event.node.weight[0], event.node.samples[0]],
			[sum(stacks, "weight"), sum(stacks, "samples")]);
	},
	"a node takes at most 32 bytes"() {
		const buffersOf = (of) => Object.values(of).filter(ArrayBuffer.isView)
			.map((array) => array.buffer);
		const all = model.calleesTree(event, null, null);
		const buffers = new Set([...buffersOf(event.node), ...buffersOf(all)]);
		assert.deepStrictEqual(pathsOf(all), pathsOfStacks(stacks));
		const size = [...buffers].reduce((all, {byteLength}) => all + byteLength, 0);
		assert(event.nodes > 100 && size <= 32 * event.nodes + 64,
			`${size / event.nodes} bytes`);
	},
	"a period replaces the weights"() {
		const given = stacks.map((one) => ({...one, weight: one.samples * 250})), other = profileOf(given, 250);
		assert.deepStrictEqual(pathsOf(model.calleesTree(other.events[0], model.ownOf(other.events[0], 0, BINS - 1, -1),
			null)), pathsOfStacks(given));
	},
	"ranges and threads select"() {
		for (const [from, to, thread] of [[0, 0, -1], [3, 9, -1], [19, 19, 1], [null, null, 2], [5, 5, 0]]) {
			const wanted = stacks.filter((one) => (from === null || (one.bin >= from && one.bin <= to)) &&
				(thread < 0 || one.thread === thread));
			assert.deepStrictEqual(pathsOf(model.calleesTree(event, model.ownOf(event, from, to, thread), null)),
				pathsOfStacks(wanted));
		}
	},
	"stacks are kept and dropped"() {
		const own = model.filterStacks(event, whole, flags(3, 4), flags(5));
		assert.deepStrictEqual(pathsOf(model.calleesTree(event, own, null)), pathsOfStacks(stacks.filter((one) =>
			one.stack.some((fn) => fn === 3 || fn === 4) && !one.stack.includes(5))));
	},
	"hidden functions give their weight to callers"() {
		const hidden = model.calleesTree(event, whole, flags(0, 2, 7));
		assert.deepStrictEqual(pathsOf(hidden),
			pathsOfStacks(stacks, (stack) => stack.filter((fn) => ![0, 2, 7].includes(fn))));
		assert.strictEqual(hidden.weight[0], sum(stacks, "weight"));
	},
	"callers are stacks from their end"() {
		const all = (zoomed, isZoomed) =>
			pathsOf(model.callersTree(tree, zoomed, isZoomed, Infinity));
		const wanted = pathsOfStacks(stacks, (stack) => [...stack].reverse());
		assert.deepStrictEqual(all(0, null), wanted);
		assert.deepStrictEqual(all(2, (fn, i) => fn === [3, 4][i]), wanted);
	},
	"pairs of the outermost function and the thread"() {
		const sums = (pairs) => pairs.map(({fn, thread, samples, weight}) =>
			[fn, thread, samples, weight]).sort();
		const ranges = [[-1, null, null], [1, null, null], [-1, 3, 9], [2, 0, 5]];
		for (const [thread, from, to] of ranges) {
			const chosen = stacks.filter((one) =>
				(thread < 0 || one.thread === thread) &&
				(from === null || (one.bin >= from && one.bin <= to)));
			const wanted = new Map();
			for (const {stack: [fn], thread: of, samples, weight} of chosen) {
				const sum = wanted.get(`${fn} ${of}`) || [fn, of, 0, 0];
				wanted.set(`${fn} ${of}`, [fn, of, sum[2] + samples, sum[3] + weight]);
			}
			assert.deepStrictEqual(sums(model.pairsOf(event, null, thread, from, to)),
				[...wanted.values()].sort());
		}
		const own = model.filterStacks(event, whole, flags(3), null);
		assert.strictEqual(model.pairsOf(event, own, -1, null, null)
			.reduce((all, {weight}) => all + weight, 0),
		sum(stacks.filter(({stack}) => stack.includes(3)), "weight"));
	},
	"stacks of a thread are in order of time"() {
		const ordered = model.timeTree(event, whole, 1, 3, 9, null), ends = [];
		const own = model.ownOf(event, 3, 9, 1);
		assert.strictEqual(ordered.weight[0], own.weight.reduce((a, b) => a + b, 0));
		const {cell} = event;
		for (let i = 0; i < event.cells; i++)
			if (cell.thread[i] === 1 && cell.bin[i] >= 3 && cell.bin[i] <= 9 &&
				cell.weight[i])
				ends.push([event.node.fn[cell.node[i]], cell.weight[i]]);
		const sums = (pairs) => pairs.reduce((of, [fn, weight]) =>
			({...of, [fn]: (of[fn] || 0) + weight}), {});
		const got = Array.from({length: ordered.count}, (_, i) =>
			[ordered.fn[i], ordered.ownWeight(i)]).filter(([, weight], i) => i && weight);
		assert.deepStrictEqual(sums(got), sums(ends));
		for (let node = 0; node < ordered.count; node++)
			assert.deepStrictEqual(Array.from(ordered.childrenOf(node)),
				Array.from(ordered.childrenOf(node)).sort((a, b) => a - b));
	},
	"light callers are joined, but below a zoomed function"() {
		const joined = model.callersTree(tree, 0, null, 50);
		const zoomed = model.callersTree(tree, 1, (fn) => fn === 3, 50);
		const below = (of) => pathsOf(of).filter(([path]) => path.startsWith("/3/")).length;
		assert(joined.count < model.callersTree(tree, 0, null, Infinity).count);
		assert(below(zoomed) > below(joined));
		for (const one of [joined, zoomed])
			assert.deepStrictEqual([one.samples[0], one.weight[0]],
				[sum(stacks, "samples"), sum(stacks, "weight")]);
	},
	"a butterfly has callers and callees of the outermost call"() {
		const through = stacks.filter((one) => one.stack.includes(4)), wings = model.butterfly(tree, 4, FUNCTIONS);
		assert.deepStrictEqual(pathsOf(wings.callees),
			pathsOfStacks(through, (stack) => stack.slice(stack.indexOf(4))));
		assert.deepStrictEqual(pathsOf(wings.callers),
			pathsOfStacks(through, (stack) => stack.slice(0, stack.indexOf(4) + 1).reverse()));
	},
	"the function table counts recursion once"() {
		for (const row of model.functionRows(tree, FUNCTIONS, tree.weight[0])) {
			const through = stacks.filter((one) => one.stack.includes(row.fn));
			const own = stacks.filter((one) => one.stack[one.stack.length - 1] === row.fn);
			assert.deepStrictEqual([row.totalWeight, row.totalSamples, row.selfWeight, row.selfSamples],
				[sum(through, "weight"), sum(through, "samples"), sum(own, "weight"), sum(own, "samples")]);
			assert.ok(row.totalLow <= row.total && row.total <= row.totalHigh);
		}
	},
	"a search has the weight of its union"() {
		const matches = model.matchFunctions(profile, "function_(3|4)$");
		assert.deepStrictEqual([...matches], [...flags(3, 4)]);
		assert.strictEqual(model.weightOf(tree, matches).weight,
			sum(stacks.filter((one) => one.stack.includes(3) || one.stack.includes(4)), "weight"));
	},
	"matches are in order of weight, below a node or in the whole tree"() {
		const matches = flags(3, 4), whole = model.matchingNodes(tree, matches, 0);
		const isBelow = (node, root) => node === root || (node > 0 && isBelow(tree.parent[node], root));
		const expected = (root) => Array.from(tree.parent.keys())
			.filter((node) => node && matches[tree.fn[node]] && tree.weight[node] > 0 && isBelow(node, root))
			.sort((a, b) => tree.weight[b] - tree.weight[a] || a - b);
		assert(whole.length > 9);
		for (const root of [0, 1, whole[0], whole[whole.length - 1]])
			assert.deepStrictEqual(model.matchingNodes(tree, matches, root), expected(root));
	},
	"a text that is no regular expression is searched as it is"() {
		assert.deepStrictEqual([...model.matchFunctions(profile, "function_1(")], [...flags()]);
		assert.deepStrictEqual([...model.matchFunctions(profile, "NS::FUNCTION_2")], [...flags(2)]);
	},
	"functions have groups"() {
		assert.deepStrictEqual([...model.groupFunctions(profile)], [0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 0, 4, 4, 4]);
	},
	"time without a stack has no object, and not the colour of a program"() {
		const functions = {dso: [1, 1, 2], path: [0, 0, 0], kind: Uint16Array.from([0, 8, 256])};
		assert.deepStrictEqual([...model.groupFunctions({functions, strings: ["", "[unknown]", "app"]})], [4, 3, 0]);
	},
	"nodes have the state of their outermost caller"() {
		const kind = Uint8Array.from([0, 16 | 64 | 1, 16 | 64 | 3, 1]), node = {parent: [0, 0, 1, 0, 3, 0], fn: [0, 1, 3, 2, 3, 0]};
		const of = (functions) => model.statesOfNodes({functions}, {nodes: 6, node});
		assert.deepStrictEqual([...of({kind})], [3, 0, 0, 2, 2, 3]);
		assert.strictEqual(of({kind: kind.map((bits) => bits & 7)}), null);
	},
	"children are in order of weight"() {
		for (let node = 0; node < tree.count; node++) {
			const weights = Array.from(tree.childrenOf(node), (child) => tree.weight[child]);
			assert.deepStrictEqual(weights, [...weights].sort((a, b) => b - a));
			const of = (child) => child && tree.parent[child] === node && tree.samples[child];
			assert.deepStrictEqual(Array.from(tree.childrenOf(node)),
				Array.from(tree.parent.keys()).filter(of)
					.sort((a, b) => tree.weight[b] - tree.weight[a] || a - b));
		}
	},
	"intervals are Wilson's"() {
		const close = (got, wanted) => assert.ok(Math.abs(got - wanted) < 5e-5, `${got}, not ${wanted}`);
		const [low, high] = model.interval(0.5, 100);
		close(low, 0.40383);
		close(high, 0.59617);
		close(model.interval(0, 10)[1], 0.27753);
		assert.deepStrictEqual(model.interval(0, 0), [0, 1]);
		// Unequal weights, and shares that are exact
		assert.deepStrictEqual(model.intervalOfPart({samples: 400, effectiveSamples: 100}, 0.3, 200),
			model.interval(0.3, 50));
		assert.deepStrictEqual(model.intervalOfPart({samples: 4, effectiveSamples: null}, 0.3, 2), [0.3, 0.3]);
	},
	"searches that would take too long are plain text"() {
		for (const text of ["main", "^std::.*sort$", "a|b", "[a-z]+_lock", "operator\\+", "(one|two)_read", "x{2,3}"])
			assert(model.isQuickPattern(text), text);
		for (const text of ["(a+)+$", "(a|a)*b", "(a)\\1", ".*.*.*x", "((a*)b)*", "(x{1,}){2,}", "a".repeat(201)])
			assert(!model.isQuickPattern(text), text);
		const one = {strings: ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "x(a+)+$y"], functions: {name: [0, 1]}};
		assert.deepStrictEqual(Array.from(model.matchFunctions(one, "(a+)+$")), [0, 1]);
	},
	"groups' colours differ for all kinds of sight, and names on them are readable"() {
		const css = fs.readFileSync(path.join(__dirname, "../../src/html/page.css"), "utf8");
		const [light, dark] = css.match(/:root[^{]*\{[^}]*\}/g).map((block) =>
			Object.fromEntries(Array.from(block.matchAll(/--([\w-]+): (#\w{6})/g), ([, name, value]) => [name, value])));
		for (const look of [light, {...light, ...dark}]) {
			const names = ["own", "library", "kernel", "unknown", "match"];
			const inkOf = (name) => name === "unknown" ? "unknown-ink" : "box-ink";
			for (const name of [...names, "note"])
				assert(contrast(look[name], look[inkOf(name)]) >= 4.5, name);
			assert(contrast(look["match-ink"], look.panel) >= 4.5);
			names.forEach((a, i) => names.slice(i + 1).forEach((b) => {
				const least = Math.min(...Object.values(SIGHT).map((sight) =>
					Math.hypot(...lab(look[a], sight).map((value, j) => value - lab(look[b], sight)[j]))));
				assert(least >= 20, `${a} and ${b}: ${least}`);
			}));
		}
	},
	"stacks of 20,000 frames, and no stacks at all"() {
		const stack = Array.from({length: 20000}, (_, i) => i % FUNCTIONS);
		const given = [{bin: 0, thread: 0, samples: 1, weight: 7, stack}], [one] = profileOf(given).events;
		const deep = model.calleesTree(one, model.ownOf(one, null, null, -1), null);
		for (const one of [deep, model.callersTree(deep)])
			assert.strictEqual(one.depthOf(one.count - 1), 20000);
		assert.strictEqual(model.functionRows(deep, FUNCTIONS, 7).length, FUNCTIONS);
		const [none] = profileOf([]).events, empty = model.calleesTree(none, model.ownOf(none, 0, 3, -1), null);
		assert.deepStrictEqual([empty.count, empty.weight[0], empty.list.length], [1, 0, 0]);
		assert.deepStrictEqual(model.functionRows(empty, FUNCTIONS, 0), []);
	},
};

let number = 0;
for (const [name, run] of Object.entries(cases)) {
	number++;
	try {
		run();
		console.log(`ok ${number} - ${name}`);
	} catch (error) {
		console.log(`not ok ${number} - ${name}`);
		console.log(error.stack.replace(/^/gm, "# "));
	}
}
console.log(`1..${number}`);
