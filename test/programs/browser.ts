/** `npm run types` checks this as part of the browser's program: a line that becomes valid is an error. */

// @ts-expect-error A browser has nothing of Node's.
void Buffer

// @ts-expect-error
void process

// @ts-expect-error
void import('node:crypto')

// @ts-expect-error
void import('cloudflare:workers')

void document
