import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { auditLog } from '../../../../../db/schema/operations.ts'
import { newId } from '../../../../../src/server/crypto/id.ts'
import { openAdminConsole } from '../../../../../testing/people/admin-console.ts'

const { site, db, act, open, actsOn } = await openAdminConsole()

test('nobody can change or delete entries of the audit log', async () => {
  const ada = await site.signInAs('user')
  await act(`/admin/people/${ada.userId}/suspend`)
  const [row] = await db.select().from(auditLog).limit(1)
  const id = row?.id ?? ''
  await expect(db.update(auditLog).set({ reason: 'x' }).where(eq(auditLog.id, id))).rejects.toThrow()
  await expect(db.delete(auditLog).where(eq(auditLog.id, id))).rejects.toThrow()
  await expect(
    db.run(
      sql`INSERT OR REPLACE INTO audit_log (id, at, actor, act, subject, reason) VALUES (${id}, 0, 'x', 'lift', 'x', 'x')`,
    ),
  ).rejects.toThrow()
  expect(await db.select().from(auditLog).where(eq(auditLog.id, id))).toEqual([row])
})

test('the file has the whole log, even beyond what one query reads, and each act once', async () => {
  const subject = newId('srv')
  const at = Date.now()
  await db.run(sql`INSERT INTO audit_log (id, at, actor, act, subject, reason)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5001)
    SELECT ${subject} || i, ${at}, 'script', 'drain_place', ${subject}, i FROM n`)
  const { text } = await open(`/admin/audit.csv?of=${subject}`)
  const ids = text.trimEnd().split('\r\n').slice(1)
  expect([ids.length, new Set(ids).size]).toEqual([5_001, 5_001])
})

test('the audit log filters by act and by person, and its file is safe for spreadsheets', async () => {
  const ada = await site.signInAs('user')
  await act(`/admin/people/${ada.userId}/suspend`, { reason: '=HYPERLINK("http://evil")' })
  await act(`/admin/people/${ada.userId}/sign_out`, { reason: '＝1+1' })
  const count = async (query: string) => (await open(`/admin/audit?${query}`)).text.split(ada.userId).length - 1
  expect(await count(`of=${ada.userId}&act=suspend`)).toBeGreaterThan(0)
  expect((await open(`/admin/audit?of=${ada.userId}&act=lift`)).text).toContain('No acts match this filter.')
  const file = await open(`/admin/audit.csv?of=${ada.userId}`)
  const lines = file.text.trimEnd().split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines[2]).toContain('"suspend"')
  expect(lines[2]).toContain(`"'=HYPERLINK(""http://evil"")"`)
  expect(lines[1]).toContain(`"'＝1+1"`)
  expect(await actsOn(ada.userId)).toHaveLength(2)
})
