// Notes what a page draws with WebGL 2, for tools/phones.sh --draws. Run it in the page before the page's own scripts (with
// Playwright: page.addInitScript). Then, in the page:
//   tesseraDraws.length = 0; ... let it draw a frame ...; tesseraDrawsText()   what to write to a file
// window.tesseraRenderer = "Mali-G52", set before, is what the page hears of its GPU: engines choose programs by that name.
(() => {
    const draws = (window.tesseraDraws = []);
    const shaders = new Map(), programs = new Map(), textures = new Map(), bound = new Map(), framebuffers = new Map();
    const prototype = WebGL2RenderingContext.prototype;
    const RGBA16F = 0x881a, RGBA32F = 0x8814, FRAGMENT_SHADER = 0x8b30, READ_FRAMEBUFFER = 0x8ca8, RENDERER = 0x1f01;
    const TARGET_OF_SAMPLER = { 0x8b5e: 0x0de1, 0x8dc1: 0x8c1a }; // sampler2D and sampler2DArray
    let used = null, unit = 0, framebuffer = null, viewport = [0, 0, 0, 0];

    const entry = (map, key, made) => map.get(key) || map.set(key, made).get(key);
    const after = (name, note) => {
        const original = prototype[name];
        prototype[name] = function (...args) {
            const result = original.apply(this, args);
            return note.call(this, args, result), result;
        };
    };
    const texelBytes = format => (format === RGBA16F ? 8 : format === RGBA32F ? 16 : 4);
    const allocate = (target, format, width, height, layers) => {
        const bytes = width * height * layers * texelBytes(format);
        Object.assign(entry(textures, bound.get(unit + "/" + target), {}), { format, bytes });
    };
    const attach = (target, at, texture) =>
        target !== READ_FRAMEBUFFER && entry(framebuffers, framebuffer, new Map()).set(at, texture);

    after("createShader", ([type], shader) => shaders.set(shader, { type, text: "" }));
    after("shaderSource", ([shader, text]) => (shaders.get(shader).text = text));
    after("attachShader", ([program, shader]) => {
        const { type, text } = shaders.get(shader);
        entry(programs, program, { number: programs.size })[type === FRAGMENT_SHADER ? "fragment" : "vertex"] = text;
    });
    after("useProgram", ([program]) => (used = program));
    after("viewport", args => (viewport = args));
    after("activeTexture", ([name]) => (unit = name - 0x84c0));
    after("bindTexture", ([target, texture]) => bound.set(unit + "/" + target, texture));
    after("texImage2D", a => a.length > 6 && a[1] === 0 && allocate(a[0], a[2], a[3], a[4], 1));
    after("texImage3D", a => a[1] === 0 && allocate(a[0], a[2], a[3], a[4], a[5]));
    after("texStorage2D", a => allocate(a[0], a[2], a[3], a[4], 1));
    after("texStorage3D", a => allocate(a[0], a[2], a[3], a[4], a[5]));
    after("bindFramebuffer", ([target, f]) => target !== READ_FRAMEBUFFER && (framebuffer = f));
    after("framebufferTexture2D", a => attach(a[0], a[1], a[3]));
    after("framebufferTextureLayer", a => attach(a[0], a[1], a[2]));
    const getParameter = prototype.getParameter;
    prototype.getParameter = function (name) {
        return (name === RENDERER && window.tesseraRenderer) || getParameter.call(this, name);
    };

    // How often the loops run whose bounds are uniforms, one in the other: for (int i = 0; i < sizes[1].x; ++i). Tessera's have
    // another name there: glsl/prelude.glsl.
    const BOUND = /for \(int \w+ = 0; \w+ < (\w+\[\d+\])\.([xyzw]);/g;
    const valueOf = (gl, name) => gl.getUniform(used, gl.getUniformLocation(used, name.replace("tsr_i[", "tsr_uniforms[")));
    const trips = (gl, text) => [...text.matchAll(BOUND)].reduce((product, [, name, part]) =>
        product * valueOf(gl, name)["xyzw".indexOf(part)], 1);
    const sources = gl => {
        const found = new Set();
        for (let i = 0; i < gl.getProgramParameter(used, gl.ACTIVE_UNIFORMS); i++) {
            const { name, type } = gl.getActiveUniform(used, i), target = TARGET_OF_SAMPLER[type];
            if (target) found.add(textures.get(bound.get(gl.getUniform(used, gl.getUniformLocation(used, name)) + "/" + target)));
        }
        return [...found].filter(texture => texture);
    };
    const note = function () {
        const attached = framebuffer && framebuffers.has(framebuffer) ? [...framebuffers.get(framebuffer).values()] : [];
        const targets = attached.map(texture => textures.get(texture)).filter(t => t && t.format === RGBA16F);
        if (!targets.length) return; // a picture, not a tensor
        const program = programs.get(used), from = sources(this), read = from.reduce((sum, t) => sum + t.bytes, 0);
        const fragments = viewport[2] * viewport[3], written = fragments * targets.length * texelBytes(RGBA16F);
        for (const t of targets) t.bytes = written; // textures are larger than what is in them: a later draw reads as much
        const format = from.length ? from[0].format : RGBA16F;
        draws.push([program, format, fragments, targets.length, read, written, trips(this, program.fragment)]);
    };
    for (const name of ["drawArrays", "drawElements"]) after(name, note);

    window.tesseraDrawsText = () => [
        ...[...new Set(draws.map(([p]) => p))].map(p =>
            `program ${p.number} ${p.vertex.length} ${p.fragment.length}\n${p.vertex}${p.fragment}\n`),
        ...draws.map(([p, ...numbers]) => `draw ${p.number} ${numbers.join(" ")}\n`),
    ].join("");
})();
