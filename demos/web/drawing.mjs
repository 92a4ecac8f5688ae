// A drawing: its steps, which undo and redo go through, drawn at once on canvases of different sizes.

export const SIZE = 256; // the drawing's own pixels a side

export const COLORS = [
    ['Black', '#000000'], ['Red', '#de2e2b'], ['Orange', '#f58c1f'], ['Yellow', '#ffcc33'], ['Green', '#4da642'],
    ['Blue', '#4287ed'], ['Purple', '#9457ba'], ['Brown', '#7a4d2e'], ['Pink', '#ffa8b3'],
];
export const WHITE = '#ffffff';

function drawPiece(context, color, from, to) {
    context.strokeStyle = color;
    context.lineCap = 'round';
    context.lineWidth = from.radius + to.radius;
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
}

function makeWhite(context) {
    context.fillStyle = WHITE;
    context.fillRect(0, 0, SIZE, SIZE);
}

// In the middle, as large as fits.
function drawPicture(context, picture) {
    const scale = SIZE / Math.max(picture.width, picture.height);
    const width = picture.width * scale, height = picture.height * scale;
    context.imageSmoothingQuality = 'high';
    context.drawImage(picture, (SIZE - width) / 2, (SIZE - height) / 2, width, height);
}

export class Drawing {
    #steps = []; // { points, color }, { picture } or {}: a white page
    #done = 0;
    #contexts;
    #current; // the stroke that is being drawn

    /** changed() is called after each change. */
    constructor(canvases, changed = () => {}) {
        this.changed = changed;
        this.#contexts = canvases.map(canvas => {
            const context = canvas.getContext('2d', { alpha: false });
            context.setTransform(canvas.width / SIZE, 0, 0, canvas.height / SIZE, 0, 0);
            return context;
        });
        this.#redraw();
    }

    get canUndo() { return this.#done > 0; }
    get canRedo() { return this.#done < this.#steps.length; }

    #draw(step) {
        for (const context of this.#contexts) {
            if (!step.points)
                makeWhite(context);
            if (step.picture)
                drawPicture(context, step.picture);
            step.points?.forEach((point, i) => drawPiece(context, step.color, step.points[Math.max(i - 1, 0)], point));
        }
    }

    #redraw() {
        const steps = this.#steps.slice(0, this.#done);
        this.#draw({});
        steps.slice(Math.max(steps.findLastIndex(step => !step.points), 0)).forEach(step => this.#draw(step));
        this.changed();
    }

    #add(step) {
        this.end();
        this.#steps.length = this.#done;
        this.#steps.push(step);
        this.#done++;
        this.#draw(step);
        this.changed();
    }

    /** In the drawing's pixels. */
    begin(color, point) {
        const step = { color, points: [point] };
        this.#add(step);
        this.#current = step;
    }

    extend(...points) {
        if (!this.#current)
            return;
        for (const point of points) {
            const last = this.#current.points.at(-1);
            this.#contexts.forEach(context => drawPiece(context, this.#current.color, last, point));
            this.#current.points.push(point);
        }
        this.changed();
    }

    end() {
        this.#current = undefined;
    }

    clear() {
        this.#add({});
    }

    put(picture) {
        this.#add({ picture });
    }

    undo() {
        this.end();
        if (this.canUndo) {
            this.#done--;
            this.#redraw();
        }
    }

    redo() {
        this.end();
        if (this.canRedo) {
            this.#done++;
            this.#redraw();
        }
    }

    /** Draws a script of demos/sketches, of strokes and keys: digits for colours, + and - for the brush's width. */
    play(script) {
        let color = COLORS[0][1], radius = 2;
        const keys = { '+': () => { radius *= 1.25; }, '-': () => { radius *= 0.8; }, E: () => { color = WHITE; } };
        for (const line of script.split('\n')) {
            const [command, ...rest] = line.trim().split(/\s+/);
            if (command === 'key')
                rest.forEach(key => keys[key] ? keys[key]() : color = COLORS[key - 1]?.[1] ?? color);
            if (command !== 'stroke')
                continue;
            const points = rest.map(Number);
            this.begin(color, { x: points[0], y: points[1], radius });
            for (let i = 2; i + 1 < points.length; i += 2)
                this.extend({ x: points[i], y: points[i + 1], radius });
            this.end();
        }
    }
}
