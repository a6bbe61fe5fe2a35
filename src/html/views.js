// SPDX-License-Identifier: GPL-2.0-or-later
// Views of the selected samples: flame graph, functions, call tree; and the keys in them.
"use strict";

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
	$("legend").hidden = state.view !== "flame" && !profile.comparison;
	hideTip();
	say("");
	const show = {flame: showFlame, wings: showWings, functions: profile.comparison ? showChanges : showFunctions,
		tree: showTree, limits: showLimits, about: showAbout, source: showSource, wakers: showWakers, sides: showSides};
	if (!derived.weight && ["flame", "functions", "tree", "wings", "wakers"].includes(kind)) {
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

const COLUMNS = [["self", "Self", "number"], ["", "95% interval", "range wide"], ["total", "Total", "number"],
	["", "95% interval", "range wide"], ["samples", "Samples", "number wide"]];

// Modes of time; waits are known for the whole recording only.
const TIME_COLUMNS = [["self", "Self", "number"], ["", "Time", "number wide"],
	["total", "Total", "number"], ["waits", "Waits", "number wide"],
	["longest", "Longest", "number wide"]];

// Returns the columns of the table for the mode.
function functionColumns() {
	if (profile.mode === "cpu")
		return COLUMNS;
	const waits = profile.mode === "wakers" ? "Wake-ups" : "Waits";
	return TIME_COLUMNS.map(([key, title, kind]) =>
		[key, key === "waits" ? waits : title, kind]);
}

function showFunctions(panel) {
	const chosen = !derived.isWhole;
	const order = {self: (a, b) => b.selfWeight - a.selfWeight, total: (a, b) => b.totalWeight - a.totalWeight,
		samples: (a, b) => b.selfSamples - a.selfSamples,
		waits: (a, b) => (b.waits || 0) - (a.waits || 0),
		longest: (a, b) => (b.longest || 0) - (a.longest || 0),
		name: (a, b) => functionName(a.fn) < functionName(b.fn) ? -1 : 1,
		dso: (a, b) => functionDso(a.fn) < functionDso(b.fn) ? -1 : 1};
	const rows = [...functionTable()].filter((row) => !derived.matches || state.hide || !state.search ||
		derived.matches[row.fn]).sort(order[state.sort] || order.self);
	derived.shownRows = rows;
	derived.mostSelf = rows.reduce((most, row) => Math.max(most, row.selfHigh || row.self), 0);
	derived.mostTotal = rows.reduce((most, row) => Math.max(most, row.totalHigh || row.total), 0);
	if (!list) {
		list = new List(panel, "grid", "Functions", {
			head: () => headOf([...functionColumns(),
				...(derived.isWhole ? [] : [["", "Self of all", "number wide"]]),
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
	if (functionOfName(functionName(fn)) >= 0)
		change({view: "flame", wings: functionName(fn)});
	return true;
}

function nameCell(fn, inlined) {
	const cell = cellOf(derived.matches && derived.matches[fn] ? "match" : "");
	const swatch = element("span", "swatch");
	swatch.style.background = look.groups[groups[fn]];
	swatch.hidden = Boolean(profile.comparison);
	cell.append(swatch, functionName(fn), inlined ? " (inlined)" : "");
	cell.title = `${functionName(fn)}\n${profile.strings[profile.functions.path[fn]]}`;
	return cell;
}

function functionRow(row) {
	const made = element("div", "row body");
	made.setAttribute("role", "row");
	const self = shareCell(row.self, row.selfLow, row.selfHigh, derived.mostSelf);
	const total = shareCell(row.total, row.totalLow, row.totalHigh, derived.mostTotal);
	const ranges = [rangeText(row.selfLow, row.selfHigh, row.selfMark),
		rangeText(row.totalLow, row.totalHigh, row.totalMark)];
	if (profile.mode === "cpu") {
		made.append(self, cellOf("range wide", ranges[0]), total,
			cellOf("range wide", ranges[1]),
			cellOf("number wide", grouped(row.selfSamples)));
	} else {
		[self.title, total.title] = ranges.map((text) => text && `95% interval: ${text}`);
		const texts = [row.selfWeight ? formatMs(row.selfWeight) : "",
			row.waits ? grouped(row.waits) : "",
			row.longest ? formatMs(row.longest) : ""];
		const [time, ...waits] = texts.map((text) => cellOf("number wide", text));
		made.append(self, time, total, ...waits);
	}
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
		const children = tree.childrenOf(node);
		for (let i = children.length; i-- > 0;)
			stack.push(children[i]);
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
			head: () => headOf(profile.comparison ? changeColumns(false) : [["", "Total", "number"], ["", "95% interval", "range wide"], ["", "Self", "number"],
				["", "95% interval", "range wide"], ["", "Samples", "number wide"], ["", "Function", ""],
				["", "Program or library", "dso wide"]]),
			fill: (i) => treeRow(shownTree(), derived.treeRows[i]),
			key: (key, i) => treeKey(key, i),
		});
		list.grid.classList.toggle("changes", Boolean(profile.comparison));
	}
	list.show(derived.treeRows.length);
}

function shareCells(tree, node) {
	const weight = derived.weight || 1, samples = derived.samples;
	const total = tree.weight[node] / weight, self = tree.ownWeight(node) / weight;
	const totals = partInterval(total, samples), selfs = partInterval(self, samples);
	return [shareCell(total, totals[0], totals[1]), cellOf("range wide", rangeText(...totals)),
		shareCell(self, selfs[0], selfs[1]), cellOf("range wide", rangeText(...selfs)),
		cellOf("number wide", grouped(tree.samples[node]))];
}

function treeRow(tree, node) {
	const fn = tree.fn[node];
	const row = element("div", "row body"), name = nameCell(fn, tree.inlined[node]);
	const depth = tree.depthOf(node);
	const children = tree.first[node + 1] - tree.first[node];
	row.setAttribute("role", "row");
	row.setAttribute("aria-level", depth);
	if (children)
		row.setAttribute("aria-expanded", opened.has(node) ? "true" : "false");
	const mark = element("span", "indent", !children ? "" : opened.has(node) ? "\u25be" : "\u25b8");
	mark.style.marginLeft = `${Math.min(40, depth - 1) * 12}px`;
	name.prepend(mark);
	row.append(...(profile.comparison ? changeCells(changeAt(tree, node)) : shareCells(tree, node)), name,
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

// Opens the callers of a node, and goes to its row.
function revealRow(tree, node) {
	for (let caller = tree.parent[node]; caller; caller = tree.parent[caller])
		opened.add(caller);
	showTree($("panel"));
	list.go(derived.treeRows.indexOf(node));
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
