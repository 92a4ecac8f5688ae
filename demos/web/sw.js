// Keeps the pages, the library and the drawing page's network for use offline. What the server has comes first.
const CACHE = 'tessera';

async function keepAll() {
    const { files } = await (await fetch('site.json')).json();
    await (await caches.open(CACHE)).addAll(files.filter(file => file !== 'sw.js'));
}

// Other libraries are large, and of use only for comparison.
const isKept = request => request.method === 'GET' && new URL(request.url).origin === location.origin &&
    !request.url.includes('/peers/') && !request.headers.has('range');

async function answer(request) {
    const cache = await caches.open(CACHE);
    try {
        const response = await fetch(request);
        if (response.ok)
            cache.put(request, response.clone()).catch(() => {}); // no space: then not offline
        return response;
    } catch (error) {
        const kept = await cache.match(request, { ignoreSearch: true }) ??
            (request.url.endsWith('/') ? await cache.match('index.html') : undefined);
        if (kept)
            return kept;
        throw error;
    }
}

addEventListener('install', event => event.waitUntil(keepAll().then(() => skipWaiting())));
addEventListener('activate', event => event.waitUntil(clients.claim()));
addEventListener('fetch', event => isKept(event.request) && event.respondWith(answer(event.request)));
