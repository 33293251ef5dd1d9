/** The script of pages with something to copy. */
import { addCopyButtons } from './islands/copy-buttons.ts'

const start = () => addCopyButtons(document)

// An async script from the browser's cache may run before the page has been parsed.
if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start)
else start()
