/**
 * JSON that is safe inside `<script type="application/json">`: no `<` can close the element or open a comment. It also
 * escapes the two line separators that older JSON-in-JavaScript parsers reject.
 */
export function bootstrapJson(data: unknown): string {
  return JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
