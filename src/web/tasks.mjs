// Tasks, between which the page does other things.
let channel, hopping = []; // hops under way

/** Returns in a task of its own, soon. */
export function hop() {
    if (globalThis.setImmediate)
        return new Promise(resolve => { setImmediate(resolve); });
    channel ??= new MessageChannel();
    channel.port1.onmessage = () => hopping.shift()();
    return new Promise(resolve => {
        hopping.push(resolve);
        channel.port2.postMessage(0);
    });
}

/** Waits for a millisecond or two. Browsers make timers that timers start wait longer: a message comes between. */
export async function sleep() {
    await hop();
    await new Promise(resolve => { setTimeout(resolve, 1); });
}
