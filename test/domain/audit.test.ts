import { expect, test } from 'vitest'
import {
  ACT_WITHIN_MS,
  AUDIT_CSV_HEAD,
  type AuditLine,
  auditCsv,
  isAct,
  READ_WITHIN_MS,
} from '../../src/domain/audit.ts'

const line: AuditLine = {
  id: 'act_1',
  at: '2026-11-22T10:00:00.000Z',
  actor: 'ada@example.com',
  act: 'suspend',
  subject: 'bob@example.com',
  userId: 'user_1',
  reason: 'He said "no", twice',
  detail: null,
}

test('knows its acts, and nothing that every object has', () => {
  expect(['suspend', 'make_admin', 'toString', ''].map(isAct)).toEqual([true, true, false, false])
})

test('an admin may act for 15 minutes, and read for 12 hours', () => {
  expect([ACT_WITHIN_MS, READ_WITHIN_MS]).toEqual([900_000, 43_200_000])
})

test('the CSV has a heading, a line for each act, and quotes', () => {
  expect(AUDIT_CSV_HEAD).toBe('\ufeffat,actor,act,subject,userId,reason,detail,id\r\n')
  const first =
    '"2026-11-22T10:00:00.000Z","ada@example.com","suspend","bob@example.com","user_1","He said ""no"", twice","","act_1"\r\n'
  expect(auditCsv([line, { ...line, userId: null, detail: 'x' }])).toBe(
    first + first.replace('"user_1"', '""').replace('"","act_1"', '"x","act_1"'),
  )
  expect(auditCsv([])).toBe('')
})

test.each(['=1+1', '+1', '-1', '@a', '\tx', '\rx'])('no spreadsheet runs %j as a formula', (reason) => {
  expect(auditCsv([{ ...line, reason }])).toContain(`"'${reason}"`)
})

test('a sign in the middle stays as it is', () => {
  expect(auditCsv([{ ...line, reason: 'a=b-c' }])).toContain('"a=b-c"')
})
