import { resolve } from 'node:path'
import type { Plugin } from 'vite'

const file = (path: string) => resolve(import.meta.dirname, '../node_modules', path)

/** By the names under which they are imported. */
const FILES = new Map([
  ['react', file('react/cjs/react.production.js')],
  ['react/jsx-runtime', file('react/cjs/react-jsx-runtime.production.js')],
  ['react-dom', file('react-dom/cjs/react-dom.production.js')],
  ['react-dom/client', file('react-dom/cjs/react-dom-client.production.js')],
  ['scheduler', file('scheduler/cjs/scheduler.production.js')],
])

/**
 * React is published as CommonJS only, and its parts ask for one another as a whole, so that a bundler has to keep every export. As modules, what
 * nobody uses is left out. For the browser alone: on the server a page of modules renders a tenth slower, since V8 knows less about a module's
 * variables than about a function's.
 */
export const reactModules: Plugin = {
  name: 'react-modules',
  apply: 'build',
  applyToEnvironment: ({ name }) => name === 'client',
  enforce: 'pre',
  resolveId: (id) => FILES.get(id) ?? null,
  transform(code, id) {
    if (![...FILES.values()].includes(id)) return null
    const imports: string[] = []
    const exported = new Set<string>()
    // The variables that held what was required stay behind, unused.
    const body = code
      .replace(/(\w+) = require\("([^"]+)"\)/g, (_, name: string, from: string) => {
        imports.push(`import * as ${name} from '${from}'`)
        return `_${name}`
      })
      .replace(/^(?=exports\.)/gm, 'var ')
      .replace(/\bexports\.(\w+)/g, (_, name: string) => {
        exported.add(name)
        return `exported_${name}`
      })
    if (/\b(?:require\(|exports\.|module\.exports)/.test(body)) throw new Error(`${id} is no longer written as it was`)
    const names = [...exported].map((name) => `exported_${name} as ${name}`)
    return `${imports.join('\n')}\n${body}\nexport { ${names.join(', ')} }`
  },
}
