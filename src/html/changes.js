// SPDX-License-Identifier: GPL-2.0-or-later
// Comparisons: changes of functions and of call paths. Their trees have the weight of one side, the new or the
// base runs, and that of the other as "samples": see addSides().
"use strict";

// Classes of changes, which have a colour each: found, not certain, and about the same.
const MORE = 0, LESS = 1, MAYBE_MORE = 2, MAYBE_LESS = 3, EVEN = 4;
const CHANGE_NAMES = ["+ more", "\u2212 less", "+ more, not certain", "\u2212 less, not certain", "within 10%"];
const CHANGE_COLOURS = ["more", "less", "maybe-more", "maybe-less", "even"];
const SIGNS = ["+ ", "\u2212 ", "+ ", "\u2212 ", ""];
const FOUND = {slower: MORE, new: MORE, faster: LESS, gone: LESS, same: EVEN};
const EVEN_WITHIN = 0.1; // largest change that is about the same, as in verdicts

// Returns the weights of the base and of the new runs, by node.
function sideArrays(tree) {
	if (tree.side)
		return tree.side === "new" ? [tree.samples, tree.weight] : [tree.weight, tree.samples];
	return currentEvent().isBase ? [tree.weight, tree.samples] : [tree.samples, tree.weight];
}

const ownAt = (tree, values, node) =>
	tree.childrenOf(node).reduce((rest, child) => rest - values[child], values[node]);

// Returns a weight in the unit of the comparison, as text has it.
function quantityText(weight) {
	const {scale, unit} = profile.comparison, shown = weight / scale;
	return weight > 0 ? `${shown.toFixed(shown < 10 ? 2 : shown < 1000 ? 1 : 0)}${unit === "share" ? "%" : ""}` : "\u2013";
}

function withUnit(text) {
	const {unit} = profile.comparison;
	return unit === "share" || text === "\u2013" ? text : `${text} ${unit}`;
}

// Returns a change as text has it.
function changeText(base, now) {
	const ratio = now / base - 1;
	if (!Number.isFinite(ratio) || ratio <= -1)
		return "\u2013";
	if (ratio >= 2)
		return `\u00d7${(ratio + 1).toFixed(ratio < 9 ? 1 : 0)}`;
	return `${ratio < 0 ? "" : "+"}${(100 * ratio).toFixed(Math.abs(ratio) < 0.9995 ? 1 : 0)}%`;
}

// Returns what is known of a node's change. Nodes are tested if the tree is that of all runs, and functions if it is
// that of their callers.
function changeAt(tree, node) {
	const event = currentEvent(), [bases, news] = sideArrays(tree), base = bases[node], now = news[node];
	const isCallers = derived.isWhole && tree === derived.inverted && !tree.parent[node];
	const [verdict, change, range] = !node || tree.side ? [""]
		: derived.isAll && tree.parent === event.node.parent ? event.tested.get(node) || [""]
		: isCallers ? event.rowOf.get(keyOf(tree.fn[node])) || [""] : [""];
	return {base, now, verdict, change: change || changeText(base, now), range: range || ""};
}

const keyOf = (fn) => `${profile.functions.name[fn]} ${profile.functions.dso[fn]}`;

function classOf({base, now, verdict}) {
	if (verdict in FOUND)
		return FOUND[verdict];
	if (Math.abs(now - base) <= EVEN_WITHIN * base)
		return EVEN;
	return now > base ? MAYBE_MORE : MAYBE_LESS;
}

const classAt = (tree, node) => tree.classes ? tree.classes[node] : classOf(changeAt(tree, node));

// Returns the text at a wide box's end.
function boxNote(tree, node) {
	const {base, now, change} = changeAt(tree, node);
	if (tree.side)
		return withUnit(quantityText(tree.weight[node]));
	return base > 0 && now > 0 ? change : base > 0 ? "gone" : "new";
}

function describeChange(tree, node, zoom) {
	const {base, now, verdict, change, range} = changeAt(tree, node);
	const parts = [node ? functionName(tree.fn[node]) : "all"];
	if (node && functionDso(tree.fn[node]))
		parts.push(functionDso(tree.fn[node]));
	if (tree.side)
		return [...parts, `${withUnit(quantityText(tree.weight[node]))} in call paths that are ${tree.side}`].join(" \u00b7 ");
	const [bases, news] = sideArrays(tree).map((values) => quantityText(ownAt(tree, values, node)));
	if (verdict)
		parts.push(verdict === "?" ? "inconclusive" : verdict);
	parts.push(change === "\u2013" ? base > 0 ? "gone" : "new" : range ? `${change} (${range})` : change,
		`base ${quantityText(base)}, new ${withUnit(quantityText(now))}`,
		`self: base ${bases}, new ${withUnit(news)}`);
	if (zoom)
		parts.push(`${percentText(tree.weight[node] / tree.weight[zoom])} of the zoomed part`);
	parts.push(`${percentText(tree.weight[node] / (derived.whole || 1))} of ${currentEvent().name}`);
	return parts.join(" \u00b7 ");
}

// Returns the rows of the comparison, or those of the selected stacks, which have no verdicts.
function changedRows() {
	const event = currentEvent(), {fn, selfSamples, selfWeight} = event.row;
	if (derived.isWhole)
		return profile.comparison.rows.map(([verdict, change, range, baseText, newText], i) =>
			({fn: fn[i], verdict, change, range, baseText, newText, base: selfSamples[i], now: selfWeight[i]}));
	return functionRows(derived.tree, profile.functionCount, derived.whole, partInterval)
		.filter((row) => (row.selfWeight || row.selfSamples) &&
			!(profile.functions.kind[row.fn] & (MISSING | LIGHT)))
		.map((row) => {
			const sides = [row.selfSamples, row.selfWeight], [base, now] = event.isBase ? sides.reverse() : sides;
			return {fn: row.fn, verdict: "", change: changeText(base, now), range: "", base, now,
				baseText: quantityText(base), newText: quantityText(now)};
		});
}

// Returns the head's columns. `sorts` has the names of the orders.
function changeColumns(sorts) {
	const {unit} = profile.comparison, of = unit === "share" ? "" : ` ${unit}`;
	return [["verdict", "Verdict", "verdict"], ["base", `Base${of}`, "number wide"], ["now", `New${of}`, "number wide"],
		["change", "Change", "number"], ["", "95% interval", "range wide"], ["name", "Function", ""],
		["dso", "Program or library", "dso wide"]].map(([key, ...rest]) => [sorts ? key : "", ...rest]);
}

function changeCells(row) {
	const verdict = cellOf("verdict", row.verdict), swatch = element("span", "swatch");
	swatch.style.background = look.changes[classOf(row)];
	verdict.prepend(swatch);
	return [verdict, cellOf("number wide", row.baseText ?? quantityText(row.base)),
		cellOf("number wide", row.newText ?? quantityText(row.now)), cellOf("number", row.change),
		cellOf("range wide", row.range)];
}

function showChanges(panel) {
	const ratio = (row) => row.base > 0 ? row.now / row.base : Infinity;
	const order = {base: (a, b) => b.base - a.base, now: (a, b) => b.now - a.now,
		change: (a, b) => ratio(b) - ratio(a) || b.now - a.now,
		name: (a, b) => functionName(a.fn) < functionName(b.fn) ? -1 : 1,
		dso: (a, b) => functionDso(a.fn) < functionDso(b.fn) ? -1 : 1}[state.sort];
	const rows = functionTable().filter((row) => !derived.matches || state.hide || derived.matches[row.fn]);
	derived.shownRows = order ? rows.sort(order) : rows;
	if (!list) {
		list = new List(panel, "grid", "Functions", {
			head: () => headOf(changeColumns(true), state.sort === "self" ? "verdict" : state.sort,
				(key) => change({sort: key === "verdict" ? "self" : key})),
			fill: (i) => changeRow(derived.shownRows[i]),
			key: (key, i) => functionKey(key, derived.shownRows[i].fn) ||
				(key === "Enter" && openWings(derived.shownRows[i].fn)),
		});
		list.grid.classList.add("changes");
	}
	list.show(rows.length);
}

function changeRow(row) {
	const made = element("div", "row body");
	made.setAttribute("role", "row");
	made.append(...changeCells(row), nameCell(row.fn, 0), cellOf("dso wide", functionDso(row.fn)));
	made.addEventListener("click", () => {
		list.grid.focus();
		list.draw();
	});
	made.addEventListener("dblclick", () => openWings(row.fn));
	return made;
}

// Callers of both sides that are shown above a call path of one side, if that has this part of all such paths.
const SHARED_FRAMES = 3, HEAVY_PART = 0.03;

// Returns the tree of the call paths that only one side has, below their nearest callers of both sides.
function oneSidedTree(tree, side) {
	const [bases, news] = sideArrays(tree), isNew = side === "new";
	const [values, others] = isNew ? [news, bases] : [bases, news], {parent, fn, inlined, count} = tree;
	const own = ownFrom(values, parent, count), made = new Tree(1024), needed = new Uint8Array(count);
	const copy = new Uint32Array(count), found = new Uint8Array(count), classes = [EVEN];
	const above = new Uint32Array(count).fill(count); // number of calls down to a heavy path of one side
	const heavy = HEAVY_PART * own.reduce((sum, value, node) => sum + (others[node] ? 0 : value), 0);
	for (let node = count - 1; node > 0; node--) {
		if (!needed[node] && (others[node] || !(own[node] > 0)))
			continue;
		needed[node] = needed[parent[node]] = 1;
		if (!others[node] && values[node] >= heavy)
			above[node] = 0;
		above[parent[node]] = Math.min(above[parent[node]], above[node] + 1);
	}
	for (let node = 1; node < count; node++) {
		if (!needed[node])
			continue;
		found[node] = found[parent[node]] || changeAt(tree, node).verdict === side ? 1 : 0;
		copy[node] = copy[parent[node]];
		if (others[node] && above[node] > SHARED_FRAMES)
			continue;
		copy[node] = made.child(copy[node], fn[node], inlined[node]);
		const one = found[node] ? isNew ? MORE : LESS : isNew ? MAYBE_MORE : MAYBE_LESS;
		classes[copy[node]] = others[node] ? EVEN : one;
		if (!others[node])
			made.addOwn(copy[node], 0, own[node]);
	}
	made.foundWeight = own.reduce((sum, value, node) => sum + (found[node] && !others[node] ? value : 0), 0);
	return Object.assign(made.finish(), {side, classes});
}

function showSides(panel) {
	const places = {new: "no base run has", gone: "no new run has"};
	if (!flames.length) {
		const host = element("div", "flame");
		flames = Object.keys(places).map((side) => {
			const half = element("div", "half");
			half.append(element("h3"));
			host.append(half);
			return Object.assign(new Flame(half, look, flameActions), {side, title: half.firstChild});
		});
		panel.append(host);
	}
	derived.sides = derived.sides || Object.fromEntries(Object.keys(places).map((side) =>
		[side, oneSidedTree(derived.tree, side)]));
	for (const flame of flames) {
		const tree = derived.sides[flame.side], [weight] = tree.weight, found = withUnit(quantityText(tree.foundWeight));
		const name = flame.side === "new" ? "New" : "Gone";
		flame.title.textContent = !weight ? `${name}: nothing`
			: `${name}: ${withUnit(quantityText(weight))} in call paths that ${places[flame.side]}, ` +
			(tree.foundWeight ? `${found} found` : "none found: a rare path may be missing by chance");
		flame.show(tree, nodeOfPath(tree, state.zoom));
	}
}

// Shows where the tree changed, which zooms to it, and names the choice of widths.
function showPlaces() {
	$("event-label").firstChild.textContent = "Widths ";
	document.querySelector("header").classList.add("compared");
	$("places").replaceChildren(...profile.comparison.places.map(({lines, path}) => {
		const line = element("p"), button = element("button", "link", lines.join(" "));
		button.addEventListener("click", () => change({view: "flame", callers: false, wings: "", zoom: path}));
		line.append(button);
		return line;
	}));
}

function changeLegend() {
	return CHANGE_NAMES.map((name, i) => {
		const item = element("span", "", name), swatch = element("span", "swatch");
		swatch.style.background = look.changes[i];
		item.prepend(swatch);
		return item;
	});
}

function showAboutChanges(text) {
	const {lines, base, new: now} = profile.comparison;
	const files = (paths) => paths.map((path) => ["", path]);
	text.append(element("h2", "", "Comparison"), factList([["Total", lines[3]], ["Base", lines[1]], ...files(base),
		["New", lines[2]], ...files(now), ["Event", profile.eventName], ["Report by", `sprof ${profile.sprof}`]]));
	text.append(element("h2", "", "How to read it"),
		element("p", "", "Boxes are as wide as their time in the new runs; \u201cWidths\u201d (e) chooses the base. " +
			"Orange and + take more time than in the base, blue and \u2212 less. " +
			"Strong colours are found changes; pale ones may be chance; grey ones are within 10%. " +
			"New and gone paths are below their nearest callers; outer ones are left out."),
		element("p", "", "An interval contains the true change in 95 of 100 comparisons. " +
			"Selected stacks, and functions in their callers, have no verdicts."));
}
