// SPDX-License-Identifier: GPL-2.0-or-later
// A flame graph on a canvas: the root is on top, or below (`up`), and heavier children are to the left.
"use strict";

// In CSS pixels: height of a box; widths from which a box has a gap to the next one and a shade of
// its group's colour, a mark if it is inlined, and its share.
const BOX = 20, GAP_WIDTH = 3, MARK_WIDTH = 8, SHARE_WIDTH = 220;
const FONT = "12.5px system-ui, -apple-system, \"Segoe UI\", \"Noto Sans\", \"DejaVu Sans\", sans-serif";

class Flame {
	// `host` is an element; `look` gives functions' names, colours and matches; `on` has callbacks.
	constructor(host, look, on) {
		this.look = look;
		this.on = on;
		this.scroll = document.createElement("div");
		this.scroll.className = "scroll";
		this.scroll.tabIndex = 0;
		this.scroll.setAttribute("role", "application");
		this.scroll.setAttribute("aria-label",
			"Flame graph. Arrow keys move, Enter zooms. The call tree has the same content.");
		this.canvas = document.createElement("canvas");
		this.canvas.setAttribute("aria-hidden", "true");
		this.space = document.createElement("div");
		this.scroll.append(this.canvas, this.space);
		host.append(this.scroll);
		this.cursor = 0;
		this.scroll.addEventListener("scroll", () => this.draw());
		this.scroll.addEventListener("focus", () => this.draw());
		this.scroll.addEventListener("blur", () => this.draw());
		this.canvas.addEventListener("mousemove", (event) => this.hover(event));
		this.canvas.addEventListener("mouseleave", () => on.leave());
		this.canvas.addEventListener("click", (event) => this.click(event));
	}

	// Shows a tree from depth `skip` on.
	show(tree, zoom, up = false, skip = 0) {
		if (this.tree !== tree)
			this.cursor = zoom;
		this.tree = tree;
		this.zoom = zoom;
		this.up = up;
		this.skip = skip;
		this.path = []; // by depth: the zoomed node and its callers
		for (let node = zoom; node; node = tree.parent[node])
			this.path.push(node);
		this.path.push(0);
		this.path.reverse();
		this.resize();
		if (up)
			this.scroll.scrollTop = this.scroll.scrollHeight;
	}

	// Makes the boxes in CSS pixels, from left to right: those that are wider than a pixel of
	// the screen, and for each such pixel of a row the first of the narrower ones.
	layOut() {
		const {tree, path, skip, pixel} = this, {weight} = tree;
		const scale = this.width / (weight[this.zoom] || 1);
		const made = path.slice(skip, -1).map((node, i) =>
			({node, depth: skip + i, left: 0, width: this.width}));
		const open = [{nodes: [this.zoom], at: 0, left: 0}]; // by depth
		const free = []; // by depth: place right of the last box
		this.deepest = path.length - 1;
		while (open.length) {
			const row = open[open.length - 1], depth = path.length + open.length - 2;
			if (row.at === row.nodes.length) {
				open.pop();
				continue;
			}
			const node = row.nodes[row.at++], {left} = row, width = weight[node] * scale;
			row.left += width;
			if (!width)
				continue;
			if (width >= pixel || left >= (free[depth] || 0)) {
				made.push({node, depth, left, width});
				const end = left + Math.max(width, pixel);
				free[depth] = Math.floor(end / pixel) * pixel;
				this.deepest = Math.max(this.deepest, depth);
			} else if (left < (free[depth + 1] || 0)) {
				continue;
			}
			open.push({nodes: tree.childrenOf(node), at: 0, left});
		}
		this.made = made;
	}

	resize() {
		if (!this.tree)
			return;
		const width = this.scroll.clientWidth, height = this.scroll.clientHeight;
		const ratio = window.devicePixelRatio || 1;
		this.width = width;
		this.pixel = 1 / ratio;
		this.layOut();
		const whole = (this.deepest + 1 - this.skip) * BOX + 4;
		this.height = Math.min(height, whole);
		this.canvas.width = Math.max(1, Math.round(width * ratio));
		this.canvas.height = Math.max(1, Math.round(this.height * ratio));
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${this.height}px`;
		this.space.style.height = `${Math.max(0, whole - this.height)}px`;
		this.draw();
	}

	top(depth) {
		const row = this.up ? this.deepest - depth : depth - this.skip;
		return row * BOX - this.scroll.scrollTop + 2;
	}

	// Calls visit(node, depth, left, width) for each box that is visible.
	boxes(visit) {
		for (const {node, depth, left, width} of this.made) {
			const top = this.top(depth);
			if (top + BOX >= 0 && top <= this.height)
				visit(node, depth, left, width);
		}
	}

	draw() {
		const context = this.canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
		const tree = this.tree, focused = document.activeElement === this.scroll;
		if (!tree)
			return;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, this.width, this.height);
		context.textBaseline = "middle";
		this.boxes((node, depth, left, width) => {
			const top = this.top(depth);
			context.globalAlpha = depth < this.path.length - 1 ? 0.45 : 1;
			context.fillStyle = this.colourOf(node, width);
			// Whole pixels keep the colour of narrow boxes.
			const gap = width < GAP_WIDTH ? 0 : width < MARK_WIDTH ? 0.5 : 1;
			const begin = Math.floor(left * ratio) / ratio;
			const end = Math.floor((left + width) * ratio) / ratio - gap;
			context.fillRect(begin, top, Math.max(end - begin, this.pixel), BOX - 1);
			if (tree.inlined[node] && width > MARK_WIDTH) {
				context.fillStyle = this.look.mark;
				context.fillRect(left, top, 3, BOX - 1);
			}
			if (width > 34)
				this.drawText(context, node, left, top + BOX / 2, width);
			if (node === this.cursor && focused && width > 2) {
				context.strokeStyle = this.look.ink;
				context.lineWidth = 2;
				context.strokeRect(left + 1, top + 1, width - 3, BOX - 3);
			}
		});
		context.globalAlpha = 1;
	}

	// Returns a box's colour. Narrow boxes have no shades: these would be noise.
	colourOf(node, width) {
		if (!node)
			return this.look.root;
		return this.look.colour(this.tree, node, width < GAP_WIDTH);
	}

	// Draws a box's name, in wide boxes with its share. Names of inlined functions are in italics.
	drawText(context, node, left, middle, width) {
		const tree = this.tree, look = this.look, fn = node ? tree.fn[node] : -1;
		const ink = look.boxText(fn);
		let room = width - 9;
		if (width > SHARE_WIDTH) {
			const text = node ? look.note(tree, node) : look.whole(tree);
			context.font = FONT;
			context.fillStyle = ink;
			const wide = context.measureText(text).width;
			context.fillText(text, left + width - wide - 8, middle);
			room -= wide + 12;
		}
		context.font = tree.inlined[node] ? `italic ${FONT}` : FONT;
		drawName(context, look.label(tree, node), left + 5, middle, room, ink);
	}

	nodeAt(event) {
		const bounds = this.canvas.getBoundingClientRect();
		const x = event.clientX - bounds.left, y = event.clientY - bounds.top;
		let found = -1;
		this.boxes((node, depth, left, width) => {
			const top = this.top(depth);
			if (y >= top && y < top + BOX && x >= left && x < left + Math.max(width, 1))
				found = node;
		});
		return found;
	}

	hover(event) {
		const node = this.nodeAt(event);
		if (node < 0)
			this.on.leave();
		else
			this.on.hover(this, node, event);
	}

	click(event) {
		const node = this.nodeAt(event);
		if (node < 0)
			return;
		this.cursor = node;
		this.scroll.focus();
		if (event.altKey)
			this.on.drop(this, node);
		else
			this.on.zoom(this, node);
	}

	// Moves the cursor to a neighbour. Returns whether the key is one of the graph's.
	move(key) {
		const tree = this.tree, at = this.cursor;
		const down = this.up ? "ArrowUp" : "ArrowDown", up = this.up ? "ArrowDown" : "ArrowUp";
		const siblings = at ? tree.childrenOf(tree.parent[at]) : [];
		const place = siblings.indexOf(at);
		let to = -1;
		if (key === down)
			to = tree.childrenOf(at)[0];
		else if (key === up)
			to = at ? tree.parent[at] : at;
		else if (key === "ArrowLeft")
			to = siblings[place - 1];
		else if (key === "ArrowRight")
			to = siblings[place + 1];
		else
			return false;
		if (to !== undefined && to >= 0) {
			this.cursor = to;
			this.reveal(to);
			this.draw();
			this.on.cursor(this, to);
		}
		return true;
	}

	reveal(node) {
		const top = this.top(this.tree.depthOf(node));
		if (top < 0)
			this.scroll.scrollTop += top;
		else if (top + BOX > this.height)
			this.scroll.scrollTop += top + BOX - this.height;
	}
}

// Draws a name. Without room for it, it lacks its middle: names often begin alike.
function drawName(context, name, x, y, width, ink) {
	const cut = (length) => `${name.slice(0, Math.ceil(length / 2))}\u2026` +
		name.slice(name.length - Math.floor(length / 2));
	let text = name;
	context.fillStyle = ink;
	if (context.measureText(text).width > width) {
		let low = 0, high = Math.min(text.length, Math.ceil(width / 3));
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (context.measureText(cut(middle)).width <= width)
				low = middle;
			else
				high = middle - 1;
		}
		if (low < 4)
			return;
		text = cut(low);
	}
	context.fillText(text, x, y);
}
