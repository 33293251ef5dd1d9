/** What may be a person's name and address, wherever one is typed in. */

export const MAX_NAME = 100
/** The longest address that SMTP can carry. */
const MAX_EMAIL = 254

/** Longer than anything that a rule lets in. */
const LONGEST_COMPOSED = 4_096

/** NFC. What is longer than any rule allows stays as it is: composing 64 KiB of accents takes a second. */
export function composed(text: string): string {
  return text.length > LONGEST_COMPOSED ? text : text.normalize('NFC')
}

/** Counted as a person counts: an emoji outside the basic plane is one. */
export function characters(text: string): number {
  return [...text].length
}

/** The direction that a greeting takes from a name: "Hi" alone would always make it left to right, and cut a Hebrew name at its beginning. */
export function directionOf(name: string): 'ltr' | 'rtl' {
  return /^\P{L}*[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\p{sc=Adlm}]/u.test(name) ? 'rtl' : 'ltr'
}

/** NFC and trimmed; a name of nothing but invisible characters is empty. */
export function normalName(name: string): string {
  const trimmed = composed(name).trim()
  return /[^\p{Z}\p{Cf}\p{M}]/u.test(trimmed) ? trimmed : ''
}

/** No control characters, half surrogates, line separators, nor marks that turn the reading direction of what follows. */
export function usableName(name: string): boolean {
  return !/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u.test(name.trim())
}

export function normalEmail(email: string): string {
  return composed(email.trim().toLowerCase())
}

/** One address and nothing that could make two of it, or a header line. */
export function isEmail(email: string): boolean {
  const address = normalEmail(email)
  return (
    address.length <= MAX_EMAIL &&
    /^[^\s@\p{C}<>()[\],;:\\"]+@[^\s@\p{C}<>()[\],;:\\"]+\.[^\s@\p{C}<>()[\],;:\\".]+$/u.test(address)
  )
}
