import { inject } from 'vitest'

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&#x27;': "'" }
export const plain = (html: string) => html.replace(/&[#\w]+;/g, (entity) => ENTITIES[entity] ?? entity)
/** A page as it is sent, without the markers that React puts between texts. */
export const html = async (path: string) =>
  (await (await fetch(inject('url') + path)).text()).replaceAll('<!-- -->', '')

/** The examples of a page that say `data-run`, by name; several of one name are one script. */
export async function examples(path: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const [, attributes = '', text = ''] of (await html(path)).matchAll(
    /<pre ([^>]*)><code>(.*?)<\/code><\/pre>/gs,
  )) {
    const name = /data-run="([^"]+)"/.exec(attributes)?.[1]
    if (name) found[name] = [found[name], plain(text)].filter(Boolean).join('\n')
  }
  return found
}
