// The drawing pad: a Drawing with its brush, buttons and examples, for mouse, touch, pen and keyboard.
import { COLORS, Drawing, SIZE, WHITE } from './drawing.mjs';
import { complain, field, make, say } from './shared.mjs';

const EXAMPLES = ['face', 'cat', 'fish', 'flower', 'apple', 'house', 'car', 'tree', 'heart', 'star', 'cup', 'pizza', 'boat',
    'bird', 'umbrella', 'mushroom'].map(name => `hand_${name}.txt`);
const WIDTHS = [1, 32];
const nameOf = file => file.replace(/^\w+?_|\.\w+$/g, '');

// ---- the brush -----------------------------------------------------------------------------------

function makeSwatch([name, color], i) {
    const input = make('input', { type: 'radio', name: 'color', value: color, checked: i === 0, title: name, 'aria-label': name,
        className: color === WHITE ? 'eraser' : '' });
    input.style.setProperty('--swatch', color);
    return input;
}

function makeBrush() {
    const swatches = [...COLORS, ['Eraser', WHITE]].map(makeSwatch);
    const width = make('input', { type: 'range', min: WIDTHS[0], max: WIDTHS[1], value: 4 });
    const text = make('span', { textContent: '4' });
    width.addEventListener('input', () => { text.textContent = width.value; });
    const label = make('label', { className: 'field width' }, make('span', {}, 'Width ', text), width);
    const colors = make('fieldset', {}, make('legend', { textContent: 'Colour' }),
        make('div', { className: 'swatches' }, ...swatches));
    return {
        elements: [colors, label],
        get color() { return swatches.find(swatch => swatch.checked).value; },
        get radius() { return width.valueAsNumber / 2; },
        choose(i) { swatches.at(i).checked = true; },
        widen(by) {
            width.valueAsNumber += by;
            width.dispatchEvent(new Event('input'));
        },
    };
}

// ---- pointers ------------------------------------------------------------------------------------

function listenToPointers(pad, drawing, brush) {
    let pointer; // the one that draws
    const place = event => {
        const box = pad.getBoundingClientRect(), scale = SIZE / pad.clientWidth;
        const pressure = event.pointerType === 'pen' && event.pressure > 0 ? 0.3 + 1.4 * event.pressure : 1;
        return {
            x: (event.clientX - box.left - pad.clientLeft) * scale, y: (event.clientY - box.top - pad.clientTop) * scale,
            radius: brush.radius * pressure,
        };
    };
    pad.addEventListener('pointerdown', event => {
        if (pointer !== undefined || event.button !== 0)
            return;
        pointer = event.pointerId;
        pad.setPointerCapture(pointer);
        drawing.begin(event.pointerType === 'pen' && event.buttons & 32 ? WHITE : brush.color, place(event));
    });
    pad.addEventListener('pointermove', event => {
        if (event.pointerId !== pointer)
            return;
        const events = event.getCoalescedEvents?.() ?? [];
        drawing.extend(...(events.length ? events : [event]).map(place));
    });
    for (const type of ['pointerup', 'pointercancel'])
        pad.addEventListener(type, event => {
            if (event.pointerId !== pointer)
                return;
            pointer = undefined;
            drawing.end();
        });
    pad.addEventListener('contextmenu', event => event.preventDefault());
}

// ---- keys ----------------------------------------------------------------------------------------

// The arrows move a pen, which the space key puts down and lifts.
function makePen(pad, drawing, brush) {
    const mark = make('span', { className: 'pen', hidden: true });
    pad.after(mark);
    let x = SIZE / 2, y = SIZE / 2, down = false;
    const show = () => {
        mark.hidden = document.activeElement !== pad;
        mark.classList.toggle('down', down);
        mark.style.left = `${100 * x / SIZE}%`;
        mark.style.top = `${100 * y / SIZE}%`;
    };
    const lift = () => {
        if (down)
            drawing.end();
        down = false;
        mark.hidden = true;
    };
    pad.addEventListener('blur', lift);
    pad.addEventListener('pointerdown', lift);
    return {
        move(dx, dy) {
            x = Math.min(Math.max(x + dx, 0), SIZE);
            y = Math.min(Math.max(y + dy, 0), SIZE);
            if (down)
                drawing.extend({ x, y, radius: brush.radius });
            show();
        },
        toggle() {
            down = !down;
            if (down)
                drawing.begin(brush.color, { x, y, radius: brush.radius });
            else
                drawing.end();
            say(down ? 'The pen is down' : 'The pen is up');
            show();
        },
    };
}

function listenToKeys(pad, drawing, brush) {
    const pen = makePen(pad, drawing, brush);
    const keys = {
        ArrowLeft: step => pen.move(-step, 0), ArrowRight: step => pen.move(step, 0),
        ArrowUp: step => pen.move(0, -step), ArrowDown: step => pen.move(0, step),
        ' ': () => pen.toggle(), e: () => brush.choose(-1), '+': () => brush.widen(1), '-': () => brush.widen(-1),
    };
    pad.addEventListener('keydown', event => {
        const act = keys[event.key] ?? (/^[1-9]$/.test(event.key) ? () => brush.choose(event.key - 1) : undefined);
        if (!act || event.ctrlKey || event.metaKey || event.altKey)
            return;
        event.preventDefault();
        act(event.shiftKey ? 1 : 6);
    });
    addEventListener('keydown', event => {
        if (!(event.ctrlKey || event.metaKey) || !['z', 'y'].includes(event.key.toLowerCase()))
            return;
        event.preventDefault();
        event.key.toLowerCase() === 'y' || event.shiftKey ? drawing.redo() : drawing.undo();
    });
}

// ---- examples ------------------------------------------------------------------------------------

async function fetchExample(file) {
    const response = await fetch(`sketches/${file}`);
    if (!response.ok)
        throw new Error(`${file}: ${response.status} ${response.statusText}`);
    return response.text();
}

function show(drawing, example) {
    drawing.clear();
    drawing.play(example);
}

/** Buttons with small pictures in a container; resolves when they are there. */
async function addExamples(container, drawing) {
    const all = await Promise.all(EXAMPLES.map(async file => [file, await fetchExample(file)]));
    container.append(...all.map(([file, example]) => {
        const canvas = make('canvas', { width: 128, height: 128 }), name = nameOf(file);
        show(new Drawing([canvas]), example);
        const button = make('button', { type: 'button', title: `Draw the ${name}`, 'aria-label': `Draw the ${name}` }, canvas);
        button.addEventListener('click', () => {
            show(drawing, example);
            say(`The example is drawn: ${name}`);
        });
        return button;
    }));
    return Object.fromEntries(all);
}

async function start(examples, drawing, first) {
    try {
        const all = await addExamples(examples, drawing);
        if (first && !drawing.canUndo)
            drawing.play(all[first]);
    } catch (error) {
        complain('The examples cannot be loaded', error);
    }
}

// ---- all of it -----------------------------------------------------------------------------------

/**
 * pad: the canvas to draw on; tools, examples: elements that get the controls. Calls changed() after each change.
 * first: the example that is there at first. Gives { drawing, input }; input is a canvas of 256 x 256 pixels.
 */
export function makePad({ pad, tools, examples, first }, changed) {
    const input = make('canvas', { width: SIZE, height: SIZE }), brush = makeBrush();
    const button = (text, act) => {
        const element = make('button', { type: 'button', textContent: text });
        element.addEventListener('click', act);
        return element;
    };
    const undo = button('Undo', () => drawing.undo()), redo = button('Redo', () => drawing.redo());
    const drawing = new Drawing([pad, input]);
    drawing.changed = () => {
        undo.disabled = !drawing.canUndo;
        redo.disabled = !drawing.canRedo;
        changed();
    };
    tools.append(make('div', { className: 'row' }, ...brush.elements),
        make('div', { className: 'row' }, undo, redo, button('Clear', () => drawing.clear())));
    listenToPointers(pad, drawing, brush);
    listenToKeys(pad, drawing, brush);
    drawing.changed();
    start(examples, drawing, first);
    return { drawing, input };
}
