import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openMailbox } from '../../dev/mailbox.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'

const mail = (subject: string) => ({ to: 'a@b.c', from: 'x@y.z', subject, text: 'Hello', html: '<p>Hello</p>' })

test('a kill in the middle of a mail costs neither the mails before it nor those after', () => {
  const path = join(temporaryFolder('proving-ground-mailbox'), 'mail.jsonl')
  const open = () => openMailbox(path, () => 0)
  const before = open()
  before.accept(mail('first'))
  before.accept(mail('cut off'))
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, -10))

  open().accept(mail('last'))
  expect(
    open()
      .list()
      .map(({ subject }) => subject),
  ).toEqual(['last', 'first'])
})
