import { expect, test } from 'vitest'
import { mailboxOf } from '../../src/domain/mailbox.ts'

test.each([
  ['ada@x.org', 'ada@x.org'],
  ['  ADA@X.org ', 'ada@x.org'],
  ['ada+1@x.org', 'ada@x.org'],
  ['ada+1+2@x.org', 'ada@x.org'],
  ['ada+@x.org', 'ada@x.org'],
  ['a.d.a@x.org', 'a.d.a@x.org'],
  ['a.d.a@gmail.com', 'ada@gmail.com'],
  ['A.da+trial@GoogleMail.com', 'ada@gmail.com'],
  ['a.da@gmail.com.', 'ada@gmail.com'],
  ['a.da@not-gmail.com', 'a.da@not-gmail.com'],
  ['a.da@gmail.com.example', 'a.da@gmail.com.example'],
  ['ada@x.org.', 'ada@x.org'],
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
  ['ada@bu\u0308cher.example', 'ada@xn--bcher-kva.example'],
  ['ada@XN--BCHER-KVA.example', 'ada@xn--bcher-kva.example'],
  ['e\u0301va@x.org', '\u00e9va@x.org'],
  // Nothing is left before the plus sign or without the dots.
  ['+1@x.org', '+1@x.org'],
  ['.@gmail.com', '.@gmail.com'],
  ['ada@bücher.example/x.org', 'ada@bücher.example/x.org'],
  // No host name to a browser, but still one mailbox.
  ['ada@x_%.org', 'ada@x_%.org'],
])('%s delivers to %s', (address, mailbox) => {
  expect(mailboxOf(address)).toBe(mailbox)
})

test.each([
  ['ada@x.org', 'ada@y.org'],
  ['ada@x.org', 'adam@x.org'],
  ['ada@gmail.com', 'ada@mail.com'],
  ['+1@x.org', '+2@x.org'],
])('%s and %s are two mailboxes', (one, other) => {
  expect(mailboxOf(one)).not.toBe(mailboxOf(other))
})
