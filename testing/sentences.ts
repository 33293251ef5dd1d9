import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Reader } from './sentence-reader.ts'
import { nodesOf, readModule } from './syntax.ts'

/** Each place in these folders where code compares something with a sentence, as `path:line: code`. */
export function comparedSentences(root: string, folders: string[]): string[] {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.m?tsx?$/.test(path) && !/\.d\.ts$|node_modules/.test(path))
      .map((path) => join(root, folder, path)),
  )
  const modules = new Map(paths.map((path) => [path, readModule(path)]))
  return [...modules.values()].flatMap((module) => {
    const reader = new Reader(modules, module)
    const found = nodesOf(module.tree).filter((node) => reader.compares(node))
    return found.map(({ start, end }) => {
      const line = module.text.slice(0, start).split('\n').length
      return `${relative(root, module.path)}:${line}: ${module.text.slice(start, end).replace(/\s+/g, ' ').slice(0, 100)}`
    })
  })
}
