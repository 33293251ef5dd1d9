/** An answer's content. Lists become `<item>`s; null and undefined omit the element. */
export type Xml = string | number | boolean | null | undefined | Xml[] | { [name: string]: Xml }

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

// XML 1.0 can't represent most control characters, and parsers read a bare CR as LF.
export function escapeXml(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: we replace these
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replace(/[&<>"']/g, (character) => entities[character] ?? character)
      .replace(/\r/g, '&#13;')
  )
}

function content(value: Exclude<Xml, null | undefined>): string {
  if (Array.isArray(value)) return value.map((item) => element('item', item)).join('')
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, inner]) => element(name, inner))
      .join('')
  return escapeXml(String(value))
}

function element(name: string, value: Xml): string {
  return value === null || value === undefined ? '' : `<${name}>${content(value)}</${name}>`
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'

export function answerDocument(action: string, requestId: string, answer: { [name: string]: Xml }): string {
  const body = content({ requestId, ...answer })
  return `${declaration}<${action}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">${body}</${action}Response>`
}

export function errorDocument(requestId: string, code: string, message: string): string {
  const errors = { Errors: { Error: { Code: code, Message: message } }, RequestID: requestId }
  return declaration + element('Response', errors)
}
