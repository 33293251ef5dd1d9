/** `npm run types` checks this as part of the Worker's program: a line that becomes valid is an error. */

// @ts-expect-error The Worker renders pages but has no DOM.
void document

// @ts-expect-error
void window

// @ts-expect-error
void location

// @ts-expect-error
void alert

void Buffer
