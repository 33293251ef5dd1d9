/** Parameters in Stripe's notation: `items[0][price]=x` is `{ items: [{ price: 'x' }] }`. Every leaf is a string. */
export type Params = { [name: string]: Value }
type Value = string | Params | Value[]

export function parseForm(body: string): Params {
  const root: Params = {}
  for (const [key, value] of new URLSearchParams(body)) assign(root, path(key), value)
  return root
}

function path(key: string): string[] {
  return key.split(/\[|\]\[|\]/).filter((part, i, all) => part !== '' || (i > 0 && i < all.length - 1))
}

function assign(target: Params, keys: string[], value: string): void {
  const [key, next, ...rest] = keys
  if (key === undefined || ['__proto__', 'constructor', 'prototype'].includes(key)) return
  if (next === undefined) {
    target[key] = value
    return
  }
  if (next === '' || /^\d+$/.test(next)) {
    target[key] ??= []
    const list = target[key]
    if (!Array.isArray(list)) return
    if (rest.length === 0) list.push(value)
    else {
      const index = Number(next)
      list[index] ??= {}
      assign(list[index] as Params, rest, value)
    }
    return
  }
  target[key] ??= {}
  const nested = target[key]
  if (typeof nested === 'object' && !Array.isArray(nested)) assign(nested, [next, ...rest], value)
}

export function text(params: Params, name: string): string | undefined {
  const value = params[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function integer(params: Params, name: string): number | undefined {
  const value = text(params, name)
  return value === undefined ? undefined : Number.parseInt(value, 10)
}

export function flag(params: Params, name: string): boolean | undefined {
  const value = text(params, name)
  return value === undefined ? undefined : value === 'true'
}

export function record(params: Params, name: string): Record<string, string> {
  const value = params[name]
  if (typeof value !== 'object' || Array.isArray(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

export function list(params: Params, name: string): Value[] {
  const value = params[name]
  return Array.isArray(value) ? value : []
}
