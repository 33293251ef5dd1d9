/** `npm run types` checks this as part of the domain's program: a line that becomes valid is an error. */

// @ts-expect-error The rules have no DOM.
void window

// @ts-expect-error
void document

// @ts-expect-error They have no Node either.
void Buffer

// @ts-expect-error
void process

// @ts-expect-error They do no I/O.
void fetch

// @ts-expect-error
void setTimeout
