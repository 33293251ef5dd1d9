import { composed, hostName } from './person.ts'

/** Several addresses may deliver to one mailbox. A person who can read one of them can read them all. */

/** These ignore the dots before the @. Gmail is both. */
const GMAIL = ['gmail.com', 'googlemail.com']

/**
 * The mailbox of a valid address: in lower case, without a tag after a plus sign, with the domain as in the DNS, and at
 * Gmail without dots. Two addresses with the same mailbox share a free trial.
 */
export function mailboxOf(email: string): string {
  const address = composed(email.trim().toLowerCase())
  const at = address.lastIndexOf('@')
  const typed = hostName(address.slice(at + 1)).replace(/\.+$/, '')
  const isGmail = GMAIL.includes(typed)
  const name = withoutTag(address.slice(0, at))
  const local = isGmail ? name.replaceAll('.', '') || name : name
  return `${local}@${isGmail ? 'gmail.com' : typed}`
}

/** An address that begins with a plus sign has no name before it. */
function withoutTag(local: string): string {
  const plus = local.indexOf('+')
  return plus > 0 ? local.slice(0, plus) : local
}
