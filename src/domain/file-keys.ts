/** What we can do with keys that programs may have written. */

/**
 * Whether a URL can hold it. The URL class and every browser resolve segments `.` and `..`, even encoded ones, so the
 * address of such a key would be another key's.
 */
export function isAddressable(key: string): boolean {
  return !key.split('/').some((segment) => segment === '.' || segment === '..')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML 1.0 can't write
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/
/** Some parsers trim, and some change line breaks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of them, to be sure
const CHANGED_BY_XML = /[\u0000-\u001f\u007f-\u009f\u2028\ufffe\uffff]|^\s|\s$/

/**
 * How a bucket can be told to remove it: together with others in an XML text, or alone in a call whose address holds
 * it; null if neither can hold it.
 */
export function removalOf(key: string): 'together' | 'alone' | null {
  if (!CHANGED_BY_XML.test(key)) return 'together'
  if (isAddressable(key)) return 'alone'
  return NOT_IN_XML.test(key) ? null : 'together'
}
