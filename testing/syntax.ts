import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseSync } from 'vite'

/** A node of a syntax tree, or a list of them. */
export type Node = { type: string; start: number; end: number; [key: string]: unknown }

/** What a file declares and imports, by name. */
export type Module = {
  path: string
  text: string
  tree: Node
  /** Scopes don't matter here: two constants of one name are both looked at. */
  declared: Map<string, Node[]>
  imported: Map<string, { from: string; name: string }>
}

export function readModule(path: string): Module {
  const text = readFileSync(path, 'utf8')
  const { program, errors } = parseSync(path, text)
  if (errors.length) throw new Error(`${path}: ${errors[0]?.message}`)
  const tree = program as unknown as Node
  const module: Module = { path, text, tree, declared: new Map(), imported: new Map() }
  for (const node of nodesOf(tree)) {
    const name = (node.id as { name?: string } | null)?.name
    const value = node.type === 'VariableDeclarator' ? node.init : node.type === 'FunctionDeclaration' ? node : null
    if (name && value) module.declared.set(name, [...(module.declared.get(name) ?? []), value as Node])
    if (node.type !== 'ImportDeclaration') continue
    const from = resolve(dirname(path), (node.source as { value: string }).value)
    for (const { local, imported } of node.specifiers as { local: { name: string }; imported?: { name: string } }[])
      if (imported) module.imported.set(local.name, { from, name: imported.name })
  }
  return module
}

/** It and all below it. */
export function nodesOf(node: Node): Node[] {
  const below = Object.values(node).flat() as unknown[]
  return [node, ...below.filter(isNode).flatMap(nodesOf)]
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

export const propertiesOf = (node: Node) => (node.properties as Node[]).filter(({ type }) => type === 'Property')

export const isCallOf = ({ type, callee }: Node, object: string, name: string) => {
  const { object: of, property } = (callee ?? {}) as { object?: { name: string }; property?: { name: string } }
  return type === 'CallExpression' && of?.name === object && property?.name === name
}
