import { noSuch } from './failure.ts'
import { integer, type Params, text } from './form.ts'

/** Newest first, `limit` per page (1 to 100, default 10), after `starting_after` or before `ending_before`. */
export function listPage<T extends { id: string }>(
  inOrder: T[],
  params: Params,
  url: string,
  wanted: (object: T) => boolean = () => true,
) {
  const limit = Math.min(100, Math.max(1, integer(params, 'limit') ?? 10))
  const objects = inOrder.filter(wanted).reverse()
  const position = (id: string) => {
    const index = objects.findIndex((object) => object.id === id)
    if (index === -1) throw noSuch('object', id)
    return index
  }
  const after = text(params, 'starting_after')
  const before = text(params, 'ending_before')
  if (before) {
    const end = position(before)
    const start = Math.max(0, end - limit)
    return { object: 'list', url, has_more: start > 0, data: objects.slice(start, end) }
  }
  const start = after ? position(after) + 1 : 0
  return {
    object: 'list',
    url,
    has_more: objects.length > start + limit,
    data: objects.slice(start, start + limit),
  }
}
