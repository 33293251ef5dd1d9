/** What keys that programs may have written can pass through. */

/**
 * Whether a URL can hold it: the URL class and every browser resolve segments `.` and `..`, encoded as well, so an
 * address of such a key would be another key's.
 */
export function isAddressable(key: string): boolean {
  return !key.split('/').some((segment) => segment === '.' || segment === '..')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML 1.0 can't write
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/
/** Some parsers trim, and some turn a break into another one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of them, to be sure
const CHANGED_BY_XML = /[\u0000-\u001f\u007f-\u009f\u2028\ufffe\uffff]|^\s|\s$/

/**
 * How a bucket can be told to remove it: in one XML text with others, or in a call of its own, whose address holds it;
 * null: neither can hold it.
 */
export function removalOf(key: string): 'together' | 'alone' | null {
  if (!CHANGED_BY_XML.test(key)) return 'together'
  if (isAddressable(key)) return 'alone'
  return NOT_IN_XML.test(key) ? null : 'together'
}
