// What the library changes in a context that is the page's: saved before each call, and restored after it.

const CAPS = ['BLEND', 'CULL_FACE', 'DEPTH_TEST', 'DITHER', 'POLYGON_OFFSET_FILL', 'RASTERIZER_DISCARD', 'SAMPLE_ALPHA_TO_COVERAGE',
    'SCISSOR_TEST', 'STENCIL_TEST'];
// With the values that the library relies on.
const STORES = {
    PACK_ROW_LENGTH: 0, PACK_SKIP_ROWS: 0, PACK_SKIP_PIXELS: 0, PACK_ALIGNMENT: 4, UNPACK_ROW_LENGTH: 0, UNPACK_SKIP_ROWS: 0,
    UNPACK_SKIP_PIXELS: 0, UNPACK_ALIGNMENT: 4, UNPACK_IMAGE_HEIGHT: 0, UNPACK_SKIP_IMAGES: 0, UNPACK_FLIP_Y_WEBGL: false,
    UNPACK_PREMULTIPLY_ALPHA_WEBGL: false,
};
const UNITS = 16;

/** Returns a function that restores it. */
export function saveState(gl) {
    const get = name => gl.getParameter(gl[name]);
    const feedback = get('TRANSFORM_FEEDBACK_ACTIVE') && !get('TRANSFORM_FEEDBACK_PAUSED');
    if (feedback)
        gl.pauseTransformFeedback();
    const enabled = CAPS.filter(cap => gl.isEnabled(gl[cap]));
    const stores = Object.keys(STORES).map(name => [name, get(name)]);
    const program = get('CURRENT_PROGRAM'), array = get('VERTEX_ARRAY_BINDING');
    const drawn = get('DRAW_FRAMEBUFFER_BINDING'), read = get('READ_FRAMEBUFFER_BINDING');
    const pack = get('PIXEL_PACK_BUFFER_BINDING'), unpack = get('PIXEL_UNPACK_BUFFER_BINDING'), uniforms = get('UNIFORM_BUFFER_BINDING');
    const [block, begin, size] = ['BINDING', 'START', 'SIZE'].map(what => gl.getIndexedParameter(gl[`UNIFORM_BUFFER_${what}`], 0));
    const unit = get('ACTIVE_TEXTURE'), viewport = get('VIEWPORT'), scissor = get('SCISSOR_BOX'), mask = get('COLOR_WRITEMASK');
    const bound = Array.from({ length: UNITS }, (_, i) => {
        gl.activeTexture(gl.TEXTURE0 + i);
        return [get('TEXTURE_BINDING_2D'), get('TEXTURE_BINDING_2D_ARRAY'), get('SAMPLER_BINDING')];
    });
    CAPS.forEach(cap => gl.disable(gl[cap]));
    Object.entries(STORES).forEach(([name, value]) => gl.pixelStorei(gl[name], value));
    bound.forEach((_, i) => gl.bindSampler(i, null));
    gl.colorMask(true, true, true, true);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
    gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, null);
    return () => {
        bound.forEach(([plane, planes, sampler], i) => {
            gl.activeTexture(gl.TEXTURE0 + i);
            gl.bindTexture(gl.TEXTURE_2D, plane);
            gl.bindTexture(gl.TEXTURE_2D_ARRAY, planes);
            gl.bindSampler(i, sampler);
        });
        stores.forEach(([name, value]) => gl.pixelStorei(gl[name], value));
        CAPS.forEach(cap => (enabled.includes(cap) ? gl.enable(gl[cap]) : gl.disable(gl[cap])));
        gl.colorMask(...mask);
        gl.viewport(...viewport);
        gl.scissor(...scissor);
        gl.activeTexture(unit);
        if (size)
            gl.bindBufferRange(gl.UNIFORM_BUFFER, 0, block, begin, size);
        else
            gl.bindBufferBase(gl.UNIFORM_BUFFER, 0, block);
        gl.bindBuffer(gl.UNIFORM_BUFFER, uniforms);
        gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, unpack);
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, pack);
        gl.bindFramebuffer(gl.READ_FRAMEBUFFER, read);
        gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, drawn);
        gl.bindVertexArray(array);
        gl.useProgram(program);
        if (feedback)
            gl.resumeTransformFeedback();
    };
}
