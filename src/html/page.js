// SPDX-License-Identifier: GPL-2.0-or-later
// The page: its state, the views that follow from it, the keyboard, and the URL's hash.
"use strict";

const VIEWS = ["flame", "functions", "tree", "source", "limits", "about"];
const GROUP_NAMES = ["program", "libraries", "kernel", "unknown", "no code"];
const GROUP_COLOURS = ["own", "library", "kernel", "unknown", "note"];
const HELP = [
	["Views", [["1, 2, \u2026", "the views, from left to right"],
		["c", "callers or callees"], ["m, M", "my code only; choose its objects"], ["e", "next event"], ["t", "next thread"]]],
	["Function", [["Enter, click", "zoom (flame graph); open or close (call tree); callers and callees (functions)"],
		["b", "callers and callees of the function"], ["f", "only stacks through the function"],
		["s", "source of the function, if the page has it"],
		["Delete, Alt+click", "drop stacks through the function"], ["arrows", "move"]]],
	["Search", [["/", "search names by a regular expression"],
		["Enter, Shift+Enter", "next or previous match"]]],
	["Time", [["drag", "select a range"], ["click on a thread", "only this thread"],
		["arrows on the strip", "move the range; with Shift widen it; Enter begins one"]]],
	["Other", [["z, Backspace", "undo"], ["Escape", "leave the last filter"], ["?", "this help"]]],
];

const INLINED = 4, INLINED_MIX = 0.42; // shade of inlined functions
const PRINTED = 40; // functions in print

const $ = (id) => document.getElementById(id);

// State that the URL's hash keeps. Functions are names, because their numbers differ between recordings.
const initial = {event: 0, view: "flame", from: null, to: null, thread: -1, search: "", only: false, hide: false,
	mine: false, objects: [], callers: false, zoom: [], focus: "", drop: [], wings: "", source: "",
	sort: "self", heat: false, lanes: false};

let state = {...initial};
let history = [], lastKind = "", hashTimer = 0;
let profile, groups, flames = [], list, strip, lanesOf = [];
let derived = {}; // results of the state: see derive()
let opened = new Set(); // opened nodes of the call tree

const functionName = (fn) => profile.strings[profile.functions.name[fn]];
const functionDso = (fn) => profile.strings[profile.functions.dso[fn]];
const currentEvent = () => profile.events[state.event];

// Colours of canvases, from the style sheet.
const look = {
	name: (fn) => fn < 0 ? "all" : functionName(fn),
	colour(fn, inlined) {
		const base = derived.matches && derived.matches[fn] ? this.match : this.groups[groups[fn]];
		return this.shades[base][inlined ? INLINED : profile.functions.name[fn] * 7 % INLINED];
	},
	share: (weight) => weight / (derived.weight || 1),
	whole: () => samplesText(derived.samples),
	read() {
		const style = getComputedStyle(document.documentElement);
		const get = (name) => style.getPropertyValue(`--${name}`).trim();
		this.groups = GROUP_COLOURS.map(get);
		this.match = get("match");
		this.shades = {};
		for (const colour of [...this.groups, this.match])
			this.shades[colour] = [0, 0.07, 0.14, -0.05, INLINED_MIX].map((part) => mix(colour, part));
		for (const name of ["accent", "soft", "ink", "warn", "line"])
			this[name] = get(name);
		this.root = get("note");
		this.boxInk = get("box-ink");
		this.lane = get("lane");
		this.heat = get("accent");
		this.veil = document.documentElement.classList.contains("dark") ? "rgb(0 0 0 / 0.55)"
			: "rgb(255 255 255 / 0.72)";
	},
};

// Mixes a colour (#rrggbb) with white, or with black if `part` is negative.
function mix(colour, part) {
	const to = part < 0 ? 0 : 255;
	const values = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
	return `#${values.map((value) => Math.round(value + (to - value) * Math.abs(part)).toString(16)
		.padStart(2, "0")).join("")}`;
}

const samplesText = (count) => `${grouped(count)} ${count === 1 ? "sample" : "samples"}`;

function weightText(event, weight) {
	if (event.unit === "ns")
		return formatSeconds(weight / 1e9);
	return `${grouped(Math.round(weight))}${event.unit ? ` ${event.unit}` : ""}`;
}

// Returns the functions of that name as flags.
function namedFunctions(name) {
	return Uint8Array.from(profile.functions.name, (index) => profile.strings[index] === name ? 1 : 0);
}

// Returns by function whether "my code only" hides it. The user's choice of objects reverses the default.
function notMine() {
	const chosen = new Set(state.objects);
	const reversed = profile.strings.map((name) => chosen.has(name));
	const {dso} = profile.functions;
	const isOther = (group, fn) => group === LIBRARY || group === KERNEL || !dso[fn];
	return Uint8Array.from(groups, (group, fn) =>
		group !== NOTE && isOther(group, fn) !== reversed[dso[fn]] ? 1 : 0);
}

// Computes the selection's trees from the state. Unchanged parts are kept.
function derive() {
	const event = currentEvent(), last = derived;
	const key = JSON.stringify([state.event, state.from, state.to, state.thread, state.search, state.only, state.hide,
		state.mine, state.objects, state.focus, state.drop]);
	if (last.key === key)
		return;
	derived = {key, matches: state.search ? matchFunctions(profile, state.search) : null};
	let keep = state.only ? derived.matches : null, drop = null, hidden = null;
	if (state.drop.length) {
		const names = new Set(state.drop);
		drop = Uint8Array.from(profile.functions.name, (index) => names.has(profile.strings[index]) ? 1 : 0);
	}
	if (state.mine)
		hidden = notMine();
	if (state.hide && derived.matches)
		hidden = derived.matches.map((match, fn) => match || (hidden && hidden[fn]) ? 1 : 0);
	let own = ownOf(event, event.cell ? state.from : null, state.to, event.cell ? state.thread : -1);
	if (state.focus)
		own = filterStacks(event, own, namedFunctions(state.focus), null);
	own = filterStacks(event, own, keep, drop);
	derived.tree = calleesTree(event, own, hidden);
	derived.isWhole = own.samples === event.node.samples && !hidden;
	derived.samples = derived.tree.samples[0];
	derived.weight = derived.tree.weight[0];
	derived.whole = profile.relative ? event.shownWeight : event.weight;
	if (derived.matches)
		derived.found = weightOf(derived.tree, derived.matches);
	opened = new Set();
}

function shownTree() {
	if (!state.callers)
		return derived.tree;
	return derived.inverted = derived.inverted || callersTree(derived.tree);
}

function functionTable() {
	if (!derived.rows)
		derived.rows = derived.isWhole ? analysedRows(currentEvent(), derived.whole)
			: functionRows(derived.tree, profile.functionCount, derived.whole)
				.filter((row) => groups[row.fn] !== NOTE);
	return derived.rows;
}

// Returns the node that a path of names leads to, or its last ancestor that exists.
function nodeOfPath(tree, names) {
	let node = 0;
	for (const name of names) {
		const next = tree.childrenOf(node).find((child) => functionName(tree.fn[child]) === name);
		if (next === undefined)
			break;
		node = next;
	}
	return node;
}

function pathOfNode(tree, node) {
	const names = [];
	for (; node; node = tree.parent[node])
		names.push(functionName(tree.fn[node]));
	return names.reverse();
}

// Changes the state as a user's action, which undo takes back. Changes of one `kind` in a row are one action.
function change(parts, kind = "") {
	const event = parts.event !== undefined && parts.event !== state.event;
	if (!kind || kind !== lastKind)
		history.push(state);
	lastKind = kind;
	if (history.length > 200)
		history.shift();
	state = {...state, ...parts};
	if (event)
		state = {...state, from: null, to: null, thread: -1, zoom: []};
	state = validState(state);
	update();
}

function undo() {
	if (!history.length)
		return;
	state = history.pop();
	lastKind = "";
	update();
}

// Leaves the innermost filter.
function leave() {
	const steps = [["wings", ""], ["zoom", []], ["focus", ""], ["drop", []], ["only", false], ["hide", false],
		["search", ""], ["mine", false], ["thread", -1]];
	if (state.from !== null) {
		change({from: null, to: null});
		return;
	}
	for (const [name, value] of steps)
		if (JSON.stringify(state[name]) !== JSON.stringify(value)) {
			change({[name]: value});
			return;
		}
}

// Writes the hash a moment later: browsers take some milliseconds for it, and limit how often it changes.
function writeHash() {
	clearTimeout(hashTimer);
	hashTimer = setTimeout(() => {
		const parts = new URLSearchParams();
		for (const [name, value] of Object.entries(state))
			if (JSON.stringify(value) !== JSON.stringify(initial[name]))
				parts.set(name, typeof value === "string" ? value : JSON.stringify(value));
		const hash = parts.toString();
		if (location.hash.slice(1) !== hash)
			window.history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
	}, 25);
}

// Returns whether a value of the state has the right type.
function isValid(name, value) {
	if (name === "from" || name === "to")
		return value === null || (Number.isInteger(value) && value >= 0);
	if (Array.isArray(initial[name]))
		return Array.isArray(value) && value.every((text) => typeof text === "string");
	return typeof value === typeof initial[name];
}

// Replaces values that this recording does not have.
function validState(read) {
	const event = profile.events[read.event] || profile.events[0];
	if (!profile.events[read.event])
		read.event = 0;
	if (!VIEWS.includes(read.view))
		read.view = "flame";
	if (read.from === null || read.to === null || read.from > read.to || !event || read.to >= event.bins)
		read.from = read.to = null;
	if (!profile.threads[read.thread])
		read.thread = -1;
	return read;
}

function readHash() {
	const read = {...initial};
	for (const [name, text] of new URLSearchParams(location.hash.slice(1))) {
		if (!Object.hasOwn(initial, name))
			continue;
		let value = text;
		try {
			if (typeof initial[name] !== "string")
				value = JSON.parse(text);
		} catch {
			continue;
		}
		if (isValid(name, value))
			read[name] = value;
	}
	state = validState(read);
}

function update() {
	if (!profile.events.length) {
		$("panel").replaceChildren(element("p", "empty", "This recording has no events."));
		return;
	}
	derive();
	showHeader();
	showTools();
	showStrip();
	showView();
	writeHash();
}

function showHeader() {
	const event = currentEvent();
	const facts = [];
	if (profile.command)
		facts.push(profile.command);
	facts.push(samplesText(event.samples));
	if (event.unit)
		facts.push(weightText(event, event.weight) + (/^(cpu|task)-clock/.test(event.name) ? " of CPU time" : ""));
	else if (event.weight && event.weight !== event.samples)
		facts.push(`${grouped(event.weight)} ${event.name}`);
	if (event.lostOwn)
		facts.push(event.lostOwn === event.lost ? `${grouped(event.lost)} lost`
			: `up to ${grouped(event.lost)} lost, about ${grouped(event.lostOwn)} of them of this program`);
	if (profile.filtered)
		facts.push(`${grouped(event.shownSamples)} pass the report's filters`);
	$("facts").textContent = facts.join(" \u00b7 ");
	$("facts").title = facts.join("\n");
	$("event").value = String(state.event);
	$("thread").value = String(state.thread);
}

function press(id, on) {
	$(id).setAttribute("aria-pressed", on ? "true" : "false");
}

function showTools() {
	for (const view of VIEWS) {
		const tab = $(`tab-${view}`), chosen = view === state.view;
		tab.setAttribute("aria-selected", chosen ? "true" : "false");
		tab.tabIndex = chosen ? 0 : -1;
	}
	const data = ["flame", "functions", "tree"].includes(state.view);
	$("filters").hidden = !data;
	$("callers").hidden = state.view === "functions";
	press("callers", state.callers);
	press("mine", state.mine);
	press("only", state.only);
	press("hide", state.hide);
	if (document.activeElement !== $("search"))
		$("search").value = state.search;
	$("only").hidden = $("hide").hidden = !state.search;
	$("found").textContent = !derived.matches ? "" : state.hide ? ""
		: percentText(derived.found.weight / (derived.weight || 1));
	showTrail();
}

// Shows the active filters as buttons that remove them.
function showTrail() {
	const event = currentEvent(), buttons = [];
	const add = (text, title, parts) => {
		const button = element("button", "", `${text} \u00d7`);
		button.title = title;
		button.addEventListener("click", () => change(parts));
		buttons.push(button);
	};
	if (state.wings)
		add(`callers and callees of ${state.wings}`, "Show all functions", {wings: ""});
	if (state.zoom.length && state.view === "flame" && !state.wings)
		add(`zoom: ${state.zoom[state.zoom.length - 1]}`, "Show the whole graph", {zoom: []});
	if (state.focus)
		add(`only stacks through ${state.focus}`, "Show all stacks", {focus: ""});
	for (const name of state.drop)
		add(`without ${name}`, "Show these stacks again", {drop: state.drop.filter((other) => other !== name)});
	if (state.thread >= 0)
		add(`thread ${threadName(profile, state.thread)}`, "Show all threads", {thread: -1});
	if (state.from !== null)
		add(`${rangeSeconds(event)}`, "Show all times", {from: null, to: null});
	if (derived.samples !== currentEvent().shownSamples) {
		const share = percentText(derived.weight / (derived.whole || 1));
		buttons.unshift(element("span", "", `${grouped(derived.samples)} samples, ${share} of all`));
	}
	$("trail").replaceChildren(...buttons);
}

function rangeSeconds(event) {
	const seconds = (bin) => formatSeconds(bin * event.binNs / 1e9);
	return `${seconds(state.from)} to ${seconds(state.to + 1)}`;
}

function showStrip() {
	const event = currentEvent(), shown = event.cell && event.durationNs > 0 && event.cells > 0;
	$("times").hidden = event.cell ? !shown : !event.durationNs;
	if (!event.cell)
		strip.reserve(profile.threads.length);
	if (!shown)
		return;
	lanesOf[state.event] = lanesOf[state.event] || makeLanes(profile, event);
	strip.heat = state.heat;
	strip.all = state.lanes;
	strip.thread = state.thread;
	strip.show(event, lanesOf[state.event].lanes, state.from === null ? null : [state.from, state.to]);
	press("strip-lines", !state.heat);
	press("strip-heat", state.heat);
	$("strip-lines").textContent = lanesOf[state.event].lanes.length > 1 ? "Threads" : "Curve";
	const lanes = lanesOf[state.event].lanes.length - 1;
	$("strip-more").hidden = state.heat || lanes <= FEW_LANES;
	$("strip-more").textContent = state.lanes ? "Fewer threads" : `${lanes} threads`;
	press("strip-more", state.lanes);
	$("range-clear").hidden = state.from === null;
	showRange(null);
	$("strip").setAttribute("aria-valuemax", event.bins - 1);
	$("strip").setAttribute("aria-valuenow", state.from || 0);
	$("strip").setAttribute("aria-valuetext", state.from === null ? "all times" : rangeSeconds(event));
}

// Shows the selected range, or the time at the pointer.
function showRange(bin) {
	const event = currentEvent(), {lanes} = lanesOf[state.event];
	if (bin !== null)
		$("range-text").textContent = `${formatSeconds(bin * event.binNs / 1e9)}: ` +
			`${weightText(event, lanes[0].weight[bin])} in ${formatSeconds(event.binNs / 1e9)}`;
	else
		$("range-text").textContent = state.from === null ? "Drag to select a range." : rangeSeconds(event);
}

let shownView = "";

function showView() {
	const panel = $("panel"), wings = state.view === "flame" && state.wings;
	const kind = wings ? "wings" : state.view;
	panel.setAttribute("aria-labelledby", `tab-${state.view}`);
	if (kind !== shownView) {
		panel.replaceChildren();
		flames = [];
		list = null;
		shownView = kind;
	}
	$("legend").hidden = state.view !== "flame";
	hideTip();
	say("");
	const show = {flame: showFlame, wings: showWings, functions: showFunctions, tree: showTree, limits: showLimits,
		about: showAbout, source: showSource};
	if (!derived.weight && ["flame", "functions", "tree", "wings"].includes(kind)) {
		const event = currentEvent();
		panel.replaceChildren(element("p", "empty", event.samples && !(state.from !== null || state.search)
			? "No samples pass the filters." : event.samples ? "No samples are selected."
			: `The event ${event.name} has no samples.`));
		shownView = "";
		return;
	}
	show[kind](panel);
}

const flameActions = {
	hover(flame, node, event) {
		const tree = flame.tree;
		showTip(tree, node, flame.zoom, event.clientX, event.clientY);
	},
	leave: hideTip,
	cursor(flame, node) {
		say(describe(flame.tree, node, flame.zoom));
	},
	zoom(flame, node) {
		if (state.wings)
			change({wings: node ? functionName(flame.tree.fn[node]) : ""});
		else
			change({zoom: pathOfNode(flame.tree, node)});
	},
	drop(flame, node) {
		if (node)
			dropFunction(functionName(flame.tree.fn[node]));
	},
};

function dropFunction(name) {
	if (!state.drop.includes(name))
		change({drop: [...state.drop, name], zoom: []});
}

function showFlame(panel) {
	if (!flames.length) {
		const host = element("div", "flame");
		panel.append(host);
		flames = [new Flame(host, look, flameActions)];
	}
	const tree = shownTree();
	flames[0].show(tree, nodeOfPath(tree, state.zoom));
	if (state.zoom.length)
		say(describe(tree, flames[0].zoom, flames[0].zoom));
}

function showWings(panel) {
	if (!flames.length) {
		const host = element("div", "flame");
		flames = ["Callers", "Callees"].map((title) => {
			const half = element("div", "half");
			half.append(element("h3", "", title));
			host.append(half);
			return [half, title];
		});
		panel.append(host);
		flames = flames.map(([half]) => new Flame(half, look, flameActions));
	}
	const fn = functionOfName(state.wings);
	const trees = butterfly(derived.tree, fn, profile.functionCount);
	flames[0].show(trees.callers, trees.callers.childrenOf(0)[0] || 0, true, 1);
	flames[1].show(trees.callees, trees.callees.childrenOf(0)[0] || 0, false, 1);
}

// Returns the function of that name with most weight in the tree; -1: there is none.
function functionOfName(name) {
	const flags = namedFunctions(name), tree = derived.tree;
	let best = -1, most = -1;
	const sums = new Map();
	for (let i = 1; i < tree.count; i++)
		if (flags[tree.fn[i]])
			sums.set(tree.fn[i], (sums.get(tree.fn[i]) || 0) + tree.weight[i]);
	for (const [fn, sum] of sums)
		if (sum > most)
			[best, most] = [fn, sum];
	return best;
}

const COLUMNS = [["self", "Self", "number"], ["", "95% interval", "range wide"], ["total", "Total", "number"],
	["", "95% interval", "range wide"], ["samples", "Samples", "number wide"]];

function showFunctions(panel) {
	const chosen = !derived.isWhole;
	const order = {self: (a, b) => b.selfWeight - a.selfWeight, total: (a, b) => b.totalWeight - a.totalWeight,
		samples: (a, b) => b.selfSamples - a.selfSamples,
		name: (a, b) => functionName(a.fn) < functionName(b.fn) ? -1 : 1,
		dso: (a, b) => functionDso(a.fn) < functionDso(b.fn) ? -1 : 1};
	const rows = [...functionTable()].filter((row) => !derived.matches || state.hide || !state.search ||
		derived.matches[row.fn]).sort(order[state.sort] || order.self);
	derived.shownRows = rows;
	derived.mostSelf = rows.reduce((most, row) => Math.max(most, row.selfHigh), 0);
	derived.mostTotal = rows.reduce((most, row) => Math.max(most, row.totalHigh), 0);
	if (!list) {
		list = new List(panel, "grid", "Functions", {
			head: () => headOf([...COLUMNS, ...(derived.isWhole ? [] : [["", "Self of all", "number wide"]]),
				["name", "Function", ""], ["dso", "Program or library", "dso wide"]], state.sort,
			(key) => change({sort: key})),
			fill: (i) => functionRow(derived.shownRows[i]),
			key: (key, i) => functionKey(key, derived.shownRows[i].fn) ||
				(key === "Enter" && openWings(derived.shownRows[i].fn)),
		});
	}
	list.grid.classList.toggle("chosen", chosen);
	list.show(rows.length);
}

function openWings(fn) {
	change({view: "flame", wings: functionName(fn)});
	return true;
}

function nameCell(fn, inlined) {
	const cell = cellOf(derived.matches && derived.matches[fn] ? "match" : "");
	const swatch = element("span", "swatch");
	swatch.style.background = look.groups[groups[fn]];
	cell.append(swatch, functionName(fn), inlined ? " (inlined)" : "");
	cell.title = `${functionName(fn)}\n${profile.strings[profile.functions.path[fn]]}`;
	return cell;
}

function functionRow(row) {
	const made = element("div", "row body");
	made.setAttribute("role", "row");
	made.append(shareCell(row.self, row.selfLow, row.selfHigh, derived.mostSelf),
		cellOf("range wide", rangeText(row.selfLow, row.selfHigh)),
		shareCell(row.total, row.totalLow, row.totalHigh, derived.mostTotal),
		cellOf("range wide", rangeText(row.totalLow, row.totalHigh)),
		cellOf("number wide", grouped(row.selfSamples)));
	if (!derived.isWhole)
		made.append(cellOf("number wide", percentText(row.ofAll)));
	made.append(nameCell(row.fn, row.inlined), cellOf("dso wide", functionDso(row.fn)));
	made.addEventListener("click", () => {
		list.grid.focus();
		list.draw();
	});
	made.addEventListener("dblclick", () => openWings(row.fn));
	return made;
}

// Lists the call tree's rows that opened nodes show.
function treeRows(tree) {
	const rows = [], stack = Array.from(tree.childrenOf(0)).reverse();
	while (stack.length) {
		const node = stack.pop();
		rows.push(node);
		if (!opened.has(node))
			continue;
		const begin = tree.first[node];
		for (let at = tree.first[node + 1]; at-- > begin;)
			stack.push(tree.list[at]);
	}
	return rows;
}

// Opens a node, and the nodes below it as long as there is one child with most of the weight.
function openNode(tree, node) {
	for (let i = 0; i < 64; i++) {
		opened.add(node);
		const [child] = tree.childrenOf(node);
		if (child === undefined || tree.weight[child] < 0.9 * tree.weight[node])
			return;
		node = child;
	}
}

function showTree(panel) {
	const tree = shownTree();
	if (derived.openTree !== tree) {
		derived.openTree = tree;
		opened = new Set();
		const [first] = tree.childrenOf(0);
		if (first !== undefined)
			openNode(tree, first);
	}
	derived.treeRows = treeRows(tree);
	if (!list) {
		list = new List(panel, "treegrid", "Call tree", {
			head: () => headOf([["", "Total", "number"], ["", "95% interval", "range wide"], ["", "Self", "number"],
				["", "95% interval", "range wide"], ["", "Samples", "number wide"], ["", "Function", ""],
				["", "Program or library", "dso wide"]]),
			fill: (i) => treeRow(shownTree(), derived.treeRows[i]),
			key: (key, i) => treeKey(key, i),
		});
	}
	list.show(derived.treeRows.length);
}

function treeRow(tree, node) {
	const weight = derived.weight || 1, samples = derived.samples, fn = tree.fn[node];
	const total = tree.weight[node] / weight, self = tree.ownWeight[node] / weight;
	const totals = interval(total, samples), selfs = interval(self, samples);
	const row = element("div", "row body"), name = nameCell(fn, tree.inlined[node]);
	const children = tree.first[node + 1] - tree.first[node];
	row.setAttribute("role", "row");
	row.setAttribute("aria-level", tree.depth[node]);
	if (children)
		row.setAttribute("aria-expanded", opened.has(node) ? "true" : "false");
	const mark = element("span", "indent", !children ? "" : opened.has(node) ? "\u25be" : "\u25b8");
	mark.style.marginLeft = `${Math.min(40, tree.depth[node] - 1) * 12}px`;
	name.prepend(mark);
	row.append(shareCell(total, totals[0], totals[1]), cellOf("range wide", rangeText(...totals)),
		shareCell(self, selfs[0], selfs[1]), cellOf("range wide", rangeText(...selfs)),
		cellOf("number wide", grouped(tree.samples[node])), name,
		cellOf("dso wide", functionDso(fn)));
	row.addEventListener("click", () => {
		list.grid.focus();
		toggleNode(tree, node);
	});
	return row;
}

function toggleNode(tree, node) {
	if (opened.has(node))
		opened.delete(node);
	else
		openNode(tree, node);
	showTree($("panel"));
}

function treeKey(key, index) {
	const tree = shownTree(), node = derived.treeRows[index];
	if (key === "Enter" || key === " ")
		toggleNode(tree, node);
	else if (key === "ArrowRight" && !opened.has(node))
		toggleNode(tree, node);
	else if (key === "ArrowRight")
		list.go(index + 1);
	else if (key === "ArrowLeft" && opened.has(node))
		toggleNode(tree, node);
	else if (key === "ArrowLeft" && tree.parent[node])
		list.go(derived.treeRows.indexOf(tree.parent[node]));
	else
		return functionKey(key, tree.fn[node]);
	return true;
}

// Keys for the function at the cursor. Returns whether the key is one of them.
function functionKey(key, fn) {
	const name = functionName(fn);
	if (key === "b")
		openWings(fn);
	else if (key === "s" && listing)
		change({view: "source", source: name});
	else if (key === "f")
		change({focus: name, zoom: []});
	else if (key === "Delete")
		dropFunction(name);
	else
		return false;
	return true;
}

function findingItem(finding) {
	const item = element("li");
	item.append(finding.text);
	if (finding.remedy)
		item.append(element("br"), element("span", "remedy", `\u2192 ${finding.remedy}`));
	return item;
}

function showLimits(panel) {
	const text = element("div", "text"), scroll = element("div", "scroll"), found = element("ul");
	const event = currentEvent();
	found.append(...profile.findings.map(findingItem));
	text.append(element("h2", "", "What limits these data"));
	text.append(profile.findings.length ? found : element("p", "", "Nothing is known to limit these data."));
	const facts = [["Samples", event.samples], ["Lost samples", event.lostOwn], ["Times throttled", event.throttledCount]];
	const names = {complete: "Complete stacks", truncated: "Truncated stacks",
		no_unwind_info: "Stacks that end where unwind information is missing",
		bad_memory: "Stacks that end at unreadable memory", depth_limit: "Stacks at the depth limit",
		skipped: "Stacks without their user part, which the recorder skipped",
		switched: "Stacks that end at a switch of stacks", deferred: "Stacks whose user part is missing",
		invalid_address: "Stacks that end at an address without code", none: "Samples without a stack"};
	for (const [name, count] of Object.entries(event.stacks))
		facts.push([names[name] || name, count]);
	text.append(element("h2", "", `Counts of ${event.name}`),
		factList(facts.filter(([name, count], i) => i < 2 || count)
			.map(([name, count]) => [name, grouped(count)])));
	scroll.append(text);
	scroll.tabIndex = 0;
	panel.replaceChildren(scroll);
}

function factList(facts) {
	const dl = element("dl");
	for (const [name, value] of facts)
		dl.append(element("dt", "", name), element("dd", "", value));
	return dl;
}

function showAbout(panel) {
	const text = element("div", "text"), scroll = element("div", "scroll"), event = currentEvent();
	const facts = [["Recording", profile.recording]];
	if (profile.recordings > 1)
		facts.push(["", `and ${profile.recordings - 1} more`]);
	if (profile.command)
		facts.push(["Command", profile.command]);
	facts.push(...profile.about, ["Report by", `sprof ${profile.sprof}`]);
	text.append(element("h2", "", "Recording"), factList(facts));
	const limits = [...profile.merged];
	if (event.durationNs)
		limits.unshift(`Times are in steps of ${formatSeconds(event.binNs / 1e9)}, from ${event.begin} s of ` +
			"the recording's clock.");
	const items = element("ul");
	items.append(...limits.map((limit) => element("li", "", limit)));
	text.append(element("h2", "", "Resolution"), items, element("h2", "", "How to read it"),
		element("p", "", "Self is the time of a function's own code; total includes its callees. " +
			"An interval contains the true share in 95 of 100 recordings."));
	if (listing) {
		const files = element("ul"), read = listing.files.filter((file) => file.parts.length);
		files.append(...read.map((file) => element("li", "", file.path)));
		text.append(element("h2", "", "Source files in this page"), read.length ? files : element("p", "", "none"));
	}
	scroll.append(text);
	scroll.tabIndex = 0;
	panel.replaceChildren(scroll);
}

function describe(tree, node, zoom) {
	const event = currentEvent(), weight = tree.weight[node];
	const [low, high] = interval(weight / (derived.weight || 1), derived.samples);
	const parts = [node ? functionName(tree.fn[node]) : "all"];
	if (node && functionDso(tree.fn[node]))
		parts.push(functionDso(tree.fn[node]));
	if (node && tree.inlined[node])
		parts.push("inlined");
	parts.push(`total ${percentText(weight / (derived.weight || 1))} (${rangeText(low, high)})`,
		`self ${percentText(tree.ownWeight[node] / (derived.weight || 1))}`);
	if (zoom)
		parts.push(`${percentText(weight / tree.weight[zoom])} of the zoomed part`);
	if (!derived.isWhole)
		parts.push(`${percentText(weight / (derived.whole || 1))} of all`);
	parts.push(weightText(event, weight), `${grouped(tree.samples[node])} samples`);
	return parts.join(" \u00b7 ");
}

function say(text) {
	$("status").textContent = text;
}

function showTip(tree, node, zoom, x, y) {
	const tip = $("tip"), parts = describe(tree, node, zoom).split(" \u00b7 ");
	tip.replaceChildren(element("strong", "", node ? functionName(tree.fn[node]) : "all"));
	tip.append(element("small", "", parts.slice(1).join(" \u00b7 ")));
	tip.hidden = false;
	const width = tip.offsetWidth, height = tip.offsetHeight;
	tip.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - width - 8))}px`;
	tip.style.top = `${y + 20 + height > window.innerHeight ? y - height - 12 : y + 20}px`;
}

function hideTip() {
	$("tip").hidden = true;
}

function showFindings() {
	const shown = profile.findings.filter((finding) => finding.kind !== "recorder").slice(0, 2);
	const rest = profile.findings.length - shown.length;
	$("findings").replaceChildren(...shown.map((finding, i) => {
		const line = element("p", "", finding.text);
		line.title = finding.text;
		if (i === shown.length - 1 && rest) {
			const more = element("button", "link", `${rest} more`);
			more.addEventListener("click", () => change({view: "limits"}));
			line.append(" ", more);
		}
		return line;
	}));
}

function showLegend() {
	const present = new Set(groups);
	$("legend").replaceChildren(...GROUP_NAMES.map((name, i) => {
		const item = element("span", "", name), swatch = element("span", "swatch");
		swatch.style.background = look.groups[i];
		item.prepend(swatch);
		item.hidden = !present.has(i);
		return item;
	}));
	if (profile.events.some((event) => event.node.inlined.includes(1))) {
		const item = element("span", "", "inlined"), swatch = element("span", "swatch");
		item.className = "inlined";
		swatch.style.background = look.shades[look.groups[OWN]][INLINED];
		item.prepend(swatch);
		$("legend").append(item);
	}
}

// Returns the objects (programs and libraries) with their own weight, the heaviest first.
function objectRows() {
	const own = new Map(), hidden = notMine(), {fn, weight} = currentEvent().node;
	for (let i = 1; i < fn.length; i++) {
		const dso = profile.functions.dso[fn[i]], row = own.get(dso);
		if (groups[fn[i]] === NOTE)
			continue;
		if (row)
			row.weight += weight[i];
		else
			own.set(dso, {dso, weight: weight[i], hidden: hidden[fn[i]]});
	}
	return [...own.values()].sort((a, b) => b.weight - a.weight);
}

// Lets the user choose the objects of "my code".
function showObjects() {
	const dialog = $("objects"), title = element("h2", "", "My code"), close = element("button", "", "Close");
	const reset = element("button", "", "Default"), list = element("div", "objects"), bar = element("div", "controls");
	title.id = "objects-title";
	for (const row of objectRows().slice(0, 300)) {
		const label = element("label"), box = element("input"), name = profile.strings[row.dso];
		box.type = "checkbox";
		box.checked = !row.hidden;
		box.addEventListener("change", () => {
			const others = state.objects.filter((other) => other !== name);
			change({mine: true, zoom: [], objects: others.length < state.objects.length ? others : [...others, name]},
				"objects");
		});
		label.append(box, element("span", "", name || "(unknown)"),
			element("span", "number", percentText(row.weight / (currentEvent().weight || 1))));
		list.append(label);
	}
	close.addEventListener("click", () => dialog.close());
	reset.addEventListener("click", () => {
		change({mine: true, objects: [], zoom: []});
		dialog.close();
	});
	bar.append(reset, close);
	dialog.replaceChildren(title, element("p", "", "Frames of the other objects are hidden; their callers " +
		"get the weight."), list, bar);
	if (!dialog.open)
		dialog.showModal();
}

function showHelp() {
	const help = $("help"), close = element("button", "", "Close");
	const title = element("h2", "", "Keys and mouse");
	title.id = "help-title";
	close.addEventListener("click", () => help.close());
	const groups = element("div", "groups");
	for (const [name, keys] of HELP) {
		const group = element("section"), table = element("table");
		for (const [key, text] of keys) {
			const row = element("tr"), cell = element("td");
			key.split(", ").forEach((one) => cell.append(element("kbd", "", one), " "));
			row.append(cell, element("td", "", text));
			table.append(row);
		}
		group.append(element("h3", "", name), table);
		groups.append(group);
	}
	help.replaceChildren(title, groups, close);
	help.showModal();
}

function setTheme(dark) {
	document.documentElement.classList.toggle("dark", dark);
	look.read();
	$("theme").textContent = dark ? "Light" : "Dark";
	if (profile && profile.events.length) {
		showLegend();
		shownView = "";
		update();
	}
}

// Fills the printed table: lists on the screen have only the rows that are visible.
function showPrint() {
	const table = element("table"), event = currentEvent();
	const row = (cells, kind) => {
		const made = element("tr");
		made.append(...cells.map((text, i) => element(kind, i < 3 ? "number" : "", text)));
		return made;
	};
	table.append(row(["Self", "95% interval", "Total", "Function", "Program or library"], "th"));
	for (const one of functionTable().slice(0, PRINTED))
		table.append(row([percentText(one.self), rangeText(one.selfLow, one.selfHigh), percentText(one.total),
			functionName(one.fn) + (one.inlined ? " (inlined)" : ""), functionDso(one.fn)], "td"));
	const list = element("ul");
	list.append(...profile.findings.map(findingItem));
	$("print").replaceChildren(element("p", "", [event.name, `${grouped(derived.samples)} samples`,
		state.from === null ? "all times" : rangeSeconds(event)].join(" \u00b7 ")), table, list);
}

// Goes to the next or previous match in the shown view.
function step(direction) {
	if (!derived.matches)
		return;
	if (list && state.view === "functions") {
		list.go(list.current + direction);
		return;
	}
	if (!flames.length)
		return;
	const flame = flames[0], tree = flame.tree, nodes = [];
	for (const row of tree.rows())
		for (const node of row)
			if (node && derived.matches[tree.fn[node]] && flame.isShown(node))
				nodes.push(node);
	if (!nodes.length)
		return;
	const at = nodes.indexOf(flame.cursor);
	const next = nodes[(at + direction + nodes.length) % nodes.length];
	flame.cursor = next;
	flame.reveal(next);
	flame.draw();
	say(describe(tree, next, flame.zoom));
}

function nextThread() {
	const busiest = lanesOf[state.event] ? lanesOf[state.event].busiest : [];
	change({thread: busiest[busiest.indexOf(state.thread) + 1] ?? -1});
}

function keyPressed(event) {
	const field = event.target.closest("input, select, dialog");
	if (event.ctrlKey || event.metaKey || (event.altKey && event.key !== "Delete"))
		return;
	if (field) {
		if (event.target === $("search") && event.key === "Enter")
			step(event.shiftKey ? -1 : 1);
		else if (event.target === $("search") && event.key === "Escape")
			$("panel").focus();
		else
			return;
		event.preventDefault();
		return;
	}
	const flame = flames.find((one) => one.scroll === document.activeElement) || flames[0];
	const simple = {z: undo, Backspace: undo, Escape: leave, "?": showHelp,
		"/": () => $("search").focus(), c: () => change({callers: !state.callers, zoom: []}),
		m: () => change({mine: !state.mine, zoom: []}), M: showObjects, t: nextThread,
		e: () => change({event: (state.event + 1) % profile.events.length}),
		n: () => step(1), N: () => step(-1)};
	if (simple[event.key]) {
		simple[event.key]();
	} else if (VIEWS[Number(event.key) - 1]) {
		change({view: VIEWS[Number(event.key) - 1]});
		$(`tab-${state.view}`).focus();
	} else if (flame && event.target.closest("button") === null) {
		const node = flame.cursor;
		if (event.key === "Enter")
			flameActions.zoom(flame, node);
		else if (!flame.move(event.key) && !(node && functionKey(event.key, flame.tree.fn[node])))
			return;
	} else {
		return;
	}
	event.preventDefault();
}

function fillChoices() {
	$("event").replaceChildren(...profile.events.map((event, i) => {
		const option = element("option", "", event.name);
		option.value = String(i);
		return option;
	}));
	$("event-label").hidden = profile.events.length < 2;
	$("thread-label").hidden = profile.threads.length < 2;
}

// Lists the busiest threads first; thousands would be too many for a list.
function fillThreads() {
	const {busiest} = lanesOf[state.event];
	const options = [-1, ...busiest.slice(0, 500)].map((thread) => {
		const option = element("option", "", thread < 0 ? "all" : threadName(profile, thread));
		option.value = String(thread);
		return option;
	});
	$("thread").replaceChildren(...options);
	$("thread").value = String(state.thread);
}

function connect() {
	for (const view of VIEWS)
		$(`tab-${view}`).addEventListener("click", () => change({view}));
	document.querySelector(".tabs").addEventListener("keydown", (event) => {
		const move = {ArrowLeft: VIEWS.length - 1, ArrowRight: 1}[event.key];
		if (!move)
			return;
		event.stopPropagation();
		change({view: VIEWS[(VIEWS.indexOf(state.view) + move) % VIEWS.length]});
		$(`tab-${state.view}`).focus();
	});
	$("event").addEventListener("change", () => change({event: Number($("event").value)}));
	$("thread").addEventListener("change", () => change({thread: Number($("thread").value)}));
	$("callers").addEventListener("click", () => change({callers: !state.callers, zoom: []}));
	$("mine").addEventListener("click", () => change({mine: !state.mine, zoom: []}));
	$("mine-objects").addEventListener("click", showObjects);
	$("only").addEventListener("click", () => change({only: !state.only, hide: false, zoom: []}));
	$("hide").addEventListener("click", () => change({hide: !state.hide, only: false, zoom: []}));
	$("search").addEventListener("input", () => change($("search").value ? {search: $("search").value}
		: {search: "", only: false, hide: false}, "search"));
	$("strip-lines").addEventListener("click", () => change({heat: false}));
	$("strip-heat").addEventListener("click", () => change({heat: true}));
	$("strip-more").addEventListener("click", () => change({lanes: !state.lanes}));
	$("range-clear").addEventListener("click", () => change({from: null, to: null}));
	$("help-button").addEventListener("click", showHelp);
	$("theme").addEventListener("click", () => setTheme(!document.documentElement.classList.contains("dark")));
	document.addEventListener("keydown", keyPressed);
	window.addEventListener("hashchange", () => {
		readHash();
		update();
	});
	window.addEventListener("beforeprint", () => profile.events.length && showPrint());
	window.addEventListener("resize", () => {
		strip.resize();
		flames.forEach((flame) => flame.resize());
		if (list)
			list.draw();
	});
	window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches));
	strip = new Strip($("strip"), $("strip-canvas"), look, {
		preview: (range) => {
			const event = currentEvent(), seconds = (bin) => formatSeconds(bin * event.binNs / 1e9);
			$("range-text").textContent = `${seconds(range[0])} to ${seconds(range[1] + 1)}`;
		},
		select: (range, kind) => change(range ? {from: range[0], to: range[1]} : {from: null, to: null}, kind),
		hover: showRange,
		thread: (thread) => change({thread: thread === state.thread ? -1 : thread}),
	});
}

// Reads a block: gzip in base64.
async function readBlock(id) {
	const text = $(id).textContent;
	let bytes;
	if (Uint8Array.fromBase64) {
		bytes = Uint8Array.fromBase64(text);
	} else {
		const decoded = atob(text);
		bytes = new Uint8Array(decoded.length);
		for (let i = 0; i < decoded.length; i++)
			bytes[i] = decoded.charCodeAt(i);
	}
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

const drawn = () => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
const parsed = () => new Promise((resolve) => {
	if (document.readyState === "loading")
		document.addEventListener("DOMContentLoaded", resolve, {once: true});
	else
		resolve();
});

async function start() {
	const times = {};
	window.sprof.times = times;
	document.documentElement.classList.add("running");
	const dark = matchMedia("(prefers-color-scheme: dark)").matches;
	document.documentElement.classList.toggle("dark", dark);
	$("theme").textContent = dark ? "Light" : "Dark";
	profile = decodeTree(await readBlock("tree"));
	window.sprof.profile = profile;
	groups = groupFunctions(profile);
	const name = profile.recording.split("/").pop();
	document.title = `${name} \u2013 sprof`;
	$("title").textContent = name;
	look.read();
	connect();
	fillChoices();
	showFindings();
	showLegend();
	readHash();
	const wanted = state;
	// Ranges and threads need the cells, which are not read yet.
	state = {...state, from: null, to: null, thread: -1, view: state.view === "source" ? "flame" : state.view};
	update();
	times.first = performance.now();
	await drawn();
	await parsed();
	decodeCells(profile, await readBlock("cells"));
	if ($("source").textContent)
		listing = JSON.parse(new TextDecoder().decode(await readBlock("source")));
	else
		VIEWS.splice(VIEWS.indexOf("source"), 1);
	$("tab-source").hidden = !listing;
	state = validState(wanted);
	derived = {};
	history = [];
	update();
	if (profile.events.length && lanesOf[state.event])
		fillThreads();
	times.all = performance.now();
}

// Says why the page cannot be shown. Without the cells it has the sums of all times.
function showFailure() {
	const isDrawn = window.sprof.times.first !== undefined;
	$("start").textContent = !window.DecompressionStream
		? "This page needs a newer browser: Chromium 93, Firefox 113 or Safari 16.4."
		: isDrawn ? "This file is incomplete or damaged: selections by time and thread are missing."
			: "This file is incomplete or damaged: it cannot be shown.";
	document.documentElement.classList.add("failed");
	document.documentElement.classList.toggle("empty", !isDrawn);
}

// For tests: plain data only.
window.sprof = {
	state: () => ({...state}),
	set: (parts) => change(Object.fromEntries(Object.entries(parts).filter(([name, value]) =>
		Object.hasOwn(initial, name) && isValid(name, value)))),
	undo,
	summary: () => ({samples: derived.samples, weight: derived.weight}),
	functions: () => functionTable().map((row) => ({...row, name: functionName(row.fn), dso: functionDso(row.fn),
		inlined: Boolean(row.inlined)})),
	flame: () => flames.map((flame) => {
		const boxes = [], tree = flame.tree;
		flame.boxes((node, depth, left, width) => boxes.push({name: node ? functionName(tree.fn[node]) : "",
			path: pathOfNode(tree, node), depth, left: left / flame.width, width: width / flame.width,
			weight: tree.weight[node], samples: tree.samples[node]}));
		return boxes;
	})[0] || [],
};
window.sprof.ready = start();
window.sprof.ready.catch(showFailure);
