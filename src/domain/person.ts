/** The rules for a person's name and email address, wherever they are typed. */

export const MAX_NAME = 100
/** The longest address that SMTP can carry. */
const MAX_EMAIL = 254

/** Longer than any rule allows. */
const LONGEST_COMPOSED = 1_024

/** NFC. Text too long for any rule stays as it is: 4,096 accents take 15 ms each time, 64 KiB of them a second. */
export function composed(text: string): string {
  return text.length > LONGEST_COMPOSED ? text : text.normalize('NFC')
}

/** Counts as people do: an emoji outside the basic plane is one. */
export function characters(text: string): number {
  return [...text].length
}

/** Sets a greeting's direction by the name. Otherwise, "Hi" would make it left to right and cut off the start of a Hebrew name. */
export function directionOf(name: string): 'ltr' | 'rtl' {
  return /^\P{L}*[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\p{sc=Adlm}]/u.test(name) ? 'rtl' : 'ltr'
}

/** NFC and trimmed; a name of only invisible characters becomes empty. */
export function normalName(name: string): string {
  const trimmed = composed(name).trim()
  return /[^\p{Z}\p{Cf}\p{M}]/u.test(trimmed) ? trimmed : ''
}

/** No control characters, lone surrogates, line separators, or marks that change the direction of later text. */
export function usableName(name: string): boolean {
  return !/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u.test(name.trim())
}

/** The domain as browsers send it and as the DNS has it: `ada@bücher.example` is `ada@xn--bcher-kva.example`. */
export function normalEmail(email: string): string {
  const address = composed(email.trim().toLowerCase())
  const at = address.lastIndexOf('@') + 1
  const domain = address.slice(at)
  return /[^\x21-\x7e]/.test(domain) && isEmail(address) ? address.slice(0, at) + hostName(domain) : address
}

/** `BÜCHER.example` is `xn--bcher-kva.example`. A name that can't be in the DNS stays as it is. */
export function hostName(domain: string): string {
  const url = `http://${domain}`
  return /[/?#%:@\\]/.test(domain) || !URL.canParse(url) ? domain : new URL(url).hostname
}

/** Exactly one address: nothing that could turn it into two, or into a header line. */
export function isEmail(email: string): boolean {
  const address = composed(email.trim())
  const at = address.indexOf('@')
  return (
    address.length <= MAX_EMAIL &&
    // No mail service accepts these: a part over 64 characters, dots at its ends or in a row, a label that can't be in
    // the DNS.
    !/^\.|\.[.@]|@\.|^[^@]{65}/.test(address) &&
    !/[@.]-|-(\.|$)|[^@.]{64}|\.\d+$/.test(`@${hostName(address.slice(at + 1))}`) &&
    /^[^\s@\p{C}<>()[\],;:\\"]+@[^\s@\p{C}<>()[\],;:\\"]+\.[^\s@\p{C}<>()[\],;:\\".]+$/u.test(address)
  )
}
