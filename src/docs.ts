/** The script of the documentation: what you copy, and the search. */
import { addCopyButtons } from './islands/copy-buttons.ts'
import { addSearch } from './islands/docs/field.ts'

function start(): void {
  addCopyButtons(document)
  addSearch(document.querySelector('form[action="/docs/search"]') as HTMLFormElement)
}

// An async script from the browser's cache may run before the page has been parsed.
if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start)
else start()
