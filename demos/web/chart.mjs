// Bar charts as SVG.

const NAMESPACE = 'http://www.w3.org/2000/svg';
const ROW = 44, BAR = 16, TOP = 22;

function draw(tag, attributes, text = '') {
    const element = document.createElementNS(NAMESPACE, tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.textContent = text;
    return element;
}

/**
 * bars: [{ label, value, text, low, high, ours }]; low and high: the ends of a whisker, if there is one.
 * width: of the chart, in pixels. Values have one scale, from 0.
 */
export function barChart(title, bars, width) {
    const most = Math.max(...bars.map(({ value, high = 0 }) => Math.max(value, high)), 1e-9);
    const scale = x => 1 + (width - 2) * x / most;
    const height = TOP + ROW * bars.length;
    const svg = draw('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img',
        'aria-label': `${title}. ${bars.map(({ label, text }) => `${label}: ${text}`).join('; ')}` });
    svg.append(draw('text', { class: 'soft', x: 0, y: 14 }, title));
    bars.forEach(({ label, value, text, low, high, ours }, i) => {
        const y = TOP + ROW * i, middle = y + 20 + BAR / 2;
        svg.append(draw('text', { x: 0, y: y + 14 }, label), draw('text', { x: width, y: y + 14, 'text-anchor': 'end' }, text),
            draw('rect', { class: 'soft-bar', x: 0, y: y + 20, width, height: BAR, rx: 3 }),
            draw('rect', { class: ours ? 'bar' : 'bar other', x: 0, y: y + 20, width: Math.max(scale(value), 2), height: BAR, rx: 3 }));
        for (const kind of low === undefined ? [] : ['whisker casing', 'whisker'])
            svg.append(draw('path', { class: kind, fill: 'none',
                d: `M${scale(low)} ${middle}H${scale(high)}M${scale(low)} ${middle - 5}v10M${scale(high)} ${middle - 5}v10` }));
    });
    return svg;
}
