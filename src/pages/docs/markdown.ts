import { Marked, type Token, type Tokens } from 'marked'

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
export const escapeText = (text: string) => text.replace(/[&<>]/g, (sign) => ENTITIES[sign as keyof typeof ENTITIES])

/** The text of a page's HTML. */
const wordsOf = (html: string) =>
  Object.entries(ENTITIES)
    .reduceRight(
      (text, [sign, entity]) => text.replaceAll(entity, sign),
      html.replace(/<(?!\/?(code|a|strong|span)\b)/g, ' <').replace(/<[^>]+>/g, ''),
    )
    .replace(/\s+/g, ' ')
    .trim()

/** The text below each heading of a page that `toHtml` wrote, without what comes before the first. */
export const sectionsOf = (html: string) =>
  [...html.matchAll(/<h([23]) id="([^"]+)">(.*?)<\/h\1>(.*?)(?=<h[23] |$)/gs)].map(
    ([, level = '', id = '', title = '', body = '']) => ({
      ...{ level, id, title: wordsOf(title) },
      text: wordsOf(body.replace(/<pre.*?<\/pre>/gs, '')),
      code: wordsOf((body.match(/<pre.*?<\/pre>/gs) ?? []).join(' ')),
    }),
  )

/** A Markdown table. */
export const table = (head: string[], rows: (string | number)[][]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/**
 * A documentation page as HTML. Beyond Markdown, `## Heading {#id}` sets the heading's anchor, a paragraph `Table: …`
 * is the caption of the table after it, and "```sh run=name" names an example for the test that runs it. The first
 * paragraph is the lead.
 */
export function toHtml(markdown: string): string {
  let lead = ' class="lead"'
  let caption = ''
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === 'text') token.text = token.text.replaceAll('\n', ' ')
    },
    renderer: {
      heading({ tokens, depth }) {
        const [, words, id] = /^(.*) \{#(.*)\}$/.exec(this.parser.parseInline(tokens)) ?? []
        if (!words) throw new Error(`A heading has no id: ${tokens.map(({ raw }) => raw).join('')}`)
        return `<h${depth} id="${id}"><a href="#${id}">${words}</a></h${depth}>`
      },
      paragraph({ text, tokens }) {
        caption = /^Table: (.*)/.exec(text)?.[1] ?? ''
        if (caption) return ''
        const attributes = lead
        lead = ''
        return `<p${attributes}>${this.parser.parseInline(tokens)}</p>`
      },
      // Long lines scroll, with the keyboard as well.
      code({ text, lang = '' }) {
        const run = /run=(\S+)/.exec(lang)?.[1]
        return `<div class="copyable"><pre class="code" tabindex="0"${run ? ` data-run="${run}"` : ''}><code>${escapeText(text)}</code></pre></div>`
      },
      table({ header, rows }) {
        const words = (tokens: Token[]) => this.parser.parseInline(tokens)
        const cell = ({ tokens }: Tokens.TableCell, i: number) => {
          const open = i === 0 ? 'th scope="row"' : 'td'
          return `<${open} data-label="${header[i]?.text}">${words(tokens)}</${open.slice(0, 2)}>`
        }
        const head = header.map(({ tokens }) => `<th scope="col">${words(tokens)}</th>`).join('')
        const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('')
        return `<table class="table"><caption class="visually-hidden">${caption}</caption><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`
      },
      codespan: ({ text }) => `<code>${escapeText(text)}</code>`,
      text(token) {
        return 'tokens' in token && token.tokens ? this.parser.parseInline(token.tokens) : escapeText(token.text)
      },
    },
  })
  return marked.parse(markdown, { async: false })
}
