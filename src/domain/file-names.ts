/** How files and folders are named, and how their names are shown. */

/** `runs/` and `runs` are the same folder, and '' is the root: a folder's path ends in a slash. */
export function toFolder(path: string): string {
  return path === '' || path.endsWith('/') ? path : `${path}/`
}

/** The last name of a path, of a file or of a folder. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/', path.length - 2) + 1).replace(/\/$/, '')
}

/** Every script that runs from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** A name inside a sentence. Otherwise, one in Arabic or Hebrew would reorder the words around it. */
export function inText(name: string): string {
  const shown = visible(name)
  return RIGHT_TO_LEFT.test(shown) ? `\u2068${shown}\u2069` : shown
}

/** Shows what nobody would see: control characters, and spaces at either end. */
export function visible(name: string): string {
  return (
    name
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they have signs, from U+2400 on
      .replace(/[\u0000-\u001f]/g, (char) => String.fromCharCode(0x2400 + char.charCodeAt(0)))
      .replaceAll('\u007f', '\u2421')
      .replace(/[\u0080-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g, '\ufffd')
      .replace(/^ +| +$/g, (spaces) => '\u2423'.repeat(spaces.length))
  )
}
