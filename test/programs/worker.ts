/** `npm run types` reads this as a part of the Worker's program: a line that becomes valid is an error. */

// @ts-expect-error The Worker renders pages but has none.
void document

// @ts-expect-error
void window

// @ts-expect-error
void location

// @ts-expect-error
void alert

void Buffer
