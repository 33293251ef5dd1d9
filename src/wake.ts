/**
 * The script of the lazy frame `/wake` (src/server/routes/wake.ts), which begins once the page has been seen: asks for everything that the
 * page has announced, and has the page itself run its own script, which the frame's address names, in the frame's place.
 */
const page = parent.document
for (const link of page.querySelectorAll<HTMLLinkElement>('[rel=late]')) link.rel = 'modulepreload'
const script = page.createElement('script')
script.type = 'module'
script.src = location.hash.slice(1)
frameElement?.replaceWith(script)
