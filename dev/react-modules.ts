import { resolve } from 'node:path'
import type { Plugin } from 'vite'

const file = (path: string) => resolve(import.meta.dirname, '../node_modules', path)

/** Keyed by import name. */
const FILES = new Map([
  ['react', file('react/cjs/react.production.js')],
  ['react/jsx-runtime', file('react/cjs/react-jsx-runtime.production.js')],
  ['react-dom', file('react-dom/cjs/react-dom.production.js')],
  ['react-dom/client', file('react-dom/cjs/react-dom-client.production.js')],
  ['scheduler', file('scheduler/cjs/scheduler.production.js')],
])

/**
 * React ships only as CommonJS, and its parts require each other whole, so a bundler must keep every export. As
 * modules, unused exports drop out. Only for the browser: on the server, modules render a tenth slower, because V8
 * optimizes a module's variables less than a function's.
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
    // The variables for the required modules remain, unused.
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
    if (/\b(?:require\(|exports\.|module\.exports)/.test(body)) throw new Error(`${id} has changed: adapt reactModules`)
    const names = [...exported].map((name) => `exported_${name} as ${name}`)
    return `${imports.join('\n')}\n${body}\nexport { ${names.join(', ')} }`
  },
}
